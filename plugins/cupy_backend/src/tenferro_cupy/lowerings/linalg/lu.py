"""LU factors on CuPy, the permutation that pivots stand for, and determinants.

Data are not looked at: a singular matrix has a zero on the diagonal of U, as on XLA.
`cupy.linalg.det` is exp of a sum of logarithms, which loses digits where the determinant is large
or small; here it is a product. Read next: `cholesky.py`.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.linalg.determinant import Det
from tenferro.primitives.linalg.lu import Lu, LuPermutation
from tenferro_cupy.lowerings.linalg._solver import lu_in_place

__all__ = ["register"]

_THREADS = 128
_KERNEL = "tenferro_exchanged"
#: One thread for each row of pivots exchanges rows one after the other.
_SOURCE = """
extern "C" __global__ void tenferro_exchanged(const int* pivots, int* order, int count, int exchanges, int size) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= count) return;
  const int* const pivot = pivots + (long long)k * exchanges;
  int* const row = order + (long long)k * size;
  for (int i = 0; i < size; ++i) row[i] = i;
  for (int i = 0; i < exchanges; ++i) {
    const int other = pivot[i], kept = row[i];
    row[i] = row[other];
    row[other] = kept;
  }
}
"""  # noqa: E501 - one line, as compilers of kernels for the CPU read it


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register lu, lu_permutation and det."""

    @lowerings.register(Lu)
    def lu(op: Lu, a: Any) -> tuple[Any, Any, Any]:
        factors, pivots = _factors(xp, a)
        return factors, pivots, _exchanged(xp, pivots, a.shape[-2])

    @lowerings.register(LuPermutation)
    def lu_permutation(op: LuPermutation, pivots: Any) -> Any:
        return _exchanged(xp, pivots, op.size)

    @lowerings.register(Det)
    def det(op: Det, a: Any) -> Any:
        if not a.size:
            return xp.ones(a.shape[:-2], a.dtype)
        factors, pivots = _factors(xp, a)
        moved = xp.not_equal(pivots, xp.arange(a.shape[-1], dtype="int32"))
        signs = xp.where(moved, -1, 1).astype(a.dtype)
        return xp.prod(xp.diagonal(factors, axis1=-2, axis2=-1) * signs, -1)


def _factors(xp: Any, a: Any) -> tuple[Any, Any]:
    """Return L and U in one matrix, and the pivots, counted from 0."""
    columns = a.swapaxes(-1, -2).copy()
    if not a.size:
        return columns.swapaxes(-1, -2), xp.zeros((*a.shape[:-2], min(a.shape[-2:])), "int32")
    pivots = lu_in_place(xp, columns)
    return columns.swapaxes(-1, -2), pivots - 1


def _exchanged(xp: Any, pivots: Any, size: int) -> Any:
    """Return the order of rows after row i was exchanged with row pivots[i], for each i in turn."""
    *lead, exchanges = pivots.shape
    order = xp.empty((*lead, size), "int32")
    if order.size:
        rows = xp.ascontiguousarray(pivots.astype("int32"))
        sizes = [np.int32(n) for n in (prod(lead), exchanges, size)]
        blocks = -(-prod(lead) // _THREADS)
        xp.RawKernel(_SOURCE, _KERNEL)((blocks,), (_THREADS,), (rows, order, *sizes))
    return order
