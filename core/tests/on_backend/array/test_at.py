"""`x.at[i]` gives a new array; a position named twice is combined by NumPy's ufunc.at."""

import numpy as np
import pytest
from against_numpy import sample

import tenferro as tn

X = np.abs(sample("float64", (3, 4))) + 1
INDICES = [
    *(1, -1, ..., (1, 2), slice(None, None, 2), (slice(None), slice(3, 0, -1)), [0, 2], [1, 1, 2]),
    *(([0, 0, 2], [1, 1, 3]), (slice(None), [2, 2]), ([[0], [2]], [1, 1]), X > 1.5, X[:, 0] > 1.5),
    *((None, 1), ([0, 1], None, [2, 2]), []),
]
COMBINED = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "min": np.minimum,
    "max": np.maximum,
    "power": np.power,
}


def value_for(index):
    part = X[index]
    return 0.5 + (np.arange(part.size) % 3).reshape(part.shape) / 2


@pytest.mark.parametrize("index", INDICES, ids=str)
@pytest.mark.parametrize("name", COMBINED)
def test_all_values_of_a_position_are_combined(name, index):
    want = X.copy()
    COMBINED[name].at(want, index, value_for(index))
    x = tn.asarray(X)
    got = getattr(x.at[index], name)(value_for(index))
    np.testing.assert_allclose(got, want, rtol=1e-13)
    np.testing.assert_array_equal(x, X)


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_set_get_and_apply(index):
    x, want, squared = tn.asarray(X), X.copy(), X.copy()
    want[index] = value_for(index)
    squared[index] = X[index] ** 2
    np.testing.assert_array_equal(x.at[index].set(value_for(index)), want)
    np.testing.assert_array_equal(x.at[index].get(), X[index])
    np.testing.assert_array_equal(x.at[index].apply(np.square), squared)
    np.testing.assert_array_equal(x, X)


@pytest.mark.parametrize("index", INDICES, ids=str)
@pytest.mark.parametrize("name", COMBINED)
def test_derivatives_agree_with_differences(name, index):
    if name in ("min", "max") and X[index].size:
        k = np.arange(X[index].size).reshape(X[index].shape)  # no two updates of an element tie
        value = X[index] + 0.25 * (-1.0) ** k * (1 + k / 20)
    else:
        value = value_for(index)
    tn.check_grads(lambda x, v: getattr(tn.asarray(x).at[index], name)(v), (X, value), order=1)


@pytest.mark.parametrize("mode", ["drop", "clip", "fill", "promise_in_bounds"])
def test_modes_inside_bounds_change_nothing(mode):
    x = tn.asarray(X)
    for index in (1, -1, [0, 2], ([0, 0], [1, 1]), (slice(None), [1, 2])):
        want = X.copy()
        np.add.at(want, index, 1.0)
        np.testing.assert_array_equal(x.at[index].add(1.0, mode=mode), want)
        np.testing.assert_array_equal(x.at[index].get(mode=mode), X[index])


OUTSIDE = np.array([0, 7, -9])


@pytest.mark.parametrize("transform", [lambda f: f, tn.jit], ids=["plain", "jit"])
def test_modes_say_what_becomes_of_positions_outside(transform):
    v = np.array([1.0, 2.0, 3.0])
    run = transform
    x = tn.asarray(v)
    np.testing.assert_array_equal(run(lambda x: x.at[OUTSIDE].set(9.0, mode="drop"))(x), [9, 2, 3])
    np.testing.assert_array_equal(run(lambda x: x.at[OUTSIDE].set(9.0, mode="clip"))(x), [9, 2, 9])
    np.testing.assert_array_equal(
        run(lambda x: x.at[OUTSIDE].get(mode="fill"))(x), [1, np.nan, np.nan]
    )
    np.testing.assert_array_equal(
        run(lambda x: x.at[OUTSIDE].get(mode="fill", fill_value=-1))(x), [1, -1, -1]
    )
    np.testing.assert_array_equal(run(lambda x: x.at[OUTSIDE].get(mode="clip"))(x), [1, 3, 1])


def test_positions_outside_are_an_error_where_they_are_known_and_left_out_where_not():
    x = tn.asarray(np.arange(3.0))
    with pytest.raises(tn.OutOfBoundsError):
        x.at[3].set(1.0)
    with pytest.raises(tn.OutOfBoundsError):
        x.at[[0, -4]].add(1.0)
    traced = tn.jit(lambda x, i: x.at[i].add(1.0))
    np.testing.assert_array_equal(traced(np.zeros(3), np.array([2, 3, -4])), [0, 0, 1])
    written = tn.jit(lambda x, i: _written(x * 1.0, i))
    np.testing.assert_array_equal(written(np.zeros(3), np.int64(3)), [0, 0, 0])
    np.testing.assert_array_equal(written(np.zeros(3), np.int64(-1)), [0, 0, 5])


def _written(x, i):
    x[i] = 5.0
    return x


def test_an_unknown_mode_is_refused():
    with pytest.raises(ValueError, match="mode"):
        tn.asarray(X).at[0].set(1.0, mode="wrap")


def test_second_derivatives_through_assignment():
    def f(x):
        y = np.zeros_like(x)
        y[1:] = x[:-1] ** 2
        y[[0, 0]] = x[1:3] ** 3
        y *= x
        y[-1] += np.sin(x[0])
        return np.sum(y * y)

    tn.check_grads(f, (np.array([0.5, 1.5, -0.75, 1.0]),), order=2)
    x = np.array([0.5, 1.5, -0.75, 1.0])
    step = 1e-5
    want = [(tn.grad(f)(x + step * e) - tn.grad(f)(x - step * e)) / (2 * step) for e in np.eye(4)]
    np.testing.assert_allclose(tn.hessian(f)(x), want, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(tn.jit(tn.grad(f))(x), tn.grad(f)(x), rtol=1e-12)


def test_assignment_under_vmap():
    rows = sample("float64", (5, 4))

    def f(x, i):
        y = np.zeros_like(x)
        y[1:] = x[:-1]
        y[i] = x[0] * 2
        y[y > 1] = 1.0
        return y

    places = np.array([0, 3, 1, 1, 2])
    each = zip(rows, places, strict=True)
    want = np.stack([np.asarray(f(tn.asarray(x), int(i))) for x, i in each])
    np.testing.assert_allclose(tn.vmap(f)(rows, places), want)
