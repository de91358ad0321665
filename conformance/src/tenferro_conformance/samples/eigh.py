"""Samples of Hermitian eigenproblems: eigh and eigvalsh.

What depends on no phase is looked at, see `observations/eigh.py`: sums over pairs where the values
are distinct, projectors and sums of cubes where some are equal; in the canonical gauge the vectors
themselves. Tangents are arbitrary; their lower triangle is read. Read `rows.py` for what the
fields mean.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.samples.common_rows import factorization_row as _row
from tenferro_conformance.samples.table import (
    COMPLEX,
    F64,
    FLOATS,
    Grid,
    Row,
    Table,
    real_dtype,
    table,
)

__all__ = ["REAL", "TABLES"]

nan = float("nan")
_C128 = ("complex128",)
#: No two values are near: -1.3, 1.2, 3.1 and -1.8, 0.8, 3.5.
REAL = [[3, 0.5, -0.25], [0.5, 1, 0.75], [-0.25, 0.75, -1]]
HERMITIAN = [[3, 0.5 + 1j, -0.25j], [0.5 - 1j, 1, 0.75], [0.25j, 0.75, -1.5]]
STACK = [[[2, 0.5], [0.5, -1]], [[-3, 1.25], [1.25, 0.5]]]
#: 2 + u uᴴ with u = (1, 2, 2) and (1, 2i, 2): the values are 2, 2 and 11.
REPEATED = [[3, 2, 2], [2, 6, 4], [2, 4, 6]]
COMPLEX_REPEATED = [[3, -2j, 2], [2j, 6, 4j], [2, -4j, 6]]
#: The values are 1, 1, 5, 5.
PAIRED = [[3, 0, 2, 0], [0, 3, 0, 2], [2, 0, 3, 0], [0, 2, 0, 3]]
#: 0 and 14, and 0 twice: (1, 2, 3) times itself, less rounding.
DEFICIENT = [[1, 2, 3], [2, 4, 6], [3, 6, 9]]
LARGE_MATRIX = Grid((40, 40), tuple(((i * j) % 17 - 8 + 3 * (i == j)) / 4.0
                             for i in range(40) for j in range(40)))  # fmt: skip


def _canonical(edge: str, a: Any, **more: Any) -> Row:
    params = {"gauge": "canonical"}
    return _row(edge, a, "vectors", params=params, condition=8.0, **more)


_ONE_SPLIT = "a first derivative; in the second the space would be split"
EIGH = table(
    "std::eigh",
    _row("square", REAL, "pairs", dtypes=FLOATS),
    _row("square_values", REAL, "values", dtypes=FLOATS),
    _row("square_sines", REAL, "sines", dtypes=FLOATS),
    _row("square_product", REAL, "product", order=1),
    _row("square_isometry", REAL, "isometry", wrt=()),
    _row("complex", HERMITIAN, "pairs", dtypes=COMPLEX),
    _row("complex_values", HERMITIAN, "values", dtypes=COMPLEX, out=real_dtype),
    _row("complex_sines", HERMITIAN, "sines", dtypes=_C128),
    _row("complex_isometry", HERMITIAN, "isometry", wrt=(), dtypes=_C128),
    _row("batch", STACK, "pairs"),
    _row("size1_axis", [[[2.5]], [[-1.5]]], "sines"),
    _row("one", [[-2.5]], "sines", dtypes=FLOATS),
    _row("complex_one", [[-2.5 + 0j]], "sines", dtypes=COMPLEX),
    _row("empty", Grid((0, 0), ()), "product", order=1),
    _row("empty_values", Grid((0, 0), ()), "values", order=1),
    _row("empty_batch", Grid((0, 2, 2), ()), "product", order=1),
    _row("non_contiguous", REAL, "sines", order=1, layout="strided"),
    _row("transposed", REAL, "sines", wrt=(), layout="transposed"),
    _row("repeated", REPEATED, "two", dtypes=FLOATS),
    _row("repeated_cubes", REPEATED, "cubes", order=1, dtypes=FLOATS, note=_ONE_SPLIT),
    _row("repeated_values", REPEATED, "values", wrt=()),
    _row("repeated_twice", PAIRED, "two", dtypes=FLOATS),
    _row("complex_repeated", COMPLEX_REPEATED, "two", dtypes=COMPLEX),
    _row("complex_repeated_cubes", COMPLEX_REPEATED, "cubes", dtypes=_C128, out=real_dtype, order=1,
         note=_ONE_SPLIT),
    _row("rank_deficient", DEFICIENT, "two"),
    _row("rank_deficient_cubes", DEFICIENT, "cubes", order=1),
    _row("zero", [[0, 0], [0, 0]], "product", wrt=()),
    _canonical("canonical", REAL, dtypes=FLOATS),
    _canonical("canonical_complex", HERMITIAN, dtypes=COMPLEX),
    _canonical("canonical_batch", STACK),
    _canonical("canonical_empty", Grid((0, 0), ()), order=1),
    _row("large", LARGE_MATRIX, "product", wrt=(), size=40, dtypes=FLOATS, expected=None),
    _row("large_isometry", LARGE_MATRIX, "isometry", wrt=(), size=40),
    Row(edge="unread_triangle", inputs=([[0, nan], [2, 3]],), observe="values",
        expected=[-1, 4], dtypes=F64, note="the lower triangle is read"),
    Row(edge="lower_tangent", inputs=([[1, 0], [0, 3]],), observe="product", wrt=(0,), order=1,
        dtypes=F64, tangents=([[0, nan], [8, 4]],), expected=[[1, 0], [0, 3]],
        derivative=[[0, 8], [8, 4]], smooth=False, note="the lower triangle is read"),
    level=3,
    tol="factorization",
)  # fmt: skip

EIGVALSH = table(
    "std::eigvalsh",
    _row("square", REAL, None, dtypes=FLOATS),
    _row("complex", HERMITIAN, None, dtypes=COMPLEX, out=real_dtype),
    _row("batch", STACK, None),
    _row("one", [[-2.5]], None, dtypes=FLOATS),
    _row("empty", Grid((0, 0), ()), None, order=1),
    _row("empty_batch", Grid((0, 2, 2), ()), None, order=1),
    _row("non_contiguous", REAL, None, order=1, layout="strided"),
    _row("transposed", REAL, None, wrt=(), layout="transposed"),
    _row("repeated", REPEATED, "cubes", order=1, dtypes=FLOATS, note=_ONE_SPLIT),
    _row("complex_repeated", COMPLEX_REPEATED, "cubes", dtypes=_C128, out=real_dtype, order=1),
    _row("rank_deficient", DEFICIENT, "cubes", order=1),
    _row("zero", [[0, 0], [0, 0]], None, wrt=()),
    level=3,
    tol="factorization",
)

TABLES: tuple[Table, ...] = (EIGH, EIGVALSH)
