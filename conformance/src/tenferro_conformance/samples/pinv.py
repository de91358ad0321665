"""Samples of the Moore-Penrose inverse.

Where the rank is less than it could be, the inverse is smooth along directions that keep the rank,
and jumps in others; the derivative of such a direction is stated. Read `rows.py` for what the
fields of a row mean.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.samples import svd
from tenferro_conformance.samples.common_rows import factorization_row
from tenferro_conformance.samples.table import (
    COMPLEX,
    FLOATS,
    Grid,
    Row,
    Table,
    grid,
    table,
)

__all__ = ["TABLES"]

_C128 = ("complex128",)


def _row(edge: str, a: Any, rcond: float = 1e-5, **more: Any) -> Row:
    return factorization_row(edge, a, params={"rcond": rcond}, **more)


PINV = table(
    "std::pinv",
    _row("square", svd.SQUARE, dtypes=FLOATS),
    _row("tall", svd.TALL_MATRIX, dtypes=FLOATS),
    _row("wide", svd.WIDE_MATRIX, dtypes=FLOATS),
    _row("complex", svd.COMPLEX_SQUARE, dtypes=COMPLEX),
    _row("complex_tall", svd.COMPLEX_TALL, dtypes=COMPLEX),
    _row("complex_wide", svd.COMPLEX_WIDE, dtypes=_C128),
    _row("batch", svd.STACK, order=1),
    _row("one", [[-2.5]], dtypes=FLOATS),
    _row("complex_one", [[-2.5 + 1j]], dtypes=COMPLEX),
    _row("size1_axis", [[0.5, -2, 1]]),
    _row("empty", Grid((0, 3), ()), order=1),
    _row("empty_columns", Grid((3, 0), ()), order=1),
    _row("empty_batch", Grid((0, 3, 2), ()), order=1),
    _row("non_contiguous", svd.TALL_MATRIX, order=1, layout="strided"),
    _row("transposed", svd.TALL_MATRIX, wrt=(), layout="transposed"),
    _row("repeated", svd.REPEATED, dtypes=FLOATS),
    _row("repeated_tall", svd.REPEATED_TALL),
    _row("complex_repeated", svd.COMPLEX_REPEATED, dtypes=COMPLEX),
    _row("rank_deficient", svd.DEFICIENT_TALL, wrt=(), dtypes=FLOATS),
    _row("complex_rank_deficient", svd.COMPLEX_DEFICIENT, wrt=(), dtypes=COMPLEX),
    # x yᵀ with x = y = (1, 2), moved by z yᵀ with z orthogonal to x: y xᵀ/25 moves by y zᵀ/25
    _row("rank_kept", [[1, 2], [2, 4]], tangents=([[2, 4], [-1, -2]],),
         derivative=[[0.08, -0.04], [0.16, -0.08]], order=1, dtypes=FLOATS),
    _row("complex_rank_kept", [[1, 2j], [2, 4j]], tangents=([[2, 4j], [-1, -2j]],),
         derivative=[[0.08, -0.04], [-0.16j, 0.08j]], order=1, dtypes=COMPLEX),
    _row("cut", [[4, 0], [0, 1]], 0.5, expected=[[0.25, 0], [0, 0]], wrt=()),
    _row("zero", [[0, 0], [0, 0], [0, 0]], expected=[[0, 0, 0], [0, 0, 0]], wrt=()),
    _row("medium", grid(-1, 1, 10, 6), wrt=(), size=10, dtypes=FLOATS),
    level=3,
    tol="factorization",
)  # fmt: skip

TABLES: tuple[Table, ...] = (PINV,)
