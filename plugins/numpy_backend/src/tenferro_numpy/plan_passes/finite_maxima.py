"""Shares of exponentials keep their terms where the maxima of all rows are finite.

The derivative of `logsumexp` counts 1 for an entry equal to an infinite maximum: each of its terms
exp(x - max x) is clamped between 1 and what the maximum of its row says. Where all maxima are
finite, terms lie between 0 and 1 and stay as they are, so that their sum is the one that the value
has taken, and so are their shares in it, if a value is made of these. One look at the maxima, which
are clamped as well, tells this for both.
Read next: `planner.py`; the formulas are in `tenferro.primitives.exponential_sums`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from tenferro.backend.extend import NamedTuple
from tenferro.primitives import Aval
from tenferro.primitives.arithmetic import Clamp, Div, Sub
from tenferro.primitives.comparison import Lt
from tenferro.primitives.constants import Constant
from tenferro.primitives.elementwise import Exp
from tenferro.primitives.reduction import ReduceMax, ReduceSum
from tenferro.primitives.structural import BroadcastInDim, Convert
from tenferro_numpy.ir.expression import Expression
from tenferro_numpy.ir.liveness import without_unread
from tenferro_numpy.ir.step import Step

__all__ = ["Exponentials", "Terms", "keep_terms"]

_FINITE = (
    "({0} if {p1} <= {0}.item({0}.argmin()) and {0}.item({0}.argmax()) <= {p2}"
    " else {p0}({0}, {p1}, {p2}))"
)
_DIVIDED = "({1} if {2} is {0} else {p0}({2}, {3}, {p1}))"
_KEPT = "({0} if {1} is {2} else {p0}({0}, {2}, {p1}, {p2}))"


def keep_terms(
    steps: Sequence[Step],
    avals: Sequence[Aval],
    operations: Sequence[Any],
    literals: Mapping[int, Any],
    outputs: Collection[int],
    region: float,
) -> list[Step]:
    """Return the steps with terms that are clamped only where a maximum is infinite.

    `operations` are those of the program by position. Arrays of `region` elements and more stay:
    regions clamp them where they are in the cache.
    """
    program = Exponentials(steps, avals, operations, literals)
    kept: dict[int, int] = {}  # slots of clamped terms → of the terms
    for step in steps:
        if avals[step.targets[0]].size < region and program.keep_terms(step):
            kept[step.targets[0]] = step.operands[0]
    if not kept:
        return [*steps]
    sums: dict[tuple[Any, int], int] = {}
    quotients: dict[tuple[Any, int, int], int] = {}
    for step in steps:
        program.sum_once(step, kept, sums)
        program.divide_once(step, kept, quotients)
    return without_unread([*steps], program.idle, outputs)


class Terms(NamedTuple):
    """Slots behind clamped terms exp(x - max x).

    terms   before they are clamped
    spread  the finite maxima in the shape of x
    finite  the maxima, between the least and the largest number
    top     the maxima
    """

    terms: int
    spread: int
    finite: int
    top: int


class Exponentials:
    """The steps of a program, and those whose results may have no reader any more."""

    def __init__(
        self,
        steps: Sequence[Step],
        avals: Sequence[Aval],
        operations: Sequence[Any],
        literals: Mapping[int, Any],
    ) -> None:
        self.avals, self.operations, self.literals = avals, operations, literals
        self.makers = {step.targets[0]: step for step in steps if len(step.targets) == 1}
        self.idle: set[Step] = set()
        self.finite: dict[int, int] = {}  # slots of finite maxima → of the maxima

    def operation(self, step: Step) -> Any:
        """Return the operation of a step if it is ours to rewrite."""
        return step.operation_of(self.operations)

    def operands(self, slot: int, kind: type) -> tuple[int, ...] | None:
        """Return the operands of the step that makes a value by an operation of this kind."""
        step = self.makers.get(slot)
        if step is None or type(self.operation(step)) is not kind:
            return None
        return step.operands

    def number(self, slot: int) -> Any:
        """Return the number that a literal is full of; None for another slot."""
        found = self.literals.get(slot)
        return found.value if isinstance(found, Constant) else None

    def terms_of(self, step: Step) -> Terms | None:
        """Return what a step clamps if it clamps terms exp(x - max x)."""
        if type(self.operation(step)) is not Clamp or self.number(step.operands[2]) != 1:
            return None
        least, terms, _ = step.operands
        top = self._maxima_behind(least)
        found = None if top is None else self._finite_maxima(terms, top)
        return None if top is None or found is None else Terms(terms, *found, top)

    def keep_terms(self, step: Step) -> bool:
        """Let a clamp of terms look at the maxima; tell whether it is one."""
        found = self.terms_of(step)
        if found is None:
            return False
        terms, _, finite, top = found
        aval, spread = self.avals[top], self.operation(self.makers[step.operands[0]])
        largest = aval.dtype.largest
        lowest = -largest
        maker, self.finite[finite] = self.makers[finite], top
        maker.expression = Expression(_FINITE, (np.clip, lowest, largest), shares=True)
        maker.operands = (top,)
        bound = _clamped, lowest, spread.expanded(aval.shape)
        step.expression = Expression(_KEPT, bound, shares=True)
        step.operands = (terms, finite, top)
        return True

    def _maxima_behind(self, least: int) -> int | None:
        """Return the maxima that a lower bound of terms is made of; None for another bound."""
        wide = self.operands(least, BroadcastInDim)
        number = None if wide is None else self.operands(wide[0], Convert)
        compared = None if number is None else self.operands(number[0], Lt)
        if wide is None or number is None or compared is None:
            return None
        top = compared[0]
        aval = self.avals[top]
        if not aval.shape or not aval.size or self.number(compared[1]) != -aval.dtype.largest:
            return None
        self.idle.update([self.makers[slot] for slot in (least, wide[0], number[0])])
        return top

    def _finite_maxima(self, terms: int, top: int) -> tuple[int, int] | None:
        """Return the finite maxima that exp(x - max x) subtracts, in the shape of x and before;
        None for other terms.
        """
        excess = self.operands(terms, Exp)
        parts = None if excess is None else self.operands(excess[0], Sub)
        wide = None if parts is None else self.operands(parts[1], BroadcastInDim)
        of = self.operands(top, ReduceMax)
        if parts is None or wide is None or of != parts[:1]:
            return None
        axes = self.operation(self.makers[top]).axes
        rest = tuple([d for d in range(self.avals[terms].ndim) if d not in axes])
        spread = self.operation(self.makers[parts[1]])
        is_finite = self.finite.get(wide[0]) == top or self._is_clamped(wide[0], top)
        if not is_finite or tuple(spread.dimensions) != rest:
            return None
        return parts[1], wide[0]

    def _is_clamped(self, finite: int, top: int) -> bool:
        """Return True for maxima between the least and the largest number."""
        bounds = self.operands(finite, Clamp)
        if bounds is None or len(bounds) != 3 or bounds[1] != top:
            return False
        largest = self.avals[top].dtype.largest
        return (self.number(bounds[0]), self.number(bounds[2])) == (-largest, largest)

    def sum_once(
        self, step: Step, kept: Mapping[int, int], sums: dict[tuple[Any, int], int]
    ) -> None:
        """Let a sum of terms that may have been kept take the sum that is there, if they were."""
        op = self.operation(step)
        if type(op) is not ReduceSum or not self.avals[step.targets[0]].shape:
            return
        (x,) = step.operands
        known = sums.get((op, kept[x])) if x in kept else None
        sums[op, x] = step.targets[0]
        if known is not None:
            line = step.expression
            again = line.template.replace("{0}", "{2}")
            text = f"({{1}} if {{2}} is {{0}} else {again})"
            step.expression = Expression(text, line.bound, shares=True)
            step.operands = (kept[x], known, x)

    def divide_once(
        self, step: Step, kept: Mapping[int, int], quotients: dict[tuple[Any, int, int], int]
    ) -> None:
        """Let shares of terms that may have been kept take those that are there, if they were."""
        if type(self.operation(step)) is not Div:
            return
        x, wide = step.operands
        sums = self.operands(wide, BroadcastInDim)
        if sums is None:
            return
        (total,) = sums
        spread, summed = self.makers[wide], self.makers.get(total)
        how = self.operation(spread)
        if x not in kept:
            quotients[how, x, total] = step.targets[0]
        elif summed is not None and summed.operands[2:] == (x,):
            known = quotients.get((how, kept[x], summed.operands[1]))
            if known is not None:
                bound = _divided, how.expanded(self.avals[total].shape)
                step.expression = Expression(_DIVIDED, bound, shares=True)
                step.operands = (kept[x], known, x, total)
                self.idle.add(spread)


def _divided(terms: Any, total: Any, shape: tuple[int, ...]) -> Any:
    """Divide clamped terms by their sum."""
    return np.divide(terms, total.reshape(shape))


def _clamped(terms: Any, top: Any, lowest: float, shape: tuple[int, ...]) -> Any:
    """Clamp terms of rows whose maxima may be infinite."""
    least = (top < lowest).astype(terms.dtype).reshape(shape)
    return np.minimum(np.maximum(terms, least), terms.dtype.type(1))
