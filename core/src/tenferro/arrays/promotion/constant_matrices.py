"""Known matrices next to values that ``jit`` records: a diagonal one is recorded as its diagonal.

So ``kernel + s * np.eye(n)`` adds to n elements. Un-jitted, a matrix is data of the program.
Read next: ``broadcast.py``.
"""

from __future__ import annotations

import sys
from typing import Any

from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.handle.traces import is_recorded
from tenferro.primitives import broadcast_in_dim, int64, iota
from tenferro.primitives.comparison import eq, select
from tenferro.primitives.constants import constant

_MIN_ELEMENTS = 1 << 10  # smaller matrices cost no less in parts


def known_array(value: Any, beside: Any) -> Array:
    """Return an operand as an array; a large diagonal matrix of NumPy by its diagonal."""
    if isinstance(value, Array) or not isinstance(beside, Array):
        return as_array(value)
    shape: tuple[int, ...] = getattr(value, "shape", ())
    if len(shape) != 2 or shape[0] != shape[1] or not is_recorded(beside.key):
        return as_array(value)
    numpy = sys.modules.get("numpy")
    if numpy is None or type(value) is not numpy.ndarray or value.size < _MIN_ELEMENTS:
        return as_array(value)
    return _spread(value, numpy) if _is_diagonal(value, numpy) else as_array(value)


def _is_diagonal(value: Any, numpy: Any) -> bool:
    """Return True if all elements off the diagonal are 0, and none of them -0.0."""
    diagonal = value.diagonal()
    if value.dtype.kind not in "iuf" or value[0, 1] or value[1, 0]:
        return False
    if numpy.count_nonzero(value) != numpy.count_nonzero(diagonal):
        return False
    return int(numpy.signbit(value).sum()) == int(numpy.signbit(diagonal).sum())


def _spread(value: Any, numpy: Any) -> Array:
    """Record a diagonal matrix as its diagonal, and zeros elsewhere."""
    diagonal, n = value.diagonal(), len(value)
    vector = as_array(diagonal.copy())
    first = diagonal[0].item()
    if first and (diagonal == first).all():
        vector = Array(constant(first, vector.dtype, (n,)).key)
    mask = eq(iota((n, n), 0, int64), iota((n, n), 1, int64))
    repeated = broadcast_in_dim(vector, (n, n), (1,))
    return Array(select(mask, repeated, constant(0, vector.dtype, (n, n))).key)
