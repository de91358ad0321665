"""Positions that lie in their axis by the way they are made are read without being evaluated."""

import numpy as np
import pytest

import tenferro as tn
from tenferro.arrays import PROGRAMS
from tenferro.arrays.indexing.bounds import bounds_of

I = np.arange(-6, 7).reshape(13)  # noqa: E741
BOUNDED = [
    (lambda i: i % 5, (0, 4)),
    (lambda i: (i % 5 + 1) % 4, (0, 3)),
    (lambda i: np.remainder(i, 1), (0, 0)),
    (lambda i: np.clip(i, 1, 3), (1, 3)),
    (lambda i: np.clip(i, -2, 3), (-2, 3)),
    (lambda i: np.clip(i, 3, 1), (1, 1)),
    (lambda i: (i % 5)[:, None], (0, 4)),
    (lambda i: np.broadcast_to(i % 5, (2, 13)), (0, 4)),
    (lambda i: i.astype("int8") % 5, (0, 4)),
    (lambda i: np.where(np.fmod(i, 5) < 0, np.fmod(i, 5) + 5, np.fmod(i, 5)), (0, 4)),
    (lambda i: (i.astype("int32") % 5).astype("int64"), (0, 4)),
    (lambda i: i.astype("uint8") % 9, (0, 8)),
]
UNKNOWN = [
    lambda i: i + 0,
    lambda i: i % -5,
    lambda i: i % np.full(13, 5),
    lambda i: np.fmod(i, 5),
    lambda i: (i % 5) + 1,
    lambda i: (i.astype(float) % 5).astype(int),
    lambda i: (i % 300).astype("int8"),
    lambda i: np.where(i < 0, i + 5, i),
    lambda i: np.minimum(i, 3),
    lambda i: np.where(np.fmod(i, 5) < 1, np.fmod(i, 5) + 5, np.fmod(i, 5)),
    lambda i: np.where(i < 0, np.fmod(i, 5) + 5, np.fmod(i, 5)),
    lambda i: np.where(np.fmod(i, 5) < 0, np.fmod(i, 5) + 4, np.fmod(i, 5)),
    lambda i: np.where(np.fmod(i, 5) < 0, np.fmod(i, 4) + 5, np.fmod(i, 5)),
]


def runs():
    return PROGRAMS.stats.hits + PROGRAMS.stats.misses


@pytest.mark.parametrize("make, bounds", BOUNDED)
def test_all_values_lie_in_the_bounds(make, bounds):
    found = make(tn.asarray(I))
    assert bounds_of(found.key) == bounds
    values = np.asarray(found)
    assert (values.min(), values.max()) == bounds


@pytest.mark.parametrize("make", UNKNOWN)
def test_nothing_is_said_where_nothing_is_known(make):
    assert bounds_of(make(tn.asarray(I)).key) is None


def test_positions_inside_the_axis_are_not_evaluated():
    x, i = tn.asarray(np.arange(20.0).reshape(4, 5)), tn.asarray(I)
    before = runs()
    y = x[i % 4, (i + 1) % 5]
    assert runs() == before
    np.testing.assert_array_equal(y, np.arange(20.0).reshape(4, 5)[I % 4, (I + 1) % 5])


def test_positions_that_may_lie_outside_are_checked_as_before():
    x, i = tn.asarray(np.arange(4.0)), tn.asarray(np.arange(3))
    np.testing.assert_array_equal(x[i % 7], [0, 1, 2])
    np.testing.assert_array_equal(x[np.clip(i - 2, -4, 3)], [2, 3, 0])
    with pytest.raises(tn.OutOfBoundsError) as raised:
        x[(i + 4) % 7]
    assert raised.value.fields == {"axis": 0, "index": 6, "size": 4}
    with pytest.raises(tn.OutOfBoundsError):
        tn.zeros((0,))[i % 7]


LOSSES = [
    lambda x: np.sum(np.sin(x)[I % 4, (I + 1) % 5] ** 2),
    lambda x: np.sum(x[np.floor(x[:, 0]).astype(int) % 4] ** 2),
    lambda x: np.sum(np.exp(x[:, (np.floor(x[:1, :2]).astype(int)[0] + 1) % 5])),
    lambda x: np.sum(x[(np.floor(x[:, 0]).astype(int) % 4), np.arange(4)] ** 3),
]


@pytest.mark.parametrize("loss", LOSSES)
def test_derivatives_and_other_transforms_read_the_same_elements(loss):
    """∇f, also of a batch and under jit, is that of central differences."""
    x = np.linspace(-2.9, 4.7, 20).reshape(4, 5)
    h = 1e-5
    steps = h * np.eye(20).reshape(20, 4, 5)
    want = np.array([(loss(x + d) - loss(x - d)) / (2 * h) for d in steps]).reshape(4, 5)
    gradient = tn.grad(loss)
    for found in (gradient(x), tn.jit(gradient)(x), tn.vmap(gradient)(np.stack([x, x]))[1]):
        np.testing.assert_allclose(found, want, rtol=1e-8, atol=1e-8)
    direction = np.cos(x)
    second = (gradient(x + h * direction) - gradient(x - h * direction)) / (2 * h)
    np.testing.assert_allclose(tn.hvp(loss)(x, direction), second, rtol=1e-7, atol=1e-7)


def test_values_are_assigned_to_bounded_positions():
    def updated(i):
        x = tn.zeros(5)
        x[i % 5] = 2.0
        x[(i % 5)[:1]] += 1.0
        return x

    want = np.zeros(5)
    want[[3, 1]] = 2.0
    want[3] += 1.0
    i = np.array([-2, 6])
    np.testing.assert_array_equal(updated(tn.asarray(i)), want)
    np.testing.assert_array_equal(tn.jit(updated)(i), want)
