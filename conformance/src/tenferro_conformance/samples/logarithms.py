"""Samples of the logarithms family: xlogy xlog1py rel_entr kl_div logit exprel scaled_expm1.

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

_any = partial(grid, -2, 2)
_positive = partial(grid, 0.25, 4)
_NOTE = "the limits along the axes: ln y in x, 0 in y"

XLOGY = table(
    "std::xlogy",
    *elementwise_rows(_any, _positive, domain=Domain(low=0.0)),
    Row(edge="nan", inputs=([nan, 1.0, 0.0], [1.0, nan, nan]), expected=[nan] * 3),
    Row(edge="zero", inputs=([0.0, 0.0, 0.0], [0.0, inf, -1.0]), expected=[0.0] * 3),
    Row(edge="slope_at_zero", inputs=([0.0, 0.0], [2.0, 0.0]), expected=[0.0, 0.0], wrt=(1,),
        order=1, smooth=False, tangents=([1.0, 1.0],), derivative=[0.0, 0.0], note=_NOTE),
    Row(edge="slope_in_x", inputs=([0.0, 0.0], [1.0, 0.0]), expected=[0.0, 0.0], wrt=(0,),
        order=1, smooth=False, tangents=([1.0, 1.0],), derivative=[0.0, -inf], note=_NOTE),
    refuses="shapes no_integers no_complex",
    level=1, tol="special",
)  # fmt: skip
XLOG1PY = table(
    "std::xlog1py",
    *elementwise_rows(_any, partial(grid, -0.75, 3), domain=Domain(low=-1.0)),
    Row(edge="nan", inputs=([nan, 1.0, 0.0], [1.0, nan, nan]), expected=[nan] * 3),
    Row(edge="zero", inputs=([0.0, 0.0, 0.0], [-1.0, inf, -2.0]), expected=[0.0] * 3),
    Row(edge="small", inputs=([2.0, -3.0], [2.0**-30, 2.0**-20]), wrt=(0, 1), order=1),
    Row(edge="slope_at_zero", inputs=([0.0, 0.0], [2.0, -1.0]), expected=[0.0, 0.0], wrt=(1,),
        order=1, smooth=False, tangents=([1.0, 1.0],), derivative=[0.0, 0.0], note=_NOTE),
    refuses="shapes no_integers no_complex",
    level=1, tol="special",
)  # fmt: skip
REL_ENTR = table(
    "std::rel_entr",
    *elementwise_rows(_positive, partial(grid, 0.5, 3), domain=Domain(low=0.0)),
    Row(edge="nan", inputs=([nan, 1.0, nan, -1.0], [1.0, nan, nan, 1.0]), expected=[nan] * 4),
    Row(edge="zero", inputs=([0.0, 0.0, 0.0], [2.0, inf, 0.0]), expected=[0.0] * 3),
    Row(edge="ends", inputs=([1.0, inf, 2.0], [0.0, 1.0, inf]), expected=[inf, inf, -inf]),
    Row(edge="near", inputs=([1.0, 3.0, 5.0], [1.0, 3 + 2.0**-20, 5 - 2.0**-10]), wrt=(0, 1),
        order=2),
    Row(edge="slope_at_zero", inputs=([0.0, 0.0], [2.0, 0.0]), expected=[0.0, 0.0], wrt=(1,),
        order=1, smooth=False, tangents=([1.0, 1.0],), derivative=[0.0, 0.0], note="-x/y"),
    refuses="shapes no_integers no_complex",
    level=1, tol="special",
)  # fmt: skip
KL_DIV = table(
    "std::kl_div",
    *elementwise_rows(_positive, partial(grid, 0.5, 3), domain=Domain(low=0.0)),
    Row(edge="nan", inputs=([nan, 1.0, nan, -1.0], [1.0, nan, nan, 1.0]), expected=[nan] * 4),
    Row(edge="zero", inputs=([0.0, 0.0, 0.0], [2.0, inf, 0.0]), expected=[2.0, inf, 0.0]),
    Row(edge="ends", inputs=([1.0, 2.0], [0.0, 0.0]), expected=[inf, inf]),
    Row(edge="near", inputs=([1.0, 3.0, 5.0], [1.0, 3 + 2.0**-20, 5 - 2.0**-10]), wrt=(0, 1),
        order=2),
    Row(edge="where_the_formula_changes", inputs=([1.0, 0.5, 1.0], [0.5625, 1.0, 1.84375]),
        wrt=(0, 1), order=1),
    Row(edge="slope_at_zero", inputs=([0.0, 0.0], [2.0, 0.0]), expected=[2.0, 0.0], wrt=(1,),
        order=1, smooth=False, tangents=([1.0, 1.0],), derivative=[1.0, 1.0], note="1 - x/y"),
    refuses="shapes no_integers no_complex",
    meaning=lambda mp, x, y: (x * mp.log(x / y) if x else 0) - x + y,
    level=1, tol="special",
)  # fmt: skip
LOGIT = table(
    "std::logit",
    *elementwise_rows(partial(grid, 0.0625, 0.9375), domain=Domain(low=0.0, high=1.0)),
    Row(edge="nan", inputs=([nan, -0.5, 1.5],), expected=[nan] * 3),
    Row(edge="ends", inputs=([0.0, 1.0],), expected=[-inf, inf]),
    Row(edge="middle", inputs=([0.5, 0.5 + 2.0**-20, 0.5 - 2.0**-12],), wrt=(0,), order=1),
    Row(edge="tails", inputs=([2.0**-30, 1 - 2.0**-20],), wrt=(0,), order=1),
    refuses="no_integers no_complex",
    meaning=lambda mp, x: mp.log(x / (1 - x)),
    level=1, tol="special",
)  # fmt: skip
EXPREL = table(
    "std::exprel",
    *elementwise_rows(_any, params={"order": 0}),
    Row(edge="nan", inputs=([nan],), params={"order": 0}, expected=[nan]),
    Row(edge="inf", inputs=([inf, -inf, 0.0],), params={"order": 0}, expected=[inf, 0.0, 1.0]),
    Row(edge="near_zero", inputs=([0.0, 2.0**-30, -(2.0**-11)],), params={"order": 0}, wrt=(0,)),
    Row(edge="large", inputs=([12.5, 40.0, -30.0],), params={"order": 0}, wrt=(0,), order=2,
        dtypes=F64),
    Row(edge="second", inputs=(_any(2, 3),), params={"order": 2}, wrt=(0,), order=1),
    level=1, tol="special",
)  # fmt: skip
SCALED_EXPM1 = table(
    "std::scaled_expm1",
    *elementwise_rows(_any, partial(grid, -1.5, 1.75)),
    Row(edge="nan", inputs=([nan, 1.0], [1.0, nan]), expected=[nan] * 2),
    Row(edge="rate_zero", inputs=([2.0, -0.5, inf, -inf], [0.0] * 4),
        expected=[2.0, -0.5, inf, -inf]),
    Row(edge="slope_at_rate_zero", inputs=([2.0, -0.5], [0.0, 0.0]), expected=[2.0, -0.5],
        wrt=(0, 1), order=1, smooth=False, tangents=([1.0, 0.0], [0.0, 1.0]),
        derivative=[1.0, 0.125]),
    Row(edge="near_zero", inputs=([2.0, -0.5, 2.0**-40], [2.0**-30, -(2.0**-12), 0.5]),
        wrt=(0, 1), order=2, dtypes=F64),
    Row(edge="infinite", inputs=([inf, -inf, -inf, inf], [-2.0, 0.5, -1.0, 1.0]),
        expected=[0.5, -2.0, -inf, inf]),
    Row(edge="large", inputs=([30.0, -40.0, 5.0], [-1.0, 0.75, 4.0]), wrt=(0, 1), order=1,
        dtypes=F64),
    refuses="shapes no_integers no_complex",
    meaning=lambda mp, x, y: mp.expm1(x * y) / y if y else x,
    level=1, tol="special",
)  # fmt: skip

TABLES: tuple[Table, ...] = (XLOGY, XLOG1PY, REL_ENTR, KL_DIV, LOGIT, EXPREL, SCALED_EXPM1)
