"""Samples of `linear_solve`: the factors are data, so derivatives in the matrix are looked at with
factors that follow it.

Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.samples.matrices import dominant
from tenferro_conformance.samples.table import COMPLEX, F64, Grid, Row, cgrid, grid, table

__all__ = ["TABLES"]

_KINDS = (None, None, "int32", None)


def _solved(edge: str, a: Grid, b: Grid, *, adjoint: bool = False, **more: Any) -> Row:
    """Make a row of the solution as a function of a and b; the stored factors are not used."""
    *lead, n, _ = a.shape
    count = len(a.flat) // (n * n) if n else 0
    unused = Grid((*lead, n), tuple(range(n)) * count)
    known = {"wrt": (0, 3), "order": 2, "size": n, **more}
    return Row(
        edge=edge, inputs=(a, a, unused, b), kinds=_KINDS, params={"adjoint": adjoint},
        observe="factorized", **known,
    )  # fmt: skip


_A, _AC, _B, _BC = dominant(3), dominant(3, is_complex=True), grid(-2, 2, 3, 2), cgrid(2, 3, 2)
_MATRIX, _FACTORS = [[1.0, 2.0], [4.0, 2.0]], [[4.0, 2.0], [0.25, 1.5]]
_ONCE = "the factors that are given are used; they carry no derivative"
TABLES = (
    table(
        "std::linear_solve",
        _solved("square", _A, _B),
        _solved("adjoint", _A, _B, adjoint=True),
        _solved("exchanged", grid(-2, 2, 3, 3), _B, condition=8),
        _solved("vector", _A, grid(-2, 2, 3, 1)),
        _solved("complex", _AC, _BC, dtypes=COMPLEX),
        _solved("complex_adjoint", _AC, _BC, dtypes=COMPLEX, adjoint=True),
        _solved("batch", dominant(2, 2, 2), grid(-2, 2, 2, 2, 2, 3), dtypes=F64),
        _solved("batch_adjoint", dominant(2, 2), cgrid(2, 2, 2, 1), dtypes=("complex128",),
                adjoint=True),
        _solved("size1", dominant(1), grid(-2, 2, 1, 1), dtypes=F64),
        _solved("empty", Grid((0, 0), ()), Grid((0, 2), ()), dtypes=F64, order=1),
        _solved("no_columns", _A, Grid((3, 0), ()), dtypes=F64, order=1),
        _solved("no_batch", Grid((0, 2, 2), ()), Grid((0, 2, 1), ()), dtypes=F64, order=1),
        _solved("non_contiguous", _A, _B, dtypes=F64, layout="strided", order=1),
        _solved("transposed_memory", _A, _B, dtypes=F64, layout="transposed", order=1),
        _solved("large", dominant(24, shift=8.0), grid(-2, 2, 24, 3), order=1, condition=4),
        Row(edge="factors", inputs=(_MATRIX, _FACTORS, [1, 0], [[5.0, 1.0], [8.0, 4.0]]),
            kinds=_KINDS, params={"adjoint": False}, expected=[[1.0, 1.0], [2.0, 0.0]], wrt=(3,),
            order=1, derivative=None, note=_ONCE),
        Row(edge="factors_adjoint", inputs=(_MATRIX, _FACTORS, [1, 0], [[9.0], [6.0]]),
            kinds=_KINDS, params={"adjoint": True}, expected=[[1.0], [2.0]], wrt=(3,),
            order=1, derivative=None, note=_ONCE),
        level=3,
        tol="factorization",
    ),
)  # fmt: skip
