"""Samples of the hyperbolic family: sinh cosh tanh asinh acosh atanh.

In addition to the shape edges and the complex plane: where exponentials overflow before the
function does, poles, and both sides of the branch cuts. Read `rows.py` for what the fields of a
row mean.
"""

from __future__ import annotations

from functools import partial

from tenferro_conformance.cases.case import Domain
from tenferro_conformance.samples.common_rows import branch_cuts
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
)

__all__ = ["TABLES"]

inf, nan = float("inf"), float("nan")
pi = 3.141592653589793
_any = partial(grid, -2, 2)
_c = partial(cgrid, 1.5)
_POINTS_NEAR_ZERO = [2.0**-30, -(2.0**-20), 2.0**-11]
_ROOT = 3**-0.5
_ACOSH = 1.3169578969248168  # arcosh 2
_ATANH = 0.5493061443340549  # artanh ½


SINH = table(
    "std::sinh",
    *elementwise_rows(_any, complex_inputs=(_c,)),
    *special_values(infs=[inf, -inf], zeros=[-0.0, 0.0]),
    Row(edge="near_zero", inputs=(_POINTS_NEAR_ZERO,), wrt=(0,), order=1),
    Row(edge="large", inputs=([15.5, -33.25, 60.0],), dtypes=FLOATS),
    Row(edge="near_overflow", inputs=([89.0, -88.875],), dtypes=F32),
    Row(edge="near_overflow", inputs=([710.0, -709.875],), dtypes=F64),
    Row(edge="overflow", inputs=([800.0, -800.0],), expected=[inf, -inf]),
    Row(edge="complex_near_zero", inputs=([2.0**-30 + 2.0**-31 * 1j, -(2.0**-20) + 1j],),
        dtypes=COMPLEX),
    refuses="no_integers",
    meaning=lambda mp, x: mp.sinh(x),
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip
COSH = table(
    "std::cosh",
    *elementwise_rows(_any, complex_inputs=(_c,)),
    *special_values(infs=[inf, inf], zeros=[1.0, 1.0]),
    Row(edge="near_zero", inputs=(_POINTS_NEAR_ZERO,), wrt=(0,), order=1),
    Row(edge="large", inputs=([15.5, -33.25, 60.0],), dtypes=FLOATS),
    Row(edge="near_overflow", inputs=([89.0, -88.875],), dtypes=F32),
    Row(edge="near_overflow", inputs=([710.0, -709.875],), dtypes=F64),
    Row(edge="overflow", inputs=([800.0, -800.0],), expected=[inf, inf]),
    refuses="no_integers",
    meaning=lambda mp, x: mp.cosh(x),
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip
TANH = table(
    "std::tanh",
    *elementwise_rows(_any, complex_inputs=(partial(cgrid, 0.75),)),
    *special_values(infs=[1.0, -1.0], zeros=[-0.0, 0.0]),
    Row(edge="saturated", inputs=([30.0, -30.0, 9.0],)),
    Row(edge="near_zero", inputs=(_POINTS_NEAR_ZERO,), wrt=(0,), order=1),
    refuses="no_integers",
    meaning=lambda mp, x: mp.tanh(x),
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip
ASINH = table(
    "std::asinh",
    *elementwise_rows(_any, complex_inputs=(_c,)),
    *special_values(infs=[inf, -inf], zeros=[-0.0, 0.0]),
    Row(edge="near_zero", inputs=(_POINTS_NEAR_ZERO,), wrt=(0,), order=1),
    Row(edge="large", inputs=([2.0**30, -(2.0**100)],), wrt=(0,), order=1,
        note="x² is not formed: it would overflow"),
    Row(edge="very_large", inputs=([2.0**600],), dtypes=F64, wrt=(0,), order=1, smooth=False,
        tangents=([1.0],), derivative=[2.0**-600]),
    branch_cuts([complex(0.0, 2), complex(-0.0, 2), complex(0.0, -2), complex(-0.0, -2)],
         [complex(_ACOSH, pi / 2), complex(-_ACOSH, pi / 2), complex(_ACOSH, -pi / 2),
          complex(-_ACOSH, -pi / 2)],
         [-_ROOT * 1j, _ROOT * 1j, _ROOT * 1j, -_ROOT * 1j]),
    Row(edge="complex_near_pole", inputs=([2.0**-10 + 1j, 2.0**-9 - 1.001953125j],),
        dtypes=COMPLEX, wrt=(0,), order=1),
    refuses="no_integers",
    meaning=lambda mp, x: mp.asinh(x),
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip
ACOSH = table(
    "std::acosh",
    *elementwise_rows(partial(grid, 1.25, 4), complex_inputs=(_c,), domain=Domain(low=1.0)),
    *special_values(infs=[inf, nan]),
    Row(edge="outside", inputs=([0.5, -2.0],), expected=[nan, nan]),
    Row(edge="end", inputs=([1.0],), expected=[0.0], wrt=(0,), order=1, smooth=False,
        tangents=([1.0],), derivative=[inf], note="the derivative at 1 is inf"),
    Row(edge="near_one", inputs=([1 + 2.0**-20, 1 + 2.0**-12],), wrt=(0,), order=1),
    Row(edge="large", inputs=([2.0**30, 2.0**100],), wrt=(0,), order=1,
        note="x² is not formed: it would overflow"),
    branch_cuts([complex(0.5, 0.0), complex(0.5, -0.0), complex(-2, 0.0), complex(-2, -0.0)],
         [complex(0, pi / 3), complex(0, -pi / 3), complex(_ACOSH, pi), complex(_ACOSH, -pi)],
         [-2 * _ROOT * 1j, 2 * _ROOT * 1j, complex(-_ROOT, 0), complex(-_ROOT, 0)]),
    refuses="no_integers",
    meaning=lambda mp, x: mp.acosh(x),
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip
ATANH = table(
    "std::atanh",
    *elementwise_rows(partial(grid, -0.75, 0.75), complex_inputs=(_c,),
                      domain=Domain(low=-1.0, high=1.0)),
    *special_values(infs=[nan, nan], zeros=[-0.0, 0.0]),
    Row(edge="outside", inputs=([1.5, -2.0],), expected=[nan, nan]),
    Row(edge="poles", inputs=([1.0, -1.0],), expected=[inf, -inf], wrt=(0,), order=1, smooth=False,
        tangents=([1.0, 1.0],), derivative=[inf, inf], note="the derivative at ±1 is inf"),
    Row(edge="near_one", inputs=([1 - 2.0**-20, -1 + 2.0**-12],), wrt=(0,), order=1),
    Row(edge="near_zero", inputs=(_POINTS_NEAR_ZERO,), wrt=(0,), order=1),
    branch_cuts([complex(2, 0.0), complex(2, -0.0), complex(-2, 0.0), complex(-2, -0.0)],
         [complex(_ATANH, pi / 2), complex(_ATANH, -pi / 2), complex(-_ATANH, pi / 2),
          complex(-_ATANH, -pi / 2)],
         [complex(-1 / 3, 0)] * 4),
    refuses="no_integers",
    meaning=lambda mp, x: mp.atanh(x),
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip

TABLES: tuple[Table, ...] = (SINH, COSH, TANH, ASINH, ACOSH, ATANH)
