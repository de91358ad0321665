"""Loops whose bodies read, write and return views: nothing that others see is written over."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from beside_unrolled import assert_equal, beside, leaves

import tenferro as tn


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
    by_arrays = {"backend": "numpy", "options": {"without": ("short_arrays",)}}  # bits are compared
    loop = tn.jit(lambda *s: tn.while_loop(lambda s: s[2] < 5.0, step, s), **by_arrays)
    need = tn.jit(straight, **by_arrays)(*start)
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
