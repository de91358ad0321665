"""Samples of the trigonometric family: sin cos tan asin acos atan atan2 hypot.

In addition to the shape edges and the complex plane: poles, both sides of the branch cuts, and the
origin, where the angle has no derivative. Read `rows.py` for what the fields of a row mean.
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
_inside = partial(grid, -0.75, 0.75)
_c = partial(cgrid, 1.5)
_REAL_CUT = [complex(2, 0.0), complex(2, -0.0), complex(-2, 0.0), complex(-2, -0.0)]
_IMAGINARY_CUT = [complex(0.0, 2), complex(-0.0, 2), complex(0.0, -2), complex(-0.0, -2)]
_ROOT = 3**-0.5
_ACOSH = 1.3169578969248168  # arcosh 2
_ATANH = 0.5493061443340549  # artanh ½


_ASIN_SLOPES = [_ROOT * 1j, -_ROOT * 1j, -_ROOT * 1j, _ROOT * 1j]

SIN = table(
    "std::sin",
    *elementwise_rows(_any, complex_inputs=(_c,)),
    *special_values(infs=[nan, nan], zeros=[-0.0, 0.0]),
    Row(edge="many_turns", inputs=([100.0, -1000.0, 12345.0],), wrt=(0,), order=2),
    refuses="no_integers",
    meaning=lambda mp, x: mp.sin(x),
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip
COS = table(
    "std::cos",
    *elementwise_rows(_any, complex_inputs=(_c,)),
    *special_values(infs=[nan, nan], zeros=[1.0, 1.0]),
    Row(edge="many_turns", inputs=([100.0, -1000.0, 12345.0],), wrt=(0,), order=2),
    refuses="no_integers",
    meaning=lambda mp, x: mp.cos(x),
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip
TAN = table(
    "std::tan",
    *elementwise_rows(partial(grid, -1.25, 1.25), complex_inputs=(partial(cgrid, 0.75),)),
    *special_values(infs=[nan, nan], zeros=[-0.0, 0.0]),
    Row(edge="near_pole", inputs=([1.5703125, -1.5703125],), dtypes=FLOATS, wrt=(0,), order=1),
    refuses="no_integers",
    meaning=lambda mp, x: mp.tan(x),
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip
ASIN = table(
    "std::asin",
    *elementwise_rows(_inside, complex_inputs=(_c,), domain=Domain(low=-1.0, high=1.0)),
    *special_values(infs=[nan, nan], zeros=[-0.0, 0.0]),
    Row(edge="outside", inputs=([1.5, -2.0],), expected=[nan, nan]),
    Row(edge="ends", inputs=([1.0, -1.0],), wrt=(0,), order=1, smooth=False, tangents=([1.0, 1.0],),
        derivative=[inf, inf], note="the derivative at ±1 is inf"),
    Row(edge="near_one", inputs=([1 - 2.0**-20, -1 + 2.0**-12],), wrt=(0,), order=1),
    Row(edge="near_zero", inputs=([2.0**-30, -(2.0**-20), 2.0**-11],), wrt=(0,), order=1),
    branch_cuts(_REAL_CUT,
         [complex(pi / 2, _ACOSH), complex(pi / 2, -_ACOSH), complex(-pi / 2, _ACOSH),
          complex(-pi / 2, -_ACOSH)],
         _ASIN_SLOPES),
    Row(edge="complex_near_one", inputs=([1 + 2.0**-10 * 1j, -1 - 2.0**-9 - 2.0**-10 * 1j],),
        dtypes=COMPLEX, wrt=(0,), order=1),
    Row(edge="complex_large", inputs=([2.0**40 + 2.0**40 * 1j, 2.0**50 - 2.0**45 * 1j],),
        dtypes=COMPLEX, wrt=(0,), order=1),
    refuses="no_integers",
    meaning=lambda mp, x: mp.asin(x),
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip
ACOS = table(
    "std::acos",
    *elementwise_rows(_inside, complex_inputs=(_c,), domain=Domain(low=-1.0, high=1.0)),
    *special_values(infs=[nan, nan]),
    Row(edge="outside", inputs=([1.5, -2.0],), expected=[nan, nan]),
    Row(edge="ends", inputs=([1.0, -1.0],), wrt=(0,), order=1, smooth=False, tangents=([1.0, 1.0],),
        derivative=[-inf, -inf], note="the derivative at ±1 is -inf"),
    Row(edge="near_one", inputs=([1 - 2.0**-20, -1 + 2.0**-12],), wrt=(0,), order=1),
    branch_cuts(_REAL_CUT,
         [complex(0, -_ACOSH), complex(0, _ACOSH), complex(pi, -_ACOSH), complex(pi, _ACOSH)],
         [-slope for slope in _ASIN_SLOPES]),
    Row(edge="complex_near_one", inputs=([1 + 2.0**-10 * 1j, -1 - 2.0**-9 - 2.0**-10 * 1j],),
        dtypes=COMPLEX, wrt=(0,), order=1),
    refuses="no_integers",
    meaning=lambda mp, x: mp.acos(x),
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip
ATAN = table(
    "std::atan",
    *elementwise_rows(_any, complex_inputs=(_c,)),
    *special_values(infs=[pi / 2, -pi / 2], zeros=[-0.0, 0.0]),
    Row(edge="large", inputs=([2.0**20, -(2.0**40)],), wrt=(0,), order=1),
    Row(edge="near_zero", inputs=([2.0**-30, -(2.0**-20), 2.0**-11],), wrt=(0,), order=1),
    branch_cuts(_IMAGINARY_CUT,
         [complex(pi / 2, _ATANH), complex(-pi / 2, _ATANH), complex(pi / 2, -_ATANH),
          complex(-pi / 2, -_ATANH)],
         [complex(-1 / 3, 0)] * 4),
    Row(edge="complex_near_pole", inputs=([2.0**-10 + 1j, 2.0**-9 - 1.001953125j],),
        dtypes=COMPLEX, wrt=(0,), order=1),
    refuses="no_integers",
    meaning=lambda mp, x: mp.atan(x),
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip
ATAN2 = table(
    "std::atan2",
    *elementwise_rows(partial(grid, 0.25, 3), partial(grid, -2, 2)),
    Row(edge="nan", inputs=([nan, 1.0], [1.0, nan]), expected=[nan, nan]),
    Row(edge="axes", inputs=([0.0, -0.0, 0.0, -0.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0, 0.0, 0.0]),
        expected=[0.0, -0.0, pi, -pi, pi / 2, -pi / 2],
        note="the sign of a zero says on which side of the cut a point lies"),
    Row(edge="origin", inputs=([0.0, -0.0, 0.0, -0.0], [0.0, 0.0, -0.0, -0.0]),
        expected=[0.0, -0.0, pi, -pi], wrt=(0, 1), order=1, smooth=False,
        tangents=([1.0] * 4, [1.0] * 4), derivative=[0.0] * 4,
        note="the derivative at the origin is 0, as that of |z|"),
    Row(edge="infinite", inputs=([1.0, 1.0, inf, inf], [inf, -inf, 1.0, inf]),
        expected=[0.0, pi, pi / 2, pi / 4], wrt=(0, 1), order=1, smooth=False,
        tangents=([1.0] * 4, [1.0] * 4), derivative=[0.0] * 4,
        note="convention 5: masks hold at infinity"),
    Row(edge="no_overflow", inputs=([3 * 2.0**100], [4 * 2.0**100]), dtypes=F32, wrt=(0, 1),
        order=1, smooth=False, tangents=([1.0], [1.0]), derivative=[2.0**-100 / 25]),
    Row(edge="no_overflow", inputs=([3 * 2.0**1000], [4 * 2.0**1000]), dtypes=F64, wrt=(0, 1),
        order=1, smooth=False, tangents=([1.0], [1.0]), derivative=[2.0**-1000 / 25]),
    refuses="shapes no_integers no_complex",
    meaning=lambda mp, y, x: mp.atan2(y, x),
    level=1, tol="elementary",
)  # fmt: skip
HYPOT = table(
    "std::hypot",
    *elementwise_rows(_any, partial(grid, -3, 1)),
    Row(edge="nan", inputs=([nan, 1.0], [1.0, nan]), expected=[nan, nan]),
    Row(edge="inf", inputs=([inf, 1.0, nan, -inf], [1.0, -inf, inf, nan]), expected=[inf] * 4,
        note="an infinite part wins over a nan, as in C99"),
    Row(edge="negative_zero", inputs=([-0.0, -2.0], [-0.0, 0.0]), expected=[0.0, 2.0]),
    Row(edge="origin", inputs=([0.0, 3.0], [0.0, 0.0]), expected=[0.0, 3.0], wrt=(0, 1), order=1,
        smooth=False, tangents=([1.0, 1.0], [1.0, 1.0]), derivative=[0.0, 1.0],
        note="the derivative at the origin is 0, as that of |z|"),
    Row(edge="no_overflow", inputs=([3 * 2.0**100], [4 * 2.0**100]), dtypes=F32, wrt=(0, 1),
        order=1, smooth=False, tangents=([1.0], [1.0]), derivative=[1.4]),
    Row(edge="no_overflow", inputs=([3 * 2.0**1000], [4 * 2.0**1000]), dtypes=F64, wrt=(0, 1),
        order=1, smooth=False, tangents=([1.0], [1.0]), derivative=[1.4]),
    Row(edge="no_underflow", inputs=([3 * 2.0**-100], [4 * 2.0**-100]), dtypes=F32),
    refuses="shapes no_integers no_complex",
    meaning=lambda mp, x, y: mp.hypot(x, y),
    level=1, tol="elementary",
)  # fmt: skip

TABLES: tuple[Table, ...] = (SIN, COS, TAN, ASIN, ACOS, ATAN, ATAN2, HYPOT)
