"""Samples of pivoted QR decompositions; columns have rests of distinct lengths, so their order is
unique.

Read `qr.py` for what is looked at, and `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from tenferro_conformance.samples import svd
from tenferro_conformance.samples.common_rows import factorization_row
from tenferro_conformance.samples.table import COMPLEX, FLOATS, Grid, Row, Table, grid, table

__all__ = ["TABLES"]

_C128 = ("complex128",)
#: Taken in the order 2, 0, 1.
SQUARE = [[1, 0.5, 3], [2, 0.25, -1], [-0.5, 1, 0.5]]
#: The second column is the longest; of what remains, the last is longer than the first.
TALL_MATRIX = [[1, 3, 0.5], [0.5, -1, 2], [-0.5, 0.5, 1], [1, 2, -1]]
WIDE_MATRIX = [[1, 3, 0.5, -0.25], [0.5, -1, 2, 1]]
COMPLEX_SQUARE = [[0.5, 3 + 1j, 0.5j], [2 - 0.5j, -1, 0.25j], [-0.5, 0.5j, 1 + 0.5j]]
STACK = [[[1, 3], [2, -1], [-0.5, 0.5]], [[2, -0.5], [3, 1], [0, 0.25]]]


_row = partial(factorization_row, condition=8.0)


def _order(edge: str, a: Any, **more: Any) -> Row:
    return _row(edge, a, "order", wrt=(), out="int32", **more)


def _canonical(edge: str, a: Any, observe: str, **more: Any) -> Row:
    return _row(edge, a, observe, params={"canonical": True}, **more)


PIVOTED_QR = table(
    "std::pivoted_qr",
    _order("order", SQUARE, dtypes=FLOATS),
    _order("order_wide", WIDE_MATRIX),
    _order("order_batch", STACK),
    _order("order_complex", COMPLEX_SQUARE, dtypes=_C128),
    _order("order_large", grid(-1, 1, 20, 12), condition=64.0),
    _row("square", SQUARE, "left", dtypes=FLOATS),
    _row("tall", TALL_MATRIX, "left", dtypes=FLOATS),
    _row("tall_product", TALL_MATRIX, "product", order=1),
    _row("wide", WIDE_MATRIX, "gram", dtypes=FLOATS),
    _row("complex", COMPLEX_SQUARE, "left", dtypes=COMPLEX),
    _row("batch", STACK, "left", order=1),
    _row("one", [[-2.5]], "product", order=1),
    _row("empty", Grid((0, 3), ()), "gram", order=1),
    _row("empty_columns", Grid((3, 0), ()), "product", order=1),
    _row("empty_batch", Grid((0, 3, 2), ()), "product", order=1),
    _row("non_contiguous", TALL_MATRIX, "left", order=1, layout="strided"),
    _row("rank_deficient", svd.DEFICIENT_TALL, "product", wrt=(), expected=None),
    _canonical("canonical_columns", SQUARE, "columns"),
    _canonical("canonical_triangle", TALL_MATRIX, "triangle"),
    _canonical("canonical_wide", WIDE_MATRIX, "triangle"),
    _canonical("canonical_complex", COMPLEX_SQUARE, "triangle", dtypes=_C128),
    _row("full", TALL_MATRIX, "rest", params={"full": True}, wrt=()),
    level=3,
    tol="factorization",
)

TABLES: tuple[Table, ...] = (PIVOTED_QR,)
