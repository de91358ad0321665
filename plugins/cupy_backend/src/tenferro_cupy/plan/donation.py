"""Results in the memory of donated operands.

A kernel may write a result where it read an operand, because each thread reads its elements before
it writes them there. So the plan offers a region operands of the shape and dtype of its results
that nothing reads afterwards. A call takes an offer if no other value lies in that memory. Read
next: ``../_executable.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro_cupy.kernels.region import Region
from tenferro_cupy.plan.planned import Plan
from tenferro_cupy.plan.step import Step

__all__ = ["is_whole", "offers_of", "overlap"]


def offers_of(plan: Plan, donated: Sequence[int]) -> dict[int, dict[int, int]]:
    """Return for numbers of steps the results that may take memory, each with the input."""
    last = {i: number for number, step in enumerate(plan.steps) for i in step.operands}
    free = [i for i in donated if i not in plan.outputs]
    found: dict[int, dict[int, int]] = {}
    for number, step in reversed([*enumerate(plan.steps)]):
        if not isinstance(step.operation, Region):
            continue
        for result, target in enumerate(step.targets[: len(step.operation.kernel.outputs)]):
            if target not in plan.outputs:
                continue
            aval = plan.program.avals[target]
            for i in free:
                is_read_before = last.get(i, -1) < number or _is_read_in_place(step, i)
                if plan.program.avals[i] == aval and is_read_before:
                    found.setdefault(number, {})[result] = i
                    free.remove(i)
                    break
    return found


def _is_read_in_place(step: Step, slot: int) -> bool:
    """Return True if a region reads of a slot the element that it writes, and no other."""
    elementwise = len(step.operation.kernel.operands)
    return step.operands.count(slot) == 1 and slot in step.operands[:elementwise]


def is_whole(array: Any) -> bool:
    """Return True if an array fills its memory, row by row."""
    owner = array if array.base is None else array.base
    return bool(array.flags.c_contiguous and owner.nbytes == array.nbytes)


def overlap(x: Any, y: Any) -> bool:
    """Return True if the memory of two arrays may overlap."""
    (a, b), (c, d) = _bounds(x), _bounds(y)
    return a < d and c < b


def _bounds(x: Any) -> tuple[int, int]:
    """Return the first address of an array, and the one after its last."""
    if not x.size:
        return 0, 0
    reach = [s * (n - 1) for s, n in zip(x.strides, x.shape, strict=True)]
    first = x.data.ptr
    return first + sum([r for r in reach if r < 0]), first + x.itemsize + sum(
        [r for r in reach if r > 0]
    )
