"""Samples of the constants family: constant (a value everywhere), iota (an index along one
dimension) and table (integers written out).

They have no inputs; their dtype is a parameter,
and it must be the dtype that comes out. Read `rows.py` for what the fields of a row
mean.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.samples.table import (
    ALL_INTS,
    BOOL,
    COMPLEX,
    F64,
    FLOATS,
    HALF,
    INTS,
    Row,
    Table,
    table,
)

__all__ = ["TABLES"]

inf, nan = float("inf"), float("nan")


def _same(dtype: str) -> str:
    return dtype


def _full(value: Any, shape: tuple[int, ...] = ()) -> dict[str, Any]:
    return {"value": value, "dtype": _same, "shape": shape}


def _iota(shape: tuple[int, ...], dimension: int) -> dict[str, Any]:
    return {"shape": shape, "dimension": dimension, "dtype": _same}


def _table(values: tuple[int, ...], shape: tuple[int, ...]) -> dict[str, Any]:
    return {"values": values, "dtype": _same, "shape": shape}


CONSTANT = table(
    "std::constant",
    Row(edge="scalar", inputs=(), params=_full(1.5), dtypes=FLOATS + COMPLEX, expected=1.5),
    Row(edge="wide", inputs=(), params=_full(-2.0, (2, 3)), dtypes=FLOATS + COMPLEX,
        expected=[[-2.0] * 3] * 2),
    Row(edge="empty", inputs=(), params=_full(1.0, (2, 0)), dtypes=F64, expected=[[], []]),
    Row(edge="complex", inputs=(), params=_full(1 + 2j, (2,)), dtypes=COMPLEX, expected=[1 + 2j,
        1 + 2j]),
    Row(edge="integers", inputs=(), params=_full(7, (3,)), dtypes=ALL_INTS + HALF,
        expected=[7, 7, 7],
        note="convention 11: the dtypes are int8 … uint64, float16 … complex128, bool"),
    Row(edge="beyond_double", inputs=(), params=_full(2**62 + 1), dtypes=("int64",),
        expected=2**62 + 1),
    Row(edge="booleans", inputs=(), params=_full(True, (2,)), dtypes=BOOL, expected=[True, True]),
    Row(edge="nan", inputs=(), params=_full(nan), expected=nan),
    Row(edge="inf", inputs=(), params=_full(-inf), expected=-inf),
    Row(edge="negative_zero", inputs=(), params=_full(-0.0), expected=-0.0),
    Row(edge="not_in_float32", inputs=(), params=_full(0.1), dtypes=F64, expected=0.1),
    level=0,
)  # fmt: skip
IOTA = table(
    "std::iota",
    Row(edge="wide", inputs=(), params=_iota((2, 3), 1), dtypes=FLOATS + COMPLEX + ALL_INTS + HALF,
        expected=[[0, 1, 2]] * 2),
    Row(edge="tall", inputs=(), params=_iota((3, 2), 0), dtypes=INTS, expected=[[0, 0], [1, 1], [2,
        2]]),
    Row(edge="empty", inputs=(), params=_iota((0,), 0), dtypes=INTS, expected=[]),
    Row(edge="size1_axis", inputs=(), params=_iota((1, 2), 0), dtypes=INTS, expected=[[0, 0]]),
    level=0,
)  # fmt: skip
TABLE = table(
    "std::table",
    Row(edge="wide", inputs=(), params=_table((3, 0, 2, 1, 1, 5), (2, 3)),
        dtypes=FLOATS + COMPLEX + ALL_INTS + HALF, expected=[[3, 0, 2], [1, 1, 5]]),
    Row(edge="negative", inputs=(), params=_table((-1, 7, -128), (3,)),
        dtypes=FLOATS + COMPLEX + INTS + HALF, expected=[-1, 7, -128]),
    Row(edge="scalar", inputs=(), params=_table((4,), ()), dtypes=F64 + INTS, expected=4),
    Row(edge="empty", inputs=(), params=_table((), (2, 0)), dtypes=F64 + INTS, expected=[[], []]),
    Row(edge="booleans", inputs=(), params=_table((1, 0), (2,)), dtypes=BOOL,
        expected=[True, False]),
    Row(edge="beyond_double", inputs=(), params=_table((2**62 + 1, 0), (2,)), dtypes=("int64",),
        expected=[2**62 + 1, 0]),
    Row(edge="beyond_int64", inputs=(), params=_table((2**64 - 1, 0), (2,)), dtypes=("uint64",),
        expected=[2**64 - 1, 0]),
    level=0,
)  # fmt: skip

TABLES: tuple[Table, ...] = (CONSTANT, IOTA, TABLE)
