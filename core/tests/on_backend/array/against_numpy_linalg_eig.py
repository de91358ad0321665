"""Rows of eigenproblems.

Vectors are compared by what depends on no phase. Derivatives of Hermitian problems are those of
Hermitian matrices, and differences move all elements alone, so these rows have matrices of size 1.
"""

import numpy as np
from numpy_rows import COMPLEX, REAL, X, row, rows
from table_operands import refused

DTYPES = (*REAL, *COMPLEX, "int64", "bool")
LARGER = X(3, 3), X(2, 4, 4)
ONE, STACK = X(1, 1), X(2, 3, 1, 1)
GENERAL = X(values=[[3, 1, 0], [-1, 0.5, 2], [0.25, 0, -2]])
TURNING = X(values=[[1, -2], [2, 1]])
SHARED = "linalg.eigh linalg.eigvalsh"
EVERY = f"{SHARED} linalg.eig linalg.eigvals"


def whole(result):
    """The values, and the matrix that values and vectors make."""
    w, v = result
    return w, (v * w[..., None, :]) @ np.conj(np.swapaxes(v, -1, -2))


def complex_of(result):
    """What is real where NumPy knows that it is; under jit and vmap nobody does."""
    values = result[0] if isinstance(result, tuple) else result
    return np.sort(values * (1 + 0j))


def moduli(result):
    """The squares of the moduli of the vectors, which have length 1, ordered by their values."""
    return np.sum(np.abs(result[1]) ** 2, axis=-2), np.sort(np.abs(result.eigenvalues))


ROWS = [
    *[row("linalg.eigh", x, dtypes=DTYPES, after=whole) for x in LARGER],
    *[row("linalg.eigh", x, UPLO, dtypes=DTYPES, after=whole) for x in LARGER for UPLO in "LUlu"],
    row("linalg.eigh", X(3, 3), UPLO="U", dtypes=COMPLEX, after=whole),
    *[row("linalg.eigvalsh", x, dtypes=DTYPES) for x in LARGER],
    *[row("linalg.eigvalsh", x, UPLO, dtypes=DTYPES) for x in LARGER for UPLO in "LUlu"],
    row("linalg.eigvalsh", X(3, 3), UPLO="U", dtypes=COMPLEX),
    *[row("linalg.eigvalsh", x, dtypes=REAL, grad=True) for x in (ONE, STACK)],
    *[row("linalg.eigh", x, "U", dtypes=REAL, grad=True, after=whole) for x in (ONE, STACK)],
    *[row("linalg.eigvals", x, dtypes=DTYPES, after=complex_of) for x in (GENERAL, TURNING)],
    *[row("linalg.eig", x, dtypes=DTYPES, after=complex_of) for x in (GENERAL, TURNING)],
    *[row("linalg.eig", x, dtypes=DTYPES, after=moduli) for x in (GENERAL, TURNING)],
    row("linalg.eigvals", GENERAL, dtypes=(*REAL, *COMPLEX), after=complex_of, grad=True),
    row("linalg.eig", GENERAL, dtypes=(*REAL, *COMPLEX), after=complex_of, grad=True),
    *rows("linalg.eigvalsh linalg.eigvals", X(0, 0), dtypes=COMPLEX),
    *rows("linalg.eigvalsh linalg.eigvals", X(0, 2, 2), dtypes=COMPLEX),
    *refused(EVERY, X(2, 3)),
    *refused(EVERY, X(3)),
    *rows(EVERY, X(2, 2), dtypes=("float16",)),
    *refused(SHARED, X(2, 2), "V"),
]  # fmt: skip
