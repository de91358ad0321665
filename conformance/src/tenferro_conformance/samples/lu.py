"""Samples of the lu family: lu and lu_permutation; square, wide, tall.

The first output is looked at alone where derivatives are wanted, since the others are integers.
Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.samples.matrices import dominant, ranked
from tenferro_conformance.samples.table import COMPLEX, F64, Grid, Row, cgrid, grid, table

__all__ = ["TABLES"]


def _row(edge: str, a: Grid, **more: Any) -> Row:
    known = {"observe": "factors", "wrt": (0,), "order": 2, "size": max(a.shape[-2:]), **more}
    return Row(edge=edge, inputs=(a,), **known)


_OUT = (None, "int32", "int32")
LU = table(
    "std::lu",
    _row("square", dominant(3)),
    _row("exchanged", grid(-2, 2, 3, 3), condition=8),
    _row("wide", grid(-2, 2, 2, 4), condition=8),
    _row("tall", grid(-2, 2, 4, 2), condition=8),
    _row("complex", dominant(3, is_complex=True), dtypes=COMPLEX),
    _row("complex_wide", cgrid(2, 2, 4), dtypes=COMPLEX, condition=8),
    _row("complex_tall", cgrid(2, 4, 2), dtypes=COMPLEX, condition=8),
    _row("product", grid(-2, 2, 3, 3), observe="product", order=1, condition=8),
    _row("product_tall", cgrid(2, 4, 2), observe="product", dtypes=("complex128",), order=1,
         condition=8),
    _row("batch", dominant(2, 2, 2), dtypes=F64),
    _row("size1", dominant(1), dtypes=F64),
    _row("empty", Grid((0, 0), ()), dtypes=F64, order=1),
    _row("no_rows", Grid((0, 3), ()), dtypes=F64, order=1),
    _row("no_columns", Grid((3, 0), ()), dtypes=F64, order=1),
    _row("no_batch", Grid((0, 2, 2), ()), dtypes=F64, order=1),
    _row("non_contiguous", dominant(3), dtypes=F64, layout="strided", order=1),
    _row("transposed_memory", dominant(3), dtypes=F64, layout="transposed", order=1),
    _row("rank_deficient", ranked(4, 2), wrt=(), observe="product"),
    _row("large", dominant(24, shift=8.0), order=1, condition=4),
    Row(edge="outputs", inputs=([[1.0, 2.0], [4.0, 2.0], [2.0, 3.0]],), out=_OUT,
        expected=([[4.0, 2.0], [0.5, 2.0], [0.25, 0.75]], [1, 2], [1, 2, 0])),
    Row(edge="no_exchange", inputs=([[4.0, 2.0, 8.0], [2.0, 5.0, 6.0]],), out=_OUT,
        expected=([[4.0, 2.0, 8.0], [0.5, 4.0, 2.0]], [0, 1], [0, 1])),
    level=3,
    tol="factorization",
)  # fmt: skip


def _exchange(edge: str, pivots: Any, size: int, want: Any, *dtypes: str) -> Row:
    return Row(
        edge=edge, inputs=(pivots,), params={"size": size}, dtypes=dtypes or ("int32",),
        out="int32", expected=want,
    )  # fmt: skip


LU_PERMUTATION = table(
    "std::lu_permutation",
    _exchange("wide", [[2, 2, 2], [1, 1, 2]], 3, [[2, 0, 1], [1, 0, 2]], "int32", "int64"),
    _exchange("tall", [3, 1], 4, [3, 1, 2, 0]),
    _exchange("one_after_the_other", [1, 2, 3, 3], 4, [1, 2, 3, 0]),
    _exchange("empty", Grid((0,), ()), 2, [0, 1]),
    _exchange("no_batch", Grid((0, 2), ()), 2, Grid((0, 2), ())),
    level=3,
)
TABLES = (LU, LU_PERMUTATION)
