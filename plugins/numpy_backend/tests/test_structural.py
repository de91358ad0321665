"""Shape and layout against NumPy; padding against a loop."""

import itertools

import numpy as np
import pytest

from tenferro import primitives as tp

X = np.arange(24.0).reshape(2, 3, 4)


def test_views_and_copies(check):
    check(lambda x: tp.reshape(x, (6, 4)), [X], X.reshape(6, 4))
    check(lambda x: tp.reshape(x, (1, 1)), [np.float64(3)], np.array([[3.0]]))
    check(lambda x: tp.transpose(x, (2, 0, 1)), [X], X.transpose(2, 0, 1))
    check(lambda x: tp.transpose(x, ()), [np.float64(3)], np.float64(3))
    check(lambda x: tp.reverse(x, (0, 2)), [X], X[::-1, :, ::-1])
    check(lambda x: tp.reverse(x, ()), [X], X)
    check(tp.stop_gradient, [X], X)


@pytest.mark.parametrize(
    "shape, dimensions, result",
    [
        ((), (), (2, 3)),
        ((3,), (1,), (2, 3)),
        ((2,), (0,), (2, 3)),
        ((1, 3), (0, 1), (2, 3)),
        ((3,), (1,), (100, 3, 70)),
        ((2, 3), (0, 2), (2, 4, 3)),
        ((1,), (0,), (0,)),
        ((3,), (0,), (3,)),
    ],
)
def test_broadcast_in_dim(check, shape, dimensions, result):
    x = np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
    expanded = [1] * len(result)
    for axis, size in zip(dimensions, shape, strict=True):
        expanded[axis] = size
    expected = np.broadcast_to(x.reshape(expanded), result)
    check(lambda x: tp.broadcast_in_dim(x, result, dimensions), [x], expected)
    full = np.arange(float(np.prod(result))).reshape(result)
    add = lambda x, y: tp.broadcast_in_dim(x, result, dimensions) * y + y  # noqa: E731
    check(add, [x, full], expected * full + full)


def test_two_broadcasts_that_meet(check):
    x, y = np.arange(3.0), np.arange(2.0)

    def outer(x, y):
        return tp.broadcast_in_dim(x, (2, 3), (1,)) + tp.broadcast_in_dim(y, (2, 3), (0,))

    check(outer, [x, y], x + y[:, None])


def wide(x):
    return tp.broadcast_in_dim(x, (2, 3), ())


@pytest.mark.parametrize(
    "function, expected",
    [
        (lambda x, y: wide(x) * wide(y), 6.0),
        (lambda x, y: wide(x) * wide(x), 4.0),
        (lambda x, y: wide(x) + tp.constant(1.0, "float64", (2, 3)), 3.0),
        (lambda x, y: tp.select(tp.lt(wide(x), wide(y)), wide(x), wide(y)), 2.0),
    ],
)
def test_broadcasts_that_leave_nothing_to_expand_to(check, function, expected):
    check(function, [np.float64(2), np.float64(3)], np.full((2, 3), expected))


def test_a_broadcast_that_is_returned(check):
    def both(x, y):
        wide = tp.broadcast_in_dim(x, (2, 3), (1,))
        return wide, wide + y

    x, y = np.arange(3.0), np.ones((2, 3))
    check(both, [x, y], (np.broadcast_to(x, (2, 3)), x + y))


def test_a_broadcast_that_is_read_twice_and_returned(check):
    x, y = np.arange(3.0), np.ones((2, 3))

    def both(x, y):
        wide = tp.broadcast_in_dim(x, (2, 3), (1,))
        return wide, wide + y, tp.reduce_sum(wide, (0,))

    check(both, [x, y], (np.broadcast_to(x, (2, 3)), x + y, 2 * x))


def test_slice(check):
    """slice(x, start, limit, strides) = x[start:limit:strides]"""
    check(lambda x: tp.slice(x, (0, 1, 0), (2, 3, 4), (1, 1, 3)), [X], X[0:2, 1:3, 0:4:3])
    check(lambda x: tp.slice(x, (1, 1, 4), (1, 3, 4)), [X], X[1:1, 1:3, 4:4])


def padded(x, value, low, high, interior):
    """XLA's definition, element by element."""
    shape = [
        n + max(n - 1, 0) * i + lo + hi
        for n, lo, hi, i in zip(x.shape, low, high, interior, strict=True)
    ]
    out = np.full(shape, value, x.dtype)
    for index in itertools.product(*map(range, x.shape)):
        place = tuple(k * (i + 1) + lo for k, i, lo in zip(index, interior, low, strict=True))
        if all(0 <= p < n for p, n in zip(place, shape, strict=True)):
            out[place] = x[index]
    return out


ONE_AXIS = [
    (size, low, high, interior)
    for size, low, high, interior in itertools.product(
        (0, 1, 4), (-5, -4, -3, -2, -1, 0, 1, 3), (-4, -2, -1, 0, 2), (0, 1, 2)
    )
    if size + max(size - 1, 0) * interior + low + high >= 0  # others are refused
]


@pytest.mark.parametrize("size, low, high, interior", ONE_AXIS)
def test_pad_one_axis(check, size, low, high, interior):
    x, value = np.arange(1.0, size + 1), np.float64(-1)
    expected = padded(x, value, [low], [high], [interior])
    check(lambda x, v: tp.pad(x, v, (low,), (high,), (interior,)), [x, value], expected)


def test_pad_many_axes(check):
    low, high, interior = (1, -1, 0), (0, 2, -2), (1, 0, 1)
    expected = padded(X, 7.0, low, high, interior)
    check(lambda x, v: tp.pad(x, v, low, high, interior), [X, np.float64(7)], expected)
    check(lambda x, v: tp.pad(x, v, (), (), ()), [np.float64(1), np.float64(2)], np.float64(1))


@pytest.mark.parametrize("low, high", [(1, 2), (-1, 2), (2, -1), (-2, 0), (0, -3), (-1, -2)])
@pytest.mark.parametrize("interior", [0, 1])
def test_what_a_pad_crops_is_not_added(check, low, high, interior):
    """x + pad(y), where y loses elements at an end and gets zeros at the other"""
    y = np.arange(1.0, 8.0)
    piece = padded(y, 0.0, [low], [high], [interior])
    x = np.linspace(0.1, 0.9, piece.size)
    check(lambda x, y: x + tp.pad(y, 0.0, (low,), (high,), (interior,)), [x, y], x + piece)


def test_concatenate(check):
    """Operands follow each other along an axis; one may be empty"""
    x, y = np.ones((2, 3)), np.zeros((2, 0))
    check(lambda x, y: tp.concatenate([x, y, x], 1), [x, y], np.concatenate([x, y, x], 1))
    check(lambda x: tp.concatenate([x], 0), [x], x)


CONVERSIONS = [
    ([-1.7, 2.9, 0.0], "float64", "int32", [-1, 2, 0]),
    ([-1.7, 0.0, np.nan], "float64", "bool", [True, False, True]),
    ([300, -1], "int64", "uint8", [44, 255]),
    ([1 + 2j, 3 - 1j], "complex128", "float32", [1, 3]),
    ([1j, 0j], "complex64", "bool", [True, False]),
    ([0.1], "float64", "float32", [np.float32(0.1)]),
    ([True, False], "bool", "float64", [1, 0]),
    ([2.5], "float32", "complex64", [2.5]),
]


@pytest.mark.parametrize("values, source, target, expected", CONVERSIONS)
def test_convert(check, values, source, target, expected):
    """Conversions of arrays and numbers are those of the table"""
    check(lambda x: tp.convert(x, target), [np.array(values, source)], np.array(expected, target))
    scalar = np.array(values[0], source), np.array(expected[0], target)
    check(lambda x: tp.convert(x, target), [scalar[0]], scalar[1])


def _pad(x, low, high):
    """Zeros before and behind: with handles, and with arrays."""
    if isinstance(x, np.ndarray):
        return np.pad(x, (low, high))
    return tp.pad(x, tp.constant(0.0, "float64"), (low,), (high,), (0,))


def _after(x):
    return _pad(x, 1, 0)


def _before(x):
    return _pad(x, 0, 1)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y, z: z - _after(x),
        lambda x, y, z: _after(x) - z,
        lambda x, y, z: _after(x) - _before(y),
        lambda x, y, z: z - (_after(x) - _before(y)),
        lambda x, y, z: (z - _after(x)) - _before(y),
        lambda x, y, z: z * z - (_after(x) + _before(y)),
    ],
)
@pytest.mark.parametrize("size", [4, 5000])
def test_padded_terms_are_subtracted(check, function, size):
    """z - pad(x), pad(x) - z and differences of both are those of the arrays written out."""
    x, y, z = np.arange(1.0, size), np.linspace(0.5, 1.0, size - 1), np.linspace(-1.0, 1.0, size)
    check(function, [x, y, z], function(x, y, z), rtol=1e-12)
