"""Programs in the Array API standard: what runs on array-api-strict runs here, with equal results.

array-api-strict has nothing but the standard of December 2024, so a program that it runs is one.
"""

import numpy as np
import pytest

import tenferro as tn

strict = pytest.importorskip("array_api_strict")


def softmax(xp):
    x = xp.reshape(xp.linspace(-2.0, 2.0, 6), (2, 3))
    e = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return e / xp.sum(e, axis=-1, keepdims=True)


def standard_scores(xp):
    x = xp.asarray([[1.0, 2.0, 4.0], [0.5, -1.0, 3.0], [2.5, 2.0, 2.0]])
    return (x - xp.mean(x, axis=0)) / xp.std(x, axis=0, correction=1.0)


def distances(xp):
    x = xp.reshape(xp.arange(12, dtype=xp.float64), (4, 3))
    d = xp.expand_dims(x, axis=0) - xp.expand_dims(x, axis=1)
    return xp.sqrt(xp.sum(d * d, axis=-1))


def nearest_centre(xp):
    x = xp.asarray([[0.0, 0.1], [1.0, 1.2], [0.9, 1.0], [0.2, 0.0]])
    c = x[:2, :]
    d = xp.sum((x[:, None, :] - c[None, :, :]) ** 2, axis=2)
    return xp.argmin(d, axis=1)


def power_iteration(xp):
    a = xp.asarray([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
    v = xp.ones(3)
    for _ in range(20):
        v = a @ v
        v = v / xp.sqrt(xp.vecdot(v, v))
    return xp.vecdot(v, a @ v)


def triangles(xp):
    a = xp.reshape(xp.arange(16), (4, 4))
    return xp.tril(a) - xp.triu(a, k=1) + xp.eye(4, dtype=a.dtype)


def masked(xp):
    x = xp.asarray([3.0, -1.0, 2.0, -5.0])
    return xp.sum(xp.where(x > 0, x, xp.zeros_like(x))), x[x < 0]


def ranks(xp):
    x = xp.asarray([0.3, -1.0, 2.0, 0.1])
    return xp.argsort(xp.argsort(x)), xp.sort(x, descending=True), xp.searchsorted(xp.sort(x), x)


def counting(xp):
    found = xp.unique_counts(xp.asarray([3, 1, 3, 2, 1, 3]))
    return found.values, found.counts


def running(xp):
    x = xp.asarray([1.0, 2.0, 3.0, 4.0])
    return xp.cumulative_sum(x), xp.cumulative_prod(x), xp.diff(x), xp.flip(x), xp.roll(x, 1)


def bits(xp):
    x = xp.asarray([5, 12, 255], dtype=xp.uint8)
    return x & 6, x | 1, x ^ 3, ~x, x << 1, x >> 2


def whole_numbers(xp):
    x, y = xp.asarray([7, -7, 7, -7]), xp.asarray([3, 3, -3, -3])
    return x // y, x % y, xp.abs(x), xp.sign(x), xp.astype(x, xp.float32) / 3.0


def complex_numbers(xp):
    z = xp.exp(2j * xp.pi * xp.arange(5, dtype=xp.float64) / 5)
    return xp.real(z), xp.imag(z * xp.conj(z)), xp.abs(z), xp.prod(z)


def grids(xp):
    x, y = xp.meshgrid(xp.arange(3), xp.arange(2), indexing="ij")
    return xp.stack([x, y]), xp.concat([x, y], axis=1), xp.permute_dims(x, (1, 0))


def shapes(xp):
    x = xp.arange(6)
    a, b = xp.broadcast_arrays(xp.reshape(x, (6, 1)), xp.ones((1, 2)))
    return a, b, xp.tile(x, (2,)), xp.repeat(x, 2), xp.squeeze(xp.reshape(x, (1, 6)), axis=0)


def rounding(xp):
    x = xp.asarray([-1.5, -0.5, 0.5, 1.5, 2.5])
    return xp.floor(x), xp.ceil(x), xp.trunc(x), xp.round(x), xp.signbit(x)


def contraction(xp):
    a = xp.reshape(xp.arange(24, dtype=xp.float64), (2, 3, 4))
    return xp.tensordot(a, a, axes=((0, 1), (0, 1))), xp.matmul(a, xp.matrix_transpose(a))


def assignment(xp):
    x = xp.zeros((3, 3))
    x[0, :] = 1.0
    x[:, 2] = xp.asarray([5.0, 6.0, 7.0])
    x[1, 1] = -2.0
    return x


def taking(xp):
    x = xp.reshape(xp.arange(12), (3, 4))
    at = xp.asarray([[0], [3], [1]])
    return xp.take(x, xp.asarray([2, 0]), axis=1), xp.take_along_axis(x, at, axis=1)


def least_squares(xp):
    x = xp.linspace(0.0, 1.0, 6)
    a = xp.stack([xp.ones(6), x, x * x], axis=1)
    y = xp.exp(x)
    normal = xp.matrix_transpose(a) @ a
    return xp.linalg.solve(normal, xp.matrix_transpose(a) @ y[:, None]), xp.linalg.pinv(a) @ y


def gaussian_likelihood(xp):
    x = xp.linspace(0.0, 2.0, 5)
    d = xp.expand_dims(x, axis=0) - xp.expand_dims(x, axis=1)
    k = xp.exp(-(d**2)) + 0.1 * xp.eye(5)
    sign, logarithm = xp.linalg.slogdet(k)
    factor = xp.linalg.cholesky(k)
    half = xp.sum(xp.log(xp.linalg.diagonal(factor)))
    return x @ xp.linalg.inv(k) @ x, sign, logarithm, half, xp.linalg.det(k)


def low_rank(xp):
    a = xp.reshape(xp.arange(12, dtype=xp.float64), (3, 4))
    u, s, vh = xp.linalg.svd(a, full_matrices=False)
    kept = (u[:, :2] * s[:2]) @ vh[:2, :]
    return kept, s[:2], xp.linalg.svdvals(a)[:2], xp.linalg.matrix_rank(a)


def principal_axes(xp):
    x = xp.asarray([[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 3.0]])
    w, v = xp.linalg.eigh(x)
    return w, xp.abs(v), xp.linalg.eigvalsh(x), (v * w) @ xp.matrix_transpose(v)


def orthonormal(xp):
    a = xp.asarray([[1.0, 2.0], [0.0, 1.0], [1.0, 0.0]])
    q, r = xp.linalg.qr(a)
    return xp.abs(r), q @ r, xp.matrix_transpose(q) @ q + 0.0


def norms(xp):
    a = xp.asarray([[1.0, -2.0, 0.0], [3.0, 0.5, -1.0]])
    orders = (0, 1, 2, 3.5, -1.0, float("inf"))
    vectors = tuple(xp.linalg.vector_norm(a + 4.0, axis=1, ord=order) for order in orders)
    matrices = tuple(xp.linalg.matrix_norm(a, ord=order) for order in ("fro", "nuc", 1, 2, -2))
    return (*vectors, *matrices, xp.linalg.vector_norm(a * 1j, keepdims=True))


def products(xp):
    a = xp.reshape(xp.arange(8, dtype=xp.float64), (2, 2, 2))
    x, y = xp.asarray([1.0, 2.0, 3.0]), xp.asarray([0.5, -1.0, 2.0])
    return (
        xp.linalg.matrix_power(a, 3), xp.linalg.cross(x, y), xp.linalg.outer(x, y),
        xp.linalg.trace(a), xp.linalg.vecdot(x, y), xp.linalg.matmul(a, a),
        xp.linalg.tensordot(a, a, axes=1), xp.linalg.matrix_transpose(a),
    )  # fmt: skip


PROGRAMS = [
    softmax, standard_scores, distances, nearest_centre, power_iteration, triangles, masked, ranks,
    counting, running, bits, whole_numbers, complex_numbers, grids, shapes, rounding, contraction,
    assignment, taking, least_squares, gaussian_likelihood, low_rank, principal_axes, orthonormal,
    norms, products,
]  # fmt: skip


def _numbers(result):
    return [np.asarray(x) for x in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_equal_results(program):
    """Same values, shapes and dtypes"""
    with strict.ArrayAPIStrictFlags(api_version="2024.12"):
        want = _numbers(program(strict))
    got = _numbers(program(tn))
    assert len(got) == len(want)
    for x, y in zip(got, want, strict=True):
        assert x.dtype == y.dtype
        assert x.shape == y.shape
        np.testing.assert_allclose(x, y, rtol=1e-13, atol=1e-15)


def test_arrays_name_their_namespace():
    assert tn.ones(2).__array_namespace__() is tn
    assert tn.ones(2).__array_namespace__(api_version="2024.12") is tn
