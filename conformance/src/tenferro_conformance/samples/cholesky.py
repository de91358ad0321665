"""Samples of the cholesky family: arbitrary tangents; of matrices and tangents the lower
triangle is read. What blocks do is compared with the decomposition.

Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.samples.matrices import dominant, positive
from tenferro_conformance.samples.table import COMPLEX, F64, Grid, Row, cgrid, grid, table

__all__ = ["TABLES"]

nan = float("nan")


def _row(edge: str, a: Grid, **more: Any) -> Row:
    return Row(edge=edge, inputs=(a,), **{"wrt": (0,), "order": 2, "size": a.shape[-1], **more})


def _tangent(edge: str, factor: Grid, x: Grid, *, adjoint: bool = False, **more: Any) -> Row:
    known = {"wrt": (0, 1), "order": 2, "size": x.shape[-1], "condition": 4, **more}
    return Row(edge=edge, inputs=(factor, x), params={"adjoint": adjoint}, **known)


_L, _X = dominant(3), grid(-2, 2, 3, 3)
_LC, _XC = dominant(3, is_complex=True), cgrid(2, 3, 3)
_C128 = ("complex128",)
CHOLESKY_TANGENT = table(
    "std::cholesky_tangent",
    _tangent("square", _L, _X),
    _tangent("adjoint", _L, _X, adjoint=True),
    _tangent("complex", _LC, _XC, dtypes=COMPLEX),
    _tangent("complex_adjoint", _LC, _XC, dtypes=COMPLEX, adjoint=True),
    _tangent("batch", dominant(2, 2), grid(-2, 2, 2, 2, 2), dtypes=F64),
    _tangent("batch_adjoint", dominant(2, 2, is_complex=True), cgrid(2, 2, 2, 2), dtypes=_C128,
             adjoint=True),
    _tangent("size1", dominant(1), grid(-2, 2, 1, 1), dtypes=F64),
    _tangent("empty", Grid((0, 0), ()), Grid((0, 0), ()), dtypes=F64, order=1),
    _tangent("no_batch", Grid((0, 2, 2), ()), Grid((0, 2, 2), ()), dtypes=F64, order=1),
    _tangent("non_contiguous", _L, _X, dtypes=F64, layout="strided", order=1),
    _tangent("transposed_memory", _L, _X, dtypes=F64, layout="transposed", order=1, adjoint=True),
    _tangent("large", dominant(70, shift=16.0), grid(-2, 2, 70, 70), dtypes=F64, order=1, wrt=(1,),
             expected=None),
    _tangent("large_adjoint", dominant(70, shift=16.0), grid(-2, 2, 70, 70), dtypes=F64, order=1,
             wrt=(1,), expected=None, adjoint=True),
    level=3,
    tol="factorization",
)  # fmt: skip
TABLES = (
    CHOLESKY_TANGENT,
    table(
        "std::cholesky",
        _row("square", positive(3), condition=4),
        _row("complex", positive(3, is_complex=True), dtypes=COMPLEX, condition=4),
        _row("product", positive(3), observe="product", order=1, condition=4),
        _row("product_complex", positive(3, is_complex=True), dtypes=COMPLEX, observe="product",
             order=1, condition=4),
        _row("batch", positive(2, 2, 2), dtypes=F64, condition=4),
        _row("repeated", Grid((2, 2), (4.0, 0.0, 0.0, 4.0))),
        _row("size1", Grid((1, 1), (2.25,))),
        _row("empty", Grid((0, 0), ()), dtypes=F64, order=1),
        _row("no_batch", Grid((0, 2, 2), ()), dtypes=F64, order=1),
        _row("non_contiguous", positive(3), dtypes=F64, layout="strided", order=1, condition=4),
        _row("transposed_memory", positive(3), dtypes=F64, layout="transposed", order=1,
             condition=4),
        _row("large", positive(24), order=1, condition=50),
        Row(edge="larger", inputs=(Grid((120, 120), tuple(
            4.0 if i == j else 2.0 if i == j + 1 or j == i + 1 else 0.0
            for i in range(120) for j in range(120)
        )),), dtypes=F64, observe="product", expected=None, size=120),
        Row(edge="unread_triangle", inputs=([[4.0, nan], [2.0, 5.0]],),
            expected=[[2.0, 0.0], [1.0, 2.0]], note="the lower triangle is read"),
        Row(edge="lower_tangent", inputs=([[4.0, 0.0], [0.0, 4.0]],), wrt=(0,), order=1,
            tangents=([[0.0, nan], [8.0, 4.0]],), expected=[[2.0, 0.0], [0.0, 2.0]],
            derivative=[[0.0, 0.0], [4.0, 1.0]], smooth=False,
            note="the lower triangle is read, of a tangent too"),
        level=3,
        tol="factorization",
    ),
)  # fmt: skip
