"""Samples of the normal family: erfcx ndtr log_ndtr ndtri erfcinv.

In addition to the shape edges: both tails, where complements and logarithms lose digits or
underflow. Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from functools import partial

from tenferro_conformance.cases.case import Domain
from tenferro_conformance.samples.table import (
    F64,
    Row,
    Table,
    elementwise_rows,
    grid,
    special_values,
    table,
)

__all__ = ["TABLES"]

inf, nan = float("inf"), float("nan")

_any = partial(grid, -2, 2)

ERFCX = table(
    "std::erfcx",
    *elementwise_rows(_any, params={"order": 0}),
    Row(edge="nan", inputs=([nan],), params={"order": 0}, expected=[nan]),
    Row(edge="inf", inputs=([inf, -inf],), params={"order": 0}, expected=[0.0, inf]),
    Row(edge="tail", inputs=([2.5, 9.0, 100.0],), params={"order": 0}, wrt=(0,), order=2,
        note="2x·erfcx x - 2/√π would have no digits left"),
    Row(edge="second", inputs=(_any(2, 3),), params={"order": 2}, wrt=(0,), order=2),
    level=1, tol="special",
)  # fmt: skip
NDTR = table(
    "std::ndtr",
    *elementwise_rows(_any),
    *special_values(infs=[1.0, 0.0], zeros=[0.5, 0.5]),
    Row(edge="tail", inputs=([-3.5, -5.0, 4.0],), wrt=(0,), order=1),
    Row(edge="underflow", inputs=([-40.0],), expected=[0.0]),
    refuses="no_integers no_complex",
    level=1, tol="special",
)  # fmt: skip
LOG_NDTR = table(
    "std::log_ndtr",
    *elementwise_rows(_any),
    Row(edge="nan", inputs=([nan],), expected=[nan]),
    Row(edge="inf", inputs=([inf],), expected=[0.0]),
    Row(edge="tail", inputs=([-5.5, -40.0, -300.0],), wrt=(0,), order=2,
        note="the density and the distribution function are 0 there"),
    Row(edge="upper", inputs=([3.0, 5.5, 7.0],), dtypes=F64, wrt=(0,), order=2),
    refuses="no_integers no_complex",
    level=1, tol="special",
)  # fmt: skip
NDTRI = table(
    "std::ndtri",
    *elementwise_rows(partial(grid, 0.0625, 0.9375), domain=Domain(low=0.0, high=1.0)),
    Row(edge="nan", inputs=([nan, -0.5, 1.5],), expected=[nan] * 3),
    Row(edge="ends", inputs=([0.0, 1.0],), expected=[-inf, inf]),
    Row(edge="tail", inputs=([2.0**-20, 2.0**-30, 1 - 2.0**-12],), wrt=(0,), order=1),
    refuses="no_integers no_complex",
    meaning=lambda mp, x: mp.sqrt(2) * mp.erfinv(2 * x - 1),
    level=1, tol="special",
)  # fmt: skip
ERFCINV = table(
    "std::erfcinv",
    *elementwise_rows(partial(grid, 0.125, 1.875), domain=Domain(low=0.0, high=2.0)),
    Row(edge="nan", inputs=([nan, -0.5, 2.5],), expected=[nan] * 3),
    Row(edge="ends", inputs=([0.0, 2.0],), expected=[inf, -inf]),
    Row(edge="tail", inputs=([2.0**-20, 2.0**-30, 2 - 2.0**-12],), wrt=(0,), order=1),
    refuses="no_integers no_complex",
    meaning=lambda mp, x: mp.erfinv(1 - x),
    level=1, tol="special",
)  # fmt: skip

TABLES: tuple[Table, ...] = (ERFCX, NDTR, LOG_NDTR, NDTRI, ERFCINV)
