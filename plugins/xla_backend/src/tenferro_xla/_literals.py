"""Literals that are too large to stand in a program: they are made once and become parameters.

XLA copies a constant into the program, folds with it, and keeps it once per segment. Constants and
iotas of the standard set are instructions to XLA, of any size, and need nothing. Read next:
``_compile.py``.
"""

from __future__ import annotations

from tenferro.computegraph import CompiledProgram
from tenferro.primitives import Constant, Iota
from tenferro_xla._segments import Segment, SegmentPlan, is_literal

#: Bytes from which on a literal of another namespace is a parameter.
MIN_BYTES_TO_HOIST = 64 * 1024


def large_literals(program: CompiledProgram) -> tuple[int, ...]:
    """Return the positions of the literals that are made once, before the program runs."""
    return tuple(
        position
        for position, instruction in enumerate(program.instructions)
        if is_literal(instruction)
        and not isinstance(instruction.operation, (Constant, Iota))
        and sum(_bytes(program, slot) for slot in instruction.outputs) >= MIN_BYTES_TO_HOIST
    )


def _bytes(program: CompiledProgram, slot: int) -> int:
    aval = program.avals[slot]
    return int(aval.size * aval.dtype.itemsize)


def plan_of_literal(program: CompiledProgram, position: int) -> SegmentPlan:
    """Make the plan of a program that makes one literal and nothing else."""
    slots = program.instructions[position].outputs
    kept = tuple((slot, slot) for slot in slots)
    return SegmentPlan((Segment((position,), (), kept, (), position),), slots, 0)
