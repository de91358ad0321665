"""Samples of the callback family: host_callback debug_callback.

The functions are of this module, so that operations on them print and compare alike in every
process. Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.primitives import Aval
from tenferro_conformance.samples.table import (
    BOOL,
    COMPLEX,
    F64,
    INTS,
    NUMBERS,
    Grid,
    Row,
    Table,
    table,
)  # fmt: skip

__all__ = ["TABLES"]


def _twice(x: Any) -> Any:
    return x + x


def _both(x: Any, y: Any) -> Any:
    return y - x, x[:1]


def _twice_back(cts: tuple[Any, ...]) -> Any:
    return cts[0] + cts[0]


def _twice_forward(xs: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    return tangents[0] + tangents[0]


def _nothing(*xs: Any) -> None:
    return


def _vectorized(call: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a call that also takes a batch."""
    return {**call, "vectorized": lambda dtype: True}


def _calls(
    function: Callable[..., Any],
    *shapes: tuple[int, ...],
    jvp: Any = None,
    transpose: Any = None,
) -> dict[str, Any]:
    """Return parameters; a row calls those that are callable with the dtype."""
    return {
        "function": lambda dtype: function,
        "results": lambda dtype: tuple(Aval(shape, dtype) for shape in shapes),
        "jvp_rule": lambda dtype: jvp,
        "transpose_rule": lambda dtype: transpose,
    }


_LINEAR = _calls(_twice, (3,), transpose=_twice_back)
HOST_CALLBACK = table(
    "std::host_callback",
    Row(edge="wide", inputs=([1.5, -2.0, 0.25],), params=_LINEAR, wrt=(0,), order=2,
        tangents=([1.0, 2.0, 3.0],), expected=[3.0, -4.0, 0.5], derivative=[2.0, 4.0, 6.0]),
    Row(edge="forward_rule", inputs=([1.5, -2.0],), params=_calls(_twice, (2,), jvp=_twice_forward),
        dtypes=F64, wrt=(0,), order=2, tangents=([1.0, 2.0],), expected=[3.0, -4.0],
        derivative=[2.0, 4.0]),
    Row(edge="scalar", inputs=(1.5,), params=_calls(_twice, (), transpose=_twice_back), dtypes=F64,
        wrt=(0,), order=2, tangents=(1.0,), expected=3.0, derivative=2.0),
    Row(edge="empty", inputs=(Grid((0, 2), ()),), params=_calls(_twice, (0, 2)), dtypes=F64,
        expected=Grid((0, 2), ())),
    Row(edge="numbers", inputs=([1, 2],), params=_calls(_twice, (2,)), dtypes=NUMBERS,
        expected=[2, 4]),
    Row(edge="two_results", inputs=([1, 2, 3], [7, 7, 9]), params=_calls(_both, (3,), (1,)),
        dtypes=INTS + F64, out=(None, None), expected=([6, 5, 6], [1])),
    Row(edge="complex", inputs=([1 + 2j, -1j, 0.5],), params=_LINEAR, dtypes=COMPLEX, wrt=(0,),
        order=2, tangents=([1.0, 1j, 0.0],), expected=[2 + 4j, -2j, 1.0],
        derivative=[2.0, 2j, 0.0]),
    Row(edge="vectorized", inputs=([1.5, -2.0, 0.25],), params=_vectorized(_LINEAR), dtypes=F64,
        wrt=(0,), order=2, tangents=([1.0, 2.0, 3.0],), expected=[3.0, -4.0, 0.5],
        derivative=[2.0, 4.0, 6.0]),
    Row(edge="non_contiguous", inputs=([1.5, -2.0, 0.25],), params=_LINEAR, dtypes=F64,
        expected=[3.0, -4.0, 0.5], layout="strided"),
    level=2, tol="exact",
)  # fmt: skip

_DEBUG: dict[str, Any] = {"function": lambda dtype: _nothing, "tag": 0}
DEBUG_CALLBACK = table(
    "std::debug_callback",
    Row(edge="vector", inputs=([1, 2],), params=_DEBUG, dtypes=NUMBERS, out="bool", expected=True),
    Row(edge="nothing", inputs=(), params=_DEBUG, dtypes=BOOL, expected=True),
    Row(edge="two", inputs=([1.5], 2.0), params=_DEBUG, dtypes=F64, out="bool", expected=True),
    level=2, tol="exact",
)  # fmt: skip

TABLES: tuple[Table, ...] = (HOST_CALLBACK, DEBUG_CALLBACK)
