"""Writes to the main diagonal of matrices: through a mask of the diagonal.

A compiler fuses the mask into the operations that read the result. The pass ``diagonals`` turns it
into an update of n elements. Read next: ``assignment.py``.
"""

from __future__ import annotations

from tenferro.arrays.handle.array import Array
from tenferro.arrays.promotion.broadcast import stretch
from tenferro.primitives import bool_, broadcast_in_dim, int64, iota, pad, reshape
from tenferro.primitives.comparison import eq, select
from tenferro.primitives.constants import constant


def diagonal_matrices(x: Array, place: int, v: Array, filler: Array) -> Array:
    """Return arrays of the shape of x with v on the diagonals of two axes, the filler elsewhere.

    ``place`` is the first of the two adjacent axes; v has one axis instead of them.
    """
    return select(_mask(x, place), _spread(x, place, v), stretch(filler, x.shape))


def with_diagonal(x: Array, place: int, v: Array) -> Array:
    """Return x with v on the diagonals of two adjacent axes."""
    return select(_mask(x, place), _spread(x, place, v), x)


def _mask(x: Array, place: int) -> Array:
    """Return a mask that holds on the diagonals."""
    rows, columns = x.shape[place : place + 2]
    square = eq(iota((rows, columns), 0, int64), iota((rows, columns), 1, int64))
    return Array(broadcast_in_dim(square, x.shape, (place, place + 1)).key)


def _spread(x: Array, place: int, v: Array) -> Array:
    """Repeat the diagonal along the rows, as many columns as there are."""
    columns, n = x.shape[place + 1], v.shape[place]
    if columns > n:
        nothing = [0] * v.ndim
        high = [columns - n if axis == place else 0 for axis in range(v.ndim)]
        zero = constant(False if v.dtype is bool_ else 0, v.dtype)
        padded = pad(v, zero, nothing, high, nothing)
        v = Array(padded.key, padded.flow)
    return stretch(reshape(v, (*v.shape[:place], 1, *v.shape[place:])), x.shape)
