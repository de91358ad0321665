"""tn.signal: SciPy's values, derivatives, what is refused."""

import numpy as np
import pytest
from scipy import signal as theirs

import tenferro as tn

ours = tn.signal
CONVOLUTIONS = ["convolve", "correlate", "fftconvolve"]
SHAPES = [
    ((5,), (3,)), ((3,), (5,)), ((4, 5), (2, 3)), ((2, 3), (4, 5)), ((4, 3), (3, 4)),
    ((3, 4, 5), (2, 2, 2)), ((70, 70), (9, 8)),
]  # fmt: skip
FILTERS = [
    ([1.0, 0.5], [1.0, -0.5, 0.25]), ([2.0, 1.0, 3.0], [2.0]), ([0.5], [2.0, 1.0, 0.5]),
    ([2.0], [4.0]),
]  # fmt: skip


def numbers(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    x = np.round(8 * rng.normal(size=shape)) / 4
    if np.dtype(dtype).kind == "c":
        return (x + 1j * np.round(8 * rng.normal(size=shape)) / 4).astype(dtype)
    return (4 * x if np.dtype(dtype).kind == "i" else x).astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "complex128", "float32", "int64"])
@pytest.mark.parametrize("function", CONVOLUTIONS)
def test_convolutions_are_scipys(function, dtype):
    """every shape in every mode; where SciPy finds that no operand holds the other, so do we"""
    for first, second in SHAPES:
        a, b = numbers(first, dtype), numbers(second, dtype, seed=1)
        for mode in ("full", "same", "valid"):
            try:
                want = getattr(theirs, function)(a, b, mode)
            except ValueError:
                with pytest.raises(tn.ShapeMismatchError, match="holds"):
                    getattr(ours, function)(a, b, mode)
                continue
            got = getattr(ours, function)(a, b, mode)
            assert got.dtype == want.dtype
            close = {"rtol": 1e-5, "atol": 1e-4} if dtype == "float32" else {"atol": 1e-10}
            np.testing.assert_allclose(got, want, **close)


@pytest.mark.parametrize("method", ["direct", "fft"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "int64"])
def test_exact_dtypes_are_scipys(dtype, method):
    """Integers stay integers; of truth it is whether any product is true (SciPy rounds there)"""
    a, b = (np.array(x).astype(dtype) for x in ([[1, 0, 2], [3, 0, 1]], [[0, 1], [2, 1]]))
    for name in ("convolve", "correlate"):
        want = getattr(theirs, name)(a.astype(int), b.astype(int)).astype(dtype)
        np.testing.assert_array_equal(getattr(ours, name)(a, b, method=method), want, strict=True)
    assert ours.fftconvolve(a, b).dtype == "float64"


@pytest.mark.parametrize("function", CONVOLUTIONS)
def test_derivatives_of_convolutions(function):
    """by both operands, twice, and in vmap and jit"""
    f = getattr(ours, function)
    a, b = numbers((4, 5), "float64"), numbers((2, 3), "float64", seed=1)
    tn.check_grads(lambda a, b: f(a, b, "same"), (a, b), order=2)
    rows = np.stack([a, 2 * a])
    found = tn.jit(tn.vmap(f, in_axes=(0, None)))(rows, b)
    np.testing.assert_allclose(found, np.stack([f(a, b), f(2 * a, b)]), atol=1e-12)


def test_a_nan_stays_in_its_windows():
    """a sum over windows; SciPy's direct method"""
    a = np.array([1.0, np.nan, 3.0, 4.0, 5.0])
    want = theirs.convolve(a, [1.0, 2.0], method="direct")
    np.testing.assert_array_equal(ours.convolve(a, np.array([1.0, 2.0])), want)


def test_axes_and_other_axes_of_a_transform():
    """along some axes, the others broadcast"""
    a, b = numbers((3, 6, 4), "float64"), numbers((1, 3, 4), "float64", seed=1)
    got = ours.fftconvolve(a, b, "same", axes=1)
    np.testing.assert_allclose(got, theirs.fftconvolve(a, b, "same", axes=1), atol=1e-12)


@pytest.mark.parametrize("b, a", FILTERS)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_a_filter_is_scipys(b, a, axis):
    """with a first state and without, along every axis"""
    x = numbers((3, 7, 2), "float64")
    np.testing.assert_allclose(ours.lfilter(b, a, x, axis), theirs.lfilter(b, a, x, axis))
    shape = list(x.shape)
    shape[axis] = max(len(a), len(b)) - 1
    state = numbers(shape, "float64", seed=1)
    got, want = ours.lfilter(b, a, x, axis, state), theirs.lfilter(b, a, x, axis, state)
    for mine, other in zip(got, want, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-14)


def test_derivatives_of_a_filter():
    """by coefficients, signal and first state, twice; in jit and vmap"""
    b, a = map(np.array, FILTERS[0])
    x, state = numbers((2, 6), "float64"), numbers((2, 2), "float64", seed=1)
    tn.check_grads(
        lambda *given: ours.lfilter(*given[:3], zi=given[3])[0], (b, a, x, state), order=2
    )
    found = tn.jit(tn.vmap(lambda x: ours.lfilter(b, a, x)))(x)
    np.testing.assert_allclose(found, theirs.lfilter(b, a, x), atol=1e-13)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_single_precision_stays_in_a_filter(dtype):
    got = ours.lfilter(np.ones(1, dtype), np.array([1, -0.5], dtype), np.ones(3, dtype))
    assert got.dtype == dtype


REFUSED = {
    "a rank": lambda: ours.convolve(np.ones(3), np.ones((2, 2))),
    "nothing": lambda: ours.convolve(np.ones(0), np.ones(2)),
    "other axes": lambda: ours.fftconvolve(np.ones((2, 3)), np.ones((3, 2)), axes=1),
    "coefficients": lambda: ours.lfilter(1.0, [1.0], np.ones(3)),
    "a state": lambda: ours.lfilter([1.0, 1.0], [1.0], np.ones(3), zi=np.ones(2)),
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_operands_that_do_not_fit_are_refused(call):
    with pytest.raises(tn.ShapeMismatchError):
        call()


@pytest.mark.parametrize("option", [{"mode": "whole"}, {"method": "slow"}])
def test_unknown_options_are_refused(option):
    with pytest.raises(tn.InvalidParameterError, match="there is no such"):
        ours.convolve(np.ones(3), np.ones(2), **option)


def test_a_filter_that_divides_by_zero_is_refused():
    with pytest.raises(tn.InvalidParameterError, match=r"a\[0\] = 0"):
        tn.signal.lfilter([1.0], [0.0, 1.0], np.ones(4))
