"""Calls of cuSOLVER and cuBLAS that factorize stacks of matrices in place.

`cupyx.scipy.linalg.lu_factor` reads the status of each matrix on the host, and
`cupy.linalg.cholesky` drops it. Here statuses stay on the device, so nothing waits, and a program
with factorizations can be captured as a CUDA graph. Read next: `lu.py`.
"""

from __future__ import annotations

from math import prod
from typing import Any

__all__ = ["cholesky_in_place", "lu_in_place"]

_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
#: A stack is one batched call if it has a matrix per this many elements of a matrix: CuPy's choice.
_ELEMENTS_PER_MATRIX = 65536


def lu_in_place(xp: Any, columns: Any) -> Any:
    """Factorize matrices that are stored column by column; return LAPACK's pivots, from 1.

    columns: [*s, n, m]   →   pivots: i32[*s, min(m, n)]
    """
    *lead, n, m = columns.shape
    count, letter = prod(lead), _LETTERS[columns.dtype.name]
    pivots = xp.empty((*lead, min(m, n)), "int32")
    status = xp.empty((count,), "int32")
    if m == n and _is_one_call(count, n):
        factorize = getattr(xp.cuda.cublas, f"{letter}getrfBatched")
        handle, places = xp.cuda.device.get_cublas_handle(), _addresses(xp, columns, count)
        factorize(handle, n, places.data.ptr, n, pivots.data.ptr, status.data.ptr, count)
        return pivots
    solver, handle = xp.cuda.cusolver, xp.cuda.device.get_cusolver_handle()
    factorize = getattr(solver, f"{letter}getrf")
    first = columns.data.ptr
    size = getattr(solver, f"{letter}getrf_bufferSize")(handle, m, n, first, m)
    space = xp.empty((size,), columns.dtype)
    for k in range(count):
        matrix = first + k * m * n * columns.dtype.itemsize
        row = pivots.data.ptr + 4 * k * min(m, n)
        factorize(handle, m, n, matrix, m, space.data.ptr, row, status.data.ptr + 4 * k)
    return pivots


def cholesky_in_place(xp: Any, rows: Any) -> Any:
    """Factorize matrices that are stored row by row, reading their lower triangles.

    rows: [*s, n, n]   →   status: i32[*s], 0 where the matrix is positive definite

    The upper triangles keep what they had.
    """
    *lead, n, _ = rows.shape
    count, letter = prod(lead), _LETTERS[rows.dtype.name]
    status = xp.empty((*lead,), "int32")
    solver, handle = xp.cuda.cusolver, xp.cuda.device.get_cusolver_handle()
    upper = xp.cuda.cublas.CUBLAS_FILL_MODE_UPPER  # of the transposed matrix
    if lead and _is_one_call(count, n):
        factorize = getattr(solver, f"{letter}potrfBatched")
        places = _addresses(xp, rows, count)
        factorize(handle, upper, n, places.data.ptr, n, status.data.ptr, count)
        return status
    factorize = getattr(solver, f"{letter}potrf")
    first = rows.data.ptr
    size = getattr(solver, f"{letter}potrf_bufferSize")(handle, upper, n, first, n)
    space = xp.empty((size,), rows.dtype)
    for k in range(count):
        matrix, found = first + k * n * n * rows.dtype.itemsize, status.data.ptr + 4 * k
        factorize(handle, upper, n, matrix, n, space.data.ptr, size, found)
    return status


def _is_one_call(count: int, n: int) -> bool:
    return count > 1 and count * _ELEMENTS_PER_MATRIX >= n * n


def _addresses(xp: Any, stack: Any, count: int) -> Any:
    """Return the addresses of the matrices of a contiguous stack, as an array on the device."""
    start, step = stack.data.ptr, stack.nbytes // count
    return xp.arange(start, start + step * count, step, "uint64")
