"""Counters of loops are weak next to floats, as the integers of Python's ``range`` are."""

from contextlib import nullcontext

import numpy as np
import pytest

import tenferro as tn

F32, C64 = np.ones(3, "f4"), np.ones(3, "c8")
I8 = np.int8(3)
BOUNDS = {
    "scan": lambda: (0, 3),
    "while": lambda: (tn.asarray(0), tn.asarray(3)),
}
BODIES = {
    "product": (lambda i, s: s * i, F32),
    "sum of a number": (lambda i, s: s + i * F32[0], 0.0),
    "function": (lambda i, s: np.maximum(s, i), F32),
    "arithmetic": (lambda i, s: s + (2 * i + 1), F32),
    "quotient": (lambda i, s: s + 1 / (i + 1), F32),
    "choice": (lambda i, s: np.where(s > 1, s, i), F32),
    "complex": (lambda i, s: s * i, C64),
    "power": (lambda i, s: s**i, F32),
    "nested": (lambda i, s: tn.fori_loop(0, 2, lambda j, s: s + i * j, s), F32),
    "jit": (lambda i, s: tn.jit(lambda s, i: s * (i + 1))(s, i), F32),
    "checkpoint": (lambda i, s: tn.checkpoint(lambda s, i: s * i)(s, i), F32),
    "cond": (lambda i, s: tn.cond(i > 1, lambda s, i: s * i, lambda s, i: s, s, i), F32),
    "float16": (lambda i, s: s + i, F32.astype("f2")),
    "sine": (lambda i, s: s + np.sin(i), 0.0),
}


def of_python(body, start):
    for i in range(3):
        start = body(i, start)
    return start


@pytest.mark.parametrize("unrolled", [False, True])
@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("body", BODIES)
def test_value_and_dtype_are_those_of_pythons_loop(body, bounds, unrolled):
    """for i in range(lower, upper): s = body(i, s)"""
    step, start = BODIES[body]
    with tn.debug.unrolled() if unrolled else nullcontext():
        found = np.asarray(tn.fori_loop(*BOUNDS[bounds](), step, start))
    wanted = np.asarray(of_python(step, start))
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=2 * np.finfo(wanted.dtype).eps)


def test_a_derivative_keeps_the_dtype():
    """d/dx Σ 6 x = 6"""
    slope = tn.grad(lambda x: np.sum(tn.fori_loop(1, 4, lambda i, s: s * i, x)))(F32)
    assert slope.dtype == F32.dtype
    np.testing.assert_array_equal(slope, 6 * F32)


WIDE = {
    "sum": (lambda i, s: s + (tn.asarray(I8) + i), 200 * 3 + 19900),
    "comparison": (lambda i, s: s + (tn.asarray(I8) < i), 196),
    "concatenation": (lambda i, s: s + np.stack([tn.asarray(I8), i])[1], 19900),
    "clip": (lambda i, s: s + np.clip(tn.asarray(I8), i, None), 19906),
    "choice": (lambda i, s: s + np.where(i > 3, i, tn.asarray(I8)), 19906),
    "jit": (lambda i, s: s + tn.jit(lambda i: tn.asarray(I8) + i)(i), 200 * 3 + 19900),
}


@pytest.mark.parametrize("unrolled", [False, True])
@pytest.mark.parametrize("body", WIDE)
def test_a_counter_does_not_wrap_next_to_a_narrow_integer(body, unrolled):
    """Its range is not known, so the dtype of both is int64"""
    step, wanted = WIDE[body]
    with tn.debug.unrolled() if unrolled else nullcontext():
        assert int(tn.fori_loop(0, 200, step, 0)) == wanted


COUNTS = {
    "scan": lambda: tn.scan(lambda c, x: ((c[0] + 1, c[1] + c[0] * x), None), (0, 0.0), F32)[0],
    "while_loop": lambda: tn.while_loop(
        lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] + c[0] * F32[0]), (0, 0.0)
    ),
    "bounded": lambda: tn.while_loop(
        lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] + c[0] * F32[0]), (0, 0.0), max_steps=5
    ),
}


@pytest.mark.parametrize("unrolled", [False, True])
@pytest.mark.parametrize("loop", COUNTS)
def test_a_count_next_to_a_sum_that_takes_a_dtype_stays_a_number(loop, unrolled):
    """Σ k x_k of float32 is float32"""
    with tn.debug.unrolled() if unrolled else nullcontext():
        count, total = COUNTS[loop]()
    assert np.asarray(total).dtype == "float32"
    assert (int(count), float(total)) == (3, 3.0)


BRANCHES = {
    "cond": lambda: tn.cond(True, lambda c: c, lambda c: c + F32[0], 1.0),
    "arithmetic": lambda: tn.cond(True, lambda c: c * 1, lambda c: c + F32[0], 1.0),
    "switch": lambda: tn.switch(0, [lambda c: c * 1, lambda c: c + F32[0]], 1.0),
}
STEPS = {
    "scan": lambda: tn.scan(lambda c, _: ((c[0], c[0] * 1), None), (1.0, F32[0]), length=2)[0][1],
    "scan of two": lambda: tn.scan(
        lambda c, _: ((c[1] * 1, c[0] * F32[0]), None), (1.0, 1.0), length=3
    )[0][0],
    "while_loop": lambda: tn.while_loop(
        lambda c: c[1] > 2, lambda c: (c[0], c[0] * 1), (1.0, 3 * F32[0])
    )[1],
    "bounded": lambda: tn.while_loop(lambda c: c < 1, lambda c: c + F32[0], 0.0, max_steps=3),
}


@pytest.mark.parametrize("choice", BRANCHES)
def test_a_number_that_a_branch_returns_takes_the_dtype_of_the_others(choice):
    """1.0 or float32 is float32"""
    found = np.asarray(BRANCHES[choice]())
    assert (float(found), found.dtype) == (1.0, np.float32)


@pytest.mark.parametrize("unrolled", [False, True])
@pytest.mark.parametrize("loop", STEPS)
def test_a_number_that_a_step_returns_takes_the_dtype_of_the_carry(loop, unrolled):
    """1.0 for a carry of float32 is float32"""
    with tn.debug.unrolled() if unrolled else nullcontext():
        found = np.asarray(STEPS[loop]())
    assert (float(found), found.dtype) == (1.0, np.float32)


STRONG = {
    "jit": lambda c: tn.jit(lambda c: c)(c),
    "loop of no steps": lambda c: tn.fori_loop(0, 0, lambda i, s: s, c),
    "loop": lambda c: tn.fori_loop(0, 1, lambda i, s: s, c),
}


@pytest.mark.parametrize("way", STRONG)
def test_results_of_programs_are_no_numbers(way):
    """They are of float64, in and outside of jit"""
    f = lambda c: F32 * STRONG[way](c)  # noqa: E731
    assert [np.asarray(y).dtype for y in (f(2.0), tn.jit(f)(2.0))] == ["float64"] * 2


def test_a_number_of_a_branch_keeps_its_derivative():
    """d/dx cond(x, x · float32) = 1 in the branch that returns its argument"""
    f = lambda x: tn.cond(x > 0, lambda c: c, lambda c: c * F32[0], x)  # noqa: E731
    assert float(tn.grad(f)(2.0)) == 1.0
    assert float(tn.jit(tn.grad(f))(-2.0)) == 1.0


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4"])
def test_a_carried_number_is_compared_by_its_value(dtype):
    """3 < k for k of more bits than those of 3"""
    three = tn.asarray(np.array(3, dtype))
    step = lambda k, _: (k * 2, (three < k, k >= three, k == three))  # noqa: E731
    found = tn.scan(step, 2, None, length=40)[1]
    k = 2 ** np.arange(1, 41)
    for row, wanted in zip(found, (3 < k, k >= 3, k == 3), strict=True):
        np.testing.assert_array_equal(row, wanted)
