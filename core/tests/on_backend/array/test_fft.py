"""Laws of Fourier transforms: what comparing with NumPy does not say, and their derivatives."""

from importlib.util import find_spec

import numpy as np
import pytest
from against_numpy import agree, case, sample
from hypothesis import given, settings
from hypothesis import strategies as st

import tenferro as tn

few = settings(max_examples=15, deadline=None)
LENGTHS = st.integers(1, 9)
NORMS = st.sampled_from([None, "backward", "ortho", "forward"])
REAL, COMPLEX = "float64", "complex128"

SHAPES = st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple)


@st.composite
def grids(draw):
    """A shape, and some of its axes in any order."""
    shape = draw(SHAPES)
    axes = draw(st.permutations(range(len(shape))))
    return shape, tuple(axes[: draw(st.integers(1, len(shape)))])


def close(got, want, bound=1e-10):
    np.testing.assert_allclose(np.asarray(got), want, rtol=bound, atol=bound)


def inner(a, b):
    """⟨a, b⟩ = Re Σ conj(a) b"""
    return np.vdot(a, b).real


# ---- identities ----------------------------------------------------------------------------------


@given(grids(), NORMS)
@few
def test_the_inverse_undoes_the_transform(grid, norm):
    """ifftn(fftn(x)) = x,   irfftn(rfftn(x), s) = x"""
    shape, axes = grid
    sizes = [shape[axis] for axis in axes]
    z, x = tn.asarray(sample(COMPLEX, shape)), tn.asarray(sample(REAL, shape))
    close(np.fft.ifftn(np.fft.fftn(z, axes=axes, norm=norm), axes=axes, norm=norm), z)
    close(np.fft.irfftn(np.fft.rfftn(x, axes=axes, norm=norm), sizes, axes, norm), x)


@given(LENGTHS, NORMS)
@few
def test_hermitian_transforms_undo_each_other(n, norm):
    """hfft(ihfft(x), n) = x"""
    x = tn.asarray(sample(REAL, (n,)))
    close(np.fft.hfft(np.fft.ihfft(x, norm=norm), n, norm=norm), x)


@given(grids())
@few
def test_parseval(grid):
    """Σ |x|² = Σ |fftn(x)|² with norm="ortho" """
    shape, axes = grid
    z = sample(COMPLEX, shape)
    spectrum = np.asarray(np.fft.fftn(tn.asarray(z), axes=axes, norm="ortho"))
    close(np.sum(np.abs(spectrum) ** 2), np.sum(np.abs(z) ** 2))


@given(LENGTHS)
@few
def test_the_shift_is_undone_for_odd_lengths_too(n):
    x = tn.asarray(sample(REAL, (n, 3)))
    np.testing.assert_array_equal(np.fft.ifftshift(np.fft.fftshift(x)), x)


def circular(a, b):
    """(a * b)_i = Σ_j a_j b_{i-j}, by its definition."""
    turned = np.stack([np.roll(b, i) for i in range(len(b))], axis=1)
    return turned @ a


def by_spectra(a, b):
    """The same by the convolution theorem."""
    return np.fft.irfft(np.fft.rfft(a) * np.fft.rfft(b), len(a))


@given(st.integers(1, 8))
@few
def test_the_convolution_theorem_and_its_gradient(n):
    """fft(a * b) = fft(a) fft(b), and both sides have the same derivatives"""
    a, b, w = (sample(REAL, (n,), seed=i) for i in range(3))
    close(by_spectra(tn.asarray(a), tn.asarray(b)), circular(a, b))
    sides = [
        tn.grad(lambda a, b, f=f: np.sum(w * f(a, b) ** 2), (0, 1))(a, b)
        for f in (by_spectra, circular)
    ]
    for ours, theirs in zip(*sides, strict=True):
        close(ours, theirs)


# ---- derivatives ---------------------------------------------------------------------------------

LINE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
FROM_REAL = ("rfft", "ihfft", "rfftn", "rfft2")


@pytest.mark.parametrize("name", LINE)
@given(m=LENGTHS, n=st.none() | LENGTHS, norm=NORMS)
@few
def test_the_pullback_is_the_adjoint(name, m, n, norm):
    """⟨w, F x⟩ = ⟨Fᵀ w, x⟩, of odd and even lengths, cut or padded"""
    if name in ("irfft", "hfft") and n is None and m == 1:
        return
    x = sample(REAL if name in FROM_REAL else COMPLEX, (2, m))
    y, pull = tn.vjp(lambda x: getattr(np.fft, name)(x, n, norm=norm), x)
    w = sample(str(y.dtype), y.shape, seed=3)
    back = pull(w)[0]
    assert back.dtype == x.dtype
    assert inner(w, y) == pytest.approx(inner(back, x), abs=1e-10)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
@given(grid=grids(), norm=NORMS, extra=st.integers(1, 5))
@few
def test_the_pullback_is_the_adjoint_in_several_dimensions(name, grid, norm, extra):
    shape, axes = grid
    x = sample(REAL if name in FROM_REAL else COMPLEX, shape)
    sizes = [shape[axis] for axis in axes[:-1]] + [extra]
    y, pull = tn.vjp(lambda x: getattr(np.fft, name)(x, sizes, axes, norm), x)
    w = sample(str(y.dtype), y.shape, seed=3)
    assert inner(w, y) == pytest.approx(inner(pull(w)[0], x), abs=1e-10)


def power(name, **keywords):
    """A function whose second derivative is not constant: Σ |F x|⁴."""

    def function(x):
        spectrum = getattr(np.fft, name)(x, **keywords)
        return np.sum((spectrum * np.conj(spectrum)).real ** 2)

    return function


@pytest.mark.parametrize("n", [4, 5])
@pytest.mark.parametrize("name", LINE)
def test_second_derivatives_agree_with_differences(name, n):
    x = sample(REAL if name in FROM_REAL else COMPLEX, (2, 3))
    tn.check_grads(power(name, n=n, norm="ortho"), (x,), order=2, rtol=1e-5)


@pytest.mark.parametrize("name", ["rfft", "irfft", "fft"])
def test_derivatives_of_every_mode_are_one(name):
    """H v by forward over reverse, reverse over reverse and forward over forward"""
    x, v = sample(REAL, (5,)), sample(REAL, (5,), seed=1)
    f = power(name)
    want = tn.jvp(tn.grad(f), (x,), (v,))[1]
    close(tn.grad(lambda x: np.sum(tn.grad(f)(x) * v))(x), want)
    close(tn.hessian(f)(x) @ v, want)


def test_every_derivative_of_a_transform_is_one_transform():
    """The transpose of `rfft` is one `irfft` that counts each column once, and so on"""
    x = sample(REAL, (2, 6))
    text = str(tn.trace(lambda x, w: tn.vjp(np.fft.rfft, x)[1](w), x, np.fft.rfft(x)))
    assert text.count(" irfft") == 1
    assert "mul" not in text
    z = np.fft.rfft(x)
    text = str(
        tn.trace(lambda z, w: tn.vjp(lambda z: np.fft.irfft(z, norm="ortho"), z)[1](w), z, x)
    )
    assert text.count(" rfft") == 1
    assert "mul" not in text


GRID = ("fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2")


@pytest.mark.skipif(find_spec("jax") is None, reason="compares with jax")
@pytest.mark.parametrize("name", LINE + GRID)
@given(grid=grids(), norm=NORMS, more=st.integers(0, 2))
@settings(max_examples=4, deadline=None)
def test_gradients_are_the_conjugates_of_those_of_jax(name, grid, norm, more):
    """jax's gradient of a real function is conj of ours"""
    import jax

    shape, axes = grid if not name.endswith("2") else ((2, *grid[0]), (-1, 0))  # jax wants two
    x = sample(REAL if name in FROM_REAL else COMPLEX, shape)
    sizes = [max(shape[axis] + more - 1, 2) for axis in axes]
    where = (sizes[-1], axes[-1]) if name in LINE else (sizes, axes)

    def loss(numpy):
        def function(x):
            y = getattr(numpy.fft, name)(x, *where, norm=norm)
            weights = np.cos(np.arange(y.size)).reshape(y.shape)  # of no symmetry
            return numpy.sum(weights * numpy.abs(y + 0.5) ** 2)

        return function

    with jax.enable_x64(True):
        theirs = np.asarray(jax.jit(jax.grad(loss(jax.numpy)))(x))
    close(tn.grad(loss(np))(x), np.conj(theirs), 1e-9)


# ---- transforms of tenferro and of the dtype -----------------------------------------------------


@pytest.mark.parametrize("name", LINE)
def test_a_map_of_transforms_is_the_transform_of_each(name):
    """vmap(F)(x)_i = F(x_i), under jit too, for values and derivatives"""
    x = sample(REAL if name in FROM_REAL else COMPLEX, (3, 2, 4))
    f = getattr(np.fft, name)
    close(tn.jit(tn.vmap(f))(x), np.stack([f(one) for one in x]))
    close(tn.vmap(tn.grad(power(name)))(x), np.stack([tn.grad(power(name))(one) for one in x]))


def test_single_precision_stays_single():
    x, z = sample("float32", (6,)), sample("complex64", (4,))
    spectrum, pull = tn.vjp(np.fft.rfft, x)
    assert (spectrum.dtype, pull(spectrum)[0].dtype) == ("complex64", "float32")
    signal, pull = tn.vjp(np.fft.irfft, z)
    assert (signal.dtype, pull(signal)[0].dtype) == ("float32", "complex64")


def test_large_transforms_are_as_good_as_small_ones():
    """irfft(rfft(x)) = x for 2¹⁷ numbers, in several shapes and a length that is prime"""
    for shape in ((2**17,), (2, 256, 256), (131071,), (50, 3, 1009)):
        x = sample(REAL, shape)
        close(np.fft.irfftn(np.fft.rfftn(tn.asarray(x)), shape), x, 1e-13)


@pytest.mark.parametrize("dtype", [None, "float32"])
def test_frequencies_may_have_another_dtype(dtype):
    found = tn.fft.fftfreq(5, d=0.5, dtype=dtype)
    assert str(found.dtype) == (dtype or "float64")
    agree([case(lambda x: x, np.asarray(found))])


def test_the_spectrum_of_a_derivative():
    """d/dt = irfft(2πi f rfft(·)), exactly for a trigonometric polynomial"""
    t = 2 * np.pi * np.arange(16) / 16
    factor = 1j * 16 * tn.fft.rfftfreq(16)
    slope = np.fft.irfft(factor * np.fft.rfft(tn.asarray(np.sin(3 * t))))
    close(slope, 3 * np.cos(3 * t))


# ---- errors --------------------------------------------------------------------------------------

X = sample(REAL, (4,))


@pytest.mark.parametrize(
    "call, error, fields",
    [
        (lambda x: np.fft.fft(x, 0), tn.InvalidParameterError, {"parameter": "n", "value": 0}),
        (lambda x: np.fft.irfft(x[:1]), tn.InvalidParameterError, {"parameter": "n", "value": 0}),
        (lambda x: np.fft.fftn(x, (0,), (0,)), tn.InvalidParameterError, {"parameter": "s"}),
        (lambda x: np.fft.rfft(x, norm="l2"), tn.InvalidParameterError, {"parameter": "norm"}),
        (lambda x: np.fft.ifft(x, axis=1), tn.AxisError, {"parameter": "axis", "value": 1}),
        (lambda x: np.fft.rfft(x + 1j), tn.DTypeMismatchError, {"operation": "fft.rfft"}),
        (lambda x: np.fft.fftn(x, (2, 2), (0,)), tn.ShapeMismatchError, {"shapes": ((2, 2),)}),
        (lambda x: tn.fft.fftfreq(0), tn.InvalidParameterError, {"parameter": "n"}),
    ],
)
def test_refusals_name_the_line_of_the_user(call, error, fields):
    with pytest.raises(error) as raised:
        call(tn.asarray(X))
    assert {name: getattr(raised.value, name) for name in fields} == fields
    assert "test_fft.py" in "".join(raised.value.__notes__)


# ---- SciPy ---------------------------------------------------------------------------------------

scipy_fft = pytest.importorskip("scipy.fft")


def test_scipys_functions_come_here_where_they_are_told_so():
    with scipy_fft.set_backend(tn.fft):
        found = tn.grad(lambda x: np.sum(np.abs(scipy_fft.rfftn(x=x, workers=1)) ** 2))(X)
        assert type(scipy_fft.fft(X)) is np.ndarray  # of an ndarray SciPy's own
    close(found, tn.grad(lambda x: np.sum(np.abs(np.fft.rfft(x)) ** 2))(X))


def test_scipys_functions_refuse_arrays_elsewhere():
    with pytest.raises(tn.UnsupportedFunctionError, match=r"nearest +tenferro\.fft\.rfft2"):
        scipy_fft.rfft2(tn.asarray(X.reshape(2, 2)))
    with scipy_fft.set_backend(tn.fft), pytest.raises(tn.UnsupportedFunctionError, match="dct"):
        scipy_fft.dct(tn.asarray(X))
