"""Derivatives as sparse matrices, their patterns, and directions that both modes share."""

import numpy as np
import pytest
from sparse_functions import (
    DENSE,
    SPARSE,
    N,
    X,
    dense,
    directions,
    energy,
    laplace,
    rosenbrock,
    same,
    star,
)

import tenferro as tn
from tenferro.transforms.patterns.colouring import columns_of, star_coloured
from tenferro.transforms.patterns.two_way import two_way

FUNCTIONS = {**{name: row[0] for name, row in SPARSE.items()}, **DENSE}


def arrowhead(x):
    """A full row, a full column and a diagonal."""
    return tn.concatenate([tn.sum(x**2)[None], x[1:] ** 2 * x[0] + x[1:]])


#: functions whose derivative has no entry, an argument, and the size of the result
WITHOUT_ENTRIES = {
    "constant": (lambda x: np.full_like(x[:3], 2.0), X[:4], 3),
    "of nothing": (np.sin, X[:0], 0),
    "nothing of it": (lambda x: x[:0] ** 2, X[:3], 0),
    "steps": (np.sign, X[:3], 3),
}


class TestMatrices:
    @pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_have_the_values_of_the_dense_derivative(self, name, mode):
        function = FUNCTIONS[name]
        same(
            tn.jacobian(function, mode=mode, sparse=True)(X),
            tn.jacobian(function, mode=mode, compress=False)(X),
        )

    @pytest.mark.parametrize("name", SPARSE)
    def test_hold_the_entries_of_the_pattern_alone(self, name):
        function = FUNCTIONS[name]
        found, pattern = tn.jacobian(function, sparse=True)(X), tn.sparsity(function)(X)
        count = found.nnz if hasattr(found, "nnz") else found.nse
        assert count == pattern.nnz < 12 * N
        holds = dense(pattern)
        assert holds.dtype == bool
        assert not (dense(found) != 0)[~holds].any()

    @pytest.mark.parametrize("wrapped", [lambda f: f, tn.jit])
    def test_of_float16_are_refused_since_scipy_has_none(self, wrapped):
        x = np.arange(4, dtype=np.float16)
        with pytest.raises(tn.BackendError, match="no sparse matrices of float16") as raised:
            wrapped(tn.jacobian(lambda x: x[1:] * x[:-1], sparse=True))(x)
        assert raised.value.feature == "sparse matrices of float16"
        product = tn.jit(lambda x: tn.jacobian(lambda x: x[1:] * x[:-1], sparse=True)(x) @ x)
        np.testing.assert_array_equal(product(x), np.float16([0, 4, 12]))  # no matrix of SciPy

    def test_are_those_of_scipy_for_arrays_of_numpy(self):
        found = tn.jacobian(FUNCTIONS["heat"], sparse=True)(X)
        assert type(found).__name__ == "csr_array"
        assert found.has_sorted_indices
        found.sum_duplicates()
        assert found.nnz == 2 + 3 * (N - 2)

    @pytest.mark.parametrize("function", [rosenbrock, energy, star, lambda x: x.sum() ** 3])
    def test_of_second_derivatives(self, function):
        want = tn.hessian(function, compress=False)(X)
        same(tn.hessian(function, sparse=True)(X), want)
        np.testing.assert_allclose(tn.hessian(function, compress=True)(X), want, rtol=1e-12)

    def test_of_several_arguments_and_results(self):
        function = lambda a, b: {"u": a[1:] * b, "v": (b**2, a.sum())}  # noqa: E731
        found = tn.jacobian(function, argnums=(0, 1), sparse=True)(X, X[1:])
        want = tn.jacobian(function, argnums=(0, 1), compress=False)(X, X[1:])
        for pair in ("u",), ("v", 0), ("v", 1):
            of, by = found, want
            for name in pair:
                of, by = of[name], by[name]
            for k in range(2):
                same(of[k], by[k])
        function = lambda p: (p["a"][1:] * p["b"]).sum() + (p["a"] ** 3).sum()  # noqa: E731
        p = {"a": X, "b": X[1:]}
        found, want = tn.hessian(function, sparse=True)(p), tn.hessian(function)(p)
        for i in "ab":
            for j in "ab":
                same(found[i][j], want[i][j])

    def test_of_arrays_of_more_axes(self):
        x = X.reshape(5, 8)
        found = tn.jacobian(lambda x: x[:, 1:] * x[:, :-1], sparse=True)(x)
        assert found.shape == (35, 40)
        same(found, tn.jacobian(lambda x: x[:, 1:] * x[:, :-1])(x).reshape(35, 40))

    @pytest.mark.parametrize("dtype", ["float32", "complex128"])
    @pytest.mark.parametrize("mode", ["forward", "reverse"])
    def test_of_other_dtypes(self, dtype, mode):
        x = X.astype(dtype) * (1 + 1j if dtype == "complex128" else 1)
        options = {"mode": mode, "holomorphic": dtype == "complex128"}
        function = lambda x: x[1:] ** 2 * x[:-1]  # noqa: E731
        found = dense(tn.jacobian(function, sparse=True, **options)(x))
        assert found.dtype == dtype
        want = tn.jacobian(function, compress=False, **options)(x)
        np.testing.assert_allclose(found, want, rtol=1e-6)

    @pytest.mark.parametrize("mode", ["forward", "reverse"])
    def test_of_real_results_of_complex_arguments(self, mode):
        function = lambda z: abs(z[1:] * z[:-1]) ** 2  # noqa: E731
        z = X * (1 + 2j)
        found = tn.jacobian(function, mode=mode, sparse=True)(z)
        same(found, tn.jacobian(function, mode=mode, compress=False)(z))

    @pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
    def test_without_entries(self, mode):
        """A Jacobian that is 0, or has no elements, has its shape and no entries"""
        found = tn.jacobian(lambda x: x[:3] * 0 + 1 if len(x) else x, mode=mode, sparse=True)
        assert found(np.ones(0)).shape == (0, 0)
        assert dense(found(X)).any() == False  # noqa: E712
        constant = tn.jacobian(lambda x: tn.ones(4), mode=mode, sparse=True)(X)
        assert constant.shape == (4, N)
        assert not dense(constant).any()

    def test_of_functions_with_an_auxiliary_result(self):
        found, aux = tn.jacobian(lambda x: (x[1:] * x[:-1], x[0]), sparse=True, has_aux=True)(X)
        assert aux == X[0]
        same(found, tn.jacobian(lambda x: x[1:] * x[:-1])(X))

    def test_of_known_arrays(self):
        same(tn.jacobian(lambda x: x[1:] * x[:-1], sparse=True)(tn.asarray(X)),
             tn.jacobian(lambda x: x[1:] * x[:-1])(X))  # fmt: skip

    def test_are_refused_where_the_pattern_is_too_large(self):
        with pytest.raises(tn.SparseResultError, match="40000 directions") as raised:
            tn.jacobian(np.cumsum, sparse=True)(np.ones(40_000))
        assert raised.value.fields["elements"] == 40_000

    @pytest.mark.parametrize("option", [{"sparse": None}, {"sparse": 1}, {"compress": "yes"}])
    @pytest.mark.parametrize("transform", [tn.jacobian, tn.hessian, tn.jacfwd, tn.jacrev])
    def test_options_are_checked(self, transform, option):
        with pytest.raises(TypeError, match=next(iter(option))):
            transform(rosenbrock, **option)(X)


def pairs(x):
    return x[1:] * x[:-1]


class TestInsidePrograms:
    """A traced sparse matrix is its entries; a program that is done returns a matrix again."""

    @pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_jitted_values_are_those_of_the_dense_derivative(self, name, mode):
        function = FUNCTIONS[name]
        jitted = tn.jit(tn.jacobian(function, mode=mode, sparse=True))
        plain = tn.jacobian(function, mode=mode, sparse=True)(X)
        for x in (X, X[::-1].copy()):
            found = jitted(x)
            assert type(found) is type(plain)
            same(found, tn.jacobian(function, mode=mode, compress=False)(x))

    @pytest.mark.parametrize("function", [rosenbrock, energy, star, lambda x: x.sum() ** 3])
    def test_jitted_hessians(self, function):
        """jit traces once for each length, and gives the dense Hessian's entries"""
        jitted = tn.jit(tn.hessian(function, sparse=True))
        for x in (X, X[:16], X):
            same(jitted(x), tn.hessian(function, compress=False)(x))
        assert jitted.cache_info().misses == 2

    def test_of_more_leaves_stand_beside_other_results(self):
        @tn.jit
        def both(p):
            function = lambda p: {"u": p["a"] * p["b"], "v": p["b"][1:]}  # noqa: E731
            return function(p), [tn.jacobian(function, sparse=True)(p), None], p["a"].sum()

        p = {"a": X, "b": X[::-1].copy()}
        value, (found, nothing), total = both(p)
        np.testing.assert_allclose(value["u"], p["a"] * p["b"])
        assert nothing is None
        np.testing.assert_allclose(total, X.sum())
        same(found["u"]["a"], np.diag(p["b"]))
        same(found["u"]["b"], np.diag(p["a"]))
        same(found["v"]["b"], np.eye(N)[1:])
        assert not dense(found["v"]["a"]).any()

    def test_without_entries_are_matrices_whatever_ran_before(self):
        """Entries of an empty pattern are a constant, whose value an earlier program may hold."""
        held = tn.zeros((0,))
        np.asarray(held)
        found = tn.jit(tn.jacobian(lambda x, y: 2 * y[1:], sparse=True))(X, X)
        assert found.shape == (N - 1, N)
        assert not dense(found).any()

    def test_of_arrays_are_matrices_too(self):
        found = tn.jit(tn.jacobian(pairs, sparse=True))(tn.asarray(X))
        same(found, tn.jacobian(pairs)(X))

    def test_are_entries_products_and_dense_arrays(self):
        want = np.asarray(tn.jacobian(pairs)(X))

        @tn.jit
        def parts(x, v):
            found = tn.jacobian(pairs, sparse=True)(x)
            assert (found.shape, found.ndim) == (want.shape, 2)
            assert found.nnz == found.data.size == found.indices.size == 2 * N - 2
            return (found @ v, v[1:] @ found, x[1:] @ found, found.toarray(), found.data,
                    found.indices, found.indptr)  # fmt: skip

        for v in (X**2, (X**2).astype("complex128")):
            right, left, other, whole, data, columns, starts = parts(X, v)
            np.testing.assert_allclose(right, want @ v, rtol=1e-13)
            np.testing.assert_allclose(left, v[1:] @ want, rtol=1e-13)
            np.testing.assert_allclose(other, X[1:] @ want, rtol=1e-13)
            np.testing.assert_allclose(whole, want, rtol=1e-13)
            np.testing.assert_array_equal(starts, np.arange(0, 2 * N, 2))
            rows = np.repeat(np.arange(N - 1), 2)
            np.testing.assert_allclose(data, want[rows, columns], rtol=1e-13)

    @pytest.mark.parametrize("wrap", [lambda f: f, tn.jit], ids=["eager", "jit"])
    def test_are_differentiated_by_their_entries(self, wrap):
        sparse, whole = tn.jacobian(pairs, sparse=True), tn.jacobian(pairs)
        for one, other in (
            (lambda x: (sparse(x).data ** 2).sum(), lambda x: (whole(x) ** 2).sum()),
            (lambda x: (sparse(x) @ x**2).sum(), lambda x: (whole(x) @ x**2).sum()),
            (lambda x: x[1:] @ sparse(x) @ x, lambda x: x[1:] @ whole(x) @ x),
        ):
            np.testing.assert_allclose(wrap(tn.grad(one))(X), tn.grad(other)(X), rtol=1e-12)

    @pytest.mark.parametrize("wrap", [tn.jit, lambda f: f], ids=["jit", "eager"])
    @pytest.mark.parametrize("name", WITHOUT_ENTRIES)
    def test_without_entries_multiply_and_are_differentiated(self, name, wrap):
        function, x, rows = WITHOUT_ENTRIES[name]
        find = tn.jacobian(function, sparse=True)
        v, w = np.ones(x.size), np.ones(rows)
        parts = tn.vmap(lambda x: (find(x) @ v, w @ find(x), find(x).toarray(), find(x).data ** 2))
        found = wrap(parts)(x[None])
        for one, shape in zip(found, [(rows,), (x.size,), (rows, x.size), (0,)], strict=True):
            np.testing.assert_array_equal(one, np.zeros((1, *shape)))
        slope = wrap(tn.grad(lambda x: np.sum(find(x) @ v) + np.sum(w @ find(x))))(x)
        np.testing.assert_array_equal(slope, np.zeros(x.size))

    def test_tangents_have_the_same_pattern(self):
        found, tangent = tn.jvp(tn.jacobian(pairs, sparse=True), (X,), (X**2,))
        same(found, tn.jacobian(pairs)(X))
        same(tangent, tn.jacobian(pairs)(X**2))

    def test_go_through_loops(self):
        """Newton's method on x³ = c with a diagonal Jacobian."""

        @tn.jit
        def cube_roots(c):
            def step(x, _):
                f = lambda x: x**3 - c  # noqa: E731
                found = tn.jacobian(f, sparse=True)(x)
                return x - f(x) / found.data, found @ x

            return tn.scan(step, tn.ones_like(c), None, length=30)[0]

        np.testing.assert_allclose(cube_roots(X), np.cbrt(X), rtol=1e-14)

    def test_do_not_share_memory(self):
        for function in (tn.jacobian(pairs, sparse=True), tn.jit(tn.jacobian(pairs, sparse=True))):
            first = function(X)
            if not hasattr(first, "eliminate_zeros"):
                pytest.skip("matrices of this backend cannot be written to")
            first.data[::2] = 0
            first.eliminate_zeros()
            first.indices[:] = 0
            first.indptr[:] = 0
            same(function(X), tn.jacobian(pairs)(X))

    def test_are_read_from_donated_arguments(self):
        x = X.copy()
        found = tn.jit(tn.jacobian(pairs, sparse=True), donate_argnums=0)(x)
        same(found, tn.jacobian(pairs)(X))

    def test_follow_what_they_close_over(self):
        for at in (np.array([3, 5]), np.array([5, 4])):
            found = tn.jit(tn.jacobian(lambda x, at=at: x[at] ** 2, sparse=True))(X)
            want = np.zeros((2, N))
            want[range(2), at] = 2 * X[at]
            same(found, want)
            assert len(np.asarray(found.data)) == 2

    @pytest.mark.parametrize(
        "inside, x",
        [
            (tn.vmap, X.reshape(4, 10)),
            (lambda f: tn.jit(tn.vmap(f)), X.reshape(4, 10)),
            (tn.jacobian, X),
            (lambda f: tn.grad(lambda x: np.sum(f(x))), X),
            (lambda f: tn.jit(lambda x: np.sin(f(x))), X),
        ],
        ids=["vmap", "jit of vmap", "jacobian", "grad", "jit"],
    )
    def test_are_no_arrays(self, inside, x):
        with pytest.raises((tn.SparseResultError, TypeError)) as raised:
            inside(tn.jacobian(pairs, sparse=True))(x)
        if inside in (tn.vmap, tn.jacobian):
            assert type(raised.value) is tn.SparseResultError
            assert raised.value.fields["elements"] > 0

    def test_say_what_they_have(self):
        with pytest.raises(tn.UnsupportedAttributeError, match="toarray") as raised:
            tn.jit(lambda x: tn.jacobian(pairs, sparse=True)(x).sum())(X)
        assert raised.value.fields["attribute"] == "sum"
        with pytest.raises(tn.ShapeMismatchError, match="of its size"):
            tn.jit(lambda x: tn.jacobian(pairs, sparse=True)(x) @ x[1:])(X)


class TestPatterns:
    def test_need_shapes_only(self):
        found = dense(tn.sparsity(lambda x: x[1:] * x[:-1])(tn.Aval((4,), "float64")))
        np.testing.assert_array_equal(found, [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]])

    def test_of_second_derivatives_are_those_of_the_gradient(self):
        found = dense(tn.sparsity(tn.grad(rosenbrock))(np.ones(4)))
        want = np.eye(4) + np.eye(4, k=1) + np.eye(4, k=-1)
        np.testing.assert_array_equal(found, want)

    def test_are_nested_as_derivatives_are(self):
        found = tn.sparsity(lambda a, b: (a * 2, b), argnums=(0, 1))(np.ones(2), np.ones(3))
        assert [[m.nnz for m in row] for row in found] == [[2, 0], [0, 3]]

    def test_are_matrices_of_a_program_inside_one(self):
        pattern = tn.sparsity(lambda x: x[1:] * x[:-1])
        found, sums = tn.jit(lambda x: (pattern(x), pattern(x) @ x))(X)
        assert dense(found).dtype == bool
        same(found, np.asarray(dense(pattern(X))))
        np.testing.assert_allclose(sums, X[1:] + X[:-1], rtol=1e-14)

    def test_of_integers_are_refused(self):
        with pytest.raises(tn.DifferentiationInputError):
            tn.sparsity(lambda x: x * 2)(np.arange(3))


class TestStarColours:
    @pytest.mark.parametrize(
        "function, n, most",
        [(rosenbrock, 50, 3), (star, 50, 2), (energy, 48, 6), (energy, 200, 6)],
    )
    def test_are_few(self, function, n, most):
        """Five points take seven colours by columns alone."""
        assert directions(tn.hessian(function), tn.Aval((n,), "float64")) <= most

    @pytest.mark.parametrize("seed", range(30))
    def test_leave_no_path_of_four_with_two_colours(self, seed):
        rng = np.random.default_rng(seed)
        n = 12
        near = np.triu(rng.random((n, n)) < rng.choice([0.1, 0.25, 0.5]), 1)
        near = near | near.T | np.diag(rng.random(n) < 0.7)
        rows = [sum(1 << j for j in np.flatnonzero(row).tolist()) for row in near]
        colours = star_coloured(rows, n)
        assert colours is not None
        beside = [[j for j in columns_of(row) if j != i] for i, row in enumerate(rows)]
        for a in range(n):
            for b in beside[a]:
                assert colours[a] != colours[b]
                for c in beside[b]:
                    for d in beside[c]:
                        if len({a, b, c, d}) == 4:
                            assert len({colours[i] for i in (a, b, c, d)}) > 2


class TestBothModes:
    @pytest.mark.parametrize("n", [40, 300])
    def test_take_three_directions_for_an_arrowhead(self, n):
        x = np.linspace(0.5, 1.5, n)
        want = tn.jacobian(arrowhead, mode="forward", compress=False)(x)
        np.testing.assert_allclose(tn.jacobian(arrowhead)(x), want, rtol=1e-13)
        np.testing.assert_allclose(tn.jit(tn.jacobian(arrowhead))(x), want, rtol=1e-13)
        same(tn.jacobian(arrowhead, sparse=True)(x), want)
        assert "1 rows pulled, 2 sums" in str(tn.explain(tn.jacobian(arrowhead), x))

    def test_are_differentiated_again(self):
        weights = np.cos(np.arange(N * N)).reshape(N, N)
        one = tn.grad(lambda x: (weights * tn.jacobian(arrowhead)(x)).sum())(X)
        other = tn.grad(lambda x: (weights * tn.jacobian(arrowhead, compress=False)(x)).sum())(X)
        np.testing.assert_allclose(one, other, rtol=1e-12)

    def test_batches(self):
        """vmap(jacobian) = dense Jacobian of each"""
        xs = np.stack([X, 2 * X])
        found = tn.vmap(tn.jacobian(arrowhead))(xs)
        np.testing.assert_allclose(found, [tn.jacfwd(arrowhead)(x) for x in xs], rtol=1e-12)

    def test_are_not_taken_where_one_is_enough(self):
        for function in (laplace, rosenbrock, FUNCTIONS["product"]):
            assert "pulled" not in str(tn.explain(tn.jacobian(function), X))

    @pytest.mark.parametrize("seed", range(20))
    def test_find_every_entry_of_random_patterns(self, seed):
        rng = np.random.default_rng(seed)
        m, n = rng.integers(5, 30, 2)
        holds = rng.random((m, n)) < 0.1
        holds[rng.integers(m, size=2)] = True
        values = np.where(holds, rng.standard_normal((m, n)), 0.0)
        bits = [sum(1 << j for j in np.flatnonzero(row).tolist()) for row in holds]
        way = two_way(bits, int(n), 1, 1)
        assert way is not None
        pulled, pushed = way.counts
        by_row = np.array([values[np.equal(way.rows, c)].sum(0) for c in range(pulled)])
        by_column = np.array([values[:, np.equal(way.columns, c)].sum(1) for c in range(pushed)])
        flat = np.concatenate([by_row.ravel(), by_column.ravel()])
        found = np.zeros(m * n)
        found[list(way.targets)] = flat[list(way.sources)]
        np.testing.assert_allclose(found.reshape(m, n), values, rtol=1e-14)
