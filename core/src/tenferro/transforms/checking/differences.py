"""Derivatives of a function of one real number from its values, with an estimate of their error.

Central differences at steps h, h/2, h/4, … are extrapolated to h → 0 as polynomials in h² (Ridders,
Adv. Eng. Software 4 (1982) 75, with factor 2); the table's entry that agrees best with its two
neighbours is the derivative, and the larger disagreement its error. One-sided differences are
extrapolated in h alike; both sides together also show the derivative where the second one jumps. At
a kink they differ, however small h is. Nothing here knows arrays. Read next: ``checking/check.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

from tenferro._runtime.records import NamedTuple

Function: TypeAlias = Callable[[float], float]
_LEVELS = 14  # from the first step with finite values down to 1/8192 of it
_SHRINKINGS = 12  # of the first step, by 8 each, until values are finite
_SURE_LEVELS = 3  # fewer entries may agree by chance
_KINK_STEPS = (
    2.0**-6,
    2.0**-13,
    2.0**-20,
    2.0**-27,
)  # of the first step: where kinks are looked for
_NOISE_OF_A_GAP = 0.05  # rounding errors above this part of a gap hide it
_CONSTANT = (0.8, 1.25)  # quotients of gaps at a kink; without one it is near 1/128
_MORE_KINK_STEPS = (0.8, 0.6, 0.45)  # of a step: where a gap is looked at again


class Estimate(NamedTuple):
    """A derivative from differences, the error that its table shows, and the step it comes from."""

    value: float
    error: float
    step: float

    @property
    def is_known(self) -> bool:
        """True if values were finite at some step."""
        return math.isfinite(self.value) and math.isfinite(self.error)


def central(function: Function, step: float, wanted: float) -> Estimate:
    """Return the derivative at 0; stop when its relative error is below ``wanted``."""
    return _extrapolated(lambda h: (function(h) - function(-h)) / (2 * h), step, wanted, order=2)


def one_sided(function: Function, side: int, step: float, wanted: float) -> Estimate:
    """Return the derivative from the right (``side=1``) or from the left (-1)."""
    start = function(0.0)
    return _extrapolated(lambda h: (function(side * h) - start) / (side * h), step, wanted, order=1)


def two_sided(function: Function, step: float, wanted: float) -> Estimate:
    """Return the derivative that both sides show; its error covers what they differ by.

    Unlike the central difference it needs no second derivative at 0, only one on each side.
    """
    left, right = (one_sided(function, side, step, wanted) for side in (-1, 1))
    error = max(left.error, right.error, abs(right.value - left.value))
    return Estimate((left.value + right.value) / 2, error, min(left.step, right.step))


def kinked(
    function: Function, step: float, least: float, rounding: float, shift: float
) -> Break | None:
    """Return the one-sided derivatives at 0 if they differ by ``least`` of their size, else None.

    Their difference is compared at steps that shrink by 128 each, as far as rounding errors allow:
    ``rounding`` of values, ``shift`` of arguments. At a kink it stays, elsewhere it shrinks.
    """
    gaps: list[tuple[float, float, float, float]] = []  # left, right, error by rounding, step
    for scale in _KINK_STEPS:
        h = step * scale
        left, right = -function(-h) / h, function(h) / h
        noise = (rounding + shift * max(abs(left), abs(right))) / h
        if math.isfinite(left) and math.isfinite(right):
            gaps.append((left, right, noise, h))
    largest = max([abs(right - left) for left, right, *_ in gaps], default=0.0)
    sure = [(x, y, h) for x, y, noise, h in gaps if noise <= _NOISE_OF_A_GAP * largest]
    if len(sure) < 2 or not largest:
        return None
    (x, y, far), (left, right, near) = sure[-2:]
    before, gap = abs(y - x), abs(right - left)
    is_constant = _CONSTANT[0] * before <= gap <= _CONSTANT[1] * before
    if is_constant and gap > least * max(abs(left), abs(right)):
        if _stays(function, right - left, [far, near]):
            return Break(left, right, is_jump=False)
    jumps = [_jump(function, side, step) for side in (-1, 1)] if gap > before else [0.0, 0.0]
    return Break(jumps[0], jumps[1], is_jump=True) if any(jumps) else None


def _stays(function: Function, gap: float, steps: list[float]) -> bool:
    """Return True if the one-sided derivatives differ by the gap near these steps, too.

    What rounding errors make of two derivatives can agree at two steps by chance.
    """
    near = [h * part for h in steps for part in _MORE_KINK_STEPS]
    found = [(function(h) + function(-h)) / h for h in near]
    return all([_CONSTANT[0] <= other / gap <= _CONSTANT[1] for other in found])


def _extrapolated(difference: Function, step: float, wanted: float, order: int) -> Estimate:
    """Extrapolate a difference to h → 0; its error is a series in h**order."""
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
    """Return the largest of the steps h, h/8, h/64, … at which values are finite."""
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
    """Return the jump at the point: the limit of values near it minus the value at it."""
    start = function(0.0)
    near, nearer = (function(side * step * scale) - start for scale in (1e-6, 1e-8))
    is_jump = abs(nearer) > 0 and abs(near - nearer) <= 1e-3 * abs(nearer)
    return nearer if is_jump and abs(nearer) > 1e-7 * abs(start) else 0.0
