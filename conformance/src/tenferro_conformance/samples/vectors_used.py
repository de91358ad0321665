"""Samples of the marks in derivatives of vectors: their values are their inputs, in which they are
linear. The warnings that backends make of these marks are tested with `tn.GaugeWarning`.

Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.samples.table import FLOATS, Grid, Row, Table, table

__all__ = ["TABLES"]

_X, _Y = [[0, 1, 2], [-1, 0, 3], [-2, -3, 0]], [[0, 2, 4], [-2, 0, 5], [-4, -5, 0]]
_P, _DW, _W = [[1, 1, 2], [1, 3, 3], [2, 3, 4]], [1, 3, 4], [3, 2, 1]
_NOTE = "derivatives of derivatives are not marked: the tangents are those of the inputs"


_NO_TURN, _NO_VALUES = Grid((0, 0), ()), Grid((0,), ())


def _mark(key: str, edge: str, turns: int, inputs: tuple[Any, ...], count: int, **more: Any) -> Row:
    params = {"turns": turns, "is_square": True, "epsilon": 1e-12, **more}
    return Row(
        edge=edge, inputs=inputs, params=params, dtypes=FLOATS, expected=inputs[:count],
        out=(None,) * count, wrt=tuple(range(count)), order=1, derivative=None, size=3, note=_NOTE,
    )  # fmt: skip


VECTORS_VARY = table(
    "std::vectors_vary",
    _mark("std::vectors_vary", "eigenvectors", 1, (_X, _DW, _P, _W), 2),
    _mark("std::vectors_vary", "singular_vectors", 2, (_X, _Y, _DW, _P, _W), 3),
    _mark("std::vectors_vary", "empty", 1, (_NO_TURN, _NO_VALUES, _NO_TURN, _NO_VALUES), 2),
    level=3,
    tol="factorization",
)

VECTORS_SEEN = table(
    "std::vectors_seen",
    _mark("std::vectors_seen", "vectors", 2, (_X, _Y, _W), 2, with_values=False),
    _mark("std::vectors_seen", "and_values", 2, (_X, _Y, _DW, _W), 2, with_values=True),
    _mark("std::vectors_seen", "empty", 2, (_NO_TURN, _NO_TURN, _NO_VALUES), 2, with_values=False),
    level=3,
    tol="factorization",
)

TABLES: tuple[Table, ...] = (VECTORS_VARY, VECTORS_SEEN)
