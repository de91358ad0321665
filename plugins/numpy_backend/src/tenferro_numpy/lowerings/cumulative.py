"""Cumulative maxima, minima and sums of exponentials on NumPy: `accumulate` of the ufunc.

`cumsum` and `cumprod` are those of `tenferro.backend.numpy_like.cumulative`. Read next:
`contraction.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.cumulative import from_either_end
from tenferro.primitives.cumulative import Cumlogsumexp, Cummax, Cummin

__all__ = ["register"]


def register(lowerings: Lowerings) -> None:
    """Register what replaces the shared lowerings."""
    table = ((Cummax, np.maximum), (Cummin, np.minimum), (Cumlogsumexp, np.logaddexp))
    for primitive, ufunc in table:
        lowerings.register(primitive)(from_either_end(_accumulate(ufunc)))


def _accumulate(ufunc: np.ufunc) -> Callable[[Any, int], Any]:
    return lambda x, axis: ufunc.accumulate(x, axis)
