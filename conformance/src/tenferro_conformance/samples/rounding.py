"""Samples of the rounding family: floor ceil round rem is_finite nextafter copysign.

Ties, signs of zeros, exact remainders, and what the derivative is where a value jumps.
Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from tenferro_conformance.samples.table import (
    COMPLEX,
    F64,
    FLOATS,
    HALF,
    SIGNED,
    Meaning,
    Row,
    Table,
    away,
    elementwise_rows,
    grid,
    igrid,
    special_values,
    table,
)

__all__ = ["TABLES"]

inf, nan = float("inf"), float("nan")
_wide = partial(grid, -3, 3)
_ints = partial(igrid, -6, 7)
_counts = partial(igrid, 1, 5)
_TIES = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]


def _rounding(name: str, meaning: Meaning, ties: list[float], zeros: list[float]) -> Table:
    return table(
        f"std::{name}",
        *elementwise_rows(_wide, wrt=(), tol="rounded"),
        *special_values(infs=[inf, -inf], zeros=[-0.0, 0.0]),
        Row(edge="ties", inputs=(_TIES,), dtypes=FLOATS + HALF, expected=ties),
        Row(edge="to_zero", inputs=([-0.25, 0.25],), dtypes=FLOATS + HALF, expected=zeros),
        Row(edge="integers", inputs=([-3.0, 2.0, 2.0**60],), expected=[-3.0, 2.0, 2.0**60]),
        Row(edge="inactive", inputs=([0.75, 2.0],), expected=None, wrt=(0,), order=1, smooth=False,
            tangents=([1.0, 1.0],), derivative=[0.0, 0.0],
            note="a rounded value has zero derivative, at its jumps too"),
        refuses="no_integers no_complex",
        meaning=meaning,
        level=1,
    )  # fmt: skip


FLOOR = _rounding(
    "floor", lambda mp, x: mp.floor(x), [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0], [-1.0, 0.0]
)
CEIL = _rounding("ceil", lambda mp, x: mp.ceil(x), [-2.0, -1.0, -0.0, 1.0, 2.0, 3.0], [-0.0, 1.0])
ROUND = _rounding("round", lambda mp, x: mp.nint(x), [-2.0, -2.0, -0.0, 0.0, 2.0, 2.0], [-0.0, 0.0])
REM = table(
    "std::rem",
    *elementwise_rows(_wide, away(0.5, 2), integer_inputs=(_ints, _counts)),
    Row(edge="nan", inputs=([nan, 1.0], [1.0, nan]), expected=[nan, nan]),
    Row(edge="inf", inputs=([1.0, inf, -1.0], [inf, 1.0, -inf]), expected=[1.0, nan, -1.0]),
    Row(edge="by_zero", inputs=([1.0, -1.0], [0.0, -0.0]), expected=[nan, nan]),
    Row(edge="negative_zero", inputs=([-0.0, 0.0, -4.0], [1.0, 1.0, 2.0]),
        expected=[-0.0, 0.0, -0.0]),
    Row(edge="signs", inputs=([5.5, -5.5, 5.5, -5.5], [3.0, 3.0, -3.0, -3.0]), dtypes=FLOATS + HALF,
        expected=[2.5, -2.5, 2.5, -2.5], wrt=(0, 1), order=1, smooth=False,
        tangents=([1.0] * 4, [1.0] * 4), derivative=[0.0, 2.0, 2.0, 0.0],
        note="convention 10: a remainder has the sign of the dividend"),
    Row(edge="integer_signs", inputs=([7, -7, 7, -7], [3, 3, -3, -3]), dtypes=SIGNED,
        expected=[1, -1, 1, -1],
        note="convention 10: a remainder has the sign of the dividend"),
    Row(edge="large_quotient", inputs=([2.0**40 + 2.0**20], [3.0]), dtypes=F64,
        expected=[2.0]),
    *(Row(edge="wrap", inputs=([-(2 ** (8 * size - 1))], [-1]), dtypes=(f"int{8 * size}",),
          expected=[0]) for size in (1, 2, 4, 8)),
    refuses="shapes no_bool no_complex",
    level=1, tol="exact",
)  # fmt: skip
IS_FINITE = table(
    "std::is_finite",
    Row(edge="wide", inputs=([[1.0, inf, nan], [-inf, -0.0, -2.0]],), dtypes=FLOATS + HALF,
        out="bool", expected=[[True, False, False], [False, True, True]]),
    Row(edge="scalar", inputs=(1.5,), out="bool", expected=True),
    Row(edge="empty", inputs=(grid(0, 1, 0, 3),), dtypes=F64, out="bool",
        expected=grid(0, 1, 0, 3)),
    Row(edge="non_contiguous", inputs=([[1.0, inf], [nan, 2.0]],), dtypes=F64, out="bool",
        expected=[[True, False], [False, True]], layout="strided"),
    Row(edge="largest", inputs=([1.7976931348623157e308, 5e-324],), dtypes=F64, out="bool",
        expected=[True, True]),
    Row(edge="complex", inputs=([1 + 1j, complex(inf, 0), complex(0, nan)],), dtypes=COMPLEX,
        out="bool", expected=[True, False, False]),
    refuses="no_integers",
    level=1,
)  # fmt: skip
_EPS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}


def _neighbours(dtype: str) -> Row:
    eps = _EPS[dtype]
    return Row(
        edge="wide", dtypes=(dtype,),
        inputs=([[1.0, 1.0, -1.0], [-1.0, 2.0, 1.0]], [[2.0, 0.0, 0.0], [-inf, inf, 1.0]]),
        expected=[[1 + eps, 1 - eps / 2, -1 + eps / 2], [-1 - eps, 2 + 2 * eps, 1.0]],
        wrt=(0, 1), order=1, smooth=False,
        tangents=([[0.5] * 3] * 2, [[2.0] * 3] * 2), derivative=[[0.5] * 3] * 2,
        note="the step does not vary: dz = dx",
    )  # fmt: skip


NEXTAFTER = table(
    "std::nextafter",
    *(_neighbours(dtype) for dtype in _EPS),
    Row(edge="scalar", inputs=(1.0, 2.0), dtypes=F64, expected=1 + 2.0**-52),
    Row(edge="empty", inputs=(grid(0, 1, 0, 3), grid(0, 1, 0, 3)), dtypes=F64,
        expected=grid(0, 1, 0, 3)),
    Row(edge="non_contiguous", inputs=([[1.0, -1.0]], [[2.0, -2.0]]), dtypes=F64, layout="strided",
        expected=[[1 + 2.0**-52, -1 - 2.0**-52]]),
    Row(edge="nan", inputs=([nan, 1.0], [1.0, nan]), expected=[nan, nan]),
    Row(edge="inf", inputs=([inf, -inf], [0.0, -inf]), dtypes=F64,
        expected=[1.7976931348623157e308, -inf]),
    Row(edge="negative_zero", inputs=([0.0, -0.0], [-0.0, 0.0]), expected=[-0.0, 0.0],
        note="equal numbers give the second"),
    refuses="shapes no_integers no_complex",
    level=1,
)  # fmt: skip


def _sign(edge: str, inputs: tuple[Any, Any], expected: Any, **more: Any) -> Row:
    return Row(edge=edge, inputs=inputs, expected=expected, **more)


COPYSIGN = table(
    "std::copysign",
    *elementwise_rows(away(0.25, 3), away(0.5, 2)),
    _sign("nan", ([nan, 2.0], [1.0, -0.0]), [nan, -2.0]),
    _sign("inf", ([inf, 1.0], [-1.0, -inf]), [-inf, -1.0]),
    _sign("negative_zero", ([0.0, -0.0, 3.0], [-1.0, 1.0, -0.0]), [-0.0, 0.0, -3.0],
          note="a zero has a sign, as a source of it and as its target"),
    _sign("kink", ([0.0, -2.0, 3.0], [1.0, 1.0, -0.0]), [0.0, 2.0, -3.0], wrt=(0,), order=1,
          smooth=False, tangents=([1.0] * 3,), derivative=[0.0, -1.0, -1.0],
          note="the derivative at x = 0 is 0, as that of |x|"),
    refuses="shapes no_integers no_complex",
    meaning=lambda mp, x, y: abs(x) * mp.sign(y),
    level=1,
)  # fmt: skip

TABLES: tuple[Table, ...] = (FLOOR, CEIL, ROUND, REM, IS_FINITE, NEXTAFTER, COPYSIGN)
