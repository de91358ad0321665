"""Samples of eigenproblems of general matrices: eig and eigvals.

The values come in no order and the vectors in no phase; they are brought into one, see
`observations/eig.py`. Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from functools import partial
from typing import Any

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
#: Values -1.1, 1.1 and 3.1.
REAL = [[3, 0.5, -0.25], [0.25, 1, 0.75], [-0.5, 0.25, -1]]
#: One real value, and a pair 1.0 ± 2.0i.
ROTATING = [[1, -2, 0.5], [2, 1, 0.25], [0.25, 0.5, -2]]
COMPLEX_SQUARE = [[3 + 1j, 0.5, -0.25j], [0.25, 1 - 1j, 0.75], [-0.5j, 0.25, -1 + 0.5j]]
STACK = [[[2, 0.5], [0.25, -1]], [[1, -1.5], [2, 0.5]]]
#: 2 + u vᵀ with u = (1, 2, 2) and v = (2, 1, -1): the values are 2, 2 and 4.
REPEATED = [[4, 1, -1], [4, 4, -2], [4, 2, 0]]
COMPLEX_REPEATED = [[4 + 1j, 1, -1], [4, 4 + 1j, -2], [4, 2, 1j]]
DEFICIENT = [[1, 2, 3], [0.5, 1, 1.5], [-1, 0.25, 2]]


_row = partial(factorization_row, condition=8.0, out=complex_dtype)


def _canonical(edge: str, a: Any, **more: Any) -> Row:
    return _row(edge, a, "vectors", params={"gauge": "canonical"}, **more)


_FIRST = "a first derivative; in the second the space would be split"
EIG = table(
    "std::eig",
    _row("square", REAL, "values", dtypes=FLOATS),
    _row("square_moduli", REAL, "moduli", dtypes=FLOATS, out=real_dtype),
    _row("square_residual", REAL, "residual", wrt=(), dtypes=FLOATS, expected=None),
    _row("rotating", ROTATING, "values", dtypes=FLOATS),
    _row("rotating_moduli", ROTATING, "moduli", out=real_dtype),
    _row("complex", COMPLEX_SQUARE, "values", dtypes=COMPLEX),
    _row("complex_moduli", COMPLEX_SQUARE, "moduli", dtypes=COMPLEX, out=real_dtype),
    _row("batch", STACK, "values"),
    _row("batch_moduli", STACK, "moduli", out=real_dtype),
    _row("size1_axis", [[[2.5]], [[-1.5]]], "values"),
    _row("one", [[-2.5]], "values", dtypes=FLOATS),
    _row("complex_one", [[-2.5 + 1j]], "moduli", dtypes=COMPLEX, out=real_dtype),
    _row("empty", Grid((0, 0), ()), "values", order=1),
    _row("empty_batch", Grid((0, 2, 2), ()), "values", order=1),
    _row("non_contiguous", REAL, "values", order=1, layout="strided"),
    _row("transposed", REAL, "values", wrt=(), layout="transposed"),
    _row("repeated", REPEATED, "cubes", order=1, condition=64.0, note=_FIRST),
    _row("complex_repeated", COMPLEX_REPEATED, "cubes", dtypes=_C128, order=1, condition=64.0,
         note=_FIRST),
    _row("rank_deficient", DEFICIENT, "values"),
    _canonical("canonical", REAL, dtypes=FLOATS),
    _canonical("canonical_rotating", ROTATING),
    _canonical("canonical_complex", COMPLEX_SQUARE, dtypes=COMPLEX),
    level=3,
    tol="factorization",
)  # fmt: skip

EIGVALS = table(
    "std::eigvals",
    _row("square", REAL, "values", dtypes=FLOATS),
    _row("rotating", ROTATING, "values", dtypes=FLOATS),
    _row("complex", COMPLEX_SQUARE, "values", dtypes=COMPLEX),
    _row("batch", STACK, "values"),
    _row("one", [[-2.5]], "values", dtypes=FLOATS),
    _row("empty", Grid((0, 0), ()), "values", order=1),
    _row("empty_batch", Grid((0, 2, 2), ()), "values", order=1),
    _row("non_contiguous", REAL, "values", order=1, layout="strided"),
    _row("repeated", REPEATED, "cubes", order=1, condition=64.0, note=_FIRST),
    _row("rank_deficient", DEFICIENT, "values"),
    level=3,
    tol="factorization",
)

TABLES: tuple[Table, ...] = (EIG, EIGVALS)
