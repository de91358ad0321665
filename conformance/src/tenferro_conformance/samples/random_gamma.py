"""Samples of the family random_gamma: random_log_gamma and gamma_moment.

A variate jumps where a proposal is no longer accepted, so its derivative is that of its
distribution function and not of its value: the kit tests the value, and the moments from which the
derivative is made to every order. Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.samples.table import F64, FLOATS, Row, Table, grid, igrid, table

__all__ = ["TABLES"]

inf, nan = float("inf"), float("nan")
_KEY, _KEYS = [7, 11], igrid(0, 1000, 3, 2)


def _variate(edge: str, key: Any, a: Any, **more: Any) -> Row:
    return Row(edge=edge, inputs=(key, a), kinds=("uint32", None), **{"dtypes": F64, **more})


RANDOM_LOG_GAMMA = table(
    "std::random_log_gamma",
    _variate("wide", _KEY, grid(0.1, 3, 2, 4)),
    _variate("scalar", _KEY, 2.5),
    _variate("empty", _KEY, grid(1, 2, 0, 3)),
    _variate("small", _KEY, [1e-3, 1e-2, 0.25, 0.75]),
    _variate("large", _KEY, [10.5, 1000.25, 2.0**20]),
    _variate("keys", _KEYS, grid(0.1, 3, 3, 2)),
    _variate("scalar_per_key", _KEYS, grid(0.1, 3, 3)),
    _variate("non_contiguous", _KEY, grid(0.1, 3, 3, 2), layout="strided"),
    _variate("nan", _KEY, [nan, -1.0], expected=[nan, nan], dtypes=FLOATS),
    _variate("zero", _KEY, [0.0, -0.0], expected=[-inf, -inf], dtypes=FLOATS),
    level=2, tol="special",
)  # fmt: skip

_A, _Y = [0.02, 0.5, 1.0, 3.25], [-3.0, -0.75, -0.5, 0.5]


def _moment(edge: str, k: int, a: Any, y: Any, **more: Any) -> Row:
    return Row(edge=edge, inputs=(a, y), params={"order": k}, wrt=(0, 1),
               **{"order": 2, **more})  # fmt: skip


GAMMA_MOMENT = table(
    "std::gamma_moment",
    _moment("wide", 0, [_A, _A], [_Y, [2.0, 1.5, 1.0, 2.5]], dtypes=F64),
    _moment("scalar", 0, 2.5, 0.5),
    _moment("empty", 0, grid(1, 2, 0, 3), grid(1, 2, 0, 3), dtypes=F64, order=1),
    _moment("first", 1, _A, _Y, dtypes=F64, order=1),
    _moment("second", 2, [0.5, 3.25], [-0.75, 0.5], dtypes=F64, order=1),
    _moment("above", 1, _A, [2.0, 1.5, 1.0, 2.5], dtypes=F64, order=1),
    _moment("non_contiguous", 0, grid(0.1, 3, 3, 2), grid(-2, 2, 3, 2), dtypes=F64, order=1,
        layout="strided"),
    level=2, tol="special",
)  # fmt: skip

TABLES: tuple[Table, ...] = (RANDOM_LOG_GAMMA, GAMMA_MOMENT)
