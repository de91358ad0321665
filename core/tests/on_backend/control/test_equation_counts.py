"""Derivatives of loops are small: their equations, with those of bodies, after the passes.

The table is `core/tests/golden/equation_counts.txt`; this file, run as a program, writes it anew.

    count(hvp) ≤ 5 · count(value) + c,   count(third order) ≤ 25 · count(value) + c

and no count depends on the number of steps, as long as all rows together are small: where they are
large, a derivative stores less and computes more.
"""

from pathlib import Path

import numpy as np
import pytest

import tenferro as tn

TABLE = Path(__file__).parents[2] / "golden" / "equation_counts.txt"
X = np.linspace(0.1, 0.9, 12)
W = np.linspace(-0.5, 0.5, 144).reshape(12, 12)


def recurrence(length):
    def f(x):
        return np.sum(tn.scan(lambda c, _: (np.sin(c) * 0.9 + 0.1 * c, None), x, None, length)[0])

    return f


def heat(length):
    def step(u, _):
        return u + 0.1 * (1.0 + u * u) * (np.roll(u, 1) + np.roll(u, -1) - 2.0 * u), None

    return lambda u: np.sum(tn.scan(step, u, None, length)[0] ** 2) / 2.0


def hidden_states(length):
    rows = np.ones((length, 12))

    def f(x):
        h, ys = tn.scan(lambda h, r: (np.tanh(W @ h + r), h), x, rows)
        return np.sum(h) + np.sum(ys * ys)

    return f


def nested(length):
    def outer(c, _):
        return tn.scan(lambda d, _: (np.sin(W @ d), None), c, None, length)[0], None

    return lambda x: np.sum(tn.scan(outer, x, None, length)[0])


def nested_in_three(length):
    def inner(c, _):
        return np.sin(c) * 0.9, None

    def middle(c, _):
        return tn.scan(inner, c, None, length)[0] * 1.1, None

    def outer(c, _):
        return tn.scan(middle, c, None, length)[0] + 0.1, None

    return lambda x: np.sum(tn.scan(outer, x, None, length)[0])


def branches(length):
    rows = np.cos(np.arange(float(length)))

    def step(c, r):
        return tn.cond(r > 0, lambda c: np.sin(c) * r, lambda c: c * c - r, c), None

    return lambda x: np.sum(tn.scan(step, x, rows)[0])


def bounded_while(length):
    def body(carry):
        k, c = carry
        return k + 1, np.sin(c) * 1.1

    def f(x):
        start = (0, x)
        return np.sum(tn.while_loop(lambda s: s[0] < 5, body, start, max_steps=length)[1])

    return f


PROGRAMS = {
    f.__name__: f
    for f in (
        recurrence,
        heat,
        hidden_states,
        nested,
        nested_in_three,
        branches,
        bounded_while,
    )
}


def hvp(f):
    return lambda x: tn.jvp(tn.grad(f), (x,), (np.cos(x),))[1]


ORDERS = {
    "value": lambda f: f,
    "jvp": lambda f: lambda x: tn.jvp(f, (x,), (np.cos(x),))[1],
    "grad": tn.grad,
    "value_and_grad": tn.value_and_grad,
    "hvp": hvp,
    "third": lambda f: tn.grad(lambda x: np.sum(hvp(f)(x))),
}
_FEW = 12  # equations in addition: seeds, sums and what moves rows


def count(graph):
    """Return the equations of a graph and of the bodies in it."""
    bodies = [body for node in graph.nodes for _, body in getattr(node.operation, "bodies", ())]
    return len(graph.nodes) + sum([count(body.flat) for body in bodies])


def counts(program, length):
    """Return the equations of every order, after the passes.

    Without `unswitch`, which writes long loops twice, so that one of both runs.
    """
    found = {}
    chosen = tn.passes.selected({"unswitch": False})
    for name, order in ORDERS.items():
        graph = tn.jit(order(PROGRAMS[program](length))).lower(X)
        found[name] = count(tn.passes.optimized(graph, chosen)[0])
    return found


def table():
    """Return the text of the table."""
    rows = [("program", *ORDERS)]
    rows += [(program, *map(str, counts(program, 10).values())) for program in PROGRAMS]
    return "".join("  ".join(cell.rjust(15) for cell in row).strip() + "\n" for row in rows)


def test_the_counts_are_those_of_the_table():
    assert table() == TABLE.read_text("utf-8"), f"run `python {Path(__file__).name}` and look"


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_count_depends_on_the_number_of_steps(program):
    assert counts(program, 10) == counts(program, 60)


@pytest.mark.parametrize("program", PROGRAMS)
def test_higher_orders_grow_as_stated(program):
    found = counts(program, 10)
    assert found["hvp"] <= 5 * found["value"] + _FEW
    assert found["third"] <= 25 * found["value"] + _FEW


if __name__ == "__main__":
    TABLE.write_text(table(), "utf-8")
