"""Index vectors that are read column by column: NumPy's elements, and no needless join."""

import numpy as np
import pytest

import tenferro as tn

RNG = np.random.default_rng(7)
X, CUBE = RNG.normal(size=(4, 5)), RNG.normal(size=(3, 4, 5))
P, Q, R = np.array([3, 0, -1, 3, 2]), np.array([1, -5, 4, 1, 0]), np.array([2, 2, -3, 0, 1])


def elements(x, i, j):
    return x[i, j]


def in_another_order(x, i, j):
    return x.T[j, i]


def grid(x, i, j):
    return x[i[:, None], j[None, :]]


def of_three_axes(cube, i, j, k):
    return cube[k, i, j]


def put(x, i, j):
    return x.at[i, j].set(np.arange(5.0))


def added(x, i, j):
    return x.at[i, j].add(np.arange(5.0) * x[0])


def added_to_what_is_read_again(x, i, j):
    y = 2 * x
    return y.at[i, j].add(1.0) * y


def expected_put(x, i, j):
    x = x.copy()
    x[i, j] = np.arange(5.0)
    return x


def expected_added(x, i, j):
    x, first = x.copy(), x[0].copy()
    np.add.at(x, (i, j), np.arange(5.0) * first)
    return x


def expected_again(x, i, j):
    y = 2 * x
    np.add.at(y, (i, j), 1.0)
    return y * 2 * x


APART = np.array([0, 1, 2, 3, 0]), np.arange(5)
ROWS = [  # the function, NumPy's, the arguments
    (elements, elements, (X, P, Q)),
    (in_another_order, in_another_order, (X, P, Q)),
    (grid, grid, (X, P, Q)),
    (of_three_axes, of_three_axes, (CUBE, P, Q, R)),
    (put, expected_put, (X, *APART)),
    (added, expected_added, (X, P, Q)),
    (added_to_what_is_read_again, expected_again, (X, P, Q)),
    (elements, elements, (X, P[:0], Q[:0])),
    (elements, elements, (X + 1j, P, Q)),
]


def compiled(function):
    return tn.jit(function, backend="numpy")


def steps_after(function, name, *arguments):
    """What `explain` says of a pass."""
    text = compiled(function).explain(*arguments)
    line = next(row for row in text.splitlines() if row.startswith("plan passes"))
    return next(part for part in line.split(", ") if part.startswith(name))


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
@pytest.mark.parametrize("function, reference, given", ROWS)
def test_elements_are_those_of_numpy(function, reference, given, dtype):
    x, *indices = given
    f = compiled(function)
    for _ in range(2):
        found = f(x, *[i.astype(dtype) for i in indices])
        np.testing.assert_array_equal(found, reference(x, *indices))


@pytest.mark.parametrize("dtype", ["uint8", "uint64"])
def test_unsigned_positions(dtype):
    """Positions of unsigned integers read what NumPy reads"""
    i, j = (P % 4).astype(dtype), (Q % 5).astype(dtype)
    np.testing.assert_array_equal(compiled(elements)(X, i, j), X[P, Q])


@pytest.mark.parametrize("function, reference, given", ROWS[:-1])
def test_derivatives_are_those_of_differences(function, reference, given):
    """The transpose of reading adds at the same places; the second derivative reads again."""
    x, *indices = given

    def loss(x):
        return tn.sum(tn.sin(function(x, *indices)))

    def in_numpy(x):
        return np.sin(reference(x, *indices)).sum()

    def size(x):
        return tn.sum(tn.grad(loss)(x) ** 2)

    for f, g, of in ((loss, in_numpy, x), (size, compiled(size), x)):
        gradient = compiled(tn.grad(f))(of)
        step = 1e-5 / max(1.0, np.linalg.norm(gradient))
        slope = (g(of + step * gradient) - g(of - step * gradient)) / (2 * step)
        np.testing.assert_allclose(np.sum(gradient**2), slope, rtol=1e-6, atol=1e-9)


def test_no_vectors_are_joined_for_reads_and_updates_of_elements():
    def both(x, i, j):
        return x[i, j], x.at[i, j].add(x[j % 4, i])

    assert steps_after(both, "index_columns", X, P, Q) != "index_columns"


def test_vectors_that_something_else_reads_are_joined_once():
    def with_vectors(x, i, j):
        pairs = tn.stack([i % 4, j % 5], axis=1)
        return tn.sum(x[pairs[:, 0], pairs[:, 1]]), pairs

    value, pairs = compiled(with_vectors)(X, P, Q)
    np.testing.assert_allclose(value, X[P, Q].sum(), rtol=1e-14)
    np.testing.assert_array_equal(pairs, np.stack([P % 4, Q % 5], axis=1))


@pytest.mark.parametrize("steps", [1, 6])
def test_in_a_batch_and_in_a_loop(steps):
    """A batch puts its own column in front of the others."""
    rows = np.stack([P, Q % 4, R])

    def many(x):
        return tn.vmap(lambda i, x: elements(x, i, Q), in_axes=(0, None))(rows, x)

    def loop(x):
        def body(c, i):
            return c.at[i, Q].add(c[i, Q] * 0.5), tn.sum(c[i, Q])

        return tn.scan(body, x, np.stack([P] * steps))

    np.testing.assert_array_equal(compiled(many)(X), np.stack([X[i, Q] for i in rows]))
    carry, sums = compiled(loop)(X)
    want, totals = X.copy(), []
    for _ in range(steps):
        totals.append(want[P, Q].sum())
        np.add.at(want, (P, Q), want[P, Q] * 0.5)
    np.testing.assert_allclose(carry, want, rtol=1e-14)
    np.testing.assert_allclose(sums, totals, rtol=1e-13)
