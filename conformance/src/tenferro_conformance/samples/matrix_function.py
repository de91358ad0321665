"""Samples of functions of matrices, expm sqrtm logm, and their Fréchet derivatives.

The matrices have distinct values, equal ones, and no basis of vectors; all are alike to these
functions. With directions the value is a derivative, whose golden number is a block of the function
of a larger matrix. Read `rows.py` for what the fields of a row mean.
"""

from __future__ import annotations

from math import log, pi
from typing import Any

from tenferro_conformance.samples.table import COMPLEX, F64, FLOATS, Grid, Row, Table, table

__all__ = ["TABLES"]

nan = float("nan")
_C128 = ("complex128",)
#: Eigenvalues in the right half plane, so that there are roots and logarithms.
SQUARE = [[2, 0.5, -0.25], [-0.75, 1.5, 0.5], [0.25, 0.5, 3]]
COMPLEX_SQUARE = [[2 + 1j, 0.5, -0.25j], [-0.75, 1.5 - 0.5j, 0.5], [0.25j, 0.5, 3]]
STACK = [[[2, 0.5], [-0.25, 1]], [[1, -0.75], [0.5, 3]]]
#: The values are 2, 2 and 4, of a full set of vectors.
REPEATED = [[4, 1, -1], [4, 4, -2], [4, 2, 0]]
#: One vector for three equal values.
DEFECTIVE = [[2, 1, 0], [0, 2, 1], [0, 0, 2]]
E, G = [[0.5, 1], [-0.25, 2]], [[1, -0.5], [0.75, 0.25]]
E3 = [[0.5, 1, -1], [-0.25, 2, 0.75], [1.5, -0.5, 1]]
CE = [[0.5 + 1j, 1], [-0.25j, 2]]
NILPOTENT = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
LARGE_MATRIX = Grid((24, 24), tuple(((i * j) % 11 - 5) / 16.0 + 3.0 * (i == j)
                             for i in range(24) for j in range(24)))  # fmt: skip


def _row(function: str, edge: str, *inputs: Any, **more: Any) -> Row:
    """Make a row, by default differentiated twice, in double precision."""
    known = {
        "dtypes": F64, "wrt": tuple(range(len(inputs))), "order": 2, "size": 4, "condition": 4.0,
        **more,
    }  # fmt: skip
    edge = f"{function}_{edge}"
    return Row(edge=edge, inputs=inputs, params={"function": function}, **known)


def _rows(function: str) -> tuple[Row, ...]:
    """Return the edges that each function has."""
    return (
        _row(function, "square", SQUARE, dtypes=FLOATS),
        _row(function, "complex", COMPLEX_SQUARE, dtypes=COMPLEX),
        _row(function, "repeated", REPEATED, condition=16.0),
        _row(function, "defective", DEFECTIVE, condition=16.0),
        _row(function, "batch", STACK, order=1),
        _row(function, "one", [[2.5]], dtypes=FLOATS),
        _row(function, "empty", Grid((0, 0), ()), order=1),
        _row(function, "empty_batch", Grid((0, 2, 2), ()), order=1),
        _row(function, "non_contiguous", SQUARE, order=1, layout="strided"),
        _row(function, "transposed", SQUARE, wrt=(), layout="transposed"),
        _row(function, "along", STACK[0], E, dtypes=FLOATS),
        _row(function, "complex_along", [[2 + 1j, 0.5], [-0.25, 1]], CE, dtypes=COMPLEX, order=1),
        _row(function, "along_two", STACK[0], E, G, order=1),
        _row(function, "along_batch", STACK, [E, G], order=1),
        _row(function, "along_nothing", STACK[0], [[0, 0], [0, 0]], order=1),
        _row(function, "along_small", STACK[0], [[2.0**-30, 0], [2.0**-40, 0]], order=1),
        _row(function, "along_defective", DEFECTIVE, E3, order=1, condition=16.0),
        _row(function, "along_empty", Grid((0, 0), ()), Grid((0, 0), ()), order=1),
    )


MATRIX_FUNCTION = table(
    "std::matrix_function",
    *_rows("expm"),
    *_rows("sqrtm"),
    *_rows("logm"),
    _row("expm", "zero", [[0, 0], [0, 0]], expected=[[1, 0], [0, 1]]),
    _row("expm", "nilpotent", NILPOTENT, expected=[[1, 1, 0.5], [0, 1, 1], [0, 0, 1]]),
    _row("expm", "rank_deficient", [[1, 2], [0.5, 1]]),
    _row("expm", "scaled", [[-30, 8], [12, -40]], order=1, size=16, condition=8.0),
    _row("expm", "small", [[2.0**-30, 2.0**-31], [0, -(2.0**-30)]]),
    _row("expm", "large", LARGE_MATRIX, wrt=(), size=24, condition=2.0),
    _row("sqrtm", "identity", [[1, 0], [0, 1]], expected=[[1, 0], [0, 1]]),
    _row("sqrtm", "scaled", [[2.0**60, 0], [0, 2.0**40]], wrt=(),
         expected=[[2.0**30, 0], [0, 2.0**20]]),
    _row("sqrtm", "negative", [[-1, 0], [0, 4]], wrt=(), expected=[[nan, nan], [nan, nan]],
         note="the root of a real matrix is real or nan"),
    _row("sqrtm", "complex_negative", [[-1, 0], [0, 4]], dtypes=_C128, wrt=(),
         expected=[[1j, 0], [0, 2]]),
    _row("sqrtm", "large", LARGE_MATRIX, wrt=(), size=24),
    _row("logm", "identity", [[1, 0], [0, 1]], expected=[[0, 0], [0, 0]]),
    _row("logm", "near_one", [[1, 2.0**-10], [2.0**-12, 1 + 2.0**-9]], order=1),
    _row("logm", "scaled", [[2.0**20, 0], [2.0**10, 2.0**-10]], order=1, condition=64.0),
    _row("logm", "negative", [[-1, 0], [0, 4]], wrt=(), expected=[[nan, nan], [nan, nan]],
         note="the logarithm of a real matrix is real or nan"),
    _row("logm", "complex_negative", [[-1, 0], [0, 4]], dtypes=_C128, wrt=(),
         expected=[[pi * 1j, 0], [0, 2 * log(2)]]),
    level=3,
    tol="factorization",
)  # fmt: skip

TABLES: tuple[Table, ...] = (MATRIX_FUNCTION,)
