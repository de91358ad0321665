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


class EquationCost(NamedTuple):
    """Cost of one equation: operations on elements; bytes read and written; bytes alive then."""

    flops: int
    moved: int
    alive: int


def costs_of(program: CompiledProgram) -> list[EquationCost]:
    """Count each equation. Arguments stay alive; other values die at their last use."""
    arguments = set(program.inputs)
    alive = sum(map(nbytes, program.input_avals))
    found = []
    for operation, inputs, outputs, frees, *_ in program.instructions:
        given = [program.avals[i] for i in inputs]
        results = [program.avals[i] for i in outputs]
        made = sum(map(nbytes, results))
        alive += made
        flops = flops_of(operation, given, results)
        found.append(EquationCost(flops, sum(map(nbytes, given)) + made, alive))
        alive -= sum([nbytes(program.avals[i]) for i in frees if i not in arguments])
    return found


def cost_of(program: CompiledProgram) -> Cost:
    """Count a program, equation by equation."""
    found = costs_of(program)
    peak = arguments = sum(map(nbytes, program.input_avals))
    at = None
    for position, row in enumerate(found):
        if row.alive > peak:
            peak, at = row.alive, position
    flops, moved = sum([row.flops for row in found]), sum([row.moved for row in found])
    return Cost(flops, moved, peak, at, arguments)
