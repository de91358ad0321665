"""Factors for systems: Cholesky's method where the numbers allow, LU factors elsewhere."""

from itertools import product

import numpy as np
import pytest

import tenferro as tn
from tenferro.backend.lowering import Lowerings
from tenferro.primitives.linalg.system_factors import SystemFactors, SystemSlogdet, SystemSolve
from tenferro_numpy.lowerings.linalg import system_factors as module
from tenferro_numpy.lowerings.linalg._lapack import triangular

N = 70
RNG = np.random.default_rng(0)
Q = np.linalg.qr(RNG.normal(size=(N, N)) + 1j * RNG.normal(size=(N, N)))[0]
B = RNG.normal(size=(N, 3))


def hermitian(values, dtype="complex128"):
    found = (Q * values) @ Q.conj().T if dtype == "complex128" else (Q.real * values) @ Q.real.T
    found = found + found.conj().T
    return found.astype(dtype)


def changed(a, *places):
    found = a.copy()
    for place, entry in places:
        found[place] = entry
    return found


POSITIVE = hermitian(np.linspace(1, 3, N), "float64") + np.eye(N)
COMPLEX = hermitian(np.linspace(1, 3, N))
CHOLESKY = {
    "real": POSITIVE,
    "float32": (POSITIVE + POSITIVE.T).astype("float32"),
    "complex": COMPLEX,
    "in columns": np.asfortranarray(POSITIVE),
    "complex, in columns": np.asfortranarray(COMPLEX),
    "every other row": np.kron(POSITIVE, np.eye(2))[::2, ::2],
    "diagonal": np.diag(np.linspace(1, 2, N)),
}
NEXT = np.nextafter(POSITIVE[N - 1, 0], 9)
LU = {
    "general": RNG.normal(size=(N, N)),
    "complex": RNG.normal(size=(N, N)) + 1j * RNG.normal(size=(N, N)),
    "symmetric, complex": COMPLEX.real + 1j * COMPLEX.real,
    "imaginary diagonal": COMPLEX + 1j * np.diag(np.arange(N)),
    "indefinite": hermitian(np.where(np.arange(N) % 3, 1.0, -2.0), "float64"),
    "indefinite, positive diagonal": np.eye(N) + 2 * (np.ones((N, N)) - np.eye(N)),
    "negative definite": -POSITIVE,
    "another corner": changed(POSITIVE, ((N - 1, 0), NEXT)),
    "another last bit": changed(
        POSITIVE, ((N - 1, N - 2), np.nextafter(POSITIVE[N - 1, N - 2], 9))
    ),
    "across blocks": changed(POSITIVE, ((N - 1, 3), 0.5)),
    "a zero on the diagonal": changed(POSITIVE, ((5, 5), 0.0)),
}


@pytest.fixture(scope="module")
def run():
    """The lowering of an operation."""
    own = Lowerings()
    module.register(own)
    records = {record.primitive: record.target for record in own}
    return lambda op, *operands: records[op.key](op, *operands)


def close(found, wanted):
    scale = np.abs(wanted).max()
    loose = np.asarray(found).dtype.char in "fF"
    np.testing.assert_allclose(found, wanted, rtol=0, atol=scale * (2e-4 if loose else 1e-11))


def check(run, a, factors, pivots, permutation):
    b = (B + 1j * B[::-1] if np.iscomplexobj(a) else B).astype(a.dtype)
    one = np.eye(N, dtype=a.dtype)
    for adjoint, matrix in ((False, a), (True, a.conj().T)):
        solve = SystemSolve(adjoint)
        close(run(solve, factors, permutation, b), np.linalg.solve(matrix, b))
        close(run(solve, factors, permutation, one), np.linalg.inv(matrix))
    found = run(SystemSlogdet(), factors, pivots)
    for got, wanted in zip(found, np.linalg.slogdet(a), strict=True):
        close(got, wanted)
        assert np.asarray(got).dtype == np.asarray(wanted).dtype


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("name", CHOLESKY)
def test_positive_definite_matrices_have_a_cholesky_factor(name, known, run):
    a = CHOLESKY[name]
    given = (np.linalg.cholesky(a),) if known else ()
    factors, pivots, permutation = run(SystemFactors(), a, *given)
    assert (pivots == -1).all()
    assert (permutation == -1).all()
    close(np.tril(factors), np.linalg.cholesky(a))
    check(run, a, factors, pivots, permutation)


@pytest.mark.parametrize("name", LU)
def test_others_have_lu_factors(name, run):
    a = LU[name]
    factors, pivots, permutation = run(SystemFactors(), a)
    lower, upper = np.tril(factors, -1) + np.eye(N), np.triu(factors)
    close(lower @ upper, a[permutation])
    check(run, a, factors, pivots, permutation)


def test_the_lower_triangle_alone_is_positive_definite(run):
    """Its Cholesky factor is not one of the matrix."""
    a = POSITIVE + np.triu(RNG.normal(size=(N, N)), 1)
    given = np.linalg.cholesky(np.tril(a) + np.tril(a, -1).T)
    factors, pivots, permutation = run(SystemFactors(), a, given)
    assert pivots[0] >= 0
    check(run, a, factors, pivots, permutation)


@pytest.mark.parametrize("name", ["a nan", "an infinity", "infinities"])
def test_what_is_not_finite_has_lu_factors(name, run):
    entries = {"a nan": ((3, 3), np.nan), "an infinity": ((4, 4), np.inf)}
    many = [((0, 1), np.inf), ((1, 0), np.inf)]
    a = changed(POSITIVE, *([entries[name]] if name in entries else many))
    with np.errstate(all="ignore"):
        _, pivots, _ = run(SystemFactors(), a)
    assert pivots[0] >= 0


@pytest.mark.parametrize("a", [np.ones((N, N)), np.diag(np.arange(N) * 1.0)], ids=["ones", "zero"])
def test_singular_matrices(a):
    """As NumPy says: an error, a sign of 0."""
    sign, logarithm = tn.jit(np.linalg.slogdet)(a)
    assert (float(sign), float(logarithm)) == (0.0, -np.inf)
    with pytest.raises(tn.TenferroError, match="singular"):
        tn.jit(np.linalg.solve)(a, np.ones(N))
    with pytest.raises(tn.TenferroError, match="singular"):
        tn.jit(np.linalg.inv)(a)


def test_one_lu_factorization_of_an_identity():
    """The inverse by LU factors in all orders: of a, and of its adjoint, in a program."""
    a = LU["complex"]
    found = tn.jit(lambda a: (np.linalg.inv(a), np.linalg.solve(a.conj().T, np.eye(N))))(a)
    close(found[0], np.linalg.inv(a))
    close(found[1], np.linalg.inv(a).conj().T)


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("name", ["real", "complex"])
@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("flags", [*product([False, True], repeat=5)], ids=str)
def test_triangular_systems_of_one_vector(flags, columns, name, order):
    """From either side, of either triangle, transposed, conjugated, with ones on the diagonal."""
    left, lower, transposed, conjugated, unit = flags
    conjugated = conjugated and name == "complex"
    a = np.array(CHOLESKY[name], order=order)
    b = (B[:, :columns] * (1 + 2j if name == "complex" else 1)).astype(a.dtype)
    matrix = np.tril(a, -unit) if lower else np.triu(a, unit)
    matrix = matrix + np.eye(N) * unit
    matrix = matrix.T if transposed else matrix
    matrix = matrix.conj() if conjugated else matrix
    given = b if left else b.T
    kept = given.copy()
    found = triangular(
        a, given, left=left, lower=lower, transposed=transposed, conjugated=conjugated,
        unit_diagonal=unit,
    )  # fmt: skip
    close(matrix @ found if left else found @ matrix, given)
    np.testing.assert_array_equal(given, kept)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("size", [3, 64])
@pytest.mark.parametrize("infinite", [np.inf, -np.inf])
def test_an_infinite_determinant_has_a_sign(size, infinite, dtype):
    a = np.eye(size, dtype=dtype)
    a[0, 1], a[1, 1] = 0.5, infinite
    sign, logarithm = tn.jit(np.linalg.slogdet)(a)
    assert (sign, logarithm) == (np.sign(infinite), np.inf)


STACK = RNG.normal(size=(4, 3, 5, 5)) + 1j * RNG.normal(size=(4, 3, 5, 5))
SMALL = {
    "real": STACK.real,
    "float32": STACK.real.astype("float32"),
    "complex": STACK,
    "in columns": STACK.real.swapaxes(-1, -2),
    "of one row": STACK[..., :1, :1],
}


@pytest.mark.parametrize("name", SMALL)
def test_stacks_of_small_matrices(name, run):
    """Systems, inverses and determinants of all matrices, and those of their adjoints."""
    a = SMALL[name]
    factors, pivots, permutation = run(SystemFactors(), a)
    b = np.ones((*a.shape[:-1], 2), a.dtype)
    one = np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape)
    for adjoint, matrix in ((False, a), (True, a.conj().swapaxes(-1, -2))):
        solve = SystemSolve(adjoint)
        close(matrix @ run(solve, factors, permutation, b), b)
        close(matrix @ run(solve, factors, permutation, one), one)
        close(matrix @ run(solve, factors, permutation, one.copy()), one)
    for got, wanted in zip(
        run(SystemSlogdet(), factors, pivots), np.linalg.slogdet(a), strict=True
    ):
        close(got, wanted)


def test_an_almost_identical_stack_is_not_taken_for_identities(run):
    factors, _, permutation = run(SystemFactors(), STACK)
    b = np.tile(np.eye(5, dtype=complex), (4, 3, 1, 1))
    b[3, 2, 4, 4] = 2
    close(STACK @ run(SystemSolve(), factors, permutation, b), b)


@pytest.mark.parametrize(
    "function", [np.linalg.inv, tn.grad(lambda a: np.linalg.slogdet(a)[1].sum())]
)
def test_the_singular_matrix_of_a_stack_is_named(function):
    a = np.tile(np.eye(3), (2, 4, 1, 1))
    a[1, 2, 1, 1] = 0
    with pytest.raises(tn.TenferroError, match=r"matrix \[1, 2\] is singular: .* row 1"):
        tn.jit(function)(a)
