"""Programs between real numbers by way of a spectrum, by half spectra and by whole ones."""

import numpy as np
import pytest

import tenferro as tn
from tenferro.passes._spectra import Spectra

fft, ifft, fft2, ifft2, real = np.fft.fft, np.fft.ifft, np.fft.fft2, np.fft.ifft2, np.real

LINES = {
    "filter": lambda x, c: real(ifft(c * fft(x))),
    "real filter": lambda x, c: real(ifft(real(c) * fft(x))),
    "two filters": lambda x, c: real(ifft(c * fft(x))) * real(ifft(np.conj(c) * 2 * fft(x * x))),
    "sum": lambda x, c: real(ifft(c * fft(x) - fft(x * x) * np.conj(c) + 0.5 * fft(np.sin(x)))),
    "correlation": lambda x, c: real(ifft(fft(x) * np.conj(fft(np.sin(x))))) + np.imag(c),
    "masks": lambda x, c: real(ifft(fft(x) * real(c) * np.imag(c) * c)),
    "quotient": lambda x, c: real(ifft(fft(x) / (1 + np.abs(c)))),
    "complex quotient": lambda x, c: real(ifft(-fft(x) / (c + 4) * 3)),
    "deconvolution": lambda x, c: real(ifft(fft(x) * c / (fft(np.sin(x)) + 9))),
    "forward": lambda x, c: real(fft(c * ifft(x))),
    "read whole": lambda x, c: real(ifft(c * fft(x))) + np.abs(fft(x)),
    "ortho": lambda x, c: real(ifft(c[0] * c * fft(x, norm="ortho"), norm="ortho")),
    "repeated": lambda x, c: real(ifft(c * np.broadcast_to(fft(x[:1]), x.shape))),
    "complex signal": lambda x, c: real(ifft(c * x)),
}
PLANES = {
    "plane": lambda x, c: real(ifft2(c * fft2(x))),
    "columns": lambda x, c: real(ifft(c * fft(x, axis=0), axis=0)),
    "rows": lambda x, c: real(ifft(c[0] * fft(x))),
    "outer product": lambda x, c: real(ifft2(c[0] * fft2(x) * real(c[:, :1]))),
    "bank": lambda x, c: np.sum(real(ifft(c[:, None] * fft(x)[None])), axis=0),
    "other order": lambda x, c: real(np.fft.ifftn(c * np.fft.fftn(x, axes=(1, 0)), axes=(0, 1))),
    "other axes": lambda x, c: real(ifft2(c * fft(x))),
}
CASES = [
    *[pytest.param(f, (n,), id=f"{name}, {n}") for name, f in LINES.items() for n in (1, 2, 5, 8)],
    *[pytest.param(f, s, id=f"{name} {s}") for name, f in PLANES.items() for s in [(1, 2), (4, 3)]],
]  # fmt: skip


@pytest.fixture(autouse=True)
def free(monkeypatch):
    """Factors cost nothing, so that small examples are rewritten."""
    monkeypatch.setattr(Spectra, "cost", lambda self, factor: 0.0)


def ways(function):
    """The function by half spectra, and by whole ones."""
    return [tn.jit(function, options={"passes": {"spectra": on}}) for on in (True, False)]


def arguments(shape):
    rng = np.random.default_rng(0)
    return rng.normal(size=shape), rng.normal(size=shape) + 1j * rng.normal(size=shape)


@pytest.mark.parametrize("function, shape", CASES)
def test_values_and_derivatives_are_those_of_whole_spectra(function, shape):
    x, c = arguments(shape)

    def derivatives(x, c):
        loss = lambda x, c: np.sum(function(x, c) ** 3)  # noqa: E731
        return *tn.grad(loss, (0, 1))(x, c), tn.hvp(lambda x: loss(x, c))(x, np.cos(x))

    half, _ = ways(function)
    np.testing.assert_allclose(half(x, c), function(x, c), rtol=1e-12, atol=1e-12)
    for found, wanted in zip(*[way(x, c) for way in ways(derivatives)], strict=True):
        scale = np.max(np.abs(wanted))
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12 * scale)


@pytest.mark.parametrize("function", LINES.values(), ids=LINES)
def test_single_precision_stays(function):
    x, c = arguments((6,))
    x, c = x.astype("float32"), c.astype("complex64")
    found, wanted = [way(x, c) for way in ways(lambda x, c: function(x, c))]
    assert np.asarray(found).dtype == wanted.dtype == "float32"
    np.testing.assert_allclose(found, function(x, c), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_a_number_without_a_value_stays_in_its_row(number):
    x, c = arguments((3, 8))
    x[1, 2] = number
    half, whole = [way(x, c[0]) for way in ways(lambda x, c: real(ifft(c * fft(x))))]
    np.testing.assert_array_equal(np.isfinite(half), np.isfinite(whole))
    assert not np.isfinite(half)[1].any()


@pytest.mark.parametrize("number", [complex(np.nan, 1), complex(1, np.nan), complex(0, np.inf)])
@pytest.mark.parametrize("column", [0, 3, 4, 7])
def test_a_factor_without_a_value_leaves_no_number(number, column):
    """The imaginary parts of the columns 0 and n/2, that no real signal has, are read, too"""
    x, c = arguments((8,))
    c[column] = number
    for way in ways(lambda x, c: real(ifft(c * fft(x)))):
        assert not np.isfinite(way(x, c)).any()


def test_no_rows_are_no_rows():
    x, c = arguments((0, 8))
    assert ways(lambda x, c: real(ifft(c * fft(x))))[0](x, c).shape == (0, 8)


def test_integers_are_real_signals():
    x, (_, c) = np.arange(8), arguments((8,))
    found = ways(lambda x, c: real(ifft(c * fft(x))))[0](x, c)
    np.testing.assert_allclose(found, real(ifft(c * fft(x))), rtol=1e-12)


def test_steps_of_a_loop_compute_half_spectra():
    """The Hermitian part of a factor is that of each step"""
    _, c = arguments((8,))

    def steps(x):
        step = lambda x, _: (x + 0.1 * real(ifft(c * fft(x))), None)  # noqa: E731
        return np.sum(tn.scan(step, x, None, length=5)[0] ** 2)

    found, wanted = [way(np.cos(np.arange(8))) for way in ways(tn.grad(steps))]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
