"""Samples of the arithmetic family: add … cbrt. Rules of the conventions table stand here as named
rows.

Special values are stated; everything else comes from the oracle. Read `rows.py` for what the
fields of a row mean.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from tenferro_conformance.cases.case import Domain
from tenferro_conformance.samples.table import (
    COMPLEX,
    F32,
    F64,
    FLOATS,
    INTS,
    SIGNED,
    UNSIGNED,
    Meaning,
    Row,
    Table,
    away,
    cgrid,
    elementwise_rows,
    grid,
    igrid,
    table,
)

__all__ = ["TABLES"]

inf, nan = float("inf"), float("nan")
_wide = partial(grid, -2, 2)
_other = partial(grid, -3, 1)
_positive = partial(grid, 0.25, 4)
_ints = partial(igrid, -6, 7)
_counts = partial(igrid, 1, 5)
_c = partial(cgrid, 2)
_c_far = partial(cgrid, 1, offset=2 + 1j)


def _binary_specials(infs: Any, zeros: Any) -> tuple[Row, ...]:
    """Return rows at NaN, which stays NaN; and with stated results at infinities and zeros."""
    return (
        Row(edge="nan", inputs=([nan, 1.0, nan], [1.0, nan, nan]), expected=[nan] * 3),
        Row(edge="inf", inputs=([inf, inf, -inf], [1.0, -inf, -inf]), expected=infs),
        Row(edge="negative_zero", inputs=([-0.0, -0.0], [-0.0, 0.0]), expected=zeros),
    )


def _wraps(*inputs: Callable[[int], Any], result: Callable[[int], Any]) -> tuple[Row, ...]:
    """Two's-complement wrap at the ends of the signed dtypes; the argument is the smallest one."""
    return tuple(
        Row(
            edge="wrap",
            dtypes=(dtype,),
            inputs=tuple(x(low) for x in inputs),
            expected=result(low),
            note="convention 10: integers wrap in two's complement",
        )
        for dtype in SIGNED
        for low in (-(2 ** (int(dtype[3:]) - 1)),)
    )


def _wraps_unsigned(
    x: Callable[[int], Any], y: Any, result: Callable[[int], Any]
) -> tuple[Row, ...]:
    """Return the same for unsigned integers; the argument is the largest one."""
    return tuple(
        Row(edge="wrap", dtypes=(dtype,), inputs=(x(top), y), expected=result(top),
            note="convention 10: integers wrap in two's complement")
        for dtype in UNSIGNED
        for top in (2 ** int(dtype[4:]) - 1,)
    )  # fmt: skip


ADD = table(
    "std::add",
    *elementwise_rows(_wide, _other, complex_inputs=(_c, _c_far), integer_inputs=(_ints, _counts)),
    *_binary_specials([inf, nan, -inf], [-0.0, 0.0]),
    *_wraps(lambda low: [-low - 1, low], lambda low: [1, -1], result=lambda low: [low, -low - 1]),
    *_wraps_unsigned(lambda top: [top], [2], result=lambda top: [1]),
    Row(edge="large", inputs=(grid(-2, 2, 70, 41), grid(-5, 9, 70, 41)), dtypes=FLOATS),
    refuses="shapes",
    meaning=lambda mp, x, y: x + y,
    level=1, tol="rounded",
)  # fmt: skip
SUB = table(
    "std::sub",
    *elementwise_rows(_wide, _other, complex_inputs=(_c, _c_far), integer_inputs=(_ints, _counts)),
    *_binary_specials([inf, inf, nan], [0.0, -0.0]),
    *_wraps(lambda low: [low, -low - 1], lambda low: [1, -1], result=lambda low: [-low - 1, low]),
    *_wraps_unsigned(lambda top: [0, top], [1, 1], result=lambda top: [top, top - 1]),
    refuses="shapes",
    meaning=lambda mp, x, y: x - y,
    level=1, tol="rounded",
)  # fmt: skip
MUL = table(
    "std::mul",
    *elementwise_rows(_wide, _other, complex_inputs=(_c, _c_far), integer_inputs=(_ints, _counts)),
    *_binary_specials([inf, -inf, inf], [0.0, -0.0]),
    *_wraps(lambda low: [-low - 1, low], lambda low: [2, -1], result=lambda low: [-2, low]),
    *_wraps_unsigned(lambda top: [top], [2], result=lambda top: [top - 1]),
    Row(edge="transpose_conjugates", inputs=([2 + 1j], [1 + 0j]), dtypes=COMPLEX, expected=[2 + 1j],
        wrt=(1,),
        tangents=([1 + 0j],), derivative=[2 + 1j],
        note="convention 1: the JVP of a holomorphic primitive never conjugates"),
    refuses="shapes",
    meaning=lambda mp, x, y: x * y,
    level=1, tol="rounded", tol_complex="complex",
)  # fmt: skip
DIV = table(
    "std::div",
    *elementwise_rows(_wide, away(0.5, 3), complex_inputs=(_c, _c_far), integer_inputs=(_ints,
        _counts),
                      domain=Domain(nonzero=True)),
    *_binary_specials([inf, nan, nan], [nan, nan]),
    Row(edge="by_zero", inputs=([1.0, -1.0, 1.0], [0.0, 0.0, -0.0]), expected=[inf, -inf, -inf]),
    *_wraps(lambda low: [low, 7], lambda low: [-1, 2], result=lambda low: [low, 3]),
    Row(edge="truncates", inputs=([7, -7, 7, -7], [2, 2, -2, -2]), dtypes=SIGNED,
        expected=[3, -3, -3, 3],
        note="convention 10: integer division truncates in the IR"),
    refuses="shapes",
    level=1, tol="rounded", tol_complex="complex",
)  # fmt: skip
NEG = table(
    "std::neg",
    *elementwise_rows(_wide, complex_inputs=(_c,), integer_inputs=(_ints,), unsigned=False),
    *(Row(edge="unsigned", inputs=([0, 1, 5],), dtypes=(d,), expected=[0, top, top - 4],
          note="convention 10: integers wrap in two's complement")
      for d, top in ((d, 2 ** int(d[4:]) - 1) for d in UNSIGNED)),
    Row(edge="nan", inputs=([nan],), expected=[nan]),
    Row(edge="inf", inputs=([inf, -inf],), expected=[-inf, inf]),
    Row(edge="negative_zero", inputs=([-0.0, 0.0],), expected=[0.0, -0.0]),
    *_wraps(lambda low: [low], result=lambda low: [low]),
    refuses="no_bool",
    meaning=lambda mp, x: -x,
    level=1, tol="exact",
)  # fmt: skip


def _magnitude(dtype: str) -> str:
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


ABS = table(
    "std::abs",
    *elementwise_rows(away(0.25, 3), integer_inputs=(_ints,)),
    Row(edge="complex", inputs=(_c_far(2, 3),), dtypes=COMPLEX, out=_magnitude, wrt=(0,),
        tol="complex"),
    Row(edge="nan", inputs=([nan],), expected=[nan]),
    Row(edge="inf", inputs=([inf, -inf],), expected=[inf, inf]),
    Row(edge="negative_zero", inputs=([-0.0],), expected=[0.0]),
    Row(edge="kink", inputs=([0.0, -2.0, 3.0],), expected=[0.0, 2.0, 3.0], wrt=(0,), order=1,
        smooth=False,
        tangents=([1.0, 1.0, 1.0],), derivative=[0.0, -1.0, 1.0],
        note="convention 2: the derivative of |x| at 0 is 0"),
    Row(edge="complex_kink", inputs=([0j, 3 + 4j],), dtypes=COMPLEX, out=_magnitude, expected=[0.0,
        5.0], wrt=(0,), order=1,
        smooth=False, tangents=([1 + 1j, 1j],), derivative=[0.0, 0.8], tol="complex",
        note="convention 2: d|z| = Re(conj(sign z)·dz)"),
    Row(edge="infinite", inputs=([inf, -inf],), expected=[inf, inf], wrt=(0,), order=1,
        smooth=False,
        tangents=([1.0, 1.0],), derivative=[1.0, -1.0],
        note="convention 5: masks hold at infinity"),
    meaning=lambda mp, x: abs(x),
    level=1, tol="exact",
)  # fmt: skip
SIGN = table(
    "std::sign",
    *elementwise_rows(away(0.25, 3), integer_inputs=(_ints,)),
    Row(edge="complex", inputs=([3 + 4j, -5 + 0j, 0j, 0.5j],), dtypes=COMPLEX, expected=[0.6 + 0.8j,
        -1 + 0j, 0j, 1j],
        tol="complex", note="sign of a complex number is z/|z|, and 0 at 0"),
    Row(edge="turn", inputs=([3 + 4j, -5 + 0j, 0.5j],), dtypes=COMPLEX,
        expected=[0.6 + 0.8j, -1 + 0j, 1j], wrt=(0,), order=2, tangents=([1j, 1j, 1 + 1j],),
        derivative=[-0.096 + 0.072j, 0.2j, 2 + 0j], tol="complex",
        note="convention 2: d sign z = (dz - s Re(conj(s) dz))/|z| with s = sign z"),
    Row(edge="complex_zero", inputs=([0j, 2 + 0j],), dtypes=COMPLEX, expected=[0j, 1 + 0j],
        wrt=(0,), order=1, smooth=False, tangents=([1 + 1j, 1 + 1j],), derivative=[0j, 0.5j],
        tol="complex", note="convention 2: the derivative of sign at 0 is 0"),
    Row(edge="nan", inputs=([nan],), expected=[nan]),
    Row(edge="inf", inputs=([inf, -inf],), expected=[1.0, -1.0], wrt=(0,), order=1, smooth=False,
        tangents=([1.0, 1.0],), derivative=[0.0, 0.0],
        note="convention 2: a real sign has zero derivative"),
    Row(edge="zero", inputs=([0.0, 2.0],), expected=[0.0, 1.0], wrt=(0,), order=1, smooth=False,
        tangents=([1.0, 1.0],), derivative=[0.0, 0.0],
        note="convention 2: a real sign has zero derivative"),
    level=1, tol="exact",
)  # fmt: skip


def _extremum(
    name: str,
    meaning: Meaning,
    *,
    of_infinities: list[float],
    ties: tuple[list[float], list[float]],
    beside_zero: tuple[list[float], list[float]],
) -> Table:
    """Return the rows of an extremum; pairs are values and their derivatives along tangents."""
    return table(
        f"std::{name}",
        *elementwise_rows(_wide, _other, integer_inputs=(_ints, _counts)),
        Row(edge="nan", inputs=([nan, 1.0, nan], [1.0, nan, nan]), expected=[nan] * 3,
            note="NaN wins, as in NumPy"),
        Row(edge="inf", inputs=([inf, inf, -inf], [1.0, -inf, -inf]), expected=of_infinities),
        Row(edge="tie", inputs=([1.0, 2.0, 3.0], [1.0, 1.0, 5.0]), expected=ties[0], wrt=(0, 1),
            order=1, smooth=False,
            tangents=([2.0, 2.0, 2.0], [4.0, 4.0, 4.0]), derivative=ties[1],
            note="convention 3: ties share equally among active sides"),
        Row(edge="nan_wins", inputs=([nan, 1.0, nan], [1.0, nan, nan]), expected=[nan] * 3,
            wrt=(0, 1), order=1, smooth=False,
            tangents=([2.0, 2.0, 2.0], [4.0, 4.0, 4.0]), derivative=[3.0, 3.0, 3.0],
            note="convention 3: next to a nan no side loses, so both share"),
        Row(edge="infinite", inputs=([inf, -inf], [0.0, 0.0]), expected=beside_zero[0], wrt=(0,),
            order=1, smooth=False,
            tangents=([1.0, 1.0],), derivative=beside_zero[1],
            note="convention 5: masks hold at infinity"),
        refuses="shapes no_order", meaning=meaning,
        level=1, tol="exact",
    )  # fmt: skip


MAXIMUM = _extremum(
    "maximum",
    lambda mp, x, y: max(x, y),
    of_infinities=[inf, inf, -inf],
    ties=([1.0, 2.0, 5.0], [3.0, 2.0, 4.0]),
    beside_zero=([inf, 0.0], [1.0, 0.0]),
)
MINIMUM = _extremum(
    "minimum",
    lambda mp, x, y: min(x, y),
    of_infinities=[1.0, -inf, -inf],
    ties=([1.0, 1.0, 3.0], [3.0, 4.0, 2.0]),
    beside_zero=([0.0, -inf], [0.0, 1.0]),
)
CLAMP = table(
    "std::clamp",
    *elementwise_rows(partial(grid, -1.5, -0.5), partial(grid, -3, 3), partial(grid, 0.5, 2),
                      integer_inputs=(partial(igrid, -3, 0), _ints, partial(igrid, 1, 4))),
    Row(edge="nan", inputs=([0.0], [nan], [1.0]), expected=[nan]),
    Row(edge="nan_wins", inputs=([0.0, nan, 0.0], [nan, 0.5, 0.5], [1.0, 1.0, nan]),
        expected=[nan] * 3, wrt=(0, 1, 2), order=1, smooth=False,
        tangents=([1.0, 1.0, 1.0], [2.0, 2.0, 2.0], [4.0, 4.0, 4.0]), derivative=[7.0, 7.0, 6.0],
        note="convention 3: whoever is not known to be beyond a bound is active, a nan included"),
    Row(edge="crossed_bounds", inputs=([2.0, 2.0, 2.0], [0.0, 1.5, 3.0], [1.0, 1.0, 1.0]),
        expected=[1.0, 1.0, 1.0], wrt=(0, 2), order=1, smooth=False,
        tangents=([1.0, 1.0, 1.0], [4.0, 4.0, 4.0]), derivative=[4.0, 4.0, 4.0],
        note="convention 3: lo > hi behaves as min(max(x, lo), hi)"),
    Row(edge="inf", inputs=([-1.0, -1.0], [inf, -inf], [1.0, 1.0]), expected=[1.0, -1.0], wrt=(1,),
        order=1, smooth=False,
        tangents=([1.0, 1.0],), derivative=[0.0, 0.0], note="convention 5: masks hold at infinity"),
    Row(edge="bounds", inputs=([0.0] * 5, [-1.0, 0.0, 0.5, 1.0, 2.0], [1.0] * 5), expected=[0.0,
        0.0, 0.5, 1.0, 1.0],
        wrt=(1,), order=1, smooth=False, tangents=([1.0] * 5,), derivative=[0.0, 0.0, 1.0, 0.0,
            0.0],
        note="convention 3: clamp has strict masks, zero at the bounds"),
    Row(edge="crossed", inputs=([2.0, 2.0, 2.0], [0.0, 1.5, 3.0], [1.0, 1.0, 1.0]), expected=[1.0,
        1.0, 1.0], wrt=(1,),
        order=1, smooth=False, tangents=([1.0, 1.0, 1.0],), derivative=[0.0, 0.0, 0.0],
        note="convention 3: lo > hi behaves as min(max(x, lo), hi)"),
    refuses="no_order",
    meaning=lambda mp, lo, x, hi: min(max(x, lo), hi),
    level=1, tol="exact",
)  # fmt: skip
POW = table(
    "std::pow",
    *elementwise_rows(_positive, partial(grid, -2, 3), complex_inputs=(_c_far, _c),
        domain=Domain(low=0.0)),
    Row(edge="integers", inputs=([2, -3, 5, 0, -1], [5, 3, 0, 0, 7]), dtypes=SIGNED, expected=[32,
        -27, 1, 1, -1]),
    Row(edge="unsigned", inputs=([2, 3, 5, 0], [5, 3, 0, 0]), dtypes=UNSIGNED,
        expected=[32, 27, 1, 1]),
    Row(edge="nan", inputs=([nan, nan, 1.0], [2.0, 0.0, nan]), expected=[nan, 1.0, 1.0]),
    Row(edge="inf", inputs=([inf, inf, 2.0, 2.0], [2.0, -1.0, inf, -inf]), expected=[inf, 0.0, inf,
        0.0]),
    Row(edge="zero_base", inputs=([0.0] * 4, [2.0, 1.0, 0.0, 3.0]), expected=[0.0, 0.0, 1.0, 0.0],
        wrt=(0, 1), order=1,
        smooth=False, tangents=([1.0] * 4, [1.0] * 4), derivative=[0.0, 1.0, 0.0, 0.0],
        note="convention 6: x^y at x = 0 is guarded in both derivatives"),
    Row(edge="zero_base_complex", inputs=([0.0] * 3, [0.5 - 2j, 2 + 1j, 0.0]), dtypes=COMPLEX,
        expected=[0.0, 0.0, 1.0]),
    Row(edge="negative_base", inputs=([-2.0, -3.0], [3.0, 2.0]), expected=[-8.0, 9.0], wrt=(0,),
        order=2, smooth=False,
        tangents=([1.0, 1.0],), derivative=[12.0, -6.0],
        note="convention 6: integer powers at negative x"),
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip


def _powers(exponent: int, edge: str) -> tuple[Row, ...]:
    params = {"exponent": exponent}
    return (
        Row(
            edge=edge,
            inputs=(away(0.5, 2)(2, 3),),
            params=params,
            wrt=(0,),
            domain=Domain(nonzero=exponent < 0),
        ),
        Row(edge=f"{edge}_complex", inputs=(_c_far(3),), params=params, dtypes=COMPLEX, wrt=(0,)),
    )


INTEGER_POW = table(
    "std::integer_pow",
    *elementwise_rows(away(0.5, 2), params={"exponent": 3}),
    *_powers(2, "two"),
    *_powers(5, "five"),
    *_powers(-1, "minus_one"),
    *_powers(-3, "minus_three"),
    Row(edge="zero", inputs=([0.0, 2.0, -2.0],), params={"exponent": 0}, expected=[1.0, 1.0, 1.0],
        wrt=(0,), smooth=False,
        tangents=([1.0, 1.0, 1.0],), derivative=[0.0, 0.0, 0.0],
        note="convention 6: x^0 is 1 with derivative 0, at 0 too"),
    Row(edge="one", inputs=([0.0, 2.0],), params={"exponent": 1}, expected=[0.0, 2.0], wrt=(0,),
        smooth=False,
        tangents=([1.0, 1.0],), derivative=[1.0, 1.0]),
    Row(edge="at_zero", inputs=([0.0],), params={"exponent": 2}, expected=[0.0], wrt=(0,),
        smooth=False,
        tangents=([1.0],), derivative=[0.0], note="convention 6: integer powers at x = 0"),
    Row(edge="negative", inputs=([-2.0, -3.0],), params={"exponent": 3}, expected=[-8.0, -27.0],
        tol="exact",
        note="convention 6: integer powers are exact at negative x"),
    Row(edge="integers", inputs=([2, -3, 0, 7],), params={"exponent": 3}, dtypes=INTS, expected=[8,
        -27, 0, 343]),
    Row(edge="narrow_integers", inputs=([2, -3, 0, 5],), params={"exponent": 3},
        dtypes=("int8", "int16"), expected=[8, -27, 0, 125]),
    Row(edge="unsigned", inputs=([2, 3, 0, 5],), params={"exponent": 3}, dtypes=UNSIGNED,
        expected=[8, 27, 0, 125]),
    Row(edge="nan", inputs=([nan],), params={"exponent": 3}, expected=[nan]),
    Row(edge="inf", inputs=([inf, -inf],), params={"exponent": 3}, expected=[inf, -inf]),
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip
SQUARE = table(
    "std::square",
    *elementwise_rows(_wide, complex_inputs=(_c,), integer_inputs=(_ints,)),
    Row(edge="nan", inputs=([nan],), expected=[nan]),
    Row(edge="inf", inputs=([inf, -inf],), expected=[inf, inf]),
    Row(edge="negative_zero", inputs=([-0.0],), expected=[0.0]),
    meaning=lambda mp, x: x * x,
    level=1, tol="rounded", tol_complex="complex",
)  # fmt: skip
SQRT = table(
    "std::sqrt",
    *elementwise_rows(_positive, complex_inputs=(_c_far,), domain=Domain(low=0.0)),
    Row(edge="nan", inputs=([nan, -1.0],), expected=[nan, nan]),
    Row(edge="inf", inputs=([inf],), expected=[inf]),
    Row(edge="negative_zero", inputs=([-0.0, 0.0],), expected=[-0.0, 0.0]),
    Row(edge="zero", inputs=([0.0, 4.0],), expected=[0.0, 2.0], wrt=(0,), order=1, smooth=False,
        tangents=([1.0, 1.0],),
        derivative=[inf, 0.25], note="convention 6: the derivative of sqrt at 0 is inf"),
    Row(edge="complex_quadrants", inputs=(_c(4),), dtypes=COMPLEX, wrt=(0,)),
    refuses="no_integers",
    meaning=lambda mp, x: mp.sqrt(x),
    level=1, tol="rounded", tol_complex="complex",
)  # fmt: skip
RSQRT = table(
    "std::rsqrt",
    *elementwise_rows(_positive, complex_inputs=(_c_far,), domain=Domain(low=0.0)),
    Row(edge="nan", inputs=([nan, -1.0],), expected=[nan, nan]),
    Row(edge="inf", inputs=([inf, 0.0],), expected=[0.0, inf]),
    Row(edge="tiny", inputs=([2.0**-100, 2.0**-40],), dtypes=F32 + F64, expected=[2.0**50,
        2.0**20]),
    refuses="no_integers",
    meaning=lambda mp, x: 1 / mp.sqrt(x),
    level=1, tol="elementary", tol_complex="complex",
)  # fmt: skip

CBRT = table(
    "std::cbrt",
    *elementwise_rows(away(0.25, 3), domain=Domain(nonzero=True)),
    Row(edge="nan", inputs=([nan],), expected=[nan]),
    Row(edge="inf", inputs=([inf, -inf],), expected=[inf, -inf]),
    Row(edge="negative_zero", inputs=([-0.0, 0.0],), expected=[-0.0, 0.0]),
    Row(edge="zero", inputs=([0.0, 8.0],), expected=[0.0, 2.0], wrt=(0,), order=1, smooth=False,
        tangents=([1.0, 1.0],), derivative=[inf, 1 / 12], note="the derivative at 0 is inf"),
    Row(edge="tiny", inputs=([2.0**-99, -(2.0**-99)],), dtypes=FLOATS,
        expected=[2.0**-33, -(2.0**-33)], wrt=(0,), order=1, smooth=False, tangents=([1.0, 1.0],),
        derivative=[2.0**66 / 3, 2.0**66 / 3], note="the square of the root is not formed"),
    Row(edge="tiny", inputs=([2.0**-24],), dtypes=("float16",), expected=[2.0**-8], wrt=(0,),
        order=1, smooth=False, tangents=([1.0],), derivative=[2.0**16 / 3]),
    refuses="no_integers no_complex",
    meaning=lambda mp, x: mp.sign(x) * mp.cbrt(abs(x)),
    level=1, tol="elementary",
)  # fmt: skip

TABLES: tuple[Table, ...] = (
    ADD, SUB, MUL, DIV, NEG, ABS, SIGN, MAXIMUM, MINIMUM, CLAMP, POW, INTEGER_POW, SQUARE, SQRT,
    RSQRT, CBRT,
)  # fmt: skip
