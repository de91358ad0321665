"""Loops written as source: the values of unrolled programs, in memory that does not grow."""

import tracemalloc
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from beside_unrolled import assert_equal, beside, leaves, unrolled

import tenferro as tn
from tenferro_numpy.loops import run

ROWS = np.array([0.3, -0.2, 0.5, 0.1, 0.7, -0.4])


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
    "results are all before and behind a step": Step(
        lambda s, r: ((s[1], y := s[0] * r - s[1]), (s[0], s[1], y, s[1])), 2
    ),
    "results are one carry twice": Step(lambda c, r: (c * r, (c, c))),
    "results are neither": Step(lambda c, r: (c * c + r, np.cos(c) * r)),
    "a result is an operand": Step(lambda c, r: (c + r, (r, c + 2.0))),
    "the carry stays": Step(lambda c, r: (c, c * r)),
    "the carry becomes a number": Step(lambda c, r: (0.0 * c + r, c)),
    "the carry becomes a constant": Step(lambda c, r: (np.ones_like(c), np.sin(c) * r + c)),
    "the carry becomes an operand": Step(lambda s, r: ((s[1], s[1]), s[0] * r + s[1]), 2),
    "carries change places": Step(lambda s, r: ((s[1], s[0]), s[0] * r), 2),
    "a carry follows another": Step(lambda s, r: ((s[1], s[0] + r * s[1]), s[0]), 2),
    "a wave": Step(lambda s, r: ((s[1], 2.0 * s[1] - s[0] + r * np.sin(s[1])), s[1]), 2),
    "three follow each other": Step(lambda s, r: ((s[1], s[2], s[0] * r), s[2]), 3),
    "a carry twice": Step(lambda s, r: (((y := s[0] * s[1] + r), y), y), 2),
    "one carry is a result": Step(lambda s, r: ((s[0] * r, s[0] - s[1]), s[1]), 2),
    "the carries before": Step(lambda s, r: ((np.exp(-s[1]), s[0] * r), (s[0], s[1])), 2),
    "a carry is unread": Step(lambda s, r: ((s[0] + r, s[0]), s[0] * r), 2),
}


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
    """A loop has the bits of its steps in every dtype"""
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


def test_a_carry_that_becomes_what_all_steps_read():
    """The result is its own array"""
    x, w = np.ones((2, 3))
    beside(lambda scan, c, w: scan(lambda c, r: (w, c * r), c, ROWS), x, w)
    found = tn.jit(lambda c, w: tn.scan(lambda c, r: (w, c * r), c, ROWS)[0], backend="numpy")(x, w)
    assert not np.shares_memory(found, w)


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
    """A loop over a random body has the bits of its steps"""
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
            return last + r, np.max(ys)  # sums may be taken for all steps at once

        return scan(outer, x, ROWS)

    beside(program, np.array([0.3, 0.4]))


def test_branches_inside():
    """A branch in a body has the bits of the one that is taken"""

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


def peak_of_call(function, x):
    """Return the peak of all threads; that of xdist takes some 20 kB when it receives tests."""
    tracemalloc.start()
    function(x)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


@pytest.mark.parametrize("shape", [(), (8,)])
def test_memory_does_not_depend_on_the_number_of_steps(shape):
    def peak(length):
        step = lambda c, _: (c + 0.01 * np.sin(c) - 0.02 * c * c, None)  # noqa: E731
        loop = tn.jit(lambda x: tn.scan(step, x, None, length)[0], backend="numpy")
        x = np.full(shape, 0.5)
        loop(x)
        return min(peak_of_call(loop, x) for _ in range(3))

    peak(100)  # the first runs in a process make what all later ones share
    assert peak(20_000) <= peak(200) + 1_000


def test_the_source_of_a_loop():
    """Numbers are Python's, written where they are read; arrays are written in place"""

    def loop(x, rate):
        step = lambda c, _: ((y := c + rate * np.sin(c)), y)  # noqa: E731
        return tn.scan(step, x, None, 9)

    text = tn.jit(loop, backend="numpy").explain(np.array(0.5), np.array(0.1))
    assert "    def loop(o0, o1):\n" in text
    assert "            v1 = v4\n" in text or "            v1 = (v1 +" in text
    text = tn.jit(loop, backend="numpy").explain(np.ones(30), np.array(0.1))
    assert "        for v" in text
    assert " in y1:\n" in text


@pytest.mark.parametrize("reverse", [False, True])
def test_rows_before_a_step_are_copied_at_once_from_those_behind_it(reverse):
    program = tn.jit(
        lambda x: tn.scan(lambda c, r: ((y := c * r), (c, y)), x, ROWS, reverse=reverse)
    )
    x = np.ones(3)
    program(x)
    text = str(tn.explain(program, x))
    assert ("[:-1] = y2[1:]" if reverse else "[1:] = y2[:-1]") in text
    assert "[...] =" not in text


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


def test_the_source_of_a_loop_that_is_chosen():
    """Factors that may overflow are selected in branch 0, and multiplied at once in branch 1"""
    step = lambda c, r: (c * r[0] * r[1], None)  # noqa: E731
    total = lambda x, rows: np.sum(tn.scan(step, x, rows)[0])  # noqa: E731
    text = tn.jit(tn.grad(total), backend="numpy").explain(np.ones(3), np.ones((20, 2, 3)))
    assert "<Choice of 2 branches>" in text
    assert "branch 1: <Loop of 20 steps of {1 equation}>" in text
    assert "branch 0: <Loop of 20 steps of {4 equations}>" in text


@pytest.mark.parametrize("through", [lambda f: f, tn.jit], ids=["called", "jitted"])
def test_a_loop_that_goes_on_beyond_its_bound_is_an_error(through):
    loop = through(lambda x: tn.while_loop(lambda c: c < 100.0, lambda c: c * 2, x, max_steps=3))
    assert float(loop(50.0)) == 100.0
    with pytest.raises(tn.StepLimitError) as caught:
        loop(1.0).item()
    assert caught.value.steps == 3
