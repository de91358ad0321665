"""Loops whose steps are elementwise run in one launch, whatever their size.

The body must consist of regions without reductions and reads at computed positions, over arrays of
one shape or over numbers; views of operands that no step changes; and broadcasts of numbers. Read
next: ``loops.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from tenferro.primitives import Aval, BroadcastInDim, Reshape
from tenferro.primitives.control import Scan
from tenferro_cupy.kernels.chain import Chain, Member
from tenferro_cupy.kernels.element_loop import ElementLoop
from tenferro_cupy.kernels.loop import Stepping
from tenferro_cupy.kernels.modules import Modules
from tenferro_cupy.kernels.region import Region
from tenferro_cupy.plan.chains import (
    MAX_BYTES_OF_ARGUMENTS,
    VIEWS,
    bytes_of_arguments,
    member_of,
)
from tenferro_cupy.plan.planned import Plan, constants_of
from tenferro_cupy.plan.regions import alone

__all__ = ["element_loop_of"]


def element_loop_of(
    op: Scan, plan: Plan, stepping: Stepping, modules: Modules
) -> ElementLoop | None:
    """Return a loop over a planned body as one launch; None if a step is not elementwise."""
    avals = plan.program.avals
    members = _members(plan, modules)
    if members is None:
        return None
    regions = [member.region for member in members if member.region is not None]
    found = {*[region.shape for region in regions], *[avals[i].shape for i in stepping.results]}
    shapes = found - {()}
    literals = {slot: value for slot, value in enumerate(plan.slots) if value is not None}
    is_elementwise = len(shapes) <= 1 and all(map(_is_elementwise, regions))
    if not is_elementwise or not _are_steady(members, op, avals, {*literals}):
        return None
    if not _fits(regions, [avals[i] for i in stepping.results]):
        return None
    shape = next(iter(shapes), ())
    return ElementLoop(modules, members, stepping, literals, avals, shape)


def _members(plan: Plan, modules: Modules) -> list[Member] | None:
    """Return regions and views; None if a step is neither."""
    constants, avals = constants_of(plan.program), plan.program.avals
    members: list[Member] = []
    for step in plan.steps:
        if isinstance(step.operation, Chain):
            members += step.operation.members
        elif isinstance(step.operation, Region) or type(step.operation) in VIEWS:
            members.append(member_of(step))
        else:
            region = alone(step, avals, constants, modules)
            if region is None:
                return None
            members.append(member_of(region))
    return members


def _is_elementwise(region: Region) -> bool:
    return not region.kernel.folds and not region.kernel.reads


def _are_steady(
    members: Iterable[Member], op: Scan, avals: Sequence[Aval], literals: Set[int]
) -> bool:
    """Return True if views are of operands that no step changes, or broadcast a number.

    A reshaped row could be a copy of the first one, so only arrays that every step reads whole may
    be reshaped.
    """
    whole = {*range(op.consts), *literals}
    changing = {*range(op.consts, op.consts + op.carried)}
    for member in members:
        if member.view is None:
            changing.update(member.targets)
            continue
        (operand,) = member.operands
        if operand in changing:
            if member.view is not BroadcastInDim or avals[operand].shape != ():
                return False
            changing.update(member.targets)
        elif operand in whole:
            whole.update(member.targets)
        elif member.view is Reshape:
            return False
    return True


def _fits(regions: Iterable[Region], results: Sequence[Aval]) -> bool:
    """Return True if all arguments fit a launch: pointers have steps, carried arrays strides."""
    size = sum([2 * bytes_of_arguments(region) for region in regions])
    return size + sum([8 * (4 + aval.ndim) for aval in results]) <= MAX_BYTES_OF_ARGUMENTS
