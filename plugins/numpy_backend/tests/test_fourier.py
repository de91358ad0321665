"""Fourier transforms: instructions along one axis call the ufunc of `numpy.fft` itself."""

from functools import partial

import numpy as np
import pytest

import tenferro as tn

TRANSFORMS = {
    "fft": ("complex64", "complex128"),
    "ifft": ("complex64", "complex128"),
    "rfft": ("float32", "float64"),
    "irfft": ("complex64", "complex128"),
}


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize("shape, axis", [((8,), 0), ((3, 7), 1), ((8, 3), 0), ((4, 5, 2), 1)])
@pytest.mark.parametrize("name, dtype", [(name, d) for name, ds in TRANSFORMS.items() for d in ds])
def test_a_transform_has_the_bits_of_numpys(name, dtype, shape, axis, norm):
    rng = np.random.default_rng(0)
    x = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    x = (x if dtype.startswith("complex") else x.real).astype(dtype)
    function = partial(getattr(np.fft, name), axis=axis, norm=norm)
    found, wanted = np.asarray(tn.jit(function)(x)), function(x)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


def test_short_transforms_along_one_axis_call_a_ufunc():
    transforms = tn.jit(lambda z: np.fft.ifft(np.fft.fft(z)))
    text = str(transforms.explain(np.ones(8) + 0j))
    assert "lower(" not in text
    assert text.count("(r0, p") == 2


@pytest.mark.parametrize("shape, axis", [((8,), 0), ((2**15,), 0), ((128, 257), 1)])
def test_the_derivative_of_a_transform_leaves_its_cotangent_as_it_is(shape, axis):
    """It halves all coefficients but the first and the last: of a copy, not of the argument."""
    x = np.random.default_rng(0).normal(size=shape)
    c = np.fft.rfft(x, axis=axis)
    before = c.copy()

    def derivative(x, c):
        return *tn.vjp(partial(np.fft.rfft, axis=axis), x)[1](c), c + 1

    for way in (derivative, tn.jit(derivative)):
        _, after = way(x, c)
        np.testing.assert_array_equal(c, before)
        np.testing.assert_array_equal(np.asarray(after), before + 1)
