"""Samples of the special family: erf erfc erfinv lgamma digamma polygamma.

In addition to the shape edges: tails, poles, both signs of the argument, and neighbourhoods of
zeros. Read `rows.py` for what the fields of a row mean.
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
    special_values,
    table,
)

__all__ = ["TABLES"]

inf, nan = float("inf"), float("nan")
_any = partial(grid, -2, 2)
_positive = partial(grid, 0.5, 5)
_POSITIVE = Domain(low=0.0)
_POINTS_NEAR_ZERO = [2.0**-30, -(2.0**-20), 2.0**-11]

ERF = table(
    "std::erf",
    *elementwise_rows(_any),
    *special_values(infs=[1.0, -1.0], zeros=[-0.0, 0.0]),
    Row(edge="saturated", inputs=([6.0, -7.0, 3.5],)),
    Row(edge="near_zero", inputs=(_POINTS_NEAR_ZERO,), wrt=(0,), order=1),
    refuses="no_integers no_complex",
    meaning=lambda mp, x: mp.erf(x),
    level=1, tol="elementary",
)  # fmt: skip
ERFC = table(
    "std::erfc",
    *elementwise_rows(_any),
    *special_values(infs=[0.0, 2.0], zeros=[1.0, 1.0]),
    Row(edge="tail", inputs=([2.5, 3.5, -4.0],), wrt=(0,), order=1,
        note="1 - erf x would have no digits left"),
    Row(edge="underflow", inputs=([40.0],), expected=[0.0]),
    refuses="no_integers no_complex",
    meaning=lambda mp, x: mp.erfc(x),
    level=1, tol="special",
)  # fmt: skip
ERFINV = table(
    "std::erfinv",
    *elementwise_rows(partial(grid, -0.75, 0.75), domain=Domain(low=-1.0, high=1.0)),
    *special_values(infs=[nan, nan], zeros=[-0.0, 0.0]),
    Row(edge="outside", inputs=([1.5, -2.0],), expected=[nan, nan]),
    Row(edge="poles", inputs=([1.0, -1.0],), expected=[inf, -inf], wrt=(0,), order=1, smooth=False,
        tangents=([1.0, 1.0],), derivative=[inf, inf], note="the derivative at ±1 is inf"),
    Row(edge="near_one", inputs=([1 - 2.0**-10, -1 + 2.0**-16],), wrt=(0,), order=1),
    Row(edge="near_zero", inputs=(_POINTS_NEAR_ZERO,), wrt=(0,), order=1),
    refuses="no_integers no_complex",
    meaning=lambda mp, x: mp.erfinv(x),
    level=1, tol="special",
)  # fmt: skip
LGAMMA = table(
    "std::lgamma",
    *elementwise_rows(_positive, domain=_POSITIVE),
    Row(edge="nan", inputs=([nan],), expected=[nan]),
    Row(edge="inf", inputs=([inf, -inf],), expected=[inf, -inf], note="as SciPy has it at -inf"),
    Row(edge="poles", inputs=([0.0, -0.0, -1.0, -2.0],), expected=[inf] * 4),
    Row(edge="zeros", inputs=([1.0, 2.0],), expected=[0.0, 0.0], tol="special", dtypes=F64),
    Row(edge="negative", inputs=([-0.5, -1.25, -3.75],), wrt=(0,), order=1),
    Row(edge="large", inputs=([100.5, 1000.25, 2.0**20],), wrt=(0,), order=1),
    Row(edge="near_zero", inputs=([2.0**-30, -(2.0**-20)],)),
    refuses="no_integers no_complex",
    meaning=lambda mp, x: mp.log(abs(mp.gamma(x))),
    level=1, tol="special",
)  # fmt: skip
DIGAMMA = table(
    "std::digamma",
    *elementwise_rows(_positive, domain=_POSITIVE),
    Row(edge="nan", inputs=([nan],), expected=[nan]),
    Row(edge="inf", inputs=([inf],), expected=[inf]),
    Row(edge="poles", inputs=([-1.0, -2.0],), expected=[nan, nan],
        note="the two sides of a pole differ, so there is no value"),
    Row(edge="negative", inputs=([-0.25, -1.25, -3.75],), wrt=(0,), order=1),
    Row(edge="large", inputs=([100.5, 1000.25, 2.0**20],), wrt=(0,), order=1),
    Row(edge="near_zero", inputs=([2.0**-30, -(2.0**-20)],)),
    refuses="no_integers no_complex",
    meaning=lambda mp, x: mp.digamma(x),
    level=1, tol="special",
)  # fmt: skip


def _order(n: int, edge: str, **more: Any) -> Row:
    return Row(edge=edge, inputs=(_positive(2, 3),), params={"order": n}, wrt=(0,), **more)


POLYGAMMA = table(
    "std::polygamma",
    *elementwise_rows(_positive, domain=_POSITIVE, params={"order": 1}),
    _order(2, "second"),
    _order(3, "third", order=2),
    Row(edge="nan", inputs=([nan],), params={"order": 1}, expected=[nan]),
    Row(edge="inf", inputs=([inf],), params={"order": 1}, expected=[0.0]),
    Row(edge="pole", inputs=([0.0],), params={"order": 1}, expected=[inf]),
    Row(edge="negative", inputs=([-0.25, -1.5, -12.75],), params={"order": 1}, wrt=(0,), order=1),
    Row(edge="negative_second", inputs=([-0.25, -1.375, -12.75],), params={"order": 2}),
    Row(edge="large", inputs=([100.5, 1000.25],), params={"order": 1}, wrt=(0,), order=1),
    Row(edge="near_zero", inputs=([2.0**-10, 2.0**-12],), params={"order": 1}),
    level=1, tol="special",
)  # fmt: skip

TABLES: tuple[Table, ...] = (ERF, ERFC, ERFINV, LGAMMA, DIGAMMA, POLYGAMMA)
