"""Cost estimates of a program, counted on its equations: arithmetic, memory traffic, memory.

These are estimates for comparing programs. They know no backend: fusion saves traffic and memory,
and views cost neither. Read next: ``inspection/explain.py``, which prints them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2, prod
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import CompiledProgram, Operation
from tenferro.primitives._aval import Aval

_MOVES = frozenset(("structural", "constants", "indexing"))  # families without arithmetic


class Cost(NamedTuple):
    """Operations on elements; bytes read and written; bytes alive at most, and where that is."""

    flops: int
    moved: int
    peak: int
    peak_at: int | None  # position of the instruction; None where there is none
    arguments: int


def family(operation: Operation) -> str:
    """Return the family of a primitive: its file, or the namespace of a third party."""
    namespace, _, name = str(getattr(operation, "key", "")).partition("::")
    if namespace != "std" or not name:
        return namespace
    return type(operation).__module__.split("primitives.", 1)[-1].split(".")[0]


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


def nbytes(aval: Aval) -> int:
    """Return the size of an array in bytes."""
    return aval.size * aval.dtype.itemsize


def flops_of(operation: Operation, given: Sequence[Aval], results: Sequence[Aval]) -> int:
    """Count the elementwise operations of one equation, to leading order."""
    kind = family(operation)
    if kind in _MOVES:
        return 0
    largest = max((a.size for a in (*given, *results)), default=0)
    contract: Any = getattr(operation, "lhs_contract", None)
    if contract is not None:
        return int(2 * results[0].size * prod(given[0].shape[axis] for axis in contract))
    if kind == "linalg" and given:  # a factorization of m × n takes about m n min(m, n)
        return largest * min(given[0].shape[-2:], default=1)
    if kind in ("sorting", "fft"):
        return int(largest * max(1.0, log2(max(largest, 1))))
    return largest


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
