"""Complex numbers: their parts, conjugation, and the convention of all derivatives.

The convention, stated here once. Transposition is with respect to ⟨a, b⟩ = Re(conj(a)·b). The
derivative of a holomorphic primitive never conjugates, so a cotangent is multiplied with the
conjugate of the coefficient: y = f(z) gives ct_z = ct_y·conj(f'(z)), and grad |z|² = 2z. The
primitives of this file are linear over the real numbers only; their transposes follow from the
inner product alone. A real input that is fed by a complex cotangent takes its real part.
Read next: ``elementwise.py``.
"""

from __future__ import annotations

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import accepted
from tenferro.primitives._errors import DTypeMismatchError
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Linear, bind, pointwise
from tenferro.primitives.constants import zeros_like

__all__ = ["Complex", "Conj", "Imag", "Real", "complex", "conj", "imag", "real"]


class Real(Linear):
    """y = Re z;   the transpose embeds: ct_z = ct + 0i"""

    key = "std::real"
    accepts = "complex"
    simplify_triggers = ()
    batch = pointwise

    def abstract_eval(self, z: Aval) -> Aval:
        accepted(self, z)
        return z.with_dtype(z.dtype.real_dtype)

    def simplify(self, z: Handle) -> Handle | None:
        return None if z.dtype.is_complex else z

    def transpose_z(self, ct: Handle, z: Handle) -> Handle:
        return complex(ct, zeros_like(ct))


class Imag(Linear):
    """y = Im z;   Re(conj(i w)·v) = w Im v, so ct_z = 0 + ct·i"""

    key = "std::imag"
    accepts = "complex"
    batch = pointwise

    def abstract_eval(self, z: Aval) -> Aval:
        accepted(self, z)
        return z.with_dtype(z.dtype.real_dtype)

    def transpose_z(self, ct: Handle, z: Handle) -> Handle:
        return complex(zeros_like(ct), ct)


class Conj(Linear):
    """y = conj z, its own transpose under Re(conj(a)·b)"""

    key = "std::conj"
    simplify_triggers = ("conj",)
    batch = pointwise

    def abstract_eval(self, z: Aval) -> Aval:
        return z

    def simplify(self, z: Handle) -> Handle | None:
        if not z.dtype.is_complex:
            return z
        return z.operand_of(Conj)

    def transpose_z(self, ct: Handle, z: Handle) -> Handle:
        return conj(ct)


class Complex(Linear):
    """z = re + i·im"""

    key = "std::complex"
    accepts = "float"
    batch = pointwise

    def abstract_eval(self, re: Aval, im: Aval) -> Aval:
        aval = accepted(self, re, im)
        if aval.dtype.complex_dtype.real_dtype is not aval.dtype:
            raise DTypeMismatchError.of(
                self.name,
                f"no complex dtype has {aval.dtype} parts",
                got=f"{re}, {im}",
                need="float32 or float64 parts",
                dtypes=(re.dtype, im.dtype),
            )
        return aval.with_dtype(aval.dtype.complex_dtype)

    def transpose_re(self, ct: Handle, re: Handle, im: Handle) -> Handle:
        return real(ct)

    def transpose_im(self, ct: Handle, re: Handle, im: Handle) -> Handle:
        return imag(ct)


def real(z: H) -> H:
    """Take the real part; a real operand is returned as it is.

    z: c[*s]   →   y: f[*s]

    Transpose   ct_z = ct + 0i

    >>> from tenferro.primitives import real, variable
    >>> real(variable("z", (2,), "c128")).aval
    f64[2]
    """
    return bind(Real(), z)


def imag(z: H) -> H:
    """Take the imaginary part.

    z: c[*s]   →   y: f[*s]

    Transpose   ct_z = 0 + ct·i
    Raises      DTypeMismatchError: if the operand is not complex.

    >>> from tenferro.primitives import imag, variable
    >>> imag(variable("z", (2,), "c128")).aval
    f64[2]
    """
    return bind(Imag(), z)


def conj(z: H) -> H:
    """Conjugate; a real operand is returned as it is.

    z: [*s]   →   y: [*s]

    Transpose   ct_z = conj(ct)

    >>> from tenferro.primitives import conj, variable
    >>> conj(variable("z", (2,), "c128")).aval
    c128[2]
    """
    if type(z) is Handle and not z.dtype.is_complex:  # as in most rules: nothing to record
        return z
    return bind(Conj(), z)


def complex(re: H, im: H) -> H:
    """Join a real and an imaginary part.

    re: f[*s]   im: f[*s]   →   z: c[*s]

    Transpose   ct_re = Re ct,  ct_im = Im ct
    Raises      DTypeMismatchError: if the parts are not both float32 or both float64.

    >>> from tenferro.primitives import complex, variable
    >>> complex(variable("x", (2,), "f32"), variable("y", (2,), "f32")).aval
    c64[2]
    """
    return bind(Complex(), re, im)
