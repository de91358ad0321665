"""tn.ndimage: SciPy's values in every mode, exact coefficients, derivatives."""

from functools import partial

import numpy as np
import pytest
from scipy import ndimage as theirs

import tenferro as tn

ours = tn.ndimage
MODES = [
    "reflect", "grid-mirror", "mirror", "nearest", "constant", "grid-constant", "wrap", "grid-wrap",
]  # fmt: skip
SHAPES = [(7,), (25, 30), (1, 4), (3, 4, 5)]
rng = np.random.default_rng(0)


def places(shape):
    """Inside, outside, at elements, and half-way between them."""
    free = rng.uniform(-14, 18, size=(len(shape), 60))
    return np.concatenate([free, np.round(free), np.round(free) + 0.5], axis=1)


@pytest.mark.parametrize("order", [0, 1, 3])
@pytest.mark.parametrize("mode", MODES)
def test_values_are_scipys(mode, order):
    """SciPy's coefficients for reflecting edges are exact along long axes alone"""
    for shape in SHAPES:
        if order == 3 and mode in ("reflect", "grid-mirror") and min(shape) < 20:
            continue
        x, at = rng.normal(size=shape), places(shape)
        given = {"order": order, "mode": mode, "cval": 0.7}
        want = theirs.map_coordinates(x, at, **given)
        np.testing.assert_allclose(ours.map_coordinates(x, at, **given), want, atol=1e-9)
        if mode == "nearest":  # neighbours of a place outside are those of the edge
            want = theirs.map_coordinates(x, at, prefilter=False, **given)
            found = ours.map_coordinates(x, at, prefilter=False, **given)
            np.testing.assert_allclose(found, want, atol=1e-12)


@pytest.mark.parametrize("dtype", ["i1", "u1", "f2", "f4"])
def test_narrow_coordinates_lose_no_digits(dtype):
    """The weights have the precision of the elements: 1e-14 is 45 roundings of a number near 1."""
    x, at = rng.normal(size=20), np.array([[3, 0, 11]], dtype)
    want = theirs.map_coordinates(x, at.astype(float))
    np.testing.assert_allclose(ours.map_coordinates(x, at), want, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("n", [2, 3, 8])
@pytest.mark.parametrize(
    "mode, edge", [("reflect", "symmetric"), ("mirror", "reflect"), ("grid-wrap", "wrap")]
)
def test_coefficients_solve_the_interpolation_equations(mode, edge, n):
    """(c[i - 1] + 4 c[i] + c[i + 1]) / 6 = x[i]"""
    x = rng.normal(size=n)
    c = np.pad(ours.spline_filter(x, mode=mode), 1, mode=edge)
    np.testing.assert_allclose((c[:-2] + 4 * c[1:-1] + c[2:]) / 6, x, atol=1e-13)


@pytest.mark.parametrize("order", [1, 3])
@pytest.mark.parametrize("mode", ["mirror", "constant", "nearest", "grid-wrap"])
def test_derivatives_by_elements_and_places(mode, order):
    """twice, against differences"""
    x, at = rng.normal(size=(4, 3)), rng.uniform(0.1, 1.9, size=(2, 3))
    f = partial(ours.map_coordinates, order=order, mode=mode)
    tn.check_grads(f, (x, at), order=2)


@pytest.mark.parametrize("order", [1, 3])
def test_the_slope_of_a_ramp(order):
    """of an image that is linear in its rows and columns, in the middle"""
    ramp = 2 * np.arange(30.0)[:, None] - np.arange(40.0)

    def f(at):
        return ours.map_coordinates(ramp, at, order=order)[0]

    found = tn.grad(f)(np.array([[15.3], [19.6]]))
    np.testing.assert_allclose(found, [[2.0], [-1.0]], atol=1e-6)
    np.testing.assert_allclose(tn.hessian(f)(np.array([[15.3], [19.6]])), 0, atol=1e-6)


def test_the_nearest_element_does_not_depend_on_the_place():

    def f(at):
        return np.sum(ours.map_coordinates(np.arange(5.0), at, order=0))

    np.testing.assert_array_equal(tn.grad(f)(np.array([[0.7, 2.2]])), 0)


def test_jit_and_vmap():
    """over images, at the same places"""
    images, at = rng.normal(size=(2, 5, 6)), rng.uniform(0, 4, size=(2, 7))
    found = tn.jit(tn.vmap(lambda x: ours.map_coordinates(x, at)))(images)
    np.testing.assert_allclose(found, [theirs.map_coordinates(x, at) for x in images], atol=1e-10)


@pytest.mark.parametrize("dtype", ["float32", "complex64", "complex128"])
def test_a_dtype_stays(dtype):
    x, at = rng.normal(size=(5, 6)).astype(dtype), rng.uniform(0, 4, size=(2, 7))
    found = ours.map_coordinates(x, at, mode="mirror")
    assert found.dtype == dtype
    np.testing.assert_allclose(found, theirs.map_coordinates(x, at, mode="mirror"), atol=2e-5)


def test_coefficients_that_are_given():
    x, at = rng.normal(size=(25, 6)), rng.uniform(0, 4, size=(2, 7))
    c = ours.spline_filter(x, mode="mirror")
    np.testing.assert_allclose(c, theirs.spline_filter(x, mode="mirror"), atol=1e-10)
    found = ours.map_coordinates(c, at, mode="mirror", prefilter=False)
    np.testing.assert_allclose(found, theirs.map_coordinates(x, at, mode="mirror"), atol=1e-10)


def test_no_places():
    """No places give an empty array of their shape"""
    assert ours.map_coordinates(np.ones((2, 3)), np.ones((2, 0, 4))).shape == (0, 4)


image, at = np.ones((2, 3)), np.ones((2, 4))
REFUSED = {
    "rows": (lambda: ours.map_coordinates(image, at[:1]), tn.ShapeMismatchError),
    "nothing": (lambda: ours.map_coordinates(np.ones((0, 3)), at), tn.ShapeMismatchError),
    "integers": (lambda: ours.map_coordinates(image.astype(int), at), tn.DTypeMismatchError),
    "an order": (lambda: ours.map_coordinates(image, at, order=2), tn.InvalidParameterError),
    "a mode": (lambda: ours.map_coordinates(image, at, mode="on"), tn.InvalidParameterError),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused(case):
    call, error = REFUSED[case]
    with pytest.raises(error):
        call()
