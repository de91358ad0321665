"""Entries of sparse derivatives that are accumulated: equal to the dense ones, and no others."""

import numpy as np
import pytest
from sparse_functions import (
    BLOCKS,
    MOVES,
    RNG,
    SPARSE,
    N,
    X,
    dense,
    energy,
    rosenbrock,
    rows_of,
    same,
    star,
)

import tenferro as tn
from tenferro.primitives import pad

CUBE = RNG.normal(size=(5, 2, 4))
AT = np.array([[3, 7, 7], [0, 39, 3], [12, 13, 14]])

# of x of 40 elements; each is a way in which parts move, meet or multiply
FUNCTIONS = {
    **{name: row[0] for name, row in SPARSE.items()},
    "rows and a full column": lambda x: x[1:] ** 2 * x[0],
    "diagonal beside a full row": lambda x: tn.concatenate([x.sum()[None] + x[:1] ** 2, x * x]),
    "summed twice": lambda x: tn.stack([x.sum() + x[3] ** 2 + x[5:9].sum(), x[0] * x[0] * x[1]]),
    "diagonal and dense": lambda x: x[:5] * (x**2).sum(),
    "overlapping windows": lambda x: tn.pad(x[:-1] ** 2, (0, 1)) + tn.pad(x[1:] ** 3, (1, 0)),
    "windows that hardly overlap": lambda x: tn.pad(x[:21] ** 2, (0, 19)) + tn.pad(x[20:], (20, 0)),
    "windows on a grid": lambda x: (
        tn.pad(x.reshape(5, 8)[1:] ** 2, ((1, 0), (0, 0)))
        + tn.pad(x.reshape(5, 8)[:, 1:], ((0, 0), (1, 0)))
    ),
    "reversed windows": lambda x: tn.pad(x[3:] ** 2, (1, 2))[::-1],
    "steps of a window": lambda x: tn.pad(x[3:30] ** 2, (5, 8))[2::3],
    "nothing of a window": lambda x: tn.pad(x[:10] ** 2, (0, 30))[12:] + x[12:],
    "cropped": lambda x: pad(x**2, 0.0, (-3,), (-4,), (0,)),
    "spaced": lambda x: pad(x[:9] ** 2, 0.0, (1,), (2,), (2,)),
    "padded with a sum": lambda x: pad(x[:5] ** 2, x[5:8].sum(), (2,), (1,), (1,)),
    "turned window": lambda x: tn.pad(x[:24].reshape(4, 6) ** 2, ((1, 0), (0, 2))).T,
    "reshaped window": lambda x: tn.pad(x[:24].reshape(4, 6) ** 2, ((1, 0), (0, 2))).reshape(-1),
    "repeated window": lambda x: (
        tn.broadcast_to(tn.pad(x[:3] ** 2, (1, 0)), (5, 4)) * x[:20].reshape(5, 4)
    ),
    "repeated column": lambda x: x[:5, None] * x[None, 5:9],
    "sums that keep an axis": lambda x: (x.reshape(5, 8) ** 2).sum(0, keepdims=True) * x[:8],
    "sums of a window": lambda x: (tn.pad(x.reshape(5, 8)[1:], ((1, 0), (0, 0))) ** 2).sum(1),
    "sums of equal columns": lambda x: (x[:5, None] * tn.ones((5, 7))).sum(1) ** 2,
    "sums of sums": lambda x: ((x.reshape(5, 4, 2) ** 2).sum(2) * x[:20].reshape(5, 4)).sum(1),
    "contracted on the left": lambda x: np.einsum("bij,bj->bi", CUBE, x[:20].reshape(5, 4)),
    "contracted on the right": lambda x: np.einsum("bij,kbi->bkj", CUBE, x[:30].reshape(3, 5, 2)),
    "contracted twice": lambda x: np.einsum("bij,bj->bi", BLOCKS, in_blocks(x)).reshape(-1) ** 2,
    "contracted window": lambda x: tn.pad(x[:12].reshape(3, 4), ((1, 1), (0, 0))) @ CUBE[0].T,
    "contracted with itself": lambda x: x[:12].reshape(3, 4) @ x[12:20].reshape(4, 2),
    "sums of nothing": lambda x: (x[:1] + x[:0]).sum() * x,
    "products of nothing": lambda x: (x[:1] * x[:0]) @ tn.ones((0, 3)) + x[:3],
    "outer product": lambda x: np.einsum("i,j->ij", x[:3], np.arange(4.0)),
    "gathered sums": lambda x: (x[AT] ** 2).sum(1),
    "gathered rows": lambda x: x.reshape(10, 4)[AT[::2, :2] % 10] * x[:4],
    "gathered and scattered": lambda x: tn.zeros(N).at[AT].add(x[AT] ** 2 * x[1]),
    "scattered and scaled": lambda x: tn.zeros(N).at[AT].add(x[AT] ** 2) * x,
    "scattered and moved": lambda x: tn.zeros(N).at[AT].add(x[AT] ** 2)[::-1].reshape(5, 8).T,
    "scattered and summed": lambda x: tn.zeros(N).at[AT].add(x[AT] ** 2).reshape(5, 8).sum(0),
    "scattered and joined": lambda x: tn.stack([tn.zeros(N).at[AT].add(x[AT]), x**2], 1),
    "scattered into values": lambda x: (x**2).at[AT[0, :2]].set(x[:2] ** 3),
    "written rows": lambda x: (x.reshape(10, 4) ** 2).at[np.array([3, 1])].set(x[:8].reshape(2, 4)),
    "written slice": lambda x: (x**2).at[7].set(x[3] * x[4]),
    "chosen both ways": lambda x: np.where(np.arange(N) % 3 == 0, x**2, x[::-1] ** 3),
    "divided": lambda x: (x[1:] - 2 * x[:-1]) / x[1:],
    "complex inside": lambda x: tn.imag(np.exp(1j * x[1:]) * x[:-1]),
    "complex result": lambda x: np.exp(1j * x[1:]) * x[:-1],
    "absolute": lambda x: abs(x[1:] * (1 + 1j) - x[:-1]),
    "single": lambda x: (x[1:].astype("float32") * x[:-1].astype("float32")).astype("float64"),
    "scalar": lambda x: x[3] * x[5] * x[3],
    "sum": lambda x: (x**2).sum(),
    "empty": lambda x: x[:0] ** 2,
    "twice the same": lambda x: x[np.array([1, 1, 1])].sum() * x[:2],
}  # fmt: skip
TOLERANCE = {"single": 1e-6}


def in_blocks(x):
    return np.sin(tn.einsum("bij,bj->bi", BLOCKS, x.reshape(-1, 4)))


def is_accumulated(transform, x):
    return "entries accumulated" in str(tn.explain(transform, x))


@pytest.mark.parametrize("wrap", [lambda f: f, tn.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_equal_those_of_the_dense_derivative(name, mode, wrap):
    function = FUNCTIONS[name]
    found = dense(wrap(tn.jacobian(function, mode=mode, sparse=True))(X))
    want = tn.jacobian(function, mode=mode, compress=False)(X)
    want = np.asarray(want).reshape(found.shape)
    assert found.dtype == want.dtype
    accuracy = TOLERANCE.get(name, 1e-13)
    np.testing.assert_allclose(found, want, rtol=accuracy, atol=accuracy)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_are_accumulated(name):
    """Entries of these Jacobians are accumulated, with no directions"""
    assert is_accumulated(tn.jacobian(FUNCTIONS[name], sparse=True), X)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_are_those_that_elements_depend_on(name):
    if name in ("complex inside", "complex result", "absolute"):
        pytest.skip("the walk over sets takes real arguments of real results")
    found = dense(tn.sparsity(FUNCTIONS[name])(X))
    assert [set(np.flatnonzero(row)) for row in found] == rows_of(FUNCTIONS[name], X)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("second", sorted(MOVES))
@pytest.mark.parametrize("first", sorted(MOVES))
def test_of_one_move_after_another(first, second, mode):
    x = np.linspace(0.5, 1.2, 12)
    for k in (0, 5):
        function = lambda x, k=k: MOVES[second](MOVES[first](x, k) ** 2, 11 - k)  # noqa: E731
        found = dense(tn.jacobian(function, mode=mode, sparse=True)(x))
        want = tn.jacobian(function, mode=mode, compress=False)(x)
        np.testing.assert_allclose(found, want, rtol=1e-12, atol=1e-13)


class TestSecondDerivatives:
    @pytest.mark.parametrize(
        "function",
        [
            rosenbrock,
            energy,
            star,
            lambda x: (x[AT] ** 3).sum() + x[3] * x[7] * x[12],
            lambda x: (x[1:] * x[:-1] * x[0]).sum(),
            lambda x: (x.reshape(4, 10).sum(1) ** 3).sum(),
            lambda x: x[0] + x[1],
            lambda x: (x[::2] ** 2 * x[1::2]).sum() ** 2,
        ],
    )
    @pytest.mark.parametrize("wrap", [lambda f: f, tn.jit], ids=["eager", "jit"])
    def test_equal_the_dense_ones(self, function, wrap):
        found = wrap(tn.hessian(function, sparse=True))(X)
        np.testing.assert_allclose(
            dense(found), tn.hessian(function, compress=False)(X), rtol=1e-12, atol=1e-12
        )

    def test_compute_one_side_of_the_diagonal(self):
        """Of three diagonals two are computed."""
        graph = tn.jit(tn.hessian(rosenbrock, sparse=True)).lower(X)
        (joined,) = [
            graph.avals[node.outputs[0]]
            for node in graph.nodes
            if type(node.operation).__name__ == "Concatenate"
        ]
        assert joined.shape == (2 * N - 1,)

    def test_of_vectors_are_matrices_of_rows(self):
        function = lambda x: x[1:] ** 2 * x[:-1]  # noqa: E731
        found = tn.hessian(function, sparse=True)(X)
        want = tn.hessian(function, compress=False)(X)
        np.testing.assert_allclose(dense(found), want.reshape(-1, N), rtol=1e-12)


class TestArguments:
    @pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
    def test_that_are_complex(self, mode):
        z = X * (1 + 2j)
        for function, options in (
            (lambda z: z[1:] ** 2 * z[:-1], {"holomorphic": True}),
            (lambda z: abs(z[1:] * z[:-1]) ** 2, {}),
            (lambda z: z.real * z.imag, {}),
            (lambda z: z.conj()[1:].real * z[:-1].imag, {"convention": "jax"}),
        ):
            found = tn.jacobian(function, mode=mode, sparse=True, **options)(z)
            want = tn.jacobian(function, mode=mode, compress=False, **options)(z)
            np.testing.assert_allclose(dense(found), want, rtol=1e-12, atol=1e-13)

    @pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
    def test_of_single_precision(self, mode):
        x = X.astype("float32")
        function = FUNCTIONS["rows and a full column"]
        found = dense(tn.jacobian(function, mode=mode, sparse=True)(x))
        assert found.dtype == np.float32
        want = tn.jacobian(function, mode=mode, compress=False)(x)
        np.testing.assert_allclose(found, want, rtol=1e-5)

    @pytest.mark.parametrize("x", [np.float64(2.0), np.ones((1, 1)), np.ones((0, 3)), np.ones(1)])
    @pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
    def test_of_other_shapes(self, x, mode):
        for function in (lambda x: x**2, lambda x: (x**2).sum(), lambda x: tn.stack([x, 3 * x])):
            found = tn.jacobian(function, mode=mode, sparse=True)(x)
            want = np.asarray(tn.jacobian(function, mode=mode, compress=False)(x))
            assert found.shape == (np.asarray(function(x)).size, np.size(x))
            np.testing.assert_allclose(dense(found), want.reshape(found.shape))

    @pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
    def test_of_shared_parameters(self, mode):
        """Residuals that read a camera, a point and two parameters of all."""
        cameras, points = np.array([0, 1, 1, 0, 2]), np.array([0, 1, 2, 3, 3])
        p = {
            "camera": RNG.uniform(1, 2, (3, 4)),
            "point": RNG.uniform(1, 2, (4, 3)),
            "lens": np.array([0.1, 0.2]),
        }

        def residuals(p):
            c, q = p["camera"][cameras], p["point"][points]
            z = q + c[:, :3]
            xy = z[:, :2] / z[:, 2:]
            r = (xy**2).sum(1, keepdims=True)
            return (xy * (1 + p["lens"][0] * r + p["lens"][1] * r**2) * c[:, 3:]).reshape(-1)

        found = tn.jit(tn.jacobian(residuals, mode=mode, sparse=True))(p)
        want = tn.jacobian(residuals, compress=False)(p)
        for name, count in (("camera", 40), ("point", 30), ("lens", 20)):
            expected = np.asarray(want[name]).reshape(10, -1)
            np.testing.assert_allclose(dense(found[name]), expected, rtol=1e-12, atol=1e-14)
            assert len(np.asarray(found[name].data)) == count

    def test_beyond_the_size_of_sets(self):
        x = np.linspace(0.5, 1.5, 50_000)
        found = tn.jit(tn.jacobian(lambda x: x[1:] * x[:-1], sparse=True))(x)
        expected = np.stack([x[1:], x[:-1]], 1).reshape(-1)
        np.testing.assert_allclose(np.asarray(found.data), expected)


class TestWithoutRules:
    """A pattern that accumulation does not find goes through colours, or is refused."""

    @pytest.mark.parametrize("function", [np.cumsum, tn.sort])
    @pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
    def test_are_found_by_directions(self, function, mode):
        transform = tn.jacobian(function, mode=mode, sparse=True)
        same(transform(X), tn.jacobian(function, mode=mode, compress=False)(X))
        assert not is_accumulated(transform, X)

    @pytest.mark.parametrize("wrap", [lambda f: f, tn.jit], ids=["eager", "jit"])
    @pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
    def test_follow_positions_that_are_computed(self, mode, wrap):
        function = lambda x: x[tn.argmax(x)] * x  # noqa: E731
        transform = wrap(tn.jacobian(function, mode=mode, sparse=True))
        for x in (X, X[::-1].copy(), np.roll(X, 5)):
            same(transform(x), tn.jacobian(function, mode=mode, compress=False)(x))

    @pytest.mark.parametrize("wrap", [lambda f: f, tn.jit], ids=["eager", "jit"])
    def test_follow_positions_in_arguments(self, wrap):
        transform = wrap(tn.jacobian(lambda x, at: x[at] ** 2, sparse=True))
        for places in ([3, 5, 7], [7, 0, 2]):
            want = np.zeros((3, N))
            want[range(3), places] = 2 * X[places]
            same(transform(X, np.array(places)), want)

    def test_of_a_pullback_of_the_user_go_backward(self):
        @tn.custom_vjp
        def square(x):
            return x * x

        square.defvjp(lambda x: (x * x, x), lambda x, ct: (2 * x * ct,))
        transform = tn.jacobian(lambda x: square(x)[1:], sparse=True)
        same(transform(X), np.diag(2 * X)[1:])

    def test_of_products_that_are_dense(self):
        matrix = RNG.normal(size=(N, N))
        same(tn.jacobian(lambda x: np.tanh(matrix @ x), sparse=True)(X),
             tn.jacobian(lambda x: np.tanh(matrix @ x), compress=False)(X))  # fmt: skip


def test_nan_outside_of_the_pattern_reaches_nothing():
    """Zeros are not computed, so that no product with an infinite coefficient is."""
    x = X.copy()
    x[7] = 0.0
    found = dense(tn.jacobian(lambda x: 1 / x[1:] + x[:-1], sparse=True)(x))
    with np.errstate(divide="ignore"):
        want = np.eye(N)[:-1] + np.zeros((N - 1, N))
        want[range(N - 1), range(1, N)] -= x[1:] ** -2.0
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(want))


def test_coefficients_that_cancel_do_not_grow():
    """x_i - x_i has no derivative, whatever it is multiplied with, in each step of a recurrence"""
    weights = RNG.normal(size=(4, 4)) + 1000 * np.eye(4)
    step = weights * (1 - np.eye(4))
    step += np.eye(4) - np.diag(step.sum(1))

    def steps(x):
        for _ in range(6):
            x = x + (weights * (x[None] - x[:, None])).sum(1)
        return x

    found = tn.jacobian(steps, sparse=True)(X[:4])
    np.testing.assert_allclose(found.toarray(), np.linalg.matrix_power(step, 6), rtol=1e-10)
