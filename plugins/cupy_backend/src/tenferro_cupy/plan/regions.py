"""Groups of steps become regions, one kernel each.

``tenferro.backend.regions`` chooses the groups. Reductions of one group over other axes than most
get a kernel of their own. Read next: ``chains.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from typing import Any

from tenferro.backend.regions import Group, RegionPolicy, find_regions, in_order
from tenferro.primitives import Aval
from tenferro_cupy.kernels.expressions import FOLDS, RECOMPUTED_RATHER_THAN_READ
from tenferro_cupy.kernels.kernel import Fold, Kernel, Line
from tenferro_cupy.kernels.modules import Modules
from tenferro_cupy.kernels.region import Region
from tenferro_cupy.plan.step import Step

__all__ = ["alone", "fused"]

_NEVER = 1 << 62  # elements above which one operation is a region: CuPy has a kernel for it
#: A launch takes 4 KiB of parameters; each operand has a pointer and a stride for every axis.
_MAX_OPERANDS = 48

_POLICY = RegionPolicy(
    smallest=0,
    alone=_NEVER,
    can_reduce=lambda axes, shape: True,
    is_cheap=lambda step: type(step.operation) in RECOMPUTED_RATHER_THAN_READ,
    numbers=True,
)


def fused(
    steps: Sequence[Step],
    avals: Sequence[Aval],
    outputs: Set[int],
    constants: Mapping[int, Any],
    modules: Modules,
) -> list[Step]:
    """Return a plan in which each region is one step.

    ``constants`` are the slots of arrays of one number, with these numbers.
    """
    found = find_regions(steps, avals, outputs, _POLICY, constants)
    made: dict[int, list[Step]] = {}
    for group in found.groups:
        if group.members:
            exports = found.exports[id(group)]
            made[id(group)] = _Builder(group, avals, exports, constants, modules).steps()
    placed: dict[int, tuple[int, Step]] = {}
    for position, step in enumerate(steps):
        group_of_step = found.group_of.get(id(step))
        new = [step] if group_of_step is None else made.get(id(group_of_step), [])
        placed.update({id(x): (position, x) for x in new})  # the last position counts
    return in_order(placed.values())


def alone(
    step: Step, avals: Sequence[Aval], constants: Mapping[int, Any], modules: Modules
) -> Step | None:
    """Return a step that is in no group as a region; None if no kernel can have it."""
    if step.reduced_axes is not None:
        shape = avals[step.operands[0]].shape
        return _Builder(Group(1, shape), avals, set(), constants, modules).fold_alone(step)
    if step.call is None and step.read is None:
        return None
    group = Group[Step](1, avals[step.targets[0]].shape)
    group.members.append((0, step))
    (made,) = _Builder(group, avals, set(step.targets), constants, modules).steps()
    return made


class _Builder:
    """Makes the steps of one group: a region, and one for each other set of reduced axes."""

    def __init__(
        self,
        group: Group[Step],
        avals: Sequence[Aval],
        exports: Set[int],
        constants: Mapping[int, Any],
        modules: Modules,
    ) -> None:
        self.group = group
        self.avals = avals
        self.constants = constants
        self.modules = modules
        self.members = [step for _, step in sorted(group.members, key=lambda pair: pair[0])]
        folds = [step for _, step in sorted(group.folds, key=lambda pair: pair[0])]
        axes = Counter([step.reduced_axes for step in folds])
        self.axes = axes.most_common(1)[0][0] if axes else None
        self.reads = [step for step in self.members if step.read is not None]
        self.folds = [step for step in folds if step.reduced_axes == self.axes]
        self.others = [step for step in folds if step.reduced_axes != self.axes]
        self.exports = {*exports, *[step.operands[0] for step in self.others]}

    def steps(self) -> list[Step]:
        """Return the steps of the group; those over many operands stay calls of CuPy."""
        made = {step.targets[0] for step in self.members}
        alike = [step for step in self.members if step.read is None]
        read = dict.fromkeys(i for step in alike for i in step.operands if i not in made)
        arrays = [i for i in read if i not in self.constants]
        if len(arrays) + sum([len(step.operands) for step in self.reads]) > _MAX_OPERANDS:
            return [*self.members, *self.folds, *self.others]
        numbers = [i for i in read if i in self.constants]
        return [self._region(arrays, numbers), *[self.fold_alone(step) for step in self.others]]

    def _region(self, arrays: Sequence[int], numbers: Sequence[int]) -> Step:
        given = (*arrays, *numbers, *[step.targets[0] for step in self.reads])
        place = {slot: i for i, slot in enumerate(given)}
        lines = []
        for step in self.members:
            if step.read is not None:
                continue
            operands = tuple([place[i] for i in step.operands])
            target = step.targets[0]
            place[target] = len(place)
            lines.append(Line(step.call or "", operands, self._dtype(target)))
        kept = [step.targets[0] for step in self.members if step.targets[0] in self.exports]
        kernel = Kernel(
            tuple([self._dtype(i) for i in arrays]),
            tuple([self._dtype(i) for i in numbers]),
            tuple(lines),
            tuple([place[i] for i in kept]),
            tuple([_fold(step, place[step.operands[0]]) for step in self.folds]),
            tuple([step.read.read for step in self.reads if step.read is not None]),
        )
        values = [self.constants[i] for i in numbers]
        reads = [step.read for step in self.reads if step.read is not None]
        region = Region(self.modules, kernel, self.group.shape, self.axes, values, reads)
        targets = (*kept, *[step.targets[0] for step in self.folds])
        operands = (*arrays, *[i for step in self.reads for i in step.operands])
        return self._step(region, operands, targets, [*self.members, *self.folds])

    def fold_alone(self, step: Step) -> Step:
        """Return a reduction as a region of its own."""
        (slot,) = step.operands
        kernel = Kernel((self._dtype(slot),), (), (), (), (_fold(step, 0),))
        region = Region(self.modules, kernel, self.group.shape, step.reduced_axes, ())
        return self._step(region, step.operands, step.targets, [step])

    def _step(
        self, region: Region, operands: tuple[int, ...], targets: tuple[int, ...], of: list[Step]
    ) -> Step:
        positions = tuple(sorted(i for step in of for i in step.positions))
        return Step(region, operands, targets, positions, region)

    def _dtype(self, slot: int) -> str:
        return self.avals[slot].dtype.name


def _fold(step: Step, value: int) -> Fold:
    return Fold(FOLDS[type(step.operation)][0], value)
