"""Samples of isometries of the polar decomposition, and of the equation of their derivatives.

The singular values of `positive_sylvester` are data, so derivatives in the matrix are looked at
with values that follow it. Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from tenferro_conformance.samples import svd
from tenferro_conformance.samples.common_rows import factorization_row
from tenferro_conformance.samples.table import COMPLEX, F64, FLOATS, Grid, Row, Table, grid, table

__all__ = ["TABLES"]

_C128 = ("complex128",)
_POSITIVE = [[3, 1, 0.5], [1, 2, -0.25], [0.5, -0.25, 1]]
_COMPLEX_POSITIVE = [[3, 1j], [-1j, 2]]
_EQUAL = [[2, 0], [0, 2]]


_row = partial(factorization_row, condition=8.0)


def _solved(edge: str, p: Any, q: Any, dtype: str, **more: Any) -> Row:
    """Make a row of the solution as a function of p and q; the stored values are not used."""
    known = {"wrt": (0, 3), "order": 2, "size": 4, "condition": 8.0, **more}
    kinds = (None, "float32" if dtype in ("float32", "complex64") else "float64", None, None)
    values = Grid((len(p),), (1,) * len(p))
    return Row(
        edge=edge, inputs=(p, values, p, q), kinds=kinds, dtypes=(dtype,), observe="factorized",
        **known,
    )  # fmt: skip


POLAR_ISOMETRY = table(
    "std::polar_isometry",
    _row("square", svd.SQUARE, dtypes=FLOATS),
    _row("tall", svd.TALL_MATRIX),
    _row("wide", svd.WIDE_MATRIX),
    _row("complex", svd.COMPLEX_SQUARE, dtypes=COMPLEX),
    _row("complex_tall", svd.COMPLEX_TALL, dtypes=_C128),
    _row("repeated", svd.REPEATED),
    _row("batch", svd.STACK),
    _row("empty", Grid((0, 3), ()), order=1),
    _row("empty_batch", Grid((0, 2, 2), ()), order=1),
    _row("non_contiguous", svd.TALL_MATRIX, order=1, layout="strided"),
    level=3,
    tol="factorization",
)
POSITIVE_SYLVESTER = table(
    "std::positive_sylvester",
    _solved("three", _POSITIVE, grid(-2, 2, 3, 3), "float64"),
    _solved("complex", _COMPLEX_POSITIVE, grid(-2, 2, 2, 2), "complex128"),
    _solved("equal_values", _EQUAL, grid(-2, 2, 2, 2), "float64"),
    Row(edge="empty", inputs=(Grid((0, 0), ()), Grid((0,), ()), Grid((0, 0), ()),
        Grid((0, 0), ())), dtypes=F64, wrt=(0, 3), order=1, observe="factorized"),
    level=3,
    tol="factorization",
)  # fmt: skip

TABLES: tuple[Table, ...] = (POLAR_ISOMETRY, POSITIVE_SYLVESTER)
