"""Samples of the reduction family: sums, products, extrema and their positions, and, or.

Axes are explicit and dropped; reducing over `()` is the identity; the first index wins a tie,
and NaN wins everything. Read `rows.py`
for what the fields of a row mean.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.samples.table import (
    BOOL,
    COMPLEX,
    F64,
    FLOATS,
    INTS,
    Grid,
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
_ALL, _FIRST, _SECOND, _NONE = {"axes": (0, 1)}, {"axes": (0,)}, {"axes": (1,)}, {"axes": ()}
_C9 = "convention 9: axes are explicit, () is the identity, empty arrays follow NumPy"


def _shapes(x: Any, column: Any, *, order: int) -> tuple[Row, ...]:
    """Return the edges that every reduction has."""
    return (
        Row(edge="wide", inputs=(x,), params=_SECOND, wrt=(0,), order=order, size=4),
        Row(edge="full_precision", inputs=(fine(x),), params=_SECOND, dtypes=F64, size=4),
        Row(edge="tall", inputs=(x,), params=_FIRST, dtypes=F64, wrt=(0,), order=order, size=2),
        Row(edge="all_axes", inputs=(x,), params=_ALL, wrt=(0,), order=order, size=8),
        Row(edge="no_axes", inputs=(x,), params=_NONE, dtypes=F64, wrt=(0,), order=order, note=_C9),
        Row(edge="scalar", inputs=(1.5,), params=_NONE, wrt=(0,), order=order, note=_C9),
        Row(edge="size1_axis", inputs=(column,), params=_SECOND, dtypes=F64, wrt=(0,), order=order),
        Row(
            edge="rank3",
            inputs=(grid(0.5, 2, 2, 3, 2),),
            params={"axes": (0, 2)},
            dtypes=F64,
            wrt=(0,),
            order=1,
            size=4,
        ),
        Row(
            edge="empty_result",
            inputs=(grid(0, 1, 0, 3),),
            params=_SECOND,
            dtypes=F64,
            wrt=(0,),
            order=1,
            size=3,
        ),
        Row(
            edge="non_contiguous",
            inputs=(x,),
            params=_SECOND,
            dtypes=F64,
            wrt=(0,),
            order=1,
            layout="strided",
            size=4,
        ),
        Row(edge="transposed", inputs=(x,), params=_FIRST, dtypes=F64, layout="transposed", size=2),
        Row(edge="integers", inputs=(igrid(-4, 5, 2, 3),), params=_SECOND, dtypes=INTS, size=3),
    )


_X, _COLUMN = grid(-2, 2, 2, 4), grid(-2, 2, 3, 1)
REDUCE_SUM = table(
    "std::reduce_sum",
    *_shapes(_X, _COLUMN, order=3),
    Row(edge="complex", inputs=(cgrid(2, 2, 3),), params=_SECOND, dtypes=COMPLEX, wrt=(0,), size=3),
    Row(edge="empty", inputs=(grid(0, 1, 0, 3),), params=_FIRST, expected=[0.0, 0.0, 0.0], wrt=(0,),
        order=1,
        tangents=(grid(0, 1, 0, 3),), derivative=[0.0, 0.0, 0.0], note=_C9),
    Row(edge="nan", inputs=([1.0, nan],), params=_FIRST, expected=nan),
    Row(edge="inf", inputs=([[inf, 1.0], [inf, -inf]],), params=_SECOND, expected=[inf, nan]),
    Row(edge="wrap", inputs=([2**31 - 1, 1],), params=_FIRST, dtypes=("int32",), expected=-(2**31),
        note="convention 10: integers wrap in two's complement; the dtype is kept"),
    Row(edge="large", inputs=(grid(-3, 5, 37, 211),), params=_SECOND, size=211),
    level=1, tol="reduction",
)  # fmt: skip
_PROD = Grid((2, 4), (1.5, -2.0, 0.5, 1.25, -0.75, 3.0, -1.5, 0.25))
_C9_ZERO = "convention 9: the derivative of a product is right with zeros present"
REDUCE_PROD = table(
    "std::reduce_prod",
    *_shapes(_PROD, Grid((3, 1), (1.5, -2.0, 0.5)), order=2),
    Row(edge="complex", inputs=(cgrid(2, 2, 3),), params=_SECOND, dtypes=COMPLEX, wrt=(0,), order=2,
        size=3),
    Row(edge="empty", inputs=(grid(0, 1, 0, 3),), params=_FIRST, expected=[1.0, 1.0, 1.0], wrt=(0,),
        order=1,
        tangents=(grid(0, 1, 0, 3),), derivative=[0.0, 0.0, 0.0],
        note="the product of nothing is 1"),
    Row(edge="one_zero", inputs=([2.0, 0.0, 3.0],), params=_FIRST, expected=0.0, wrt=(0,), order=2,
        tangents=([1.0, 1.0, 1.0],), derivative=6.0, size=3, note=_C9_ZERO),
    Row(edge="two_zeros", inputs=([0.0, 2.0, 0.0],), params=_FIRST, expected=0.0, wrt=(0,), order=2,
        tangents=([1.0, 1.0, 1.0],), derivative=0.0, size=3, note=_C9_ZERO),
    Row(edge="nan", inputs=([2.0, nan],), params=_FIRST, expected=nan),
    Row(edge="inf", inputs=([[inf, 2.0], [inf, 0.0]],), params=_SECOND, expected=[inf, nan]),
    level=1, tol="reduction",
)  # fmt: skip


def _extremum(name: str, infs: list[float], tie: tuple[float, float]) -> Table:
    distinct = Grid((2, 4), (1.5, -2.0, 0.5, 1.25, -0.75, 3.0, -1.5, 0.25))
    return table(
        f"std::{name}",
        *_shapes(distinct, Grid((3, 1), (1.5, -2.0, 0.5)), order=2),
        Row(edge="nan_wins", inputs=([1.0, nan, 3.0],), params=_FIRST, expected=nan, wrt=(0,),
            order=1, smooth=False, tangents=([1.0, 2.0, 6.0],), derivative=3.0,
            note="convention 3: next to a nan nothing loses, so all share"),
        Row(edge="nan", inputs=([[1.0, nan, 3.0], [nan, nan, 0.0]],), params=_SECOND, expected=[nan,
            nan],
            note="NaN wins, as in NumPy"),
        Row(edge="inf", inputs=([[inf, 1.0, -inf]],), params=_SECOND, expected=infs),
        Row(edge="tie", inputs=([3.0, 1.0, 3.0, 1.0],), params=_FIRST, expected=tie[0], wrt=(0,),
            order=1, smooth=False,
            tangents=([2.0, 16.0, 4.0, 8.0],), derivative=tie[1],
            note="convention 3: ties share equally among active sides"),
        level=1, tol="exact",
    )  # fmt: skip


REDUCE_MAX = _extremum("reduce_max", [inf], (3.0, 3.0))
REDUCE_MIN = _extremum("reduce_min", [-inf], (1.0, 12.0))


def _arg(name: str, tied: list[int]) -> Table:
    def params(axis: int, dtype: str = "int64") -> dict[str, Any]:
        return {"axis": axis, "dtype": dtype}

    return table(
        f"std::{name}",
        Row(edge="wide", inputs=(_X,), params=params(1), out="int64",
            features=frozenset({"int64"})),
        Row(edge="tall", inputs=(_X,), params=params(0, "int32"), out="int32"),
        Row(edge="size1_axis", inputs=(_COLUMN,), params=params(1), dtypes=F64, out="int64"),
        Row(edge="empty_result", inputs=(grid(0, 1, 0, 3),), params=params(1), dtypes=F64,
            out="int64"),
        Row(edge="non_contiguous", inputs=(_X,), params=params(1), dtypes=F64, out="int64",
            layout="strided"),
        Row(edge="integers", inputs=(igrid(-4, 5, 2, 3),), params=params(1), dtypes=INTS,
            out="int64"),
        Row(edge="tie", inputs=([[2.0, 1.0, 2.0, 1.0], [0.0, 0.0, 0.0, 0.0]],), params=params(1),
            out="int64", expected=tied,
            note="the first index wins"),
        Row(edge="nan", inputs=([[1.0, nan, 3.0], [nan, 5.0, nan]],), params=params(1),
            dtypes=FLOATS, out="int64",
            expected=[1, 0], note="the first NaN wins, as in NumPy"),
        Row(edge="inf", inputs=([[-inf, -inf]],), params=params(1), out="int64", expected=[0]),
        level=1,
    )  # fmt: skip


ARGMAX = _arg("argmax", [0, 0])
ARGMIN = _arg("argmin", [1, 0])


def _logical(name: str, of_nothing: bool) -> Table:
    x = [[True, False, True], [True, True, True]]
    return table(
        f"std::{name}",
        Row(edge="wide", inputs=(x,), params=_SECOND, dtypes=BOOL),
        Row(edge="tall", inputs=(x,), params=_FIRST, dtypes=BOOL),
        Row(edge="all_axes", inputs=(x,), params=_ALL, dtypes=BOOL),
        Row(edge="no_axes", inputs=(x,), params=_NONE, dtypes=BOOL, note=_C9),
        Row(edge="scalar", inputs=(True,), params=_NONE, dtypes=BOOL, note=_C9),
        Row(edge="size1_axis", inputs=([[True], [False]],), params=_SECOND, dtypes=BOOL),
        Row(edge="empty", inputs=(Grid((0, 2), ()),), params=_FIRST, dtypes=BOOL,
            expected=[of_nothing, of_nothing], note=_C9),
        Row(edge="non_contiguous", inputs=(x,), params=_FIRST, dtypes=BOOL, layout="strided"),
        level=1,
    )  # fmt: skip


REDUCE_AND, REDUCE_OR = _logical("reduce_and", True), _logical("reduce_or", False)

TABLES: tuple[Table, ...] = (
    REDUCE_SUM, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN, REDUCE_AND, REDUCE_OR, ARGMAX, ARGMIN,
)  # fmt: skip
