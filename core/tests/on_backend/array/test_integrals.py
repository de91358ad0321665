"""Exponential and elliptic integrals: values and two derivatives against mpmath, ends, sizes."""

import mpmath
import numpy as np
import pytest

import tenferro as tn
from tenferro.primitives import InvalidParameterError, elliptic_integral, variable

S, inf, nan = tn.special, np.inf, np.nan
#: Both sides of where a formula changes, small and large arguments.
CASES = {
    "expi": (S.expi, mpmath.ei, [-600.0, -3.0, -1.4, 1e-3, 2.0, 39.0, 41.0, 300.0]),
    "exp1": (S.exp1, mpmath.e1, [1e-8, 1e-3, 1.49, 1.51, 30.0, 600.0]),
    "expn": (
        lambda x: S.expn(3, x), lambda x: mpmath.expint(3, x), [1e-5, 0.7, 1.49, 1.51, 20.0],
    ),
    "expn of a high order": (
        lambda x: S.expn(20, x), lambda x: mpmath.expint(20, x), [1e-5, 0.7, 30.0],
    ),
    "ellipk": (
        S.ellipk, mpmath.ellipk, [-1e6, -0.41, -0.39, 0.0, 1e-10, 0.39, 0.41, 1 - 2.0**-30],
    ),
    "ellipe": (
        S.ellipe, mpmath.ellipe, [-1e6, -0.41, -0.39, 0.0, 1e-10, 0.39, 0.41, 1 - 2.0**-30],
    ),
    "ellipkm1": (S.ellipkm1, lambda p: mpmath.ellipk(1 - p), [1e-14, 0.3, 1.0, 7.0]),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(CASES))
def test_values_and_two_derivatives(name):
    function, truth, places = CASES[name]
    slope = tn.vmap(tn.grad(function))
    found = [function, slope, tn.vmap(tn.grad(tn.grad(function)))]
    with mpmath.workdps(60):
        for order, f in enumerate(found):
            want = [float(mpmath.diff(truth, mpmath.mpf(x), order)) for x in places]
            np.testing.assert_allclose(f(np.array(places)), want, rtol=1e-13, err_msg=f"{order}")


def test_a_third_derivative_next_to_the_circle():
    """The power series serves |m| < 2/5, beyond it the recurrence"""
    slope = tn.grad(tn.grad(tn.grad(S.ellipk)))
    for m in (0.0, 0.39, 0.41):
        with mpmath.workdps(60):
            want = float(mpmath.diff(mpmath.ellipk, mpmath.mpf(m), 3))
        assert float(slope(m)) == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize(
    "function, x, want",
    [
        (S.expi, [0.0, -0.0, inf, -inf, nan], [-inf, -inf, inf, 0, nan]),
        (S.exp1, [0.0, inf, -1.0, nan], [inf, 0, nan, nan]),
        (lambda x: S.expn(0, x), [0.0, inf, -1.0, nan], [inf, 0, nan, nan]),
        (lambda x: S.expn(3, x), [0.0, inf, -1.0, nan], [0.5, 0, nan, nan]),
        (lambda x: S.expn(21, x), [0.0, inf, -1.0, nan], [0.05, 0, nan, nan]),
        (S.ellipk, [1.0, 2.0, -inf, nan], [inf, nan, 0, nan]),
        (S.ellipkm1, [0.0, -1.0, inf, nan], [inf, nan, 0, nan]),
        (S.ellipe, [1.0, 2.0, -inf, nan], [1, nan, inf, nan]),
    ],
)
def test_ends(function, x, want):
    np.testing.assert_allclose(function(np.array(x)), want, rtol=1e-15)


def test_nothing_overflows_on_the_way():
    """Ei(712) where exp(712) is inf, with its slope; K(1 - p) and E at the ends of the numbers"""
    want = [float(mpmath.ei(712)), float(mpmath.exp(712) / 712)]
    np.testing.assert_allclose([float(S.expi(712.0)), float(tn.grad(S.expi)(712.0))], want, 1e-13)
    np.testing.assert_allclose(S.ellipkm1(1e-300), np.log(4) + 150 * np.log(10), rtol=1e-14)
    np.testing.assert_allclose(S.ellipe(-1e300), 1e150, rtol=1e-14)


@pytest.mark.parametrize("name", sorted(CASES))
def test_single_precision_stays_single(name):
    function, truth, places = CASES[name]
    x = np.array([v for v in places if 1e-30 < abs(v) < 80 and v != 1 - 2.0**-30], "f")
    got = np.asarray(function(x))
    assert got.dtype == np.float32
    with mpmath.workdps(40):
        want = [float(truth(mpmath.mpf(float(v)))) for v in x]
    np.testing.assert_allclose(got, want, rtol=2e-6)


def test_an_order_or_a_kind_that_does_not_exist_is_refused():
    with pytest.raises(InvalidParameterError, match="one integer >= 0"):
        S.expn(1.5, np.ones(2))
    with pytest.raises(InvalidParameterError, match="K, E, B or D"):
        elliptic_integral("F", variable("p", (2,), "f64"))


@pytest.mark.parametrize("dtype, top", [("float64", 716.3), ("float32", 93.2)])
def test_derivatives_of_expi_overflow_to_inf_together(dtype, top):
    """exp(x)/x and its derivatives overflow from one x on, and have digits a little below"""
    slopes = [tn.grad(S.expi)]
    for _ in range(2):
        slopes.append(tn.grad(slopes[-1]))
    for x in (top + 0.2, top + 10, 2 * top + 1, inf):
        assert [float(slope(np.asarray(x, dtype)[()])) for slope in slopes] == [inf] * 3
    below = np.asarray(top - 2, dtype)[()]
    with mpmath.workdps(40):
        x = mpmath.mpf(float(below))
        want = [mpmath.exp(x) / x * factor for factor in (1, 1 - 1 / x, 1 - 2 / x + 2 / x**2)]
    got = [float(slope(below)) for slope in slopes]
    np.testing.assert_allclose(got, np.array(want, float), rtol=8 * float(np.finfo(dtype).eps))
