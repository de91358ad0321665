"""A loop inside a function that runs again: its body is found by look-ups, with the data of a call.

Each row of `WAYS` makes a function of a `scan` and an array for call i. With `steps`, a loop in
Python, it runs on NumPy: the value is NumPy's and the gradient that of differences.
"""

import sys

import numpy as np
import pytest

import tenferro as tn
from tenferro.transforms.recording.memos import MEMOS

CALLS = 7
X = np.linspace(0.5, 1.4, 4)
SCALE = [1.0]  # a global that a body reads
ROWS = np.linspace(-1.0, 1.0, 12).reshape(3, 4)
HAS_MEMOS = getattr(sys, "_is_gil_enabled", lambda: True)()


@pytest.fixture(autouse=True)
def _no_memos():
    MEMOS.clear()


def steps(f, carry, xs, length=None, reverse=False):
    """Run the steps in Python."""
    rows = [None] * length if xs is None else list(xs)
    ys = []
    for row in reversed(rows) if reverse else rows:
        carry, y = f(carry, row)
        ys.append(y)
    return carry, None if ys[0] is None else np.array(ys[::-1] if reverse else ys)


def same_step(scan, i):
    return lambda x: np.sum(scan(lambda c, _: (c + np.sin(c), None), x * (1.0 + i), None, 5)[0])


def two_loops(scan, i):
    def f(x):
        step = lambda c, r: (np.sin(c) * r + c, c * 2.0)  # noqa: E731
        c, ys = scan(step, x, ROWS)
        return np.sum(scan(step, c, ROWS, reverse=True)[0]) + np.sum(ys**2)

    return f


def numbers_that_change(scan, i):
    return lambda x: np.sum(scan(lambda c, _: (c * (0.5 + i) + np.cos(c), None), x, None, 3)[0])


def arrays_that_change(scan, i):
    weights = X * i

    def f(x):
        return np.sum(scan(lambda c, r: (np.tanh(c * weights) + r * x, None), x, ROWS + i)[0])

    return f


def lengths(scan, i):
    return lambda x: np.sum(scan(lambda c, _: (np.sin(c) + 1.0, None), x, None, 2 + i % 3)[0])


def branches(scan, i):
    def step(c, r):
        return (c * r + 1.0, None) if i % 3 else (np.sin(c) + c, None)

    return lambda x: np.sum(scan(step, x, ROWS)[0])


def loops_that_come_and_go(scan, i):
    def f(x):
        for k in range(i % 3):
            x = scan(lambda c, _: (np.sin(c) + k, None), x, None, 3)[0]  # noqa: B023
        return np.sum(x * x)

    return f


def carries_of_many_kinds(scan, i):
    def step(state, r):
        c, k, is_up = state["c"], state["k"], state["up"]
        c = np.where(is_up & (k % 2 == 0), np.sin(c) + r, c * 0.5)
        return {"c": c, "k": k + 1, "up": r[0] < 0.5}, (c, k)

    def f(x):
        start = {"c": x, "k": 3 + i, "up": np.asarray(i % 2 == 0)}
        rows = ROWS + 0.1 * i
        state = start
        if scan is steps:
            ys = []
            for row in rows:
                state, (c, _) = step(state, row)
                ys.append(c)
            return np.sum(np.array(ys) ** 2) + np.sum(state["c"])
        state, (ys, _) = scan(step, start, rows)
        return np.sum(ys**2) + np.sum(state["c"])

    return f


def constants_from_the_function(scan, i):
    """The body reads what the function made before it, and after another loop"""

    def f(x):
        a = np.sin(x) * (0.1 * i + 1.0)
        c, _ = scan(lambda c, _: (c * a, None), x, None, 2)
        b = np.cos(c) + a
        return np.sum(scan(lambda c, _: (np.sin(c * b) + a, None), c, None, 3)[0])

    return f


def new_values_before_a_known_body(scan, i):
    """Each call records another number of equations before the loop, whose body stays the same"""

    def f(x):
        a = x
        for _ in range(i):
            a = a * 0.9 + 0.1
        return np.sum(scan(lambda c, _: (np.sin(c) * a, None), x, None, 4)[0])

    return f


def nested(scan, i):
    def step(c, r):
        inner, _ = scan(lambda d, _: (np.sin(d) + r * c, None), c, None, 2 + i % 2)
        return inner * 0.5, None

    return lambda x: np.sum(scan(step, x, ROWS)[0])


def from_numbers(scan, i):
    return lambda x: scan(lambda c, r: (c + np.sum(r * x), None), 0.5 * i, ROWS)[0]


WAYS = [
    same_step, two_loops, numbers_that_change, arrays_that_change, lengths, branches,
    loops_that_come_and_go, carries_of_many_kinds, constants_from_the_function,
    new_values_before_a_known_body, nested, from_numbers,
]  # fmt: skip
#: those whose later calls record nothing new
STEADY = [same_step, two_loops, arrays_that_change, branches, constants_from_the_function, lengths]


def check(way, i, x, gradient):
    """Compare a gradient with a difference along it."""
    f = way(steps, i)
    step = 1e-5 / max(1.0, float(np.sqrt(np.sum(gradient**2))))
    along = (f(x + step * gradient) - f(x - step * gradient)) / (2 * step)
    np.testing.assert_allclose(along, np.sum(gradient**2), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_each_call_has_the_results_of_its_own_data(way):
    for i in range(CALLS):
        x = X + 0.1 * i
        value, gradient = tn.value_and_grad(way(tn.scan, i))(x)
        np.testing.assert_allclose(value, way(steps, i)(x), rtol=1e-12)
        check(way, i, x, gradient)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_second_derivatives_are_those_of_the_program(way):
    v = np.array([1.0, -0.5, 0.2, 0.0])
    for i in range(CALLS):
        found = tn.hvp(way(tn.scan, i))(X, v)
        wanted = tn.jit(tn.hvp(way(tn.scan, i)))(X, v)
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-11)


@pytest.mark.skipif(not HAS_MEMOS, reason="references are not counted exactly without the GIL")
@pytest.mark.parametrize("way", STEADY, ids=lambda way: way.__name__)
def test_later_calls_record_nothing_new(way):
    sizes = []
    for i in range(16):
        tn.value_and_grad(way(tn.scan, i))(X)
        sizes.append([lent.size for lent in MEMOS.waiting])
    assert sizes[-1] == sizes[-4]
    assert sum(sizes[-1]) > 0


def test_a_body_runs_at_every_call():
    calls = []

    def step(c, _):
        calls.append(1)
        return np.sin(c), None

    for _ in range(CALLS):
        tn.grad(lambda x: np.sum(tn.scan(step, x, None, 3)[0]))(X)
    assert len(calls) == CALLS


def test_a_body_that_raises_once_is_recorded_again():
    def step(c, _):
        if len(tries) == 4:
            raise ZeroDivisionError
        return np.sin(c) * c, None

    f = lambda x: np.sum(tn.scan(step, x, None, 3)[0])  # noqa: E731
    tries = []
    wanted = tn.jit(tn.grad(f))(X)
    for _ in range(CALLS):
        tries.append(1)
        if len(tries) == 4:
            with pytest.raises(ZeroDivisionError):
                tn.grad(f)(X)
        else:
            np.testing.assert_allclose(tn.grad(f)(X), wanted, rtol=1e-14)


def test_a_value_of_a_body_that_is_kept_is_refused_at_every_call():
    kept = []
    keeping = lambda c, _: (kept.append(c) or c, None)  # noqa: E731
    for i in range(CALLS):
        tn.grad(lambda x: np.sum(tn.scan(keeping, x, None, 3)[0]))(X)
        with pytest.raises(tn.LeakedArrayError):
            float(np.sum(kept[i]))


def test_globals_and_defaults_are_those_of_the_call():
    for i in range(CALLS):

        def step(c, _, factor=1.0 + i):
            return c * factor * SCALE[0], None

        SCALE[0] = 0.5 + i
        found = tn.grad(lambda x: np.sum(tn.scan(step, x, None, 2)[0]))(X)
        np.testing.assert_allclose(found, np.full(4, ((1.0 + i) * (0.5 + i)) ** 2), rtol=1e-14)


def test_effects_of_a_body_happen_in_every_step_of_every_call(capfd):
    def step(c, _):
        tn.debug.print("at {}", np.sum(c))
        return c * 2.0, None

    for _ in range(CALLS):
        tn.grad(lambda x: np.sum(tn.scan(step, x, None, 3)[0]))(X)
        assert capfd.readouterr().out.count("at ") == 3


def test_a_rule_of_the_user_in_a_body_is_that_of_the_call():
    """A slope that the rule closes over"""
    for i in range(CALLS):

        @tn.custom_vjp
        def doubled(x):
            return x * 2.0

        doubled.defvjp(lambda x: (x * 2.0, None), lambda _, ct, i=i: (ct * (1.0 + i),))
        step = lambda c, _, f=doubled: (f(c), None)  # noqa: E731
        found = tn.grad(lambda x, step=step: np.sum(tn.scan(step, x, None, 2)[0]))(X)
        np.testing.assert_allclose(found, np.full(4, (1.0 + i) ** 2), rtol=1e-14)
