"""A Python number takes the dtype of the array beside it, and an Array of rank 0 keeps its own.

NumPy's rule: float32 · 2.0 is float32, and float32 · float64 is float64, also where the second one
has no axes. Whatever passes the two on to a function changes neither.
"""

import numpy as np
import pytest

import tenferro as tn

X = np.ones(3, "float32")


def times(x, number):
    return x * number


def by_rule(x, number):
    f = tn.custom_jvp(times)
    f.defjvp(lambda primals, tangents: (f(*primals), tangents[0] * primals[1]))
    return f(x, number)


WAYS = {
    "a call": times,
    "jit": lambda x, s: tn.jit(times)(x, s),
    "cond": lambda x, s: tn.cond(True, times, times, x, s),
    "switch": lambda x, s: tn.switch(0, [times], x, s),
    "checkpoint": lambda x, s: tn.checkpoint(times)(x, s),
    "checkpoint of everything": lambda x, s: tn.checkpoint(times, policy="everything")(x, s),
    "checkpoint, by name": lambda x, s: tn.checkpoint(times)(x, number=s),
    "checkpoint of a tree": lambda x, s: tn.checkpoint(lambda t: t["x"] * t["s"])({"x": x, "s": s}),
    "scan": lambda x, s: tn.scan(lambda c, row: (c, row * c), s, np.stack([x]))[1][0],
    "while_loop": lambda x, s: tn.while_loop(
        lambda c: c[0] < 1,
        lambda c: (c[0] + 1, c[1], times(x, c[1])),
        (0, s, times(x, s)),
        max_steps=2,
    )[2],
    "vmap": lambda x, s: tn.vmap(times, in_axes=(0, None))(x, s),
    "custom_jvp": by_rule,
    "name": lambda x, s: x * tn.name(s, "s"),
    "barrier": lambda x, s: x * tn.barrier(s),
    "barrier of a tree": lambda x, s: x * tn.barrier({"s": s, "x": x})["s"],
    "stop_gradient": lambda x, s: x * tn.stop_gradient(s),
}
NUMBERS = {
    "a number": (2.0, "float32"),
    "an integer": (2, "float32"),
    "an Array": (tn.asarray(2.0), "float64"),
    "a NumPy scalar": (np.float64(2.0), "float64"),
}
MODES = {
    "directly": lambda f: f,
    "under jit": lambda f: lambda x, s: tn.jit(f)(x, s),
    "unrolled": lambda f: lambda x, s: _unrolled(f, x, s),
    "in a gradient": lambda f: lambda x, s: tn.vjp(lambda x: f(x, s), x)[0],
}


def _unrolled(f, x, s):
    with tn.debug.unrolled():
        return f(x, s)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("way", WAYS)
def test_the_dtype_is_that_of_the_product(way, number, mode):
    s, need = NUMBERS[number]
    found = MODES[mode](WAYS[way])(X, s)
    assert found.dtype == need
    np.testing.assert_array_equal(np.asarray(found), 2 * X)


@pytest.mark.parametrize("other", [lambda x: x, lambda x: np.float32(1.0) * x])
def test_an_array_of_rank_0_is_not_rounded_by_another_branch(other):
    """cond of f32[] and f64[] is refused, where a number in its place becomes float32"""
    x, third = np.float32(0.5), 1 / 3
    found = tn.cond(False, lambda x: other(x), lambda x: third, x)
    assert found.dtype == "float32"
    with pytest.raises(tn.BodyError, match="different shapes or dtypes"):
        tn.cond(False, lambda x: other(x), lambda x: tn.asarray(third), x)
