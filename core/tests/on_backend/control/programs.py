"""Loops and branches, each beside the Python program that it stands for.

A row is a function of floats or arrays (w, x) and the same written out with Python's own `for`,
`while` and `if`, whose derivatives are those of straight code.
"""

from typing import Any, NamedTuple

import numpy as np

import tenferro as tn

ROWS = np.array([0.3, -0.2, 0.5, 0.1])
MATRICES = np.stack([np.array([[0.9, 0.1 * k], [-0.2, 0.8]]) for k in range(4)])


class Pair(NamedTuple):
    """A program with a loop or branch that stays, and the same written out."""

    kept: Any
    written: Any


def python_scan(f, carry, xs=None, length=None, reverse=False):
    """Return what `scan` returns, by Python's own loop."""
    count = len(xs) if length is None else length
    ys = [None] * count
    for k in reversed(range(count)) if reverse else range(count):
        carry, ys[k] = f(carry, None if xs is None else xs[k])
    return carry, None if None in [y if y is None else 0 for y in ys] else np.stack(ys)


def twice(program):
    """Make the pair of a program that is given `scan`, in one form or the other."""
    return Pair(lambda w, x: program(tn.scan, w, x), lambda w, x: program(python_scan, w, x))


def recurrence(scan, w, x):
    c, ys = scan(lambda c, r: (np.sin(w * c) + r * c, c * r), x, ROWS)
    return np.sum(c + 0.0) + np.sum(np.square(ys))


def backwards(scan, w, x):
    c, ys = scan(lambda c, r: (c * np.exp(r * w), c + r), x, ROWS, reverse=True)
    return np.sum(c * c) + np.sum(ys * ROWS.reshape((4, *[1] * np.ndim(x))))


def without_rows(scan, w, x):
    return np.sum(scan(lambda c, _: (np.tanh(w * c) + 0.1, None), x, None, 5)[0])


def rows_that_vary(scan, w, x):
    rows = np.stack([x * k for k in (0.5, 1.0, 1.5)])
    c, ys = scan(lambda c, r: (c + np.sin(r) * w, r * c), 0.0 * x, rows)
    return np.sum(c * ys[-1])


def unused_carry(scan, w, x):
    return np.sum(scan(lambda c, r: (c * 2.0, np.cos(r * w) * np.sum(x)), x, ROWS)[1])


def constant_carry(scan, w, x):
    return np.sum(scan(lambda c, r: (c, c * c * r * w), x, ROWS)[1])


def integer_carry(scan, w, x):
    (i, c), _ = scan(lambda s, r: ((s[0] + 1, s[1] * w + s[0] * r), None), (0, x), ROWS)
    return np.sum(c) * i


def bool_carry(scan, w, x):
    def step(s, r):
        flip, c = s
        return (np.logical_not(flip), np.where(flip, np.sin(c), c * w)), None

    return np.sum(scan(step, (np.array(True), x), ROWS)[0][1])


def two_carries(scan, w, x):
    def step(s, r):
        a, b = s
        return (b * w + r, np.sin(a) * b), a * b

    (a, b), ys = scan(step, (x, np.cos(x)), ROWS)
    return np.sum(a * b) + np.sum(ys)


def swapped(scan, w, x):
    (a, b), _ = scan(lambda s, r: ((s[1], s[0] * w), None), (x, 2.0 * x), ROWS)
    return np.sum(a * a - b)


def matrices(scan, w, x):
    v, ys = scan(
        lambda v, m: (np.tanh(m @ v), v @ m @ v), np.stack([np.sum(w), np.sum(x)]), MATRICES
    )
    return v @ v + np.sum(ys)


def nested(scan, w, x):
    def outer(c, r):
        inner, ys = scan(lambda d, q: (d * np.cos(q * w), d), c, ROWS)
        return inner + r, np.sum(ys)

    c, ys = scan(outer, x, ROWS)
    return np.sum(c) + np.sum(np.square(ys))


def gradient_inside(scan, w, x):
    energy = lambda c: np.sum(np.sin(c * w) * c)  # noqa: E731
    return np.sum(scan(lambda c, r: (c - 0.1 * r * tn.grad(energy)(c), None), x, ROWS)[0])


def one_step(scan, w, x):
    return np.sum(scan(lambda c, r: (np.sin(c * w) * r, c), x, ROWS[:1])[0])


@tn.custom_vjp
def tripled(x):
    return np.sin(x)


tripled.defvjp(lambda x: (np.sin(x), x), lambda x, g: (3 * g * np.cos(x),))


@tn.custom_jvp
def doubled(x):
    return np.sin(x)


doubled.defjvp(lambda primals, tangents: (np.sin(primals[0]), 2 * tangents[0] * np.cos(primals[0])))


def own_vjp(scan, w, x):
    return np.sum(scan(lambda c, r: (tripled(c) * w + r, None), x, ROWS)[0])


def own_jvp(scan, w, x):
    return np.sum(scan(lambda c, r: (doubled(c) * w + r, None), x, ROWS)[0])


def own_vjp_with_closure(scan, w, x):
    def step(c, r):
        @tn.custom_vjp
        def f(y):
            return np.sin(y) * w

        f.defvjp(lambda y: (f(y), y), lambda y, g: (5 * g * np.cos(y) * w,))
        return f(c) + r, None

    return np.sum(scan(step, x, ROWS)[0])


def stopped(scan, w, x):
    return np.sum(scan(lambda c, r: (np.sin(tn.stop_gradient(c)) * c * w + r, c), x, ROWS)[0])


SCANS = (
    recurrence, backwards, without_rows, rows_that_vary, unused_carry, constant_carry,
    integer_carry, bool_carry, two_carries, swapped, matrices, nested, gradient_inside, one_step,
    own_vjp, own_jvp, own_vjp_with_closure, stopped,
)  # fmt: skip


def root(w, x):
    return np.sum(tn.cond(np.sum(x) > 0, lambda x: np.sqrt(np.abs(w) * x * x), lambda x: w * x, x))


def python_root(w, x):
    return np.sum(np.sqrt(np.abs(w) * x * x) if np.sum(x) > 0 else w * x)


CASES = [lambda x, w: np.sin(w * x), lambda x, w: x**3, lambda x, w: w * w + 0 * x]


def three_ways(number):
    def kept(w, x):
        return np.sum(tn.switch(number, [lambda x, f=f: f(x, w) for f in CASES], x))

    return Pair(kept, lambda w, x: np.sum(CASES[min(max(number, 0), 2)](x, w)))


def branch_in_loop(w, x):
    def step(c, r):
        return tn.cond(r > 0, lambda c: np.sin(c * w), lambda c: c * c, c), None

    return np.sum(tn.scan(step, x, ROWS)[0])


def python_branch_in_loop(w, x):
    for r in ROWS:
        x = np.sin(x * w) if r > 0 else x * x
    return np.sum(x)


def halved(w, x):
    going = lambda s: np.sum(np.square(s)) > 1e-2  # noqa: E731
    return np.sum(tn.while_loop(going, lambda s: s * 0.5 * np.cos(w * s), x, max_steps=12))


def python_halved(w, x):
    while np.sum(np.square(x)) > 1e-2:
        x = x * 0.5 * np.cos(w * x)
    return np.sum(x)


def powers(w, x):
    return np.sum(tn.fori_loop(1, 5, lambda i, p: p * x + np.sin(w) * i, 1.0 + 0 * x))


def python_powers(w, x):
    p = 1.0 + 0 * x
    for i in range(1, 5):
        p = p * x + np.sin(w) * i
    return np.sum(p)


def products(w, x):
    rows = np.stack([np.sin(w * k) + np.sum(x) for k in (1.0, 2.0, 3.0, 4.0, 5.0)])
    return np.sum(tn.associative_scan(np.multiply, rows))


def python_products(w, x):
    rows = [np.sin(w * k) + np.sum(x) for k in (1.0, 2.0, 3.0, 4.0, 5.0)]
    total, p = 0.0, 1.0
    for r in rows:
        p = p * r
        total = total + p
    return total


def mapped(w, x):
    rows = np.stack([x * k for k in (0.5, 1.0, 1.5, 2.0, 2.5)])
    return np.sum(tn.map(lambda r: np.sum(np.sin(w * r) * r), rows, batch_size=2))


def python_mapped(w, x):
    return sum([np.sum(np.sin(w * x * k) * x * k) for k in (0.5, 1.0, 1.5, 2.0, 2.5)])


PAIRS = {program.__name__: twice(program) for program in SCANS}
PAIRS.update(
    {
        "cond": Pair(root, python_root),
        "cond_in_scan": Pair(branch_in_loop, python_branch_in_loop),
        "switch_0": three_ways(0),
        "switch_1": three_ways(1),
        "switch_beyond": three_ways(7),
        "while_loop": Pair(halved, python_halved),
        "fori_loop": Pair(powers, python_powers),
        "associative_scan": Pair(products, python_products),
        "map": Pair(mapped, python_mapped),
    }
)
