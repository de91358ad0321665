"""The oracle for singular values, QR and the pseudoinverse: mpmath's decompositions, and Gram and
Schmidt's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from tenferro_conformance.oracle.numbers import Params, Reference, Tensor, mp

__all__ = [
    "REFERENCES", "matrices", "of_matrices", "orthonormal_columns", "qr_left", "qr_rest",
]  # fmt: skip

Matrix = Any


def matrices(a: Tensor) -> Iterator[Matrix]:
    """Yield the matrices of a stack."""
    m, n = a.shape[-2:]
    for start in range(0, len(a.flat), m * n or 1):
        found = mp.matrix(m, n)
        for i in range(m):
            for j in range(n):
                found[i, j] = a.flat[start + i * n + j]
        yield found


def of_matrices(function: Callable[[Params, Matrix], Matrix], shape: str) -> Reference:
    """Apply a function of one matrix to a stack; ``shape`` names the result's, k = min(m, n)."""

    def apply(params: Params, a: Tensor) -> Tensor:
        whole = (*a.shape[:-2], *_SHAPES[shape](*a.shape[-2:]))
        if 0 in a.shape:
            return Tensor.make(whole, lambda index: mp.zero)
        found = [function(params, x) for x in matrices(a)]
        entries = (x[i, j] for x in found for i in range(x.rows) for j in range(x.cols))
        return Tensor(whole, tuple(entries))

    return apply


class _Factors(NamedTuple):
    u: Matrix
    s: list[Any]
    v: Matrix


def _is_complex(a: Matrix) -> bool:
    return any(isinstance(a[i, j], mp.mpc) for i in range(a.rows) for j in range(a.cols))


def _svd(a: Matrix) -> _Factors:
    """U, s and V, thin."""
    decompose = mp.svd_c if _is_complex(a) else mp.svd_r
    u, s, vh = decompose(a, full_matrices=False)
    return _Factors(u, [s[k] for k in range(len(s))], vh.H)


def _sum(x: Matrix, factors: list[Any], y: Matrix) -> Matrix:
    """Σ factor_k x_k y_kᴴ"""
    found = mp.matrix(x.rows, y.rows)
    for i in range(x.rows):
        for j in range(y.rows):
            found[i, j] = mp.fsum(
                f * x[i, k] * mp.conj(y[j, k]) for k, f in enumerate(factors) if f != 0
            )
    return found


def _counted(s: list[Any]) -> list[Any]:
    return [mp.mpf(k + 1) for k in range(len(s))]


def _values(params: Params, a: Matrix) -> Matrix:
    return mp.matrix(_svd(a).s)


def _pairs(params: Params, a: Matrix) -> Matrix:
    u, s, v = _svd(a)
    return _sum(u, _counted(s), v)


def _left(params: Params, a: Matrix) -> Matrix:
    u, s, _ = _svd(a)
    return _sum(u, _counted(s), u)


def _right(params: Params, a: Matrix) -> Matrix:
    _, s, v = _svd(a)
    return _sum(v, _counted(s), v)


def _sines(params: Params, a: Matrix) -> Matrix:
    u, s, v = _svd(a)
    return _sum(u, [mp.sin(x) for x in s], v)


def _polar(params: Params, a: Matrix) -> Matrix:
    u, s, v = _svd(a)
    return _sum(u, [mp.one] * len(s), v)


def _two(params: Params, a: Matrix) -> Matrix:
    u, _, _ = _svd(a)
    return _sum(u, [mp.one] * 2, u)


def _rank_two(params: Params, a: Matrix) -> Matrix:
    u, s, v = _svd(a)
    return _sum(u, s[:2], v)


def _canonical(a: Matrix) -> _Factors:
    """Return the factors with the entry of largest modulus of each v real and positive."""
    u, s, v = _svd(a)
    for k in range(len(s)):
        largest = max((v[j, k] for j in range(v.rows)), key=abs)
        phase = mp.conj(largest) / abs(largest)
        for i in range(u.rows):
            u[i, k] *= phase
        for j in range(v.rows):
            v[j, k] *= phase
    return _Factors(u, s, v)


def _pinv(params: Params, a: Matrix) -> Matrix:
    u, s, v = _svd(a)
    cut = mp.mpf(params["rcond"]) * s[0]
    return _sum(v, [1 / x if x > cut else mp.zero for x in s], u)


def orthonormal_columns(a: Matrix) -> tuple[Matrix, Matrix]:
    """Q and R of the leading columns, by Gram and Schmidt; the diagonal of R is positive."""
    k = min(a.rows, a.cols)
    q = mp.matrix(a.rows, k)
    for j in range(k):
        rest = [a[i, j] for i in range(a.rows)]
        for c in range(j):
            overlap = mp.fsum(mp.conj(q[i, c]) * a[i, j] for i in range(a.rows))
            rest = [x - overlap * q[i, c] for i, x in enumerate(rest)]
        length = mp.sqrt(mp.fsum(abs(x) ** 2 for x in rest))
        for i, x in enumerate(rest):
            q[i, j] = x / length
    r = q.H * a
    for i in range(k):
        for j in range(min(i, a.cols)):
            r[i, j] = mp.zero * r[i, j]
    return q, r


def _columns(params: Params, a: Matrix) -> Matrix:
    return orthonormal_columns(a)[0]


def _triangle(params: Params, a: Matrix) -> Matrix:
    return orthonormal_columns(a)[1]


def qr_left(params: Params, a: Matrix) -> Matrix:
    """Σ (k + 1) q_k q_kᴴ over the orthonormal columns"""
    q, _ = orthonormal_columns(a)
    return _sum(q, _counted([0] * q.cols), q)


def qr_rest(params: Params, a: Matrix) -> Matrix:
    """Return the projector on the complement of the matrix's range."""
    q, _ = orthonormal_columns(a)
    return mp.eye(a.rows) - q * q.H


_Shape = Callable[[int, int], tuple[int, ...]]
_SHAPES: Mapping[str, _Shape] = {
    "mm": lambda m, n: (m, m),
    "nn": lambda m, n: (n, n),
    "mn": lambda m, n: (m, n),
    "nm": lambda m, n: (n, m),
    "k": lambda m, n: (min(m, n),),
    "mk": lambda m, n: (m, min(m, n)),
    "kn": lambda m, n: (min(m, n), n),
}


def _isometry_reference(params: Params, a: Tensor) -> Tensor:
    m, n = a.shape[-2:]
    size = max(m, n) if params.get("full") else min(m, n)
    return _identities(a, size)


def _qr_isometry(params: Params, a: Tensor) -> Tensor:
    m, n = a.shape[-2:]
    return _identities(a, m if params.get("full") else min(m, n))


def _identities(a: Tensor, size: int) -> Tensor:
    shape = (*a.shape[:-2], size, size)
    return Tensor.make(shape, lambda index: mp.mpf(index[-1] == index[-2]))


REFERENCES: Mapping[str, Reference] = {
    "svdvals": of_matrices(_values, "k"),
    "svd@values": of_matrices(_values, "k"),
    "svd@pairs": of_matrices(_pairs, "mn"),
    "svd@left": of_matrices(_left, "mm"),
    "svd@right": of_matrices(_right, "nn"),
    "svd@sines": of_matrices(_sines, "mn"),
    "svd@product": lambda params, a: a,
    "svd@isometries": _isometry_reference,
    "svd@polar": of_matrices(_polar, "mn"),
    "svd@two": of_matrices(_two, "mm"),
    "svd@rank_two": of_matrices(_rank_two, "mn"),
    "svd@left_vectors": of_matrices(lambda params, a: _canonical(a).u, "mk"),
    "svd@right_vectors": of_matrices(lambda params, a: _canonical(a).v.H, "kn"),
    "polar_isometry": of_matrices(_polar, "mn"),
    "pinv": of_matrices(_pinv, "nm"),
    "qr@left": of_matrices(qr_left, "mm"),
    "qr@rest": of_matrices(qr_rest, "mm"),
    "qr@gram": of_matrices(lambda params, a: a.H * a, "nn"),
    "qr@product": lambda params, a: a,
    "qr@isometry": _qr_isometry,
    "qr@columns": of_matrices(_columns, "mk"),
    "qr@triangle": of_matrices(_triangle, "kn"),
}
