"""Rows that are added to or put into an array: along any axis, by any integers, many times."""

import numpy as np
import pytest

import tenferro as tn

TABLE = np.arange(24.0).reshape(2, 4, 3)
NUMBERS = [3, 0, 3, 1, 3, -1, 0]  # some rows several times, the last one by both of its numbers


def taken(x, axis, numbers):
    where = [slice(None)] * x.ndim
    where[axis] = numbers
    return x[tuple(where)]


@pytest.mark.parametrize("kind", ["int64", "int32", "int8", "uint8", "uint64"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_gradient_of_rows_that_are_read_adds_to_them(axis, kind):
    """Row i gets what each of its readers gives, along any axis of the table"""
    n = TABLE.shape[axis]
    numbers = (np.array(NUMBERS) % n).astype(kind)
    weights = np.sin(np.arange(taken(TABLE, axis, numbers).size)).reshape(
        taken(TABLE, axis, numbers).shape
    )
    need = np.zeros_like(TABLE)
    for k, number in enumerate(numbers):
        place = [slice(None)] * 3
        place[axis] = int(number)
        need[tuple(place)] += np.take(weights, k, axis)
    gradient = tn.grad(lambda x, i: np.sum(taken(x, axis, i) * weights))
    for function in (gradient, tn.jit(gradient, backend="numpy")):
        np.testing.assert_allclose(function(TABLE, numbers), need, rtol=1e-14)


@pytest.mark.parametrize("name", ["add", "set"])
@pytest.mark.parametrize("numbers", [NUMBERS, [NUMBERS, NUMBERS[::-1]], [7, -9, 2]])
def test_rows_are_added_and_put_in_their_order(name, numbers):
    """Of several rows for one place the last one stays; numbers outside leave nothing behind"""
    x, numbers = np.arange(20.0).reshape(4, 5), np.array(numbers)
    rows = np.cos(np.arange(numbers.size * 5.0)).reshape(*numbers.shape, 5)
    need = x.copy()
    for number, row in zip(numbers.reshape(-1), rows.reshape(-1, 5), strict=True):
        if -4 <= number < 4:
            need[number] = need[number] + row if name == "add" else row
    update = tn.jit(lambda x, i, r: getattr(x.at[i], name)(r), backend="numpy")
    np.testing.assert_allclose(update(x, numbers, rows), need, rtol=1e-15)


def test_updates_in_columns_and_empty_ones():
    x, numbers = np.zeros((4, 3)), np.array([2, 2, 0])
    rows = np.asfortranarray(np.arange(9.0).reshape(3, 3))
    update = tn.jit(lambda x, i, r: x.at[i].add(r), backend="numpy")
    np.testing.assert_array_equal(update(x, numbers, rows)[2], rows[0] + rows[1])
    np.testing.assert_array_equal(update(x, numbers[:0], rows[:0]), x)
    np.testing.assert_array_equal(update(x[:, :0], numbers, rows[:, :0]), x[:, :0])
