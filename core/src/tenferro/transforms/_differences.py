"""Derivatives of a function of one real number from its values, with an estimate of their error.

Central differences at steps h, h/2, h/4, … are extrapolated to h → 0 as polynomials in h² (Ridders,
Adv. Eng. Software 4 (1982) 75, with factor 2); the table's entry that agrees best with its two
neighbours is the derivative, and the larger disagreement its error. One-sided differences are
extrapolated in h alike. Nothing here knows arrays. Read next: ``_check.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

from tenferro.computegraph._records import NamedTuple

Function: TypeAlias = Callable[[float], float]
_LEVELS = 14  # from the first step with finite values down to 1/8192 of it
_SHRINKINGS = 12  # of the first step, by 8 each, until values are finite
_SURE_LEVELS = 3  # fewer entries may agree by chance


class Estimate(NamedTuple):
    """A derivative from differences, the error that its table shows, and the step it comes from."""

    value: float
    error: float
    step: float

    @property
    def is_known(self) -> bool:
        """Whether values were finite at some step."""
        return math.isfinite(self.value) and math.isfinite(self.error)


def central(function: Function, step: float, wanted: float) -> Estimate:
    """Return the derivative at 0; stop when its relative error is below ``wanted``."""
    return _extrapolated(lambda h: (function(h) - function(-h)) / (2 * h), step, wanted, order=2)


def one_sided(function: Function, side: int, step: float, wanted: float) -> Estimate:
    """Return the derivative from the right (``side=1``) or from the left (-1)."""
    start = function(0.0)
    return _extrapolated(lambda h: (function(side * h) - start) / (side * h), step, wanted, order=1)


def _extrapolated(difference: Function, step: float, wanted: float, order: int) -> Estimate:
    """The limit of a difference for h → 0, whose error is a series in h**order."""
    step = _first_finite(difference, step)
    best = Estimate(math.nan, math.inf, step)
    above: list[float] = []
    for level in range(_LEVELS):
        row = [difference(step)]
        for j, entry in enumerate(above):
            factor = 2.0 ** (order * (j + 1)) - 1
            row.append(row[j] + (row[j] - entry) / factor)
            error = max(abs(row[j + 1] - row[j]), abs(row[j + 1] - entry))
            if error < best.error:
                best = Estimate(row[j + 1], error, step)
        if level >= _SURE_LEVELS and best.error <= wanted * abs(best.value):
            break
        above, step = row, step / 2
    return best


def _first_finite(difference: Function, step: float) -> float:
    """The largest of the steps h, h/8, h/64, … at which values are finite."""
    for _ in range(_SHRINKINGS):
        if math.isfinite(difference(step)):
            return step
        step /= 8
    return step


class Break(NamedTuple):
    """Derivatives to both sides of a kink; at a jump, how far the values there are away."""

    left: float
    right: float
    is_jump: bool


def broken(function: Function, middle: Estimate, step: float, wanted: float) -> Break | None:
    """Return the one-sided derivatives at a kink, or the steps of a jump; None for neither.

    At a kink the central difference ``middle`` is the mean of both derivatives.
    """
    jumps = [_jump(function, side, step) for side in (-1, 1)]
    if any(jumps):
        return Break(jumps[0], jumps[1], is_jump=True)
    left, right = (one_sided(function, side, step, wanted) for side in (-1, 1))
    if not (left.is_known and right.is_known):
        return None
    gap, unsure = abs(right.value - left.value), left.error + right.error
    scale = max(abs(left.value), abs(right.value))
    is_mean = abs((left.value + right.value) / 2 - middle.value) <= 0.05 * gap
    if is_mean and gap > 10 * unsure + 1e-6 * scale:
        return Break(left.value, right.value, is_jump=False)
    return None


def _jump(function: Function, side: int, step: float) -> float:
    """How far values beside the point stay from the value at it as they come close to it."""
    start = function(0.0)
    near, nearer = (function(side * step * scale) - start for scale in (1e-6, 1e-8))
    is_jump = abs(nearer) > 0 and abs(near - nearer) <= 1e-3 * abs(nearer)
    return nearer if is_jump and abs(nearer) > 1e-7 * abs(start) else 0.0
