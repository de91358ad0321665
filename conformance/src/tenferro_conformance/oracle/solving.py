"""Definitions of solving: triangular systems, LU, Cholesky factors, determinants.

Each is written from its definition, matrix by matrix: substitution, elimination with the largest
pivot, the sum over permutations. Read next: `numbers.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

from tenferro_conformance.oracle.numbers import Params, Reference, Tensor, all_indices, mp

__all__ = ["REFERENCES"]

Matrix = list[list[Any]]


def _matrices(x: Tensor) -> list[Matrix]:
    """Return the matrices of a stack."""
    *lead, m, n = x.shape
    return [
        [[x[(*place, i, j)] for j in range(n)] for i in range(m)] for place in all_indices(lead)
    ]


def _stack(lead: Sequence[int], m: int, n: int, found: Sequence[Matrix]) -> Tensor:
    flat = tuple(x for matrix in found for row in matrix for x in row)
    return Tensor((*lead, m, n), flat)


def _each(function: Callable[..., Matrix]) -> Reference:
    """Apply a definition for one matrix to stacks, in the shape of the last input."""

    def apply(params: Params, *xs: Tensor) -> Tensor:
        stacks = zip(*map(_matrices, xs), strict=True)
        *lead, m, n = xs[-1].shape
        return _stack(lead, m, n, [function(params, *matrices) for matrices in stacks])

    return apply


def _number(function: Callable[[Matrix], Any]) -> Reference:
    """Apply a definition of one number for one matrix to stacks."""

    def apply(params: Params, a: Tensor) -> Tensor:
        return Tensor(a.shape[:-2], tuple(map(function, _matrices(a))))

    return apply


def _transposed(a: Matrix) -> Matrix:
    return [list(row) for row in zip(*a, strict=True)]


def _conj(a: Matrix) -> Matrix:
    return [[mp.conj(x) for x in row] for row in a]


def _product(a: Matrix, b: Matrix) -> Matrix:
    columns = _transposed(b)
    return [[mp.fsum(x * y for x, y in zip(r, c, strict=True)) for c in columns] for r in a]


def _triangular_solve(params: Params, a: Matrix, b: Matrix) -> Matrix:
    n = len(a)
    if not b or not b[0]:
        return b
    ahead = 1 if params["lower"] else -1  # the triangle that is read is that of ahead·(i - j) ≥ 0
    matrix = [[a[i][j] if ahead * (i - j) >= 0 else mp.mpf(0) for j in range(n)] for i in range(n)]
    if params["unit_diagonal"]:
        matrix = [[mp.mpf(1) if i == j else matrix[i][j] for j in range(n)] for i in range(n)]
    matrix = _transposed(matrix) if params["transposed"] else matrix
    matrix = _conj(matrix) if params["conjugated"] else matrix
    if params["left"]:
        return _solve(matrix, b)
    return _transposed(_solve(_transposed(matrix), _transposed(b)))


def _linear_solve(params: Params, a: Matrix, _: Matrix, b: Matrix) -> Matrix:
    if not b or not b[0]:
        return b
    return _solve(_conj(_transposed(a)) if params["adjoint"] else a, b)


def _solution(params: Params, a: Tensor, factors: Tensor, permutation: Tensor, b: Tensor) -> Tensor:
    return _each(_linear_solve)(params, a, factors, b)


def _sparse_product(
    params: Params, entries: Tensor, rows: Tensor, columns: Tensor, x: Tensor
) -> Tensor:
    size, k = params["size"], x.shape[1]
    found = [[mp.mpf(0)] * k for _ in range(size)]
    for entry, i, j in zip(entries.flat, rows.flat, columns.flat, strict=True):
        found[int(i)] = [y + entry * x[(int(j), c)] for c, y in enumerate(found[int(i)])]
    return _stack((), size, k, [found])


def _sparse_solve(
    params: Params, entries: Tensor, rows: Tensor, columns: Tensor, b: Tensor
) -> Tensor:
    (*lead, n, k), count = b.shape, len(rows.flat)
    found = []
    for number, right in enumerate(_matrices(b)):
        a = [[mp.mpf(0)] * n for _ in range(n)]
        own = entries.flat[number * count : (number + 1) * count]
        for entry, i, j in zip(own, rows.flat, columns.flat, strict=True):
            a[int(i)][int(j)] += entry
        found.append(_linear_solve(params, a, a, right))
    return _stack(lead, n, k, found)


def _solve(a: Matrix, b: Matrix) -> Matrix:
    """Solve by elimination of a together with b, then substitution from below."""
    n = len(a)
    factors, order = _eliminated([[*row] for row in a])
    x = [list(b[i]) for i in order]
    for i in range(n):
        for k in range(i):
            x[i] = [p - factors[i][k] * q for p, q in zip(x[i], x[k], strict=True)]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            x[i] = [p - factors[i][k] * q for p, q in zip(x[i], x[k], strict=True)]
        x[i] = [p / factors[i][i] for p in x[i]]
    return x


def _eliminated(a: Matrix) -> tuple[Matrix, list[int]]:
    """Return both factors in one matrix, and the row order; pivots have the largest |Re| + |Im|."""
    order = list(range(len(a)))
    for k in range(min(len(a), len(a[0]) if a else 0)):
        best = max(range(k, len(a)), key=lambda i: abs(mp.re(a[i][k])) + abs(mp.im(a[i][k])))
        a[k], a[best] = a[best], a[k]
        order[k], order[best] = order[best], order[k]
        for i in range(k + 1, len(a)):
            if a[k][k]:
                a[i][k] /= a[k][k]
            for j in range(k + 1, len(a[0])):
                a[i][j] -= a[i][k] * a[k][j]
    return a, order


def _lu(params: Params, a: Matrix) -> Matrix:
    return _eliminated([[*row] for row in a])[0]


def _exchanged(params: Params, a: Matrix) -> Matrix:
    return [a[i] for i in _eliminated([[*row] for row in a])[1]]


def _hermitian(a: Matrix) -> Matrix:
    pairs = zip(a, _conj(_transposed(a)), strict=True)
    return [[(x + y) / 2 for x, y in zip(*pair, strict=True)] for pair in pairs]


def _of_lower(a: Matrix) -> Matrix:
    """Return the Hermitian matrix with the lower triangle of a and a real diagonal."""
    n, half = len(a), _half_lower(a)
    return [[half[i][j] + mp.conj(half[j][i]) for j in range(n)] for i in range(n)]


def _cholesky(params: Params, a: Matrix) -> Matrix:
    """Compute the Cholesky factor row by row, from the lower triangle."""
    n, source = len(a), _of_lower(a)
    found: Matrix = [[mp.mpf(0)] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            rest = source[i][j] - mp.fsum(found[i][k] * mp.conj(found[j][k]) for k in range(j))
            found[i][j] = mp.sqrt(mp.re(rest)) if i == j else rest / found[j][j]
    return found


def _lower(a: Matrix) -> Matrix:
    return [[x if j <= i else mp.mpf(0) for j, x in enumerate(row)] for i, row in enumerate(a)]


def _half_lower(a: Matrix) -> Matrix:
    return [[x / 2 if j == i else x for j, x in enumerate(row)] for i, row in enumerate(_lower(a))]


def _cholesky_tangent(params: Params, factor: Matrix, x: Matrix) -> Matrix:
    """Compute by inverses and whole products; the adjoint from ⟨T* y, x⟩ = ⟨y, T x⟩ by entry."""
    low = _lower(factor)
    one = [[mp.mpf(i == j) for j in range(len(low))] for i in range(len(low))]
    inverse = _solve(low, one)
    left, right = (_conj(_transposed(m)) for m in (low, inverse))
    if params["adjoint"]:
        inner = _half_lower(_product(left, _lower(x)))
        found = _hermitian(_product(_product(right, inner), inverse))
        return [[2 * z if j < i else z if j == i else 0 * z for j, z in enumerate(row)]
                for i, row in enumerate(found)]  # fmt: skip
    return _product(low, _half_lower(_product(_product(inverse, _of_lower(x)), right)))


def _det(a: Matrix) -> Any:
    """Sum over permutations, or eliminate if there are too many."""
    if len(a) > 6:
        factors, order = _eliminated([[*row] for row in a])
        return _sign(order) * mp.fprod(factors[i][i] for i in range(len(a)))
    terms = permutations(range(len(a)))
    return mp.fsum(_sign(p) * mp.fprod(a[i][k] for i, k in enumerate(p)) for p in terms)


def _sign(order: Sequence[int]) -> int:
    """Return the sign of a permutation, from the number of pairs in the wrong order."""
    pairs = (order[i] > order[j] for j in range(len(order)) for i in range(j))
    return -1 if sum(pairs) % 2 else 1


_STEP = mp.mpf(10) ** -20


def _adjugate(params: Params, a: Matrix, *directions: Matrix) -> Matrix:
    """Return the transposed minors; along directions, by central differences."""
    n = len(a)
    if directions:
        *others, d = directions
        up, down = ([[x + s * _STEP * y for x, y in zip(*pair, strict=True)]
                     for pair in zip(a, d, strict=True)] for s in (1, -1))  # fmt: skip
        pair = _adjugate(params, up, *others), _adjugate(params, down, *others)
        return [[(p - q) / (2 * _STEP) for p, q in zip(*r, strict=True)]
                for r in zip(*pair, strict=True)]  # fmt: skip

    def minor(i: int, j: int) -> Matrix:
        return [[*row[:j], *row[j + 1 :]] for k, row in enumerate(a) if k != i]

    return [[(-1) ** (i + j) * _det(minor(j, i)) for j in range(n)] for i in range(n)]


def _logabsdet(a: Matrix) -> Any:
    return mp.log(abs(_det(a)))


def _phase(a: Matrix) -> Any:
    found = _det(a)
    return found / abs(found)


REFERENCES: dict[str, Reference] = {
    "triangular_solve": _each(_triangular_solve),
    "linear_solve@factorized": _solution,
    "sparse_product": _sparse_product,
    "sparse_solve": _sparse_solve,
    "lu@factors": _each(_lu),
    "lu@product": _each(_exchanged),
    "cholesky": _each(_cholesky),
    "cholesky@product": _each(lambda params, a: _of_lower(a)),
    "cholesky_tangent": _each(_cholesky_tangent),
    "det": _number(_det),
    "adjugate": _each(_adjugate),
    "slogdet@logabsdet": _number(_logabsdet),
    "slogdet@sign": _number(_phase),
}
