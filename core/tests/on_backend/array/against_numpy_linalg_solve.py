"""Rows of linear systems, determinants and Cholesky factors.

Derivatives of Cholesky factors are those of Hermitian matrices, and differences move all elements
alone, so these rows have matrices of size 1; the others are in `../linalg/test_solving.py`.
"""

from numpy_rows import COMPLEX, REAL, X, row, rows
from table_operands import refused

DTYPES = (*REAL, *COMPLEX, "int64", "int8", "bool")
INEXACT = (*REAL, *COMPLEX)
A = X(values=[[3, 1, 0], [-1, 2, 1], [0, 1, -2]])
STACK = X(values=[[[2, 1], [1, -1]], [[0, 1], [1, 3]]])
ONES = X(values=[[[4]], [[9]]])
POSITIVE = X(values=[[4, 2, 0], [2, 5, 1], [0, 1, 3]])
LOWER = X(values=[[4, 7], [2, 5]])  # not symmetric: one triangle is read
SINGULAR = X(values=[[1, 2], [2, 4]])
TENSOR = X(values=[[[[2, 1], [0, 1]], [[1, 3], [0, 0]]], [[[0, 1], [4, 1]], [[1, 0], [1, 5]]]])
SQUARE = "linalg.inv linalg.det linalg.slogdet linalg.cholesky"

SOLVE = [
    row("linalg.solve", A, X(3), dtypes=INEXACT, grad=True),
    row("linalg.solve", A, X(3, 2), dtypes=INEXACT, grad=True),
    row("linalg.solve", A, X(3, 2), dtypes=DTYPES[:-1]),
    row("linalg.solve", STACK, X(2), dtypes=INEXACT, grad=True),
    row("linalg.solve", STACK, X(2, 2), dtypes=INEXACT, grad=True),
    row("linalg.solve", A, X(4, 1, 3, 2), dtypes=INEXACT, grad=True),
    row("linalg.solve", STACK, X(4, 1, 2, 3), dtypes=REAL, grad=True),
    row("linalg.solve", A, X(3, dtype="float32"), dtypes=("float64", "complex64", "int64")),
    row("linalg.solve", X(0, 0), X(0, 2), dtypes=REAL),
    row("linalg.solve", A, X(3, 0), dtypes=REAL),
    row("linalg.solve", X(0, 2, 2), X(2), dtypes=REAL),
    *refused("linalg.solve", A, X(2)),
    *refused("linalg.solve", A, X(2, 3)),
    *refused("linalg.solve", X(2, 3), X(2)),
    *refused("linalg.solve", STACK, X(3, 2, 2)),
    *refused("linalg.solve", A, X()),
    row("linalg.solve", A, X(3), dtypes=("float16",)),
]

TENSORS = [
    row("linalg.tensorsolve", A, X(3), dtypes=INEXACT, grad=True),
    row("linalg.tensorsolve", TENSOR, X(2, 2), dtypes=INEXACT, grad=True),
    row("linalg.tensorsolve", TENSOR, X(2, 2), (0, 2), dtypes=REAL, grad=True),
    row("linalg.tensorsolve", TENSOR, X(2, 2), axes=(1, 3), dtypes=REAL),
    row("linalg.tensorinv", TENSOR, dtypes=INEXACT, grad=True),
    row("linalg.tensorinv", TENSOR, 2, dtypes=REAL),
    row("linalg.tensorinv", A, ind=1, dtypes=(*INEXACT, "int64"), grad=True),
    *refused("linalg.tensorinv", TENSOR, ind=1),
    *refused("linalg.tensorinv", TENSOR, ind=0),
    *refused("linalg.tensorsolve", X(2, 3), X(2)),
]

DETERMINANTS = [
    *rows("linalg.inv linalg.det linalg.slogdet", A, dtypes=DTYPES[:-1], grad=True),
    *rows("linalg.inv linalg.det linalg.slogdet", STACK, dtypes=INEXACT, grad=True),
    *rows("linalg.inv linalg.det linalg.slogdet", X(1, 1), dtypes=DTYPES, grad=True),
    *rows("linalg.det linalg.slogdet", SINGULAR, dtypes=REAL),
    row("linalg.det", X(3, 3), dtypes=INEXACT, grad=True),
    *rows(SQUARE, X(0, 0), dtypes=INEXACT),
    *rows(SQUARE, X(0, 2, 2), dtypes=INEXACT),
    *rows(SQUARE, X(2, 2), dtypes=("float16",)),
    *refused(SQUARE, X(2, 3)),
    *refused(SQUARE, X(3)),
]

CHOLESKY = [
    row("linalg.cholesky", POSITIVE, dtypes=(*INEXACT, "int64")),
    row("linalg.cholesky", POSITIVE, upper=True, dtypes=INEXACT),
    row("linalg.cholesky", LOWER, dtypes=REAL),
    row("linalg.cholesky", X(values=[[4, 2], [7, 5]]), upper=True, dtypes=REAL),
    *[row("linalg.cholesky", ONES, upper=up, dtypes=REAL, grad=True) for up in (False, True)],
]

ROWS = [*SOLVE, *TENSORS, *DETERMINANTS, *CHOLESKY]
