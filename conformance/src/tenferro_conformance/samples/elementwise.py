"""Samples of the elementwise family: exp log expm1 log1p sin cos tan tanh logistic erf.

Each has the shape edges, the complex plane where it has one, its special values,
and the places where naive formulas lose digits.
Read `table.py` for what the fields of a row mean.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from tenferro_conformance.case import Domain
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
    table,
)  # fmt: skip

__all__ = ["TABLES"]

inf, nan = float("inf"), float("nan")
_any = partial(grid, -2, 2)
_positive = partial(grid, 0.25, 4)
_above_minus_one = partial(grid, -0.75, 3)
_c = partial(cgrid, 1.5)
_c_right = partial(cgrid, 1, offset=2)


def _specials(*, infs: Any, zeros: Any = None) -> tuple[Row, ...]:
    """NaN stays NaN; stated results at (inf, −inf) and at (−0, 0)."""
    rows = [
        Row(edge="nan", inputs=([nan, nan],), expected=[nan, nan]),
        Row(edge="inf", inputs=([inf, -inf],), expected=infs),
    ]
    if zeros is not None:
        rows.append(Row(edge="negative_zero", inputs=([-0.0, 0.0],), expected=zeros))
    return tuple(rows)


EXP = table(
    "std::exp",
    *elementwise_rows(_any, complex_inputs=(_c,)),
    *_specials(infs=[inf, 0.0], zeros=[1.0, 1.0]),
    Row(edge="overflow", inputs=([89.0, 709.0],), dtypes=F32, expected=[inf, inf]),
    Row(edge="overflow", inputs=([709.5, 710.0, -700.0],), dtypes=F64),
    Row(edge="holomorphic", inputs=([0.4 - 0.2j],), dtypes=("complex128",), wrt=(0,),
        note="convention 1: the JVP of a holomorphic primitive never conjugates"),
    Row(edge="large", inputs=(grid(-8, 8, 37, 29),), dtypes=FLOATS),
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip
LOG = table(
    "std::log",
    *elementwise_rows(_positive, complex_inputs=(_c_right,), domain=Domain(low=0.0)),
    *_specials(infs=[inf, nan]),
    Row(edge="zero", inputs=([0.0, -0.0, -1.0],), expected=[-inf, -inf, nan]),
    Row(edge="near_one", inputs=([1 + 2.0**-10, 1 - 2.0**-12, 1.0],), dtypes=FLOATS, wrt=(0,)),
    Row(edge="complex_quadrants", inputs=(_c(2, 2),), dtypes=COMPLEX, wrt=(0,)),
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip
EXPM1 = table(
    "std::expm1",
    *elementwise_rows(_any, complex_inputs=(_c,)),
    *_specials(infs=[inf, -1.0], zeros=[-0.0, 0.0]),
    Row(edge="near_zero", inputs=([2.0**-30, -(2.0**-20), 2.0**-11],), wrt=(0,)),
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip
LOG1P = table(
    "std::log1p",
    *elementwise_rows(_above_minus_one, complex_inputs=(_c_right,), domain=Domain(low=-1.0)),
    *_specials(infs=[inf, nan], zeros=[-0.0, 0.0]),
    Row(edge="near_zero", inputs=([2.0**-30, -(2.0**-20), 2.0**-11],), wrt=(0,)),
    Row(edge="pole", inputs=([-1.0, -2.0],), expected=[-inf, nan]),
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip
SIN = table(
    "std::sin",
    *elementwise_rows(_any, complex_inputs=(_c,)),
    *_specials(infs=[nan, nan], zeros=[-0.0, 0.0]),
    Row(edge="many_turns", inputs=([100.0, -1000.0, 12345.0],), wrt=(0,), order=2),
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip
COS = table(
    "std::cos",
    *elementwise_rows(_any, complex_inputs=(_c,)),
    *_specials(infs=[nan, nan], zeros=[1.0, 1.0]),
    Row(edge="many_turns", inputs=([100.0, -1000.0, 12345.0],), wrt=(0,), order=2),
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip
TAN = table(
    "std::tan",
    *elementwise_rows(partial(grid, -1.25, 1.25), complex_inputs=(partial(cgrid, 0.75),)),
    *_specials(infs=[nan, nan], zeros=[-0.0, 0.0]),
    Row(edge="near_pole", inputs=([1.5703125, -1.5703125],), dtypes=FLOATS, wrt=(0,), order=1),
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip
TANH = table(
    "std::tanh",
    *elementwise_rows(_any, complex_inputs=(partial(cgrid, 0.75),)),
    *_specials(infs=[1.0, -1.0], zeros=[-0.0, 0.0]),
    Row(edge="saturated", inputs=([30.0, -30.0, 9.0],)),
    Row(edge="near_zero", inputs=([2.0**-30, -(2.0**-20), 2.0**-11],), wrt=(0,), order=1),
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip
LOGISTIC = table(
    "std::logistic",
    *elementwise_rows(_any, complex_inputs=(partial(cgrid, 0.75),)),
    *_specials(infs=[1.0, 0.0], zeros=[0.5, 0.5]),
    Row(edge="saturated", inputs=([30.0, -30.0, 60.0, -60.0],)),
    Row(edge="no_overflow", inputs=([800.0, -800.0],), expected=[1.0, 0.0], dtypes=F64),
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip
ERF = table(
    "std::erf",
    *elementwise_rows(_any),
    *_specials(infs=[1.0, -1.0], zeros=[-0.0, 0.0]),
    Row(edge="saturated", inputs=([6.0, -7.0, 3.5],)),
    Row(edge="near_zero", inputs=([2.0**-30, -(2.0**-20), 2.0**-11],), wrt=(0,), order=1),
    level=1, tol="elementary",
)  # fmt: skip

TABLES: tuple[Table, ...] = (EXP, LOG, EXPM1, LOG1P, SIN, COS, TAN, TANH, LOGISTIC, ERF)
