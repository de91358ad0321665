"""Box and Cox's transforms: values and two derivatives against mpmath, ends, the exponent 0."""

import mpmath
import numpy as np
import pytest

import tenferro as tn

inf, nan = np.inf, np.nan
TRUTH = {
    "boxcox": lambda x, p: (x**p - 1) / p,
    "boxcox1p": lambda x, p: ((1 + x) ** p - 1) / p,
    "inv_boxcox": lambda y, p: (p * y + 1) ** (1 / p),
    "inv_boxcox1p": lambda y, p: (p * y + 1) ** (1 / p) - 1,
}
#: Small and large places; λy on both sides of ±1/4, and 2.0**-40.
PLACES = {
    "boxcox": ([3.0, 0.25, 1e6, 1e-5, 1.0 + 2.0**-30, 7.0], [2.0, -0.5, -3.0, 2.5, 0.5, 2.0**-40]),
    "boxcox1p": ([2.0, 2.0**-40, -0.75, 1e6, 3.0], [2.0, -0.5, 3.0, -3.0, 2.0**-40]),
    "inv_boxcox": ([3.0, 0.25, -0.3, 0.5, 2.0], [2.0, 0.75, 3.0, 0.499, 2.0**-40]),
    "inv_boxcox1p": ([3.0, 2.0**-40, -0.3, 0.5, 2.0], [2.0, -0.5, 3.0, 0.501, 2.0**-40]),
}


def derivatives(function, x, p):
    """Return the value and the derivatives ∂x, ∂p, ∂x², ∂x∂p and ∂p²."""
    by_x, by_p = tn.grad(function, 0), tn.grad(function, 1)
    found = [function, by_x, by_p, tn.grad(by_x, 0), tn.grad(by_x, 1), tn.grad(by_p, 1)]
    return [float(f(x, p)) for f in found]


@pytest.mark.parametrize("name", sorted(TRUTH))
def test_values_and_two_derivatives(name):
    with mpmath.workdps(80):
        for x, p in zip(*PLACES[name], strict=True):
            orders = [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)]
            at = (mpmath.mpf(x), mpmath.mpf(p))
            want = [float(mpmath.diff(TRUTH[name], at, n, h=mpmath.mpf(10) ** -25)) for n in orders]
            got = derivatives(getattr(tn.special, name), x, p)
            np.testing.assert_allclose(got, want, rtol=1e-13, err_msg=f"{name}({x}, {p})")


@pytest.mark.parametrize(
    "name, at, want",
    [
        ("boxcox", 3.0, [np.log(3), 1 / 3, np.log(3) ** 2 / 2]),
        ("boxcox1p", 2.0, [np.log(3), 1 / 3, np.log(3) ** 2 / 2]),
        ("inv_boxcox", 2.0, [np.exp(2), np.exp(2), -2 * np.exp(2)]),
        ("inv_boxcox1p", 2.0, [np.expm1(2), np.exp(2), -2 * np.exp(2)]),
    ],
)
def test_an_exponent_of_zero_is_a_limit_with_a_slope(name, at, want):
    """ln x and exp y; their slopes by λ are ½ ln² x and -½ y² exp y"""
    got = derivatives(getattr(tn.special, name), at, 0.0)[:3]
    np.testing.assert_allclose(got, want, rtol=1e-14)


@pytest.mark.parametrize("name, end", [("boxcox", 0.0), ("boxcox1p", -1.0)])
def test_the_end_of_the_domain(name, end):
    """(0^λ - 1)/λ with the slope 0^(λ-1), nan outside"""
    function = getattr(tn.special, name)
    powers = np.array([2.0, 1.0, 0.5, 0.0, -1.0])
    np.testing.assert_array_equal(function(end, powers), [-0.5, -1, -2, -inf, -inf])
    slopes = [float(tn.grad(function)(end, float(p))) for p in powers]
    np.testing.assert_array_equal(slopes, [0, 1, inf, inf, inf])
    assert np.isnan(function(end - 1, 2.0))
    np.testing.assert_array_equal(function(inf, np.array([2.0, 0.0, -1.0])), [inf, inf, 1])


def test_inverses_at_their_ends():
    """(λy + 1)^(1/λ) at λy = -1, 0 or inf, and nan below"""
    y, p = np.array([-0.5, 0.5, -1.0, -inf]), np.array([2.0, -2.0, 2.0, 0.0])
    np.testing.assert_array_equal(tn.special.inv_boxcox(y, p), [0, inf, nan, 0])
    np.testing.assert_array_equal(tn.special.inv_boxcox1p(y, p), [-1, inf, nan, -1])


@pytest.mark.parametrize("name", sorted(TRUTH))
def test_single_precision_stays_single(name):
    x, p = (np.array(part, "f") for part in PLACES[name])
    got = getattr(tn.special, name)(x, p)
    with mpmath.workdps(40):
        truth = np.vectorize(lambda a, b: float(TRUTH[name](mpmath.mpf(a), mpmath.mpf(b))))
        want = truth(x.astype(float), p.astype(float))
    assert np.asarray(got).dtype == np.float32
    np.testing.assert_allclose(got, want, rtol=2e-6)
