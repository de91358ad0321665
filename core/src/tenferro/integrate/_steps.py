"""Records of the steps of an initial value problem, and values at times by such records.

``_chosen_steps.py`` and ``_followed_steps.py`` make steps, 16 as a block: reverse mode keeps one
state for each block. Each block adds the values at those times that lie within it. Read next:
``_chosen_steps.py``.
"""

from __future__ import annotations

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.functions.arithmetic import minimum
from tenferro.arrays.functions.comparison import where
from tenferro.arrays.functions.creation import zeros_like
from tenferro.arrays.handle.array import Array
from tenferro.integrate._method import value_between
from tenferro.integrate._step_sizes import Problem

BLOCK = 16


class State(NamedTuple):
    """The place that a solution has come to."""

    t: Array
    y: Array
    slope: Array


class Part(NamedTuple):
    """A solution over one step."""

    t: Array
    size: Array
    """With its sign; 0 if the step was rejected or is behind the end."""
    y: Array
    slope: Array
    coefficients: Array


def no_part(p: Problem, at: State) -> Part:
    """Return the part of a step that is not made."""
    nothing = zeros_like(at.y, shape=(p.method.coefficients, *at.y.shape))
    return Part(at.t, zeros_like(at.t), at.y, at.slope, nothing)


def at_first(p: Problem, x: Array) -> Array:
    """Return x for those times that are the first one, and 0 for the others, to be added."""
    found: Array = where(as_column(p.times == p.t0, x), x, 0.0)
    return found


def located(
    p: Problem, forward: Array, begin: Array, end: Array, parts: Part
) -> tuple[Array, Array]:
    """Return whether each time lies behind ``begin`` and up to ``end``, and in which part."""
    is_inside = (forward * (p.times - begin) > 0) & (forward * (end - p.times) >= 0)
    ends = forward * (parts.t + parts.size)
    is_behind = (ends < forward * p.times[:, None]).sum(axis=1)  # how many parts end before
    return is_inside, minimum(is_behind, BLOCK - 1)


def values_at(p: Problem, parts: Part, is_inside: Array, i: Array) -> Array:
    """Return y at the times that are inside, by the polynomials, and 0 at the others."""
    y = values_within(parts, i, where(is_inside, p.times, parts.t[i]))
    found: Array = where(as_column(is_inside, p.y0), y, 0.0)
    return found


def values_within(parts: Part, i: Array, times: Array) -> Array:
    """Return y by the polynomials of some parts, at times within these."""
    size = parts.size[i]
    x = (times - parts.t[i]) / where(size == 0, 1.0, size)
    return value_between(parts.y[i], parts.coefficients[i], x)


def as_column(x: Array, y: Array) -> Array:
    """Return numbers for the times, [m], to meet values of y at the times, [m, *s]."""
    return x.reshape(-1, *[1] * y.ndim)
