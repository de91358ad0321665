"""Samples of the determinant family: det, and adjugate with its directions, at every rank.

Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.samples.matrices import dominant, ranked
from tenferro_conformance.samples.table import COMPLEX, F64, Grid, Row, cgrid, grid, table

__all__ = ["TABLES"]


def _row(edge: str, *inputs: Grid, **more: Any) -> Row:
    known = {"wrt": tuple(range(len(inputs))), "order": 2, "size": inputs[0].shape[-1], **more}
    return Row(edge=edge, inputs=inputs, **known)


#: of rank 1, with singular values that are exact: what is 0 has no rounding errors to compare with
_SINGLE = Grid((3, 3), (0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0))
_D, _E = grid(-2, 2, 3, 3), grid(-1, 2, 3, 3)
_COMMON = (
    _row("square", dominant(3)),
    _row("complex", dominant(3, is_complex=True), dtypes=COMPLEX),
    _row("one_less", ranked(3, 2), dtypes=F64, condition=64),
    _row("two_less", _SINGLE, dtypes=F64, condition=64),
    _row("zero", Grid((3, 3), (0.0,) * 9), dtypes=F64, condition=64),
    _row("repeated", Grid((3, 3), (2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0))),
    _row("batch", dominant(3, 2, 1), dtypes=F64),
    _row("some_singular", Grid((2, 3, 3), (*ranked(3, 2).flat, *dominant(3).flat)), dtypes=F64,
         condition=64),
    _row("size1", dominant(1), dtypes=F64),
    _row("empty", Grid((0, 0), ()), dtypes=F64, order=1),
    _row("no_batch", Grid((0, 2, 2), ()), dtypes=F64, order=1),
    _row("non_contiguous", dominant(3), dtypes=F64, layout="strided", order=1),
    _row("transposed_memory", dominant(3), dtypes=F64, layout="transposed", order=1),
)  # fmt: skip
DET = table(
    "std::det",
    *_COMMON,
    _row("third_order", grid(-2, 2, 3, 3), dtypes=F64, order=3, condition=8),
    _row("third_order_singular", _SINGLE, dtypes=F64, order=3, condition=64),
    _row("large", dominant(12, shift=5.0), dtypes=F64, order=1, condition=4),
    level=3,
    tol="factorization",
)
ADJUGATE = table(
    "std::adjugate",
    *_COMMON,
    _row("directed", dominant(3), _D, order=1, condition=8),
    _row("directed_complex", cgrid(2, 3, 3), cgrid(1, 3, 3, offset=1), dtypes=("complex128",),
         order=1, condition=8),
    _row("directed_singular", ranked(3, 1), _D, dtypes=F64, order=1, condition=64),
    _row("directed_twice", dominant(3), _D, _E, dtypes=F64, order=1, condition=64),
    _row("directed_twice_singular", ranked(3, 1), _D, _E, dtypes=F64, order=1, condition=256),
    _row("directed_twice_complex", cgrid(2, 3, 3), cgrid(1, 3, 3, offset=1), cgrid(1, 3, 3),
         dtypes=("complex128",), order=1, condition=64),
    _row("directed_empty", Grid((0, 0), ()), Grid((0, 0), ()), dtypes=F64, order=1),
    _row("large", dominant(6, shift=5.0), dtypes=F64, order=1, condition=4),
    level=3,
    tol="factorization",
)  # fmt: skip
TABLES = (DET, ADJUGATE)
