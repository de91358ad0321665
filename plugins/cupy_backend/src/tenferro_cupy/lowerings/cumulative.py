"""Cumulative sums and products on CuPy.

CuPy scans with CUB, which combines floating parts in an order that may differ from run to run. With
`deterministic=True` elements are combined over distances that double instead.
Read next: `../_backend.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.cumulative import combined, from_either_end
from tenferro.primitives.cumulative import Cumprod, Cumsum
from tenferro_cupy.lowerings.indexing import DETERMINISTIC

__all__ = ["register"]


def register(lowerings: Lowerings, cupy: Any) -> None:
    """Register cumsum and cumprod."""
    lowerings.register(Cumsum)(from_either_end(_scan(cupy.cumsum, cupy.add)))
    lowerings.register(Cumprod)(from_either_end(_scan(cupy.cumprod, cupy.multiply)))


def _scan(scan: Callable[..., Any], combine: Callable[..., Any]) -> Callable[[Any, int], Any]:
    def along(x: Any, axis: int) -> Any:
        if DETERMINISTIC.get() and x.dtype.kind in "fc":
            return combined(combine, x, axis)
        return scan(x, axis, x.dtype)

    return along
