"""Loops that pad and join: the results are those of the same loop in NumPy, with and without it."""

import numpy as np
import pytest

import tenferro as tn

N, STEPS = 7, 5
X = np.linspace(0.5, 1.5, N)
M = np.linspace(-1.0, 1.0, 3 * N).reshape(3, N)


def chain(np, c, x):
    """One part stays; the joined array is read whole and as a view."""
    y = np.concatenate([x[:1], x[1:] * c[:-1]])
    return c + 0.1 * y[::-1] * y


def twice(np, c, x):
    """The second joined array is made of the first."""
    y = np.concatenate([x[:1], x[1:] * c[:-1]])
    z = np.concatenate([x[1:] * y[:-1], x[-1:]])
    return c + 0.1 * (y - z)


def both_new(np, c, x):
    y = np.concatenate([c[:3] * 2.0, np.sin(c[3:])])
    return 0.5 * (x + y * y)


def padded(np, c, x):
    """A number fills what no operand covers."""
    return c + 0.1 * (np.pad(c[1:] * x[1:], (1, 0)) - np.pad(np.cos(c[:-1]), (0, 1)))


def read_elsewhere(np, c, x):
    """The new part has another reader."""
    part = x[1:] * c[:-1]
    y = np.concatenate([x[:1], part])
    return y * 0.5 + np.sum(part) * 0.1


def joined_carry(np, c, x):
    """The joined array goes to the next step."""
    return np.concatenate([x[:1], x[1:] * np.sin(c[:-1])])


def view_as_carry(np, c, x):
    return np.concatenate([x[:1], x[:-1] * np.sin(c[1:])])[::-1]


def beside(np, c, x):
    """Parts of rows are not contiguous: an element by element line, and a product."""
    y = np.concatenate([x[:, :2], np.sin(c[:, 2:])], axis=1)
    z = np.concatenate([x[:, :1], x @ c.T, c[:, 4:] * 2.0], axis=1)
    return 0.3 * (y + z)


def below(np, c, x):
    """Parts are whole rows, one of which is a product."""
    y = np.concatenate([x[:1], np.tanh(x[:2] @ c.T @ c)])
    return 0.5 * (y + c)


ROWS = [
    *[(f, X) for f in (chain, twice, both_new, padded, read_elsewhere, joined_carry)],
    *[(view_as_carry, X), (beside, M), (below, M)],
]


def in_loop(body, steps=STEPS):
    """The loop, with the rows of all steps."""

    def run(c, x):
        def step(c, _):
            new = body(tn, c, x)
            return new, new * 2.0

        return tn.scan(step, c, None, steps)

    return run


def by_hand(body, c, x, steps=STEPS):
    rows = []
    for _ in range(steps):
        c = body(np, c, x)
        rows.append(c * 2.0)
    return c, np.array(rows).reshape(steps, *c.shape)


def compiled(f, **options):
    return tn.jit(f, backend="numpy", options=options)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("body, x", ROWS)
def test_results_are_those_of_the_loop_in_numpy(body, x, dtype):
    """Each call has arrays of its own: the results of the first stay what they are."""
    x = x.astype(dtype)
    run = compiled(in_loop(body))
    tolerance = 3e-5 if dtype == "float32" else 1e-13
    kept = [(run(c, x), by_hand(body, c, x)) for c in (x * x.dtype.type(0.5), x + x.dtype.type(1))]
    for found, want in kept:
        for a, b in zip(found, want, strict=True):
            assert a.dtype == dtype
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def large_view(np, c, x):
    """A view of what stays is made once, whatever its size."""
    return np.concatenate([(x * c)[1:], c[:1]])


@pytest.mark.parametrize("carry_is_a_result", [True, False])
def test_a_large_view_of_what_stays_is_there_in_every_step(carry_is_a_result):
    """Arrays of more than 64 KiB are freed at their last use in a step."""
    x = np.linspace(0.5, 1.5, 20_000)

    def run(c, x):
        return tn.scan(
            lambda c, _: (large_view(tn, c, x), c if carry_is_a_result else None), c, None, 3
        )

    last, rows = compiled(run)(x, x)
    want = [x]
    for _ in range(3):
        want.append(large_view(np, want[-1], x))
    np.testing.assert_array_equal(last, want[3])
    assert rows is None or np.array_equal(rows, want[:3])


@pytest.mark.parametrize("body, x", ROWS)
def test_gradients_are_those_of_differences(body, x):
    """Loops of derivatives pad; so do those of their derivatives."""

    def loss(c):
        last, rows = in_loop(body)(c, x)
        return tn.sum(last * rows[2])

    def in_numpy(c):
        last, rows = by_hand(body, c, x)
        return np.sum(last * rows[2])

    def size(c):
        return tn.sum(tn.grad(loss)(c) ** 2)

    c = 0.5 * x
    for f, g in ((loss, in_numpy), (size, compiled(size))):
        gradient = compiled(tn.grad(f))(c)
        step = 1e-5 / max(1.0, np.linalg.norm(gradient))
        slope = (g(c + step * gradient) - g(c - step * gradient)) / (2 * step)
        np.testing.assert_allclose(np.sum(gradient**2), slope, rtol=2e-6, atol=1e-8)


@pytest.mark.parametrize("body, x", ROWS)
def test_a_loop_with_a_condition(body, x):
    def run(c, x):
        def step(carry):
            return carry[0] + 1, body(tn, carry[1], x)

        return tn.while_loop(lambda carry: carry[0] < STEPS, step, (0, c))[1]

    np.testing.assert_allclose(compiled(run)(0.5 * x, x), by_hand(body, 0.5 * x, x)[0], rtol=1e-13)


@pytest.mark.parametrize("options", [{"without": ("memory_reuse",)}, {"poison": True}])
@pytest.mark.parametrize("body, x", ROWS)
def test_options_change_no_bit(body, x, options):
    found, other = (compiled(in_loop(body), **o)(0.5 * x, x) for o in ({}, options))
    for a, b in zip(found, other, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_loop_inside_a_loop_and_one_without_steps():
    def outer(c, x):
        return tn.scan(lambda c, _: (in_loop(chain)(c, x)[0], None), c, None, 3)[0]

    want = X * 0.5
    for _ in range(3):
        want, _ = by_hand(chain, want, X)
    np.testing.assert_allclose(compiled(outer)(X * 0.5, X), want, rtol=1e-13)
    last, rows = compiled(in_loop(chain, 0))(X * 0.5, X)
    np.testing.assert_array_equal(last, X * 0.5)
    assert rows.shape == (0, N)


def test_such_a_loop_joins_nothing():
    """A carry has to be joined; what dies in its step does not."""

    def lines(body):
        text = compiled(in_loop(body), without=("short_arrays",)).explain(X, X)
        return text[text.index("def loop") :].partition(" in ")[2].splitlines()[1:]

    def joins(body):
        return [line for line in lines(body) if "((v" in line]

    assert joins(joined_carry)
    assert not joins(chain)


def test_transposes_of_what_stays_are_made_before_the_first_step():
    """xₖ = tanh(aᵀ(a xₖ₋₁)): no step makes a view of a; the derivative is that of NumPy's steps"""
    a, x = np.random.default_rng(2).normal(size=(2, 3, 3))[:, :2] * 0.5
    x, direction = x[0], np.random.default_rng(3).normal(size=a.shape)

    def power(x, a):
        return tn.scan(lambda x, _: (np.tanh(a.T @ (a @ x)), x), x, None, length=5)

    def in_numpy(a):
        rows, y = [], x
        for _ in range(5):
            rows.append(y)
            y = np.tanh(a.T @ (a @ y))
        return y, np.array(rows)

    f = tn.jit(power, backend="numpy")
    for _ in range(3):
        for found, expected in zip(f(x, a), in_numpy(a), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-13)
    gradient = tn.jit(tn.grad(lambda a: np.sum(power(x, a)[0])), backend="numpy")
    up, down = (in_numpy(a + step * direction)[0].sum() for step in (1e-6, -1e-6))
    np.testing.assert_allclose(np.sum(gradient(a) * direction), (up - down) / 2e-6, rtol=1e-7)
    for text in (f.explain(x, a), gradient.explain(a)):
        for loop in text.split("def loop(")[1:]:
            assert ".T" not in loop.partition(" for ")[2]
