"""Filters of short signals: products with matrices where several have their factors in common."""

import numpy as np
import pytest

import tenferro as tn
import tenferro.primitives as tp

RNG = np.random.default_rng(4)
NORMS = [(a, b) for a in ("backward", "ortho", "forward") for b in ("backward", "ortho", "forward")]


def signal(n):
    return RNG.normal(size=n)


def factors(n):
    """Complex factors, also of the columns whose coefficients are real."""
    return RNG.normal(size=n // 2 + 1) + 1j * RNG.normal(size=n // 2 + 1)


def text_of(function, *inputs):
    """The lines of a program."""
    text = tn.jit(function, backend="numpy").explain(*inputs)
    return text[text.index("def make") :]


def filtered(x, c, norms=("backward", "backward")):
    forward, back = norms
    return np.fft.irfft(c * np.fft.rfft(x, norm=forward), len(x), norm=back)


def repeated(count, norms=("backward", "backward")):
    """A signal that goes through one filter several times, and is normalized between."""

    def function(x, c):
        for _ in range(count):
            y = filtered(x, c, norms)
            x = y / np.sqrt(np.sum(y * y))
        return x, y

    return function


@pytest.mark.parametrize("n", [2, 3, 8, 49, 64])
@pytest.mark.parametrize("norms", NORMS)
def test_a_product_gives_what_two_transforms_give(n, norms):
    x, c, function = signal(n), factors(n), repeated(4, norms)
    _, found = tn.jit(function, backend="numpy")(x, c)
    _, wanted = function(x, c)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-13 * np.abs(wanted).max())
    assert "fft(" not in text_of(function, x, c)


@pytest.mark.parametrize("into", [False, True])
@pytest.mark.parametrize("back", [False, True])
def test_columns_that_count_twice_do_so_in_each_transform(into, back):
    """Derivatives of transforms count them in the other one; both or none are transformed."""
    n = 16
    x, c, weights = signal(n), factors(n), np.append([1.0, *[2.0] * (n // 2 - 1)], 1.0)

    def function(x, c):
        for _ in range(4):
            y = tp.irfft(c * tp.rfft(x, (0,), twice=into), (0,), n, norm="mean", twice=back)
            x = y / np.sqrt(np.sum(y * y))
        return y

    wanted = x
    for _ in range(4):
        y = np.fft.irfft(c * np.fft.rfft(wanted) * weights ** (into + back - 1), n)
        wanted = y / np.sqrt(np.sum(y * y))
    np.testing.assert_allclose(tn.jit(function, backend="numpy")(x, c), y, rtol=0, atol=1e-13)
    assert ("length=" in text_of(function, x, c)) is (into is not back)


def sums(x, c, d):
    """Signals whose filtered spectra are added before they are transformed back."""
    n = len(x)
    for _ in range(4):
        s, t = np.fft.rfft(x), np.fft.rfft(x * x)
        two = np.fft.irfft(c * s + t * d, n)
        three = np.fft.irfft((d * s + c * t) + c * np.fft.rfft(np.sin(two)), n)
        x = three / np.sqrt(np.sum(three * three))
    return x


def test_sums_of_filters_are_sums_of_products():
    x, c, d = signal(32), factors(32), factors(32)
    found = tn.jit(sums, backend="numpy")(x, c, d)
    np.testing.assert_allclose(found, sums(x, c, d), rtol=0, atol=1e-12)
    assert "fft(" not in text_of(sums, x, c, d)


def test_a_spectrum_that_something_else_reads_is_there():
    def function(x, c):
        spectra = []
        for _ in range(5):
            spectra.append(np.fft.rfft(np.sin(x)))
            x = np.fft.irfft(c * spectra[-1], 16)
        return x, spectra[1], c * spectra[2]

    x, c = signal(16), factors(16)
    for found, wanted in zip(tn.jit(function, backend="numpy")(x, c), function(x, c), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "x, c, count",
    [
        (signal(64), factors(64), 3),
        (signal(65), factors(65), 4),
        (signal(16).astype("float32"), factors(16).astype("complex64"), 4),
    ],
    ids=["three uses", "long", "float32"],
)
def test_other_filters_keep_their_transforms(x, c, count):
    function = repeated(count)
    assert "length=" not in text_of(function, x, c)
    tolerance = 1e-5 if x.dtype == "float32" else 1e-13
    found, _ = tn.jit(function, backend="numpy")(x, c)
    np.testing.assert_allclose(found, function(x, c)[0], rtol=0, atol=tolerance)


def test_derivatives_of_a_wave_and_their_gradient():
    """The transpose of D is -D: that of D + D² + D³ + D⁴ times w is -Dw + D²w - D³w + D⁴w."""
    n = 32
    x = 2 * np.pi * np.arange(n) / n
    c = 1j * np.append(np.arange(n // 2), 0.0)
    wave = np.sin(2 * x)

    def loss(u, c):
        total = 0.0
        for _ in range(4):
            u = filtered(u, c)
            total = total + tn.sum(wave * u)
        return total

    gradient = tn.jit(tn.grad(loss), backend="numpy")(np.zeros(n), c)
    assert "fft(" not in text_of(tn.grad(loss), np.zeros(n), c)
    wanted = 6 * np.cos(2 * x) + 12 * np.sin(2 * x)
    np.testing.assert_allclose(gradient, wanted, rtol=0, atol=1e-10)


def test_a_loop_makes_the_matrix_before_its_first_step():
    def function(x, c):
        return tn.scan(lambda x, _: (repeated(1)(x, c)[0], None), x, None, 70)[0]

    x, c = signal(16), factors(16)
    found = tn.jit(function, backend="numpy")(x, c)
    np.testing.assert_allclose(found, repeated(70)(x, c)[0], rtol=0, atol=1e-12)
    lines = text_of(function, x, c)
    before, inside = lines[lines.index("def loop") :].split("for ", 1)
    assert "length=" in before
    assert "fft(" not in inside
