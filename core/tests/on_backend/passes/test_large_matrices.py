"""Passes that look at large matrices alone keep values and derivatives, whatever the numbers are.

The oracle is NumPy: ⟨∇f, d⟩ = Im f(x + i h d)/h with h = 1e-30, which is exact for an analytic f
(Squire, Trapp (1998), SIAM Review 40, 110). Second derivatives are differences of that. Every
result is weighted by arbitrary numbers, so no cotangent has a structure of its own.
"""

import numpy as np
import pytest

import tenferro as tn

N = 66  # more rows than LAPACK's blocks and ours have, and no multiple of these
H = 1e-30


def logarithm(a):
    """log |det a| of a real matrix, and its analytic continuation."""
    sign, found = np.linalg.slogdet(a)
    return found if np.isrealobj(a) else found + 1j * (sign.imag / sign.real)


def weights(*shape):
    return np.random.default_rng(len(shape) + sum(shape)).normal(size=shape)


def symmetric(eigenvalues):
    q = np.linalg.qr(np.random.default_rng(3).normal(size=(N, N)))[0]
    found = (q * eigenvalues) @ q.T
    return found + found.T


def lower_of(a):
    """Other numbers above the diagonal."""
    return np.tril(a) + 0.01 * np.triu(weights(N, N), 1)


def with_another_last_bit(a):
    found = a.copy()
    found[N - 1, N - 2] = np.nextafter(found[N - 1, N - 2], np.inf)
    return found


POSITIVE = symmetric(np.linspace(1, 4, N))
ALTERNATING = np.where(np.arange(N) % 2, 2.0, -1.0)
MATRICES = {
    "positive definite": POSITIVE,
    "its lower triangle": lower_of(POSITIVE),
    "a last bit": with_another_last_bit(POSITIVE),
    "indefinite": symmetric(ALTERNATING * np.linspace(1, 2, N)),
    "indefinite, positive diagonal": symmetric(np.ones(N)) + 2.5 * (np.ones((N, N)) - np.eye(N)),
    "negative definite": -POSITIVE,
    "symmetric about the other diagonal": POSITIVE[::-1],
    "general": weights(N, N) + 12 * np.eye(N),
}


def solve(a, y):
    return np.linalg.solve(a, y) @ weights(N)


def solve_many(a, y):
    return np.sum(weights(N, 5) * np.linalg.solve(a, y[:, None] * weights(5)))


def inverse(a, y):
    return np.sum(weights(N, N) * np.linalg.inv(a)) + y @ y


def inverse_times_vector(a, y):
    return weights(N) @ (np.linalg.inv(a) @ y)


def vector_times_inverse(a, y):
    return (y @ np.linalg.inv(a)) @ weights(N)


def inverse_times_few(a, y):
    few = np.linalg.inv(a) @ (y[:, None] * weights(3)) + np.linalg.inv(a).T @ weights(N, 3)
    return np.sum(weights(N, 3) * few)


def few_times_inverse(a, y):
    few = (weights(3, N) * y) @ np.linalg.inv(a)
    return np.sum(weights(3, N) * few) + np.sum(np.linalg.inv(a).T.dot(y) * weights(N))


def inverse_between_vectors(a, y):
    return np.einsum("i,ij,j->", y, np.linalg.inv(a), weights(N)) + y @ np.linalg.inv(a) @ y


def inverse_of_identity(a, y):
    return np.sum(weights(N, N) * np.linalg.solve(a, np.eye(N))) * (y @ y)


def determinant(a, y):
    return logarithm(a) * (y @ weights(N))


def likelihood(a, y):
    return y @ np.linalg.solve(a, y) + logarithm(a)


def likelihood_by_inverse(a, y):
    return y.T @ np.linalg.inv(a) @ y - 3 * logarithm(a)


def two_matrices(a, y):
    b = a + np.eye(N)
    return y @ np.linalg.solve(a, np.linalg.inv(b) @ y) + logarithm(b) - logarithm(a.T)


FUNCTIONS = [
    solve, solve_many, inverse, inverse_times_vector, vector_times_inverse, inverse_times_few,
    few_times_inverse, inverse_between_vectors, inverse_of_identity, determinant, likelihood,
    likelihood_by_inverse, two_matrices,
]  # fmt: skip


def slope(f, x, d):
    """The derivative of f along d."""
    return np.imag(f(*[each + 1j * H * by for each, by in zip(x, d, strict=True)])) / H


def check(f, x, rtol=1e-10):
    """Value, gradient and JVP, and the second derivative along two directions."""
    d, e = [[0.1 * weights(*np.shape(each), k) @ np.ones(k) for each in x] for k in (1, 2)]
    args = tuple(range(len(x)))
    gradient = tn.grad(f, argnums=args)

    def run(x, d, e):
        along = tn.jvp(f, x, d)[1]
        second = tn.jvp(gradient, x, e)[1]
        return f(*x), gradient(*x), along, second

    value, by_x, along, second = tn.jit(run)(tuple(x), tuple(d), tuple(e))
    wanted = slope(f, x, d)
    scale = sum([np.abs(np.asarray(g) * by).sum() for g, by in zip(by_x, d, strict=True)])
    np.testing.assert_allclose(value, f(*x), rtol=rtol)
    found = sum([np.vdot(g, by) for g, by in zip(by_x, d, strict=True)])
    np.testing.assert_allclose([found, along], wanted, rtol=0, atol=rtol * scale)
    moved = [[each + s * 1e-4 * by for each, by in zip(x, e, strict=True)] for s in (1, -1)]
    curve = (slope(f, moved[0], d) - slope(f, moved[1], d)) / 2e-4
    size = sum([np.abs(np.asarray(g) * by).sum() for g, by in zip(second, d, strict=True)])
    found = sum([np.vdot(g, by) for g, by in zip(second, d, strict=True)])
    np.testing.assert_allclose(found, curve, rtol=0, atol=1e-6 * size)


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_systems_of_one_matrix(f, matrix):
    check(f, (MATRICES[matrix], weights(N)))


U, V, C = weights(N, 70), weights(64, 80), weights(N, 64) / 8
S, T = weights(70), weights(80)


def both_orders(u, c, v, s, t):
    return np.sum(weights(70, 80) * (u.T @ (c @ v * t))) + np.sum(
        weights(70, 80) * (s[:, None] * (u.T @ c) @ v)
    )


def three_factors_in_a_sum(u, c, v, s, t):
    return np.sum(c * ((u * s) @ (weights(70, 80) * 0.1 * t) @ v.T))


def sum_of_products(u, c, v, s, t):
    return np.sum(c * ((u * s) @ v[:, :70].T)) * (t @ t)


def minus(u, c, v, s, t):
    return np.sum(weights(70, 80) * (u.T @ (c @ v) - 2.0 * (u.T @ c) @ (v * t))) + s @ s


def differences(u, c, v, s, t):
    first = u.T @ ((c @ v) * t - c @ (v * np.cos(t)))
    return np.sum(weights(70, 80) * first * s[:, None]) - np.sum((u.T @ c) @ (-v) / 8)


def half_of_a_sum(u, c, v, s, t):
    return 0.5 * np.sum(c * t[:64] * ((u * s) @ v[:, :70].T)) + 0.25 * np.sum(t * t)


def both_transposes(u, c, v, s, t):
    square, vectors = c[:64] + c[2:].T[:64, :64], v[:, :64]
    inner = vectors.T @ ((square @ vectors) * t[:64] + square.T @ (vectors * t[:64]))
    return np.sum(weights(64, 64) * inner * s[:64]) + np.sum(u) * np.sum(square @ vectors)


def only_one_order(u, c, v, s, t):
    return np.sum(np.sin(u.T @ c) @ v * t) + np.sum(s * (u.T @ c @ v)[:, 0])


def diagonal_matrices(u, c, v, s, t):
    first = np.sum(c * (u @ np.diag(s) @ v[:, :70].T))
    return first + np.trace(np.diag(t) @ v.T @ c.T @ u[:, :80].sum(1)[:, None] * t)


def scaled_between(u, c, v, s, t):
    inner = (u.T * s[:, None]) @ (c * 1.5) @ v
    return np.sum(weights(70, 80) * inner * t) + np.sum(np.cos(0.1 * u.T @ c @ v))


PRODUCTS = [
    both_orders, three_factors_in_a_sum, sum_of_products, minus, differences, half_of_a_sum,
    both_transposes, only_one_order, diagonal_matrices, scaled_between,
]  # fmt: skip


@pytest.mark.parametrize("f", PRODUCTS, ids=lambda f: f.__name__)
def test_products_in_any_order(f):
    check(f, (U, C, V, S, T))


@pytest.mark.parametrize("place", range(5))
@pytest.mark.parametrize("f", PRODUCTS, ids=lambda f: f.__name__)
def test_the_gradient_by_one_of_them(f, place):
    """Fewer products are read, and more of them are one."""
    x, d = (U, C, V, S, T), [np.zeros_like(each) for each in (U, C, V, S, T)]
    d[place] = 0.1 * weights(*d[place].shape, 1)[..., 0]
    value, found = tn.jit(tn.value_and_grad(f, argnums=place))(*x)
    np.testing.assert_allclose([value, tn.jit(f)(*x)], f(*x), rtol=1e-10)
    scale = np.abs(np.asarray(found) * d[place]).sum()
    np.testing.assert_allclose(np.vdot(found, d[place]), slope(f, x, d), rtol=0, atol=1e-10 * scale)


def quotients(x, y):
    """Numbers within products under a sum, as derivatives of kernels have them."""
    d = np.sum((x[:, None] - y[None]) ** 2, axis=-1)
    return np.sum((d / x[0, 0]) * (np.exp(-d / y[0, 0]) * (x[1, 1] * np.cos(d))) / y[1, 1])


def test_factors_within_products_under_a_sum():
    check(quotients, (2 + 0.1 * weights(12, 2), 2 + 0.1 * weights(9, 2)))


def tanh_by_svd(way):
    def f(a):
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return way(u, np.tanh(s), vh)

    return f


W = weights(N, 64) / 8
WAYS_OF_SVD = {
    "scaled columns": lambda u, t, vh: np.sum(W * ((u * t) @ vh)),
    "scaled rows": lambda u, t, vh: np.sum(W * (u @ (t[:, None] * vh))),
    "a diagonal matrix": lambda u, t, vh: np.trace(W.T @ u @ np.diag(t) @ vh),
    "inner products": lambda u, t, vh: np.dot(t, np.sum(u * (W @ vh.T), axis=0)),
    "twice": lambda u, t, vh: np.sum(W * ((u * t) @ vh)) ** 2,
}


@pytest.mark.parametrize("name", WAYS_OF_SVD)
def test_functions_of_singular_values(name):
    """Divided differences of tanh (Lewis, Sendov (2005), Nonsmooth analysis of singular values)."""
    a = weights(N, 64) / 8
    found = np.asarray(tn.jit(tn.grad(tanh_by_svd(WAYS_OF_SVD[name])))(a))
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    t = np.tanh(s)
    inner = u.T @ W @ vh.T
    gaps = np.subtract.outer(s, s) + np.eye(64)
    even = (inner + inner.T) / 2 * (np.subtract.outer(t, t) / gaps + np.diag(1 - t * t))
    odd = (inner - inner.T) / 2 * (np.add.outer(t, t) / np.add.outer(s, s))
    outside = (W @ vh.T - u @ inner) * (t / s)
    wanted = (u @ (even + odd) + outside) @ vh
    factor = 2 * np.sum(W * ((u * t) @ vh)) if name == "twice" else 1.0
    np.testing.assert_allclose(found, factor * wanted, rtol=0, atol=1e-11 * np.abs(factor))


WAYS_OF_EIGH = {
    "scaled columns": lambda c, t, v: np.sum(c * ((v * t) @ v.T)),
    "scaled rows": lambda c, t, v: np.sum(c * (v @ (t[:, None] * v.T))),
    "a diagonal matrix": lambda c, t, v: np.sum(c * (v @ np.diag(t) @ v.T)),
    "the diagonal": lambda c, t, v: np.sum(t * np.diag(v.T @ c @ v)),
    "einsum": lambda c, t, v: np.einsum("ij,ik,k,jk->", c, v, t, v, optimize=True),
}


@pytest.mark.parametrize("name", WAYS_OF_EIGH)
def test_functions_of_eigenvalues(name):
    """Divided differences of tanh (Higham (2008), Functions of matrices, theorem 3.11)."""
    a, c = symmetric(np.linspace(-1, 1, N)), weights(N, N) / 8

    def f(a):
        w, v = np.linalg.eigh((a + a.T) / 2)
        return WAYS_OF_EIGH[name](c, np.tanh(w), v)

    found = np.asarray(tn.jit(tn.grad(f))(a))
    w, v = np.linalg.eigh(a)
    t = np.tanh(w)
    gaps = np.subtract.outer(w, w) + np.eye(N)
    divided = np.subtract.outer(t, t) / gaps + np.diag(1 - t * t)
    inner = v.T @ (c + c.T) @ v / 2 * divided
    np.testing.assert_allclose(found, v @ inner @ v.T, rtol=0, atol=1e-11)


@pytest.mark.parametrize("dtype", ["float32", "complex128", "complex64"])
@pytest.mark.parametrize("name", ["positive definite", "indefinite", "general"])
def test_other_dtypes(name, dtype):
    """∇ Re⟨w, a⁻¹ b⟩ = -a⁻ᴴ w (a⁻¹ b)ᴴ,  ∇ log |det a| = a⁻ᴴ."""
    a = MATRICES[name].astype(dtype)
    if dtype.startswith("complex"):
        phases = np.exp(1j * np.arange(N)).astype(dtype)
        a = np.tril(a * np.outer(phases, phases.conj()))
        a = a + np.tril(a, -1).conj().T if name != "general" else a + np.triu(MATRICES[name], 1)
        np.einsum("ii->i", a).imag = 0
        a = a.astype(dtype)
    b, w = (weights(N, k) @ np.ones(k) for k in (1, 2))
    b, w = b.astype(dtype), w.astype(dtype)

    def f(a, b):
        x = np.linalg.solve(a, b)
        return np.real(np.sum(np.conj(w) * x)) + np.linalg.slogdet(a)[1]

    value, (by_a, by_b) = tn.jit(tn.value_and_grad(f, argnums=(0, 1)))(a, b)
    wide = a.astype("complex128")
    x = np.linalg.solve(wide, b)
    back = np.linalg.solve(wide.conj().T, w)
    wanted = np.linalg.inv(wide).conj().T - np.outer(back, x.conj())
    tolerance = 1e-10 if dtype == "complex128" else 2e-3
    scale = np.abs(wanted).max()
    assert by_a.dtype == by_b.dtype == np.dtype(dtype)
    np.testing.assert_allclose(by_a, wanted, rtol=0, atol=tolerance * scale)
    np.testing.assert_allclose(by_b, back, rtol=0, atol=tolerance * np.abs(back).max())
    logs = np.linalg.slogdet(wide)[1]
    np.testing.assert_allclose(value, np.vdot(w, x).real + logs, rtol=0, atol=tolerance * 100)


def test_systems_inside_loops_and_maps():
    """A loop and a map over right-hand sides see the same factors."""
    a, rows = POSITIVE, weights(7, N)

    def step(total, y):
        return total + y @ np.linalg.solve(a, y) + np.linalg.slogdet(a)[1], None

    wanted = np.sum(rows * np.linalg.solve(a, rows.T).T) + 7 * np.linalg.slogdet(a)[1]
    looped = tn.jit(lambda rows: tn.scan(step, 0.0, rows)[0])(rows)
    mapped = tn.jit(tn.vmap(lambda y: y @ np.linalg.inv(a) @ y + np.linalg.slogdet(a)[1]))(rows)
    np.testing.assert_allclose(looped, wanted, rtol=1e-12)
    np.testing.assert_allclose(np.sum(np.asarray(mapped)), wanted, rtol=1e-12)
    back = tn.jit(tn.grad(lambda rows: tn.scan(step, 0.0, rows)[0]))(rows)
    np.testing.assert_allclose(back, 2 * np.linalg.solve(a, rows.T).T, rtol=1e-10)


def test_a_stack_of_matrices():
    """Some are positive definite, some are not."""
    stack = np.stack([*MATRICES.values()])
    rows = weights(len(stack), N)

    def f(a, y):
        return y @ np.linalg.solve(a, y) + np.linalg.slogdet(a)[1]

    value, (by_a, by_y) = tn.jit(tn.vmap(tn.value_and_grad(f, argnums=(0, 1))))(stack, rows)
    logs = np.linalg.slogdet(stack)[1]
    x = np.linalg.solve(stack, rows[..., None])[..., 0]
    back = np.linalg.solve(stack.transpose(0, 2, 1), rows[..., None])[..., 0]
    inverses = np.linalg.inv(stack).transpose(0, 2, 1)
    np.testing.assert_allclose(value, np.sum(rows * x, 1) + logs, rtol=1e-10)
    np.testing.assert_allclose(by_y, x + back, rtol=0, atol=1e-10 * np.abs(x).max())
    wanted = inverses - back[:, :, None] * x[:, None]
    np.testing.assert_allclose(by_a, wanted, rtol=0, atol=1e-10 * np.abs(wanted).max())


def test_what_reads_no_carry_leaves_a_loop():
    """Systems whose matrix, or right-hand sides, differ from step to step."""
    stack, rows = np.stack([POSITIVE, MATRICES["general"]] * 2), weights(4, N)

    def step(total, given):
        a, y = given
        z = np.linalg.solve(POSITIVE, y)
        return total * 0.5 + np.linalg.solve(a, z) @ y + np.linalg.slogdet(a)[1], None

    found = tn.jit(lambda stack, rows: tn.scan(step, 0.0, (stack, rows))[0])(stack, rows)
    terms = [
        np.linalg.solve(a, np.linalg.solve(POSITIVE, y)) @ y + np.linalg.slogdet(a)[1]
        for a, y in zip(stack, rows, strict=True)
    ]
    np.testing.assert_allclose(found, np.dot(terms, 0.5 ** np.arange(3.0, -1, -1)), rtol=1e-10)
