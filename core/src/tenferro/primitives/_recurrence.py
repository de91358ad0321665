"""Linear recurrences along an axis, in about log₂ n steps over the whole array.

They are the derivatives of cumulative operations. Written in primitives, they are differentiated
again. The steps double the distance (Hillis, Steele (1986), Data parallel algorithms, CACM 29).
Read next: ``cumulative.py``.
"""

from __future__ import annotations

from tenferro.primitives._handle import Handle, Scalar
from tenferro.primitives.comparison import logical_and, select
from tenferro.primitives.constants import constant, zeros_like
from tenferro.primitives.structural import pad


def recurrence(
    weights: Handle,
    terms: Handle,
    axis: int,
    *,
    reverse: bool = False,
    joins: Handle | None = None,
) -> Handle:
    """Compute t_i = terms_i + weights_i t_{i-1}; terms_i alone where ``joins`` is false.

    Nothing crosses such a place, not even nan, neither here nor in a transpose: the factors are
    replaced by 0 before they are multiplied.
    """
    joined = earlier(constant(True, bool, terms.shape), 1, axis, reverse, False)
    joined = joined if joins is None else logical_and(joined, joins)
    weights = _masked(joined, weights)
    by = 1
    while by < terms.shape[axis]:
        terms = terms + weights * _masked(joined, earlier(terms, by, axis, reverse, 0))
        factors = _masked(joined, earlier(weights, by, axis, reverse, 0))
        joined = logical_and(joined, earlier(joined, by, axis, reverse, False))
        weights = _masked(joined, weights) * factors
        by *= 2
    return terms


def _masked(mask: Handle, x: Handle) -> Handle:
    return select(mask, x, zeros_like(x))


def earlier(x: Handle, by: int, axis: int, reverse: bool, before: Scalar) -> Handle:
    """Shift the elements ``by`` places to later positions, filling with ``before``."""
    low, high = [0] * x.ndim, [0] * x.ndim
    low[axis], high[axis] = (-by, by) if reverse else (by, -by)
    return pad(x, constant(before, x.dtype), low, high, [0] * x.ndim)
