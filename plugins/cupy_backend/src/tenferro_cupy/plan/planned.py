"""A plan: the steps of a closed program in order, and its literals.

Literals are made once, on the device, when a step or a caller reads them; arrays of one number are
passed to kernels by value. Read next: ``loops.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tenferro.backend.lowering import LoweringTable
from tenferro.computegraph import CompiledProgram
from tenferro.primitives import BroadcastInDim, Constant
from tenferro_cupy.kernels.modules import Modules
from tenferro_cupy.plan.chains import chained
from tenferro_cupy.plan.regions import fused
from tenferro_cupy.plan.step import Run, Step

__all__ = ["Plan", "constants_of", "make_plan"]

_EFFECT = "std::debug_callback"

#: of an operation with bodies: the function that runs it with planned bodies; None without bodies
BodyRunner = Callable[[Any], Run | None]


class Plan:
    """Steps in order, each with the slots that are dead after it.

    slots      a list as long as all slots, with the literals in their places
    outputs    the slots of the results
    """

    def __init__(self, program: CompiledProgram, steps: Sequence[Step], slots: list[Any]) -> None:
        self.program = program
        self.steps = steps
        self.slots = slots
        self.outputs = program.outputs
        self.frees = _dying(
            steps, program.outputs, {i for i, x in enumerate(slots) if x is not None}
        )


def make_plan(
    program: CompiledProgram,
    table: LoweringTable,
    provider: str,
    modules: Modules,
    run_bodies: BodyRunner,
) -> Plan:
    """Make the plan of a closed program.

    ``provider`` is the distribution of this backend: an operation whose lowering somebody else
    registered is not put into a kernel. With effects in a program every step is a call, in order.
    """
    literals = {row[2][0]: row[0] for row in program.nodes if row[0].literal and not row[1]}
    steps = []
    for position, row in enumerate(program.nodes):
        op, inputs, outputs = row[:3]
        if outputs and outputs[0] in literals:
            continue
        operands = [program.avals[i] for i in inputs]
        run = run_bodies(op) or _called(table, op, operands, len(outputs))
        step = Step(op, tuple(inputs), tuple(outputs), (position,), run)
        if table.provider_of(op, operands) == provider:
            step.let_fuse(program.avals)
        steps.append(step)
    if not _has_effects(program):
        constants = constants_of(program)
        steps = fused(steps, program.avals, set(program.outputs), constants, modules)
        steps = chained(steps, program.avals, set(program.outputs), constants, modules)
    steps = _without_unread(steps, program.outputs)
    slots: list[Any] = [None] * program.slot_count
    read = {i for step in steps for i in step.operands} | set(program.outputs)
    for slot, op in literals.items():
        if slot in read:
            slots[slot] = table.lookup(op, [])(op)
    return Plan(program, steps, slots)


def constants_of(program: CompiledProgram) -> dict[int, Any]:
    """Return the slots of arrays of one known number, with this number."""
    found: dict[int, Any] = {}
    for op, inputs, outputs, *_ in program.nodes:
        if type(op) is Constant:
            found[outputs[0]] = np.dtype(op.dtype.name).type(op.value)
        elif type(op) is BroadcastInDim and inputs[0] in found:
            found[outputs[0]] = found[inputs[0]]
    return found


def _called(table: LoweringTable, op: Any, operands: Sequence[Any], count: int) -> Run:
    function = table.lookup(op, operands)
    if count == 1:
        return lambda *xs: (function(op, *xs),)
    return lambda *xs: function(op, *xs)


def _has_effects(program: CompiledProgram) -> bool:
    return any(getattr(row[0], "key", "") == _EFFECT for row in program.nodes)


def _without_unread(steps: Sequence[Step], outputs: Iterable[int]) -> list[Step]:
    """Drop broadcasts of constants that kernels take by value now."""
    read = {*outputs}
    kept = []
    for step in reversed(steps):
        if type(step.operation) is BroadcastInDim and step.targets[0] not in read:
            continue
        read.update(step.operands)
        kept.append(step)
    return kept[::-1]


def _dying(
    steps: Sequence[Step], outputs: Iterable[int], literals: set[int]
) -> list[tuple[int, ...]]:
    """Return for each step the slots that nothing reads after it."""
    alive = {*outputs, *literals}
    frees = []
    for step in reversed(steps):
        slots = {*step.operands, *step.targets} - alive
        alive |= slots
        frees.append(tuple(sorted(slots)))
    return frees[::-1]
