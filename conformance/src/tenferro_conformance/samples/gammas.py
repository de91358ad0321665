"""Samples of the gammas family: gamma betaln polygamma_difference zeta.

Read `rows.py` for what the fields of a row mean.
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
    table,
)

__all__ = ["TABLES"]

inf, nan = float("inf"), float("nan")

_positive = partial(grid, 0.5, 5)
_other = partial(grid, 0.25, 3)
_POSITIVE = Domain(low=0.0)

GAMMA = table(
    "std::gamma",
    *elementwise_rows(_positive, domain=_POSITIVE),
    Row(edge="nan", inputs=([nan, -1.0, -2.0, -inf],), expected=[nan] * 4),
    Row(edge="inf", inputs=([inf, 0.0, -0.0],), expected=[inf, inf, -inf]),
    Row(edge="factorials", inputs=([1.0, 2.0, 5.0],), expected=[1.0, 1.0, 24.0], tol="special"),
    Row(edge="negative", inputs=([-0.5, -1.25, -3.75],), wrt=(0,), order=1),
    Row(edge="large", inputs=([12.25, 20.5, 30.75],), wrt=(0,), order=1),
    Row(edge="huge", inputs=([100.5, 170.25],), dtypes=F64, wrt=(0,), order=1),
    refuses="no_integers no_complex",
    meaning=lambda mp, x: mp.gamma(x),
    level=1, tol="special",
)  # fmt: skip
BETALN = table(
    "std::betaln",
    *elementwise_rows(_positive, _other, domain=_POSITIVE),
    Row(edge="nan", inputs=([nan, 1.0], [1.0, nan]), expected=[nan, nan]),
    Row(edge="pole", inputs=([0.0, 1.0, 0.0, -1.0], [2.0, 0.0, 0.0, -1.0]), expected=[inf] * 4),
    Row(edge="inf", inputs=([2.0, inf, 0.0, -0.5], [inf, inf, inf, inf]),
        expected=[-inf, -inf, inf, inf], note="B(a, b) ~ Γ(a) b^-a"),
    Row(edge="poles_cancel", inputs=([-2.0, 3.0], [1.0, -4.0]),
        note="-1/2 and 1/12, the limits for the integer b"),
    Row(edge="large", inputs=([200.5, 1000.25], [50.0, 2000.5]), wrt=(0, 1), order=1),
    Row(edge="unequal", inputs=([2.0**20, 0.5, 3.0], [0.25, 2.0**30, 2.0**40]), wrt=(0, 1), order=1,
        dtypes=F64, note="ln Γ(a) + ln Γ(b) - ln Γ(a+b) would have no digits left"),
    refuses="shapes no_integers no_complex",
    meaning=lambda mp, a, b: mp.log(abs(mp.beta(a, b))),
    level=1, tol="special",
)  # fmt: skip
POLYGAMMA_DIFFERENCE = table(
    "std::polygamma_difference",
    *elementwise_rows(_positive, _other, domain=_POSITIVE, params={"order": 0}),
    Row(edge="nan", inputs=([nan, 1.0], [1.0, nan]), params={"order": 0}, expected=[nan, nan]),
    Row(edge="near", inputs=([2.5, 1000.0], [2.0**-30, 2.0**-10]), params={"order": 0}, wrt=(0, 1),
        order=1, dtypes=F64),
    Row(edge="second", inputs=(_positive(2, 3), _other(2, 3)), params={"order": 2}, wrt=(0, 1),
        order=1, dtypes=F64),
    level=1, tol="special",
)  # fmt: skip
ZETA = table(
    "std::zeta",
    *elementwise_rows(partial(grid, 1.5, 4), _positive, domain=_POSITIVE, wrt=(1,)),
    Row(edge="nan", inputs=([nan, 2.0], [1.0, nan]), expected=[nan, nan]),
    Row(edge="pole", inputs=([1.0, 3.0, 2.0], [2.0, 0.0, -4.0]), expected=[inf, inf, inf]),
    Row(edge="large", inputs=([2.0, 5.5], [1000.0, 30.25]), wrt=(1,), order=1),
    Row(edge="huge", inputs=([1e4, 2.0**40], [1.0, 1.0]), expected=[1.0, 1.0]),
    Row(edge="negative", inputs=([4.0, 3.0, 2.0], [-1.5, -2.25, -12.25]), wrt=(1,), order=1),
    refuses="shapes no_integers no_complex",
    meaning=lambda mp, x, y: mp.zeta(x, y),
    level=1, tol="special",
)  # fmt: skip

TABLES: tuple[Table, ...] = (GAMMA, BETALN, POLYGAMMA_DIFFERENCE, ZETA)
