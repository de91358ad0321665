"""Laws of functions that cut, join, sort and count: what comparing with NumPy does not say."""

import numpy as np
import pytest
from against_numpy import sample
from hypothesis import given, settings
from hypothesis import strategies as st

import tenferro as tn

xp = tn.asarray(0.0).__array_namespace__()
X = sample("float64", (3, 4))
HOLED = np.where(sample("float64", (3, 4), seed=2) > 1, np.nan, X)
few = settings(max_examples=20, deadline=None)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=3), st.integers(1, 4), st.data())
@few
def test_joining_the_parts_gives_the_array(shape, count, data):
    """concatenate(array_split(x, n, axis), axis) = x"""
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = sample("float64", tuple(shape))
    joined = np.concatenate(np.array_split(tn.asarray(x), count, axis), axis)
    np.testing.assert_array_equal(np.asarray(joined), x)


@given(st.lists(st.integers(1, 3), min_size=1, max_size=3), st.data())
@few
def test_stacking_what_was_unstacked_gives_the_array(shape, data):
    """stack(unstack(x, axis), axis) = x"""
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = sample("float64", tuple(shape))
    whole = np.stack(np.unstack(tn.asarray(x), axis=axis), axis)
    np.testing.assert_array_equal(np.asarray(whole), x)


@given(st.integers(-5, 5), st.integers(1, 6))
@few
def test_rolling_back_gives_the_array(shift, n):
    """roll(roll(x, k), −k) = x"""
    x = sample("float64", (n,))
    np.testing.assert_array_equal(np.asarray(np.roll(np.roll(tn.asarray(x), shift), -shift)), x)


@pytest.mark.parametrize(
    "elements, places",
    [
        ([2.0, np.nan, -0.0, 0.0, np.inf, 2.0], [4, 0, 5, 2, 3, 1]),
        (np.array([0, 255, 3, 255], "uint8"), [1, 3, 2, 0]),
        (np.array([-128, 127, 0], "int8"), [1, 2, 0]),
        ([False, True, False, True], [1, 3, 0, 2]),
        ([1 + 1j, 2 - 1j, 1 + 2j], [1, 2, 0]),
    ],
)
def test_in_decreasing_order_nan_is_last_and_ties_stay(elements, places):
    x = np.asarray(elements)
    ours = np.asarray(xp.argsort(tn.asarray(x), descending=True))
    np.testing.assert_array_equal(ours, places)
    found = np.asarray(xp.sort(tn.asarray(x), descending=True))
    assert found.tobytes() == x[places].tobytes()


def test_the_gradient_of_a_decreasing_sort_is_its_permutation():
    x, w = np.array([2.0, 5.0, -1.0]), np.array([1.0, 10.0, 100.0])

    def loss(x):
        return np.sum(w * xp.sort(x, descending=True) ** 2)

    np.testing.assert_array_equal(tn.grad(loss)(x), 2 * x * [10.0, 1.0, 100.0])


def test_the_gradient_of_a_sort_is_its_permutation():
    """∂ Σ w sort(x) = w put back where the elements were"""
    x, w = X[0], np.array([1.0, 10, 100, 1000])
    expected = np.empty(4)
    expected[np.argsort(x)] = w
    np.testing.assert_array_equal(tn.grad(lambda x: np.sum(w * np.sort(x)))(x), expected)


@pytest.mark.parametrize("name", ["max", "min", "amax", "amin", "nanmax", "nanmin"])
def test_elements_that_tie_share_the_derivative(name):
    """∂ = 1/k for each of k extrema"""
    x = np.array([1.0, 1, 1]) if "min" not in name else -np.ones(3)
    found = tn.grad(lambda x: getattr(np, name)(x))(np.append(x, 0 * x[:1]))
    np.testing.assert_allclose(found, [1 / 3, 1 / 3, 1 / 3, 0])


def test_the_variance_of_equal_elements_has_no_slope():
    assert tn.grad(np.var)(np.ones(3)).tolist() == [0, 0, 0]
    assert np.isnan(tn.grad(np.std)(np.ones(3))).all()  # the square root's inf times 0


REDUCTIONS = (
    "nansum nanprod nanmax nanmin nanmean nanvar nanstd nanmedian nancumsum nancumprod"
).split()


@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_nan_that_is_left_out_has_the_derivative_zero(name):
    """∂f/∂x_i = 0 where x_i is NaN, finite elsewhere"""
    found = tn.grad(lambda x: np.sum(getattr(np, name)(x, axis=1) ** 2))(HOLED)
    assert np.isfinite(found).all()
    assert not found[np.isnan(HOLED)].any()


@pytest.mark.parametrize("method", ["linear", "median_unbiased", "lower", "averaged_inverted_cdf"])
def test_a_nan_that_a_quantile_leaves_out_has_the_derivative_zero(method):
    found = tn.grad(lambda x: np.sum(np.nanquantile(x, [0.3, 0.6], axis=1, method=method)))(HOLED)
    assert np.isfinite(found).all()
    assert not found[np.isnan(HOLED)].any()


def test_masked_elements_have_the_derivative_zero():
    mask, names = X > 0, ("sum", "prod", "mean", "var", "std")
    x = np.where(mask, X, np.nan)
    found = tn.grad(lambda x: sum(getattr(np, name)(x, where=mask) for name in names))(x)
    assert np.isfinite(found).all()
    assert not found[~mask].any()


# ---- under jit and vmap --------------------------------------------------------------------------

FIXED = [  # the shape does not depend on values
    lambda x: np.sort(x, axis=0),
    lambda x: np.argsort(x, axis=None),
    lambda x: np.median(x, axis=1),
    lambda x: np.quantile(x, x[0, 0] ** 2 / 9, axis=1),
    lambda x: np.nanpercentile(x, [10, 60], axis=0),
    lambda x: np.histogram(x, bins=4)[0],
    lambda x: np.histogram(x, bins=4)[1],
    lambda x: np.histogram2d(x[0], x[1], bins=3, weights=x[2])[0],
    lambda x: np.searchsorted(np.sort(x[0]), x),
    lambda x: np.digitize(x, [-1, 0, 1]),
    lambda x: np.isin(x, x[0]),
    lambda x: np.cumsum(x, axis=1),
    lambda x: np.pad(x, 2, mode="symmetric"),
    lambda x: np.nanargmax(x, axis=0),
    lambda x: np.cov(x, aweights=x[0] ** 2),
    lambda x: np.unravel_index(np.argmax(x), x.shape)[1],
    lambda x: np.take_along_axis(x, np.argsort(x, axis=1), axis=1),
    lambda x: np.lexsort((x[0], np.round(x[1]))),
    lambda x: np.insert(x, 1, x[0, 0], axis=1),
    lambda x: np.polymul(x[0], x[1]),
]


@pytest.mark.parametrize("index", range(len(FIXED)))
def test_functions_of_fixed_shape_are_themselves_under_jit(index):
    np.testing.assert_allclose(tn.jit(FIXED[index])(X), FIXED[index](X), rtol=1e-12)


@pytest.mark.parametrize(
    "function",
    [
        np.nonzero,
        np.argwhere,
        np.flatnonzero,
        np.unique,
        np.unique_all,
        np.union1d,
        np.trim_zeros,
        np.bincount,
        np.extract,
        np.compress,
        np.setdiff1d,
        np.intersect1d,
        np.setxor1d,
        np.polydiv,
    ],
    ids=lambda f: f.__name__,
)
def test_what_depends_on_values_is_refused_under_jit_and_names_another_way(function):
    count = 2 if function.__name__ in PAIRS else 1
    with pytest.raises(tn.ConcretizationError) as raised:
        tn.jit(lambda x: function(*[x] * count))(np.array([1, 2, 2]))
    assert any("instead" in note for note in raised.value.__notes__)


PAIRS = "union1d extract compress setdiff1d intersect1d setxor1d polydiv".split()


@pytest.mark.parametrize(
    "function",
    [
        np.sort,
        np.argsort,
        np.median,
        np.cumsum,
        np.cumprod,
        np.var,
        np.std,
        np.ptp,
        np.nanmedian,
        np.average,
        np.argmax,
        np.flip,
        np.diff,
        lambda x, axis: np.quantile(x, 0.3, axis=axis),
        lambda x, axis: np.roll(x, 1, axis=axis),
        lambda x, axis: np.partition(x, 1, axis=axis),
        lambda x, axis: np.repeat(x, 2, axis=axis),
        lambda x, axis: np.delete(x, 1, axis=axis),
    ],
)
def test_a_function_along_the_last_axis_is_the_one_of_a_line_for_each_row(function):
    """f(x, axis=1) = vmap(f(·, axis=0))(x)"""
    rows = tn.vmap(lambda line: function(line, axis=0))(X)
    np.testing.assert_allclose(rows, function(X, axis=1), rtol=1e-12)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.prod(x, axis=1) ** 2,
        lambda x: np.cumprod(x, axis=0) ** 2,
        lambda x: np.std(x, axis=0, ddof=1),
        lambda x: np.corrcoef(x[:2]),
        lambda x: np.average(x, axis=1, weights=x[0] ** 2 + 1),
        lambda x: np.median(x, axis=1) ** 3,
        lambda x: np.quantile(x, x[0, 0] ** 2 / 9, axis=1) ** 3,
        lambda x: np.sort(x, axis=None)[::2] ** 3,
        lambda x: np.nanstd(np.where(X > 1, np.nan, x), axis=1),
        lambda x: np.polydiv(x[0], x[1, :2])[0],
        lambda x: np.polyval(x[0], x[1]),
        lambda x: np.pad(x, 1, mode="reflect", reflect_type="odd") ** 2,
        lambda x: np.bincount([0, 2, 0, 1], weights=x[0] ** 3),
        lambda x: np.unique(x) ** 3,
    ],
)
def test_second_derivatives_agree_with_differences(function):
    tn.check_grads(function, (X,), order=2, rtol=1e-5)
