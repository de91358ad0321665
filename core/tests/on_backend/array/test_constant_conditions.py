"""`np.where` by a condition that is known and holds in few runs chooses parts of arrays."""

import numpy as np
import pytest

import tenferro as tn

N = 8
I = np.arange(N)  # noqa: E741
X = np.linspace(-1.0, 1.0, N)
Y = np.cos(np.arange(24.0)).reshape(3, N)
RUNS = {
    "all but the last": (I < N - 1, X, 0.0),
    "the first alone": (I == 0, X, 2.0),
    "the inner": ((I > 0) & (I < N - 1), X, -X),
    "all": (I >= 0, X, 0.0),
    "none": (I < 0, X, 0.0),
    "columns": (I < 3, Y, -Y),
    "rows": (np.arange(3)[:, None] != 0, Y, X),
    "made wider": ((I < 3)[None], X, Y),
    "a number that is chosen": (I < 3, 1.5, X),
    "complex": (I < 3, X + 1j, X),
    "float32": (I < 3, X.astype("float32"), 0.0),
    "integers": (I < 3, np.arange(N), 7),
    "tenferro's own": (tn.arange(N) < 3, X, 0.0),
}
SELECTS = {
    "many runs": (I % 2 == 0, X, 0.0),
    "along two axes": (np.tri(3, N, dtype=bool), Y, 0.0),
    "a number": (np.True_, X, 0.0),
    "traced": (None, X, 0.0),
}


def chosen(condition):
    return lambda x, y: np.where(x > 0 if condition is None else condition, x, y)


@pytest.mark.parametrize("condition, x, y", {**RUNS, **SELECTS}.values(), ids=[*RUNS, *SELECTS])
def test_it_chooses_what_numpy_chooses(condition, x, y):
    known = x > 0 if condition is None else np.asarray(condition)
    want = np.where(known, x, y)
    for run in (lambda f: f, tn.jit):
        got = np.asarray(run(chosen(condition))(tn.asarray(x), y))
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


def keys(condition, x, y):
    avals = [tn.Aval(np.shape(each), np.asarray(each).dtype.name) for each in (x, y)]
    return [node[0].key for node in tn.jit(chosen(condition)).lower(*avals).nodes]


@pytest.mark.parametrize("condition, x, y", RUNS.values(), ids=RUNS)
def test_nothing_is_selected_element_by_element(condition, x, y):
    assert "std::select" not in keys(condition, x, y)


@pytest.mark.parametrize("condition, x, y", SELECTS.values(), ids=SELECTS)
def test_others_are_selected(condition, x, y):
    assert "std::select" in keys(condition, x, y)


def test_derivatives_go_to_what_was_chosen():
    def f(x, y):
        return np.sum(np.where(I < 5, x**3, np.sin(y)))

    gradients = tn.jit(tn.grad(f, argnums=(0, 1)))(X, 2 * X)
    np.testing.assert_allclose(gradients[0], np.where(I < 5, 3 * X**2, 0), rtol=1e-14)
    np.testing.assert_allclose(gradients[1], np.where(I < 5, 0, np.cos(2 * X)), rtol=1e-14)
    twice = tn.jit(lambda x: tn.jvp(tn.grad(f), (x, X), (np.ones(N), np.zeros(N)))[1])
    np.testing.assert_allclose(twice(X), np.where(I < 5, 6 * X, 0), rtol=1e-14)


def test_batches_and_bodies_of_loops():
    many = np.stack([X, 2 * X, -X])
    want = np.where(I < 5, many, 0)
    function = lambda x: np.where(I < 5, x, 0.0)  # noqa: E731
    np.testing.assert_array_equal(tn.jit(tn.vmap(function))(many), want)
    total = tn.jit(lambda many: tn.scan(lambda c, x: (c + function(x), None), 0 * X, many)[0])
    np.testing.assert_allclose(total(many), want.sum(0), rtol=1e-15)


def test_a_derivative_that_is_infinite_where_nothing_was_chosen_stays_out():
    """As it does if the array is cut before the root is taken"""
    x = np.array([4.0, 1.0, 0.0])
    gradient = tn.jit(tn.grad(lambda x: np.sum(np.where(np.arange(3) < 2, np.sqrt(x), 0.0))))
    np.testing.assert_array_equal(gradient(x), [0.25, 0.5, 0.0])
