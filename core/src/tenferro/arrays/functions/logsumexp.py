"""``logsumexp``, ``softmax`` and ``log_softmax`` with SciPy's keywords.

Read next: ``reduction.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro.arrays.functions._factories import filled, zeros
from tenferro.arrays.functions.reduction import keep
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import cast, floating, normalize_axes, together
from tenferro.arrays.registry import FUNCTIONS, covers
from tenferro.primitives import elementwise, float64, reduction
from tenferro.primitives import exponential_sums as p
from tenferro.primitives.arithmetic import abs as absolute
from tenferro.primitives.arithmetic import sign
from tenferro.primitives.comparison import eq, gt, logical_and, select
from tenferro.primitives.rounding import is_finite
from tenferro.primitives.structural import stop_gradient


def _double(x: Any) -> Array:
    """Return the operand as floats; integers become float64."""
    found = as_array(x)
    return floating(found) if found.dtype.is_inexact else cast(found, float64)


@covers("logsumexp")
def logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False
) -> Any:
    """Compute ln Σ b exp a over axes, optionally with the sign of the sum; a may be complex.

    >>> import tenferro as tn
    >>> tn.special.logsumexp([1000.0, 1000.0]).shape
    ()
    """
    if b is not None:
        return _weighted(a, b, axis, keepdims, return_sign)
    found = _double(a)
    if found.dtype.is_complex:
        return _weighted(found, filled(found, 1), axis, keepdims, return_sign)
    axes = normalize_axes(axis, found.ndim, "logsumexp")
    result = p.reduce_logsumexp(found, axes)
    result = keep(result, found, axes) if keepdims else result
    if not return_sign:
        return result
    empty = eq(result, filled(result, -float("inf")))
    return result, select(empty, zeros(result), filled(result, 1))


def _weighted(a: Any, b: Any, axis: Any, keepdims: bool, return_sign: bool) -> Any:
    """Compute the weighted form; terms of weight 0 neither set the maximum nor overflow."""
    x, weights = together("logsumexp", _double(a), _double(b))
    axes = normalize_axes(axis, x.ndim, "logsumexp")
    idle = eq(weights, zeros(x))
    size = x if not x.dtype.is_complex else FUNCTIONS["real"](x)  # of exp x, as a logarithm
    lowest = filled(size, -float("inf"))
    counted = select(idle, lowest, size)
    if 0 in (x.shape[d] for d in axes):
        top = zeros(keep(reduction.reduce_sum(size, axes), x, axes))
    else:
        top = stop_gradient(keep(reduction.reduce_max(counted, axes), x, axes))
    top = select(is_finite(top), top, zeros(top))
    excess = size - top
    huge = logical_and(idle, gt(excess, filled(excess, 80)))
    top = cast(top, x.dtype)
    scaled = select(huge, filled(x, -float("inf")), x - top)
    terms = weights * elementwise.exp(scaled)
    total = reduction.reduce_sum(terms, axes)
    top = top if keepdims else reduction.reduce_sum(top, axes)
    total = keep(total, x, axes) if keepdims else total
    if return_sign:
        return elementwise.log(absolute(total)) + top, sign(total)
    return elementwise.log(total) + top


@covers("softmax")
def softmax(x: Any, axis: Any = None) -> Array:
    """Compute exp x / Σ exp x over axes."""
    found = _double(x)
    return p.softmax(found, normalize_axes(axis, found.ndim, "softmax"))


@covers("log_softmax")
def log_softmax(x: Any, axis: Any = None) -> Array:
    """Compute x − ln Σ exp x over axes."""
    found = _double(x)
    return p.log_softmax(found, normalize_axes(axis, found.ndim, "log_softmax"))
