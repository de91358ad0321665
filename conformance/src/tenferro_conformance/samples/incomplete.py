"""Samples of the incomplete family: incomplete gamma and beta functions, densities, derivatives.

In addition to the shape edges: both tails, both ends of the interval, small and large shapes.
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

_shape = partial(grid, 0.5, 4)
_place = partial(grid, 0.25, 5)
_inner = partial(grid, 0.125, 0.875)
_POSITIVE = Domain(low=0.0)
_LARGE_SHAPES = ([150.0, 200.25, 1000.5], [140.0, 215.5, 990.25])
_SMALL_SHAPES = ([0.0625, 0.03125, 0.25], [0.5, 2.0, 2.0**-12])
_BOTH: dict[str, Any] = {"wrt": (0, 1), "order": 1}
_EACH: dict[str, Any] = {"wrt": (0, 1, 2), "order": 1}


def _gamma_rows(at_zero: list[float], **params: Any) -> tuple[Row, ...]:
    return (
        *elementwise_rows(_shape, _place, domain=_POSITIVE, order=2, params=params),
        Row(edge="nan", inputs=([nan, 1.0, -1.0, 1.0], [1.0, nan, 1.0, -1.0]), params=params,
            expected=[nan] * 4),
        Row(edge="zero", inputs=([0.5, 1.0, 2.0], [0.0] * 3), params=params, expected=at_zero),
        Row(edge="small_shape", inputs=_SMALL_SHAPES, params=params, dtypes=F64, **_BOTH),
        Row(edge="large", inputs=_LARGE_SHAPES, params=params, dtypes=F64, **_BOTH),
        Row(edge="tails", inputs=([3.0, 30.0, 2.5], [40.0, 8.0, 0.03125]), params=params,
            dtypes=F64, **_BOTH),
    )  # fmt: skip


def _beta_rows(**params: Any) -> tuple[Row, ...]:
    return (
        *elementwise_rows(_shape, _place, _inner, domain=_POSITIVE, order=1, params=params),
        Row(edge="nan", inputs=([nan, 1.0, 1.0, 1.0], [1.0, nan, 1.0, 1.0], [0.5, 0.5, nan, 1.5]),
            params=params, expected=[nan] * 4),
        Row(edge="small_shape", inputs=([0.0625, 0.25], [0.125, 8.0], [0.75, 0.015625]),
            params=params, dtypes=F64, **_EACH),
        Row(edge="large", inputs=([150.0, 60.25], [80.0, 200.5], [0.625, 0.25]), params=params,
            dtypes=F64, **_EACH),
        Row(edge="tails", inputs=([20.0, 2.5], [3.5, 30.0], [0.375, 0.5]), params=params,
            dtypes=F64, **_EACH),
    )  # fmt: skip


GAMMAINC = table(
    "std::gammainc",
    *_gamma_rows([0.0] * 3),
    Row(edge="slope_at_zero", inputs=([1.0, 2.0], [0.0, 0.0]), expected=[0.0, 0.0], wrt=(0, 1),
        order=1, smooth=False, tangents=([1.0, 1.0], [1.0, 1.0]), derivative=[1.0, 0.0],
        note="x = 0 whatever the shape: no derivative in it; the density in x"),
    Row(edge="rim", inputs=([2.0, 0.0, inf], [inf, 1.0, 1.0]), expected=[1.0, 1.0, 0.0]),
    Row(edge="far", inputs=([1e300, 30.0], [30.0, 1e300]), expected=[0.0, 1.0], dtypes=F64),
    refuses="shapes no_integers no_complex",
    level=1, tol="special",
)  # fmt: skip
GAMMAINCC = table(
    "std::gammaincc",
    *_gamma_rows([1.0] * 3),
    Row(edge="rim", inputs=([2.0, 0.0, inf], [inf, 1.0, 1.0]), expected=[0.0, 0.0, 1.0]),
    Row(edge="far", inputs=([1e300, 30.0], [30.0, 1e300]), expected=[1.0, 0.0], dtypes=F64),
    refuses="shapes no_integers no_complex",
    meaning=lambda mp, a, x: mp.gammainc(a, x, mp.inf, regularized=True),
    level=1, tol="special",
)  # fmt: skip
GAMMAINC_DERIVATIVE = table(
    "std::gammainc_derivative",
    *_gamma_rows([0.0] * 3, order=1),
    Row(edge="second", inputs=(_shape(2, 3), _place(2, 3)), params={"order": 2}, dtypes=F64,
        **_BOTH),
    Row(edge="third", inputs=(_shape(3), _place(3)), params={"order": 3}, dtypes=F64),
    level=1, tol="special",
)  # fmt: skip
GAMMA_DENSITY = table(
    "std::gamma_density",
    *_gamma_rows([inf, 1.0, 0.0], power=0),
    Row(edge="slope_at_zero", inputs=([1.0, 2.0, 3.0], [0.0] * 3), params={"power": 0},
        expected=[1.0, 0.0, 0.0], wrt=(1,), order=1, smooth=False, tangents=([1.0] * 3,),
        derivative=[-1.0, 1.0, 0.0]),
    Row(edge="power", inputs=(_shape(2, 3), _place(2, 3)), params={"power": 2}, dtypes=F64,
        **_BOTH),
    level=1, tol="special",
)  # fmt: skip
BETAINC = table(
    "std::betainc",
    *_beta_rows(),
    Row(edge="ends", inputs=([0.5, 1.0, 2.0], [2.0, 1.0, 1.0], [0.0, 1.0, 0.0]),
        expected=[0.0, 1.0, 0.0]),
    Row(edge="rim", inputs=([0.0, 1.0, 0.0, inf, 1.0], [1.0, 0.0, inf, 1.0, inf], [0.5] * 5),
        expected=[1.0, 0.0, 1.0, 0.0, 1.0]),
    Row(edge="slope_at_ends", inputs=([1.0, 2.0, 1.0], [2.0, 1.0, 1.0], [0.0, 1.0, 1.0]),
        expected=[0.0, 1.0, 1.0], wrt=(0, 1, 2), order=1, smooth=False,
        tangents=([1.0] * 3, [1.0] * 3, [1.0] * 3), derivative=[2.0, 2.0, 1.0],
        note="0 and 1 whatever the shapes: no derivative in them; the density in x"),
    level=1, tol="special",
)  # fmt: skip
BETAINCC = table(
    "std::betaincc",
    *_beta_rows(),
    Row(edge="ends", inputs=([0.5, 1.0, 2.0], [2.0, 1.0, 1.0], [0.0, 1.0, 0.0]),
        expected=[1.0, 0.0, 1.0]),
    Row(edge="rim", inputs=([0.0, 1.0, 0.0, inf, 1.0], [1.0, 0.0, inf, 1.0, inf], [0.5] * 5),
        expected=[0.0, 1.0, 0.0, 1.0, 0.0]),
    level=1, tol="special",
)  # fmt: skip
BETAINC_DERIVATIVE = table(
    "std::betainc_derivative",
    *_beta_rows(orders=(1, 0)),
    *(Row(edge=f"orders{m}{n}", inputs=(_shape(3), _place(3), _inner(3)), params={"orders": (m, n)},
          dtypes=F64, **_EACH) for m, n in ((0, 1), (1, 1), (0, 2))),
    level=1, tol="special",
)  # fmt: skip
BETA_DENSITY = table(
    "std::beta_density",
    *_beta_rows(powers=(0, 0)),
    Row(edge="ends", inputs=([0.5, 1.0, 2.0, 1.0], [2.0, 2.0, 1.0, 2.0], [0.0, 0.0, 1.0, 1.0]),
        params={"powers": (0, 0)}, expected=[inf, 2.0, 2.0, 0.0]),
    Row(edge="powers", inputs=(_shape(3), _place(3), _inner(3)), params={"powers": (1, 2)},
        dtypes=F64, **_EACH),
    level=1, tol="special",
)  # fmt: skip

TABLES: tuple[Table, ...] = (
    GAMMAINC, GAMMAINCC, GAMMAINC_DERIVATIVE, GAMMA_DENSITY, BETAINC, BETAINCC, BETAINC_DERIVATIVE,
    BETA_DENSITY,
)  # fmt: skip
