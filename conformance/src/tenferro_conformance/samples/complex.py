"""Samples of the complex family: real imag conj complex.

They are linear over the reals only,
so the adjoint law under Re(conj(a)·b) is what fixes their transposes. Read `rows.py` for what
the fields of a row mean.
"""

from __future__ import annotations

from tenferro_conformance.samples.table import (
    COMPLEX,
    FLOATS,
    Meaning,
    Row,
    Table,
    cgrid,
    complex_dtype,
    fine,
    grid,
    real_dtype,
    table,
)

__all__ = ["TABLES"]

inf, nan = float("inf"), float("nan")


def _part_table(name: str, meaning: Meaning, nans: list[float]) -> Table:
    return table(
        f"std::{name}",
        Row(edge="wide", inputs=(cgrid(2, 2, 3),), dtypes=COMPLEX, out=real_dtype, wrt=(0,)),
        Row(
            edge="full_precision",
            inputs=(fine(cgrid(2, 3)),),
            dtypes=("complex128",),
            out=real_dtype,
        ),
        Row(edge="scalar", inputs=(1.5 - 2.5j,), dtypes=COMPLEX, out=real_dtype, wrt=(0,)),
        Row(
            edge="empty",
            inputs=(cgrid(2, 0, 3),),
            dtypes=("complex128",),
            out=real_dtype,
            wrt=(0,),
            order=1,
        ),
        Row(
            edge="non_contiguous",
            inputs=(cgrid(2, 3, 2),),
            dtypes=("complex128",),
            out=real_dtype,
            layout="strided",
        ),
        Row(
            edge="nan", inputs=([complex(nan, 1.0)],), dtypes=COMPLEX, out=real_dtype, expected=nans
        ),
        meaning=meaning,
        level=1,
    )


REAL = _part_table("real", lambda mp, z: mp.mpf(z.real), [nan])
IMAG = _part_table("imag", lambda mp, z: mp.mpf(z.imag), [1.0])
CONJ = table(
    "std::conj",
    Row(edge="wide", inputs=(cgrid(2, 2, 3),), dtypes=COMPLEX, wrt=(0,)),
    Row(edge="full_precision", inputs=(fine(cgrid(2, 3)),), dtypes=("complex128",)),
    Row(edge="scalar", inputs=(1.5 - 2.5j,), dtypes=COMPLEX, wrt=(0,)),
    Row(edge="empty", inputs=(cgrid(2, 0, 3),), dtypes=("complex128",), wrt=(0,), order=1),
    Row(edge="non_contiguous", inputs=(cgrid(2, 3, 2),), dtypes=("complex128",), layout="strided"),
    Row(edge="inf", inputs=([complex(inf, 1.0), complex(1.0, -inf)],), dtypes=COMPLEX,
        expected=[complex(inf, -1.0), complex(1.0, inf)]),
    Row(edge="negative_zero", inputs=([complex(1.0, 0.0)],), dtypes=COMPLEX, expected=[complex(1.0,
        -0.0)]),
    Row(edge="tangent", inputs=([1 + 2j, 3 + 4j],), dtypes=COMPLEX, expected=[1 - 2j, 3 - 4j],
        wrt=(0,),
        tangents=([0.5 + 0.25j, 0.75 + 0.125j],), derivative=[0.5 - 0.25j, 0.75 - 0.125j],
        note="convention 1: the tangent of conj is the conjugate"),
    meaning=lambda mp, x: mp.conj(x),
    level=1,
)  # fmt: skip
COMPLEX_OF = table(
    "std::complex",
    Row(edge="wide", inputs=(grid(-2, 2, 2, 3), grid(-1, 3, 2, 3)), out=complex_dtype, wrt=(0, 1)),
    Row(edge="full_precision", inputs=(fine(grid(-2, 2, 3)), fine(grid(-1, 3, 3))),
        dtypes=("float64",), out=complex_dtype),
    Row(edge="scalar", inputs=(1.5, -2.5), out=complex_dtype, wrt=(0, 1),
        note="convention 1: a real input fed by a complex cotangent takes its real part"),
    Row(edge="empty", inputs=(grid(0, 1, 0, 3), grid(0, 1, 0, 3)), dtypes=("float64",),
        out=complex_dtype,
        wrt=(0, 1), order=1),
    Row(edge="non_contiguous", inputs=(grid(-2, 2, 3, 2), grid(-1, 3, 3, 2)), dtypes=("float64",),
        out=complex_dtype, layout="strided"),
    Row(edge="nan", inputs=([nan, 1.0], [1.0, inf]), dtypes=FLOATS, out=complex_dtype,
        expected=[complex(nan, 1.0), complex(1.0, inf)]),
    Row(edge="negative_zero", inputs=([-0.0, 1.0], [1.0, -0.0]), out=complex_dtype,
        expected=[complex(-0.0, 1.0), complex(1.0, -0.0)]),
    meaning=lambda mp, x, y: mp.mpc(x, y),
    level=1,
)  # fmt: skip

TABLES: tuple[Table, ...] = (REAL, IMAG, CONJ, COMPLEX_OF)
