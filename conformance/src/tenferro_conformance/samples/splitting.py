"""Samples of what second derivatives of an SVD are made of: svd_turns svd_quotient svd_values.

Their values are their inputs; they are linear in them, and vary with the matrix where its values
are equal. What the second derivatives come to is in the cases of `svd`. Read `rows.py` for what
the fields of a row mean.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.samples.table import F64, FLOATS, Grid, Row, Table, table

__all__ = ["TABLES"]

_IDENTITY = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
_EQUAL, _EQUAL_VALUES = [[2, 0, 0], [0, 2, 0], [0, 0, 1]], [2, 2, 1]
_DISTINCT, _DISTINCT_VALUES = [[3, 0, 0], [0, 2, 0], [0, 0, 1]], [3, 2, 1]
_EVEN, _ODD = [[0, 1, 2], [1, 0, 3], [2, 3, 0]], [[0, 2, 4], [-2, 0, 5], [-4, -5, 0]]
_COMPLEX = [[1j, 2 + 1j, 4], [-2 + 1j, 0, 5j], [-4, 5j, -2j]]
_PARAMS = {"adjoint": False, "epsilon": 1e-5}
_ADJOINT = {"adjoint": True, "epsilon": 1e-5}
_NOTE = "the derivative is that of an equation, not of the value, which is an input"


def _turns(edge: str, a: Any, s: Any, b: Any, o: Any, **more: Any) -> Row:
    known = {"dtypes": FLOATS, "wrt": (0, 1), "order": 1, "derivative": None, **more}
    known = {"params": _PARAMS, "out": (None, None), "expected": (b, o), **known}
    return Row(edge=edge, inputs=(b, o, a, _IDENTITY, s, _IDENTITY), size=3, **known)


def _quotient(edge: str, a: Any, s: Any, y: Any, **more: Any) -> Row:
    known = {"dtypes": FLOATS, "wrt": (0,), "order": 1, "derivative": None, **more}
    known = {"params": _PARAMS, "expected": y, **known}
    return Row(edge=edge, inputs=(y, a, _IDENTITY, s, _IDENTITY), size=3, **known)


def _empty(count: int) -> Any:
    nothing = Grid((0, 0), ())
    return (*[nothing] * (count + 2), Grid((0,), ()), nothing)


def _in_a_direction(edge: str, row: Any, place: int, **more: Any) -> Row:
    """Make a row along a direction of the matrix, which differences would not detect."""
    along = {"wrt": (place,), "dtypes": F64, "smooth": False, "note": _NOTE}
    made: Row = row(edge, _EQUAL, _EQUAL_VALUES, **{**along, **more})
    return made


SVD_TURNS = table(
    "std::svd_turns",
    _turns("distinct", _DISTINCT, _DISTINCT_VALUES, _EVEN, _ODD),
    _turns("repeated", _EQUAL, _EQUAL_VALUES, _EVEN, _ODD),
    _turns("non_contiguous", _EQUAL, _EQUAL_VALUES, _EVEN, _ODD, dtypes=F64, layout="strided"),
    _turns("adjoint", _EQUAL, _EQUAL_VALUES, _EVEN, _ODD, dtypes=F64, params=_ADJOINT),
    _in_a_direction("of_the_matrix", _turns, 2, b=_EVEN, o=_ODD),
    _in_a_direction("of_the_matrix_adjoint", _turns, 2, b=_EVEN, o=_ODD, params=_ADJOINT),
    Row(edge="empty", inputs=_empty(2), params=_PARAMS, dtypes=F64, out=(None, None),
        expected=(Grid((0, 0), ()), Grid((0, 0), ()))),
    level=3,
    tol="factorization",
)  # fmt: skip

SVD_QUOTIENT = table(
    "std::svd_quotient",
    _quotient("distinct", _DISTINCT, _DISTINCT_VALUES, _EVEN),
    _quotient("repeated", _EQUAL, _EQUAL_VALUES, _EVEN),
    _quotient("tall", _EQUAL, _EQUAL_VALUES, [*_EVEN, [1, 2, 3]], dtypes=F64),
    _quotient("non_contiguous", _EQUAL, _EQUAL_VALUES, _EVEN, dtypes=F64, layout="strided"),
    _in_a_direction("of_the_matrix", _quotient, 1, y=_EVEN),
    _in_a_direction("of_the_matrix_adjoint", _quotient, 1, y=_EVEN, params=_ADJOINT),
    Row(edge="complex", inputs=(_COMPLEX, _EQUAL, _IDENTITY, _EQUAL_VALUES, _IDENTITY),
        kinds=(None, None, None, "float64", None), dtypes=("complex128",), params=_PARAMS,
        expected=_COMPLEX, wrt=(0,), order=1, derivative=None, size=3),
    Row(edge="empty", inputs=_empty(1), params=_PARAMS, dtypes=F64, expected=Grid((0, 0), ())),
    level=3,
    tol="factorization",
)  # fmt: skip

SVD_VALUES = table(
    "std::svd_values",
    Row(edge="distinct", inputs=(_DISTINCT_VALUES, _DISTINCT, _IDENTITY, _IDENTITY),
        expected=_DISTINCT_VALUES, wrt=(1,), order=1, tangents=([[1, 4, 7], [2, 3, 7], [7, 7, 5]],),
        derivative=[1, 3, 5], dtypes=FLOATS, smooth=False, size=3, note=_NOTE),
    Row(edge="repeated", inputs=(_EQUAL_VALUES, _EQUAL, _IDENTITY, _IDENTITY), size=3,
        expected=_EQUAL_VALUES, wrt=(), dtypes=FLOATS),
    Row(edge="empty", inputs=(Grid((0,), ()), *[Grid((0, 0), ())] * 3), dtypes=F64,
        expected=Grid((0,), ())),
    level=3,
    tol="factorization",
)  # fmt: skip

TABLES: tuple[Table, ...] = (SVD_TURNS, SVD_QUOTIENT, SVD_VALUES)
