"""Samples of Pfaffians and their derivatives, at matrices of every rank.

Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.samples.common_rows import factorization_row as _row
from tenferro_conformance.samples.table import COMPLEX, F64, FLOATS, Grid, Row, Table, grid, table

__all__ = ["TABLES"]

_C128 = ("complex128",)
_TWO = [[0, 3], [-3, 0]]
#: Not skew-symmetric: the skew-symmetric part is read.
_ANY = [[1, 2, -0.5, 1], [0, 3, 1.5, -1], [0.5, -1, 2, 0.25], [-2, 1, 1, -1]]
_COMPLEX = [[0, 1 + 1j, 2, 0.5j], [0, 0, 1, -1], [0, 1j, 0, 2], [0, 0, 0, 0]]
#: u vᵀ - v uᵀ, of rank 2.
_RANK_TWO = [[0, 1, 2, 1], [-1, 0, 1, 2], [-2, -1, 0, 3], [-1, -2, -3, 0]]
_ZERO = Grid((4, 4), (0,) * 16)


def _slope(edge: str, a: Any, e: Any, **more: Any) -> Row:
    known = {"dtypes": F64, "wrt": (0, 1), "order": 1, "size": 4, "condition": 8.0, **more}
    return Row(edge=edge, inputs=(a, e), **known)


PFAFFIAN = table(
    "std::pfaffian",
    _row("four", _ANY, dtypes=FLOATS),
    _row("complex", _COMPLEX, dtypes=COMPLEX),
    _row("two", _TWO),
    _row("rank_two", _RANK_TWO),
    _row("zero", _ZERO),
    _row("odd", [[0, 1, 2], [-1, 0, 3], [-2, -3, 0]], order=1),
    _row("batch", [_ANY, _RANK_TWO]),
    _row("empty", Grid((0, 0), ()), order=1),
    _row("empty_batch", Grid((0, 2, 2), ()), order=1),
    _row("non_contiguous", _ANY, order=1, layout="strided"),
    level=3,
    tol="factorization",
)
PFAFFIAN_ADJUGATE = table(
    "std::pfaffian_adjugate",
    _row("four", _ANY, order=1, note="of four rows B is linear in the entries"),
    _row("complex", _COMPLEX, dtypes=_C128, order=1),
    _row("rank_two", _RANK_TWO, order=1),
    _row("batch", [_ANY, _RANK_TWO], order=1),
    _row("empty", Grid((0, 0), ()), order=1),
    level=3,
    tol="factorization",
)
PFAFFIAN_SLOPE = table(
    "std::pfaffian_slope",
    _slope("four", _ANY, grid(-1, 1, 4, 4)),
    _slope("complex", _COMPLEX, grid(-1, 1, 4, 4), dtypes=_C128),
    _slope("rank_two", _RANK_TWO, grid(-1, 1, 4, 4), wrt=(1,)),
    _slope("batch", [_ANY, _ANY], grid(-1, 1, 2, 4, 4)),
    _slope("empty", Grid((0, 0), ()), Grid((0, 0), ())),
    level=3,
    tol="factorization",
)

TABLES: tuple[Table, ...] = (PFAFFIAN, PFAFFIAN_ADJUGATE, PFAFFIAN_SLOPE)
