"""Samples of singular value decompositions: svd and svdvals.

What depends on no phase is looked at, see `observations/svd.py`: sums over pairs where the values
are distinct, projectors and the polar factor where some are equal or zero. In the canonical gauge
the vectors themselves are compared. Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.samples.common_rows import factorization_row as _row
from tenferro_conformance.samples.table import (
    COMPLEX,
    FLOATS,
    Grid,
    Row,
    Table,
    cgrid,
    grid,
    real_dtype,
    table,
)

__all__ = ["TABLES"]

_C128 = ("complex128",)
#: Singular values 3.3, 2.0 and 0.9; no two are near.
SQUARE = [[3, 1, 0.5], [-1, 2, 0.25], [0.5, -0.5, 1]]
TALL_MATRIX = [[3, 1], [-1, 2], [0.5, -0.5], [0.25, 1]]
WIDE_MATRIX = [[3, 1, 0.5, -0.25], [-1, 0.5, 1, 2]]
COMPLEX_SQUARE = [[3 + 1j, 0.5j, 0.5], [-1, 2 - 0.5j, 0.25j], [0.5j, -0.5, 1 + 0.5j]]
COMPLEX_TALL = [[3, 1j], [-1 + 1j, 2], [0.5j, -0.5 + 0.25j]]
COMPLEX_WIDE = [[3, 1j, 0.5 + 0.5j], [-1 + 0.5j, 0.5, 2j]]
STACK = [[[3, 1], [-1, 2], [0.5, -0.5]], [[1, -0.5], [2, 1], [0, 3]]]
#: The values are √2, √2 and 0.5.
REPEATED = [[1, 1, 0], [1, -1, 0], [0, 0, 0.5]]
COMPLEX_REPEATED = [[1, 1j, 0], [1j, 1, 0], [0, 0, 0.5j]]
REPEATED_TALL = [*REPEATED, [0, 0, 0.25]]
#: Rank 2: the third column is the first minus the second.
DEFICIENT = [[3, 1, 2], [-1, 2, -3], [0.5, -0.5, 1]]
DEFICIENT_TALL = [*DEFICIENT, [1, 0.5, 0.5]]
DEFICIENT_WIDE = [list(column) for column in zip(*DEFICIENT_TALL, strict=True)]
COMPLEX_DEFICIENT = [[3, 1j, 3 - 1j], [-1j, 2, -2 - 1j], [0.5, -0.5, 1]]


def _canonical(edge: str, a: Any, observe: str, **more: Any) -> Row:
    return _row(edge, a, observe, params={"gauge": "canonical"}, condition=8.0, **more)


def _full(edge: str, a: Any, observe: str, **more: Any) -> Row:
    return _row(edge, a, observe, params={"full": True}, wrt=(), **more)


def _large(*shape: int) -> Grid:
    return grid(-1, 1, *shape)


SVD = table(
    "std::svd",
    _row("square", SQUARE, "pairs", dtypes=FLOATS),
    _row("square_left", SQUARE, "left"),
    _row("square_sines", SQUARE, "sines", dtypes=FLOATS),
    _row("square_values", SQUARE, "values", dtypes=FLOATS),
    _row("square_product", SQUARE, "product", order=1),
    _row("square_isometries", SQUARE, "isometries", wrt=()),
    _row("tall", TALL_MATRIX, "pairs", dtypes=FLOATS),
    _row("tall_left", TALL_MATRIX, "left"),
    _row("tall_isometries", TALL_MATRIX, "isometries", wrt=()),
    _row("wide", WIDE_MATRIX, "pairs", dtypes=FLOATS),
    _row("wide_right", WIDE_MATRIX, "right"),
    _row("wide_values", WIDE_MATRIX, "values"),
    _row("complex", COMPLEX_SQUARE, "pairs", dtypes=COMPLEX),
    _row("complex_values", COMPLEX_SQUARE, "values", dtypes=COMPLEX, out=real_dtype),
    _row("complex_tall", COMPLEX_TALL, "pairs", dtypes=COMPLEX),
    _row("complex_tall_left", COMPLEX_TALL, "left", dtypes=_C128),
    _row("complex_wide", COMPLEX_WIDE, "sines", dtypes=COMPLEX),
    _row("complex_wide_right", COMPLEX_WIDE, "right", dtypes=_C128),
    _row("batch", STACK, "pairs", order=1),
    _row("size1_axis", [[0.5, -2, 1]], "pairs"),
    _row("one", [[-2.5]], "pairs", dtypes=FLOATS),
    _row("complex_one", [[-2.5 + 1j]], "pairs", dtypes=COMPLEX),
    _row("empty", Grid((0, 3), ()), "product", order=1),
    _row("empty_columns", Grid((3, 0), ()), "values", order=1),
    _row("empty_batch", Grid((0, 3, 2), ()), "product", order=1),
    _row("non_contiguous", TALL_MATRIX, "sines", order=1, layout="strided"),
    _row("transposed", TALL_MATRIX, "sines", wrt=(), layout="transposed"),
    _row("repeated", REPEATED, "two", dtypes=FLOATS),
    _row("repeated_polar", REPEATED, "polar", dtypes=FLOATS),
    _row("repeated_rank_two", REPEATED, "rank_two"),
    _row("repeated_values", REPEATED, "values", wrt=()),
    _row("repeated_tall", REPEATED_TALL, "two"),
    _row("complex_repeated", COMPLEX_REPEATED, "two", dtypes=COMPLEX),
    _row("complex_repeated_polar", COMPLEX_REPEATED, "polar", dtypes=_C128),
    _row("rank_deficient", DEFICIENT, "two", dtypes=FLOATS),
    _row("rank_deficient_rank_two", DEFICIENT, "rank_two"),
    _row("rank_deficient_tall", DEFICIENT_TALL, "two", order=1),
    _row("rank_deficient_wide", DEFICIENT_WIDE, "rank_two", order=1),
    _row("complex_rank_deficient", COMPLEX_DEFICIENT, "two", dtypes=_C128),
    _row("zero", [[0, 0], [0, 0]], "values", wrt=()),
    _canonical("canonical_left", SQUARE, "left_vectors", dtypes=FLOATS),
    _canonical("canonical_right", SQUARE, "right_vectors", dtypes=FLOATS),
    _canonical("canonical_tall", TALL_MATRIX, "left_vectors"),
    _canonical("canonical_wide", WIDE_MATRIX, "right_vectors"),
    _canonical("canonical_complex_left", COMPLEX_SQUARE, "left_vectors", dtypes=COMPLEX),
    _canonical("canonical_complex_right", COMPLEX_WIDE, "right_vectors", dtypes=COMPLEX),
    _canonical("canonical_complex_tall", COMPLEX_TALL, "left_vectors", dtypes=_C128),
    _full("full_tall", TALL_MATRIX, "isometries", dtypes=FLOATS),
    _full("full_wide", WIDE_MATRIX, "isometries"),
    _full("full_product", TALL_MATRIX, "product"),
    _full("full_complex", COMPLEX_WIDE, "product", dtypes=_C128),
    _row("large", _large(40, 30), "product", wrt=(), size=40, dtypes=FLOATS),
    _row("large_isometries", _large(40, 30), "isometries", wrt=(), size=40),
    _row("large_complex", cgrid(1, 20, 24), "product", wrt=(), size=24, dtypes=_C128),
    level=3,
    tol="factorization",
)

SVDVALS = table(
    "std::svdvals",
    _row("square", SQUARE, None, dtypes=FLOATS),
    _row("tall", TALL_MATRIX, None, dtypes=FLOATS),
    _row("wide", WIDE_MATRIX, None, dtypes=FLOATS),
    _row("complex", COMPLEX_SQUARE, None, dtypes=COMPLEX, out=real_dtype),
    _row("complex_tall", COMPLEX_TALL, None, dtypes=_C128, out=real_dtype),
    _row("complex_wide", COMPLEX_WIDE, None, dtypes=_C128, out=real_dtype),
    _row("batch", STACK, None, order=1),
    _row("one", [[-2.5]], None, dtypes=FLOATS),
    _row("complex_one", [[-2.5 + 1j]], None, dtypes=COMPLEX, out=real_dtype),
    _row("empty", Grid((0, 3), ()), None, order=1),
    _row("empty_batch", Grid((0, 3, 2), ()), None, order=1),
    _row("non_contiguous", TALL_MATRIX, None, order=1, layout="strided"),
    _row("transposed", WIDE_MATRIX, None, wrt=(), layout="transposed"),
    _row("repeated", REPEATED, None, wrt=(), dtypes=FLOATS),
    _row("rank_deficient", DEFICIENT_TALL, None, wrt=()),
    _row("zero", [[0, 0, 0], [0, 0, 0]], None, wrt=()),
    _row("medium", _large(12, 10), None, wrt=(), size=12, dtypes=FLOATS),
    level=3,
    tol="factorization",
)

TABLES: tuple[Table, ...] = (SVD, SVDVALS)
