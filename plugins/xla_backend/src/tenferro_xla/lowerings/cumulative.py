"""Cumulative reductions on XLA: cumsum cumprod cummax cummin cumlogsumexp.

Extrema carry their own rule, in which nan wins, as in ``reduction.py``. Read next: ``indexing.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax import Array, lax

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.cumulative import Cumlogsumexp, Cummax, Cummin, Cumprod, Cumsum
from tenferro_xla.lowerings._numeric import is_nan
from tenferro_xla.lowerings.reduction import in_float32

lowerings = Lowerings()


@lowerings.register(Cumsum)
def cumsum(op: Cumsum, x: Array) -> Array:
    """Sum from the front or from the back; half precision in float32."""
    return in_float32(lambda x: lax.cumsum(x, op.axis, op.reverse))(x)


@lowerings.register(Cumprod)
def cumprod(op: Cumprod, x: Array) -> Array:
    """Multiply from the front or from the back; half precision in float32."""
    return in_float32(lambda x: lax.cumprod(x, op.axis, op.reverse))(x)


@lowerings.register(Cummax)
def cummax(op: Cummax, x: Array) -> Array:
    """Take the largest so far; nan wins."""
    return _extremum(op, lax.ge, x)


@lowerings.register(Cummin)
def cummin(op: Cummin, x: Array) -> Array:
    """Take the smallest so far; nan wins."""
    return _extremum(op, lax.le, x)


def _extremum(op: Cummax | Cummin, wins: Callable[[Any, Any], Array], x: Array) -> Array:
    def better(a: Any, b: Any) -> Any:
        return lax.select(lax.bitwise_or(wins(a, b), is_nan(a)), a, b)

    found: Array = lax.associative_scan(better, x, reverse=op.reverse, axis=op.axis)
    return found


@lowerings.register(Cumlogsumexp)
def cumlogsumexp(op: Cumlogsumexp, x: Array) -> Array:
    """Take the logarithm of the sum of exponentials so far."""
    return lax.cumlogsumexp(x, op.axis, op.reverse)
