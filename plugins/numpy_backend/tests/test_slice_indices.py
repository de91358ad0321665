"""Rows that are read by one index are those of NumPy, and never memory of somebody else."""

import numpy as np
import pytest

import tenferro as tn
from tenferro import primitives as tp

X = np.arange(24.0).reshape(4, 6)
CUBE = np.arange(60.0).reshape(3, 4, 5)


def updated(x):
    y = 2 * x
    row = y[1]
    return row * y.at[1].set(0.0), y.at[:, 2].set(row[:4])


def updated_in_numpy(x):
    y, z = 2 * x, 2 * x
    y[1], z[:, 2] = 0.0, 2 * x[1, :4]
    return 2 * x[1] * y, z


def moved(x):
    """A slice that two views read, and one that something else reads, too."""
    part, row = x[1:2], x[2:3]
    return part[0] + part[:, :, None], row[0] * row, x[0:1]


ROWS = [  # the function, NumPy's, the argument
    (lambda x: x[2] + x[-1], None, X),
    (lambda x: x[:, 1] * x[:, -2], None, X),
    (lambda x: x[1:3, 4][:, None] - x[::2, 0][None], None, X),
    (lambda x: x[2, 1:3, None] + x[0, ::-1][:2], None, CUBE),
    (lambda x: x[:, 1:2][:, :, 0] + x[:, 3], None, CUBE),
    (lambda x: x[1:2] + x[2:3], None, X),
    (lambda x: x[1:1, 0] + x[2:2, 1], None, X),
    (lambda x: (2 * x)[0:1][0][None], None, X[:1]),
    (moved, None, X),
    (updated, updated_in_numpy, X),
]


def source(function):
    return tn.jit(function, backend="numpy", options={"executor": "source"})


@pytest.mark.parametrize("function, reference, x", ROWS)
def test_rows_are_those_of_numpy(function, reference, x):
    found, expected = source(function)(x), (reference or function)(x)
    for part, whole in zip(found, expected, strict=True):
        np.testing.assert_array_equal(part, whole)


def test_a_row_that_is_a_result_is_no_memory_of_the_argument():
    x = X.copy()
    row, column = source(lambda x: (x[1], x[:, 2]))(x)
    row[:], column[:] = 0.0, 0.0
    np.testing.assert_array_equal(x, X)


def test_a_slice_that_is_a_result_is_made_beside_the_view_of_it(check):
    def both(x):
        part = tp.slice(x, (1, 0), (2, 6))
        return part, tp.reshape(part, (6,)) * 2.0

    check(both, [X], (X[1:2], 2 * X[1]))


@pytest.mark.parametrize("shape, wanted", [
    ((4,), (1, 4)), ((4,), (4, 1)), ((1, 4, 1), (4,)), ((1, 4), (4, 1)), ((2, 1, 3), (1, 2, 3)),
    ((1, 1), (1,)), ((1,), (1, 1, 1)), ((0, 1), (0,)), ((2, 3), (3, 2)), ((1, 6), (2, 3)),
])  # fmt: skip
@pytest.mark.parametrize("order", ["C", "F"])
def test_axes_of_one_element_come_and_go_as_in_numpy(check, shape, wanted, order):
    """Also of an operand that lies in memory column by column"""
    x = np.asarray(np.arange(float(np.prod(shape))).reshape(shape), order=order)
    check(lambda x: tp.reshape(x, wanted), [x], x.reshape(wanted))
    check(lambda x: tp.reshape(x + x, wanted) * 2.0, [x], 4 * x.reshape(wanted))


def recurrence(x):
    y = x[:, 0]
    for i in range(1, 6):
        y = tn.sin(y + x[:, i])
    return y


def test_an_unrolled_loop_reads_each_column_by_one_line():
    """Six indices, five sums, five sines; a slice and a view of each column would be 22 lines."""
    assert " in 16 lines" in tn.jit(recurrence, backend="numpy").explain(X)
