"""tn.interpolate: SciPy's values with every condition, derivatives by places, values and knots."""

from functools import partial

import numpy as np
import pytest
from scipy import interpolate as theirs

import tenferro as tn

ours = tn.interpolate
rng = np.random.default_rng(0)
PLACES = np.linspace(-2, 5, 19)
CONDITIONS = {
    "not-a-knot": "not-a-knot", "natural": "natural", "clamped": "clamped", "periodic": "periodic",
    "values": ((1, 0.3), (2, 0.7)), "mixed": ("not-a-knot", "natural"),
    "mixed, turned": ((2, 0.2), "not-a-knot"),
}  # fmt: skip
SHAPES = [((), 0), ((2,), 0), ((2,), 1), ((2, 3), 1)]


def knots(n):
    return np.cumsum(np.random.default_rng(n).uniform(0.3, 1, n)) - 1


def values(n, shape=(), axis=0, dtype=float, closed=False):
    y = rng.normal(size=(n, *shape)).astype(dtype)
    if dtype is complex:
        y = y + 1j * rng.normal(size=y.shape)
    if closed:
        y[-1] = y[0]
    return np.moveaxis(y, 0, axis)


def conditions(case, shape):
    """SciPy wants the values of a condition in the shape of what is interpolated."""
    given = CONDITIONS[case]
    if isinstance(given, str):
        return given
    return tuple(e if isinstance(e, str) else (e[0], np.full(shape, e[1])) for e in given)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("case", CONDITIONS)
def test_a_spline_is_scipys(case, dtype):
    """values, derivatives and integrals, inside and outside, from two knots on"""
    for n in (2, 3, 4, 7):
        for shape, axis in SHAPES[:: 1 if n == 4 else 3]:
            x, y = knots(n), values(n, shape, axis, dtype, closed=case == "periodic")
            bc = conditions(case, shape)
            mine, other = (m.CubicSpline(x, y, axis, bc) for m in (ours, theirs))
            for look in (
                lambda s: s(PLACES), lambda s: s(PLACES[:, None], 1), lambda s: s(0.3, 2),
                lambda s: s(PLACES, extrapolate=False), lambda s: s.derivative(3)(PLACES),
                lambda s: s.antiderivative()(PLACES), lambda s: s.integrate(-0.1, 5.3),
            ):  # fmt: skip
                np.testing.assert_allclose(look(mine), look(other), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("case", CONDITIONS)
def test_derivatives_of_a_spline(case):
    """by knots, values and places, twice"""
    x, y, t = knots(6), values(6), np.array([0.4, 1.1, 1.9])
    bc = CONDITIONS[case]
    tn.check_grads(lambda x, y, t: ours.CubicSpline(x, y, bc_type=bc)(t), (x, y, t), order=2)


@pytest.mark.parametrize("case", ["not-a-knot", "periodic"])
def test_a_spline_is_linear_in_its_values_and_scales_with_its_knots(case):
    """d s(y) [v] = s(v); d s(x, t) [x, t] = 0, since s(a x, a t) does not depend on a"""
    x, t, closed = knots(6), np.array([0.4, 1.1]), case == "periodic"
    y, v = values(6, closed=closed), values(6, closed=closed)

    def spline(x, y, t):
        return ours.CubicSpline(x, y, bc_type=case)(t)

    by_values = tn.jvp(lambda y: spline(x, y, t), (y,), (v,))[1]
    np.testing.assert_allclose(by_values, spline(x, v, t), atol=1e-12)
    scaled = tn.jvp(lambda x, t: spline(x, y, t), (x, t), (x, t))[1]
    np.testing.assert_allclose(scaled, 0, atol=1e-12)


def test_derivatives_by_the_values_of_conditions():
    x, y = knots(5), values(5)

    def spline(a, b):
        return ours.CubicSpline(x, y, bc_type=((1, a), (2, b)))(0.4)

    tn.check_grads(spline, (0.3, 0.7), order=1)


def test_the_derivative_by_a_place_is_that_of_the_spline():
    """d s(t) / dt = s.derivative()(t)"""
    spline = ours.CubicSpline(knots(6), values(6))
    found = tn.vmap(tn.grad(spline))(PLACES)
    np.testing.assert_allclose(found, spline.derivative()(PLACES), atol=1e-12)


def test_jit_and_vmap_over_values():
    x, y = knots(6), values(6, (3,)).T
    found = tn.jit(tn.vmap(lambda y: ours.CubicSpline(x, y)(PLACES)))(y)
    np.testing.assert_allclose(found, theirs.CubicSpline(x, y, axis=1)(PLACES), atol=1e-8)


def test_a_cubic_polynomial_is_its_own_spline():
    """closed form: t³, and its integral t⁴ / 4"""
    x = knots(6)
    spline = ours.CubicSpline(x, x**3)
    np.testing.assert_allclose(spline(PLACES), PLACES**3, atol=1e-9)
    np.testing.assert_allclose(spline.integrate(0.0, 2.0), 4.0, atol=1e-10)


def monotone(x, y):
    return ours.PchipInterpolator(x, y)(PLACES)


@pytest.mark.parametrize("steps", [False, True])
def test_monotone_interpolation_is_scipys(steps):
    """also where neighbours are equal"""
    for n in (2, 3, 7):
        x, y = knots(n), values(n, (2,))
        y = np.round(y) if steps else y
        mine, other = (m.PchipInterpolator(x, y) for m in (ours, theirs))
        np.testing.assert_allclose(mine(PLACES), other(PLACES), atol=1e-11)
        slopes = tn.jacobian(partial(monotone, x))(y)
        assert np.isfinite(slopes).all()


def test_derivatives_of_monotone_interpolation():
    given = knots(6), values(6), np.array([0.4, 1.1, 1.9])
    tn.check_grads(lambda x, y, t: ours.PchipInterpolator(x, y)(t), given, order=2)


def test_values_and_slopes_are_scipys():
    x, y, slopes = knots(5), values(5, (2,)), values(5, (2,))
    mine, other = (m.CubicHermiteSpline(x, y, slopes) for m in (ours, theirs))
    np.testing.assert_allclose(mine(PLACES), other(PLACES), atol=1e-11)
    tn.check_grads(lambda *xs: ours.CubicHermiteSpline(*xs)(0.4), (x, y, slopes), order=2)


@pytest.mark.parametrize("extrapolate", [True, False])
@pytest.mark.parametrize("order", range(5))
def test_a_place_that_is_nan(order, extrapolate):
    """nan, also of a constant, as a third derivative is"""
    at = np.array([np.nan, 1.5])
    found = ours.CubicSpline(x4, y4, extrapolate=extrapolate)(at, order)
    want = theirs.CubicSpline(x4, y4, extrapolate=extrapolate)(at, order)
    np.testing.assert_allclose(found, want, rtol=1e-12, atol=1e-12)


def test_a_polynomial_for_each_interval():
    c, x = rng.normal(size=(3, 4, 2)), knots(5)
    np.testing.assert_allclose(ours.PPoly(c, x)(PLACES), theirs.PPoly(c, x)(PLACES), atol=1e-12)


def test_kinds_and_dtypes():
    """float32 stays; NumPy for NumPy, an Array for an Array; a nan stays nan"""
    spline = ours.CubicSpline(knots(4).astype("f"), np.ones(4, "f"))
    assert spline(np.float32(0.5)).dtype == "float32"
    assert isinstance(spline(0.5), np.ndarray | np.generic)
    assert isinstance(spline(tn.asarray(0.5)), tn.Array)
    assert np.isnan(spline(np.nan))


x4, y4 = knots(4), np.ones(4)
REFUSED = {
    "one knot": (lambda: ours.CubicSpline(x4[:1], y4[:1]), tn.ShapeMismatchError),
    "lengths": (lambda: ours.CubicSpline(x4, np.ones(3)), tn.ShapeMismatchError),
    "slopes": (lambda: ours.CubicHermiteSpline(x4, y4, np.ones(3)), tn.ShapeMismatchError),
    "a condition": (lambda: ours.CubicSpline(x4, y4, bc_type="free"), tn.InvalidParameterError),
    "half a period": (
        lambda: ours.CubicSpline(x4, y4, bc_type=("periodic", "natural")), tn.InvalidParameterError,
    ),
    "knots that repeat": (
        lambda: ours.CubicSpline([0.0, 1.0, 1.0, 2.0], y4), tn.InvalidParameterError,
    ),
    "knots that decrease": (
        lambda: ours.PchipInterpolator(np.array([0.0, 2.0, 1.0, 3.0]), y4),
        tn.InvalidParameterError,
    ),
    "knots of single precision": (
        lambda: ours.CubicSpline([np.float32(t) for t in (0, 2, 1, 3)], y4),
        tn.InvalidParameterError,
    ),
    "knots that are Arrays": (
        lambda: ours.CubicSpline(tn.asarray(x4[::-1].copy()), y4), tn.InvalidParameterError,
    ),
    "knots that are differentiated": (
        lambda: tn.grad(lambda x: ours.CubicSpline(x, y4)(0.5))(x4[::-1].copy()),
        tn.InvalidParameterError,
    ),
    "knots of polynomials that decrease": (
        lambda: ours.PPoly(np.ones((2, 3)), x4[::-1].copy()), tn.InvalidParameterError,
    ),
    "a knot of polynomials that is nan": (
        lambda: ours.PPoly(np.ones((2, 3)), x4 * np.array([1, 1, np.nan, 1])),
        tn.InvalidParameterError,
    ),
    "no interval": (lambda: ours.PPoly(np.ones((2, 0)), x4[:1]), tn.ShapeMismatchError),
    "complex knots of polynomials": (
        lambda: ours.PPoly(np.ones((2, 3)), x4 + 1j), tn.DTypeMismatchError,
    ),
    "outside": (lambda: ours.CubicSpline(x4, y4, extrapolate="on"), tn.InvalidParameterError),
    "complex knots": (lambda: ours.CubicSpline(x4 + 1j, y4), tn.DTypeMismatchError),
    "complex, in order": (lambda: ours.PchipInterpolator(x4, y4 + 1j), tn.DTypeMismatchError),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused(case):
    call, error = REFUSED[case]
    with pytest.raises(error):
        call()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "bool", "int64"])
@pytest.mark.parametrize("name", ["CubicSpline", "PchipInterpolator"])
def test_integers_and_truth_are_numbers_of_double_precision(name, dtype):
    """as knots, as values and as places"""
    x, y = np.arange(5, dtype="int8"), np.array([0, 1, 1, 0, 1]).astype(dtype)
    places = np.arange(3, dtype="int8")
    mine, other = (getattr(m, name)(x, y) for m in (ours, theirs))
    for at in (places, places + 0.3):
        np.testing.assert_allclose(mine(at), other(at), atol=1e-14, strict=True)
