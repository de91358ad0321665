"""Loops whose short carries and rows are numbers in all steps: their values, and what they read."""

import numpy as np
import pytest

import tenferro as tn

A = np.array([[0.9, 0.2], [-0.3, 0.8]])
X = np.array([0.3, -0.7])
ROWS = np.linspace(-0.5, 0.9, 12).reshape(6, 2)
WIDE = np.linspace(-0.5, 0.9, 36).reshape(6, 2, 3)


def compiled(function, **options):
    return tn.jit(function, backend="numpy", options=options)


def oscillator(x, r):
    return ((y := x + 0.1 * (A @ x) * r), y)


def wide(x, r):
    y = x * r[:, 0] + r[:, 2] - x[::-1]
    return y, (r * y[:, None], y > 0.1)


def two_and_a_matrix(s, r):
    x, p = s
    p = A @ p @ A.T + 0.1 * np.outer(x, r)
    return (x + p @ r, p), (p[0], x)


def a_wave(s, r):
    return (s[1], 2.0 * s[1] - s[0] + 0.1 * r * s[1] * s[1]), s[0]


def around(s, r):
    """The first carry follows two that change places."""
    return (s[1], s[2], s[1], s[3] * r + s[0]), s[3]


def read_whole(x, r):
    """A sort takes the carry as an array."""
    y = (x * r + 0.5 * x * x) * 0.9 - r * (x - x * x) + x * x * x
    return y + 0.01 * np.sort(x), y


def nine(p, r):
    q = (A[0, 0] * p - p.T * r[0]) * (p + r[1])
    return q, (q, p > q)


def beside_others(s, r):
    count, seen, single, z, x = s
    x = x * r + x * x
    return (count + 1, seen | (x[0] > 0.0), single * 2.0, z * 1j, x), x


SINGLE, COMPLEX = np.ones(2, np.float32), np.ones(2) + 0j
LOOPS = {
    "one carry": (oscillator, X, ROWS),
    "rows of a matrix, and masks": (wide, X, WIDE),
    "two carries": (two_and_a_matrix, (X, A), ROWS),
    "a carry follows another": (a_wave, (X, X + 0.1), ROWS),
    "carries change places": (around, (X, X + 0.1, X - 0.1, X * 2.0), ROWS),
    "a step reads the array": (read_whole, X, ROWS),
    "nine numbers, stored by one call": (nine, np.arange(9.0).reshape(3, 3) / 9.0, ROWS),
    "beside others": (beside_others, (0, np.False_, SINGLE, COMPLEX, X), ROWS),
}


def by_hand(body, carry, xs, *, reverse=False):
    """Run the steps on NumPy's arrays."""
    ys = [None] * len(xs)
    for k in reversed(range(len(xs))) if reverse else range(len(xs)):
        carry, ys[k] = body(carry, xs[k])
    return carry, ys


def flat(found):
    return [y for x in found for y in flat(x)] if isinstance(found, tuple) else [np.asarray(found)]


def bodies(function, *arguments):
    """Return the texts of the steps of a program's loops."""
    text = str(compiled(function).explain(*arguments))
    parts = text.split("    def loop")[1:]
    return [part[part.index("        for ") : part.index("        return")] for part in parts]


@pytest.mark.parametrize("options", [{}, {"without": ("memory_reuse",)}, {"poison": True}])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_is_its_steps(name, reverse, options):
    """scan(f, c, xs) = f(… f(c, x₀) …, xₙ), by NumPy; results are new, operands as they were"""
    body, start, xs = LOOPS[name]
    kept = [np.array(x) for x in flat((start, xs))]
    loop = compiled(lambda c, xs: tn.scan(body, c, xs, reverse=reverse), **options)
    carry, ys = by_hand(body, start, xs, reverse=reverse)
    columns = zip(*[flat((y,)) for y in ys], strict=True)
    need = [*flat((carry,)), *[np.stack(column) for column in columns]]
    for _ in range(2):
        found = flat(loop(start, xs))
        for i, (x, y) in enumerate(zip(found, need, strict=True)):
            assert (x.dtype, x.shape) == (y.dtype, y.shape)
            np.testing.assert_allclose(x, y, rtol=1e-13)
            assert not any(np.shares_memory(x, z) for z in (*found[:i], *flat((start, xs))))
    for x, y in zip(flat((start, xs)), kept, strict=True):
        np.testing.assert_array_equal(x, y)
    none = flat(loop(start, xs[:0]))
    for x, y in zip(none, flat((start,)), strict=False):
        np.testing.assert_array_equal(x, y)
    assert all(len(x) == 0 for x in none[len(flat((start,))) :])


def test_steps_make_no_arrays():
    """No step of a loop or of its gradient converts between an array and its numbers"""

    def energy(x, rows):
        return np.sum(tn.scan(oscillator, x, rows)[1] ** 2)

    found = [*bodies(energy, X, ROWS), *bodies(tn.grad(energy), X, ROWS)]
    assert len(found) == 3
    for text in found:
        steps = text.partition("\n")[2]
        assert " * " in steps
        assert not any(call in steps for call in ("tolist", "pack_into", ".dot(", "item("))


@pytest.mark.parametrize("x", [(0.0, -0.0), (800.0, -800.0), (np.nan, np.inf), (-1.0, 5e-324)])
def test_numbers_of_a_loop_are_those_of_arrays(x):
    """Where Python raises, NumPy's inf, nan and signs of zero, for all steps"""

    def body(x, r):
        y = np.exp(x) / (x * r)
        z = np.log(y)
        return np.where(z > 0.5, x * r, -z), (y, z)

    start = np.array(x)
    loop = compiled(lambda c, xs: tn.scan(body, c, xs))
    assert "tolist" in str(loop.explain(start, ROWS))
    with np.errstate(all="ignore"):
        carry, ys = by_hand(body, start, ROWS)
    need = [carry, *map(np.stack, zip(*ys, strict=True))]
    for x, y in zip(flat(loop(start, ROWS)), need, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-15)
        known = ~np.isnan(x)
        np.testing.assert_array_equal(np.signbit(x)[known], np.signbit(y)[known])


@pytest.mark.parametrize("start", [X, np.array([5.0, 5.0])])
def test_a_loop_with_a_condition_keeps_numbers(start):
    """while f(x): x = g(x); none, or some steps"""

    def run(x):
        return tn.while_loop(lambda x: np.sum(x * x) < 4.0, lambda x: x + A @ x * 0.5, x)

    need = start
    while np.sum(need * need) < 4.0:
        need = need + A @ need * 0.5
    found = compiled(run)(start)
    np.testing.assert_allclose(found, need, rtol=1e-14)
    assert not np.shares_memory(found, start)
    second = compiled(lambda x, y: tn.vmap(run)(np.stack([x, y])))(start, start)
    np.testing.assert_allclose(second, np.stack([need, need]), rtol=1e-14)


def test_second_derivatives_of_a_loop_of_numbers():
    """∇²f by loops of numbers is that by loops of arrays, with a checkpoint, too"""
    for checkpoint in ("auto", "all"):

        def f(x, checkpoint=checkpoint):
            last, ys = tn.scan(oscillator, x, ROWS, checkpoint=checkpoint)
            return np.sum(np.sin(last)) + np.sum(ys**3)

        need = compiled(tn.hessian(f), without=("short_arrays",))(X)
        np.testing.assert_allclose(compiled(tn.hessian(f))(X), need, rtol=1e-12)
        gradient = compiled(tn.vmap(tn.grad(f)))(np.stack([X, A[0]]))
        np.testing.assert_allclose(gradient[1], compiled(tn.grad(f))(A[0]), rtol=1e-12)
