"""Samples of Schur forms. The order of the eigenvalues and the phases are the backend's, so that
observations depend on neither, see `observations/schur.py`.

Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from tenferro_conformance.samples import eig
from tenferro_conformance.samples.common_rows import factorization_row
from tenferro_conformance.samples.table import (
    COMPLEX,
    FLOATS,
    Grid,
    Row,
    Table,
    complex_dtype,
    real_dtype,
    table,
)

__all__ = ["TABLES"]

_C128 = ("complex128",)
#: One eigenvalue 2 with a single eigenvector: a Schur form exists, eigenvectors are no basis.
DEFECTIVE = [[3, 1], [-1, 1]]


_row = partial(factorization_row, condition=16.0, out=complex_dtype)


def _departure(edge: str, a: Any, **more: Any) -> Row:
    return _row(edge, a, "departure", **{"out": real_dtype, **more})


SCHUR = table(
    "std::schur",
    _row("square", eig.REAL, "product", dtypes=FLOATS),
    _row("square_isometry", eig.REAL, "isometry"),
    _row("square_below", eig.REAL, "below"),
    _departure("square_departure", eig.REAL, dtypes=FLOATS),
    _departure("rotating_departure", eig.ROTATING),
    _departure("complex_departure", eig.COMPLEX_SQUARE, dtypes=COMPLEX),
    _row("rotating", eig.ROTATING, "product"),
    _row("complex", eig.COMPLEX_SQUARE, "product", dtypes=COMPLEX),
    _row("complex_isometry", eig.COMPLEX_SQUARE, "isometry", dtypes=_C128),
    _row(
        "complex_moduli",
        eig.COMPLEX_SQUARE,
        "moduli",
        dtypes=_C128,
        out=real_dtype,
        expected=None,
        derivative=None,
    ),
    _row("batch", eig.STACK, "product"),
    _row("one", [[-2.5]], "product", order=1),
    _row("empty", Grid((0, 0), ()), "product", order=1),
    _row("empty_batch", Grid((0, 2, 2), ()), "product", order=1),
    _row("non_contiguous", eig.REAL, "product", order=1, layout="strided"),
    _row("repeated", eig.REPEATED, "product", wrt=()),
    _row("defective", DEFECTIVE, "product", wrt=()),
    _row("real", eig.REAL, "product", wrt=(), params={"real": True}, out=None, dtypes=FLOATS),
    _row("real_rotating", eig.ROTATING, "product", wrt=(), params={"real": True}, out=None),
    _row("real_blocks", eig.ROTATING, "blocks", wrt=(), params={"real": True}, out=None),
    _row("real_empty", Grid((0, 0), ()), "product", wrt=(), params={"real": True}, out=None),
    level=3,
    tol="factorization",
)

TABLES: tuple[Table, ...] = (SCHUR,)
