"""Matrices for the tables of factorizations: with a good inverse, positive definite, of given rank.

Entries are exact in single precision. Read `rows.py`, then `triangular_solve.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro_conformance.samples.table import Grid, cgrid, coarse, grid

__all__ = ["dominant", "positive", "ranked"]


def dominant(n: int, *lead: int, shift: float = 3.0, is_complex: bool = False) -> Grid:
    """Square matrices with a good inverse: scattered numbers, and a larger diagonal."""
    found = _scattered(n, *lead, is_complex=is_complex)
    diagonal = {i * n + i for i in range(n)}
    moved = (x + shift if k % (n * n) in diagonal else x for k, x in enumerate(found.flat))
    return Grid(found.shape, tuple(moved))


def _scattered(n: int, *lead: int, is_complex: bool) -> Grid:
    """Make numbers of 8 bits, so that sums of few of their products are exact."""
    if not is_complex:
        return coarse(grid(-1, 1, *lead, n, n))
    found = cgrid(1, *lead, n, n)
    parts = (coarse(Grid((), (z.real, z.imag))).flat for z in found.flat)
    return Grid(found.shape, tuple(complex(*pair) for pair in parts))


def positive(n: int, *lead: int, is_complex: bool = False) -> Grid:
    """Make Hermitian matrices with eigenvalues well above 0: b bᴴ + 1."""
    found = _scattered(n, *lead, is_complex=is_complex)
    flat: list[Any] = []
    for start in range(0, len(found.flat), n * n):
        rows = [found.flat[start + i * n : start + (i + 1) * n] for i in range(n)]
        for i, row in enumerate(rows):
            for j, other in enumerate(rows):
                low = [(y, x) if j > i else (x, y) for x, y in zip(row, other, strict=True)]
                entry = sum(x * _conjugate(y) for x, y in low) + (i == j)
                flat.append(_short(_conjugate(entry) if j > i else entry, real=i == j))
    return Grid(found.shape, tuple(flat))


def _conjugate(x: Any) -> Any:
    return x.conjugate() if isinstance(x, complex) else x


def _short(x: Any, *, real: bool) -> Any:
    """Round the number to single precision; with ``real``, drop its imaginary part."""
    if not isinstance(x, complex):
        return coarse(Grid((), (x,))).flat[0]
    parts = coarse(Grid((), (x.real, 0.0 if real else x.imag))).flat
    return complex(*parts)


def ranked(n: int, rank: int) -> Grid:
    """Make a square matrix of small integers with a known rank, a product of two factors."""
    left = [[(3 * i + 5 * k + i * k) % 7 - 3 for k in range(rank)] for i in range(n)]
    right = [[(2 * j + 3 * k + j * k) % 5 - 2 for j in range(n)] for k in range(rank)]
    places = [(i, j) for i in range(n) for j in range(n)]
    flat = [float(sum(left[i][k] * right[k][j] for k in range(rank))) for i, j in places]
    return Grid((n, n), tuple(flat))
