"""Search for the repeated stretches of a program; most long programs have none.

What writes loops loads when there is something to write. Read next: ``loops.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

from tenferro._runtime import CollectorPaused
from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import MaterializedGraph, ValueKey, derive
from tenferro.passes.roll.periods import may_repeat, runs
from tenferro.passes.roll.steps import Program, Steps, operation_of, steps_of
from tenferro.primitives.indexing import DynamicUpdateSlice

#: One loop may have a quarter of the equations that all must have together: it often reads what
#: another one stacks.
_DIVISOR_FOR_ONE_LOOP = 4


class Stretches(NamedTuple):
    """A program, its outputs, its stretches in order, and how many chains of updates were joined.

    There are no stretches if they are short.
    """

    program: Program
    outputs: list[ValueKey]
    loops: tuple[Steps, ...]
    joined: int


def stretches_of(
    outputs: Sequence[ValueKey],
    is_given: Callable[[ValueKey], bool],
    least_steps: int,
    least_equations: int,
) -> Stretches | None:
    """Return what repeats in the program of these outputs; None if there is nothing to write.

    ``is_given`` names the values that are not looked behind.
    """
    with CollectorPaused():
        program = Program(outputs, is_given, least_steps)
        if len(program) < least_equations:
            return None
        joined = 0
        if DynamicUpdateSlice in map(type, map(operation_of, program.makers)):
            updates = import_module("tenferro.passes.roll.updates")
            outputs, joined = updates.with_joined_updates(program, outputs)
            if joined:
                program = Program(outputs, is_given, least_steps)
        loops = _loops(program, least_steps, least_equations)
        return Stretches(program, [*outputs], loops, joined) if loops or joined else None


def stretches_in(
    graph: MaterializedGraph, least_steps: int, least_equations: int
) -> Stretches | None:
    """Return what repeats in a graph; None if there is nothing to write."""
    avals = graph.avals
    alike = [(node[0], avals[node[2][0]]) for node in graph.nodes]
    if not may_repeat(alike, least_steps, least_equations):
        return None
    values = list(graph.inputs)
    for node in graph.nodes:
        made = derive(node.operation, [values[i] for i in node.inputs], node.role)
        for key in made:
            key.source = key.source or node.source
        values += made
    given = set(graph.inputs)
    outputs = [values[i] for i in graph.outputs]
    return stretches_of(outputs, given.__contains__, least_steps, least_equations)


def _loops(program: Program, least_steps: int, least_equations: int) -> tuple[Steps, ...]:
    """Return the stretches that may become loops; none if they are short together."""
    least = least_equations // _DIVISOR_FOR_ONE_LOOP
    found = [steps_of(program, run, least_steps) for run in runs(program.items, least_steps, least)]
    loops = [
        steps
        for steps in found
        if steps is not None
        and steps.length * steps.period >= least
        and not _is_volatile(program, steps)
    ]
    enough = sum([steps.length * steps.period for steps in loops]) >= least_equations
    return tuple(loops) if enough else ()


def _is_volatile(program: Program, steps: Steps) -> bool:
    """Return whether derivatives of a step run code of the user, which belongs to each call."""
    makers = program.makers[steps.start : steps.start + steps.period]
    return any([operation_of(maker).volatile for maker in makers])
