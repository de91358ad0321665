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


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_powers_have_the_digits_of_a_power(dtype):
    """(x^λ - 1)/λ to a few roundings, not to |λ ln x| of them; x^(λ-1) to ln x of them"""
    x = np.array([1e9, 3e-8, 2.5e30, 7e-28, 2.0, 4e5], dtype)
    p = np.array([3.5, 4.5, -1.25, 0.75, 100.0, -6.0], dtype)
    value, slope = tn.special.boxcox(x, p), tn.grad(lambda x: tn.sum(tn.special.boxcox(x, p)))(x)
    with mpmath.workdps(60):
        at = [(mpmath.mpf(float(a)), mpmath.mpf(float(b))) for a, b in zip(x, p, strict=True)]
        want = [float(TRUTH["boxcox"](a, b)) for a, b in at]
        slopes = [float(a ** (b - 1)) for a, b in at]
    eps, least = np.finfo(dtype).eps, np.finfo(dtype).smallest_normal
    np.testing.assert_allclose(value, want, rtol=6 * eps)
    np.testing.assert_allclose(slope, slopes, rtol=40 * eps, atol=least)


@pytest.mark.parametrize("name", ["inv_boxcox", "inv_boxcox1p"])
def test_inverses_where_the_product_overflows(name):
    """(λy + 1)^(1/λ) and its slope by λ, by 700 digits"""
    inverse = getattr(tn.special, name)
    y, p = np.array([1e300, -1e300, 1e200, 3e304]), np.array([1e300, -1e300, 1e150, 1e4])
    value, slope = tn.vjp(lambda p: inverse(y, p), p)
    want, slopes = [], []
    with mpmath.workdps(700):
        for a, b in zip(map(mpmath.mpf, y), map(mpmath.mpf, p), strict=True):
            level = mpmath.log(a * b + 1) / b
            want.append(float((mpmath.exp if name == "inv_boxcox" else mpmath.expm1)(level)))
            slopes.append(float(mpmath.exp(level) * (a / (a * b + 1) - level) / b))
    np.testing.assert_allclose(value, want, rtol=1e-13)
    np.testing.assert_allclose(slope(np.ones(4))[0], slopes, rtol=1e-12, atol=1e-320)


@pytest.mark.parametrize("name", sorted(TRUTH))
def test_single_precision_stays_single(name):
    x, p = (np.array(part, "f") for part in PLACES[name])
    got = getattr(tn.special, name)(x, p)
    with mpmath.workdps(40):
        truth = np.vectorize(lambda a, b: float(TRUTH[name](mpmath.mpf(a), mpmath.mpf(b))))
        want = truth(x.astype(float), p.astype(float))
    assert np.asarray(got).dtype == np.float32
    np.testing.assert_allclose(got, want, rtol=2e-6)
