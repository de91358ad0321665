"""The oracle for eigenproblems of general matrices: mpmath's, in the order of the values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenferro_conformance.oracle.eigh import canonical_column, number, of_square, vector
from tenferro_conformance.oracle.numbers import Params, Reference, Tensor, mp

__all__ = ["REFERENCES"]

Matrix = Any
_CELL = mp.mpf(10) ** 10  # real parts that differ by less are equal: those of conjugate pairs


def _eig(a: Matrix) -> tuple[list[Any], list[list[Any]]]:
    """Return the values, by real then by imaginary parts, and their canonical vectors."""
    w, v = mp.eig(a.apply(mp.mpc))

    def key(k: int) -> tuple[Any, Any]:
        return mp.nint(mp.re(w[k]) * _CELL), mp.im(w[k])

    order = sorted(range(a.rows), key=key)
    columns = [canonical_column([v[i, k] for i in range(a.rows)]) for k in order]
    return [mp.mpc(w[k]) for k in order], columns


def _values(params: Params, a: Matrix) -> Matrix:
    return mp.matrix(_eig(a)[0])


def _cubes(params: Params, a: Matrix) -> Matrix:
    x = a**3
    return mp.matrix([mp.mpc(mp.fsum(x[i, i] for i in range(a.rows)))])


def _vectors(params: Params, a: Matrix) -> Matrix:
    return _beside(_eig(a)[1]).apply(mp.mpc)


def _moduli(params: Params, a: Matrix) -> Matrix:
    return _beside(_eig(a)[1]).apply(lambda x: abs(x) ** 2)


def _beside(columns: list[list[Any]]) -> Matrix:
    return mp.matrix(columns).T


def _zero(params: Params, a: Tensor) -> Tensor:
    return a.map(lambda entry: mp.mpc(0))


REFERENCES: Mapping[str, Reference] = {
    "eig@values": vector(_values),
    "eig@cubes": number(_cubes),
    "eig@vectors": of_square(_vectors),
    "eig@moduli": of_square(_moduli),
    "eig@residual": _zero,
    "eigvals@values": vector(_values),
    "eigvals@cubes": number(_cubes),
}
