"""Small regions become chains: one launch for all that no other step needs in between.

A small region waits until a step that is none needs something of what waits; then all that waits
becomes one chain. The order of the other steps stays. One operation alone is CuPy's unless it
joins a chain. Read next: ``planned.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from math import prod
from typing import Any

from tenferro.primitives import (
    Aval,
    BroadcastInDim,
    Concatenate,
    Reshape,
    Reverse,
    Slice,
    Transpose,
)
from tenferro_cupy.kernels.chain import Chain, Member
from tenferro_cupy.kernels.expressions import is_more_accurate
from tenferro_cupy.kernels.modules import Modules
from tenferro_cupy.kernels.region import Region
from tenferro_cupy.plan.regions import alone
from tenferro_cupy.plan.step import Step

__all__ = [
    "MAX_BYTES_OF_ARGUMENTS",
    "MAX_ELEMENTS",
    "MAX_REGIONS",
    "VIEWS",
    "bytes_of_arguments",
    "chained",
    "is_view",
    "member_of",
    "small_region",
]  # fmt: skip

MAX_ELEMENTS = 1 << 12  # eight for each thread of the block
_MAX_VISITS = 1 << 18  # elements of a region times the elements that its reads look at
MAX_REGIONS = 32
MAX_BYTES_OF_ARGUMENTS = 4000  # a launch takes 4 KiB
#: They make a view of their operand; a reshape may copy it.
VIEWS = (BroadcastInDim, Transpose, Slice, Reverse, Reshape)


def chained(
    steps: Sequence[Step],
    avals: Sequence[Aval],
    outputs: Set[int],
    constants: Mapping[int, Any],
    modules: Modules,
) -> list[Step]:
    """Return a plan in which small regions that may run together are one step."""
    steps = [_read_in_kernel(step, avals, constants, modules) for step in steps]
    chooser = _Chooser(steps, avals, outputs, constants, modules)
    for step in steps:
        chooser.place(step)
    chooser.flush()
    return chooser.placed


def _read_in_kernel(
    step: Step, avals: Sequence[Aval], constants: Mapping[int, Any], modules: Modules
) -> Step:
    """Return a step as a region where CuPy needs several launches for it, or is less accurate."""
    needs_launches = step.read is not None and type(step.operation) is not Concatenate
    x = avals[step.operands[0]] if step.operands else None
    if needs_launches or (x is not None and is_more_accurate(step.operation, x)):
        return alone(step, avals, constants, modules) or step
    return step


class _Chooser:
    """Collects what waits for the next chain."""

    def __init__(
        self,
        steps: Sequence[Step],
        avals: Sequence[Aval],
        outputs: Set[int],
        constants: Mapping[int, Any],
        modules: Modules,
    ) -> None:
        self.avals = avals
        self.constants = constants
        self.modules = modules
        self.readers: dict[int, list[int]] = {}
        for step in steps:
            for slot in step.operands:
                self.readers.setdefault(slot, []).append(id(step))
        self.outputs = outputs
        self.placed: list[Step] = []
        self.forget()

    def forget(self) -> None:
        """Begin a chain."""
        self.waiting: list[tuple[Step, Step]] = []  # as it was, and as a member
        self.made: set[int] = set()  # slots of what waits
        self.dense: set[int] = set()  # those of row-major arrays
        self.regions = 0
        self.bytes = 0

    def place(self, step: Step) -> None:
        """Let a step wait, or put it into the plan."""
        member = small_region(step, self.avals, self.constants, self.modules)
        if member is not None:
            size = bytes_of_arguments(member.operation)
            if self.regions == MAX_REGIONS or self.bytes + size > MAX_BYTES_OF_ARGUMENTS:
                self.flush()
            self.regions += 1
            self.bytes += size
            self.wait(step, member)
            self.dense.update(member.targets)
        elif self.made.isdisjoint(step.operands):
            self.placed.append(step)
        elif is_view(step, self.dense):
            self.wait(step, step)
            if type(step.operation) is Reshape:
                self.dense.update(step.targets)
        else:
            self.flush()
            self.placed.append(step)

    def wait(self, step: Step, member: Step) -> None:
        """Put a step into the chain."""
        self.waiting.append((step, member))
        self.made.update(step.targets)

    def flush(self) -> None:
        """Put what waits into the plan: one step, if it saves a launch."""
        if self.regions > 1:
            self.placed.append(self._chain())
        else:
            self.placed += [step for step, _ in self.waiting]
        self.forget()

    def _chain(self) -> Step:
        own = {id(step) for step, _ in self.waiting}
        members = [member_of(member) for _, member in self.waiting]
        reads = dict.fromkeys(i for m in members for i in m.operands if i not in self.made)
        targets = [i for m in members for i in m.targets if self._is_read_elsewhere(i, own)]
        chain = Chain(self.modules, members, tuple(reads), targets)
        positions = tuple(sorted({i for step, _ in self.waiting for i in step.positions}))
        return Step(chain, tuple(reads), tuple(targets), positions, chain)

    def _is_read_elsewhere(self, slot: int, own: Set[int]) -> bool:
        return slot in self.outputs or any(r not in own for r in self.readers.get(slot, ()))


def small_region(
    step: Step, avals: Sequence[Aval], constants: Mapping[int, Any], modules: Modules
) -> Step | None:
    """Return a step as a region that one block of threads computes soon; None if it is none."""
    if not isinstance(step.operation, Region):
        found = alone(step, avals, constants, modules)
        if found is None:
            return None
        step = found
    elements = prod(step.operation.shape)
    visits = sum([read.visits for read in step.operation.reads])
    is_small = elements <= MAX_ELEMENTS and elements * visits <= _MAX_VISITS
    return step if is_small else None


def is_view(step: Step, dense: Set[int]) -> bool:
    """Return True if a step makes a view of memory that need not be filled yet."""
    if type(step.operation) is Reshape:  # of other arrays than row-major ones it is a copy
        return step.operands[0] in dense
    return type(step.operation) in VIEWS


def member_of(step: Step) -> Member:
    """Return a region or a view as a member of a chain."""
    assert step.run is not None
    view = None if isinstance(step.operation, Region) else type(step.operation)
    return Member(step.run, step.operands, step.targets, view)


def bytes_of_arguments(region: Region) -> int:
    """Return a bound of the bytes that the arguments of a region take in a launch."""
    kernel, rank = region.kernel, len(region.shape)
    arrays = [array for read in kernel.reads for array in read.arrays]
    pointers = len(kernel.operands) + len(arrays) + len(kernel.outputs) + len(kernel.folds)
    integers = 3 + rank * (1 + len(kernel.operands) + len(kernel.outputs))
    integers += sum([read.numbers + sum(read.ranks) for read in kernel.reads])
    return 8 * (pointers + integers) + 16 * len(kernel.constants)
