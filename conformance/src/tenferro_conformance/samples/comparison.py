"""Samples of the comparison family: eq ne lt le gt ge, the logical operations, select.

Comparisons give bool and carry no derivative; `select` is linear in its branches and never lets the
untaken one leak. Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.samples.table import (
    BOOL,
    COMPLEX,
    F64,
    FLOATS,
    INTS,
    RARE_DTYPES,
    Meaning,
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
_PLACES = ([True, True, False, False], [True, False, True, False])
_LEFT, _RIGHT = [1.0, 2.0, 3.0, -0.5], [2.0, 2.0, 1.0, -0.5]


def _equality(
    name: str, meaning: Meaning, with_nan: bool, at_zero: bool, infs: list[bool]
) -> Table:
    rows = (
        *_shared(with_nan, at_zero, infs),
        Row(
            edge="complex",
            inputs=([1 + 1j, 2j, 0j], [1 + 1j, 1j, 1 + 0j]),
            dtypes=COMPLEX,
            out="bool",
        ),
        Row(edge="booleans", inputs=([True, True, False], [True, False, False]), dtypes=BOOL),
    )
    return table(f"std::{name}", *rows, refuses="shapes", meaning=meaning, level=1)


def _order(name: str, meaning: Meaning, with_nan: bool, at_zero: bool, infs: list[bool]) -> Table:
    rows = (
        *_shared(with_nan, at_zero, infs),
        Row(edge="booleans", inputs=_PLACES, dtypes=BOOL),
    )
    return table(f"std::{name}", *rows, refuses="shapes no_order", meaning=meaning, level=1)


def _shared(with_nan: bool, at_zero: bool, infs: list[bool]) -> tuple[Row, ...]:
    """Make the rows of every comparison, given the results at nan, at ±0, and at infinities."""
    return (
        Row(edge="wide", inputs=([_LEFT, _RIGHT], [_RIGHT, _LEFT]), out="bool"),
        Row(edge="other_dtypes", inputs=([1, 2, 3], [2, 2, 1]), dtypes=RARE_DTYPES, out="bool"),
        Row(edge="scalar", inputs=(1.5, 2.5), out="bool"),
        Row(edge="empty", inputs=(grid(0, 1, 0, 3), grid(0, 1, 0, 3)), dtypes=F64, out="bool"),
        Row(edge="size1_axis", inputs=(grid(-1, 1, 1, 3), grid(-2, 2, 1, 3)), dtypes=F64,
            out="bool"),
        Row(edge="non_contiguous", inputs=(grid(-1, 1, 3, 2), grid(-2, 2, 3, 2)), dtypes=F64,
            out="bool", layout="strided"),
        Row(edge="full_precision", inputs=([1.0, 1 + 2.0**-44], [1 + 2.0**-44, 1.0]), dtypes=F64,
            out="bool"),
        Row(edge="integers", inputs=(igrid(-2, 3, 2, 3), igrid(-1, 2, 2, 3)), dtypes=INTS,
            out="bool"),
        Row(edge="nan", inputs=([nan, 1.0, nan], [1.0, nan, nan]), out="bool",
            expected=[with_nan] * 3),
        Row(edge="inf", inputs=([inf, -inf, inf], [inf, inf, 1.0]), out="bool", expected=infs),
        Row(edge="negative_zero", inputs=([-0.0, 0.0], [0.0, -0.0]), out="bool",
            expected=[at_zero] * 2),
    )  # fmt: skip


EQ = _equality("eq", lambda mp, x, y: x == y, False, True, [True, False, False])
NE = _equality("ne", lambda mp, x, y: x != y, True, False, [False, True, True])
LT = _order("lt", lambda mp, x, y: x < y, False, False, [False, True, False])
LE = _order("le", lambda mp, x, y: x <= y, False, True, [True, True, False])
GT = _order("gt", lambda mp, x, y: x > y, False, False, [False, False, True])
GE = _order("ge", lambda mp, x, y: x >= y, False, True, [True, False, True])


def _logical(name: str, count: int, meaning: Meaning) -> Table:
    inputs: tuple[Any, ...] = ([[True, True], [False, False]], [[True, False], [True, False]])
    flat: tuple[Any, ...] = (True, False)
    return table(
        f"std::{name}",
        Row(edge="wide", inputs=inputs[:count], dtypes=BOOL),
        Row(edge="scalar", inputs=flat[:count], dtypes=BOOL),
        Row(edge="empty", inputs=tuple(grid(0, 1, 0, 3) for _ in range(count)), dtypes=BOOL),
        Row(edge="non_contiguous", inputs=inputs[:count], dtypes=BOOL, layout="strided"),
        refuses="bool_only",
        meaning=meaning,
        level=1,
    )


_PRED = [[True, False, True], [False, True, False]]
SELECT = table(
    "std::select",
    Row(edge="wide", inputs=(_PRED, grid(-1, 1, 2, 3), grid(-3, 3, 2, 3)), kinds=("bool", None,
        None), wrt=(1, 2)),
    Row(edge="full_precision", inputs=(_PRED, fine(grid(-1, 1, 2, 3)), fine(grid(-3, 3, 2, 3))),
        kinds=("bool", None, None),
        dtypes=F64),
    Row(edge="scalar", inputs=(True, 1.5, -2.5), kinds=("bool", None, None), wrt=(1, 2)),
    Row(edge="empty", inputs=(grid(0, 1, 0, 3), grid(0, 1, 0, 3), grid(0, 1, 0, 3)), kinds=("bool",
        None, None), dtypes=F64,
        wrt=(1, 2), order=1),
    Row(edge="complex", inputs=(_PRED, cgrid(1, 2, 3), cgrid(2, 2, 3)), kinds=("bool", None, None),
        dtypes=COMPLEX,
        wrt=(1, 2)),
    Row(edge="integers", inputs=(_PRED, igrid(0, 5, 2, 3), igrid(-5, 0, 2, 3)), kinds=("bool", None,
        None), dtypes=INTS),
    Row(edge="booleans", inputs=([True, False], [True, True], [False, False]), dtypes=BOOL),
    Row(edge="other_dtypes", inputs=(_PRED, igrid(0, 5, 2, 3), igrid(5, 9, 2, 3)), kinds=("bool",
        None, None), dtypes=RARE_DTYPES),
    Row(edge="non_contiguous", inputs=(_PRED, grid(-1, 1, 2, 3), grid(-3, 3, 2, 3)), kinds=("bool",
        None, None), dtypes=F64,
        wrt=(1,), order=1, layout="strided"),
    Row(edge="nan", inputs=([True, False], [1.0, nan], [nan, 2.0]), kinds=("bool", None, None),
        dtypes=FLOATS,
        expected=[1.0, 2.0], wrt=(1, 2), order=1, smooth=False, tangents=([3.0, 5.0], [7.0, 11.0]),
        derivative=[3.0, 11.0],
        note="convention 5: NaN in the untaken branch does not leak"),
    Row(edge="inf", inputs=([True, False], [1.0, inf], [-inf, 2.0]), kinds=("bool", None, None),
        expected=[1.0, 2.0], wrt=(1, 2),
        order=1, smooth=False, tangents=([3.0, 5.0], [7.0, 11.0]), derivative=[3.0, 11.0],
        note="convention 5: inf in the untaken branch does not leak"),
    Row(edge="negative_zero", inputs=([True, False], [-0.0, 1.0], [1.0, -0.0]), kinds=("bool", None,
        None),
        expected=[-0.0, -0.0]),
    meaning=lambda mp, p, x, y: x if p else y,
    level=1,
)  # fmt: skip

TABLES: tuple[Table, ...] = (
    EQ, NE, LT, LE, GT, GE,
    _logical("logical_and", 2, lambda mp, x, y: x and y),
    _logical("logical_or", 2, lambda mp, x, y: x or y),
    _logical("logical_xor", 2, lambda mp, x, y: x != y),
    _logical("logical_not", 1, lambda mp, x: not x),
    SELECT,
)  # fmt: skip
