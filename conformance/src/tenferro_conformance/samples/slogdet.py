"""Samples of `slogdet`: its two outputs are looked at one by one.

Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.samples.matrices import dominant
from tenferro_conformance.samples.table import (
    COMPLEX,
    F64,
    Grid,
    Row,
    cgrid,
    grid,
    real_dtype,
    table,
)

__all__ = ["TABLES"]

inf = float("inf")


def _row(edge: str, a: Grid, **more: Any) -> Row:
    known = {"observe": "logabsdet", "out": real_dtype, "wrt": (0,), "order": 2, **more}
    return Row(edge=edge, inputs=(a,), size=max(1, a.shape[-1]), **known)


def _sign(edge: str, a: Grid, **more: Any) -> Row:
    return _row(edge, a, observe="sign", out=None, **more)


TABLES = (
    table(
        "std::slogdet",
        _row("square", dominant(3)),
        _row("exchanged", grid(-2, 2, 3, 3), condition=8),
        _row("complex", dominant(3, is_complex=True), dtypes=COMPLEX),
        _row("batch", dominant(2, 2, 2), dtypes=F64),
        _row("size1", dominant(1), dtypes=F64),
        _row("empty", Grid((0, 0), ()), dtypes=F64, order=1),
        _row("no_batch", Grid((0, 2, 2), ()), dtypes=F64, order=1),
        _row("non_contiguous", dominant(3), dtypes=F64, layout="strided", order=1),
        _row("transposed_memory", dominant(3), dtypes=F64, layout="transposed", order=1),
        _row("large", dominant(24, shift=8.0), order=1, condition=4),
        _sign("sign", grid(-2, 2, 3, 3), wrt=()),
        _sign("sign_complex", cgrid(2, 3, 3), dtypes=COMPLEX, condition=8),
        _sign("sign_batch", cgrid(2, 2, 2, 2), dtypes=("complex128",), condition=8),
        _sign("sign_empty", Grid((0, 0), ()), dtypes=F64, wrt=()),
        Row(edge="zero_determinant", inputs=([[1.0, 2.0], [2.0, 4.0]],), out=(None, None),
            expected=(0.0, -inf), note="no derivative there"),
        Row(edge="zero_determinant_complex", inputs=([[1j, 2j], [2j, 4j]],), dtypes=COMPLEX,
            out=(None, real_dtype), expected=(0j, -inf)),
        Row(edge="overflow", inputs=([[1e30, 0.0], [0.0, -1e30]],), out=(None, None),
            expected=(-1.0, 138.15510557964274), note="where det overflows in single precision"),
        level=3,
        tol="factorization",
    ),
)  # fmt: skip
