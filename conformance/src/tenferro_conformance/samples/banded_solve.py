"""Samples of banded systems; what the corners of a band hold is not read.

Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.samples.table import (
    COMPLEX,
    F64,
    FLOATS,
    Grid,
    Row,
    Table,
    cgrid,
    grid,
    table,
)

__all__ = ["TABLES"]

_C128 = ("complex128",)
#: One diagonal above the main one and two below, of five rows.
_BAND = [[9, 0.5, -1, 0.25, 1], [4, -3, 5, 4, -4], [1, -0.5, 0.75, 1, 9], [-1, 0.5, 0.25, 9, 9]]
#: Small entries on the main diagonal: rows are exchanged.
_EXCHANGED = [[9, 1, -2, 1, 3], [0.125, 0.25, -0.125, 0, 0.5], [3, -2, 4, 2, 9]]
_COMPLEX_BAND = [[9, 0.5j, -1, 1 + 1j], [4 + 1j, -3, 5j, 4], [1, -0.5j, 0.75, 9j]]


def _row(edge: str, ab: Any, b: Any, below: int, above: int, **more: Any) -> Row:
    known = {"wrt": (0, 1), "order": 2, "size": 5, "condition": 4.0, "dtypes": F64, **more}
    return Row(edge=edge, inputs=(ab, b), params={"below": below, "above": above}, **known)


BANDED_SOLVE = table(
    "std::banded_solve",
    _row("wide", _BAND, grid(-2, 2, 5, 2), 2, 1, dtypes=FLOATS),
    _row("exchanged", _EXCHANGED, grid(-2, 2, 5, 1), 1, 1, condition=32.0),
    _row("complex", _COMPLEX_BAND, cgrid(2, 4, 2), 1, 1, dtypes=COMPLEX),
    _row("upper", _BAND[:2], grid(-2, 2, 5, 2), 0, 1, condition=16.0),
    _row("lower", _BAND[1:], grid(-2, 2, 5, 2), 2, 0),
    _row("diagonal", _BAND[1:2], grid(-2, 2, 5, 2), 0, 0),
    _row("wider_than_the_matrix", [[9, 9], [9, 1], [4, 3], [-1, 9]], grid(-1, 1, 2, 1), 1, 2),
    _row("batch", [_BAND[:3], _EXCHANGED], grid(-2, 2, 2, 5, 2), 1, 1, order=1, condition=32.0),
    _row("one", [[2.0]], [[-1.0]], 0, 0, order=1),
    _row("empty", Grid((3, 0), ()), Grid((0, 2), ()), 1, 1, order=1),
    _row("no_columns", _BAND, Grid((5, 0), ()), 2, 1, order=1),
    _row("no_batch", Grid((0, 1, 2), ()), Grid((0, 2, 1), ()), 0, 0, order=1),
    _row("non_contiguous", _BAND, grid(-2, 2, 5, 2), 2, 1, order=1, layout="strided"),
    level=3,
    tol="factorization",
)

TABLES: tuple[Table, ...] = (BANDED_SOLVE,)
