"""Choice of the steps that run as regions, tile by tile, and of their places.

`tenferro.backend.regions` chooses groups. What makes regions of them, and what runs these, loads
with the first group that is not small. A region stands at the place of its last step, and steps
that stay lines where they were. Read next: `build.py`.
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
    policy = RegionPolicy(
        smallest_region(tiling), tiling.elements, partial(_can_fold, tiling), _is_cheap
    )
    found = find_regions(steps, avals, outputs, policy, literals)
    if not found.groups:
        return list(steps)
    alone = _alone([group for group in found.groups if group.members])
    lines = [group for group in alone if _is_surely_small(group, avals, tiling)]
    made: dict[int, Step] = {}
    rest = {id(g): g for g in found.groups if g.members and not any([g is one for one in lines])}
    if rest:
        build = import_module("tenferro_numpy.plan_passes.fusion.build")
        make = partial(build.region_step, writers=build.Writers())
        made = {i: make(g, avals, found.exports[i], tiling, literals) for i, g in rest.items()}
        small = [g for g in alone if id(g) in made and made[id(g)].expression.bound[0].is_small()]
        lines += small
        for group in small:
            del made[id(group)]
    placed: dict[int, tuple[int, Step]] = {}
    for position, step in enumerate(steps):
        group_of_step = found.group_of.get(id(step))
        new = step if group_of_step is None else made.get(id(group_of_step))
        if new is not None:
            placed[id(new)] = position, new  # the last one counts
    of_lines = [pair for group in lines for pair in _placed(group, found.group_of)]
    return in_order([*placed.values(), *of_lines])


def _can_fold(tiling: Tiling, axes: Sequence[int], shape: Sequence[int]) -> bool:
    return can_fold(axes, shape, tiling.elements)


def _is_cheap(step: Step) -> bool:
    functions = [f for f in step.expression.bound if callable(f)]
    return step.is_elementwise and any(f in _RECOMPUTABLE for f in functions)


def _alone(groups: Sequence[Group[Step]]) -> list[Group[Step]]:
    """Return the groups that share no step; others can make it only as regions, both of them."""
    times = Counter(id(step) for group in groups for _, step in group.members)
    return [g for g in groups if all(times[id(step)] == 1 for _, step in g.members)]


def _is_surely_small(group: Group[Step], avals: Sequence[Aval], tiling: Tiling) -> bool:
    """Return True if a region of the group would be small even if each step had its own buffer.

    A pad is never small.
    """
    made = [step for _, step in group.members]
    if any([step.is_assembled and not step.is_concatenation for step in made]):
        return False
    itemsizes = [avals[step.targets[0]].dtype.itemsize for step in made]
    return are_faster(prod(group.shape), itemsizes, len(made) + len(group.folds), tiling)


def _placed(group: Group[Step], group_of: Mapping[int, Group[Step]]) -> list[tuple[int, Step]]:
    """Return the steps of a group that stay lines, with their places.

    A step that came from another region is placed where it is read.
    """
    own = [p for p, step in group.members if group_of[id(step)] is group]
    first = min(own, default=group.last)
    return [(max(first, p), step) for p, step in (*group.members, *group.folds)]
