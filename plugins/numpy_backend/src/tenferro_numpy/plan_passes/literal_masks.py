"""Selections between zeros and a value by a known mask: the bits of the value, and a literal.

Triangles and diagonals of matrices are selected by comparisons of literals. Read as an integer, a
number is kept by ``& -1`` and becomes 0 by ``& 0``. With the mask converted when the plan is made,
that is one pass without a branch or a conversion: a third of the time of `np.where`. Results keep
every bit. Read next: `planner.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tenferro.primitives import Aval
from tenferro.primitives.comparison import Select
from tenferro_numpy.ir.expression import Expression
from tenferro_numpy.ir.literals import Compared, is_zero
from tenferro_numpy.ir.step import Step

__all__ = ["select_by_bits"]

_MIN_ELEMENTS = 512  # below which reading numbers as integers costs more than `np.where`
#: Elements above which the mask as integers takes more memory than is worth the time.
_MAX_ELEMENTS = 1 << 14
_INTEGERS = {size: np.dtype(f"int{8 * size}") for size in (1, 2, 4, 8)}


def select_by_bits(
    steps: Sequence[Step],
    avals: Sequence[Aval],
    operations: Sequence[Any],
    literals: Mapping[int, Any],
    operands_of: Callable[[Step], tuple[int, ...]],
    value_of: Callable[[Compared], Any],
) -> None:
    """Rewrite selections between zeros and another value by literal masks, in place.

    `operations` are those of the program by position; `operands_of` returns the operands of the
    instruction of a step, and `value_of` the array of a mask.
    """
    masks: dict[tuple[Any, bool, int], Any] = {}
    for step in steps:
        if type(step.operation_of(operations)) is not Select:
            continue
        aval = avals[step.targets[0]]
        condition, *branches = operands_of(step)
        mask = literals.get(condition)
        size = np.dtype(aval.dtype.name).itemsize
        is_medium = _MIN_ELEMENTS <= aval.size <= _MAX_ELEMENTS
        if type(mask) is not Compared or not is_medium or size not in _INTEGERS:
            continue
        kept = _kept(branches, literals)
        if kept is None:
            continue
        key = mask, kept == 0, size
        if key not in masks:
            chosen = value_of(mask) if kept == 0 else ~value_of(mask)
            masks[key] = -chosen.astype(_INTEGERS[size])
        step.expression = _line(masks[key], aval)
        step.operands = (branches[kept],)


def _kept(branches: Sequence[int], literals: Mapping[int, Any]) -> int | None:
    """Return which branch is computed, if the other one is a literal full of zeros."""
    for kept, slot in enumerate(branches):
        zero = branches[1 - kept]
        if slot not in literals and is_zero(literals.get(zero)):
            return kept
    return None


def _line(mask: Any, aval: Aval) -> Expression:
    dtype = np.dtype(aval.dtype.name)
    return Expression(
        "{p0}({0}.view({p1}), {p2}).view({p3})",
        (np.bitwise_and, mask.dtype, mask, dtype, _write_bits),
        broadcasts=True,
        into="{p4}({0}, {p2}, {out})",
        in_place=True,
    )


def _write_bits(x: Any, mask: Any, out: Any) -> Any:
    np.bitwise_and(x.view(mask.dtype), mask, out.view(mask.dtype))
    return out
