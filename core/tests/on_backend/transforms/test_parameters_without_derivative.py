"""A parameter by which nobody differentiates is refused under a derivative: it never gives 0."""

import numpy as np
import pytest

import tenferro as tn

X = np.array([1.5, 2.5])
BY_PARAMETER = {
    "iv": lambda v: tn.special.iv(v, X).sum(),
    "jv": lambda v: tn.special.jv(v, X).sum(),
    "yv": lambda v: tn.special.yv(v, X).sum(),
    "kve": lambda v: tn.special.kve(v, X).sum(),
    "polygamma": lambda v: tn.special.polygamma(v, X).sum(),
    "multigammaln": lambda v: tn.special.multigammaln(X, v).sum(),
    "norm": lambda v: np.linalg.norm(tn.asarray(X), ord=v),
    "vector_norm": lambda v: tn.linalg.vector_norm(X, ord=v),
    "cond": lambda v: tn.linalg.cond(2 * np.eye(2), v),
    "matrix_norm": lambda v: tn.linalg.matrix_norm(np.ones((2, 2)), ord=v),
}


@pytest.mark.parametrize("name", BY_PARAMETER)
@pytest.mark.parametrize("compile_it", [False, True])
def test_a_derivative_by_a_parameter_is_refused(name, compile_it):
    function = tn.grad(BY_PARAMETER[name])
    with pytest.raises((tn.TracedConversionError, tn.ConcretizationError), match=name):
        (tn.jit(function) if compile_it else function)(1.0)


@pytest.mark.parametrize("name", BY_PARAMETER)
def test_the_refusal_says_that_the_parameter_has_no_derivative(name):
    with pytest.raises(tn.TracedConversionError, match="no derivative with respect to") as found:
        tn.grad(BY_PARAMETER[name])(1.0)
    assert "np.stack" not in str(found.value)


@pytest.mark.parametrize("name", BY_PARAMETER)
def test_a_parameter_may_be_an_array(name):
    function = BY_PARAMETER[name]
    want = function(2)
    np.testing.assert_array_equal(function(tn.asarray(2)), want)
    np.testing.assert_array_equal(function(tn.asarray(2.0)), want)
    stopped = tn.grad(lambda v: v * function(tn.stop_gradient(v)))
    np.testing.assert_allclose(stopped(2.0), want, rtol=1e-15)


def test_derivatives_by_the_start_and_the_step_of_arange():
    """Σ (s + k h)² with h = s / 2: the count is constant"""
    found = tn.grad(lambda s: (tn.arange(s, 5.0, 0.5 * s) ** 2).sum())(1.0)
    k = np.arange(8)
    np.testing.assert_allclose(found, (2 * (1 + 0.5 * k) ** 2).sum(), rtol=1e-15)
    tangent = tn.jvp(lambda s: tn.arange(s, 3.0), (0.5,), (1.0,))[1]
    np.testing.assert_array_equal(tangent, np.ones(3))


@pytest.mark.parametrize("counts", [2.0, np.array([1.0, 2.0])])
def test_repetitions_that_are_no_integers_are_refused(counts):
    with pytest.raises(tn.DTypeMismatchError, match="repeat"):
        np.repeat(tn.asarray(X), counts)
    with pytest.raises(tn.DTypeMismatchError, match="repeat"):
        tn.grad(lambda n: np.repeat(X * n, n).sum())(2.0)


def test_no_repetitions_of_nothing():
    """An empty list of numbers is one of integers, as for NumPy"""
    assert np.repeat(tn.asarray(X[:0]), []).shape == (0,)
