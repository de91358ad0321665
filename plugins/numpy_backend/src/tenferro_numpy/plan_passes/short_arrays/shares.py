"""Shares of exponentials on numbers keep their terms where the maximum of a row is finite.

The derivative of `logsumexp` clamps each of its terms exp(x - max x) between 1 and what the maximum
says. A finite maximum is the number that was subtracted, and terms then lie between 0 and 1. So a
term is kept where both are one object, which costs a fourth of a clamp, and so is the sum of a row.
`finite_maxima.py` does the same to arrays. Read next: `rewriting.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from tenferro.backend.extend import NamedTuple
from tenferro.primitives.reduction import ReduceSum
from tenferro_numpy.ir.expression import Expression
from tenferro_numpy.ir.step import Step
from tenferro_numpy.plan_passes.finite_maxima import Exponentials
from tenferro_numpy.plan_passes.short_arrays.forms import Form, Stage

__all__ = ["Shares"]

_KEPT = "({0} if {1} is {2} else {p0}(1.0 if {2} < {p1} else 0.0, {0}, 1.0))"


class _Kept(NamedTuple):
    """Clamped terms: the slot of the terms, and for each of them its finite maximum and maximum."""

    terms: int
    finite: Sequence[int]
    top: Sequence[int]


class Shares:
    """Clamps of terms and sums of these, as lines on numbers that look at the maxima first.

    `steps` are those that are computed number by number.
    """

    def __init__(self, exponentials: Exponentials, steps: Sequence[Step]) -> None:
        self._exponentials = exponentials
        self._made = made = {slot for step in steps for slot in step.targets}
        clamps = [(step, exponentials.terms_of(step)) for step in steps]
        self._clamps = {
            step: terms
            for step, terms in clamps
            if terms and {terms.terms, terms.finite, terms.top}.issubset(made)
        }
        self._kept: dict[int, _Kept] = {}  # by the slot of the clamped terms
        self._sums: dict[tuple[Any, int], int] = {}

    def is_idle(self, step: Step) -> bool:
        """Return True if the result of a step may have no reader any more."""
        return step in self._exponentials.idle

    def rewritten(
        self, step: Step, form: Form, elements: Mapping[int, Sequence[int]]
    ) -> tuple[Stage, Sequence[int]] | None:
        """Return the line of a clamp of terms, or of a sum of clamped terms, and what it reads.

        `elements` are the slots of the numbers of arrays.
        """
        if step in self._clamps:
            return self._clamp(step, form.stages[0], elements)
        operation = self._exponentials.operation(step)
        if type(operation) is ReduceSum and len(form.stages) == 1:
            return self._sum(step, form.stages[0], operation, elements)
        return None

    def _clamp(
        self, step: Step, stage: Stage, elements: Mapping[int, Sequence[int]]
    ) -> tuple[Stage, Sequence[int]] | None:
        found = self._clamps[step]
        top_of = dict(zip(elements[found.finite], elements[found.top], strict=True))
        finite = elements[found.spread]
        if not top_of.keys() >= set(finite):
            return None
        top = [top_of[slot] for slot in finite]
        self._kept[step.targets[0]] = _Kept(found.terms, finite, top)
        lowest = -self._exponentials.avals[found.top].dtype.largest
        line = _kept(stage.line, lowest)
        return _joined(line, zip(elements[found.terms], finite, top, strict=True))

    def _sum(
        self, step: Step, stage: Stage, operation: Any, elements: Mapping[int, Sequence[int]]
    ) -> tuple[Stage, Sequence[int]] | None:
        (x,) = step.operands
        self._sums[operation, x] = step.targets[0]
        kept = self._kept.get(x)
        known = None if kept is None else self._sums.get((operation, kept.terms))
        if kept is None or known is None:
            return None
        if any([len({kept.finite[i] for i in row}) > 1 for row in stage.rows]):
            return None  # what is added has several maxima
        rows = [
            (there, kept.finite[row[0]], kept.top[row[0]], *[elements[x][i] for i in row])
            for there, row in zip(elements[known], stage.rows, strict=True)
        ]
        return _joined(_sum_unless_kept(stage.line, len(stage.rows[0])), rows)


@lru_cache(maxsize=8)
def _kept(clamp: Expression, lowest: float) -> Expression:
    """Write the line of a term, which calls what never raises if the maximum is infinite."""
    return Expression(_KEPT, (clamp.bound[0], lowest))


@lru_cache(maxsize=16)
def _sum_unless_kept(line: Expression, count: int) -> Expression:
    """Write the sum of a row that takes the one that is there if the terms were kept."""
    again = line.template.format(*[f"{{{i + 3}}}" for i in range(count)])
    return Expression(f"({{0}} if {{1}} is {{2}} else {again})")


def _joined(line: Expression, rows: Iterable[tuple[int, ...]]) -> tuple[Stage, Sequence[int]]:
    """Return a line for each row of slots, and these slots one after the other."""
    given: list[int] = []
    places = []
    for row in rows:
        places.append(tuple(range(len(given), len(given) + len(row))))
        given += row
    return Stage(line, tuple(places)), given
