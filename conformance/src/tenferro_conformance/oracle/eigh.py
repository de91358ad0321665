"""The oracle for Hermitian eigenproblems: mpmath's, of the Hermitian matrix of a lower triangle."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tenferro_conformance.oracle.numbers import Params, Reference, Tensor, mp
from tenferro_conformance.oracle.svd import matrices

__all__ = ["REFERENCES", "canonical_column", "number", "of_square", "vector"]

Matrix = Any


def _eigh(a: Matrix) -> tuple[list[Any], list[list[Any]]]:
    """Return the values, increasing, and their vectors."""
    w, v = mp.eighe(_hermitian(a))
    order = sorted(range(a.rows), key=lambda k: w[k])
    return [w[k] for k in order], [[v[i, k] for i in range(a.rows)] for k in order]


def _hermitian(a: Matrix) -> Matrix:
    """Return the Hermitian matrix with the lower triangle of a and a real diagonal."""
    found = a.copy()
    for i in range(a.rows):
        found[i, i] = _of_kind(a, mp.re(a[i, i]))
        for j in range(i):
            found[j, i] = mp.conj(a[i, j])
    return found


def _of_kind(a: Matrix, x: Any) -> Any:
    """Drop the imaginary part that mpmath gives to all numbers, if the matrix is real."""
    is_complex = any(isinstance(a[i, j], mp.mpc) for i in range(a.rows) for j in range(a.cols))
    return x if is_complex else mp.re(x)


def _spectral(weight: Callable[[int, Any], Any]) -> Callable[[Params, Matrix], Matrix]:
    """Σ weight(k, w_k) v_k v_kᴴ"""

    def function(params: Params, a: Matrix) -> Matrix:
        w, v = _eigh(a)
        factors = [weight(k, x) for k, x in enumerate(w)]
        found = mp.matrix(a.rows, a.rows)
        for i in range(a.rows):
            for j in range(a.rows):
                terms = (f * u[i] * mp.conj(u[j]) for f, u in zip(factors, v, strict=True))
                found[i, j] = _of_kind(a, mp.fsum(terms))
        return found

    return function


def _vectors(params: Params, a: Matrix) -> Matrix:
    """Return the vectors, the entry of largest modulus of each real and positive."""
    columns = [canonical_column(u) for u in _eigh(a)[1]]
    found = mp.matrix(a.rows, a.rows)
    for k, u in enumerate(columns):
        for i, x in enumerate(u):
            found[i, k] = _of_kind(a, x)
    return found


def canonical_column(u: list[Any]) -> list[Any]:
    """Normalize the vector to length 1, its entry of largest modulus real and positive."""
    largest = max(u, key=abs)
    length = mp.sqrt(mp.fsum(abs(x) ** 2 for x in u))
    phase = mp.conj(largest) / abs(largest) / length
    return [x * phase for x in u]


def _values(params: Params, a: Matrix) -> Matrix:
    return mp.matrix(_eigh(a)[0])


def _cubes(params: Params, a: Matrix) -> Matrix:
    x = _hermitian(a) ** 3
    return mp.matrix([mp.re(mp.fsum(x[i, i] for i in range(a.rows)))])


def _of_matrices(function: Callable[[Params, Matrix], Matrix], axes: int) -> Reference:
    """Apply a function of one matrix to stacks; the result has ``axes`` axes of the matrix's
    size.
    """

    def apply(params: Params, a: Tensor) -> Tensor:
        shape = (*a.shape[:-2], *([a.shape[-1]] * axes))
        if 0 in a.shape:
            return Tensor.make(shape, lambda index: mp.zero)
        found = [function(params, x) for x in matrices(a)]
        return Tensor(shape, tuple(entry for x in found for row in x.tolist() for entry in row))

    return apply


def of_square(function: Callable[[Params, Matrix], Matrix]) -> Reference:
    """Make a reference from a function of square matrices that keeps their shape."""
    return _of_matrices(function, 2)


def vector(function: Callable[[Params, Matrix], Matrix]) -> Reference:
    """Make a reference from a function of square matrices that returns vectors."""
    return _of_matrices(function, 1)


def number(function: Callable[[Params, Matrix], Matrix]) -> Reference:
    """Make a reference from a function of square matrices that returns numbers."""
    return _of_matrices(function, 0)


def _identity(params: Params, a: Tensor) -> Tensor:
    return Tensor.make(a.shape, lambda index: mp.mpf(index[-1] == index[-2]))


def _of_lower(params: Params, a: Tensor) -> Tensor:
    """Return the Hermitian matrix that the lower triangle stands for; empty matrices stay empty."""

    def at(index: tuple[int, ...]) -> Any:
        *batch, i, j = index
        if i == j:
            x = a[index]
            return mp.mpc(mp.re(x)) if isinstance(x, mp.mpc) else x
        return a[index] if i > j else mp.conj(a[(*batch, j, i)])

    return Tensor.make(a.shape, at)


REFERENCES: Mapping[str, Reference] = {
    "eigvalsh": vector(_values),
    "eigvalsh@cubes": number(_cubes),
    "eigh@values": vector(_values),
    "eigh@cubes": number(_cubes),
    "eigh@pairs": of_square(_spectral(lambda k, w: mp.mpf(k + 1))),
    "eigh@sines": of_square(_spectral(lambda k, w: mp.sin(w))),
    "eigh@two": of_square(_spectral(lambda k, w: mp.mpf(k < 2))),
    "eigh@vectors": of_square(_vectors),
    "eigh@product": _of_lower,
    "eigh@isometry": _identity,
}
