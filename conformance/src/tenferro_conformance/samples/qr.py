"""Samples of QR decompositions.

What depends on no phase is looked at, see `observations/qr.py`; in the canonical gauge both
factors. Matrices whose leading columns depend on one another have factors, but no derivative. Read
`rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.samples import svd
from tenferro_conformance.samples.common_rows import factorization_row as _row
from tenferro_conformance.samples.table import (
    COMPLEX,
    FLOATS,
    Grid,
    Row,
    Table,
    cgrid,
    grid,
    table,
)

__all__ = ["TABLES"]

_C128 = ("complex128",)


def _canonical(edge: str, a: Any, observe: str, **more: Any) -> Row:
    return _row(edge, a, observe, params={"canonical": True}, **more)


def _full(edge: str, a: Any, observe: str, **more: Any) -> Row:
    return _row(edge, a, observe, params={"full": True}, wrt=(), **more)


QR = table(
    "std::qr",
    _row("square", svd.SQUARE, "left", dtypes=FLOATS),
    _row("square_gram", svd.SQUARE, "gram"),
    _row("square_product", svd.SQUARE, "product", order=1),
    _row("tall", svd.TALL_MATRIX, "left", dtypes=FLOATS),
    _row("tall_gram", svd.TALL_MATRIX, "gram"),
    _row("tall_isometry", svd.TALL_MATRIX, "isometry", wrt=()),
    _row("wide", svd.WIDE_MATRIX, "left", dtypes=FLOATS),
    _row("wide_gram", svd.WIDE_MATRIX, "gram", dtypes=FLOATS),
    _row("complex", svd.COMPLEX_SQUARE, "left", dtypes=COMPLEX),
    _row("complex_tall", svd.COMPLEX_TALL, "left", dtypes=COMPLEX),
    _row("complex_wide", svd.COMPLEX_WIDE, "gram", dtypes=COMPLEX),
    _row("batch", svd.STACK, "left", order=1),
    _row("one", [[-2.5]], "product", dtypes=FLOATS, order=1),
    _row("complex_one", [[-2.5 + 1j]], "product", dtypes=COMPLEX, order=1),
    _row("size1_axis", [[0.5, -2, 1]], "product", order=1),
    _row("empty", Grid((0, 3), ()), "gram", order=1),
    _row("empty_columns", Grid((3, 0), ()), "product", order=1),
    _row("empty_batch", Grid((0, 3, 2), ()), "product", order=1),
    _row("non_contiguous", svd.TALL_MATRIX, "left", order=1, layout="strided"),
    _row("transposed", svd.TALL_MATRIX, "left", wrt=(), layout="transposed"),
    _row("repeated", svd.REPEATED, "left", dtypes=FLOATS),
    _row("rank_deficient", svd.DEFICIENT_TALL, "product", wrt=(), dtypes=FLOATS),
    _row("rank_deficient_isometry", svd.DEFICIENT_TALL, "isometry", wrt=()),
    _row("zero", [[0, 0], [0, 0], [0, 0]], "product", wrt=()),
    _canonical("canonical_columns", svd.SQUARE, "columns", dtypes=FLOATS),
    _canonical("canonical_triangle", svd.SQUARE, "triangle", dtypes=FLOATS),
    _canonical("canonical_tall", svd.TALL_MATRIX, "columns"),
    _canonical("canonical_tall_triangle", svd.TALL_MATRIX, "triangle"),
    _canonical("canonical_wide", svd.WIDE_MATRIX, "triangle"),
    _canonical("canonical_complex", svd.COMPLEX_SQUARE, "columns", dtypes=COMPLEX),
    _canonical("canonical_complex_tall", svd.COMPLEX_TALL, "triangle", dtypes=_C128),
    _canonical("canonical_complex_wide", svd.COMPLEX_WIDE, "triangle", dtypes=COMPLEX),
    _canonical("canonical_batch", svd.STACK, "columns", order=1),
    _full("full", svd.TALL_MATRIX, "rest", dtypes=FLOATS),
    _full("full_isometry", svd.TALL_MATRIX, "isometry"),
    _full("full_complex", svd.COMPLEX_TALL, "rest", dtypes=COMPLEX),
    _full("full_product", svd.COMPLEX_TALL, "product", dtypes=_C128),
    _row("large", grid(-1, 1, 40, 30), "product", wrt=(), size=40, dtypes=FLOATS),
    _row("large_isometry", grid(-1, 1, 40, 30), "isometry", wrt=(), size=40),
    _row("large_complex", cgrid(1, 20, 24), "product", wrt=(), size=24, dtypes=_C128),
    level=3,
    tol="factorization",
)

TABLES: tuple[Table, ...] = (QR,)
