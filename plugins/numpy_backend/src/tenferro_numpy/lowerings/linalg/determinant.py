"""Determinants and adjugates on NumPy: by entries, by LU factors, or by singular values.

A stack of matrices of two or three rows takes a few products of whole arrays, where LAPACK takes a
call per matrix. The adjugate of a matrix without a pivot of 0 is det(a) a⁻¹, in an eighth of the
time of singular values.
Read next: `svd.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.linalg.determinant import Det, LargeAdjugate
from tenferro.primitives.linalg.svd import Svd
from tenferro_numpy.lowerings.linalg.svd import decomposed

__all__ = ["register"]

_MIN_MATRICES_FOR_ENTRIES = 16  # from which on products of arrays take less than calls of LAPACK


def register(lowerings: Lowerings) -> None:
    """Register det and large_adjugate."""

    @lowerings.register(Det)
    def det(op: Det, a: Any) -> Any:
        by_entries = _BY_ENTRIES.get(a.shape[-1])
        if by_entries is not None and prod(a.shape[:-2]) >= _MIN_MATRICES_FOR_ENTRIES:
            found = by_entries(a)
            if _is_in_range(a, found):
                return found
        return np.linalg.det(a)

    @lowerings.register(LargeAdjugate)
    def large_adjugate(op: LargeAdjugate, a: Any) -> Any:
        stack = a.reshape(-1, *a.shape[-2:])
        found, is_good = _by_inverse(stack)
        if not is_good.all():
            bad = ~is_good
            found[bad] = _by_svd(stack[bad])
        return found.reshape(a.shape)


def _of_two_rows(a: Any) -> Any:
    return a[..., 0, 0] * a[..., 1, 1] - a[..., 0, 1] * a[..., 1, 0]


def _of_three_rows(a: Any) -> Any:
    """Expand by the first row."""
    x, y, z = (a[..., 1:, j] for j in range(3))
    first = a[..., 0, 0] * (y[..., 0] * z[..., 1] - z[..., 0] * y[..., 1])
    second = a[..., 0, 1] * (x[..., 0] * z[..., 1] - z[..., 0] * x[..., 1])
    third = a[..., 0, 2] * (x[..., 0] * y[..., 1] - y[..., 0] * x[..., 1])
    return first - second + third


_BY_ENTRIES: dict[int, Callable[[Any], Any]] = {2: _of_two_rows, 3: _of_three_rows}


def _is_in_range(a: Any, found: Any) -> bool:
    """Return True if no product of entries overflowed, or lost digits below the normal numbers."""
    limits = np.finfo(a.dtype)
    least, size = np.abs(found).min(), np.abs(found).max()
    largest = max(np.abs(a).max(), 1)
    return bool(size <= limits.max and least > largest * (limits.tiny / limits.eps))


def _by_inverse(a: Any) -> tuple[Any, Any]:
    """Return det(a) a⁻¹, and the mask of the matrices where both are normal numbers.

    Almost singular matrices are among these. Both factors come from the same pivots. A small pivot
    divides the entries of the inverse, and their errors, once, and multiplies the determinant.
    """
    determinant = np.linalg.det(a)
    try:
        inverse = np.linalg.inv(a)
    except np.linalg.LinAlgError:  # a pivot is 0
        return np.empty_like(a), np.zeros(len(a), bool)
    found = inverse * determinant[:, None, None]
    is_good = np.isfinite(found).all((-1, -2))
    return found, is_good & (np.abs(determinant) > np.finfo(a.dtype).tiny)


def _by_svd(a: Any) -> Any:
    """Return V adj(diag s) Uᴴ det(U Vᴴ), at matrices of every rank."""
    u, s, vh = decomposed(Svd(), a)
    before, behind = np.ones_like(s), np.ones_like(s)
    before[:, 1:] = s[:, :-1].cumprod(-1)
    behind[:, :-1] = s[:, :0:-1].cumprod(-1)[:, ::-1]
    phase = np.linalg.det(u @ vh)[:, None, None]
    return (
        (vh.conj().swapaxes(-1, -2) * (before * behind)[:, None])
        @ u.conj().swapaxes(-1, -2)
        * phase
    )
