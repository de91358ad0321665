"""tn.integrate.quad, quad_vec, fixed_quad: SciPy's values and errors, exact values, derivatives."""

import mpmath
import numpy as np
import pytest
from scipy import integrate as theirs

import tenferro as tn
from tenferro.transforms.control import around

quad, quad_vec, fixed_quad = tn.integrate.quad, tn.integrate.quad_vec, tn.integrate.fixed_quad

#: integrand of NumPy, the same of mpmath, ends
INTEGRALS = {
    "a bell": (lambda x: np.exp(-x * x), lambda x: mpmath.exp(-x * x), -np.inf, np.inf),
    "to infinity": (lambda x: np.exp(-x) * x, lambda x: mpmath.exp(-x) * x, 1.0, np.inf),
    "from infinity": (np.exp, mpmath.exp, -np.inf, 1.0),
    "turned round": (lambda x: np.exp(-x), lambda x: mpmath.exp(-x), np.inf, 0.0),
    "downward": (np.cos, mpmath.cos, 2.0, -1.0),
    "oscillating": (lambda x: np.sin(50 * x), lambda x: mpmath.sin(50 * x), 0.0, 3.0),
    "a peak": (lambda x: 1 / (1e-4 + x * x), lambda x: 1 / (1e-4 + x * x), -1.0, 2.0),
    "a root": (np.sqrt, mpmath.sqrt, 0.0, 1.0),
    "a logarithm": (np.log, mpmath.log, 0.0, 1.0),
    "infinite at its end": (lambda x: 1 / np.sqrt(x), lambda x: 1 / mpmath.sqrt(x), 0.0, 1.0),
    "no interval": (np.exp, mpmath.exp, 1.0, 1.0),
}


@pytest.mark.parametrize("name", INTEGRALS)
def test_values_are_exact_within_the_error(name):
    """The estimate is not less than the error, but for rounding, and within the tolerance"""
    f, exact, a, b = INTEGRALS[name]
    wanted = float(mpmath.quad(exact, [a, 0.0, b] if a < 0 < b else [a, b]))
    value, error = quad(f, a, b)
    assert abs(value - wanted) <= error + 1e-14
    assert error <= 1.49e-8 * max(1.0, abs(wanted))


@pytest.mark.parametrize("name", INTEGRALS)
@pytest.mark.parametrize("rule", [None, "gk15"])
def test_values_errors_and_numbers_of_evaluations_are_those_of_quad_vec(name, rule):
    f, _, a, b = INTEGRALS[name]
    value, error, info = quad_vec(f, a, b, quadrature=rule, full_output=True)
    wanted = theirs.quad_vec(f, a, b, quadrature=rule, full_output=True)
    np.testing.assert_allclose(value, wanted[0], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(error, wanted[1], rtol=1e-3, atol=2e-13)
    assert info.success
    assert info.neval == wanted[2].neval


@pytest.mark.parametrize("norm", ["2", "max"])
def test_arrays_points_and_arguments_are_handed_on(norm):
    powers = np.array([[0.5, 1.0, 4.0], [2.0, 3.0, 0.25]])
    f = lambda x, p: abs(x - 0.3) ** p  # noqa: E731
    options = {"norm": norm, "points": [0.7, 0.3], "args": (powers,)}
    found = quad_vec(f, 0.0, 1.0, **options)
    np.testing.assert_allclose(found[0], theirs.quad_vec(f, 0.0, 1.0, **options)[0], rtol=1e-12)
    wanted = (0.3 ** (powers + 1) + 0.7 ** (powers + 1)) / (powers + 1)
    np.testing.assert_allclose(found[0], wanted, rtol=1e-7)


@pytest.mark.parametrize("n", [1, 2, 5, 12, 64])
def test_the_rule_of_n_nodes_is_exact_for_polynomials(n):
    """∫ x^k from -1 to 3, k ≤ 2 n - 1"""
    k = np.arange(2 * n)[:, None]
    f = lambda x: (x / 3.0) ** k  # noqa: E731
    wanted = 3.0 * (1.0 - (-1.0 / 3.0) ** (k[:, 0] + 1)) / (k[:, 0] + 1)
    found, nothing = fixed_quad(f, -1.0, 3.0, n=n)
    np.testing.assert_allclose(found, wanted, rtol=2e-14)
    np.testing.assert_allclose(found, theirs.fixed_quad(f, -1.0, 3.0, n=n)[0], rtol=2e-13)
    assert nothing is None


def bell(k, a, b):
    return quad_vec(lambda x: np.exp(-k * x * x), a, b, epsrel=1e-12)[0]


def bell_in_closed_form(k, a, b):
    s = np.sqrt(k)
    return np.sqrt(np.pi) / 2 / s * (tn.special.erf(s * b) - tn.special.erf(s * a))


MODES = {
    "grad": tn.grad,
    "hessian": tn.hessian,
    "jit of hessian": lambda f, n: tn.jit(tn.hessian(f, n)),
    "jacrev of jacfwd": lambda f, n: tn.jacrev(tn.jacfwd(f, n), n),
}


@pytest.mark.parametrize("mode", MODES)
def test_derivatives_by_what_the_integrand_reads_and_by_the_ends(mode):
    """∂/∂k and ∂/∂a, ∂/∂b, the integrand at the ends"""
    found, wanted = [
        np.array(MODES[mode](f, (0, 1, 2))(1.3, -0.4, 1.9)) for f in (bell, bell_in_closed_form)
    ]
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


def test_derivatives_of_infinite_and_complex_integrals():
    """∫ exp(-k x² + i x) = √(π/k) exp(-1/(4 k)), by k"""
    f = lambda k: quad_vec(lambda x: np.exp(-k * x * x + 1j * x), -np.inf, np.inf)[0]  # noqa: E731
    wanted = lambda k: np.sqrt(np.pi / k) * np.exp(-0.25 / k)  # noqa: E731
    np.testing.assert_allclose(f(0.8), wanted(0.8), rtol=1e-8)
    found = tn.grad(lambda k: np.real(f(k)))(0.8)
    np.testing.assert_allclose(found, tn.grad(wanted)(0.8), rtol=1e-7)


def test_examples_have_intervals_of_their_own():
    """Bells of widths from 1 to 0.03"""
    k = np.array([1.0, 30.0, 1e3])
    f = lambda k: bell(k, -1.0, 2.0)  # noqa: E731
    np.testing.assert_allclose(tn.vmap(f)(k), [f(x) for x in k], rtol=1e-13)
    wanted = tn.vmap(tn.grad(lambda k: bell_in_closed_form(k, -1.0, 2.0)))(k)
    np.testing.assert_allclose(tn.vmap(tn.grad(f))(k), wanted, rtol=1e-9)


def test_derivatives_of_the_rule_of_gauss():
    f = lambda p, b: fixed_quad(lambda x: x**p, 0.0, b, n=24)[0]  # noqa: E731
    wanted = lambda p, b: b ** (p + 1) / (p + 1)  # noqa: E731
    found = [np.array(tn.hessian(g, (0, 1))(6.5, 1.2)) for g in (f, wanted)]
    np.testing.assert_allclose(*found, rtol=1e-7)


def test_a_program_is_recorded_once_for_equal_integrands():
    bell(1.0, 0.0, 1.0)
    before = around._PROGRAMS.stats.misses
    bell(2.0, 0.1, 1.5)
    assert around._PROGRAMS.stats.misses == before


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_precision_is_that_of_the_ends(dtype):
    value, error = quad_vec(lambda x: x * x, np.zeros((), dtype), np.ones((), dtype))
    assert value.dtype.name == error.dtype.name == dtype
    np.testing.assert_allclose(value, 1 / 3, rtol=1e-6)


def test_too_few_intervals_and_a_value_of_nan_are_no_success():
    rough = lambda x: np.sin(1 / x)  # noqa: E731
    value, error, info = quad_vec(rough, 1e-4, 1.0, limit=20, full_output=True)
    assert not info.success
    assert abs(value - theirs.quad(rough, 1e-4, 1.0, limit=4000)[0]) <= error
    value, error, info = quad_vec(lambda x: x * np.nan, 0.0, 1.0, full_output=True)
    assert np.isnan(value)
    assert not info.success
    assert info.neval == 21


#: a call that does not fit, its error and what that says
REFUSED = [
    (lambda: quad(lambda x: np.ones(2), 0.0, 1.0), tn.ShapeMismatchError, "not a number"),
    (lambda: quad(np.exp, 0.0, 1j), tn.DTypeMismatchError, "complex"),
    (lambda: quad(np.exp, np.zeros(2), 1.0), tn.ShapeMismatchError, "end of the interval"),
    (lambda: quad(np.exp, np.inf, np.inf), tn.InvalidParameterError, "no interval"),
    (lambda: quad(np.exp, 0.0, np.inf, points=[1.0]), tn.InvalidParameterError, "infinite end"),
    (lambda: quad(np.exp, 0.0, 1.0, points=0.5), tn.ShapeMismatchError, "not a vector"),
    (lambda: quad(np.exp, 0.0, 1.0, limit=0), tn.InvalidParameterError, "limit"),
    (lambda: quad_vec(np.exp, 0.0, 1.0, norm="1"), tn.InvalidParameterError, "norm"),
    (lambda: quad_vec(np.exp, 0, 1, quadrature="x"), tn.InvalidParameterError, "quadrature"),
    (lambda: fixed_quad(np.exp, 0.0, np.inf), tn.InvalidParameterError, "infinite interval"),
    (lambda: fixed_quad(np.exp, 0.0, 1.0, n=0), tn.InvalidParameterError, "n is out of range"),
    (lambda: fixed_quad(np.sum, 0.0, 1.0), tn.ShapeMismatchError, "each node"),
]


@pytest.mark.parametrize("call, error, said", REFUSED)
def test_what_does_not_fit_is_refused(call, error, said):
    with pytest.raises(error, match=said):
        call()


def test_points_outside_at_the_ends_and_twice_change_nothing():
    """the root is nan at negative numbers, the logarithm infinite at 0"""
    for f, points in ((np.sqrt, [-0.5, 2.0]), (np.log, [0.0, 1.0, 0.5, 0.5])):
        value, error = quad(f, 0.0, 1.0, points=points)
        assert abs(value - {np.sqrt: 2 / 3, np.log: -1.0}[f]) <= error < 1e-8
    assert quad(np.exp, 1.0, 1.0, points=[1.0]) == (0.0, 0.0)


@pytest.mark.parametrize("turned", [False, True])
def test_derivatives_by_the_ends_where_the_integrand_jumps_at_a_point(turned):
    """d/db = f(b), and by the place of the jump its height"""
    bell = lambda x: np.exp(-x * x)  # noqa: E731

    def f(a, b, p):
        points = np.stack([-2.0, p, p, 1.0])
        return quad(lambda x: np.where(x < p, 1.0, 3.0) * bell(x), *ends(a, b), points=points)[0]

    ends = (lambda a, b: (b, a)) if turned else (lambda a, b: (a, b))
    wanted = np.array([-bell(0.1), 3 * bell(1.0), -2 * bell(0.3)]) * (-1 if turned else 1)
    found = tn.grad(f, (0, 1, 2))(0.1, 1.0, 0.3)
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)
    second = np.diag([0.2 * bell(0.1), -6 * bell(1.0), 1.2 * bell(0.3)]) * (-1 if turned else 1)
    found = np.array(tn.hessian(f, (0, 1, 2))(0.1, 1.0, 0.3))
    np.testing.assert_allclose(found, second, rtol=1e-9, atol=1e-10)


def test_the_derivative_is_finite_where_the_integrand_is_infinite_at_a_point():
    """also at the middle of an interval that was not needed"""
    f = lambda k: quad(lambda x: k * np.log(abs(x - 0.75)), 0.0, 1.0, points=[0.75])[0]  # noqa: E731
    np.testing.assert_allclose(tn.grad(f)(2.0), f(1.0), rtol=1e-12)
