"""Samples of the contraction family: dot_general.

Output order is (batch, left free, right free); contracting nothing is an outer product,
contracting an empty axis gives zeros. Read
`rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.samples.table import (
    COMPLEX,
    F32,
    F64,
    FLOATS,
    INTS,
    Row,
    Table,
    cgrid,
    fine,
    grid,
    igrid,
    table,
)  # fmt: skip

__all__ = ["TABLES"]

inf, nan = float("inf"), float("nan")


def _dims(
    lc: tuple[int, ...], rc: tuple[int, ...], lb: tuple[int, ...] = (), rb: tuple[int, ...] = ()
) -> dict[str, Any]:
    return {
        "lhs_contract": lc,
        "rhs_contract": rc,
        "lhs_batch": lb,
        "rhs_batch": rb,
        "preferred": None,
    }


_MATMUL = _dims((1,), (0,))
_A, _B = grid(-2, 2, 2, 3), grid(-1, 3, 3, 2)
DOT_GENERAL = table(
    "std::dot_general",
    Row(edge="wide", inputs=(_A, _B), params=_MATMUL, wrt=(0, 1), size=3),
    Row(edge="full_precision", inputs=(fine(_A), fine(_B)), params=_MATMUL, dtypes=F64, size=3),
    Row(edge="square", inputs=(grid(-2, 2, 3, 3), grid(-1, 3, 3, 3)), params=_MATMUL, dtypes=F64,
        wrt=(0, 1), size=3),
    Row(edge="tall", inputs=(grid(-2, 2, 4, 2), grid(-1, 3, 2, 3)), params=_MATMUL, dtypes=F64,
        wrt=(0, 1), size=2),
    Row(edge="left_only", inputs=(_A, _B), params=_MATMUL, dtypes=F64, wrt=(0,), size=3),
    Row(edge="right_only", inputs=(_A, _B), params=_MATMUL, dtypes=F64, wrt=(1,), size=3),
    Row(edge="vectors", inputs=(grid(-2, 2, 4), grid(-1, 3, 4)), params=_dims((0,), (0,)), wrt=(0,
        1), size=4),
    Row(edge="outer", inputs=(grid(-2, 2, 2), grid(-1, 3, 3)), params=_dims((), ()), dtypes=F64,
        wrt=(0, 1), size=1),
    Row(edge="scalar", inputs=(1.5, -2.5), params=_dims((), ()), wrt=(0, 1), size=1),
    Row(edge="first_axes", inputs=(grid(-2, 2, 3, 2), grid(-1, 3, 3, 2)), params=_dims((0,), (0,)),
        dtypes=F64, wrt=(0, 1), size=3),
    Row(edge="batch", inputs=(grid(-2, 2, 2, 2, 3), grid(-1, 3, 2, 3, 2)), params=_dims((2,), (1,),
        (0,), (0,)), wrt=(0, 1),
        order=2, size=3),
    Row(edge="inner_batch", inputs=(grid(-2, 2, 3, 2, 2), grid(-1, 3, 2, 3, 2)), params=_dims((0,),
        (1,), (1,), (2,)), dtypes=F64,
        wrt=(0, 1), order=1, size=3),
    Row(edge="two_contracted", inputs=(grid(-2, 2, 2, 3, 2), grid(-1, 3, 2, 3)), params=_dims((1,
        0), (1, 0)), dtypes=F64,
        wrt=(0, 1), order=2, size=6),
    Row(edge="crossed", inputs=(grid(-2, 2, 2, 3), grid(-1, 3, 3, 2)), params=_dims((0, 1), (1, 0)),
        dtypes=F64, wrt=(0, 1),
        order=2, size=6),
    Row(edge="all_batch", inputs=(grid(-2, 2, 3), grid(-1, 3, 3)), params=_dims((), (), (0,), (0,)),
        dtypes=F64, wrt=(0, 1),
        size=1),
    Row(edge="size1_axis", inputs=(grid(-2, 2, 2, 1), grid(-1, 3, 1, 2)), params=_MATMUL,
        dtypes=F64, wrt=(0, 1), size=1),
    Row(edge="empty", inputs=(grid(0, 1, 2, 0), grid(0, 1, 0, 3)), params=_MATMUL,
        expected=[[0.0] * 3] * 2, wrt=(0, 1),
        order=1, tangents=(grid(0, 1, 2, 0), grid(0, 1, 0, 3)), derivative=[[0.0] * 3] * 2,
        note="convention 9: contracting an empty axis gives zeros"),
    Row(edge="empty_result", inputs=(grid(0, 1, 0, 2), grid(0, 1, 2, 3)), params=_MATMUL,
        dtypes=F64, wrt=(0, 1), order=1, size=2),
    Row(edge="complex", inputs=(cgrid(2, 2, 3), cgrid(1, 3, 2)), params=_MATMUL, dtypes=COMPLEX,
        wrt=(0, 1), size=3),
    Row(edge="complex_batch", inputs=(cgrid(2, 2, 1, 2), cgrid(1, 2, 2, 2)), params=_dims((2,),
        (1,), (0,), (0,)),
        dtypes=("complex128",), wrt=(0, 1), order=2, size=2),
    Row(edge="integers", inputs=(igrid(-4, 5, 2, 3), igrid(-3, 3, 3, 2)), params=_MATMUL,
        dtypes=INTS, tol="exact"),
    Row(edge="non_contiguous", inputs=(_A, _B), params=_MATMUL, dtypes=F64, wrt=(0, 1), order=1,
        layout="strided", size=3),
    Row(edge="transposed", inputs=(_A, _B), params=_MATMUL, dtypes=FLOATS, layout="transposed",
        size=3),
    Row(edge="preferred", inputs=(_A, _B), params={**_MATMUL, "preferred": "float64"}, dtypes=F32,
        out="float64", wrt=(0, 1),
        size=3, note="the output has the preferred dtype"),
    Row(edge="nan", inputs=([[1.0, nan]], [[1.0], [1.0]]), params=_MATMUL, expected=[[nan]]),
    Row(edge="inf", inputs=([[1.0, inf]], [[1.0], [-1.0]]), params=_MATMUL, expected=[[-inf]]),
    Row(edge="large", inputs=(grid(-2, 2, 33, 65), grid(-1, 3, 65, 17)), params=_MATMUL, size=65),
    level=1, tol="contraction",
)  # fmt: skip

TABLES: tuple[Table, ...] = (DOT_GENERAL,)
