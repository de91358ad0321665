"""Rows of norms and of powers of matrices."""

import numpy as np
from numpy_rows import ALL, COMPLEX, INEXACT, REAL, X, row, rows
from table_operands import refused

inf = np.inf
V, M, T = X(5), X(3, 4), X(2, 3, 4)
WITH_ZERO = X(values=[[1.5, 0, -2], [0, 0, 0]])
SINGULAR = (*REAL, *COMPLEX, "int64")  # no singular values of float16
ORDERS = (None, 0, 1, 2, 3, 4, -1, -2, 0.5, 1.5, -1.5, inf, -inf)
MATRIX_ORDERS = (None, "fro", "f", 1, -1, inf, -inf)
OF_SINGULAR_VALUES = (2, -2, "nuc")

VECTORS = [
    *[row("linalg.norm", V, order, dtypes=ALL, grad=True) for order in ORDERS],
    *[row("linalg.vector_norm", T, ord=order, dtypes=ALL, grad=True) for order in ORDERS],
    *[row("linalg.norm", WITH_ZERO, order, 1, dtypes=INEXACT) for order in ORDERS],
    *rows("linalg.norm linalg.vector_norm", M, axis=-2, keepdims=True, grad=True),
    *rows("linalg.norm linalg.vector_norm", T, ord=3, axis=0, dtypes=REAL, grad=True),
    *rows("linalg.norm linalg.vector_norm", X(0), dtypes=REAL),
    *rows("linalg.norm linalg.vector_norm", X(0), ord=0.5, dtypes=REAL),
    *refused("linalg.norm linalg.vector_norm", X(0), ord=-inf),
    row("linalg.norm", T, grad=True),
    row("linalg.norm", T, None, None, True, grad=True),
    row("linalg.vector_norm", X(), dtypes=REAL, grad=True),
    row("linalg.vector_norm", X(), ord=3, keepdims=True, dtypes=REAL),
    row("linalg.vector_norm", T, axis=(2, 0), ord=1.5, keepdims=True, dtypes=REAL, grad=True),
    row("linalg.vector_norm", X(values=[1, np.nan, np.inf]), ord=1.5, dtypes=REAL),
    row("linalg.vector_norm", X(values=[1, np.inf, 0]), ord=-1.5, dtypes=REAL),
    *refused("linalg.norm linalg.vector_norm", V, ord="fro"),
    *refused("linalg.norm", T, axis=(0, 1, 2)),
    *refused("linalg.norm", T, ord=2),
    *refused("linalg.norm linalg.vector_norm", T, axis=3),
]

MATRICES = [
    *[row("linalg.norm", M, order, grad=True) for order in MATRIX_ORDERS],
    *[row("linalg.norm", T, order, (2, 0), True, grad=True) for order in MATRIX_ORDERS],
    *[row("linalg.norm", T, order, (0, 1), dtypes=REAL) for order in MATRIX_ORDERS],
    *[row("linalg.matrix_norm", T, ord=order, dtypes=REAL, grad=True)
      for order in MATRIX_ORDERS[1:]],
    *[row("linalg.norm", M, order, dtypes=SINGULAR, grad=True) for order in OF_SINGULAR_VALUES],
    *[row("linalg.norm", T, order, (2, 0), True, dtypes=SINGULAR, grad=True)
      for order in OF_SINGULAR_VALUES],
    *[row("linalg.matrix_norm", T, ord=order, dtypes=SINGULAR) for order in OF_SINGULAR_VALUES],
    row("linalg.matrix_norm", T, grad=True),
    row("linalg.matrix_norm", T, keepdims=True, dtypes=REAL),
    *refused("linalg.norm linalg.matrix_norm", M, ord=3),
    *refused("linalg.norm linalg.matrix_norm", M, ord="none"),
    *refused("linalg.norm", T, axis=(1, 1)),
    *refused("linalg.matrix_norm", V),
]  # fmt: skip

POWERS = [
    *[row("linalg.matrix_power", X(3, 3), n, grad=True) for n in (0, 1, 2, 3, 5)],
    row("linalg.matrix_power", X(2, 3, 3), 6, dtypes=INEXACT, grad=True),
    row("linalg.matrix_power", X(2, 3, 3, low=-1, high=3), n=-2, dtypes=SINGULAR, grad=True),
    *refused("linalg.matrix_power", X(2, 3), 2),
    *refused("linalg.matrix_power", X(3), 2),
    *refused("linalg.matrix_power", X(3, 3), 2.0),
    row("linalg.matrix_transpose", T, dtypes=ALL, grad=True),
    *refused("linalg.matrix_transpose", V),
]

ROWS = [*VECTORS, *MATRICES, *POWERS]
