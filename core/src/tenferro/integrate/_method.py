"""Interface between the solvers of initial value problems and a method of one step."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.functions.arithmetic import absolute, sqrt, square
from tenferro.arrays.functions.reduction import sum as _sum
from tenferro.arrays.handle.array import Array

RightSide = Callable[[Array, Array], Array]


class Step(NamedTuple):
    """A step from y to another value, and y + x (c₁ + x (c₂ + …)) for x from 0 to 1."""

    y: Array
    slope: Array
    """That of the end, which the next step begins with."""
    error: Array
    """[*s], or several estimates, [e, *s], for a method with a ``ratio`` of its own."""
    coefficients: Array
    """[k, *s]."""


def root_mean_square(x: Array) -> Array:
    """Return the root of the mean square; 0 without elements."""
    return sqrt(_sum(square(absolute(x))) / max(x.size, 1))


class Method(NamedTuple):
    """A method: its step, and what the choice of step sizes must know of it."""

    step: Callable[..., Step]
    """``step(f, t, y, slope, h, end)`` goes from (t, y), where the slope is known, by h to ``end``.

    ``end`` is t + h; at the last step it is the exact end of the interval.
    """
    coefficients: int
    """Their number k in the polynomial over a step."""
    error_order: int
    """The error of a step of size h is of order h to the power of this number."""
    evaluations: int
    """Those of f in one step."""
    takes_complex: bool = True
    """Whether the state may be complex."""
    ratio: Callable[[Array], Array] = root_mean_square
    """The size of errors over what is tolerated; a step of 1 and more is rejected."""


def combined(weights: Sequence[float], stages: Sequence[Array]) -> Array:
    """Return Σ weight · stage, without the terms of weight 0."""
    first, *others = [w * k for w, k in zip(weights, stages, strict=False) if w]
    for term in others:
        first = first + term
    return first


def value_between(y: Array, coefficients: Array, x: Array) -> Array:
    """Return the polynomials of m steps at parts x of them.

    y: [m, *s]   coefficients: [m, k, *s]   x: [m]   →   [m, *s]
    """
    x = x.reshape(-1, *[1] * (y.ndim - 1))
    found: Array = coefficients[:, -1]
    for k in reversed(range(coefficients.shape[1] - 1)):
        found = coefficients[:, k] + x * found
    return y + x * found
