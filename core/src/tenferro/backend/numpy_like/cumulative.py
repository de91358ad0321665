"""Cumulative reductions for a NumPy-shaped namespace.

Sums and products are the namespace's own. It need not have `accumulate` of other functions: they
are combined over distances that double. Read next: `contraction.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.cumulative import Cumlogsumexp, Cummax, Cummin, Cumprod, Cumsum

__all__ = ["combined", "from_either_end", "register"]

Along = Callable[[Any, int], Any]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the cumulative family."""
    table: list[tuple[Any, Along]] = [
        (Cumsum, lambda x, axis: xp.cumsum(x, axis, x.dtype)),
        (Cumprod, lambda x, axis: xp.cumprod(x, axis, x.dtype)),
        (Cummax, lambda x, axis: combined(xp.maximum, x, axis)),
        (Cummin, lambda x, axis: combined(xp.minimum, x, axis)),
        (Cumlogsumexp, lambda x, axis: combined(xp.logaddexp, x, axis)),
    ]
    for primitive, function in table:
        lowerings.register(primitive)(from_either_end(function))


def from_either_end(function: Along) -> Callable[[Any, Any], Any]:
    """Make a lowering that runs a function from the front, or on the reversed axis."""

    def lower(op: Any, x: Any) -> Any:
        if not op.reverse:
            return function(x, op.axis)
        backwards = (slice(None),) * op.axis + (slice(None, None, -1),)
        return function(x[backwards], op.axis)[backwards]

    return lower


def combined(combine: Callable[[Any, Any], Any], x: Any, axis: int) -> Any:
    """Combine with what stands 1, 2, 4, … places earlier; `combine` is associative."""
    out, by = x.copy(), 1
    before = (slice(None),) * axis
    while by < x.shape[axis]:
        later = (*before, slice(by, None))
        out[later] = combine(out[(*before, slice(None, -by))], out[later])
        by *= 2
    return out
