"""Loops written as source: the values of unrolled programs, in memory that does not grow."""

import tracemalloc
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import tenferro as tn
from tenferro_numpy.loops import run

ROWS = np.array([0.3, -0.2, 0.5, 0.1, 0.7, -0.4])


def unrolled(f, carry, xs=None, length=None, reverse=False):
    """Return what `scan` returns, by Python's own loop."""
    count = len(xs) if length is None else length
    ys: list[Any] = [None] * count
    for k in reversed(range(count)) if reverse else range(count):
        carry, ys[k] = f(carry, None if xs is None else xs[k])
    flat = [y if isinstance(y, tuple) else (y,) for y in ys]
    columns = tuple([np.stack(column) for column in zip(*flat, strict=True)])
    return carry, columns if isinstance(ys[0], tuple) else columns[0]


class Step(NamedTuple):
    """A body, and the number of its carries; each is like x."""

    body: Callable[..., Any]
    carries: int = 1


def updated(s, r):
    return s.at[..., :1].set(s[..., -1:] * r), s


STEPS = {
    "the carry is made from itself": Step(lambda c, r: (np.sin(c) * r + c, c)),
    "results are the next carry": Step(lambda c, r: ((y := np.tanh(c) - r), y)),
    "results are both": Step(lambda c, r: ((y := c * r + 1.0), (c, y))),
    "results are one carry twice": Step(lambda c, r: (c * r, (c, c))),
    "results are neither": Step(lambda c, r: (c * c + r, np.cos(c) * r)),
    "a result is an operand": Step(lambda c, r: (c + r, (r, c + 2.0))),
    "the carry stays": Step(lambda c, r: (c, c * r)),
    "the carry becomes a number": Step(lambda c, r: (0.0 * c + r, c)),
    "carries change places": Step(lambda s, r: ((s[1], s[0]), s[0] * r), 2),
    "a carry follows another": Step(lambda s, r: ((s[1], s[0] + r * s[1]), s[0]), 2),
    "a wave": Step(lambda s, r: ((s[1], 2.0 * s[1] - s[0] + r * np.sin(s[1])), s[1]), 2),
    "three follow each other": Step(lambda s, r: ((s[1], s[2], s[0] * r), s[2]), 3),
    "a carry twice": Step(lambda s, r: (((y := s[0] * s[1] + r), y), y), 2),
    "one carry is a result": Step(lambda s, r: ((s[0] * r, s[0] - s[1]), s[1]), 2),
    "the carries before": Step(lambda s, r: ((np.exp(-s[1]), s[0] * r), (s[0], s[1])), 2),
    "a carry is unread": Step(lambda s, r: ((s[0] + r, s[0]), s[0] * r), 2),
}


def leaves(found):
    """Return the arrays of nested tuples."""
    return [y for x in found for y in leaves(x)] if isinstance(found, tuple) else [found]


@np.errstate(all="ignore")
def beside(program, *arguments):
    """Compare bits of a program with `scan` and unrolled, run twice; arguments stay as they are."""
    kept = [np.array(x) for x in arguments]
    rolled = tn.jit(lambda *xs: program(tn.scan, *xs), backend="numpy")
    straight = tn.jit(lambda *xs: program(unrolled, *xs), backend="numpy")
    need = leaves(straight(*arguments))
    for _ in range(2):
        found = leaves(rolled(*arguments))
        for x, y in zip(found, need, strict=True):
            np.testing.assert_array_equal(x, y, strict=True)
            np.testing.assert_array_equal(1.0 / np.real(x), 1.0 / np.real(y))  # signs of 0
        for i, x in enumerate(found):  # results are the caller's own
            assert not any(np.shares_memory(x, y) for y in (*found[:i], *arguments))
            if x.shape:
                x[...] = 77
    for x, y in zip(arguments, kept, strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (130, 130)])
@pytest.mark.parametrize("name", STEPS)
def test_a_loop_has_the_bits_of_the_unrolled_program(name, shape, reverse):
    """scan(f, c, xs) = f(… f(c, x₀) …, xₙ)"""
    body, count = STEPS[name]
    x = np.linspace(0.1, 0.9, int(np.prod(shape))).reshape(shape)
    xs = tuple([x + 0.1 * k for k in range(count)])

    def program(scan, *carry):
        return scan(body, carry if count > 1 else carry[0], ROWS, reverse=reverse)

    beside(program, *xs)


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.complex128, bool])
def test_other_dtypes(dtype):
    x = np.array([1, 0, 1]).astype(dtype)
    rows = np.array([[1, 1, 0], [0, 1, 1]]).astype(dtype)
    beside(lambda scan, c, r: scan(lambda c, r: (c + r, c * r), c, r), x, rows)
    beside(lambda scan, c, r: scan(lambda c, r: (c + r, c * r), c, r), x[0], rows[:, 0])


@pytest.mark.parametrize("width", [4, 40_000])
def test_an_update_of_the_carry(width):
    """(x.at[0].set(v))ₖ is the array of the step before, changed"""
    x = np.arange(width, dtype=float)
    beside(lambda scan, c: scan(lambda c, r: (c.at[0].set(c[-1] * r), c[1]), c, ROWS), x)
    beside(lambda scan, c: scan(lambda c, r: (c.at[0].set(c[-1] * r), c[:2]), c, ROWS), x)


def test_views_of_what_a_step_made():
    x = np.arange(6.0)
    beside(lambda scan, c: scan(lambda c, r: ((c * r)[::-1], c[:2]), c, ROWS), x)
    beside(lambda scan, c: scan(lambda c, r: (np.sin(c)[2] * r + c, np.cos(c)[0]), c, ROWS), x)
    beside(
        lambda scan, c, s: scan(
            lambda s, r: ((s[0] * r, np.exp(s[0])[1]), s[1]), (c, s), ROWS
        ), x, np.array(0.5)
    )  # fmt: skip


def test_an_element_of_an_array_that_is_written_over():
    """s₁[0] is read before s₂ takes the memory of s₁"""

    def step(s, r):
        x, t = s
        for k in (0, 2, 1):
            x = np.tanh(x + r)
            t = t + np.log(np.sum(np.exp(x))) - x[k]
        return (x, t), t

    beside(lambda scan, x, t: scan(step, (x, t), ROWS), np.array([0.4, -0.3, 0.2]), np.array(0.0))


#: operations on two arrays of three elements and two numbers, which give one of either
DRAWN = (
    lambda x, y, a, b: x * 0.5 + y,
    lambda x, y, a, b: np.sin(x),
    lambda x, y, a, b: x * a,
    lambda x, y, a, b: x[::-1],
    lambda x, y, a, b: np.tanh(x) - y,
    lambda x, y, a, b: tn.asarray(x).at[1].set(0.25),
    lambda x, y, a, b: np.sum(x * y),
    lambda x, y, a, b: x[2],
    lambda x, y, a, b: np.cos(a) * b,
    lambda x, y, a, b: a * 0.5 - b,
    lambda x, y, a, b: np.reshape(np.reshape(x, (3, 1)), (3,)),
    lambda x, y, a, b: np.where(x > y, x, 0.5 * y),
)


def random_step(seed):
    """Return a body that is drawn: sums, products, functions, views, updates, numbers."""
    draw = np.random.default_rng(seed)
    picks = [draw.integers(0, 1 << 30, 3) for _ in range(int(draw.integers(3, 14)))]
    ends = draw.integers(0, 1 << 30, 6)

    def step(carry, r):
        arrays, numbers = [*carry[:2]], [carry[2], r]
        for which, i, j in picks:
            x, y = arrays[i % len(arrays)], arrays[j % len(arrays)]
            a, b = numbers[i % len(numbers)], numbers[j % len(numbers)]
            made = DRAWN[which % len(DRAWN)](x, y, a, b)
            (arrays if made.ndim else numbers).append(made)
        x, y, z = [arrays[-1 - int(i) % min(4, len(arrays))] for i in ends[:3]]
        a, b = [numbers[-1 - int(i) % min(4, len(numbers))] for i in ends[3:5]]
        bounded = (np.tanh(x), 0.5 * y, np.cos(a)) if ends[5] % 2 else (x, y, a)
        return bounded, (z, b, carry[int(ends[5]) % 3])

    return step


@pytest.mark.parametrize("seed", range(120))
def test_drawn_bodies(seed):
    x = np.array([0.4, -0.3, 0.2])
    step = random_step(seed)
    start = x, x[::-1] + 0.1, np.array(0.3)
    beside(lambda scan, *s: scan(step, s, ROWS[:4], reverse=seed % 3 == 0), *start)


def chosen(condition, f, g, *operands):
    """Return what `cond` returns, by Python's own `if`."""
    return f(*operands) if bool(condition) else g(*operands)


def repeated(goes_on, f, x):
    """Return what `while_loop` returns, by Python's own `while`."""
    while bool(goes_on(x)):
        x = f(x)
    return x


@pytest.mark.parametrize("seed", range(40))
def test_drawn_bodies_with_branches_and_loops_inside(seed):
    first, second, third = [random_step(seed + k) for k in (0, 7919, 104729)]

    def program(scan, cond, while_loop, *start):
        def step(s, r):
            s = cond(
                np.sum(s[0]) > r + 0.01,
                lambda *s: first(s, r)[0],
                lambda *s: second(s, r)[0],
                *s,
            )
            s, _ = scan(third, s, ROWS[:2])
            x, k = while_loop(
                lambda u: (u[1] < 6.0) & (np.sum(u[0] * u[0]) < 50.0),
                lambda u: (u[0] * 1.5 + s[1] * 0.1, u[1] + 1.0),
                (0.5 * s[0], 0.0 * s[2] + r),
            )
            return (np.tanh(x), np.tanh(s[1]), 0.5 * np.cos(s[2]) + 0.01 * k), (x, k)

        return scan(step, start, ROWS[:4], reverse=seed % 2 == 0)

    x = np.array([0.4, -0.3, 0.2])
    start = x, x[::-1] + 0.1, np.array(0.3)
    loop = tn.jit(lambda *s: program(tn.scan, tn.cond, tn.while_loop, *s), backend="numpy")
    found, again = leaves(loop(*start)), leaves(loop(*start))
    with np.errstate(all="ignore"):
        need = leaves(program(unrolled, chosen, repeated, *start))
    for y, z, same in zip(found, need, again, strict=True):
        np.testing.assert_allclose(np.asarray(y), np.asarray(z), rtol=1e-11, atol=1e-12)
        np.testing.assert_array_equal(y, same)


def test_matrices_and_loops_inside():
    m = np.array([[0.9, 0.1], [-0.2, 0.8]])

    def inner(scan, c):
        return scan(lambda d, q: (np.tanh(m @ d) * q, d), c, ROWS)

    def program(scan, x):
        def outer(c, r):
            last, ys = inner(scan, c)
            return last + r, np.sum(ys)

        return scan(outer, x, ROWS)

    beside(program, np.array([0.3, 0.4]))


def test_branches_inside():
    def step(c, r):
        return tn.cond(c > 0.4, lambda c: c * r, lambda c: np.exp(c), c), c

    beside(lambda scan, c: scan(step, c, ROWS), np.array(0.5))


@pytest.mark.parametrize("shape", [(), (3,)])
@pytest.mark.parametrize("start", [0.9, 0.1, 800.0])
def test_branches_that_give_operands_numbers_and_two_results(shape, start):
    def step(s, r):
        a, b = s
        first = np.sum(a) > 0.5 * a.size
        y, z = tn.cond(first, lambda a, b: (b, a), lambda a, b: (np.exp(a), a * r), a, b)
        return (y, tn.cond(first, lambda z: 0.0 * z, lambda z: z, z)), y

    def python_step(s, r):
        a, b = s
        first = np.sum(a) > 0.5 * a.size
        y, z = (b, a) if first else (np.exp(a), a * r)
        return (y, 0.0 * z if first else z), y

    x = np.full(shape, start)
    found = tn.jit(lambda x: tn.scan(step, (x, x + 0.1), ROWS), backend="numpy")(x)
    with np.errstate(all="ignore"):
        need = unrolled(python_step, (x, x + 0.1), ROWS)
    for y, z in zip(leaves(found), leaves(need), strict=True):
        np.testing.assert_allclose(y, z, rtol=1e-14)


@pytest.mark.parametrize("start", [0.5, 710.0, -1.0, 0.0])
def test_where_python_raises_a_number_is_numpys(start):
    """exp(710), log(-1), 1/0: inf and nan, as in arrays"""

    def step(c, r):
        return np.exp(c) * r, (1.0 / c, np.log(c))

    beside(lambda scan, c: scan(step, c, ROWS), np.array(start))


@pytest.mark.parametrize("shape", [(), (3,)])
def test_a_loop_with_a_condition(shape):
    x = np.full(shape, 100.0)

    def halved(c):
        return c / 2.0 + 0.1, c * 0.5

    def loop(x):
        return tn.while_loop(lambda s: np.sum(s[1]) > 1.0, lambda s: halved(s[0]), (x, x))

    found = tn.jit(loop, backend="numpy")(x)
    need = x, x
    while np.sum(need[1]) > 1.0:
        need = halved(need[0])
    np.testing.assert_array_equal(found[0], need[0])
    np.testing.assert_array_equal(found[1], need[1])
    small = tn.jit(loop, backend="numpy")(0.001 * x)
    np.testing.assert_array_equal(small[0], 0.001 * x)
    assert not np.shares_memory(small[0], small[1])


@pytest.mark.parametrize("shape", [(), (8,)])
def test_memory_does_not_depend_on_the_number_of_steps(shape):
    def peak(length):
        step = lambda c, _: (c + 0.01 * np.sin(c) - 0.02 * c * c, None)  # noqa: E731
        loop = tn.jit(lambda x: tn.scan(step, x, None, length)[0], backend="numpy")
        x = np.full(shape, 0.5)
        loop(x)
        tracemalloc.start()
        loop(x)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(20_000) <= peak(200) + 1_000


def test_the_source_of_a_loop():
    """Numbers are Python's, written where they are read; arrays are written in place"""

    def loop(x, rate):
        step = lambda c, _: ((y := c + rate * np.sin(c)), y)  # noqa: E731
        return tn.scan(step, x, None, 9)

    text = tn.jit(loop, backend="numpy").explain(np.array(0.5), np.array(0.1))
    assert "    def loop(o0, o1):\n" in text
    assert "            v1 = v4\n" in text or "            v1 = (v1 +" in text
    text = tn.jit(loop, backend="numpy").explain(np.ones(3), np.array(0.1))
    assert "        for v" in text
    assert " in y1:\n" in text


@pytest.mark.parametrize("reverse", [False, True])
def test_loops_of_any_length_share_their_source(reverse):
    """A body is written once for values and once for rows, whatever the number of steps"""
    body = lambda c, r: (np.sqrt(c) * 0.25 + r, c * r)  # noqa: E731
    misses = []
    for count in (3, 5, 2, 7):
        rows = np.linspace(0.0, 1.0, count)
        found = tn.jit(lambda c, xs: tn.scan(body, c, xs, reverse=reverse))(0.5, rows)
        assert_equal(found, unrolled(body, 0.5, rows, reverse=reverse))
        misses.append(run._source.cache_info().misses)
    assert misses == misses[:1] * 4


@pytest.mark.parametrize("count", [2, 3, 5])
def test_a_step_that_raises_leaves_loops_of_other_lengths_alone(count):
    """1 / 0 and log 0 in one length, regular values in the next"""
    body = lambda c, r: (1.0 / (c - r) + np.log(c * c), c)  # noqa: E731
    rows = np.zeros(count)
    with np.errstate(all="ignore"):
        found = tn.jit(lambda c, xs: tn.scan(body, c, xs))(0.0, rows)
        assert_equal(found, unrolled(body, np.float64(0.0), rows))
    rows = np.full(count + 5, 0.25)
    found = tn.jit(lambda c, xs: tn.scan(body, c, xs))(2.0, rows)
    assert_equal(found, unrolled(body, np.float64(2.0), rows))


def assert_equal(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


class View(NamedTuple):
    """A view of an array of shape (4, 4), and what makes an array of that shape of it."""

    of: Callable[[Any], Any]
    back: Callable[[Any], Any]


def same(x):
    return x


VIEWS = {
    "reshape": View(lambda x: x.reshape(2, 8), lambda y: y.reshape(4, 4)),
    "reshape twice": View(lambda x: x.reshape(2, 8).reshape(8, 2), lambda y: y.reshape(4, 4)),
    "ravel": View(lambda x: x.ravel(), lambda y: y.reshape(4, 4)),
    "expand_dims": View(lambda x: np.expand_dims(x, 1), lambda y: np.squeeze(y, 1)),
    "None": View(lambda x: x[None], lambda y: y.squeeze(0)),
    "None, last": View(lambda x: x[..., None], lambda y: y[..., 0]),
    "transpose": View(lambda x: x.T, lambda y: y.T),
    "transpose once": View(lambda x: x.T, same),
    "transpose and reshape": View(lambda x: x.T.reshape(2, 8), lambda y: y.reshape(4, 4)),
    "reshape and transpose": View(lambda x: x.reshape(2, 8).T, lambda y: y.reshape(4, 4)),
    "reversed": View(lambda x: x[::-1], lambda y: y[:, ::-1]),
    "slice": View(lambda x: x[1:3], lambda y: np.concatenate([y, y * 0.5])),
    "broadcast": View(lambda x: np.broadcast_to(x, (2, 4, 4)), lambda y: y[1]),
    "broadcast of a row": View(lambda x: np.broadcast_to(x[1], (4, 4)), same),
    "flat and back": View(lambda x: x.ravel()[None], lambda y: y[0].reshape(4, 4)),
}

#: bodies with a view of the carry, of the row, or of what the body makes
VIEWING = {
    "the carry is made as a view": lambda v, c, r: (v.back(np.sin(v.of(c))), c),
    "the result is": lambda v, c, r: (np.cos(c) * r, v.of(np.sin(c))),
    "the carry and the result are": lambda v, c, r: ((y := v.back(np.sin(v.of(c)))), y),
    "carry and another view of it": lambda v, c, r: ((y := v.back(np.sin(v.of(c)))), v.of(y)),
    "the carry is a view of itself": lambda v, c, r: (v.back(v.of(c)), v.of(c)),
    "a row is the carry": lambda v, c, r: (v.back(v.of(r)), np.sin(c) + r),
    "a view of a row is read": lambda v, c, r: (v.back(np.cos(v.of(r)) * v.of(c)), v.of(r)),
    "read before a write": lambda v, c, r: (
        (y := np.sin(c) + 0.5),
        v.back(v.of(y) * 2.0) + tn.asarray(y).at[0, 0].set(7.0),
    ),
    "read after a write": lambda v, c, r: (
        tn.asarray(y := np.sin(c)).at[0].set(c[1]),
        (v.of(y), v.of(c)),
    ),
    "a view is written to": lambda v, c, r: (
        v.back(tn.asarray(y := v.of(np.sin(c))).at[0].set(0.25)),
        (y, c),
    ),
    "a view of the carry is written to": lambda v, c, r: (
        v.back(tn.asarray(v.of(c)).at[0].set(0.25)) * r,
        v.of(c),
    ),
    "many buffers": lambda v, c, r: (
        (y := np.tanh(v.back(np.exp(v.of(np.sin(v.back(np.cos(v.of(c))))))) * r)) + np.sin(c),
        v.of(y),
    ),
}


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("body", VIEWING)
@pytest.mark.parametrize("view", VIEWS)
def test_a_body_may_read_and_return_views(view, body, reverse):
    """scan(f, c, xs) = f(… f(c, x₀) …, xₙ), where f reshapes, transposes and slices"""
    x = np.linspace(0.1, 0.9, 16).reshape(4, 4)
    rows = np.cos(np.arange(80.0)).reshape(5, 4, 4)

    def step(c, r):
        return VIEWING[body](VIEWS[view], c, r)

    beside(lambda scan, c, xs: scan(step, c, xs, reverse=reverse), x, rows)


@pytest.mark.parametrize("body", VIEWING)
@pytest.mark.parametrize("view", VIEWS)
def test_two_carries_may_change_places_as_views(view, body):
    """scan(f, (a, b), xs), where f gives (b, a view of what is made of a)"""
    x = np.linspace(0.1, 0.9, 16).reshape(4, 4)
    rows = np.cos(np.arange(80.0)).reshape(5, 4, 4)

    def step(s, r):
        made, result = VIEWING[body](VIEWS[view], s[0], r)
        return (s[1], made, np.sin(s[2].reshape(4, 4)).reshape(16)), (result, s[1])

    def flat(s, r):
        carry, (result, other) = step(s, r)
        return carry, (*(result if isinstance(result, tuple) else (result,)), other)

    beside(lambda scan, a, b, d, xs: scan(flat, (a, b, d), xs), x, x + 1.0, x.ravel() - 0.3, rows)


@pytest.mark.parametrize("body", VIEWING)
@pytest.mark.parametrize("view", VIEWS)
def test_a_loop_with_a_condition_may_use_views(view, body):
    """while_loop(p, f, x) = f(… f(x) …), where f reshapes, transposes and slices"""
    x = np.linspace(0.1, 0.9, 16).reshape(4, 4)

    def step(s):
        made, result = VIEWING[body](VIEWS[view], s[0], s[1])
        last = result[0] if isinstance(result, tuple) else result
        number = np.ravel(last)[5]  # no sum, whose rounding depends on the layout of its operand
        return made, np.tanh(s[1].reshape(16)).reshape(4, 4) + number, s[2] + 1.0

    def straight(*s):
        for _ in range(5):
            s = step(s)
        return s

    start = x, x - 0.4, np.array(0.0)
    kept = [np.array(y) for y in start]
    loop = tn.jit(lambda *s: tn.while_loop(lambda s: s[2] < 5.0, step, s), backend="numpy")
    need = tn.jit(straight, backend="numpy")(*start)
    for _ in range(2):
        found = loop(*start)
        assert_equal(found, need)
        for i, y in enumerate(found):
            assert not any(np.shares_memory(y, z) for z in (*found[:i], *start))
            if y.shape:
                y[...] = 77
    assert_equal(start, kept)


@pytest.mark.parametrize("body", VIEWING)
@pytest.mark.parametrize("view", VIEWS)
def test_second_derivatives_of_bodies_with_views(view, body):
    """H(scan f) v = H(f ∘ … ∘ f) v"""
    x = np.linspace(0.1, 0.9, 16).reshape(4, 4)
    rows = np.cos(np.arange(48.0)).reshape(3, 4, 4)

    def step(c, r):
        return VIEWING[body](VIEWS[view], c, r)

    def norm(scan, x):
        found = leaves(scan(step, x, rows))
        return sum(np.sum(y * y) for y in found)

    def product(scan):
        f = lambda x: norm(scan, x)  # noqa: E731
        return tn.grad(lambda x: np.sum(tn.grad(f)(x) * np.sin(x)))

    found = product(tn.scan)(x)
    with tn.debug.unrolled():
        need = product(tn.scan)(x)
    np.testing.assert_allclose(found, need, rtol=1e-11, atol=1e-12)


PROGRAMS = {
    "an associative scan in a body": lambda x: tn.scan(
        lambda c, _: (np.tanh(tn.associative_scan(lambda p, q: p * q, c)), None), x, None, 3
    )[0],
    "an associative scan in a loop with a condition": lambda x: tn.while_loop(
        lambda s: s[1] < 3.0,
        lambda s: (np.tanh(tn.associative_scan(lambda p, q: p * q, s[0])), s[1] + 1.0),
        (x, np.array(0.0)),
        max_steps=4,
    )[0],
    "reshapes": lambda x: tn.scan(
        lambda c, _: (np.sin(c.reshape(2, 2)).reshape(4), None), x, None, 3
    )[0],
    "a new axis": lambda x: tn.scan(
        lambda c, _: (np.sin(np.sin(c[:, None])[:, 0]), None), x, None, 3
    )[0],
}


def unequal_reshapes(x):
    """Return 40 steps of Python's own loop, which becomes a loop of pairs of steps."""
    matrix = np.arange(16.0).reshape(4, 4) * 0.05
    s = x.reshape(2, 2) @ matrix[:2]
    s = np.concatenate([s, s])
    for i in range(40):
        s = np.sin(s.reshape((2, 8) if i % 2 else (8, 2))).reshape(4, 4) @ matrix
    return s


@pytest.mark.parametrize("passes", ["default", "none"])
@pytest.mark.parametrize("name", [*PROGRAMS, "a loop of Python"])
def test_programs_that_reshape_in_every_step(name, passes):
    """f, ∇Σf and the Hessian of Σf are those of the unrolled loop"""
    program = PROGRAMS.get(name, unequal_reshapes)
    total = lambda x: np.sum(program(x))  # noqa: E731
    x = np.full(4, 0.3)
    options = {"passes": passes} if passes == "none" else {}
    for f in (program, tn.grad(total), tn.hessian(total)):
        found = tn.jit(f, backend="numpy", options=options)(x)
        with tn.debug.unrolled():
            need = tn.jit(lambda x, f=f: f(x), backend="numpy")(x)
        np.testing.assert_allclose(found, need, rtol=1e-12, atol=1e-15)
