"""Diagonal matrices, known and computed, beside other matrices: what NumPy makes of them."""

import numpy as np
import pytest

import tenferro as tn
from tenferro import primitives

N = 40
X = np.cos(np.arange(N * N)).reshape(N, N)
V = np.linspace(-1.0, 2.0, N)
KNOWN = np.diag(np.linspace(1.0, 3.0, N))
I = np.arange(N)  # noqa: E741

#: functions of a matrix, a vector and a number, and the same in NumPy
FUNCTIONS = {
    "identity of NumPy": (lambda x, v, s: x + s * np.eye(N),) * 2,
    "identity, first": (lambda x, v, s: np.eye(N) * s - x,) * 2,
    "known diagonal": (lambda x, v, s: x - s * KNOWN,) * 2,
    "known, alone": (lambda x, v, s: x + KNOWN,) * 2,
    "identity of ours": (lambda x, v, s: x + s * tn.eye(N), lambda x, v, s: x + s * np.eye(N)),
    "of a vector": (lambda x, v, s: x + tn.diag(v), lambda x, v, s: x + np.diag(v)),
    "of a matrix": (
        lambda x, v, s: s * np.where(tn.eye(N, dtype=bool), x, 0.0),
        lambda x, v, s: s * np.where(np.eye(N) > 0, x, 0.0),
    ),
    "two": (
        lambda x, v, s: (tn.diag(v) + s * np.eye(N)) - x.T,
        lambda x, v, s: (np.diag(v) + s * np.eye(N)) - x.T,
    ),
    "product": (lambda x, v, s: x * np.eye(N),) * 2,
    "added in place": (
        lambda x, v, s: tn.asarray(x).at[I, I].add(s * v),
        lambda x, v, s: x + np.diag(s * v),
    ),
    "put in place": (
        lambda x, v, s: tn.asarray(x).at[I, I].set(s * v),
        lambda x, v, s: np.where(np.eye(N) > 0, np.diag(s * v), x),
    ),
}  # fmt: skip
IDS = {"argvalues": FUNCTIONS.values(), "ids": FUNCTIONS}


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("function, by_numpy", **IDS)
def test_values_are_those_of_numpy(function, by_numpy, dtype):
    x, v = X.astype(dtype), V.astype(dtype)
    want = by_numpy(x, v, 0.5)
    for run in (lambda f: f, tn.jit):
        got = np.asarray(run(lambda x, v, s: function(x, v, s))(tn.asarray(x), tn.asarray(v), 0.5))
        np.testing.assert_allclose(got, want, rtol=1e-6 if dtype == "float32" else 1e-15)


@pytest.mark.parametrize("s", [np.inf, -np.inf, np.nan, 0.0, -1.0])
@pytest.mark.parametrize("function, by_numpy", **IDS)
def test_a_number_that_is_not_finite_makes_nan_of_zeros(function, by_numpy, s):
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(tn.jit(function)(X, V, s), by_numpy(X, V, s))


@pytest.mark.parametrize("function, by_numpy", **IDS)
def test_derivatives_agree_with_differences(function, by_numpy):
    rng = np.random.default_rng(0)
    weights, dx, dv = rng.normal(size=X.shape), rng.normal(size=X.shape), rng.normal(size=N)

    def loss(x, v, s):
        return np.sum(weights * function(x, v, s) ** 2)

    by_x, by_v, by_s = tn.jit(tn.grad(loss, argnums=(0, 1, 2)))(X, V, 0.5)
    slope = np.sum(by_x * dx) + np.sum(by_v * dv) + by_s
    step = 1e-5
    sides = [
        np.sum(weights * by_numpy(X + h * dx, V + h * dv, 0.5 + h) ** 2) for h in (step, -step)
    ]
    np.testing.assert_allclose(slope, (sides[0] - sides[1]) / (2 * step), rtol=1e-7)


@pytest.mark.parametrize("function, by_numpy", **IDS)
def test_batches_and_bodies_of_loops(function, by_numpy):
    many = np.stack([X, 2 * X, -X])
    want = np.stack([by_numpy(x, V, 0.5) for x in many])
    got = tn.jit(tn.vmap(lambda x: function(x, V, 0.5)))(many)
    np.testing.assert_allclose(got, want, rtol=1e-15)
    body = lambda c, x: (c + function(x, V, 0.5), None)  # noqa: E731
    total = tn.jit(lambda many: tn.scan(body, np.zeros_like(X), many)[0])
    np.testing.assert_allclose(total(many), want.sum(0), rtol=1e-13, atol=1e-14)


def test_a_sum_and_a_trace():
    f = tn.jit(lambda x, s: np.sum(x * (s * np.eye(N))) + np.trace(x) + np.sum(np.diagonal(x, 1)))
    want = 1.5 * np.trace(X) + np.trace(X, 1)
    np.testing.assert_allclose(f(X, 0.5), want, rtol=1e-13)
    np.testing.assert_array_equal(tn.jit(tn.grad(f))(X, 0.5), 1.5 * np.eye(N) + np.eye(N, k=1))


@pytest.mark.parametrize(
    "known", [np.diag(np.full(N, -0.0)), -np.eye(N), np.diag(I) != 0, np.tri(N)]
)
def test_other_known_matrices(known):
    """Negative zeros off the diagonal are numbers of their own, and a mask is no matrix"""
    got = np.asarray(tn.jit(lambda s: s * known)(-2.0))
    np.testing.assert_array_equal(got, -2.0 * known)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(-2.0 * known))


def test_a_known_matrix_may_change_after_it_was_recorded():
    known = np.eye(N)
    f = tn.jit(lambda x: x + known)
    np.testing.assert_array_equal(f(X), X + np.eye(N))
    known[0, 1] = 5.0
    np.testing.assert_array_equal(f(X), X + np.eye(N))


@pytest.mark.parametrize("k", [-2, -1, 0, 1, 3])
def test_triangles_and_shifted_diagonals(k):
    for name in ("tril", "triu", "diag"):
        np.testing.assert_array_equal(
            tn.jit(lambda x, name=name: getattr(np, name)(x, k))(X), getattr(np, name)(X, k)
        )
    np.testing.assert_array_equal(tn.jit(lambda v: np.diag(v, k))(V), np.diag(V, k))
    np.testing.assert_array_equal(tn.eye(5, 7, k), np.eye(5, 7, k))
    np.testing.assert_array_equal(tn.tri(5, 7, k), np.tri(5, 7, k))
    for name in ("tril_indices", "triu_indices"):
        for got, want in zip(getattr(tn, name)(5, k, 7), getattr(np, name)(5, k, 7), strict=True):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("column", [0, 1, 3])
def test_numbers_that_stand_in_a_column_are_no_diagonal(column, axis):
    """A vector between zeros, n - 1 for each of its numbers, is a column of a square"""

    def sums(v):
        flat = primitives.pad(v, primitives.constant(0.0, v.dtype), (column,), (3 - column,), (3,))
        return np.sum(flat.reshape(4, 4), axis=axis)

    v = np.array([1.0, 2.0, 3.0, 4.0])
    want = np.zeros((4, 4))
    want[:, column] = v
    np.testing.assert_array_equal(tn.jit(sums)(v), want.sum(axis))
    slopes = np.zeros((4, 4, 4))
    slopes[range(4), column] = np.eye(4)
    np.testing.assert_array_equal(tn.jit(tn.jacobian(sums))(v), slopes.sum(axis))


@pytest.mark.parametrize("first, count", [(0, 1), (0, 2), (0, 3), (0, 4), (1, 3), (0, 0)])
def test_a_part_of_the_diagonal_of_a_product(first, count):
    x, y = X[:4, :6], X[6:12, :4]
    last = 5 * (first + count - 1) + 1 if count else 0
    f = tn.jit(lambda x, y: (x @ y).reshape(-1)[5 * first : last : 5])
    want = np.diagonal(x @ y)[first : first + count]
    np.testing.assert_allclose(f(x, y), want, rtol=1e-13)
    by_x = tn.jit(tn.grad(lambda x: np.sum(f(x, y))))(x)
    kept = (np.arange(4) >= first) & (np.arange(4) < first + count)
    np.testing.assert_allclose(by_x, np.where(kept[:, None], y.T, 0.0), rtol=1e-13)
