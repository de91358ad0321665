"""Samples of the elementwise family: exp exp2 expm1 log log2 log10 log1p logaddexp logistic.

Each has the shape edges, the complex plane where it has one, its special values,
and the places where naive formulas lose digits.
Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from functools import partial

from tenferro_conformance.cases.case import Domain
from tenferro_conformance.samples.table import (
    COMPLEX,
    F32,
    F64,
    FLOATS,
    Row,
    Table,
    cgrid,
    elementwise_rows,
    grid,
    special_values,
    table,
)  # fmt: skip

__all__ = ["TABLES"]

inf, nan = float("inf"), float("nan")
_any = partial(grid, -2, 2)
_positive = partial(grid, 0.25, 4)
_above_minus_one = partial(grid, -0.75, 3)
_c = partial(cgrid, 1.5)
_c_right = partial(cgrid, 1, offset=2)


EXP = table(
    "std::exp",
    *elementwise_rows(_any, complex_inputs=(_c,)),
    *special_values(infs=[inf, 0.0], zeros=[1.0, 1.0]),
    Row(edge="overflow", inputs=([89.0, 709.0],), dtypes=F32, expected=[inf, inf]),
    Row(edge="overflow", inputs=([709.5, 710.0, -700.0],), dtypes=F64),
    Row(edge="holomorphic", inputs=([0.4 - 0.2j],), dtypes=("complex128",), wrt=(0,),
        note="convention 1: the JVP of a holomorphic primitive never conjugates"),
    Row(edge="large", inputs=(grid(-8, 8, 37, 29),), dtypes=FLOATS),
    refuses="no_integers",
    meaning=lambda mp, x: mp.exp(x),
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip
LOG = table(
    "std::log",
    *elementwise_rows(_positive, complex_inputs=(_c_right,), domain=Domain(low=0.0)),
    *special_values(infs=[inf, nan]),
    Row(edge="zero", inputs=([0.0, -0.0, -1.0],), expected=[-inf, -inf, nan]),
    Row(edge="near_one", inputs=([1 + 2.0**-10, 1 - 2.0**-12, 1.0],), dtypes=FLOATS, wrt=(0,)),
    Row(edge="complex_quadrants", inputs=(_c(2, 2),), dtypes=COMPLEX, wrt=(0,)),
    refuses="no_integers",
    meaning=lambda mp, x: mp.log(x),
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip
EXPM1 = table(
    "std::expm1",
    *elementwise_rows(_any, complex_inputs=(_c,)),
    *special_values(infs=[inf, -1.0], zeros=[-0.0, 0.0]),
    Row(edge="near_zero", inputs=([2.0**-30, -(2.0**-20), 2.0**-11],), wrt=(0,)),
    refuses="no_integers",
    meaning=lambda mp, x: mp.exp(x) - 1,
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip
LOG1P = table(
    "std::log1p",
    *elementwise_rows(_above_minus_one, complex_inputs=(_c_right,), domain=Domain(low=-1.0)),
    *special_values(infs=[inf, nan], zeros=[-0.0, 0.0]),
    Row(edge="near_zero", inputs=([2.0**-30, -(2.0**-20), 2.0**-11],), wrt=(0,)),
    Row(edge="pole", inputs=([-1.0, -2.0],), expected=[-inf, nan]),
    refuses="no_integers",
    meaning=lambda mp, x: mp.log(1 + x),
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip
LOGISTIC = table(
    "std::logistic",
    *elementwise_rows(_any, complex_inputs=(partial(cgrid, 0.75),)),
    *special_values(infs=[1.0, 0.0], zeros=[0.5, 0.5]),
    Row(edge="saturated", inputs=([30.0, -30.0, 60.0, -60.0],)),
    Row(edge="no_overflow", inputs=([800.0, -800.0],), expected=[1.0, 0.0], dtypes=F64),
    refuses="no_integers",
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip
EXP2 = table(
    "std::exp2",
    *elementwise_rows(_any, complex_inputs=(_c,)),
    *special_values(infs=[inf, 0.0], zeros=[1.0, 1.0]),
    Row(edge="exact", inputs=([-3.0, 0.0, 10.0, 100.0],), expected=[0.125, 1.0, 1024.0, 2.0**100],
        tol="exact"),
    Row(edge="large", inputs=([100.25, -90.625, 120.5],), note="x·ln 2 would lose the last digits"),
    Row(edge="overflow", inputs=([128.0, 1024.0],), dtypes=F32, expected=[inf, inf]),
    Row(edge="overflow", inputs=([1023.5, 1024.0, -1000.0],), dtypes=F64, tol="elementary"),
    refuses="no_integers",
    meaning=lambda mp, x: mp.exp(x * mp.log(2)),
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip


def _logarithm(name: str, base: int) -> Table:
    return table(
        f"std::{name}",
        *elementwise_rows(_positive, complex_inputs=(_c_right,), domain=Domain(low=0.0)),
        *special_values(infs=[inf, nan]),
        Row(edge="zero", inputs=([0.0, -0.0, -1.0],), expected=[-inf, -inf, nan]),
        Row(edge="wide_range", inputs=([2.0**-100, 3 * 2.0**90, 2.0**-20],)),
        Row(edge="complex_quadrants", inputs=(_c(2, 2),), dtypes=COMPLEX, wrt=(0,)),
        refuses="no_integers",
        meaning=lambda mp, x: mp.log(x) / mp.log(base),
        level=1, tol="elementary", tol_complex="complex",
    )  # fmt: skip


LOG2 = _logarithm("log2", 2)
LOG10 = _logarithm("log10", 10)
LOGADDEXP = table(
    "std::logaddexp",
    *elementwise_rows(_any, partial(grid, -3, 1)),
    Row(edge="nan", inputs=([nan, 1.0], [1.0, nan]), expected=[nan, nan]),
    Row(edge="inf", inputs=([inf, -inf, 1.0, inf], [1.0, 2.0, -inf, -inf]),
        expected=[inf, 2.0, 1.0, inf]),
    Row(edge="equal_infinities", inputs=([inf, -inf], [inf, -inf]), expected=[inf, -inf],
        wrt=(0, 1), order=1, smooth=False, tangents=([1.0, 1.0], [3.0, 3.0]), derivative=[2.0, 2.0],
        note="convention 3: equal infinities share equally"),
    Row(edge="large", inputs=([700.0, -90.0], [700.5, -1000.0]), wrt=(0, 1), order=1,
        note="the exponentials are not formed"),
    refuses="shapes no_integers no_complex",
    meaning=lambda mp, x, y: mp.log(mp.exp(x) + mp.exp(y)),
    level=1, tol="special",
)  # fmt: skip

TABLES: tuple[Table, ...] = (EXP, LOG, EXPM1, LOG1P, LOGISTIC, EXP2, LOG2, LOG10, LOGADDEXP)
