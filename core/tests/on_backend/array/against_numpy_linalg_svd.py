"""Rows of singular values, QR, and what rests on them; of factors what depends on no gauge."""

import numpy as np
from numpy_rows import COMPLEX, REAL, X, row
from table_operands import refused

inf = np.inf
TALL = X(values=[[2, 1, 0], [-1, 3, 1], [0.5, -2, 1], [1, 0, -1.5]])
WIDE = X(values=[[2, 1, 0, 1], [-1, 3, 1, 0], [0.5, -2, 1, -1.5]])
SQUARE = X(values=[[2, 1, 0.3], [-1, 3, 1], [0.5, -2, 1]])
STACK = X(values=[[[2, 1], [-1, 3], [0.5, -2]], [[0, 1], [3, 1], [-2, 1.5]]])
RANK_ONE = X(values=[[1, 2, 3], [2, 4, 6], [-1, -2, -3], [0, 0, 0]])
SINGULAR = X(values=[[1, 2], [2, 4]])
HERMITIAN = X(values=[[2, 1, 0.5], [1, -3, 1], [0.5, 1, 1]])
DTYPES = (*REAL, *COMPLEX, "int64", "bool")
DOUBLE = ("float64", "complex128")
EVERY = (*DTYPES, "float16", "uint8")


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def of_svd(found):
    """The values, the product, and the isometries."""
    u, s, vh = found
    k = s.shape[-1]
    product = np.matmul(u[..., :k] * s[..., None, :], vh[..., :k, :])
    return s, product, np.matmul(adjoint(u), u), np.matmul(vh, adjoint(vh))


def of_sums(found):
    """The product in which each pair of vectors has its own weight."""
    u, s, vh = found
    return np.matmul(u * (np.sin(s) + 1)[..., None, :], vh)


def of_qr(found):
    """The product, the isometry, and the moduli of the diagonal of R."""
    q, r = found
    size = np.abs(np.diagonal(r, 0, -2, -1))
    return np.matmul(q, r), np.matmul(adjoint(q), q), size


def of_r(r):
    """What the phases of Q do not change."""
    return np.matmul(adjoint(r), r), np.abs(r)


def of_any_rank(found):
    """All but the residuals, whose shape the rank decides."""
    x, _, rank, s = found
    return x, rank, s


FACTORS = [
    *[row("linalg.svd", x, dtypes=DTYPES, after=of_svd) for x in (TALL, WIDE, SQUARE, STACK)],
    *[row("linalg.svd", x, False, after=of_svd, dtypes=DTYPES)
      for x in (TALL, WIDE, STACK, RANK_ONE, X(1, 1), X(0, 3), X(2, 0, 0), X(0, 3, 2))],
    *[row("linalg.svd", x, full_matrices=False, after=of_sums, dtypes=DOUBLE, grad=True)
      for x in (TALL, WIDE, SQUARE)],
    row("linalg.svd", SQUARE, after=of_sums, dtypes=DOUBLE, grad=True),
    row("linalg.svd", STACK, compute_uv=False, dtypes=EVERY, grad=True),
    row("linalg.svd", HERMITIAN, hermitian=True, after=of_svd, dtypes=DTYPES),
    row("linalg.svd", HERMITIAN, True, False, True, dtypes=DTYPES),
    *[row("linalg.svdvals", x, dtypes=DTYPES, grad=True) for x in (TALL, WIDE)],
    *[row("linalg.qr", x, after=of_qr, dtypes=DTYPES, grad=True) for x in (TALL, WIDE, SQUARE)],
    *[row("linalg.qr", x, "complete", after=of_qr, dtypes=DTYPES) for x in (TALL, WIDE, STACK)],
    *[row("linalg.qr", x, mode="r", after=of_r, dtypes=DTYPES, grad=True) for x in (TALL, WIDE)],
    *[row("linalg.qr", x, "reduced", after=of_qr, dtypes=DOUBLE)
      for x in (X(0, 3), X(3, 0), X(1, 1), X(0, 2, 2))],
    *[row(f"linalg.{name}", X(3), dtypes=REAL) for name in ("svd", "svdvals", "qr")],
    *refused("linalg.qr", SQUARE, "none"),
]  # fmt: skip

DECISIONS = [
    *[row("linalg.pinv", x, dtypes=DTYPES, grad=True) for x in (TALL, WIDE, STACK)],
    row("linalg.pinv", RANK_ONE, 1e-6, dtypes=DTYPES),
    row("linalg.pinv", RANK_ONE, rtol=1e-6, dtypes=DTYPES),
    row("linalg.pinv", X(0, 3), rtol=None, dtypes=DOUBLE),
    row("linalg.pinv", TALL, rtol=None, dtypes=DOUBLE, grad=True),
    row("linalg.pinv", HERMITIAN, hermitian=True, dtypes=DTYPES),
    row("linalg.pinv", STACK, np.array([1e-6, 1e-3]), dtypes=DTYPES, grad=True),
    *refused("linalg.pinv", TALL, 1e-6, rtol=1e-6),
    row("linalg.lstsq", TALL, X(4), dtypes=DTYPES),
    row("linalg.lstsq", RANK_ONE, X(4), after=of_any_rank, dtypes=DTYPES),
    *[row("linalg.lstsq", x, X(m, 2), dtypes=DTYPES)
      for x, m in ((TALL, 4), (WIDE, 3), (SQUARE, 3))],
    row("linalg.lstsq", TALL, X(4, 2, seed=1), rcond=None, dtypes=DOUBLE, grad=True),
    row("linalg.lstsq", TALL, X(4), 0.5, after=of_any_rank, dtypes=DOUBLE),
    row("linalg.lstsq", TALL, X(4), -1, dtypes=DOUBLE),
    row("linalg.lstsq", X(4, 0), X(4), dtypes=DOUBLE),
    *refused("linalg.lstsq", TALL, X(3)),
    *refused("linalg.lstsq", X(3), X(3)),
    *[row("linalg.matrix_rank", x, dtypes=DTYPES)
      for x in (TALL, STACK, RANK_ONE, SINGULAR, X(3), X(), X(2, 0), X(values=[0, 0]))],
    row("linalg.matrix_rank", TALL, 1.5, dtypes=DOUBLE),
    row("linalg.matrix_rank", STACK, tol=X(values=[0.1, 2.0], dtype="float64"), dtypes=DOUBLE),
    row("linalg.matrix_rank", STACK, rtol=X(values=[0.1, 0.9], dtype="float64"), dtypes=DOUBLE),
    row("linalg.matrix_rank", HERMITIAN, hermitian=True, rtol=0.5, dtypes=DTYPES),
    *refused("linalg.matrix_rank", TALL, tol=1.0, rtol=0.1),
    *[row("linalg.cond", SQUARE, p, dtypes=DTYPES[:-1], grad=True)
      for p in (None, 2, -2, "fro", "nuc", 1, -1, inf, -inf)],
    *[row("linalg.cond", x, p=p, dtypes=DOUBLE) for x in (TALL, WIDE, STACK) for p in (2, -2)],
    *[row("linalg.cond", X(values=[[2, 0], [0, 0]]), p, dtypes=DOUBLE)
      for p in (None, -2, "fro", 1, inf)],
    *refused("linalg.cond", TALL, 1),
    *refused("linalg.cond", X(0, 2)),
    *refused("linalg.cond", X(3)),
]  # fmt: skip

ROWS = [*FACTORS, *DECISIONS]
