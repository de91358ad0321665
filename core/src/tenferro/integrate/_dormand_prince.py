"""The method of Dormand and Prince, 5(4): a step, the polynomial over it, and its error.

Source  E. Hairer, S. P. Nørsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed.
        (1993), table II.5.2; L. F. Shampine, Some practical Runge-Kutta formulas, Math. Comp. 46
        (1986) 135-150 (the polynomial)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.functions.structural import stack
from tenferro.arrays.handle.array import Array

RightSide = Callable[[Array, Array], Array]

_TIMES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1)
_STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
)
_STEP = (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)
_ERROR = (-71 / 57600, 0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40)
_BETWEEN = (
    (1, 0, 0, 0, 0, 0, 0),
    (
        *(-8048581381 / 2820520608, 0, 131558114200 / 32700410799, -1754552775 / 470086768),
        *(127303824393 / 49829197408, -282668133 / 205662961, 40617522 / 29380423),
    ),
    (
        *(8663915743 / 2820520608, 0, -68118460800 / 10900136933, 14199869525 / 1410260304),
        *(-318862633887 / 49829197408, 2019193451 / 616988883, -110615467 / 29380423),
    ),
    (
        *(-12715105075 / 11282082432, 0, 87487479700 / 32700410799, -10690763975 / 1880347072),
        *(701980252875 / 199316789632, -1453857185 / 822651844, 69997945 / 29380423),
    ),
)
"""Weights of the slopes in the coefficients of x, x², x³, x⁴, with x from 0 to 1 over a step."""


class Step(NamedTuple):
    """A step from y to another value, and y + x (c₁ + x (c₂ + x (c₃ + x c₄))) for x from 0 to 1."""

    y: Array
    slope: Array
    """That of the end, which the next step begins with."""
    error: Array
    coefficients: Array
    """[4, *s]."""


def step(f: RightSide, t: Array, y: Array, slope: Array, h: Array, end: Array) -> Step:
    """Make a step of size h from (t, y), where the slope is known, to the time ``end``, t + h."""
    slopes = [slope]
    for part, weights in zip(_TIMES, _STAGES, strict=True):
        slopes.append(f(t + part * h, y + h * _combined(weights, slopes)))
    after = y + h * _combined(_STEP, slopes)
    slopes.append(f(end, after))
    coefficients = stack([h * _combined(weights, slopes) for weights in _BETWEEN])
    return Step(after, slopes[-1], h * _combined(_ERROR, slopes), coefficients)


def value_between(y: Array, coefficients: Array, x: Array) -> Array:
    """Return the polynomials of m steps at parts x of them.

    y: [m, *s]   coefficients: [m, 4, *s]   x: [m]   →   [m, *s]
    """
    x = x.reshape(-1, *[1] * (y.ndim - 1))
    first, second, third, fourth = [coefficients[:, k] for k in range(4)]
    found: Array = y + x * (first + x * (second + x * (third + x * fourth)))
    return found


def _combined(weights: Sequence[float], slopes: Sequence[Array]) -> Array:
    """Return Σ weight · slope, without the terms of weight 0."""
    first, *others = [w * k for w, k in zip(weights, slopes, strict=False) if w]
    for term in others:
        first = first + term
    return first
