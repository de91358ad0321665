"""A loop is the same function, whatever it stores for reverse mode.

T(scan(…, checkpoint=c)) = T(scan(…))      for transforms T of order 0 to 2, eager and under `jit`
"""

import numpy as np
import pytest
from memory.test_checkpoint import TRANSFORMS, W, X, agree

import tenferro as tn

STORES = ("all", "none", "sqrt", tn.revolve(1), tn.revolve(2), tn.revolve(3))


def looped(length, reverse, store):
    """Return a function of a matrix and a vector that contains a loop with rows and results."""
    rows = np.linspace(0.1, 0.4, length)

    def step(w, carry, row):
        c, total = carry
        c = np.tanh(w @ c * row + np.sin(c))
        return (c, total + np.sum(c)), c * row

    def function(w, x):
        def body(carry, row):
            return step(w, carry, row)

        (c, total), ys = tn.scan(body, (x, 0.0), rows, reverse=reverse, checkpoint=store)
        return np.sum(c) + total + np.sum(ys[0] * ys[-1])

    return function


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS.keys())
@pytest.mark.parametrize("store", STORES, ids=str)
def test_what_is_stored_changes_no_value(store, transform):
    agree(transform(looped(7, False, store)), transform(looped(7, False, "auto")), W, X)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 9, 10, 12])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("store", STORES, ids=str)
def test_lengths_and_directions(store, reverse, length):
    gradient = tn.value_and_grad(looped(length, reverse, store), (0, 1))
    agree(gradient, tn.value_and_grad(looped(length, reverse, "auto"), (0, 1)), W, X)


def test_length_zero():
    """A loop of no steps returns its first carry and empty rows"""
    last, ys = tn.scan(lambda c, r: (c * r, c), X, np.zeros((0, 3)), checkpoint="sqrt")
    np.testing.assert_array_equal(np.asarray(last), X)
    assert ys.shape == (0, 3)


def stacked(function, *xs):
    """Return the numbers of rows that loops of a gradient store, inside bodies as well.

    A loop that is computed again stores its rows only while its segment is swept.
    """
    graph = tn.passes.optimized(tn.jit(tn.grad(function)).lower(*xs))[0]
    return sorted(rows([node.operation for node in graph.nodes]))


def rows(operations):
    found = []
    for operation in operations:
        for _, body in getattr(operation, "bodies", ()):
            found += rows([inner for inner, _ in body.equations])
        if operation.name == "scan" and not operation.reverse:
            found += [operation.length for i in operation.outputs if i >= operation.carried]
    return found


@pytest.mark.parametrize(
    "store, length", [("auto", 100), ("none", 100), ("sqrt", 10), (tn.revolve(99), 100)]
)
def test_the_stored_rows(store, length):
    """√n carries of segments, and √n rows of the segment that is swept"""
    body = lambda c, _: (np.sin(c) + c**3, None)  # noqa: E731
    function = lambda x: np.sum(tn.scan(body, x, None, 100, checkpoint=store)[0])  # noqa: E731
    assert set(stacked(function, X)) == {length}


def test_equations_do_not_depend_on_the_length():
    counts = {
        len(
            tn.passes.optimized(tn.jit(tn.grad(looped(n * n, False, "sqrt"), (0, 1))).lower(W, X))[
                0
            ]
        )
        for n in (4, 8)
    }
    assert len(counts) == 1


def test_an_unknown_store_is_refused():
    with pytest.raises(ValueError, match="unknown checkpoint 'some'"):
        tn.scan(lambda c, _: (c, None), X, None, 3, checkpoint="some")


def test_all_computes_nothing_again():
    """The linear loop of "all" has no function of the primals; that of "auto" has."""

    def gradient_names(store):
        def f(x):
            return np.sum(
                tn.scan(lambda c, _: (np.exp(np.sin(c)), None), x, None, 5, checkpoint=store)[0]
            )

        graph = tn.passes.optimized(tn.jit(tn.grad(f)).lower(np.ones(100_000)))[0]
        (backward,) = [n.operation for n in graph.nodes if getattr(n.operation, "reverse", False)]
        return {operation.name for operation, _ in backward.body.equations}

    assert gradient_names("all").isdisjoint({"exp", "sin", "cos"})
    assert gradient_names("auto") >= {"cos"}
