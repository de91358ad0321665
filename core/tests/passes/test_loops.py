"""``loops``: what is computed once, what is dropped, and that graphs do not grow with the steps."""

import pytest

import tenferro as tn
from tenferro.passes import optimized

WHOLE = {"fission": False, "product_fission": False}  # every step keeps its equations
X, ROWS = tn.Aval((3,), "f64"), tn.Aval((50,), "f64")


def energy(x, rows):
    """A loop with one carry, whose rows are read."""
    c, ys = tn.scan(lambda c, r: (tn.sin(c) * r + c, tn.sum(c * c)), x, rows)
    return tn.sum(c) + tn.sum(ys)


def with_value(x, rows):
    return tn.value_and_grad(energy)(x, rows)


def product(x, rows):
    return tn.jvp(tn.grad(lambda x: energy(x, rows)), (x,), (x,))


def loops_of(function, *avals):
    """Return the loops of a function after the passes, innermost not counted."""
    graph = optimized(tn.jit(function).lower(*avals), WHOLE)[0]
    return [node.operation for node in graph.nodes if node.operation.name == "scan"]


@pytest.mark.parametrize(
    "function, forward, backward",
    [
        (energy, 1, 0),
        (tn.grad(energy), 1, 1),
        (with_value, 1, 1),
        (lambda x, rows: tn.jvp(lambda x: energy(x, rows), (x,), (x,)), 1, 0),
        (product, 1, 1),
    ],
    ids=["value", "grad", "value_and_grad", "jvp", "hvp"],
)
def test_the_loop_over_the_primals_runs_once(function, forward, backward):
    """A derivative of any order is one loop forward and one backward"""
    found = loops_of(function, X, ROWS)
    assert [loop.reverse for loop in found] == [False] * forward + [True] * backward


@pytest.mark.parametrize("length", [2, 2000])
def test_the_graph_does_not_depend_on_the_number_of_steps(length):
    rows = tn.Aval((length,), "f64")
    graph = tn.jit(tn.grad(energy)).lower(X, rows)
    first = tn.jit(tn.grad(energy)).lower(X, tn.Aval((50,), "f64"))
    assert len(graph) == len(first)
    assert [len(loop.body) for loop in loops_of(tn.grad(energy), X, rows)] == [
        len(loop.body) for loop in loops_of(tn.grad(energy), X, ROWS)
    ]


def test_forward_mode_stacks_nothing():
    """The tangent of the last carry needs the memory of two carries, whatever the length"""
    last = lambda x, rows: tn.scan(lambda c, r: (tn.sin(c) * r, c * c), x, rows)[0]  # noqa: E731
    (loop,) = loops_of(lambda x, rows: tn.jvp(lambda x: last(x, rows), (x,), (x,)), X, ROWS)
    assert all(i < loop.carried for i in loop.outputs)


def test_what_nothing_reads_is_dropped():
    """Rows, carries and inputs that no result needs are not computed"""

    def sums(x, rows):
        step = lambda s, r: ((s[0] + r[0], tn.exp(s[1]) * r[1]), tn.cos(s[1]))  # noqa: E731
        (total, _), _ = tn.scan(step, (x, x), (rows, rows * 2.0))
        return total

    (loop,) = loops_of(sums, X, ROWS)
    assert (loop.carried, loop.consts, len(loop.outputs), len(loop.body)) == (1, 0, 1, 2)


def equal_stacks(x):
    """Stack a carry, a value and what the passes find to be both again."""
    one = tn.ones_like(x)
    step = lambda c, _: (tn.sin(c), (c, c * one, tn.cos(c), tn.cos(c * one)))  # noqa: E731
    return tn.scan(step, x, None, 20)[1]


def test_equal_rows_are_stacked_once():
    total = lambda x: sum([tn.sum(y * y) for y in equal_stacks(x)], tn.zeros((), "f64"))  # noqa: E731
    (loop,) = loops_of(total, X)
    assert len(loop.outputs) == 2


def test_rows_that_are_results_are_stacked_each():
    (loop,) = loops_of(equal_stacks, X)
    assert len(loop.outputs) == 4


def test_a_loop_reads_rows_and_constants_once():
    def total(x):
        c, cs, y, ys = equal_stacks(x)
        step = lambda s, k: (s * x - tn.sin(k[0]) + tn.sin(k[1]) * k[2] / k[3], None)  # noqa: E731
        return tn.scan(step, x, (c, cs, y, ys), reverse=True)[0]

    first, second = loops_of(total, X)
    assert len(first.outputs) == 2
    assert second.consts == 1
    assert len(second.body.input_avals) == 1 + 1 + 2
    assert [op.name for op, _ in second.body.equations].count("sin") == 1


def test_loops_with_different_updates_stay_apart():
    """Equal starts are not equal carries"""

    def two(x, rows):
        a, _ = tn.scan(lambda c, r: (c * r, None), x, rows)
        b, _ = tn.scan(lambda c, r: (c + r, None), x, rows)
        return a, b

    assert len(loops_of(two, X, ROWS)) == 2


def test_a_loop_that_reads_the_rows_of_another_joins_it():
    """Rows that nothing else reads vanish"""

    def chained(x, rows):
        a, ys = tn.scan(lambda c, r: (c * r, tn.sum(c)), x, rows)
        b, _ = tn.scan(lambda c, r: (c * r, None), x, ys)
        return a + b

    (loop,) = loops_of(chained, X, ROWS)
    assert (loop.carried, loop.outputs) == (2, (0, 1))


@pytest.mark.parametrize(
    "between",
    [
        lambda last, ys: (last, tn.sin(ys)),
        lambda last, ys: (last, ys[::-1]),
        lambda last, ys: (last + 1.0, ys),
        lambda last, ys: (last * tn.sum(ys), ys),
    ],
)
def test_a_loop_that_reads_more_of_another_stays_behind_it(between):
    """Its last carry, its rows changed or all at once"""

    def chained(x, rows):
        a, ys = tn.scan(lambda c, r: (c * r, tn.sum(c)), x, rows)
        start, again = between(a, ys)
        return tn.scan(lambda c, r: (tn.cos(c) * r, None), start, again)[0]

    assert len(loops_of(chained, X, ROWS)) == 2


def test_loops_in_different_directions_stay_apart():
    def chained(x, rows):
        _, ys = tn.scan(lambda c, r: (c * r, tn.sum(c)), x, rows)
        return tn.scan(lambda c, r: (tn.cos(c) * r, None), x, ys, reverse=True)[0]

    assert len(loops_of(chained, X, ROWS)) == 2


def test_what_follows_from_values_outside_is_computed_before_the_loop():
    """exp(w) and what is made of it alone"""

    def program(x, w):
        step = lambda c, _: (c * tn.log(tn.exp(w) + 2.0) + 2.0, None)  # noqa: E731
        return tn.scan(step, x, None, 50)[0]

    (loop,) = loops_of(program, X, tn.Aval((3,), "f64"))
    assert len([op for op, _ in loop.body.equations if not op.literal]) == 2


def test_a_loop_joins_where_all_its_carries_are_in_the_other():
    def both(x, rows):
        a, _ = tn.scan(lambda c, r: (c * r, None), x, rows)
        (_, b), _ = tn.scan(lambda s, r: ((s[0] * r, s[1] + s[0]), None), (x, x), rows)
        return a, b

    (loop,) = loops_of(both, X, ROWS)
    assert loop.carried == 2


def whiles_of(function, *avals):
    """Return the loops with a condition after the passes."""
    graph = optimized(tn.jit(function).lower(*avals))[0]
    return [node.operation for node in graph.nodes if node.operation.name == "while_loop"]


def halved(x, bound):
    return tn.while_loop(lambda c: tn.sum(c * c) > bound, lambda c: tn.sin(c) * 0.5, x)


def test_a_while_loop_and_its_tangent_run_as_one():
    forward = lambda x, b: tn.jvp(lambda x: halved(x, b), (x,), (x,))  # noqa: E731
    (loop,) = whiles_of(forward, X, tn.Aval((), "f64"))
    assert (loop.carried, len(loop.outputs)) == (2, 2)


def test_while_loops_with_different_conditions_stay_apart():
    """Equal carries that end after different numbers of steps"""
    two = lambda x, b: (halved(x, b), halved(x, 2.0 * b))  # noqa: E731
    assert len(whiles_of(two, X, tn.Aval((), "f64"))) == 2


def test_while_loops_with_different_updates_stay_apart():
    def two(x, b):
        other = tn.while_loop(lambda c: tn.sum(c * c) > b, lambda c: tn.cos(c) * 0.5, x)
        return halved(x, b), other

    assert len(whiles_of(two, X, tn.Aval((), "f64"))) == 2
