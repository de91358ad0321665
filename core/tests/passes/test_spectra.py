"""``spectra``: between real numbers half a spectrum is computed, where that saves time."""

import pytest
from graphs import after, apply, value

from tenferro.passes._spectra import Spectra
from tenferro.primitives._dtype import DType
from tenferro.primitives.arithmetic import Add, Div, Mul
from tenferro.primitives.complex import Complex, Conj, Real
from tenferro.primitives.constants import Constant
from tenferro.primitives.fourier import Fft
from tenferro.primitives.structural import Convert

C128, F64 = DType.of("c128"), DType.of("f64")
RFFT = "rfft[axes=(0,), norm='sum', twice=False]"
x, y = value("x", shape=(4,)), value("y", shape=(4,))
c = value("c", "c128", (4,))


def spectrum(signal):
    return apply(Fft((0,)), apply(Convert(C128), signal))


def signal(spectrum):
    return apply(Real(), apply(Fft((0,), True, "mean"), spectrum))


def names(*outputs):
    text = after(["spectra"], *outputs).split("; ")
    return [line.split(" = ")[1].split("[")[0].split(" ")[0] for line in text[:-1]]


@pytest.fixture
def free(monkeypatch):
    """Halves cost nothing, so that small examples are rewritten."""
    for name in "cost", "cost_beside":
        monkeypatch.setattr(Spectra, name, lambda self, what: 0.0)


def test_a_convolution_runs_over_half_spectra():
    assert after(["spectra"], signal(apply(Mul(), spectrum(x), spectrum(y)))) == (
        f"%2 = {RFFT} %0; %3 = {RFFT} %1; %4 = mul %2 %3; "
        "%5 = irfft[axes=(0,), length=4, norm='mean', twice=True] %4; return %5"
    )


def test_a_real_part_with_an_imaginary_part_of_zeros_is_a_real_signal():
    zero = apply(Constant(0.0, F64, (4,)))
    embedded = apply(Fft((0,)), apply(Complex(), x, zero))
    assert names(signal(embedded)) == ["rfft", "irfft"]


def test_the_conjugate_of_a_transform_is_that_of_the_half():
    assert names(signal(apply(Conj(), spectrum(x)))) == ["rfft", "conj", "irfft"]
    backward = apply(Fft((0,), True, "sum"), apply(Convert(C128), x))
    forward = apply(Real(), apply(Fft((0,)), apply(Mul(), backward, backward)))
    assert names(forward) == ["rfft", "mul", "irfft"]


@pytest.mark.parametrize(
    "product", [apply(Mul(), c, spectrum(x)), apply(Mul(), spectrum(x), c)], ids=["left", "right"]
)
def test_of_a_factor_the_hermitian_part_is_read(free, product):
    found = names(signal(product))
    assert [name for name in found if name.endswith("fft")] == ["rfft", "irfft"]
    assert "reverse" in found


def test_a_factor_that_costs_more_than_halves_save_stays():
    assert "rfft" not in names(signal(apply(Mul(), c, spectrum(x))))


def test_a_shared_factor_is_worth_its_cost():
    """Its Hermitian part is computed once."""
    signals = [signal(apply(Mul(), c, spectrum(value(f"x{k}", shape=(4,))))) for k in range(20)]
    found = names(*signals)
    assert found.count("rfft") == found.count("irfft") == 20
    assert found.count("concatenate") == 1


def test_a_spectrum_that_is_read_is_computed_whole():
    whole = spectrum(x)
    assert names(signal(apply(Mul(), whole, spectrum(y))), whole) == [
        "convert", "fft", "slice", "rfft", "mul", "irfft",
    ]  # fmt: skip


def test_complex_numbers_that_are_read_stay(free):
    backward = apply(Fft((0,), True, "mean"), apply(Mul(), c, spectrum(x)))
    assert "irfft" not in names(apply(Real(), backward), backward)


@pytest.mark.parametrize(
    "other",
    [
        apply(Mul(), spectrum(x), apply(Fft((0,)), c)),
        apply(Mul(), apply(Add(), spectrum(x), c), c),
        apply(Div(), c, spectrum(x)),
    ],
    ids=["complex signal", "factor of a sum", "quotient"],
)
def test_the_other_factor_may_be_anything(free, other):
    """What no half follows from is a factor, or a summand, as it is."""
    assert "irfft" in names(signal(other))


def test_numbers_with_an_imaginary_part_are_no_real_signal():
    assert "rfft" not in names(signal(apply(Fft((0,)), apply(Complex(), x, y))))


def test_of_a_constant_the_real_part_is_read():
    """i·z of a Hermitian z has no Hermitian part."""
    assert "constant[value=0j" in after(["spectra"], signal(times(1j, spectrum(x))))
    assert "constant[value=(2+0j)" in after(["spectra"], signal(times(2 + 1j, spectrum(x))))


def test_a_constant_that_is_not_real_is_a_factor_with_others(free):
    product = apply(Mul(), times(1j, spectrum(x)), c)
    assert "constant[value=1j" in after(["spectra"], signal(product))


def times(number, spectrum):
    return apply(Mul(), apply(Constant(number, C128, (4,))), spectrum)
