"""Error functions of complex numbers: digits against mpmath, ends, transforms, refusals."""

import mpmath
import numpy as np
import pytest

import tenferro as tn

inf, nan = np.inf, np.nan
S = tn.special
NAMES = ["wofz", "erf", "erfc", "erfcx", "erfi", "dawsn"]
ROOT_PI = mpmath.sqrt(mpmath.pi)
TRUTH = {
    "wofz": lambda z: mpmath.exp(-z * z) * mpmath.erfc(-1j * z),
    "erf": mpmath.erf,
    "erfc": mpmath.erfc,
    "erfcx": lambda z: mpmath.exp(z * z) * mpmath.erfc(z),
    "erfi": mpmath.erfi,
    "dawsn": lambda z: ROOT_PI / 2 * mpmath.exp(-z * z) * mpmath.erfi(z),
}
RADII = [1e-9, 0.02, 0.7, 0.99, 1.01, 1.9, 3.1, 4.4, 6.2, 8.0, 25.0, 1e5, 2e10]
# all quadrants, the axes, directions near them, and the diagonals
DIRECTIONS = np.exp(1j * np.array([0.0, 1e-8, 0.3, np.pi / 4, 1.2, np.pi / 2 - 1e-7]))
DIRECTIONS = np.concatenate([DIRECTIONS, 1j * DIRECTIONS, -DIRECTIONS, -1j * DIRECTIONS])
POINTS = np.outer(RADII, DIRECTIONS).ravel()
POINTS = np.where(abs(POINTS.real) < 1e-10 * abs(POINTS), 1j * POINTS.imag, POINTS)
POINTS = np.where(abs(POINTS.imag) < 1e-10 * abs(POINTS), POINTS.real, POINTS)


def function(name):
    return getattr(S, name)


def term_of_gauss(name, z):
    """Return the size that rounding of z² gives to the term with exp(∓z²)."""
    sign = 1 if name in ("erfcx", "erfi") else -1
    factor = abs(z) if name in ("erf", "erfc", "erfi") else abs(z) ** 2
    return factor * abs(mpmath.exp(sign * z * z))


def is_without_gauss(name, z):
    return (name == "wofz" and z.imag >= 0) or (name == "erfcx" and z.real >= 0)


@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
@pytest.mark.parametrize("name", NAMES)
def test_digits(name, dtype):
    """|f(z) - mpmath| <= 8 ulp of |f| + |z|² |exp(-z²)|, in every direction"""
    z = POINTS.astype(dtype)
    got = np.asarray(function(name)(tn.asarray(z)))
    assert got.dtype == dtype
    limits = np.finfo(dtype)
    checked = 0
    with mpmath.workdps(60):  # the phase z² of 1e10 needs 20 digits
        for at, value in zip(z.astype(complex), got.astype(complex), strict=True):
            exact = mpmath.mpc(at)
            gauss = 0 if is_without_gauss(name, at) else term_of_gauss(name, exact)
            if gauss > float(limits.max) / 1e3:
                continue
            want = TRUTH[name](exact)
            unit = (abs(want) + gauss) * float(limits.eps) + float(limits.tiny)
            assert abs(mpmath.mpc(value) - want) <= 8 * unit, (at, value, want)
            checked += 1
    assert checked > len(z) / 2


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_digits_of_dawsons_integral_of_reals(dtype):
    """D(x) within 6 ulp, from small to large arguments"""
    x = np.array([1e-30, 1e-6, 0.3, 0.97, 1.03, 2.4, -4.7, 6.3, -9.0, 200.0, 3e4], dtype)
    got = np.asarray(S.dawsn(tn.asarray(x)))
    with mpmath.workdps(40):
        want = np.array([float(TRUTH["dawsn"](mpmath.mpf(float(v)))) for v in x])
    np.testing.assert_allclose(got.astype(float), want, rtol=6 * np.finfo(dtype).eps)
    assert got.dtype == dtype


ENDS = [complex(inf, 0), complex(-inf, 1), 1j * inf, complex(0, -inf), 30j, complex(0, -40)]


@pytest.mark.parametrize("name", NAMES)
def test_ends_of_the_plane_are_those_of_scipy(name):
    """f(±inf), f(±i inf), overflow on the imaginary axis"""
    special = pytest.importorskip("scipy.special")
    ends = np.array(ENDS)
    got, want = np.asarray(function(name)(tn.asarray(ends))), getattr(special, name)(ends)
    np.testing.assert_allclose(got, want, rtol=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_nan_gives_nan(name):
    """f(nan + i) is no number"""
    got = complex(function(name)(tn.asarray(complex(nan, 1.0))))
    assert np.isnan(got.real)
    assert np.isnan(got.imag)


@pytest.mark.parametrize("name", ["erf", "erfi", "dawsn"])
def test_odd_functions_stay_on_the_axes(name):
    """f is real on the real axis and imaginary on the imaginary one"""
    z = np.array([0.5, -2.0, 1.5j, -0.25j, 3j])
    got = np.asarray(function(name)(tn.asarray(z)))
    np.testing.assert_array_equal(got.real == 0, z.real == 0)
    np.testing.assert_array_equal(got.imag == 0, z.imag == 0)


@pytest.mark.parametrize("z", [0.6 - 0.3j, -1.5 + 2.0j, 9.0 + 4.0j])
@pytest.mark.parametrize("name", NAMES)
def test_second_derivatives(name, z):
    """f″ along the real direction against mpmath"""
    real = tn.grad(tn.grad(lambda x: tn.real(function(name)(x + z))))(0.0)
    imag = tn.grad(tn.grad(lambda x: tn.imag(function(name)(x + z))))(0.0)
    with mpmath.workdps(40):
        want = complex(mpmath.diff(TRUTH[name], mpmath.mpc(z), 2))
    assert complex(real, imag) == pytest.approx(want, rel=1e-12)


def test_derivatives_of_large_reals_keep_their_digits():
    """D′ and D″ at 50: 1 - 2xD would lose four digits"""
    with mpmath.workdps(40):
        first, second = (float(mpmath.diff(TRUTH["dawsn"], 50, n)) for n in (1, 2))
    assert float(tn.grad(S.dawsn)(50.0)) == pytest.approx(first, rel=1e-14)
    assert float(tn.grad(tn.grad(S.dawsn))(50.0)) == pytest.approx(second, rel=1e-14)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_and_slopes_where_reals_overflow(dtype):
    """erfi → ±inf with slope inf, exp(x²) erfc x → 0 with slope -0"""
    at = np.array([-inf, -50.0, 50.0, 1e30, inf], dtype)
    np.testing.assert_array_equal(S.erfi(at), [-inf, -inf, inf, inf, inf])
    np.testing.assert_array_equal(tn.grad(lambda x: S.erfi(x).sum())(at), inf)
    steep = np.sqrt(np.log(float(np.finfo(dtype).max))) + np.array([-0.01, 0.005, 0.05, 0.2])
    steep = np.concatenate([steep, -steep]).astype(dtype)  # the slope overflows before the value
    for order, slope in ((1, tn.jacrev(S.erfi)), (1, tn.jacfwd(S.erfi)), (2, tn.hessian(S.erfi))):
        with np.errstate(over="ignore"):
            want = [float(mpmath.diff(mpmath.erfi, float(x), order)) for x in steep]
            want = np.array(want).astype(dtype)
        found = [slope(x) for x in steep]
        np.testing.assert_allclose(found, want, rtol=1e-12 if dtype == "float64" else 1e-4)
    far = np.array([1e30, inf], dtype)
    np.testing.assert_allclose(S.erfcx(far), [5.6418958354775629e-31, 0], rtol=1e-6)
    np.testing.assert_array_equal(tn.grad(lambda x: S.erfcx(x).sum())(np.array(inf, dtype)), 0)


@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_shapes_and_transforms(shape):
    """jit f = f = vmap f, and in the body of a loop"""
    z = np.full(shape, 0.5 + 1.5j)
    want = np.asarray(S.wofz(tn.asarray(z)))
    assert want.shape == shape
    np.testing.assert_array_equal(tn.jit(S.wofz)(z), want)
    if shape:
        np.testing.assert_array_equal(tn.vmap(S.wofz)(z), want)
    last, _ = tn.scan(lambda c, _: (c + S.wofz(c), None), z, None, length=1)
    np.testing.assert_allclose(last, z + want, rtol=1e-15)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_dtypes(dtype):
    """w of a real number is complex; erfi and Dawson's integral keep the dtype"""
    x = tn.asarray(np.array([0.5, 1.5], dtype))
    assert np.asarray(S.wofz(x)).dtype == np.result_type(dtype, "complex64")
    assert np.asarray(S.erfi(x)).dtype == dtype
    assert np.asarray(S.dawsn(x)).dtype == dtype


# x, σ, γ: between the two densities, their limits, and a tail where the real part of w is small
PROFILES = [(0.3, 1.2, 0.4), (-2.0, 0.5, 1.5), (3.0, 0.7, 0.0), (1.5, 0.0, 0.8), (40.0, 1.0, 1e-6)]


@pytest.mark.parametrize("x, sigma, gamma", PROFILES)
def test_voigt_profile(x, sigma, gamma):
    """Re w((x + iγ)/σ√2)/(σ√2π); the limits at σ = 0 and γ = 0"""
    if sigma:
        with mpmath.workdps(40):
            s = mpmath.mpf(sigma) * mpmath.sqrt(2)
            want = TRUTH["wofz"](mpmath.mpc(x, gamma) / s).real / (s * ROOT_PI)
    else:
        want = gamma / (np.pi * (x * x + gamma * gamma))
    assert float(S.voigt_profile(x, sigma, gamma)) == pytest.approx(float(want), rel=3e-15)


@pytest.mark.parametrize("argument", [0, 1, 2])
def test_derivatives_of_the_voigt_profile(argument):
    """∂V/∂x, ∂V/∂σ, ∂V/∂γ against mpmath"""

    def profile(x, sigma, gamma):
        s = sigma * mpmath.sqrt(2)
        return TRUTH["wofz"](mpmath.mpc(x, gamma) / s).real / (s * ROOT_PI)

    at = (0.3, 1.2, 0.4)
    with mpmath.workdps(40):
        want = mpmath.diff(profile, at, tuple(int(i == argument) for i in range(3)))
    got = tn.grad(S.voigt_profile, argnums=argument)(*at)
    assert float(got) == pytest.approx(float(want), rel=1e-13)


def test_what_has_no_complex_form_is_refused():
    """erfinv of a complex number is a typed error"""
    with pytest.raises(tn.DTypeMismatchError):
        S.erfinv(tn.asarray(0.5 + 1j))
