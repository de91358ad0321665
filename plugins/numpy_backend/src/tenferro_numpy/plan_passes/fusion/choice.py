"""Choice of the steps that run as regions, tile by tile, and of their positions in the plan.

`tenferro.backend.regions` groups steps. A group becomes a region, which is one step at the position
of its last member, unless its arrays are so small that its steps run faster one by one, as lines.
`build.py`, which makes regions, is imported with the first group that is not small. Read next:
`build.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence, Set
from functools import partial
from importlib import import_module
from math import prod

import numpy as np

from tenferro.backend.regions import Group, RegionPolicy, find_regions, in_order
from tenferro.primitives import Aval
from tenferro_numpy.ir.step import Step
from tenferro_numpy.kernels.lines import are_faster
from tenferro_numpy.kernels.tile_reductions import can_fold
from tenferro_numpy.lowerings.selection import choose, drop, keep
from tenferro_numpy.machine.tile_size import Tiling, smallest_region

__all__ = ["fuse"]

#: Functions that are computed again rather than kept, where that keeps fewer arrays.
_RECOMPUTABLE = frozenset(
    (
        np.add, np.subtract, np.multiply, np.negative, np.square, np.absolute, np.maximum,
        np.minimum, np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal,
        np.logical_and, np.logical_or, np.logical_not, np.conjugate, np.where, choose,
        drop, keep,
    )
)  # fmt: skip


def fuse(
    steps: Sequence[Step],
    avals: Sequence[Aval],
    outputs: Set[int],
    tiling: Tiling,
    literals: Collection[int] = (),
) -> list[Step]:
    """Replace regions that are worth it by single steps, in a valid order.

    Ufuncs that stay lines run part by part where they read concatenations.
    """
    found = _with_regions(steps, avals, outputs, tiling, literals)
    if not any([step.is_concatenation for step in found]):
        return found
    seams = import_module("tenferro_numpy.plan_passes.fusion.seams")
    split: list[Step] = seams.split_at_seams(found, avals, outputs)
    return split


def _with_regions(
    steps: Sequence[Step],
    avals: Sequence[Aval],
    outputs: Set[int],
    tiling: Tiling,
    literals: Collection[int],
) -> list[Step]:
    """Return the steps in a valid order, with each region instead of its members."""
    policy = RegionPolicy(
        smallest_region(tiling), tiling.elements, partial(_can_fold, tiling), _is_cheap
    )
    found = find_regions(steps, avals, outputs, policy, literals)
    groups = [group for group in found.groups if group.members]
    if not found.groups:
        return list(steps)
    separable = _without_shared_steps(groups)
    as_lines = [group for group in separable if _is_surely_small(group, avals, tiling)]
    lines_by_id = {id(group) for group in as_lines}
    large = [group for group in groups if id(group) not in lines_by_id]
    regions = _regions(large, avals, found.exports, tiling, literals)
    for group in separable:  # only the region itself tells whether these are small
        if id(group) in regions and regions[id(group)].expression.bound[0].is_small():
            as_lines.append(group)
            del regions[id(group)]
    placed: dict[int, tuple[int, Step]] = {}
    for position, step in enumerate(steps):
        group_of_step = found.group_of.get(id(step))
        new = step if group_of_step is None else regions.get(id(group_of_step))
        if new is not None:
            placed[id(new)] = position, new  # a region moves on to its last member
    lines = [pair for group in as_lines for pair in _placed_lines(group, found.group_of)]
    return in_order([*placed.values(), *lines])


def _regions(
    groups: Sequence[Group[Step]],
    avals: Sequence[Aval],
    exports: Mapping[int, Set[int]],
    tiling: Tiling,
    literals: Collection[int],
) -> dict[int, Step]:
    """Return the step that runs each group as a region, by the `id` of the group.

    `exports` has, by the same `id`, the slots of the group that other steps or the caller read.
    """
    if not groups:
        return {}
    build = import_module("tenferro_numpy.plan_passes.fusion.build")
    make = partial(build.region_step, writers=build.Writers())
    return {id(g): make(g, avals, exports[id(g)], tiling, literals) for g in groups}


def _can_fold(tiling: Tiling, axes: Sequence[int], shape: Sequence[int]) -> bool:
    return can_fold(axes, shape, tiling.elements)


def _is_cheap(step: Step) -> bool:
    functions = [f for f in step.expression.bound if callable(f)]
    return step.is_elementwise and any(f in _RECOMPUTABLE for f in functions)


def _without_shared_steps(groups: Sequence[Group[Step]]) -> list[Group[Step]]:
    """Return the groups whose steps are in no other group, so that they may also run as lines.

    A step in two groups is computed in both. Its result would be made twice as a line.
    """
    times = Counter(id(step) for group in groups for _, step in group.members)
    return [g for g in groups if all(times[id(step)] == 1 for _, step in g.members)]


def _is_surely_small(group: Group[Step], avals: Sequence[Aval], tiling: Tiling) -> bool:
    """Return True if lines are faster than a region even where each step has its own buffer.

    Regions reuse buffers, so such a group need not be built to know. A pad is never small.
    """
    made = [step for _, step in group.members]
    if any([step.is_assembled and not step.is_concatenation for step in made]):
        return False
    itemsizes = [avals[step.targets[0]].dtype.itemsize for step in made]
    return are_faster(prod(group.shape), itemsizes, len(made) + len(group.folds), tiling)


def _placed_lines(
    group: Group[Step], group_of: Mapping[int, Group[Step]]
) -> list[tuple[int, Step]]:
    """Return the steps of a group that run as lines, with their positions.

    A step that was moved here from another group runs no earlier than this group's first own step.
    """
    own = [p for p, step in group.members if group_of[id(step)] is group]
    first = min(own, default=group.last)
    return [(max(first, p), step) for p, step in (*group.members, *group.folds)]
