"""Samples of the cylinder family: bessel_j bessel_y.

Both sides of the argument where the asymptotic series begin (20, in single precision 10), small
arguments of high orders, the pole of Y, and orders that are not integers.
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
_positive = partial(grid, 1.25, 3.25)  # between two zeros


def _order(n: float, edge: str, *numbers: float, **more: Any) -> Row:
    return Row(edge=edge, inputs=(list(numbers),), params={"order": n}, wrt=(0,), **more)


BESSEL_J = table(
    "std::bessel_j",
    *elementwise_rows(_any, params={"order": 0}),
    Row(edge="nan", inputs=([nan],), params={"order": 0}, expected=[nan]),
    Row(edge="inf", inputs=([inf, -inf],), params={"order": 1}, expected=[0.0, 0.0]),
    _order(1, "first", -2.5, 0.75, 5.5, 8.5, order=2),
    _order(3, "third", -2.0, 0.5, 4.5, 19.0, 21.0, order=1, dtypes=F64),
    _order(12, "high", 2.0**-4, 9.0, 18.5, 40.5, order=1, dtypes=F64),
    _order(1, "zero", 0.0, 2.0**-20, order=2, dtypes=F64),
    _order(0, "large", 15.0, -60.5, 1000.25, order=1, dtypes=F64, condition=8.0),
    _order(0.5, "half", 0.75, 4.5, 11.0, 25.5, order=1, dtypes=F64),
    _order(2.25, "fraction", 0.75, 4.5, 19.5, 21.5, order=1, dtypes=F64),
    Row(edge="outside", inputs=([-1.0],), params={"order": 0.5}, expected=[nan],
        note="the value is complex"),
    Row(edge="branch_point", inputs=([0.0],), params={"order": 0.5}, expected=[0.0], wrt=(0,),
        order=1, smooth=False, tangents=([1.0],), derivative=[inf]),
    level=1, tol="special",
)  # fmt: skip
BESSEL_Y = table(
    "std::bessel_y",
    *elementwise_rows(_positive, params={"order": 0}, domain=Domain(low=0.0)),
    Row(edge="nan", inputs=([nan, -1.0],), params={"order": 0}, expected=[nan, nan]),
    Row(edge="inf", inputs=([inf],), params={"order": 1}, expected=[0.0]),
    Row(edge="pole", inputs=([0.0],), params={"order": 3}, expected=[-inf], wrt=(0,), order=1,
        smooth=False, tangents=([1.0],), derivative=[inf]),
    _order(1, "first", 0.5, 1.5, 5.0, 8.5, order=2),
    _order(3, "third", 0.5, 4.25, 19.0, 21.0, order=1, dtypes=F64),
    _order(0, "near_zero", 2.0**-30, 2.0**-12, order=1),
    _order(0, "large", 15.0, 60.5, 1000.25, order=1, dtypes=F64, condition=8.0),
    level=1, tol="special",
)  # fmt: skip

TABLES: tuple[Table, ...] = (BESSEL_J, BESSEL_Y)
