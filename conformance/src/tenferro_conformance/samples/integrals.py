"""Samples of the exponential and the complete elliptic integrals: expi expn elliptic_integral.

Both sides of the arguments where a formula changes (1.5 and 40 of exponential integrals, m = 2/5
and m = 0 of elliptic ones), the poles, and the ends.
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

_positive = partial(grid, 0.5, 3)
_POSITIVE = Domain(low=0.0)


def _order(n: int, edge: str, *numbers: float, **more: Any) -> Row:
    return Row(edge=edge, inputs=(list(numbers),), params={"order": n}, wrt=(0,), **more)


def _kind(kind: str, edge: str, *numbers: float, **more: Any) -> Row:
    more = {"wrt": (0,), "order": 1, "dtypes": F64, **more}
    return Row(edge=f"{kind}_{edge}", inputs=(list(numbers),), params={"kind": kind}, **more)


EXPI = table(
    "std::expi",
    *elementwise_rows(_positive, domain=_POSITIVE),
    Row(edge="nan", inputs=([nan],), expected=[nan]),
    Row(edge="ends", inputs=([inf, -inf, 0.0],), expected=[inf, -0.0, -inf]),
    Row(edge="negative", inputs=([-0.25, -1.375, -1.625, -20.5],), wrt=(0,), order=2, dtypes=F64),
    Row(edge="large", inputs=([19.5, 20.5, 39.75, 40.25, 60.5],), wrt=(0,), order=1, dtypes=F64),
    refuses="no_integers no_complex",
    meaning=lambda mp, x: mp.ei(x),
    level=1, tol="special",
)  # fmt: skip
EXPN = table(
    "std::expn",
    *elementwise_rows(_positive, domain=_POSITIVE, params={"order": 1}),
    Row(edge="nan", inputs=([nan, -1.0],), params={"order": 1}, expected=[nan, nan]),
    Row(edge="ends", inputs=([inf, 0.0],), params={"order": 1}, expected=[0.0, inf]),
    Row(edge="pole", inputs=([0.0],), params={"order": 2}, expected=[1.0], wrt=(0,), order=1,
        smooth=False, tangents=([1.0],), derivative=[-inf]),
    _order(0, "zeroth", 0.5, 3.0, order=2, dtypes=F64),
    _order(1, "first", 2.0**-20, 1.375, 1.625, 20.5, order=2, dtypes=F64),
    _order(3, "third", 2.0**-20, 1.375, 1.625, 20.5, order=1, dtypes=F64),
    _order(16, "sixteenth", 2.0**-20, 1.375, 20.5, order=1, dtypes=F64),
    level=1, tol="special",
)  # fmt: skip
ELLIPTIC_INTEGRAL = table(
    "std::elliptic_integral",
    *elementwise_rows(_positive, domain=_POSITIVE, params={"kind": "K"}),
    Row(edge="nan", inputs=([nan, -1.0],), params={"kind": "K"}, expected=[nan, nan]),
    Row(edge="k_ends", inputs=([0.0, inf],), params={"kind": "K"}, expected=[inf, 0.0]),
    Row(edge="e_ends", inputs=([0.0, inf],), params={"kind": "E"}, expected=[1.0, inf]),
    *(_kind(kind, "both_sides", 0.25, 0.59375, 0.609375, 1.390625, 1.40625, 4.0)
      for kind in "KEBD"),
    *(_kind(kind, "circle", 1.0, 1.0 + 2.0**-20, order=2) for kind in "KEBD"),
    *(_kind(kind, "small", 2.0**-40, 2.0**-20) for kind in "KEB"),
    *(_kind(kind, "large", 2.0**20, 2.0**60) for kind in "KE"),
    level=1, tol="special",
)  # fmt: skip

TABLES: tuple[Table, ...] = (EXPI, EXPN, ELLIPTIC_INTEGRAL)
