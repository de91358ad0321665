"""Samples of the random family: threefry2x32 and random_bits, bit for bit.

The first vectors are those that Random123 publishes (`kat_vectors`, threefry 2x32 with 20 rounds).
Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.samples.table import Grid, Row, Table, igrid, table

__all__ = ["TABLES"]

_WORD = ("uint32",)
_TWO: Any = (None, None)
_ONES = 2**32 - 1
#: key 0, key 1, counter 0, counter 1, result 0, result 1: zeros, ones, and the digits of π
_KNOWN = (
    (0, 0, 0, 0, 0x6B200159, 0x99BA4EFE),
    (_ONES, _ONES, _ONES, _ONES, 0x1CB996FC, 0xBB002BE7),
    (0x13198A2E, 0x03707344, 0x243F6A88, 0x85A308D3, 0xC4923A9C, 0x483DF7A0),
)
_COLUMNS = tuple([row[i] for row in _KNOWN] for i in range(6))


def _spread(*shape: int) -> tuple[Grid, ...]:
    """Repeat the published vectors in turn, in a shape."""
    size = 1
    for extent in shape:
        size *= extent
    return tuple(Grid(shape, tuple(column[i % 3] for i in range(size))) for column in _COLUMNS)


def _words(edge: str, *shape: int, **more: Any) -> Row:
    columns = _spread(*shape)
    return Row(edge=edge, inputs=columns[:4], expected=columns[4:], out=_TWO, dtypes=_WORD, **more)


THREEFRY = table(
    "std::threefry2x32",
    *(
        Row(edge=edge, inputs=row[:4], expected=row[4:], out=_TWO, dtypes=_WORD,
            note="a published vector")
        for edge, row in zip(("zeros", "ones", "pi"), _KNOWN, strict=True)
    ),
    _words("wide", 2, 3),
    _words("tall", 4, 2),
    _words("empty", 0, 3),
    _words("size1_axis", 1, 3),
    _words("non_contiguous", 3, 2, layout="strided"),
    _words("transposed", 3, 2, layout="transposed"),
    _words("large", 1531),
    level=2,
)  # fmt: skip


def _bits(edge: str, key: Any, *shape: int, dtype: str = "uint64", **more: Any) -> Row:
    return Row(edge=edge, inputs=(key,), params={"shape": shape, "dtype": dtype}, out=dtype,
               dtypes=_WORD, **more)  # fmt: skip


_KEY, _KEYS = [7, 11], igrid(0, 1000, 3, 2)
RANDOM_BITS = table(
    "std::random_bits",
    _bits("wide", _KEY, 2, 5),
    _bits("scalar", _KEY),
    _bits("empty", _KEY, 0, 3),
    _bits("size1_axis", _KEY, 1, 3),
    _bits("large_key", [_ONES, _ONES - 1], 4),
    _bits("keys", _KEYS, 2, 2),
    _bits("no_keys", igrid(0, 1, 0, 2), 2),
    _bits("non_contiguous", _KEYS, 2, layout="strided"),
    _bits("even", _KEY, 2, 5, dtype="uint32"),
    _bits("odd", _KEY, 7, dtype="uint32", note="half of the last block is left"),
    _bits("one", _KEY, dtype="uint32"),
    _bits("none", _KEY, 0, dtype="uint32"),
    _bits("odd_keys", _KEYS, 3, dtype="uint32"),
    _bits("large", _KEY, 251, dtype="uint32"),
    level=2,
)  # fmt: skip

TABLES: tuple[Table, ...] = (THREEFRY, RANDOM_BITS)
