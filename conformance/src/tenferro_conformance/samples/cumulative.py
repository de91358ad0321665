"""Samples of the cumulative family: cumsum cumprod cummax cummin cumlogsumexp.

An element of the result reduces the elements up to its place, with `reverse` those from its place
on; NaN stays once it came. Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.samples.table import (
    COMPLEX,
    F64,
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
_NARROW_INTEGERS = ("int8", "int16", "uint8", "uint16", "uint32", "uint64")
_C3 = "convention 3: ties share equally among active sides"


def _along(axis: int, *, reverse: bool = False) -> dict[str, Any]:
    return {"axis": axis, "reverse": reverse}


def _shapes(x: Any, *, order: int) -> tuple[Row, ...]:
    """Return the edges that every cumulative reduction has; x has the shape (2, 5)."""
    last, back = _along(1), _along(1, reverse=True)
    return (
        Row(edge="wide", inputs=(x,), params=last, wrt=(0,), order=order, size=5),
        Row(edge="reverse", inputs=(x,), params=back, wrt=(0,), order=order, size=5),
        Row(edge="tall", inputs=(x,), params=_along(0), dtypes=F64, wrt=(0,), order=order, size=2),
        Row(edge="full_precision", inputs=(fine(x),), params=last, dtypes=F64, size=5),
        Row(edge="vector", inputs=(grid(0.5, 2, 7),), params=_along(0, reverse=True), dtypes=F64,
            wrt=(0,), order=order, size=7),
        Row(edge="size1_axis", inputs=(grid(-2, 2, 3, 1),), params=last, dtypes=F64, wrt=(0,),
            order=order),
        Row(edge="rank3", inputs=(grid(0.5, 2, 2, 3, 2),), params=last, dtypes=F64, wrt=(0,),
            order=1, size=3),
        Row(edge="empty", inputs=(grid(0, 1, 2, 0),), params=last, dtypes=F64, wrt=(0,), order=1),
        Row(edge="empty_other_axis", inputs=(grid(0, 1, 0, 3),), params=back, dtypes=F64, wrt=(0,),
            order=1),
        Row(edge="non_contiguous", inputs=(x,), params=last, dtypes=F64, wrt=(0,), order=1,
            layout="strided", size=5),
        Row(edge="transposed", inputs=(x,), params=last, dtypes=F64, layout="transposed", size=5),
        Row(edge="half", inputs=([0.5, 1.5, 2.0, -0.25],), params=_along(0), dtypes=("float16",),
            size=4),
    )  # fmt: skip


_INTEGERS = (
    Row(edge="integers", inputs=(igrid(-4, 5, 2, 3),), params=_along(1), dtypes=INTS),
    Row(
        edge="narrow",
        inputs=(igrid(1, 4, 2, 3),),
        params=_along(1, reverse=True),
        dtypes=_NARROW_INTEGERS,
    ),
)
CUMSUM = table(
    "std::cumsum",
    *_shapes(grid(-2, 2, 2, 5), order=3),
    *_INTEGERS,
    Row(edge="complex", inputs=(cgrid(2, 2, 3),), params=_along(1), dtypes=COMPLEX, wrt=(0,),
        size=3),
    Row(edge="nan", inputs=([1.0, nan, 2.0],), params=_along(0), expected=[1.0, nan, nan]),
    Row(edge="inf", inputs=([1.0, inf, -inf, 1.0],), params=_along(0),
        expected=[1.0, inf, nan, nan]),
    Row(edge="wrap", inputs=([2**31 - 1, 1, -1],), params=_along(0), dtypes=("int32",),
        expected=[2**31 - 1, -(2**31), 2**31 - 1],
        note="convention 10: integers wrap in two's complement; the dtype is kept"),
    Row(edge="large", inputs=(grid(-3, 5, 1531),), params=_along(0), size=1531),
    level=2, tol="reduction_serial",
)  # fmt: skip

_FACTORS = Grid((2, 5), (1.5, -2.0, 0.5, 1.25, -0.75, 3.0, -1.5, 0.25, 0.625, 1.75))
_C9 = "convention 9: the derivative of a product is right with zeros present"
CUMPROD = table(
    "std::cumprod",
    *_shapes(_FACTORS, order=3),
    *_INTEGERS,
    Row(edge="complex", inputs=(cgrid(2, 2, 3),), params=_along(1), dtypes=COMPLEX, wrt=(0,),
        order=2, size=3),
    Row(edge="one_zero", inputs=([2.0, 0.0, 3.0, 5.0],), params=_along(0), wrt=(0,), order=2,
        tangents=([1.0, 1.0, 1.0, 1.0],), expected=[2.0, 0.0, 0.0, 0.0],
        derivative=[1.0, 2.0, 6.0, 30.0], size=4, note=_C9),
    Row(edge="two_zeros", inputs=([0.0, 2.0, 0.0, 3.0],), params=_along(0), wrt=(0,), order=2,
        tangents=([1.0, 1.0, 1.0, 1.0],), expected=[0.0, 0.0, 0.0, 0.0],
        derivative=[1.0, 2.0, 0.0, 0.0], size=4, note=_C9),
    Row(edge="zero_reverse", inputs=([3.0, 0.0, 2.0],), params=_along(0, reverse=True), wrt=(0,),
        order=2, tangents=([1.0, 1.0, 1.0],), expected=[0.0, 0.0, 2.0], derivative=[6.0, 2.0, 1.0],
        size=3, note=_C9),
    Row(edge="nan", inputs=([2.0, nan, 0.0],), params=_along(0), expected=[2.0, nan, nan]),
    Row(edge="inf", inputs=([inf, 2.0, 0.0],), params=_along(0), expected=[inf, inf, nan]),
    level=2, tol="reduction_serial",
)  # fmt: skip


def _extremum(name: str, value: list[float], tied: list[float], back: list[float]) -> Table:
    tie = [3.0, 1.0, 3.0, 1.0]
    directions = ([2.0, 16.0, 4.0, 8.0],)
    return table(
        f"std::{name}",
        *_shapes(_FACTORS, order=2),
        *_INTEGERS,
        Row(edge="booleans", inputs=([False, True, False],), params=_along(0), dtypes=("bool",)),
        Row(edge="nan", inputs=([[1.0, nan, 3.0], [0.0, 2.0, nan]],), params=_along(1),
            expected=[[1.0, nan, nan], [0.0, max(value[0], 0.0), nan]],
            note="NaN wins and stays, as in NumPy"),
        Row(edge="inf", inputs=([1.0, inf, -inf],), params=_along(0), expected=value[1:]),
        Row(edge="tie", inputs=(tie,), params=_along(0), wrt=(0,), order=1, smooth=False,
            tangents=directions, derivative=tied, note=_C3,
            expected=[3.0, 3.0, 3.0, 3.0] if name == "cummax" else [3.0, 1.0, 1.0, 1.0]),
        Row(edge="tie_reverse", inputs=(tie,), params=_along(0, reverse=True), wrt=(0,), order=1,
            smooth=False, tangents=directions, derivative=back, note=_C3,
            expected=[3.0, 3.0, 3.0, 1.0] if name == "cummax" else [1.0, 1.0, 1.0, 1.0]),
        Row(edge="large", inputs=(grid(-3, 5, 1531),), params=_along(0)),
        level=2,
    )  # fmt: skip


CUMMAX = _extremum("cummax", [2.0, 1.0, inf, inf], [2.0, 2.0, 3.0, 3.0], [3.0, 4.0, 4.0, 8.0])
CUMMIN = _extremum("cummin", [0.0, 1.0, 1.0, -inf], [2.0, 16.0, 16.0, 12.0], [12.0, 12.0, 8.0, 8.0])

_C_NONE = "an element -inf has no share in the derivative"
CUMLOGSUMEXP = table(
    "std::cumlogsumexp",
    *_shapes(grid(-2, 2, 2, 5), order=3),
    Row(edge="far_apart", inputs=([-800.0, 0.0, 700.0, -900.0],), params=_along(0), dtypes=F64,
        wrt=(0,), order=2, size=4, note="nothing overflows, and a small prefix keeps its shares"),
    Row(edge="equal", inputs=([1.0, 1.0, 1.0],), params=_along(0), wrt=(0,), order=3, size=3),
    Row(edge="none", inputs=([-inf, -inf, 1.0, -inf],), params=_along(0), wrt=(0,), order=1,
        tangents=([1.0, 1.0, 2.0, 4.0],), expected=[-inf, -inf, 1.0, 1.0],
        derivative=[0.0, 0.0, 2.0, 2.0], smooth=False, note=_C_NONE),
    Row(edge="nan", inputs=([0.0, nan, 1.0],), params=_along(0), expected=[0.0, nan, nan]),
    Row(edge="inf", inputs=([0.0, inf, 1.0, inf],), params=_along(0), wrt=(0,), order=1,
        tangents=([1.0, 2.0, 4.0, 8.0],), expected=[0.0, inf, inf, inf],
        derivative=[1.0, 2.0, 2.0, 5.0], smooth=False, note="equal infinities share"),
    Row(edge="far_away", inputs=([1e17, 1e17],), params=_along(0), wrt=(0,), order=1, dtypes=F64,
        tangents=([1.0, 3.0],), expected=[1e17, 1e17], derivative=[1.0, 2.0], smooth=False,
        note="shares sum to 1 where 1 is less than a unit in the last place"),
    Row(edge="large", inputs=(grid(-3, 5, 1531),), params=_along(0), dtypes=F64, size=1531),
    level=2, tol="reduction_serial",
)  # fmt: skip

TABLES: tuple[Table, ...] = (CUMSUM, CUMPROD, CUMMAX, CUMMIN, CUMLOGSUMEXP)
