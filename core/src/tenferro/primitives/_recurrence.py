"""Linear recurrences along an axis, in work that grows like the length.

They are the derivatives of cumulative operations. Written in primitives, they are differentiated
again. Of a large array neighbours are combined in pairs, the recurrence of half the length is
solved, and its results give the elements between (Ladner, Fischer (1980), Parallel prefix
computation, JACM 27). For a small one log₂ n steps that double the distance are fewer equations
(Hillis, Steele (1986), Data parallel algorithms, CACM 29). Read next: ``cumulative.py``.
"""

from __future__ import annotations

from tenferro.primitives._handle import Handle, Scalar
from tenferro.primitives.comparison import logical_and, select
from tenferro.primitives.constants import constant, zeros_like
from tenferro.primitives.structural import concatenate, pad, reshape
from tenferro.primitives.structural import reverse as flip
from tenferro.primitives.structural import slice as slice_of

MAX_ELEMENTS_FOR_DOUBLING = 2048


def recurrence(
    weights: Handle | None,
    terms: Handle,
    axis: int,
    *,
    reverse: bool = False,
    joins: Handle | None = None,
) -> Handle:
    """Compute t_i = terms_i + weights_i t_{i-1}; terms_i alone where ``joins`` is false.

    ``weights`` of None are 1. Nothing crosses such a place, not even nan, neither here nor in a
    transpose: the factors are replaced by 0 before they are multiplied.
    """
    joined = earlier(constant(True, bool, terms.shape), 1, axis, reverse, False)
    joined = joined if joins is None else logical_and(joined, joins)
    weights = weights if weights is None else _masked(joined, weights)
    if terms.size <= MAX_ELEMENTS_FOR_DOUBLING:
        return _by_doubling(weights, terms, joined, axis, reverse)
    if not reverse:
        return _by_pairs(weights, terms, joined, axis)
    weights = weights if weights is None else flip(weights, (axis,))
    return flip(_by_pairs(weights, flip(terms, (axis,)), flip(joined, (axis,)), axis), (axis,))


def _by_doubling(
    weights: Handle | None, terms: Handle, joined: Handle, axis: int, reverse: bool
) -> Handle:
    by = 1
    while by < terms.shape[axis]:
        before = _masked(joined, earlier(terms, by, axis, reverse, 0))
        terms = terms + _product(weights, before)
        both = logical_and(joined, earlier(joined, by, axis, reverse, False))
        if weights is not None:
            factors = _masked(joined, earlier(weights, by, axis, reverse, 0))
            weights = _masked(both, weights) * factors
        joined = both
        by *= 2
    return terms


def _by_pairs(weights: Handle | None, terms: Handle, joined: Handle, axis: int) -> Handle:
    """Solve the recurrence from the front; nothing joins the first element."""
    length = terms.shape[axis]
    if length < 2 or terms.size <= MAX_ELEMENTS_FOR_DOUBLING:
        return _by_doubling(weights, terms, joined, axis, False)
    pairs, extra = length // 2, length % 2
    even, odd = _every_second(terms, 0, axis), _every_second(terms, 1, axis)
    even_joined, odd_joined = _every_second(joined, 0, axis), _every_second(joined, 1, axis)
    firsts, firsts_joined = _first(even, pairs, axis), _first(even_joined, pairs, axis)
    even_weights = odd_weights = both = None
    both_joined = logical_and(odd_joined, firsts_joined)
    if weights is not None:
        even_weights = _every_second(weights, 0, axis)
        odd_weights = _every_second(weights, 1, axis)
        factors = _masked(both_joined, _first(even_weights, pairs, axis))
        both = _masked(both_joined, odd_weights) * factors
    odd = odd + _product(odd_weights, _masked(odd_joined, firsts))
    odd = _by_pairs(both, odd, both_joined, axis)
    before = _shifted(odd, 1, extra - 1, axis)
    even = even + _product(even_weights, _masked(even_joined, before))
    return _interleaved(even, odd, axis)


def _product(weights: Handle | None, x: Handle) -> Handle:
    return x if weights is None else weights * x


def _masked(mask: Handle, x: Handle) -> Handle:
    return select(mask, x, zeros_like(x))


def _every_second(x: Handle, start: int, axis: int) -> Handle:
    starts, strides = [0] * x.ndim, [1] * x.ndim
    starts[axis], strides[axis] = start, 2
    return slice_of(x, starts, x.shape, strides)


def _first(x: Handle, count: int, axis: int) -> Handle:
    limits = list(x.shape)
    limits[axis] = count
    return x if count == x.shape[axis] else slice_of(x, [0] * x.ndim, limits, [1] * x.ndim)


def _interleaved(even: Handle, odd: Handle, axis: int) -> Handle:
    """even_0, odd_0, even_1, …; ``even`` may have one element more."""
    length = even.shape[axis] + odd.shape[axis]
    odd = _shifted(odd, 0, even.shape[axis] - odd.shape[axis], axis)
    between = (*even.shape[: axis + 1], 1, *even.shape[axis + 1 :])
    paired = concatenate([reshape(even, between), reshape(odd, between)], axis + 1)
    merged = (*even.shape[:axis], 2 * even.shape[axis], *even.shape[axis + 1 :])
    return _first(reshape(paired, merged), length, axis)


def earlier(x: Handle, by: int, axis: int, reverse: bool, before: Scalar) -> Handle:
    """Shift the elements ``by`` places to later positions, filling with ``before``."""
    low, high = (-by, by) if reverse else (by, -by)
    return _shifted(x, low, high, axis, before)


def _shifted(x: Handle, low: int, high: int, axis: int, filler: Scalar = 0) -> Handle:
    lows, highs = [0] * x.ndim, [0] * x.ndim
    lows[axis], highs[axis] = low, high
    if not (low or high):
        return x
    return pad(x, constant(filler, x.dtype), lows, highs, [0] * x.ndim)
