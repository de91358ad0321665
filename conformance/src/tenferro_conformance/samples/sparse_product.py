"""Samples of `sparse_product`: entries in any order, several in one place, and none.

Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.samples.table import (
    COMPLEX,
    F64,
    FLOATS,
    INTS,
    Grid,
    Row,
    cgrid,
    grid,
    igrid,
    table,
)

__all__ = ["TABLES"]

nan = float("nan")
_KINDS = (None, "int32", "int32", None)
_ROWS, _COLUMNS = [2, 0, 0, 3, 2], [1, 0, 2, 2, 1]  # one place twice, one row empty
_NONE = Grid((0,), ())


def _row(edge: str, entries: Any, x: Any, **more: Any) -> Row:
    known = {
        "inputs": (entries, _ROWS, _COLUMNS, x), "kinds": _KINDS, "params": {"size": 4},
        "wrt": (0, 3), "order": 3, "size": 3, **more,
    }  # fmt: skip
    return Row(edge=edge, **known)


_E, _X = grid(-2, 2, 5), grid(-1, 3, 3, 2)
TABLES = (
    table(
        "std::sparse_product",
        _row("any_order", _E, _X),
        _row("vector", _E, grid(-1, 3, 3, 1)),
        _row("complex", cgrid(2, 5), cgrid(1, 3, 2), dtypes=COMPLEX),
        _row("wide_integers", _E, _X, kinds=(None, "int64", "int64", None), dtypes=F64, order=1),
        _row("integers", igrid(-4, 4, 5), igrid(-3, 5, 3, 2), dtypes=INTS, wrt=(), tol="exact"),
        _row("half", [0.5, 2.0, 1.0, -1.0, 4.0], [[1.5], [-2.0], [0.25]], dtypes=("float16",),
             wrt=()),
        _row("empty", _NONE, _X, inputs=(_NONE, _NONE, _NONE, _X), dtypes=F64, order=1),
        _row("no_columns", _E, Grid((3, 0), ()), dtypes=F64, order=1),
        _row("no_rows", _NONE, Grid((0, 2), ()), inputs=(_NONE, _NONE, _NONE, Grid((0, 2), ())),
             params={"size": 0}, dtypes=F64, order=1),
        _row("non_contiguous", _E, _X, dtypes=F64, layout="strided", order=1),
        _row("transposed_memory", _E, _X, dtypes=F64, layout="transposed", order=1),
        _row("nan", [1.0, 2.0, 0.0, 4.0, 5.0], [[1.0], [2.0], [nan]], dtypes=FLOATS, wrt=(),
             expected=[[nan], [0.0], [12.0], [nan]],
             note="an entry that is stored and zero is a factor like any other"),
        level=2,
        tol="contraction",
    ),
)  # fmt: skip
