"""Samples of the bessel family: bessel_i bessel_ie bessel_k bessel_ke.

Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from tenferro_conformance.cases.case import Domain
from tenferro_conformance.samples.table import (
    F64,
    Row,
    Table,
    elementwise_rows,
    grid,
    table,
)

__all__ = ["TABLES"]

inf, nan = float("inf"), float("nan")

_any = partial(grid, -3, 3)
_positive = partial(grid, 0.25, 5)


def _order(n: float, edge: str, *numbers: float, **more: Any) -> Row:
    return Row(edge=edge, inputs=(list(numbers),), params={"order": n}, wrt=(0,), **more)


BESSEL_I = table(
    "std::bessel_i",
    *elementwise_rows(_any, params={"order": 0}),
    Row(edge="nan", inputs=([nan],), params={"order": 0}, expected=[nan]),
    Row(edge="first", inputs=(_any(2, 3),), params={"order": 1}, wrt=(0,)),
    Row(edge="third", inputs=(_any(2, 3),), params={"order": 3}, wrt=(0,), order=1, dtypes=F64),
    _order(1, "zero", 0.0, 2.0**-20, order=2, dtypes=F64),
    _order(0, "large", 20.0, -60.5, order=1, dtypes=F64),
    level=1, tol="special",
)  # fmt: skip
BESSEL_IE = table(
    "std::bessel_ie",
    *elementwise_rows(_positive, params={"order": 0}, domain=Domain(low=0.0)),
    Row(edge="nan", inputs=([nan],), params={"order": 0}, expected=[nan]),
    Row(edge="inf", inputs=([inf],), params={"order": 0}, expected=[0.0]),
    Row(edge="first", inputs=(_positive(2, 3),), params={"order": 1}, wrt=(0,)),
    Row(edge="fourth", inputs=(_positive(2, 3),), params={"order": 4}, wrt=(0,), order=1,
        dtypes=F64),
    _order(0, "large", 60.0, -500.5, 2.0**20, order=2, dtypes=F64),
    _order(1, "large_first", 60.0, -500.5, order=1, dtypes=F64),
    Row(edge="kink", inputs=([0.0],), params={"order": 0}, expected=[1.0], wrt=(0,), order=1,
        smooth=False, tangents=([1.0],), derivative=[0.0], note="|x| has the derivative 0 at 0"),
    level=1, tol="special",
)  # fmt: skip
BESSEL_K = table(
    "std::bessel_k",
    *elementwise_rows(_positive, params={"order": 0}, domain=Domain(low=0.0)),
    Row(edge="nan", inputs=([nan, -1.0],), params={"order": 0}, expected=[nan, nan]),
    Row(edge="inf", inputs=([inf, 800.0],), params={"order": 0}, expected=[0.0, 0.0]),
    Row(edge="pole", inputs=([0.0],), params={"order": 2}, expected=[inf], wrt=(0,), order=1,
        smooth=False, tangents=([1.0],), derivative=[-inf]),
    _order(1, "first", 0.5, 1.5, 3.0, order=2),
    _order(4, "fourth", 0.25, 1.0, 7.5, order=1, dtypes=F64),
    _order(0, "near_zero", 2.0**-30, 2.0**-12, order=1),
    _order(0.5, "half", 2.0**-30, 0.5, 1.0, 7.5, order=1, dtypes=F64),
    _order(2.25, "fraction", 0.25, 1.5, 30.0, order=1, dtypes=F64),
    level=1, tol="special",
)  # fmt: skip
BESSEL_KE = table(
    "std::bessel_ke",
    *elementwise_rows(_positive, params={"order": 0}, domain=Domain(low=0.0)),
    Row(edge="nan", inputs=([nan, -1.0],), params={"order": 1}, expected=[nan, nan]),
    Row(edge="inf", inputs=([inf, 0.0],), params={"order": 1}, expected=[0.0, inf]),
    _order(1, "first", 0.5, 1.5, 3.0, order=2),
    _order(4, "fourth", 0.25, 1.0, 7.5, order=1, dtypes=F64),
    _order(0, "large", 60.0, 500.5, 2.0**20, order=2, dtypes=F64),
    _order(1, "large_first", 60.0, 500.5, order=1, dtypes=F64),
    _order(2.25, "fraction", 0.25, 1.5, 60.0, order=1, dtypes=F64),
    level=1, tol="special",
)  # fmt: skip

TABLES: tuple[Table, ...] = (BESSEL_I, BESSEL_IE, BESSEL_K, BESSEL_KE)
