"""Bessel functions: digits against mpmath in two precisions, transforms, refusals."""

import mpmath
import numpy as np
import pytest

import tenferro as tn

inf, nan = np.inf, np.nan
SPECIAL = tn.special
# from the smallest arguments to beyond where the asymptotic series begin, away from zeros
POINTS = np.array([1e-6, 0.01, 0.6, 1.1, 2.9, 6.7, 9.75, 10.4, 13.0, 19.7, 20.6, 61.0, 500.25])
UNSCALED_K = POINTS[:-1]  # K₀(500) underflows in single precision

# function, order if it takes one, mpmath's, the largest error in ulp of float64 and of float32;
# of J and Y in ulp of √(2/πx) where that is larger than the value
ACCURACY = [
    ("j0", (), lambda x: mpmath.besselj(0, x), 6, 4),
    ("j1", (), lambda x: mpmath.besselj(1, x), 7, 4),
    ("jv", (7,), lambda x: mpmath.besselj(7, x), 7, 4),
    ("jv", (0.5,), lambda x: mpmath.besselj(0.5, x), 7, 4),
    ("jv", (12.75,), lambda x: mpmath.besselj(12.75, x), 8, 6),
    ("jv", (-3,), lambda x: mpmath.besselj(-3, x), 7, 4),
    ("y0", (), lambda x: mpmath.bessely(0, x), 8, 5),
    ("y1", (), lambda x: mpmath.bessely(1, x), 8, 5),
    ("yv", (5,), lambda x: mpmath.bessely(5, x), 9, 6),
    ("k0", (), lambda x: mpmath.besselk(0, x), 6, 5),
    ("k1", (), lambda x: mpmath.besselk(1, x), 6, 5),
    ("kv", (6,), lambda x: mpmath.besselk(6, x), 8, 6),
    ("kv", (1.3,), lambda x: mpmath.besselk(1.3, x), 8, 6),
    ("kv", (-12.75,), lambda x: mpmath.besselk(12.75, x), 8, 6),
    ("kve", (0.5,), lambda x: mpmath.exp(x) * mpmath.besselk(0.5, x), 8, 6),
    ("kve", (1e-9,), lambda x: mpmath.exp(x) * mpmath.besselk(1e-9, x), 8, 6),
    ("k0e", (), lambda x: mpmath.exp(x) * mpmath.besselk(0, x), 6, 5),
    ("k1e", (), lambda x: mpmath.exp(x) * mpmath.besselk(1, x), 6, 5),
    ("kve", (6,), lambda x: mpmath.exp(x) * mpmath.besselk(6, x), 8, 6),
]
ORDERED = {"jv": (3,), "yv": (3,), "kv": (3,), "kve": (3,)}
NAMES = ["j0", "j1", "jv", "y0", "y1", "yv", "k0", "k1", "kv", "k0e", "k1e", "kve"]


def of_x(name, *order):
    order = order or ORDERED.get(name, ())
    return lambda x: getattr(SPECIAL, name)(*order, x)


def unit_of(want, x, oscillates, eps):
    return np.maximum(np.abs(want), np.sqrt(2 / (np.pi * x)) * oscillates) * eps


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name, order, truth, ulps, ulps_single", ACCURACY)
def test_digits(name, order, truth, ulps, ulps_single, dtype):
    """|f(x) - mpmath| <= ulps"""
    x = (UNSCALED_K if name in ("k0", "k1", "kv") else POINTS).astype(dtype)
    with mpmath.workdps(40):
        want = np.array([float(truth(mpmath.mpf(float(v)))) for v in x])
    finite = np.abs(want) < np.finfo(dtype).max
    finite &= (np.abs(want) > np.finfo(dtype).tiny) | (np.abs(want) == 0)
    got = np.asarray(of_x(name, *order)(tn.asarray(x))).astype(float)
    unit = unit_of(want, x.astype(float), name[0] in "jy", np.finfo(dtype).eps)
    bound = ulps if dtype == "float64" else ulps_single
    assert np.max((np.abs(got - want) / unit)[finite]) <= bound
    assert np.asarray(of_x(name, *order)(tn.asarray(x))).dtype == dtype


AT_POINTS = {  # the values at 0, -2, inf, -inf, nan
    "j0": [1, mpmath.besselj(0, 2), 0, 0, nan],
    "j1": [0, -mpmath.besselj(1, 2), 0, 0, nan],
    "jv": [0, -mpmath.besselj(3, 2), 0, 0, nan],
    "y0": [-inf, nan, 0, nan, nan],
    "y1": [-inf, nan, 0, nan, nan],
    "yv": [-inf, nan, 0, nan, nan],
    **{name: [inf, nan, 0, nan, nan] for name in NAMES if name.startswith("k")},
}


@pytest.mark.parametrize("name", NAMES)
def test_ends_of_the_domain(name):
    """f(0), f(-2), f(±inf), f(nan)"""
    got = np.asarray(of_x(name)(tn.asarray([0.0, -2.0, inf, -inf, nan])))
    np.testing.assert_allclose(got, np.array(AT_POINTS[name], float), rtol=1e-14)


@pytest.mark.parametrize("name", ["jv", "yv"])
def test_what_overflows_stays_infinite_and_what_underflows_is_zero(name):
    """J₃₀(1e-30) = 0, Y₃₀(1e-30) = -inf"""
    want = {"jv": 0.0, "yv": -inf}[name]
    assert float(of_x(name, 30)(1e-30)) == want


@pytest.mark.parametrize("name", ["j1", "y1", "k1", "kve"])
def test_third_derivatives(name):
    """f‴ against mpmath"""
    truth = {"j": mpmath.besselj, "y": mpmath.bessely, "k": mpmath.besselk}[name[0]]
    order = ORDERED[name][0] if name in ORDERED else int(name[1])
    factor = mpmath.exp if name.endswith("e") else lambda x: 1
    with mpmath.workdps(40):
        want = mpmath.diff(lambda x: factor(x) * truth(order, x), 2.5, 3)
    got = tn.grad(tn.grad(tn.grad(of_x(name))))(2.5)
    assert float(got) == pytest.approx(float(want), rel=1e-13)


@pytest.mark.parametrize("x", [0.3, 4.0])
@pytest.mark.parametrize("name, truth", [("jv", mpmath.besselj), ("kv", mpmath.besselk)])
def test_derivatives_of_an_order_that_is_no_integer(name, truth, x):
    """J‴ and K‴ of orders 0.25 and 2.25"""
    for order in (0.25, 2.25):
        with mpmath.workdps(40):
            want = mpmath.diff(lambda x, v=order: truth(v, x), x, 3)
        got = tn.grad(tn.grad(tn.grad(of_x(name, order))))(x)
        assert float(got) == pytest.approx(float(want), rel=1e-12)


@pytest.mark.parametrize("name", ["j1", "y0", "kve"])
@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_shapes_and_transforms(name, shape):
    """jit f = f = vmap f, and in the body of a loop"""
    f, x = of_x(name), np.full(shape, 1.5)
    want = np.asarray(f(tn.asarray(x)))
    assert want.shape == shape
    np.testing.assert_array_equal(tn.jit(f)(x), want)
    if shape:
        np.testing.assert_array_equal(tn.vmap(f)(x), want)
    last, _ = tn.scan(lambda c, _: (c + f(c), None), x, None, length=1)
    np.testing.assert_allclose(last, x + want, rtol=1e-15)


@pytest.mark.parametrize(
    "name, order", [("jv", -0.5), ("jv", nan), ("yv", 0.5), ("kv", inf), ("kn", -1)]
)
def test_an_order_that_is_not_supported_is_refused(name, order):
    """nothing is rounded or approximated"""
    with pytest.raises(tn.InvalidParameterError, match="order"):
        of_x(name, order)(tn.asarray(1.0))


@pytest.mark.parametrize("name", ["jv", "yv", "kv", "kve"])
def test_an_order_above_the_highest_is_refused(name):
    """the recurrences have as many steps as the order"""
    with pytest.raises(tn.InvalidParameterError, match="128"):
        of_x(name, 129)(tn.asarray(1.0))


@pytest.mark.parametrize("name", NAMES)
def test_complex_arguments_are_refused(name):
    """f of a complex number is a typed error, not the real part"""
    with pytest.raises(tn.DTypeMismatchError):
        of_x(name)(tn.asarray(1.0 + 2.0j))
