"""Products of sparse matrices: with dense ones, and the patterns of those of two sparse ones.

A pattern is a part of a program's structure, so which entries meet is found when the program is
recorded, with NumPy. Read next: ``solving.py``.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from importlib import import_module
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.structural import reshape
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import cast
from tenferro.arrays.sparse.pattern import SparsePattern
from tenferro.primitives import ShapeMismatchError, promote_dtypes, sparse_product


class Pairs(NamedTuple):
    """The pattern of a product, and the pairs of entries that its entries add up."""

    pattern: SparsePattern
    left: array[int]  # which entry of the left matrix
    right: array[int]  # which entry of the right one
    targets: array[int]  # to which entry of the product their product is added


def dense_product(
    data: Any, rows: Array, columns: Array, x: Array, pattern: SparsePattern,
    *, reflected: bool = False,
) -> Any:  # fmt: skip
    """Multiply a matrix, or with ``reflected`` its transposed one, with a vector or a matrix."""
    height, width = pattern.shape[::-1] if reflected else pattern.shape
    if x.ndim not in (1, 2) or x.shape[0] != width:
        raise at_user_line(
            ShapeMismatchError.of(
                "matmul",
                "a sparse matrix multiplies vectors and matrices of its size",
                got=f"{pattern!r},  {x.aval}",
                need=f"the shape ({width},) or {f'(k, {width})' if reflected else f'({width}, k)'}",
                shapes=(pattern.shape, x.shape),
            )
        )
    dtype = promote_dtypes(data.dtype, x.dtype)
    matrix = x if x.ndim == 2 else reshape(x, (x.shape[0], 1))
    found: Any = sparse_product(
        cast(as_array(data), dtype), rows, columns, cast(matrix, dtype), size=height
    )
    return found if x.ndim == 2 else reshape(found, (height,))


@lru_cache(maxsize=32)
def product_pattern(a: SparsePattern, b: SparsePattern) -> Pairs:
    """Find the pattern of a product A B, and the pairs of entries A[i, k], B[k, j]."""
    numpy = import_module("numpy")  # as for nested sequences
    columns, starts = numpy.asarray(a.columns, "int64"), numpy.asarray(b.starts, "int64")
    counts = (starts[1:] - starts[:-1])[columns]  # how many entries of B each one of A meets
    left = numpy.repeat(numpy.arange(len(columns)), counts)
    before = numpy.cumsum(counts) - counts
    right = numpy.arange(len(left)) + numpy.repeat(starts[columns] - before, counts)
    rows = numpy.asarray(a.rows(), "int64")[left]
    places = rows * b.shape[1] + numpy.asarray(b.columns, "int64")[right]
    return _pairs(places, left, right, (a.shape[0], b.shape[1]), (a, b))


@lru_cache(maxsize=32)
def common_places(a: SparsePattern, b: SparsePattern) -> Pairs:
    """Find the places where both matrices of one shape have an entry."""
    numpy = import_module("numpy")
    own, others = numpy.asarray(a.places(), "int64"), numpy.asarray(b.places(), "int64")
    places, left, right = numpy.intersect1d(own, others, assume_unique=True, return_indices=True)
    return _pairs(places, left, right, a.shape, (a, b))


def _pairs(
    places: Any, left: Any, right: Any, shape: tuple[int, int],
    like: tuple[SparsePattern, SparsePattern],
) -> Pairs:  # fmt: skip
    distinct, targets = import_module("numpy").unique(places, return_inverse=True)
    pattern = SparsePattern.of_places(distinct.tolist(), shape, like=like)
    found = [array("q", x.astype("int64").tobytes()) for x in (left, right, targets)]
    return Pairs(pattern, *found)
