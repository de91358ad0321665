"""The oracle for Pfaffians: the expansion along the first row.

The matrix pf(a) a⁻¹ has minors as entries, B_ij = ±pf(a without rows and columns i and j).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tenferro_conformance.oracle.numbers import Params, Reference, Tensor, mp
from tenferro_conformance.oracle.svd import matrices

__all__ = ["REFERENCES"]

Matrix = Any
_STEP = mp.mpf(10) ** -30


def _pfaffian(entry: Callable[[int, int], Any], places: list[int]) -> Any:
    """Σ_j (-1)ʲ a_0j pf(a without rows and columns 0 and j)"""
    if len(places) % 2:
        return mp.mpf(0)
    if not places:
        return mp.mpf(1)
    first, *rest = places
    return mp.fsum(
        (-1) ** k * entry(first, j) * _pfaffian(entry, [i for i in rest if i != j])
        for k, j in enumerate(rest)
    )


def _skew(a: Matrix) -> Callable[[int, int], Any]:
    return lambda i, j: (a[i, j] - a[j, i]) / 2


def _adjugate(a: Matrix) -> Matrix:
    found, size = mp.matrix(a.rows, a.cols), a.rows
    for i in range(size):
        for j in range(i + 1, size):
            rest = [k for k in range(size) if k not in (i, j)]
            found[i, j] = (-1) ** (i + j) * _pfaffian(_skew(a), rest)
            found[j, i] = -found[i, j]
    return found


def _slope(a: Matrix, e: Matrix) -> Matrix:
    """Differentiate polynomials along e, with a step that leaves 60 digits."""
    return (_adjugate(a + _STEP * e) - _adjugate(a - _STEP * e)) / (2 * _STEP)


def _each(function: Callable[..., Matrix]) -> Reference:
    def apply(params: Params, *operands: Tensor) -> Tensor:
        shape = operands[0].shape
        if 0 in shape:
            return operands[0]
        found = [function(*each) for each in zip(*map(matrices, operands), strict=True)]
        flat = tuple(x[i, j] for x in found for i in range(x.rows) for j in range(x.cols))
        return Tensor(shape, flat)

    return apply


def _value(params: Params, a: Tensor) -> Tensor:
    n = a.shape[-1]
    lead = a.shape[:-2]
    if not n:
        return Tensor.make(lead, lambda index: mp.mpf(1))
    found = tuple(_pfaffian(_skew(x), list(range(n))) for x in matrices(a))
    return Tensor(lead, found)


REFERENCES: Mapping[str, Reference] = {
    "pfaffian": _value,
    "pfaffian_adjugate": _each(_adjugate),
    "pfaffian_slope": _each(_slope),
}
