"""Samples of Sylvester's equation, for triangular matrices and for any.

The factors of `sylvester_solve` are data, so derivatives in the matrices are looked at with factors
that follow them. Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.samples.matrices import dominant
from tenferro_conformance.samples.table import COMPLEX, F64, FLOATS, Grid, Row, Table, cgrid, grid
from tenferro_conformance.samples.table import table as made

__all__ = ["TABLES"]

_C128 = ("complex128",)
_A, _B, _C = dominant(3), dominant(2, shift=3.0), grid(-2, 2, 3, 2)
_AC, _BC, _CC = dominant(3, is_complex=True), dominant(2, is_complex=True), cgrid(2, 3, 2)
#: Sums of entries of both diagonals are not 0, in the opposite order either. Entries below the
#: diagonal are not read.
_APART = [[2, 0.5, -1], [9, -1, 0.75], [9, 9, 0.5]]
_MINUS = [[-2.5, 1, 0.25], [9, 1.25, -0.5], [9, 9, -1.5]]
_COMPLEX_APART = [[2 + 1j, 0.5j, -1], [9, -1, 0.75], [9, 9j, 0.5 - 2j]]


def _triangles(edge: str, a: Any, b: Any, c: Any, **more: Any) -> Row:
    known = {"wrt": (0, 1, 2), "order": 2, "size": 3, "condition": 8.0, "dtypes": F64, **more}
    adjoint, below = known.pop("adjoint", False), known.pop("below", False)
    params = {"adjoint": adjoint, "below": below}
    return Row(edge=edge, inputs=(a, b, c), params=params, **known)


TRIANGULAR_SYLVESTER = made(
    "std::triangular_sylvester",
    _triangles("whole", _A, _B, _C, dtypes=FLOATS),
    _triangles("adjoint", _A, _B, _C, adjoint=True),
    _triangles("complex", _AC, _BC, _CC, dtypes=COMPLEX),
    _triangles("complex_adjoint", _AC, _BC, _CC, dtypes=_C128, adjoint=True),
    _triangles("below", _APART, _MINUS, grid(-2, 2, 3, 3), below=True),
    _triangles("below_adjoint", _APART, _MINUS, grid(-2, 2, 3, 3), below=True, adjoint=True),
    _triangles("below_complex", _COMPLEX_APART, _MINUS, cgrid(2, 3, 3), below=True, dtypes=_C128),
    _triangles("below_complex_adjoint", _COMPLEX_APART, _MINUS, cgrid(2, 3, 3), below=True,
               adjoint=True, dtypes=_C128),
    _triangles("batch", dominant(2, 2), dominant(2, 2, shift=3.0), grid(-2, 2, 2, 2, 2)),
    _triangles("one", [[2.0]], [[0.5]], [[-1.0]], order=1),
    _triangles("empty", Grid((0, 0), ()), _B, Grid((0, 2), ()), order=1),
    _triangles("no_batch", Grid((0, 2, 2), ()), Grid((0, 1, 1), ()), Grid((0, 2, 1), ()), order=1),
    _triangles("non_contiguous", _A, _B, _C, order=1, layout="strided"),
    level=3,
    tol="factorization",
)  # fmt: skip


def _solved(edge: str, a: Grid, b: Grid, q: Grid, *, adjoint: bool = False, **more: Any) -> Row:
    """Make a row of the solution as a function of a, b and q; the stored factors are not used."""
    known = {"wrt": (0, 1, 6), "order": 2, "size": 3, "condition": 8.0, "dtypes": F64, **more}
    kinds = (None, None, *(_complex_kind(known["dtypes"]),) * 4, None)
    return Row(
        edge=edge, inputs=(a, b, a, a, b, b, q), kinds=kinds, params={"adjoint": adjoint},
        observe="factorized", **known,
    )  # fmt: skip


def _complex_kind(dtypes: tuple[str, ...]) -> str:
    (only,) = dtypes
    return "complex64" if only in ("float32", "complex64") else "complex128"


#: A matrix with one eigenvalue and one eigenvector.
_JORDAN = Grid((2, 2), (2.0, 1.0, 0.0, 2.0))
SYLVESTER_SOLVE = made(
    "std::sylvester_solve",
    _solved("square", _A, _B, _C),
    _solved("single", _A, _B, _C, dtypes=("float32",)),
    _solved("adjoint", _A, _B, _C, adjoint=True),
    _solved("complex", _AC, _BC, _CC, dtypes=_C128),
    _solved("complex_adjoint", _AC, _BC, _CC, dtypes=_C128, adjoint=True),
    _solved("equal_eigenvalues", _JORDAN, _JORDAN, grid(-2, 2, 2, 2), condition=64.0),
    _solved("batch", dominant(2, 2), dominant(2, 2, shift=3.0), grid(-2, 2, 2, 2, 2), order=1),
    _solved("empty", Grid((0, 0), ()), _B, Grid((0, 2), ()), order=1),
    level=3,
    tol="factorization",
)

TABLES: tuple[Table, ...] = (TRIANGULAR_SYLVESTER, SYLVESTER_SOLVE)
