"""Index arrays that a plan looks at once: NumPy's elements, and the nearest where none exists."""

import re

import numpy as np
import pytest

import tenferro as tn
import tenferro.primitives as tp

RNG = np.random.default_rng(5)
X, ROWS = RNG.normal(size=6), RNG.normal(size=(6, 3))
INSIDE = np.array([[3, 0], [1, 3]])
BEHIND = np.array([[3, -1], [-6, 3]])
OUTSIDE = np.array([[3, 6], [-9, 40]])
BEFORE, BEYOND = np.array([[3, -9], [1, 2]]), np.array([[3, 6], [1, 2]])


def read(x, i):
    return x[i], x[i + 1]


def twice(x, i):
    first = tn.zeros(6).at[i].add(2 * x[i])
    return first, first * tn.zeros(6).at[i].add(np.sin(x[i]))


def twice_in_numpy(x, i):
    first, second = np.zeros(6), np.zeros(6)
    np.add.at(first, i, 2 * x[i])
    np.add.at(second, i, np.sin(x[i]))
    return first, first * second


def set_and_read(x, i):
    y = (2 * x).at[i].set(1.0)
    return y, y[i]


def set_and_read_in_numpy(x, i):
    y = 2 * x
    y[i] = 1.0
    return y, y[i]


def counted_by_hand(x, i):
    """The indices themselves are a result, which may be written to."""
    front = np.where(i < 0, i + 6, i)
    return front, x[front]


def rows(x, i):
    table = x[:, None] * ROWS
    return table[i], table[:, 1][i]


CASES = [
    (read, read),
    (twice, twice_in_numpy),
    (set_and_read, set_and_read_in_numpy),
    (counted_by_hand, counted_by_hand),
    (rows, rows),
]
INDICES = {
    "inside": INSIDE,
    "behind": BEHIND,
    "the last": np.array([[3, -1], [2, 3]]),
    "int32": BEHIND.astype("int32"),
    "int8": BEHIND.astype("int8"),
    "uint8": INSIDE.astype("uint8"),
    "strided": np.repeat(BEHIND, 2, axis=0)[::2].T,
    "empty": INSIDE[:0],
}


def compiled(function):
    return tn.jit(function, backend="numpy")


@pytest.mark.parametrize("name", INDICES)
@pytest.mark.parametrize("function, expected", CASES, ids=lambda f: f.__name__)
def test_elements_are_those_of_numpy(function, expected, name):
    i = INDICES[name]
    program = compiled(function)
    for values in [i, (i * 0).astype(i.dtype)] * 10:  # one program, whose plan comes later
        for found, wanted in zip(program(X, values), expected(X, values), strict=True):
            np.testing.assert_array_equal(np.asarray(found), wanted)


@pytest.mark.parametrize("i", [OUTSIDE, BEFORE, BEYOND], ids=["both ends", "before", "beyond"])
def test_places_outside_are_dropped_or_the_nearest(i):
    """Updates drop them, and a read takes the nearest, where its derivative then goes."""
    front = np.where(i < 0, i + 6, i)
    nearest, inside = np.clip(front, 0, 5), (front >= 0) & (front < 6)
    first, second = compiled(twice)(X, i)
    wanted = np.bincount(front[inside], 2 * X[front[inside]], 6)
    np.testing.assert_array_equal(np.asarray(first), wanted)
    wanted *= np.bincount(front[inside], np.sin(X[front[inside]]), 6)
    np.testing.assert_array_equal(np.asarray(second), wanted)
    gradients = compiled(tn.grad(products, (0, 1)))(X, ROWS[:, 0], i)
    for found, other in zip(gradients, (ROWS[:, 0], X), strict=True):
        wanted = np.bincount(nearest.ravel(), other[nearest].ravel(), 6)
        np.testing.assert_array_equal(np.asarray(found), wanted)


def products(x, y, i):
    return tn.sum(x[i] * y[i])


@pytest.mark.parametrize("name", INDICES)
def test_derivatives_of_reads_add_at_the_same_places(name):
    i = INDICES[name]
    front = np.where(i < 0, i.astype(int) + 6, i)
    program = compiled(tn.grad(products, (0, 1)))
    for places, values in [(front, i), (0 * front, 0 * i)] * 10:
        gradients = program(X, ROWS[:, 0], values)
        for found, other in zip(gradients, (ROWS[:, 0], X), strict=True):
            wanted = np.bincount(places.ravel(), other[places].ravel(), 6)
            np.testing.assert_array_equal(np.asarray(found), wanted)


def test_results_are_no_views_of_the_indices():
    i = INSIDE.copy()
    front, _ = compiled(counted_by_hand)(X, i)
    i[:] = 0
    np.testing.assert_array_equal(np.asarray(front), INSIDE)


def test_an_index_array_is_looked_at_once_by_reads_and_once_by_counts():
    text = compiled(tn.grad(products, (0, 1))).explain(X, ROWS[:, 0], INSIDE)
    assert text.count("argmin") == 2  # from the front, and whether all places exist
    program = text[text.index("def make") :]
    assert not re.search(r"r\d+\[", program)  # indices with an axis of length 1
    assert "lowering 8," in text
    assert "index_arrays 6," in text  # one of them is the check


SELECTIONS = {  # (i, j) → the compared, the bound, the moved, by how much, and what stays
    "another compared": lambda i, j: (j, 0, i, 6, i),
    "another moved": lambda i, j: (i, 0, j, 6, i),
    "another stays": lambda i, j: (i, 0, i, 6, j),
    "another bound": lambda i, j: (i, 2, i, 6, i),
    "from the front": lambda i, j: (i, 0, i, 6, i),
}


@pytest.mark.parametrize("name", SELECTIONS)
def test_selections_that_look_like_counting_from_the_end(check, name):
    """where(i < 0, i + 6, i) and selections that differ in one operand, and a read of one row"""

    def function(x, i, j):
        compared, bound, moved, size, stays = SELECTIONS[name](i, j)
        negative = tp.lt(compared, tp.constant(bound, "int64", i.shape))
        found = tp.select(negative, tp.add(moved, tp.constant(size, "int64", i.shape)), stays)
        column = tp.reshape(i, (4, 1))
        return found, tp.gather(
            x, column, offset_dims=(), collapsed_slice_dims=(0,), start_index_map=(0,),
            slice_sizes=(1,), mode="clip",
        )  # fmt: skip

    i, j = BEHIND, np.array([[-2, 1], [4, -5]])
    compared, bound, moved, size, stays = SELECTIONS[name](i, j)
    expected = np.where(compared < bound, moved + size, stays), X[np.clip(i, 0, 5).reshape(-1)]
    check(function, [X, i, j], expected)
