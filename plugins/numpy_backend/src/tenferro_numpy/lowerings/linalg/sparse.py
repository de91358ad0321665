"""Products and solutions of sparse matrices on NumPy, by `scipy.sparse`.

The last factorizations are kept: a cotangent, a tangent and the next right-hand side have the
matrix of the value. Read next: `lu.py`.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.computegraph import Operation
from tenferro.primitives.linalg.sparse_product import SparseProduct
from tenferro.primitives.linalg.sparse_solve import SparseSolve
from tenferro_numpy.errors import EntryOutsideError, SingularMatrixError
from tenferro_numpy.lowerings.linalg._lapack import refusal

__all__ = ["register"]

_MAX_KEPT = 4
_kept: list[tuple[tuple[Any, ...], Any]] = []  # what was factorized, and the factors; newest last
_lock = Lock()


def register(lowerings: Lowerings) -> None:
    """Register both operations."""
    lowerings.register(SparseProduct)(_product)
    lowerings.register(SparseSolve)(_solution)


def _product(op: SparseProduct, entries: Any, rows: Any, columns: Any, x: Any) -> Any:
    n, k = x.shape
    if not entries.size or not x.size or not op.size:
        return np.zeros((op.size, k), x.dtype)
    if x.dtype.char == "e":  # which SciPy refuses
        _matrix(op, (entries.astype("f"), rows, columns), (op.size, n))  # are they inside?
        found = np.zeros((op.size, k), x.dtype)
        np.add.at(found, rows, entries[:, None] * x[columns])
        return found
    matrix = _matrix(op, (entries, rows, columns), (op.size, n))
    if k == 1:
        return np.reshape(matrix @ x[:, 0], (op.size, 1))  # a number, for one row of one entry
    return np.ascontiguousarray(matrix.tocsr() @ x)


def _matrix(op: Operation, parts: tuple[Any, ...], shape: tuple[int, int]) -> Any:
    """Return the matrix of SciPy. Raises EntryOutsideError."""
    from scipy.sparse import coo_array  # noqa: PLC0415 - slow to import

    entries, rows, columns = parts
    try:
        return coo_array((entries, (rows, columns)), shape=shape)
    except ValueError as error:
        raise EntryOutsideError(
            f"{op.name}: a row or a column of an entry is outside of the matrix\n"
            f"  got        {error}\n"
            f"  need       rows and columns of a matrix {shape[0]} x {shape[1]}",
            primitive=f"std::{op.name}", shape=shape,
        ) from error  # fmt: skip


def _solution(op: SparseSolve, entries: Any, rows: Any, columns: Any, b: Any) -> Any:
    if not b.size:
        return np.empty_like(b)
    x = np.empty(b.shape, b.dtype)
    for place in np.ndindex(entries.shape[:-1]):
        factors = _factors(op, (entries[place], rows, columns), b.shape[-2], place)
        x[place] = factors.solve(np.ascontiguousarray(b[place]), "H" if op.adjoint else "N")
    return x


def _factors(op: SparseSolve, parts: tuple[Any, ...], n: int, place: tuple[int, ...]) -> Any:
    """Return the factors of a matrix, which may be those of an earlier call."""
    wanted = n, *parts
    with _lock:
        for i, (given, factors) in enumerate(_kept):
            if _are_same(given, wanted):
                _kept.append(_kept.pop(i))
                return factors
    found = _factorized(op, parts, n, place)
    copies = n, *[part.copy() for part in parts]  # registers are written again
    with _lock:
        _kept.append((copies, found))
        del _kept[:-_MAX_KEPT]
    return found


def _are_same(given: tuple[Any, ...], wanted: tuple[Any, ...]) -> bool:
    """Return True for the same size, and arrays of the same dtype and bytes."""
    if given[0] != wanted[0]:
        return False
    pairs = zip(given[1:], wanted[1:], strict=True)
    return all([a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in pairs])


def _factorized(op: SparseSolve, parts: tuple[Any, ...], n: int, place: tuple[int, ...]) -> Any:
    from scipy.sparse.linalg import splu  # noqa: PLC0415 - slow to import

    matrix = _matrix(op, parts, (n, n)).tocsc()
    try:
        return splu(matrix)
    except RuntimeError as error:
        fact = f"is singular: {error}"
        raise refusal(SingularMatrixError, SparseSolve.key, fact, place) from None
