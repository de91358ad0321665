"""Loops that run in one launch: those with elementwise steps, and those whose body is one chain.

The body must consist of small regions and views of what they read, unless it is elementwise;
anything else, such as a product of matrices, leaves the loop to Python. Read next:
``element_loops.py``, ``bodies.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro.primitives import Aval, Reshape
from tenferro.primitives.control import Scan
from tenferro_cupy.kernels.chain import Chain, Member
from tenferro_cupy.kernels.loop import Loop, Stepping
from tenferro_cupy.kernels.modules import Modules
from tenferro_cupy.plan.chains import (
    MAX_BYTES_OF_ARGUMENTS,
    MAX_ELEMENTS,
    MAX_REGIONS,
    bytes_of_arguments,
    is_view,
    member_of,
    small_region,
)
from tenferro_cupy.plan.element_loops import element_loop_of
from tenferro_cupy.plan.planned import Plan, constants_of

__all__ = ["loop_of"]


def loop_of(op: Scan, plan: Plan, modules: Modules) -> Loop | None:
    """Return a loop over a planned body as one launch; None if no launch can hold the body."""
    results = plan.program.outputs
    avals = [plan.program.avals[i] for i in results]
    if op.offload is not None:
        return None
    stepping = Stepping(
        op.consts, op.carried, op.length, op.reverse, tuple(results), tuple(op.outputs)
    )
    elementwise = element_loop_of(op, plan, stepping, modules)
    if elementwise is not None:
        return elementwise
    if any(aval.size > MAX_ELEMENTS for aval in avals):
        return None
    members = _members(op, plan, modules)
    if members is None or not _fits(members, avals):
        return None
    literals = {slot: value for slot, value in enumerate(plan.slots) if value is not None}
    return Loop(modules, members, stepping, literals, avals)


def _fits(members: Sequence[Member], avals: Sequence[Aval]) -> bool:
    """Return True if all arguments fit a launch, also if each result is copied three times."""
    regions = [member.region for member in members if member.region is not None]
    size = sum([2 * bytes_of_arguments(region) for region in regions])  # pointers have steps
    size += sum([3 * 8 * (7 + 3 * aval.ndim) for aval in avals])
    return len(regions) <= MAX_REGIONS and size <= MAX_BYTES_OF_ARGUMENTS


def _members(op: Scan, plan: Plan, modules: Modules) -> list[Member] | None:
    """Return the steps of a body as members of a chain; None if one of them is none."""
    constants = constants_of(plan.program)
    members: list[Member] = []
    dense = {*range(op.consts + op.carried)}  # copied, or there before the loop
    for step in plan.steps:
        if isinstance(step.operation, Chain):
            members += step.operation.members
            regions = [member for member in step.operation.members if member.region]
            dense.update([slot for member in regions for slot in member.targets])
            continue
        region = small_region(step, plan.program.avals, constants, modules)
        if region is None and not is_view(step, dense):
            return None
        members.append(member_of(region or step))
        if region is not None or type(step.operation) is Reshape:
            dense.update(step.targets)
    return members
