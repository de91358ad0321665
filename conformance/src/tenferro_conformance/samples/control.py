"""Samples of the control family: scan switch while_loop bound checkpoint.

Bodies are small enough that results are computed by hand: c ← w·c + r and y = c·r, for example,
with w = 2, c = 1 and rows 1, 2, 3 gives c = 3, 8, 19 and y = 1, 6, 24. Read `table.py` for what the
fields of a row mean.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from tenferro.computegraph import Fragment
from tenferro.primitives import add, lt, mul, variable
from tenferro_conformance.samples.table import (
    COMPLEX,
    F64,
    FLOATS,
    INTS,
    NUMBERS,
    Grid,
    Row,
    Table,
    table,
)  # fmt: skip

__all__ = ["TABLES"]


@cache
def _body(make: Callable[..., Any], dtype: str, *shapes: tuple[int, ...]) -> Fragment:
    """Return a function of values of these shapes as a closed graph."""
    inputs = [variable(f"x{i}", shape, dtype) for i, shape in enumerate(shapes)]
    return Fragment.of([x.key for x in inputs], [y.key for y in make(*inputs)])


def _step(w: Any, c: Any, r: Any) -> tuple[Any, Any]:
    return add(mul(w, c), r), mul(c, r)


def _loop(
    make: Callable[..., Any],
    *shapes: tuple[int, ...],
    consts: int = 1,
    length: int = 3,
    outputs: tuple[int, ...] = (0, 1),
    reverse: bool = False,
) -> dict[str, Any]:
    return {
        "body": lambda dtype: _body(make, dtype, *shapes),
        "consts": consts, "carried": 1, "length": length, "outputs": outputs, "reverse": reverse,
        "is_linear": (),
    }  # fmt: skip


_S = ((), (), ())
_V = ((2,), (2,), (2,))
_ROWS = [1.0, 2.0, 3.0]
_ALONG = (1.0, 0.5, [0.0, 1.0, 0.0])
SCAN = table(
    "std::scan",
    Row(edge="numbers", inputs=(2, 1, [1, 2, 3]), params=_loop(_step, *_S), dtypes=NUMBERS,
        out=(None, None), expected=(19, [1, 6, 24])),
    Row(edge="carry", inputs=(2.0, 1.0, _ROWS), params=_loop(_step, *_S, outputs=(0,)),
        wrt=(0, 1, 2), tangents=_ALONG, expected=19.0, derivative=24.0),
    Row(edge="rows", inputs=(2.0, 1.0, _ROWS), params=_loop(_step, *_S, outputs=(1,)),
        wrt=(0, 1, 2), tangents=_ALONG, expected=[1.0, 6.0, 24.0], derivative=[0.5, 7.0, 24.0]),
    Row(edge="reverse", inputs=(2.0, 1.0, _ROWS), params=_loop(_step, *_S, outputs=(1,),
        reverse=True), wrt=(0, 1, 2), tangents=_ALONG, expected=[12.0, 10.0, 3.0],
        derivative=[10.0, 9.0, 1.5]),
    Row(edge="one_step", inputs=(2.0, 1.0, [3.0]), params=_loop(_step, *_S, length=1,
        outputs=(0,)), wrt=(0, 1, 2), tangents=(1.0, 0.5, [1.0]), expected=5.0, derivative=3.0),
    Row(edge="wide", inputs=([2.0, -1.0], [1.0, 0.5], [[1.0, 2.0], [3.0, -1.0], [0.5, 0.25]]),
        params=_loop(_step, *_V, outputs=(1,)), wrt=(0, 1, 2),
        tangents=([1.0, 0.0], [0.0, 1.0], [[0.0, 0.0]] * 3),
        expected=[[1.0, 1.0], [9.0, -1.5], [4.5, -0.625]],
        derivative=[[0.0, 2.0], [3.0, 1.0], [2.5, 0.25]]),
    Row(edge="empty", inputs=(Grid((0,), ()), Grid((0,), ()), Grid((3, 0), ())), dtypes=F64,
        params=_loop(_step, (0,), (0,), (0,), outputs=(1,)), expected=Grid((3, 0), ())),
    Row(edge="complex", inputs=(1j, 1.0, [1.0, 1j]),
        params=_loop(_step, *_S, length=2, outputs=(1,)), dtypes=COMPLEX, wrt=(0, 1, 2),
        tangents=(1.0, 0.0, [0.0, 0.0]), expected=[1.0, -1 + 1j], derivative=[0.0, 1j]),
    level=2, tol="elementary", tol_complex="complex",
)  # fmt: skip


def _product(x: Any, y: Any) -> tuple[Any]:
    return (mul(x, y),)


def _sum(x: Any, y: Any) -> tuple[Any]:
    return (add(x, y),)


def _branches(*shape: int) -> dict[str, Any]:
    return {
        "branches": lambda dtype: (_body(_product, dtype, shape, shape),
                                   _body(_sum, dtype, shape, shape)),
        "is_linear": (),
    }  # fmt: skip


_KINDS = ("int32", None, None)
_X, _Y = [2.0, 3.0], [5.0, 7.0]
_DX_DY = ([1.0, 0.0], [0.0, 2.0])
SWITCH = table(
    "std::switch",
    Row(edge="numbers", inputs=(0, [2, 3], [5, 7]), kinds=_KINDS, params=_branches(2),
        dtypes=NUMBERS, expected=[10, 21]),
    Row(edge="first", inputs=(0, _X, _Y), kinds=_KINDS, params=_branches(2), wrt=(1, 2),
        tangents=_DX_DY, expected=[10.0, 21.0], derivative=[5.0, 6.0]),
    Row(edge="second", inputs=(1, _X, _Y), kinds=_KINDS, params=_branches(2), wrt=(1, 2),
        tangents=_DX_DY, expected=[7.0, 10.0], derivative=[1.0, 2.0]),
    Row(edge="below", inputs=(-3, _X, _Y), kinds=_KINDS, params=_branches(2), wrt=(1, 2),
        tangents=_DX_DY, expected=[10.0, 21.0], derivative=[5.0, 6.0],
        note="an index below 0 takes the first branch"),
    Row(edge="above", inputs=(9, _X, _Y), kinds=_KINDS, params=_branches(2), wrt=(1, 2),
        tangents=_DX_DY, expected=[7.0, 10.0], derivative=[1.0, 2.0],
        note="an index above the last branch takes that"),
    Row(edge="empty", inputs=(1, Grid((0,), ()), Grid((0,), ())), kinds=_KINDS, dtypes=F64,
        params=_branches(0), expected=Grid((0,), ())),
    Row(edge="complex", inputs=(0, [1j, 2.0], [1j, 1j]), kinds=_KINDS, params=_branches(2),
        dtypes=COMPLEX, wrt=(1, 2), tangents=([1.0, 0.0], [0.0, 1.0]), expected=[-1.0, 2j],
        derivative=[1j, 2.0]),
    level=2, tol="elementary", tol_complex="complex",
)  # fmt: skip


def _below(n: Any, x: Any, *ys: Any) -> tuple[Any]:
    return (lt(x, n),)


def _doubled(n: Any, *xs: Any) -> tuple[Any, ...]:
    return tuple([add(x, x) for x in xs])


def _while(*shapes: tuple[int, ...], output: int = 0) -> dict[str, Any]:
    return {
        "condition": lambda dtype: _body(_below, dtype, (), *shapes),
        "body": lambda dtype: _body(_doubled, dtype, (), *shapes),
        "consts": 1, "outputs": (output,), "is_linear": (),
    }  # fmt: skip


WHILE_LOOP = table(
    "std::while_loop",
    Row(edge="steps", inputs=(20, 3), params=_while(()), dtypes=FLOATS + INTS, expected=24),
    Row(edge="no_step", inputs=(2, 3), params=_while(()), dtypes=FLOATS + INTS, expected=3),
    Row(edge="empty", inputs=(20, 3, Grid((0,), ())), params=_while((), (0,), output=1),
        dtypes=F64, expected=Grid((0,), ())),
    level=2, tol="exact",
)  # fmt: skip

BOUND = table(
    "std::bound",
    Row(edge="ended", inputs=([1.5, -2.0], True), kinds=(None, "bool"), params={"steps": 4},
        wrt=(0,), expected=[1.5, -2.0], tangents=([1.0, 2.0],), derivative=[1.0, 2.0]),
    Row(edge="numbers", inputs=([1, 2], [True, True]), kinds=(None, "bool"), params={"steps": 4},
        dtypes=INTS + F64, expected=[1, 2]),
    Row(edge="empty", inputs=(Grid((0,), ()), True), kinds=(None, "bool"), params={"steps": 4},
        dtypes=F64, expected=Grid((0,), ())),
    level=2, tol="exact",
)  # fmt: skip


def _squared(x: Any, y: Any) -> tuple[Any, ...]:
    product = mul(x, y)
    return (mul(product, product),)


def _squared_and_kept(x: Any, y: Any) -> tuple[Any, ...]:
    product = mul(x, y)
    return mul(product, product), product


def _again(
    *shape: int, make: Callable[..., Any] = _squared, kept: tuple[int, ...] = ()
) -> dict[str, Any]:
    return {
        "body": lambda dtype: _body(make, dtype, shape, shape),
        "kept": kept, "recompute": False, "is_linear": (),
    }  # fmt: skip


_KEPT = _again(2, make=_squared_and_kept, kept=(1,))
CHECKPOINT = table(
    "std::checkpoint",
    Row(edge="numbers", inputs=([2, 3], [5, 3]), params=_again(2), dtypes=NUMBERS,
        expected=[100, 81]),
    Row(edge="nothing", inputs=(_X, _Y), params=_again(2), wrt=(0, 1), tangents=_DX_DY,
        expected=[100.0, 441.0], derivative=[100.0, 252.0]),
    Row(edge="kept", inputs=(_X, _Y), params=_KEPT, out=(None, None),
        expected=([100.0, 441.0], [10.0, 21.0])),
    Row(edge="empty", inputs=(Grid((0,), ()), Grid((0,), ())), dtypes=F64, params=_again(0),
        expected=Grid((0,), ())),
    Row(edge="complex", inputs=([1j, 2.0], [1j, 1j]), params=_again(2), dtypes=COMPLEX,
        wrt=(0, 1), tangents=([1.0, 0.0], [0.0, 1.0]), expected=[1.0, -4.0],
        derivative=[-2j, 8j]),
    level=2, tol="elementary", tol_complex="complex",
)  # fmt: skip

TABLES: tuple[Table, ...] = (SCAN, SWITCH, WHILE_LOOP, BOUND, CHECKPOINT)
