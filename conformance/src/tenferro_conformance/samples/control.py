"""Samples of the control family: scan switch while_loop bound.

Bodies are small enough that results are computed by hand: c ← w·c + r and y = c·r, for example,
with w = 2, c = 1 and rows 1, 2, 3 gives c = 3, 8, 19 and y = 1, 6, 24. Read `table.py` for what the
fields of a row mean.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from tenferro.computegraph import Fragment
from tenferro.primitives import add, lt, mul, sin, variable
from tenferro_conformance.samples.table import (
    COMPLEX,
    F64,
    FLOATS,
    INTS,
    NUMBERS,
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


def _turned(w: Any, c: Any, r: Any) -> tuple[Any, Any]:
    return add(sin(mul(w, c)), r), mul(c, mul(c, r))


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
_TWO = (None, None)
SCAN = table(
    "std::scan",
    Row(edge="numbers", inputs=(2, 1, [1, 2, 3]), params=_loop(_step, *_S), dtypes=NUMBERS,
        out=_TWO, expected=(19, [1, 6, 24])),
    Row(edge="scalar", inputs=(2.0, 1.0, [1.0, 2.0, 3.0]), params=_loop(_step, *_S),
        wrt=(0, 1, 2), out=_TWO, expected=(19.0, [1.0, 6.0, 24.0]), derivative=None),
    Row(edge="reverse", inputs=(2.0, 1.0, [1.0, 2.0, 3.0]), params=_loop(_step, *_S, reverse=True),
        wrt=(0, 1, 2), out=_TWO, expected=(25.0, [12.0, 10.0, 3.0]), derivative=None),
    Row(edge="carry_alone", inputs=(2.0, 1.0, [1.0, 2.0, 3.0]),
        params=_loop(_step, *_S, outputs=(0,)), wrt=(0, 1, 2), out=(None,), expected=(19.0,),
        derivative=None),
    Row(edge="rows_alone", inputs=(2.0, 1.0, [1.0, 2.0, 3.0]),
        params=_loop(_step, *_S, outputs=(1,)), wrt=(0, 1, 2), out=(None,),
        expected=([1.0, 6.0, 24.0],), derivative=None),
    Row(edge="one_step", inputs=(2.0, 1.0, [3.0]), params=_loop(_step, *_S, length=1),
        wrt=(0, 1, 2), out=_TWO, expected=(5.0, [3.0]), derivative=None),
    Row(edge="wide", inputs=([2.0, -1.0], [1.0, 0.5], [[1.0, 2.0], [3.0, -1.0], [0.5, 0.25]]),
        params=_loop(_turned, (2,), (2,), (2,)), wrt=(0, 1, 2), out=_TWO, expected=None,
        derivative=None),
    Row(edge="complex", inputs=(1j, 1.0, [1.0, 1j]), params=_loop(_step, *_S, length=2),
        dtypes=COMPLEX, wrt=(0, 1, 2), out=_TWO, expected=(-1 + 2j, [1.0, -1 + 1j]),
        derivative=None),
    level=2, tol="elementary", tol_complex="complex",
)  # fmt: skip


def _product(x: Any, y: Any) -> tuple[Any]:
    return (mul(x, y),)


def _sum(x: Any, y: Any) -> tuple[Any]:
    return (add(x, y),)


_BRANCHES = {
    "branches": lambda dtype: (_body(_product, dtype, (2,), (2,)), _body(_sum, dtype, (2,), (2,))),
    "is_linear": (),
}
_KINDS = ("int32", None, None)
SWITCH = table(
    "std::switch",
    Row(edge="first", inputs=(0, [2, 3], [5, 7]), kinds=_KINDS, params=_BRANCHES, dtypes=NUMBERS,
        out=(None,), expected=([10, 21],)),
    Row(edge="second", inputs=(1, [2.0, 3.0], [5.0, 7.0]), kinds=_KINDS, params=_BRANCHES,
        wrt=(1, 2), out=(None,), expected=([7.0, 10.0],), derivative=None),
    Row(edge="below", inputs=(-3, [2.0, 3.0], [5.0, 7.0]), kinds=_KINDS, params=_BRANCHES,
        wrt=(1, 2), out=(None,), expected=([10.0, 21.0],), derivative=None,
        note="an index below 0 takes the first branch"),
    Row(edge="above", inputs=(9, [2.0, 3.0], [5.0, 7.0]), kinds=_KINDS, params=_BRANCHES,
        wrt=(1, 2), out=(None,), expected=([7.0, 10.0],), derivative=None,
        note="an index above the last branch takes that"),
    Row(edge="complex", inputs=(0, [1j, 2.0], [1j, 1j]), kinds=_KINDS, params=_BRANCHES,
        dtypes=COMPLEX, wrt=(1, 2), out=(None,), expected=([-1.0, 2j],), derivative=None),
    level=2, tol="elementary", tol_complex="complex",
)  # fmt: skip


def _below(n: Any, x: Any) -> tuple[Any]:
    return (lt(x, n),)


def _doubled(n: Any, x: Any) -> tuple[Any]:
    return (add(x, x),)


_WHILE = {
    "condition": lambda dtype: _body(_below, dtype, (), ()),
    "body": lambda dtype: _body(_doubled, dtype, (), ()),
    "consts": 1, "outputs": (0,), "is_linear": (),
}  # fmt: skip
WHILE_LOOP = table(
    "std::while_loop",
    Row(edge="steps", inputs=(20, 3), params=_WHILE, dtypes=FLOATS + INTS, out=(None,),
        expected=(24,)),
    Row(edge="no_step", inputs=(2, 3), params=_WHILE, dtypes=FLOATS + INTS, out=(None,),
        expected=(3,)),
    level=2, tol="exact",
)  # fmt: skip

BOUND = table(
    "std::bound",
    Row(edge="ended", inputs=([1.5, -2.0], True), kinds=(None, "bool"), params={"steps": 4},
        wrt=(0,), expected=[1.5, -2.0], tangents=([1.0, 2.0],), derivative=[1.0, 2.0]),
    Row(edge="numbers", inputs=([1, 2], [True, True]), kinds=(None, "bool"), params={"steps": 4},
        dtypes=INTS + F64, expected=[1, 2]),
    level=2, tol="exact",
)  # fmt: skip

TABLES: tuple[Table, ...] = (SCAN, SWITCH, WHILE_LOOP, BOUND)
