"""Cost estimates of a program, counted on its equations: arithmetic, memory traffic, memory.

These are estimates for comparing programs. They know no backend: fusion saves traffic and memory,
and views cost neither. Read next: ``inspection/explain.py``, which prints them.
"""

from __future__ import annotations

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import CompiledProgram
from tenferro.passes._costs import flops_of, nbytes


class Cost(NamedTuple):
    """Operations on elements; bytes read and written; bytes alive at most, and where that is."""

    flops: int
    moved: int
    peak: int
    peak_at: int | None  # position of the instruction; None where there is none
    arguments: int


def cost_of(program: CompiledProgram) -> Cost:
    """Count a program, equation by equation."""
    flops = moved = 0
    for operation, inputs, outputs, *_ in program.instructions:
        given = [program.avals[i] for i in inputs]
        results = [program.avals[i] for i in outputs]
        flops += flops_of(operation, given, results)
        moved += sum(map(nbytes, given)) + sum(map(nbytes, results))
    peak, at = _peak(program)
    return Cost(flops, moved, peak, at, sum(map(nbytes, program.input_avals)))


def _peak(program: CompiledProgram) -> tuple[int, int | None]:
    """Return the most bytes alive at once, if arguments stay and other values die at their last
    use.
    """
    arguments = set(program.inputs)
    alive = peak = sum(map(nbytes, program.input_avals))
    at = None
    for position, instruction in enumerate(program.instructions):
        alive += sum(nbytes(program.avals[i]) for i in instruction.outputs)
        if alive > peak:
            peak, at = alive, position
        alive -= sum(nbytes(program.avals[i]) for i in instruction.frees if i not in arguments)
    return peak, at
