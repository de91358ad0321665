"""Samples of the bitwise family: and or xor not, shift_left shift_right, for every integer dtype.

Counts outside the width have a result too. Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tenferro_conformance.samples.table import (
    ALL_INTS,
    BOOL,
    INTS,
    SIGNED,
    UNSIGNED,
    Row,
    Table,
    igrid,
    table,
)

__all__ = ["TABLES"]

_positive = partial(igrid, 0, 100)
_signed = partial(igrid, -60, 60)
_counts = partial(igrid, 0, 6)
_PLACES = ([True, True, False, False], [True, False, True, False])


def _bits(dtype: str) -> int:
    return int(dtype.lstrip("uint"))


def _logic(name: str, of: Callable[[int, int], int]) -> Table:
    truth = [bool(of(a, b)) for a, b in zip(*_PLACES, strict=True)]
    return table(
        f"std::{name}",
        Row(edge="wide", inputs=(_positive(2, 3), _positive(2, 3)), dtypes=ALL_INTS),
        Row(edge="signed", inputs=(_signed(2, 3), _positive(2, 3)), dtypes=SIGNED),
        Row(edge="scalar", inputs=(6, 3), dtypes=INTS),
        Row(edge="empty", inputs=(igrid(0, 1, 0, 3), igrid(0, 1, 0, 3)), dtypes=INTS,
            expected=igrid(0, 1, 0, 3)),
        Row(edge="non_contiguous", inputs=(_signed(3, 2), _signed(3, 2)), dtypes=INTS,
            layout="strided"),
        Row(edge="booleans", inputs=_PLACES, dtypes=BOOL, expected=truth),
        *(Row(edge="all_bits", inputs=([2 ** _bits(d) - 1], [5]), dtypes=(d,),
              expected=[of(2 ** _bits(d) - 1, 5)]) for d in UNSIGNED),
        *(Row(edge="all_bits", inputs=([-1], [5]), dtypes=(d,), expected=[of(-1, 5)])
          for d in SIGNED),
        refuses="shapes no_floats",
        meaning=lambda mp, x, y: of(x, y),
        level=1,
    )  # fmt: skip


AND = _logic("bitwise_and", lambda x, y: x & y)
OR = _logic("bitwise_or", lambda x, y: x | y)
XOR = _logic("bitwise_xor", lambda x, y: x ^ y)
NOT = table(
    "std::bitwise_not",
    Row(edge="wide", inputs=(_signed(2, 3),), dtypes=SIGNED),
    *(Row(edge="wide", inputs=([0, 5],), dtypes=(d,),
          expected=[2 ** _bits(d) - 1, 2 ** _bits(d) - 6]) for d in UNSIGNED),
    Row(edge="scalar", inputs=(6,), dtypes=INTS),
    Row(edge="empty", inputs=(igrid(0, 1, 0, 3),), dtypes=INTS, expected=igrid(0, 1, 0, 3)),
    Row(edge="non_contiguous", inputs=(_signed(3, 2),), dtypes=INTS, layout="strided"),
    Row(edge="booleans", inputs=([True, False],), dtypes=BOOL, expected=[False, True]),
    refuses="no_floats",
    meaning=lambda mp, x: ~x,
    level=1,
)  # fmt: skip


def _shift_rows() -> tuple[Row, ...]:
    return (
        Row(edge="scalar", inputs=(5, 2), dtypes=INTS),
        Row(edge="empty", inputs=(igrid(0, 1, 0, 3), igrid(0, 1, 0, 3)), dtypes=INTS,
            expected=igrid(0, 1, 0, 3)),
        Row(edge="non_contiguous", inputs=(_signed(3, 2), _counts(3, 2)), dtypes=INTS,
            layout="strided"),
    )  # fmt: skip


_OUTSIDE = "a count outside the width has a result"
LEFT = table(
    "std::shift_left",
    *_shift_rows(),
    Row(edge="wide", inputs=([[1, 3, 5], [7, 2, 0]], [[0, 1, 2], [3, 5, 6]]), dtypes=ALL_INTS),
    *(Row(edge="falls_off", inputs=([1, 3, 1], [_bits(d) - 1, _bits(d) - 1, _bits(d) - 2]),
          dtypes=(d,), expected=[2 ** (_bits(d) - 1), 2 ** (_bits(d) - 1), 2 ** (_bits(d) - 2)])
      for d in UNSIGNED),
    *(Row(edge="into_the_sign", inputs=([1, -3], [_bits(d) - 1, 1]), dtypes=(d,),
          expected=[-(2 ** (_bits(d) - 1)), -6]) for d in SIGNED),
    *(Row(edge="outside", inputs=([3, 3], [_bits(d), _bits(d) + 1]), dtypes=(d,), expected=[0, 0],
          note=_OUTSIDE) for d in ALL_INTS),
    *(Row(edge="negative_count", inputs=([3, -3], [-1, -2]), dtypes=(d,), expected=[0, 0],
          note=_OUTSIDE) for d in SIGNED),
    refuses="shapes no_bool no_floats",
    meaning=lambda mp, x, count: x << count,
    level=1,
)  # fmt: skip
RIGHT = table(
    "std::shift_right",
    *_shift_rows(),
    Row(edge="wide", inputs=([[100, 3, 5], [7, 2, 0]], [[0, 1, 2], [3, 5, 6]]), dtypes=ALL_INTS),
    Row(edge="keeps_the_sign", inputs=([-100, -1, -7], [1, 3, 2]), dtypes=SIGNED,
        expected=[-50, -1, -2], note="shifting down rounds down"),
    *(Row(edge="from_the_top", inputs=([2 ** _bits(d) - 1], [_bits(d) - 1]), dtypes=(d,),
          expected=[1]) for d in UNSIGNED),
    *(Row(edge="outside", inputs=([3, 3], [_bits(d), _bits(d) + 1]), dtypes=(d,), expected=[0, 0],
          note=_OUTSIDE) for d in ALL_INTS),
    *(Row(edge="outside_negative", inputs=([-3, 3, -3], [_bits(d), -1, -1]), dtypes=(d,),
          expected=[-1, 0, -1], note=_OUTSIDE) for d in SIGNED),
    refuses="shapes no_bool no_floats",
    meaning=lambda mp, x, count: x >> count,
    level=1,
)  # fmt: skip

TABLES: tuple[Table, ...] = (AND, OR, XOR, NOT, LEFT, RIGHT)
