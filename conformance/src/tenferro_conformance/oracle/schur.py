"""The oracle for Schur forms and Sylvester's equation: eigenvalues, and one dense system."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tenferro_conformance.oracle.eigh import number
from tenferro_conformance.oracle.numbers import Params, Reference, Tensor, mp
from tenferro_conformance.oracle.svd import matrices

__all__ = ["REFERENCES"]

Matrix = Any


def _departure(params: Params, a: Matrix) -> Matrix:
    w = mp.eig(a.apply(mp.mpc), left=False, right=False)
    whole = mp.fsum(abs(a[i, j]) ** 2 for i in range(a.rows) for j in range(a.cols))
    return mp.matrix([whole - mp.fsum(abs(x) ** 2 for x in w)])


def _isometry(params: Params, a: Tensor) -> Tensor:
    return Tensor.make(a.shape, lambda index: mp.mpc(a[index] + (index[-1] == index[-2])))


def _product(params: Params, a: Tensor) -> Tensor:
    return a if params.get("real") else a.map(mp.mpc)


def _zero(params: Params, a: Tensor) -> Tensor:
    return a.map(lambda entry: mp.mpf(0) if params.get("real") else mp.mpc(0))


def _equation(is_unknown: Callable[[int, int], bool], a: Matrix, b: Matrix, c: Matrix) -> Matrix:
    """Solve for the unknown entries of X by one system; the others are 0."""
    places = [(i, j) for i in range(c.rows) for j in range(c.cols) if is_unknown(i, j)]
    found = mp.matrix(c.rows, c.cols)
    if not places:
        return found
    system = mp.matrix(len(places), len(places))
    for row, (i, j) in enumerate(places):
        for column, (k, h) in enumerate(places):
            system[row, column] = (a[i, k] if j == h else 0) + (b[h, j] if i == k else 0)
    solved = mp.lu_solve(system, mp.matrix([c[place] for place in places]))
    for place, entry in zip(places, solved, strict=True):
        found[place] = entry
    return found


def _upper(a: Matrix) -> Matrix:
    return mp.matrix([[a[i, j] if i <= j else 0 for j in range(a.cols)] for i in range(a.rows)])


def _triangular(params: Params, a: Matrix, b: Matrix, c: Matrix) -> Matrix:
    left, right = _upper(a), _upper(b)
    if params["adjoint"]:
        left, right = left.H, right.H
    is_unknown = (lambda i, j: i > j) if params["below"] else (lambda i, j: True)
    return _equation(is_unknown, left, right, c)


def _whole(params: Params, a: Matrix, b: Matrix, c: Matrix) -> Matrix:
    left, right = (a.H, b.H) if params["adjoint"] else (a, b)
    return _equation(lambda i, j: True, left, right, c)


def _each(function: Callable[..., Matrix]) -> Reference:
    """Apply a function of three matrices to stacks; the result has the shape of the last."""

    def apply(params: Params, *operands: Tensor) -> Tensor:
        if 0 in operands[-1].shape:
            return operands[-1]
        stacks = zip(*[matrices(x) for x in operands], strict=True)
        found = [function(params, *each) for each in stacks]
        flat = tuple(x[i, j] for x in found for i in range(x.rows) for j in range(x.cols))
        return Tensor(operands[-1].shape, flat)

    return apply


def _factorized(params: Params, *operands: Tensor) -> Tensor:
    a, b, q = operands[0], operands[1], operands[6]
    return _each(_whole)(params, a, b, q)


def _positive(params: Params, *operands: Tensor) -> Tensor:
    """Solve the equation of the Hermitian part of p, which alone is looked at."""

    def solve(params: Params, p: Matrix, q: Matrix) -> Matrix:
        half = (p + p.H) / 2
        return _equation(lambda i, j: True, half, half, q)

    return _each(solve)(params, operands[0], operands[3])


REFERENCES: Mapping[str, Reference] = {
    "schur@product": _product,
    "schur@isometry": _isometry,
    "schur@below": _zero,
    "schur@blocks": _zero,
    "schur@departure": number(_departure),
    "triangular_sylvester": _each(_triangular),
    "sylvester_solve@factorized": _factorized,
    "positive_sylvester@factorized": _positive,
}
