"""Samples of `sparse_solve`: systems and adjoint ones, of single matrices and of stacks.

Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.samples.table import COMPLEX, F64, Grid, Row, cgrid, grid, table

__all__ = ["TABLES"]

_KINDS = (None, "int32", "int32", None)
_ROWS, _COLUMNS = [2, 0, 0, 1, 2, 1, 2], [2, 0, 2, 1, 0, 2, 2]  # one place twice
_NONE = Grid((0,), ())
_E = [2.5, 3.0, -1.0, 4.0, 0.5, 1.5, 1.0]
_EC = [2.5 + 1j, 3.0 - 2j, -1.0 + 0.5j, 4.0 + 0j, 0.5 - 1j, 1.5 + 1j, 1.0 + 0.5j]
_STACK = Grid((2, 7), (*_E, *[-1.5 * x + 0.25 for x in _E]))


def _row(edge: str, entries: Any, b: Any, *, adjoint: bool = False, **more: Any) -> Row:
    known = {
        "inputs": (entries, _ROWS, _COLUMNS, b), "kinds": _KINDS, "params": {"adjoint": adjoint},
        "wrt": (0, 3), "order": 2, "size": 3, **more,
    }  # fmt: skip
    return Row(edge=edge, **known)


_B, _BC = grid(-2, 2, 3, 2), cgrid(2, 3, 2)
TABLES = (
    table(
        "std::sparse_solve",
        _row("any_order", _E, _B),
        _row("adjoint", _E, _B, adjoint=True),
        _row("vector", _E, grid(-2, 2, 3, 1)),
        _row("complex", _EC, _BC, dtypes=COMPLEX),
        _row("complex_adjoint", _EC, _BC, dtypes=COMPLEX, adjoint=True),
        _row("stack", _STACK, grid(-2, 2, 2, 3, 2), dtypes=F64),
        _row("stack_adjoint", _STACK, grid(-2, 2, 2, 3, 1), dtypes=F64, adjoint=True),
        _row("wide_integers", _E, _B, kinds=(None, "int64", "int64", None), dtypes=F64, order=1),
        _row("size1", [2.0], [[3.0]], inputs=([2.0], [0], [0], [[3.0]]), dtypes=F64),
        _row("empty", _NONE, Grid((0, 2), ()), inputs=(_NONE, _NONE, _NONE, Grid((0, 2), ())),
             dtypes=F64, order=1),
        _row("no_columns", _E, Grid((3, 0), ()), dtypes=F64, order=1),
        _row("non_contiguous", _E, _B, dtypes=F64, layout="strided", order=1),
        _row("transposed_memory", _E, _B, dtypes=F64, layout="transposed", order=1),
        level=3,
        tol="factorization",
    ),
)  # fmt: skip
