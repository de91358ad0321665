"""Functions along axes are NumPy's for any shape, empty ones too; quantiles are so under vmap."""

import numpy as np
import pytest
from against_numpy import quietly, sample
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tenferro as tn

SHAPES = st.lists(st.integers(0, 4), max_size=3).map(tuple)
AXES = st.sets(st.integers(0, 2), min_size=1).map(tuple)
SEVERAL = "sum prod mean var std max min ptp median nanmean nanvar nanmax nanmedian all any".split()
SINGLE = "argmax argmin cumsum cumprod sort argsort nancumsum nanargmax".split()
few = settings(max_examples=25, deadline=None)


def outcome(function, *args, **keywords):
    """What the function gives, or that it refuses."""
    try:
        return np.asarray(quietly(function, *args, **keywords))
    except (TypeError, ValueError, IndexError):
        return None


def same(ours, theirs):
    assert (ours is None) == (theirs is None)
    if theirs is not None:
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", SEVERAL)
@given(shape=SHAPES, keep=st.booleans(), data=st.data())
@few
def test_reductions_over_any_axes(name, shape, keep, data):
    axes = data.draw(st.none() | AXES.filter(lambda a: max(a) <= len(shape)))
    x, function = sample("float64", shape), getattr(np, name)
    keywords = {"axis": axes, "keepdims": keep}
    theirs = outcome(function, x, **keywords)
    assume(theirs is not None or x.size)  # NumPy's median stumbles over its own reshape of nothing
    same(outcome(function, tn.asarray(x), **keywords), theirs)


@pytest.mark.parametrize("name", SINGLE)
@given(shape=SHAPES, data=st.data())
@few
def test_functions_along_any_axis(name, shape, data):
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1 if shape else 0))
    x, function = sample("float64", shape), getattr(np, name)
    same(outcome(function, tn.asarray(x), axis=axis), outcome(function, x, axis=axis))


@given(shape=SHAPES, before=st.integers(0, 9), after=st.integers(0, 9))
@pytest.mark.parametrize(
    "mode", ["constant", "edge", "reflect", "symmetric", "wrap", "linear_ramp"]
)
@few
def test_padding_of_any_width(mode, shape, before, after):
    x = sample("float64", shape)
    same(*[outcome(np.pad, a, (before, after), mode=mode) for a in (tn.asarray(x), x)])


@given(shape=SHAPES, shift=st.integers(-9, 9), data=st.data())
@few
def test_rolls_by_any_shift(shape, shift, data):
    axis = data.draw(st.none() | st.integers(0, max(len(shape) - 1, 0)))
    x = sample("float64", shape)
    same(*[outcome(np.roll, a, shift, axis) for a in (tn.asarray(x), x)])


@given(shape=SHAPES.filter(bool), q=st.floats(0, 1), data=st.data())
@few
def test_quantiles_at_any_place_under_vmap(shape, q, data):
    """vmap(quantile(·, q))(x)_i = quantile(x_i, q)"""
    x = sample("float64", (3, *[max(n, 1) for n in shape]))
    axis = data.draw(st.integers(0, len(shape) - 1))
    rows = tn.vmap(lambda part: np.quantile(part, q, axis=axis))(x)
    same(rows, np.stack([np.quantile(part, q, axis=axis) for part in x]))
