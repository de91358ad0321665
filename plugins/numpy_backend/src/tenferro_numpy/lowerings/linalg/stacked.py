"""Stacks of small matrices: elimination and substitution of all of them at once.

LAPACK takes one matrix a call, and a call costs more than the arithmetic of a small one. Here each
row of all matrices is one operation on arrays whose last axis is the stack. The pivots are those of
LAPACK. Read next: `lu.py`, `triangular_solve.py`.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

__all__ = ["is_stack_of_small", "stacked_lu", "stacked_triangular"]

_MAX_ROWS = 8
_MIN_MATRICES = 8  # and so many more per row, from which on calls of NumPy cost less than LAPACK's
_MIN_MATRICES_PER_ROW = 4


def is_stack_of_small(*stacks: Any) -> bool:
    """Return True for enough matrices that are small enough."""
    rows: int = max([max(x.shape[-2:]) for x in stacks])
    least = _MIN_MATRICES + _MIN_MATRICES_PER_ROW * rows
    matrices: int = prod(stacks[0].shape[:-2])
    return rows <= _MAX_ROWS and matrices >= least


def stacked_lu(a: Any) -> tuple[Any, Any, Any]:
    """Return factors, pivots and permutation of each matrix: a[permutation] = L U.

    Source   Golub and Van Loan, Matrix Computations, 4th ed., algorithm 3.4.1 (outer products)
    """
    *lead, m, n = a.shape
    w = _stack_last(a)
    every = np.arange(w.shape[-1])
    order = np.repeat(np.arange(m, dtype="int32")[:, None], w.shape[-1], axis=1)
    pivots = np.empty((min(m, n), w.shape[-1]), "int32")
    for j in range(min(m, n)):
        chosen = pivots[j] = j + _size(w[j:, j]).argmax(0)
        _exchange(w, j, chosen, every)
        _exchange(order, j, chosen, every)
        pivot = w[j, j]
        w[j + 1 :, j] /= np.where(pivot == 0, 1, pivot)  # as LAPACK: such a column is 0 already
        w[j + 1 :, j + 1 :] -= w[j + 1 :, j, None] * w[j, j + 1 :]
    return _stack_first(w, lead), _stack_first(pivots, lead), _stack_first(order, lead)


def stacked_triangular(
    a: Any,
    b: Any,
    *,
    left: bool = True,
    lower: bool = True,
    transposed: bool = False,
    conjugated: bool = False,
    unit_diagonal: bool = False,
) -> Any:
    """Solve op(a) x = b, or x op(a) = b, for each matrix; no op(a) has a zero on its diagonal."""
    matrix, x = _stack_last(a), _stack_last(b)
    if conjugated:
        matrix = matrix.conj()
    if not left:  # op(a)ᵀ xᵀ = bᵀ
        x = x.swapaxes(0, 1)
    if transposed == left:
        matrix, lower = matrix.swapaxes(0, 1), not lower
    n = len(matrix)
    for i in range(n) if lower else reversed(range(n)):
        known = slice(0, i) if lower else slice(i + 1, n)
        if known.stop > known.start:
            x[i] -= (matrix[i, known, None] * x[known]).sum(0)
        if not unit_diagonal:
            x[i] /= matrix[i, i]
    return _stack_first(x if left else x.swapaxes(0, 1), b.shape[:-2])


def _stack_last(x: Any) -> Any:
    """Return the matrices of a stack in new memory, [row, column, matrix]."""
    return np.array(x.reshape(-1, *x.shape[-2:]).transpose(1, 2, 0), order="C")


def _stack_first(x: Any, lead: Any) -> Any:
    first = x.transpose(x.ndim - 1, *range(x.ndim - 1))
    return np.ascontiguousarray(first).reshape(*lead, *x.shape[:-1])


def _size(x: Any) -> Any:
    """Return what LAPACK compares to find a pivot."""
    return np.abs(x.real) + np.abs(x.imag) if x.dtype.kind == "c" else np.abs(x)


def _exchange(rows: Any, j: int, chosen: Any, every: Any) -> None:
    """Exchange row j of each matrix with its chosen row."""
    kept = rows[j].copy()
    rows[j] = rows[chosen, ..., every].T
    rows[chosen, ..., every] = kept.T
