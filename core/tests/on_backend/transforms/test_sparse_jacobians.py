"""Sparse Jacobians: fewer directions, the same dense result, nothing outside the pattern."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sparse_functions import (
    DENSE,
    MOVES,
    RNG,
    SPARSE,
    N,
    X,
    directions,
    rosenbrock,
    rows_of,
)  # fmt: skip

import tenferro as tn
from tenferro.transforms.patterns import compressed as _compressed
from tenferro.transforms.patterns.colouring import coloured
from tenferro.transforms.patterns.pattern import pattern


def nonzeros(matrix):
    return [set(np.flatnonzero(row)) for row in matrix.reshape(-1, N)]


class TestResults:
    @pytest.mark.parametrize("mode", ["forward", "reverse", "auto"])
    @pytest.mark.parametrize("name", [*SPARSE, *DENSE])
    def test_are_those_of_all_directions(self, name, mode):
        function = {**{k: v[0] for k, v in SPARSE.items()}, **DENSE}[name]
        want = tn.jacobian(function, mode=mode, compress=False)(X)
        for compress in (None, True):
            found = tn.jacobian(function, mode=mode, compress=compress)(X)
            assert found.shape == want.shape
            assert found.dtype == want.dtype
            np.testing.assert_allclose(found, want, rtol=1e-13, atol=1e-15)
            assert not found[want == 0].any()

    def test_of_rosenbrock_in_closed_form(self):
        main = np.zeros(N)
        main[:-1] = 1200 * X[:-1] ** 2 - 400 * X[1:] + 2
        main[1:] += 200
        beside = -400 * X[:-1]
        want = np.diag(main) + np.diag(beside, 1) + np.diag(beside, -1)
        for wrap in (lambda f: f, tn.jit):
            np.testing.assert_allclose(wrap(tn.hessian(rosenbrock))(X), want, rtol=1e-13)

    def test_keep_other_dtypes(self):
        x = X.astype("float32")
        found = tn.hessian(rosenbrock)(x)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, tn.hessian(rosenbrock, compress=False)(x), rtol=1e-6)

    def test_have_the_shape_of_output_and_argument(self):
        found = tn.jacobian(lambda x: x * x)(X.reshape(5, 8))
        want = np.diag(2 * X).reshape(5, 8, 5, 8)
        np.testing.assert_allclose(found, want)


class TestDirections:
    @pytest.mark.parametrize("name", SPARSE)
    def test_are_as_many_as_columns_that_share_a_row(self, name):
        function, count = SPARSE[name]
        assert directions(tn.jacfwd(function), X) == count

    @pytest.mark.parametrize("name", DENSE)
    def test_are_all_where_the_pattern_is_full(self, name):
        assert directions(tn.jacfwd(DENSE[name]), X) is None

    @pytest.mark.parametrize("n", [50, 333])
    def test_of_a_tridiagonal_hessian_are_three_at_any_size(self, n):
        assert directions(tn.hessian(rosenbrock), tn.Aval((n,), "float64")) == 3

    def test_of_many_results_of_few_arguments_are_rows(self):
        """Each sum reads a block: the rows are orthogonal, and one sweep back finds all."""
        function = lambda x: (x.reshape(20, 2) ** 2).sum(1)  # noqa: E731
        assert directions(tn.jacrev(function, compress=True), X) == 1
        wide = lambda x: (x.reshape(40, 100) ** 2).sum(1)  # noqa: E731
        assert directions(tn.jacobian(wide), tn.Aval((4000,), "float64")) == 1

    def test_go_alone_unasked_where_they_are_few(self):
        few = tn.Aval((8,), "float64")
        assert directions(tn.hessian(rosenbrock), few) is None
        assert directions(tn.hessian(rosenbrock, compress=True), few) == 3

    def test_go_alone_where_their_bits_would_take_much_memory(self):
        many = tn.Aval((40_000,), "float64")
        assert directions(tn.jacfwd(lambda x: x[:3] ** 2), many) is None

    def test_go_alone_where_that_is_asked(self):
        assert directions(tn.hessian(rosenbrock, compress=False), X) is None

    def test_are_found_once_for_many_calls(self, monkeypatch):
        calls = []

        def counted(*given, **options):
            calls.append(given)
            return pattern(*given, **options)

        monkeypatch.setattr(_compressed, "pattern", counted)
        function = tn.hessian(lambda x: (x[2:] * x[1:-1] * x[:-2]).sum())
        for _ in range(3):
            function(X)
        assert len(calls) == 1


class TestPositions:
    """A program that relies on positions serves these alone."""

    def test_of_the_user_may_change_from_call_to_call(self):
        for i in (3, 0, 3, 8):
            found = tn.jacobian(lambda x, i=i: x[i] * x[i + 1 :: 40] + x * x)(X)
            want = np.diag(2 * X)
            want[:, i] += X[i + 1]
            want[:, i + 1] += X[i]
            np.testing.assert_allclose(found, want)

    def test_in_arguments_may_change_from_call_to_call(self):
        for places in ([3, 5, 7], [7, 0, 2]):
            found = tn.jacobian(lambda x, at: x[at] ** 2)(X, np.array(places))
            want = np.zeros((3, N))
            want[range(3), places] = 2 * X[places]
            np.testing.assert_array_equal(found, want)

    @pytest.mark.parametrize("wrap", [tn.jit, lambda f: tn.vmap(f, (None, 0))], ids=["jit", "vmap"])
    def test_that_are_arguments_of_a_program_are_not_known(self, wrap):
        whole = wrap(tn.jacobian(lambda x, at: x[at] ** 2))
        for places in ([3, 5, 7], [7, 0, 2]):
            at = np.array(places)
            if wrap is not tn.jit:
                at = at[:, None]
            want = np.zeros((3, N))
            want[range(3), places] = 2 * X[places]
            np.testing.assert_array_equal(np.reshape(whole(X, at), (3, N)), want)

    def test_that_always_change_are_followed_by_one_program(self, monkeypatch):
        calls = []

        def counted(*given, **options):
            calls.append(given)
            return pattern(*given, **options)

        monkeypatch.setattr(_compressed, "pattern", counted)
        for i in range(38):
            found = tn.jacfwd(lambda x, i=i: x * x - x[i] * 0.3)(X)
            want = np.diag(2 * X)
            want[:, i] -= 0.3
            np.testing.assert_allclose(found, want)
        assert 2 < len(calls) < 12

    def test_that_are_scalars_of_a_program(self):
        whole = tn.jit(lambda x, i: tn.jacobian(lambda y: y[i] * y[::39])(x))
        for i in (3, 5):
            want = np.zeros((2, N))
            want[range(2), [0, 39]] = X[i]
            want[:, i] += X[[0, 39]]
            np.testing.assert_allclose(whole(X, i), want)

    def test_that_a_program_closes_over(self):
        for at in (np.array([3, 5]), np.array([5, 4])):
            found = tn.jit(tn.jacobian(lambda x, at=at: x[at] ** 2))(X)
            want = np.zeros((2, N))
            want[range(2), at] = 2 * X[at]
            np.testing.assert_array_equal(found, want)

    @pytest.mark.parametrize("wrap", [tn.jit, lambda f: f], ids=["jit", "eager"])
    def test_that_are_computed_follow_the_values(self, wrap):
        whole = wrap(tn.jacobian(lambda x: x[tn.argmax(x)] * x))
        for x in (X, X[::-1].copy(), np.roll(X, 5)):
            want = np.diag(np.full(N, x.max()))
            want[:, x.argmax()] += x
            np.testing.assert_allclose(whole(x), want)


class TestNesting:
    def test_derivatives_of_a_hessian(self):
        weights = RNG.normal(size=(N, N))

        def scalar(compress):
            return lambda x: (weights * tn.hessian(rosenbrock, compress=compress)(x)).sum()

        np.testing.assert_allclose(
            tn.grad(scalar(None))(X), tn.grad(scalar(False))(X), rtol=1e-12, atol=1e-9
        )
        one = tn.jvp(tn.hessian(rosenbrock), (X,), (X,))[1]
        two = tn.jvp(tn.hessian(rosenbrock, compress=False), (X,), (X,))[1]
        np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-9)

    def test_third_derivative(self):
        """∂³ Σ x³ = 6 on the diagonal"""
        found = tn.jacfwd(tn.hessian(lambda x: (x**3).sum()))(X)
        want = np.zeros((N, N, N))
        want[range(N), range(N), range(N)] = 6
        np.testing.assert_allclose(found, want)

    def test_vmap(self):
        """vmap(hessian) = dense Hessian of each"""
        xs = RNG.normal(size=(3, N))
        found = tn.vmap(tn.hessian(rosenbrock))(xs)
        want = [tn.hessian(rosenbrock, compress=False)(x) for x in xs]
        np.testing.assert_allclose(found, np.stack(want), rtol=1e-12)

    def test_closure_over_an_outer_argument(self):
        """∂/∂a Σ J(a sin x) = Σ cos x"""

        def total(a):
            return tn.jacobian(lambda x: a * np.sin(x))(X).sum()

        np.testing.assert_allclose(tn.grad(total)(2.0), np.cos(X).sum())
        np.testing.assert_allclose(tn.jit(tn.grad(total))(2.0), np.cos(X).sum())

    def test_argument_that_is_also_closed_over(self):
        """d/dx Σ_i x_i d/dy_i (x_i y_i²) at y = x is 6 x"""

        def total(x):
            return (tn.jacobian(lambda y: x * y * y)(x) @ x).sum()

        np.testing.assert_allclose(tn.grad(total)(X), 6 * X**2, rtol=1e-12)


class TestStructures:
    def test_pytrees_in_which_leaves_differ(self):
        function = lambda t: {"a": t["v"] ** 2 * t["s"], "b": np.cumsum(t["v"])}  # noqa: E731
        found = tn.jacobian(function, mode="forward")({"v": X, "s": 3.0})
        np.testing.assert_allclose(found["a"]["v"], np.diag(6 * X))
        np.testing.assert_allclose(found["a"]["s"], X**2)
        np.testing.assert_allclose(found["b"]["v"], np.tril(np.ones((N, N))))
        np.testing.assert_allclose(found["b"]["s"], np.zeros(N))

    @pytest.mark.parametrize("mode", ["forward", "reverse", "auto"])
    def test_many_arguments_and_results(self, mode):
        function = lambda x, y: (x * y, x[1:] - x[:-1], np.sin(y))  # noqa: E731
        y = X[::-1].copy()
        found = tn.jacobian(function, (0, 1), mode=mode)(X, y)
        np.testing.assert_allclose(found[0][0], np.diag(y))
        np.testing.assert_allclose(found[0][1], np.diag(X))
        np.testing.assert_allclose(found[1][0], np.eye(N)[1:] - np.eye(N)[:-1])
        np.testing.assert_allclose(found[1][1], np.zeros((N - 1, N)))
        np.testing.assert_allclose(found[2][1], np.diag(np.cos(y)))

    def test_hessian_of_two_arguments(self):
        """H Σ a b² = [[0, 2b], [2b, 2a]], each on a diagonal"""
        b = X[::-1].copy()
        found = tn.hessian(lambda a, b: (a * b * b).sum(), (0, 1))(X, b)
        np.testing.assert_allclose(found[0][0], np.zeros((N, N)))
        np.testing.assert_allclose(found[0][1], np.diag(2 * b))
        np.testing.assert_allclose(found[1][0], np.diag(2 * b))
        np.testing.assert_allclose(found[1][1], np.diag(2 * X))

    def test_hessian_nests_as_the_jacobian_of_the_jacobian(self):
        function = lambda t, c: {"s": t["a"] * c, "n": (t["b"] ** 3).sum() * c}  # noqa: E731
        args = {"a": 2.0, "b": X[:5]}, 3.0
        found = tn.hessian(function, (0, 1))(*args)
        want = tn.jacfwd(tn.jacrev(function, (0, 1)), (0, 1))(*args)
        np.testing.assert_allclose(found["n"][0]["b"][0]["b"], np.diag(18 * X[:5]))
        np.testing.assert_allclose(found["n"][1][0]["b"], 3 * X[:5] ** 2)
        for name in ("s", "n"):
            for i, j in ((0, 0), (0, 1), (1, 0)):
                one, two = found[name][i], want[name][i]
                if i == 0:
                    one, two = one["b"], two["b"]
                one, two = one[j], two[j]
                if j == 0:
                    one, two = one["a"], two["a"]
                np.testing.assert_allclose(one, two)

    def test_aux(self):
        """(jacobian, aux), where directions are compressed"""
        found, aux = tn.jacobian(lambda x: (x * x, x.sum()), has_aux=True)(X)
        np.testing.assert_allclose(found, np.diag(2 * X))
        np.testing.assert_allclose(aux, X.sum())


@pytest.mark.parametrize("mode", ["forward", "reverse", "auto"])
class TestComplex:
    z = X + 1j * X[::-1]

    def test_holomorphic(self, mode):
        """d exp z = diag(exp z) for complex z"""
        found = tn.jacobian(np.exp, holomorphic=True, mode=mode)(self.z)
        np.testing.assert_allclose(found, np.diag(np.exp(self.z)), rtol=1e-14)

    def test_real_result_has_gradients_as_rows(self, mode):
        found = tn.jacobian(lambda z: abs(z) ** 2, mode=mode)(self.z)
        np.testing.assert_allclose(found, np.diag(2 * self.z), rtol=1e-14)

    def test_complex_result_of_real_arguments(self, mode):
        found = tn.jacobian(lambda x: np.exp(1j * x), mode=mode)(X)
        np.testing.assert_allclose(found, np.diag(1j * np.exp(1j * X)), rtol=1e-14)


class TestPatterns:
    @pytest.mark.parametrize("name", [*SPARSE, *DENSE])
    def test_hold_every_nonzero(self, name):
        function = {**{k: v[0] for k, v in SPARSE.items()}, **DENSE}[name]
        dense = tn.jacobian(function, compress=False)(X)
        pairs = zip(rows_of(function, X), nonzeros(dense), strict=True)
        assert all(got >= need for got, need in pairs)

    @pytest.mark.parametrize(
        "name",
        [
            "neighbours",
            "heat",
            "laplace",
            "blocks",
            "moved",
            "slot",
            "gathered",
            "rows gathered",
            "added at",
            "diagonal",
            "set at",
            "one element",
            "columns",
        ],
    )
    def test_hold_nothing_else_where_elements_are_only_moved_and_added(self, name):
        function = SPARSE[name][0]
        assert rows_of(function, X) == nonzeros(tn.jacobian(function, compress=False)(X))

    def test_of_a_cumulative_sum_is_a_triangle(self):
        assert rows_of(np.cumsum, X) == [set(range(i + 1)) for i in range(N)]

    def test_of_positions_that_are_computed_keep_the_axes_that_are_taken_whole(self):
        def function(x):
            rows = x.reshape(4, 10)
            return rows[tn.argmax(rows[:, 0])] ** 2

        assert rows_of(function, X) == [{j, 10 + j, 20 + j, 30 + j} for j in range(10)]


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(sorted(MOVES)), st.integers(0, 11)), min_size=1, max_size=5),
    st.sampled_from(["forward", "reverse"]),
)
def test_random_programs(steps, mode):
    """The dense result with and without colours, and a pattern that holds all of it."""

    def function(x):
        for name, k in steps:
            x = MOVES[name](x, k)
        return x

    x = np.linspace(0.5, 1.2, 12)
    want = tn.jacobian(function, mode=mode, compress=False)(x)
    found = tn.jacobian(function, mode=mode, compress=True)(x)
    np.testing.assert_allclose(found, want, rtol=1e-12, atol=1e-13)
    got = rows_of(function, x)
    assert all(row >= set(np.flatnonzero(line)) for row, line in zip(got, want, strict=True))


class TestColours:
    @settings(max_examples=60, deadline=None)
    @given(st.lists(st.sets(st.integers(0, 15), max_size=5), max_size=20))
    def test_separate_the_columns_of_each_row(self, rows):
        bits = [sum(1 << column for column in row) for row in rows]
        colours = coloured(bits, 16, 16)
        for row in rows:
            assert len({colours[column] for column in row}) == len(row)

    def test_are_given_up_where_they_are_too_many(self):
        assert coloured([0b1111], 4, 3) is None
        assert coloured([0b11, 0b110, 0b101], 3, 2) is None
