"""Loops that are split give what they gave whole: values, gradients and products of Hessians."""

import numpy as np
import pytest

import tenferro as tn
from tenferro import special

RNG = np.random.default_rng(7)
ROWS = RNG.normal(size=(12, 3))
WHOLE = {"passes": {"fission": False, "product_fission": False}}
SPLIT = {"passes": {"fission": True}}


def recurrent(x, rows):
    w = np.outer(x, x) / 4
    h, ys = tn.scan(lambda h, r: (np.tanh(h @ w + r @ w.T), h * r), x, rows)
    return np.sum(h) + np.sum(ys**2)


def reverse(x, rows):
    c, ys = tn.scan(lambda c, r: (np.sin(c) * np.exp(r), c + r), x, rows, reverse=True)
    return np.sum(c) + np.sum(ys[:5] ** 3)


def sums(x, rows):
    step = lambda s, r: ((s[0] - np.exp(r) + x, s[1] + np.sum(r * x)), None)  # noqa: E731
    a, b = tn.scan(step, (x, np.sum(x)), rows)[0]
    return np.sum(a * b)


def unchanged(x, rows):
    step = lambda s, r: ((s[0], np.sin(s[1]) * np.exp(s[0]) + r), s[0])  # noqa: E731
    (a, b), ys = tn.scan(step, (x, x * 2), rows)
    return np.sum(a * b) + np.sum(ys * rows)


def rows_as_they_are(x, rows):
    c, (ys, xs, k) = tn.scan(lambda c, r: (c * r + x, (r, x, c)), x, rows)
    return np.sum(c * ys[3]) + np.sum(xs * k)


def hidden_states(x, rows):
    step = lambda a, r: (special.logsumexp(a[:, None] + np.outer(x, x), axis=0) + r, None)  # noqa: E731
    return special.logsumexp(tn.scan(step, x, rows)[0])


def filtered(x, rows):
    """A Kalman filter: factorizations of all steps, and a likelihood that is summed."""
    a, q = np.outer(x, x) / 8, np.eye(3)

    def step(state, y):
        m, p = state
        m, p = a @ m, a @ p @ a.T + q
        s, r = p + q, y - m
        k = np.linalg.solve(s, p).T
        value = r @ np.linalg.solve(s, r) + np.linalg.slogdet(s)[1]
        return (m + k @ r, p - k @ p), -0.5 * value

    return np.sum(tn.scan(step, (x, q), rows)[1])


def nested(x, rows):
    def step(c, r):
        inner, _ = tn.scan(lambda s, t: (np.sin(s) * np.exp(t), s * t), c, rows[:4] * r)
        return inner + r, np.sum(inner)

    c, ys = tn.scan(step, x, rows)
    return np.sum(c) + np.sum(ys)


def branches(x, rows):
    step = lambda c, r: (tn.cond(r[0] > 0, lambda: c * r, lambda: c + np.exp(r)), np.cos(c))  # noqa: E731
    c, ys = tn.scan(step, x, rows)
    return np.sum(c) + np.sum(ys)


def counted(x, rows):
    """Integers and bools are carried, counted and stacked."""

    def step(s, r):
        n, on, c = s
        return (n + 1, ~on, np.where(on, c * r, c + r)), (2 * n + 1, on)

    (n, _, c), (odd, on) = tn.scan(step, (0, True, x), rows)
    return np.sum(c) * n + np.sum(np.where(on, odd, 0) * rows[:, 0])


def indexed(x, rows):
    """Each step reads at its own place."""
    rows = tn.asarray(rows)

    def step(c, k):
        return np.sin(c) + rows[k], (x * c)[k % 3] * rows[k, 0]

    c, ys = tn.scan(step, x, np.arange(12))
    return np.sum(c) + np.sum(ys)


def two_steps(x, rows):
    return np.sum(tn.scan(lambda c, r: (c * np.exp(r) + r, None), x, rows[:2])[0])


def gated(x, rows):
    """Cotangents that flow through chains of products, and along two ways that join again."""
    sigmoid = lambda x: (np.tanh(x / 2.0) + 1.0) * 0.5  # noqa: E731

    def step(state, r):
        c, h = state
        c = c * sigmoid(x * h - r) - np.tanh(h * x) * sigmoid(h + r) / (1.0 + x * x)
        h = sigmoid(x * h) * np.tanh(c)
        return (c, h + 0.1 * np.sin(-h) * h), h * r

    (c, h), ys = tn.scan(step, (x, x * x), rows)
    return np.sum(c * h) + np.sum(ys)


def rotated(x, rows):
    """The same with complex numbers."""
    step = lambda z, r: ((z * np.exp(1j * r) / (2.0 + 1j * x) - np.sin(z)) * (0.5j * x), None)  # noqa: E731
    z, _ = tn.scan(step, x + 0.5j, rows)
    return np.sum(np.abs(z) ** 2)


def parts_of_rows(x, rows):
    """Cotangents of whole rows and of parts of them are stacked."""
    c, (ys, zs) = tn.scan(lambda c, r: (np.sin(c * r), (c, c[1:])), x, rows)
    return np.sum(c) + np.sum(ys**2) * np.sum(zs**3)


def mapped(x, rows):
    return np.sum(tn.map(lambda r: np.exp(r) * x, rows))


def examples(x, rows):
    """A batch of loops."""
    return np.sum(tn.vmap(lambda s: recurrent(x * s, rows))(np.array([0.3, 0.7])))


PROGRAMS = [
    recurrent, reverse, sums, unchanged, rows_as_they_are, hidden_states, filtered, nested,
    branches, counted, indexed, two_steps, gated, rotated, parts_of_rows, mapped,
    examples,
]  # fmt: skip
X = np.array([0.5, -0.3, 0.8])


def both(function, *args):
    return [tn.jit(function, options=options)(*args) for options in (SPLIT, WHOLE)]


@pytest.mark.parametrize("program", PROGRAMS)
def test_values_are_those_of_the_whole_loop(program):
    np.testing.assert_allclose(*both(program, X, ROWS), rtol=1e-12)


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients_are_those_of_the_whole_loop(program):
    for found, wanted in zip(*both(tn.grad(program, (0, 1)), X, ROWS), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("program", PROGRAMS)
def test_products_of_hessians_are_those_of_the_whole_loop(program):
    product = tn.hvp(lambda x: program(x, ROWS))
    np.testing.assert_allclose(*both(product, X, np.array([1.0, 0.5, -2.0])), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("program", [recurrent, reverse, sums, mapped, indexed])
def test_values_are_those_of_steps_in_python(program, monkeypatch):
    """The reference runs the steps in NumPy, one by one"""

    def steps(step, carry, xs, reverse=False):
        ys = [None] * len(xs)
        order = range(len(xs))
        for k in reversed(order) if reverse else order:
            carry, ys[k] = step(carry, xs[k])
        return carry, None if ys[0] is None else np.array(ys)

    found = tn.jit(program, options=SPLIT)(X, ROWS)
    monkeypatch.setattr(tn, "scan", steps)
    monkeypatch.setattr(tn, "map", lambda f, xs: np.array([f(x) for x in xs]))
    np.testing.assert_allclose(found, program(X, ROWS), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "complex64", "complex128"])
@pytest.mark.parametrize("program", [recurrent, reverse, sums, unchanged])
def test_dtypes_are_kept(program, dtype):
    x, rows = X.astype(dtype), ROWS.astype(dtype)
    if x.dtype.kind == "c":
        x, rows = x + 0.2j * x[::-1], rows - 0.1j * rows
    found, wanted = both(lambda x: program(x, rows), x)
    assert found.dtype == wanted.dtype == np.dtype(dtype)
    np.testing.assert_allclose(
        found, wanted, rtol=3e-5 if x.itemsize < 16 and dtype != "complex128" else 1e-12
    )


@pytest.mark.parametrize("n", [0, 1])
def test_rows_of_no_or_one_element(n):
    x, rows = np.full(n, 0.4), np.full((12, n), 0.3)
    np.testing.assert_allclose(*both(tn.grad(lambda x: reverse(x, rows)), x), rtol=1e-12)


def test_numbers_that_are_carried():
    def total(x, rows):
        c, s = tn.scan(lambda s, r: ((s[0] * np.exp(-r), s[1] + np.sin(s[0])), None), (x, x), rows)[
            0
        ]
        return c * s

    np.testing.assert_allclose(*both(tn.grad(total), 0.7, ROWS[:, 0]), rtol=1e-12)


def test_a_singular_step_gives_what_the_whole_loop_gives():
    """An inverse of a singular matrix in one of the steps fails, or is not finite, in both"""

    def inverses(rows):
        step = lambda c, r: (c * 0.5, np.linalg.inv(r * np.eye(2) * c))  # noqa: E731
        return tn.scan(step, 1.0, rows)[1]

    outcomes = []
    for options in (SPLIT, WHOLE):
        try:
            found = np.asarray(tn.jit(inverses, options=options)(np.array([1.0, 0.0, 2.0])))
            outcomes.append(np.isfinite(found).all(axis=(1, 2)).tolist())
        except np.linalg.LinAlgError as error:
            outcomes.append(type(error))
    assert outcomes[0] == outcomes[1]
