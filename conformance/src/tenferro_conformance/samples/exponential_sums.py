"""Samples of the family of exponential sums: reduce_logsumexp softmax log_softmax.

Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.samples.table import F64, FLOATS, Row, Table, fine, grid, halved, table

__all__ = ["TABLES"]

inf, nan = float("inf"), float("nan")
_ALL, _LAST, _FIRST, _NONE = {"axes": (0, 1)}, {"axes": (1,)}, {"axes": (0,)}, {"axes": ()}
_X = grid(-2, 2, 2, 4)
_EXTREME_ROWS = [[700.0, 710.0, -1000.0], [-1000.0, -1001.0, -999.5]]


def _rows(**more: Any) -> tuple[Row, ...]:
    return (
        Row(edge="wide", inputs=(_X,), params=_LAST, wrt=(0,), order=3),
        Row(edge="tall", inputs=(grid(-2, 2, 4, 2),), params=_FIRST, dtypes=F64, wrt=(0,), order=2),
        Row(edge="all_axes", inputs=(_X,), params=_ALL, wrt=(0,), order=2),
        Row(edge="no_axes", inputs=(_X,), params=_NONE, dtypes=F64, wrt=(0,), order=1, **more),
        Row(edge="scalar", inputs=(1.5,), params=_NONE, wrt=(0,), order=1, **more),
        Row(edge="size1_axis", inputs=(grid(-2, 2, 3, 1),), params=_LAST, dtypes=F64, wrt=(0,),
            order=1, **more),
        Row(edge="empty", inputs=(grid(0, 1, 0, 3),), params=_LAST, dtypes=F64, wrt=(0,), order=1),
        Row(edge="non_contiguous", inputs=(_X,), params=_LAST, dtypes=F64, wrt=(0,), order=1,
            layout="strided"),
        Row(edge="transposed", inputs=(_X,), params=_FIRST, dtypes=F64, layout="transposed"),
        Row(edge="full_precision", inputs=(fine(_X),), params=_LAST, dtypes=F64, wrt=(0,), order=1),
        halved(lambda *shape: grid(-2, 2, *shape), params=_LAST),
        Row(edge="large", inputs=(_EXTREME_ROWS,), params=_LAST, dtypes=FLOATS, wrt=(0,), order=2),
    )  # fmt: skip


REDUCE_LOGSUMEXP = table(
    "std::reduce_logsumexp",
    *_rows(),
    Row(edge="nan", inputs=([[nan, 1.0]],), params=_LAST, expected=[nan]),
    Row(edge="of_nothing", inputs=(grid(0, 1, 3, 0),), params=_LAST, expected=[-inf] * 3),
    Row(edge="some_minus_inf", inputs=([[0.0, -inf]],), params=_LAST, expected=[0.0], wrt=(0,),
        order=1, smooth=False, tangents=([[1.0, 3.0]],), derivative=[1.0]),
    Row(edge="equal_infinities", inputs=([[-inf, -inf], [inf, inf], [inf, 1.0]],), params=_LAST,
        expected=[-inf, inf, inf], wrt=(0,), order=1, smooth=False,
        tangents=([[1.0, 3.0], [1.0, 3.0], [1.0, 3.0]],), derivative=[2.0, 2.0, 1.0],
        note="convention 3: equal infinities share equally"),
    level=1, tol="special",
)  # fmt: skip
SOFTMAX = table(
    "std::softmax",
    *_rows(tol="special"),
    Row(edge="nan", inputs=([[nan, 1.0], [-inf, -inf]],), params=_LAST,
        expected=[[nan, nan], [nan, nan]]),
    Row(edge="minus_inf", inputs=([[0.0, -inf]],), params=_LAST, expected=[[1.0, 0.0]], wrt=(0,),
        order=1, smooth=False, tangents=([[1.0, 3.0]],), derivative=[[0.0, 0.0]]),
    Row(edge="limits", inputs=([[-inf, -inf], [inf, inf], [inf, 1.0], [2.0, 2.0]],),
        params=_LAST | {"limits": True}, expected=[[0.5, 0.5], [0.5, 0.5], [1.0, 0.0], [0.5, 0.5]],
        wrt=(0,), order=1, smooth=False, tangents=([[1.0, 3.0]] * 4,),
        derivative=[[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [-0.5, 0.5]],
        note="convention 3: equal infinities share equally"),
    Row(edge="nan_in_the_limit", inputs=([[nan, inf]],), params=_LAST | {"limits": True},
        expected=[[nan, nan]]),
    Row(edge="regular_in_the_limit", inputs=(_X,), params=_LAST | {"limits": True}, wrt=(0,),
        order=3),
    level=1, tol="special",
)  # fmt: skip
LOG_SOFTMAX = table(
    "std::log_softmax",
    *_rows(tol="special"),
    Row(edge="nan", inputs=([[nan, 1.0]],), params=_LAST, expected=[[nan, nan]]),
    Row(edge="minus_inf", inputs=([[0.0, -inf]],), params=_LAST, expected=[[0.0, -inf]], wrt=(0,),
        order=1, smooth=False, tangents=([[1.0, 3.0]],), derivative=[[0.0, 2.0]]),
    level=1, tol="special",
)  # fmt: skip

TABLES: tuple[Table, ...] = (REDUCE_LOGSUMEXP, SOFTMAX, LOG_SOFTMAX)
