"""The error function in the complex plane: Faddeeva function w, erf, erfc and Dawson's integral.

All have a decomposition that serves every backend. The error of a value is relative to its absolute
value, not to each part, and near a zero relative to the largest term. Derivatives exist to every
order. In those of w and of Dawson's integral two terms nearly cancel where |z| is large: beyond 7
the asymptotic series replaces them, below the error of the n-th is about |z|²ⁿ times as large.
Read next: ``normal.py``.
"""

from __future__ import annotations

from math import pi, sqrt

from tenferro.primitives import _faddeeva_formulas as formulas
from tenferro.primitives._dtype import float32
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Elementwise, bind
from tenferro.primitives.arithmetic import abs as absolute
from tenferro.primitives.comparison import ge, gt, le, logical_and, logical_or, select
from tenferro.primitives.complex import imag, real
from tenferro.primitives.constants import full_like, zeros_like
from tenferro.primitives.elementwise import exp
from tenferro.primitives.structural import convert

__all__ = [
    "ComplexErf", "ComplexErfc", "Dawsn", "Wofz", "complex_erf", "complex_erfc", "dawsn", "wofz",
]  # fmt: skip

_MIN_SIZE_OF_SERIES = 7.0  # beyond it thirty terms of the asymptotic series are enough


class Wofz(Elementwise):
    """y = w(z) = exp(-z²) erfc(-iz),   dy = (2i/√π - 2 z y) dz;   complex only"""

    key = "std::wofz"
    accepts = "complex"

    def derivative(self, z: Handle, y: Handle) -> Handle:
        is_far = _is_far(z, above_too=True)
        far = formulas.slope_far(select(is_far, z, full_like(z, _MIN_SIZE_OF_SERIES)))
        factor = 1j / sqrt(pi)
        return select(is_far, far * -factor, 2 * factor - 2 * z * y)

    def decompose(self, z: Handle) -> Handle:
        return formulas.whole(formulas.wofz(formulas.parts(z)))


class ComplexErf(Elementwise):
    """y = erf z,   dy = 2/√π exp(-z²) dz;   complex only"""

    key = "std::complex_erf"
    accepts = "complex"

    def derivative(self, z: Handle, y: Handle) -> Handle:
        return exp(-(z * z)) * (2 / sqrt(pi))

    def decompose(self, z: Handle) -> Handle:
        return formulas.whole(formulas.erf(formulas.parts(z)))


class ComplexErfc(Elementwise):
    """y = 1 - erf z,   dy = -2/√π exp(-z²) dz;   complex only"""

    key = "std::complex_erfc"
    accepts = "complex"

    def derivative(self, z: Handle, y: Handle) -> Handle:
        return exp(-(z * z)) * (-2 / sqrt(pi))

    def decompose(self, z: Handle) -> Handle:
        return formulas.whole(formulas.erfc(formulas.parts(z)))


class Dawsn(Elementwise):
    """y = exp(-x²) ∫₀ˣ exp(t²) dt,   dy = (1 - 2 x y) dx"""

    key = "std::dawsn"
    accepts = "inexact"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        is_far = _is_far(x, above_too=False)
        far = formulas.slope_far(select(is_far, x, full_like(x, _MIN_SIZE_OF_SERIES)))
        return select(is_far, far * -0.5, 1 - 2 * x * y)

    def decompose(self, x: Handle) -> Handle:
        if x.dtype.is_complex:
            return formulas.whole(formulas.dawson(formulas.parts(x)))
        if x.dtype.bits > 16:
            return formulas.dawson_of_real(x)
        return convert(formulas.dawson_of_real(convert(x, float32)), x.dtype)


def _is_far(z: Handle, above_too: bool) -> Handle:
    """Return True where the asymptotic series of w serves: |z| is large and exp(-z²) is nothing.

    ``above_too`` adds the upper half plane, where w has no such term.
    """
    if not z.dtype.is_complex:
        return ge(absolute(z), full_like(z, _MIN_SIZE_OF_SERIES))
    x, y = absolute(real(z)), imag(z)
    is_flat = le(absolute(y), 0.5 * x)
    if above_too:
        is_flat = logical_or(is_flat, ge(y, zeros_like(y)))
    return logical_and(is_flat, gt(absolute(z), full_like(x, _MIN_SIZE_OF_SERIES)))


def wofz(z: H) -> H:
    """Take the Faddeeva function.

    z: c[*s]   →   y: c[*s]

    Definition   y = w(z) = exp(-z²) erfc(-iz)
    JVP          dy = (2i/√π - 2 z y)·dz
    Raises       DTypeMismatchError: if the operand is not complex.
    Source       NIST Digital Library of Mathematical Functions (DLMF), 7.2.3 and 7.10.2

    >>> from tenferro.primitives import variable, wofz
    >>> wofz(variable("z", (2,), "c128")).aval
    c128[2]
    """
    return bind(Wofz(), z)


def complex_erf(z: H) -> H:
    """Take the error function of a complex number.

    z: c[*s]   →   y: c[*s]

    Definition   y = 2/√π ∫₀ᶻ exp(-t²) dt
    JVP          dy = 2/√π exp(-z²)·dz
    Raises       DTypeMismatchError: if the operand is not complex.
    Source       DLMF 7.2.1

    >>> from tenferro.primitives import complex_erf, variable
    >>> complex_erf(variable("z", (2,), "c128")).aval
    c128[2]
    """
    return bind(ComplexErf(), z)


def complex_erfc(z: H) -> H:
    """Take the complementary error function of a complex number, with all digits where it is small.

    z: c[*s]   →   y: c[*s]

    Definition   y = 1 - erf z
    JVP          dy = -2/√π exp(-z²)·dz
    Raises       DTypeMismatchError: if the operand is not complex.
    Source       DLMF 7.2.2

    >>> from tenferro.primitives import complex_erfc, variable
    >>> complex_erfc(variable("z", (2,), "c128")).aval
    c128[2]
    """
    return bind(ComplexErfc(), z)


def dawsn(x: H) -> H:
    """Take Dawson's integral, of a real or a complex number.

    x: [*s]   →   y: [*s]

    Definition   y = exp(-x²) ∫₀ˣ exp(t²) dt
    JVP          dy = (1 - 2 x y)·dx
    Raises       DTypeMismatchError: if the operand is an integer.
    Source       DLMF 7.2.5

    >>> from tenferro.primitives import dawsn, variable
    >>> dawsn(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Dawsn(), x)
