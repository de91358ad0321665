"""Counts by inversion: add up probabilities until their sum reaches a uniform number.

For means up to 10, where few terms are needed. One uniform number makes one count, so for one key
a count does not decrease in the mean. Read next: ``_rejection.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.arrays.functions._factories import zeros
from tenferro.arrays.handle.array import Array
from tenferro.computegraph import Fragment
from tenferro.primitives import (
    Handle,
    constant,
    convert,
    float64,
    full_like,
    gt,
    logical_and,
    reduce_or,
    variable,
    while_loop,
    zeros_like,
)
from tenferro.primitives.structural import broadcast_in_dim

__all__ = ["smallest_count"]

_NEGLIGIBLE = 2.0**-60  # below the spacing of u; f(0) is larger, and f rises before it falls


def smallest_count(
    ratio: Callable[..., Handle], u: Array, first: Array, *parameters: Array
) -> Array:
    """Return min {k: f(0) + … + f(k) >= u} with f(0) = ``first`` and f(k) = f(k-1) ratio(k, …).

    u: f64[*s]   first: f64[*s]   parameters: f64[*s]   →   k: f64[*s]
    """
    shape = u.shape
    k = variable("k", (), float64)
    count, rest, term = (variable(name, shape, float64) for name in ("count", "rest", "term"))
    given = [variable(f"p{i}", shape, float64) for i in range(len(parameters))]
    names = [h.key for h in (*given, k, count, rest, term)]
    number = k + 1
    following = term * ratio(broadcast_in_dim(number, shape, ()), *given)
    is_open = _is_open(rest, term)
    carry = (number, count + convert(is_open, float64), rest - following, following)
    body = Fragment.of(names, [h.key for h in carry])
    condition = Fragment.of(names, [reduce_or(is_open, range(len(shape))).key])
    start: Any = (constant(0.0, float64), zeros(u), u - first, first)
    found = while_loop(condition, body, parameters, start)[1]
    return Array(found.key)


def _is_open(rest: Handle, term: Handle) -> Handle:
    """Return True where the sum is below u; a sum that is rounded may end below the largest u."""
    return logical_and(gt(rest, zeros_like(rest)), gt(term, full_like(term, _NEGLIGIBLE)))
