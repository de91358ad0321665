"""tn.integrate: SciPy's values, derivatives by samples and places, what is refused."""

import numpy as np
import pytest
from scipy import integrate as theirs

import tenferro as tn

ours = tn.integrate
RULES = ["simpson", "cumulative_simpson", "cumulative_trapezoid", "trapezoid"]
PLACES = {"steps of 1": {}, "a step": {"dx": 0.3}, "places": {"x": True}, "all": {"x": "all"}}


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def options(case, y):
    given = dict(PLACES[case])
    if given.get("x") is True:
        given["x"] = np.sort(numbers(y.shape[-1], seed=1))
    elif "x" in given:
        given["x"] = np.sort(numbers(*y.shape, seed=1), axis=-1)
    return given


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("case", PLACES)
def test_a_rule_is_scipys(rule, case):
    """for odd and even numbers of samples, along the last axis and the first"""
    for n in (1, 2, 3, 4, 7, 8):
        y = numbers(2, n)
        given = options(case, y)
        want = getattr(theirs, rule)(y, **given)
        np.testing.assert_allclose(getattr(ours, rule)(y, **given), want, atol=1e-12)
        if np.ndim(given.get("x", 0)) < 2:
            found = getattr(ours, rule)(y.T, axis=0, **given)
            np.testing.assert_allclose(found, np.moveaxis(want, -1, 0), atol=1e-12)


@pytest.mark.parametrize("rule", ["cumulative_simpson", "cumulative_trapezoid"])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_an_initial_value_comes_first(rule, n):
    y = numbers(2, n)
    want = getattr(theirs, rule)(y, initial=0)
    np.testing.assert_allclose(getattr(ours, rule)(y, initial=0), want, atol=1e-13, strict=True)
    found = tn.jit(lambda y: getattr(ours, rule)(y.T, axis=0, initial=0))(y)
    np.testing.assert_allclose(found, want.T, atol=1e-13, strict=True)


@pytest.mark.parametrize("rule", RULES[:3])
@pytest.mark.parametrize("n", [4, 5])
def test_derivatives_by_samples_and_places(rule, n):
    """twice, against differences"""
    f = getattr(ours, rule)
    tn.check_grads(lambda y, x: f(y, x=x), (numbers(n), np.cumsum(0.5 + np.ones(n))), order=2)


@pytest.mark.parametrize("rule", RULES)
def test_jit_and_vmap(rule):
    """what a loop over rows finds"""
    f, y = getattr(ours, rule), numbers(3, 5)
    np.testing.assert_allclose(tn.jit(tn.vmap(f))(y), np.stack([f(row) for row in y]))


def test_places_that_coincide_give_scipys_numbers_and_no_nan():
    y, x = numbers(5), np.array([0.0, 0.0, 1.0, 2.0, 2.0])
    np.testing.assert_allclose(ours.simpson(y, x), theirs.simpson(y, x=x))
    assert np.isfinite(tn.grad(lambda x: ours.simpson(y, x))(x)).all()


@pytest.mark.parametrize("dtype", ["float32", "complex64", "complex128"])
@pytest.mark.parametrize("rule", RULES)
def test_a_dtype_stays(rule, dtype):
    assert getattr(ours, rule)(np.ones(5, dtype)).dtype == dtype
    if "cumulative" in rule:
        assert getattr(ours, rule)(np.ones(5, dtype), initial=0).dtype == dtype


@pytest.mark.parametrize("dtype", ["int8", "uint8", "bool", "int64"])
@pytest.mark.parametrize("rule", RULES[:3])
def test_integers_and_truth_are_numbers_of_double_precision(rule, dtype):
    """a half-precision sum of so many would stop at 2,048"""
    y = np.ones(3001, dtype)
    found = getattr(ours, rule)(y)
    assert found.dtype == "float64"
    np.testing.assert_allclose(found if rule == "simpson" else found[-1], 3000)
    places = np.arange(5, dtype="int8")
    assert getattr(ours, rule)(np.ones(5, dtype), x=places).dtype == "float64"


@pytest.mark.parametrize("rule", RULES[:3])
def test_an_infinite_sample_does_not_spoil_the_steps(rule):
    y = np.array([1.0, 1.0, 1.0, np.inf])
    assert np.max(getattr(ours, rule)(y)) == np.inf


@pytest.mark.parametrize("rule", RULES[:3])
def test_places_that_do_not_fit_are_refused(rule):
    for y, x in ((np.ones(3), np.ones(4)), (np.ones(0), None)):
        with pytest.raises(tn.ShapeMismatchError, match="sample"):
            getattr(ours, rule)(y, x=x)


def test_places_that_do_not_increase_are_refused():
    """the parabola through three of them divides by each interval"""
    for x in ([0.0, 1, 1, 2], [0.0, 1, 0.5, 2]):
        with pytest.raises(tn.InvalidParameterError, match="do not increase"):
            ours.cumulative_simpson(np.ones(4), x=np.array(x))


def test_another_initial_value_is_refused():
    with pytest.raises(tn.InvalidParameterError):
        ours.cumulative_trapezoid(np.ones(3), initial=1)
