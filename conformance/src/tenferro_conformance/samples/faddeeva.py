"""Samples of the faddeeva family: complex_erf complex_erfc dawsn wofz.

All quadrants, both axes, a zero of erf, both sides of where the rule changes (|z| = 1 of erf and
Dawson's integral, the imaginary part 6.1 and |z| = 7 of w), the ends of the plane.
Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from tenferro_conformance.samples.table import (
    COMPLEX,
    FLOATS,
    Row,
    Table,
    cgrid,
    elementwise_rows,
    grid,
    table,
)

__all__ = ["TABLES"]

inf, nan = float("inf"), float("nan")
_C128 = ("complex128",)
_c = partial(cgrid, 1.5)


def _at(edge: str, *numbers: complex, **more: Any) -> Row:
    return Row(edge=edge, inputs=(list(numbers),), dtypes=more.pop("dtypes", _C128), **more)


def _plane() -> tuple[Row, ...]:
    """Return the edges of shape, and numbers of all quadrants."""
    return (
        Row(edge="wide", inputs=(_c(2, 3),), dtypes=COMPLEX, wrt=(0,), order=2),
        Row(edge="scalar", inputs=(_c(),), dtypes=_C128, wrt=(0,), order=3),
        Row(edge="empty", inputs=(_c(0, 3),), dtypes=_C128, wrt=(0,), order=1),
        _at("nan", complex(nan, 1.0), expected=[complex(nan, nan)]),
    )


WOFZ = table(
    "std::wofz",
    *_plane(),
    _at("axes", 2.5 + 0j, -0.75 + 0j, 3.5j, -1.25j, wrt=(0,), order=1),
    _at("near_axis", 4.5 + 2.0**-30 * 1j, -6.25 - 2.0**-20 * 1j, 3.125 + 0.0625j, wrt=(0,),
        order=1, condition=16.0, note="the terms of the derivative cancel"),
    _at("upper", 3.0 + 5.0j, -2.0 + 6.5j, 6.25 + 1.0j, wrt=(0,), order=1, condition=16.0),
    _at("large", 40.0 + 3.0j, -1000.5 + 0.5j, 2.0**20 + 2.0**10 * 1j, 12.0 - 1.0j, 7.5 + 7.25j,
        wrt=(0,), order=2),
    _at("lower", 1.5 - 2.0j, -3.0 - 2.5j, wrt=(0,), order=1, condition=16.0),
    _at("infinite", complex(inf, 1.0), complex(1.0, inf), expected=[0j, 0j]),
    refuses="no_integers no_floats",
    meaning=lambda mp, z: mp.exp(-z * z) * mp.erfc(-1j * z),
    level=1, tol="special", tol_complex="complex",
)  # fmt: skip
COMPLEX_ERF = table(
    "std::complex_erf",
    *_plane(),
    _at("axes", 2.5 + 0j, -0.75 + 0j, 3.5j, -1.25j, wrt=(0,), order=1, condition=8.0),
    _at("near_zero", 2.0**-30 + 0j, 2.0**-20 * 1j, 2.0**-11 - 2.0**-12 * 1j, wrt=(0,), order=1),
    _at("around_one", 0.6875 + 0.71875j, 0.75 - 0.71875j, wrt=(0,), order=1),
    _at("root", 1.4375 + 1.875j, condition=64.0, note="a zero of erf is near"),
    _at("large", 4.5 + 3.0j, -5.0 + 4.0j, 3.0 - 4.5j, condition=64.0),
    _at("infinite", complex(inf, 1.0), complex(-inf, 0.0), expected=[1 + 0j, -1 + 0j]),
    refuses="no_integers no_floats",
    meaning=lambda mp, z: mp.erf(z),
    level=1, tol="special", tol_complex="complex",
)  # fmt: skip
COMPLEX_ERFC = table(
    "std::complex_erfc",
    *_plane(),
    _at("axes", 2.5 + 0j, -0.75 + 0j, 3.5j, -1.25j, wrt=(0,), order=1, condition=8.0),
    _at("tail", 4.5 + 1.0j, 6.0 - 3.0j, wrt=(0,), order=1, condition=64.0,
        note="1 - erf z would have no digits left"),
    _at("infinite", complex(inf, 1.0), complex(-inf, 0.0), expected=[0j, 2 + 0j]),
    refuses="no_integers no_floats",
    meaning=lambda mp, z: mp.erfc(z),
    level=1, tol="special", tol_complex="complex",
)  # fmt: skip
DAWSN = table(
    "std::dawsn",
    *elementwise_rows(partial(grid, -2, 2)),
    Row(edge="complex_wide", inputs=(_c(2, 3),), dtypes=COMPLEX, wrt=(0,), order=2),
    Row(edge="nan", inputs=([nan],), expected=[nan]),
    Row(edge="infinite", inputs=([inf, -inf],), expected=[0.0, -0.0]),
    Row(edge="zero", inputs=([0.0, -0.0],), expected=[0.0, -0.0]),
    Row(edge="near_zero", inputs=([2.0**-30, -(2.0**-20), 2.0**-11],), wrt=(0,), order=2),
    Row(edge="large", inputs=([0.875, 1.125, 7.5, -40.5, 1000.25],), dtypes=FLOATS, wrt=(0,),
        order=1),
    _at("complex_axes", 2.5 + 0j, -0.75 + 0j, 3.5j, -1.25j, wrt=(0,), order=1, condition=8.0),
    _at("complex_far", 9.5 + 2.0j, 40.0 - 3.0j, 2.0 + 3.0j, wrt=(0,), order=1, condition=8.0),
    refuses="no_integers",
    meaning=lambda mp, x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x),
    level=1, tol="special", tol_complex="complex",
)  # fmt: skip

TABLES: tuple[Table, ...] = (WOFZ, COMPLEX_ERF, COMPLEX_ERFC, DAWSN)
