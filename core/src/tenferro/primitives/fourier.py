"""Discrete Fourier transforms: of complex numbers, of real ones to half a spectrum, and back.

The spectrum of real numbers is Hermitian, so ``rfft`` keeps the columns 0 … n//2 of the last of
its axes, and each of them but 0 and n/2 stands for two. Whether such a column counts twice is the
parameter ``twice``; with it the set is closed: the transpose of every transform is one transform of
the same kind, and so are derivatives of every order. Read next: ``backend/numpy_like/fft.py``.

The transforms are those of Cooley & Tukey (1965), with the sign of NumPy and of most others: minus
in the exponent of ``fft``. Scales are 1, 1/√N or 1/N, where N is the number of elements that a
transform runs over (of the real array, for ``rfft`` and ``irfft``).
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

from tenferro.computegraph import Operation
from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import accepted, integers, invalid
from tenferro.primitives._checks import axes as distinct_axes
from tenferro.primitives._errors import DTypeMismatchError, ShapeMismatchError
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Linear, bind
from tenferro.primitives.structural import behind

__all__ = ["Fft", "Irfft", "Rfft", "fft", "irfft", "rfft"]

NORMS = ("sum", "ortho", "mean")


class Fft(Linear):
    """y_k = s Σ_j x_j exp(∓2πi jk/n) over axes, plus if inverse;   ct_x = the other sign of ct"""

    key = "std::fft"
    accepts = "complex"
    axes: tuple[int, ...]
    inverse: bool = False
    norm: str = "sum"

    def __post_init__(self) -> None:
        self._set(axes=integers(self, "axes", self.axes), inverse=bool(self.inverse))
        _check_norm(self, self.norm)

    def abstract_eval(self, x: Aval) -> Aval:
        accepted(self, x)
        _check_axes(self, self.axes, x)
        return x

    def simplify(self, x: Handle) -> Handle | None:
        return None if self.axes or not x.dtype.is_complex else x

    def transpose_x(self, ct: Handle, x: Handle) -> Handle:
        return fft(ct, self.axes, inverse=not self.inverse, norm=self.norm)

    def batch(self, size: int, batched: Sequence[bool], x: Handle) -> Handle:
        return fft(x, behind(self.axes), inverse=self.inverse, norm=self.norm)


class Rfft(Linear):
    """y_k = s w_k Σ_j x_j exp(-2πi jk/n), half of the last axis;   ct_x = irfft of ct, same w"""

    key = "std::rfft"
    accepts = "float"
    axes: tuple[int, ...]
    norm: str = "sum"
    twice: bool = False

    def __post_init__(self) -> None:
        self._set(axes=integers(self, "axes", self.axes), twice=bool(self.twice))
        _check_norm(self, self.norm)

    def abstract_eval(self, x: Aval) -> Aval:
        _check_axes(self, self.axes, x)
        dtype = accepted(self, x).dtype
        if dtype.complex_dtype.real_dtype is not dtype:
            raise DTypeMismatchError.of(
                self.name,
                f"no complex dtype has {dtype} parts",
                got=x,
                need="float32 or float64",
                dtypes=(dtype,),
            )
        last = _last(self, self.axes)
        return x.with_shape(_resized(x, last, _half(x.shape[last]))).with_dtype(dtype.complex_dtype)

    def transpose_x(self, ct: Handle, x: Handle) -> Handle:
        n = x.shape[self.axes[-1]]
        return irfft(ct, self.axes, n, norm=self.norm, twice=self.twice)

    def batch(self, size: int, batched: Sequence[bool], x: Handle) -> Handle:
        return rfft(x, behind(self.axes), norm=self.norm, twice=self.twice)


class Irfft(Linear):
    """y_j = s Re Σ_k w_k x_k exp(2πi jk/n), k ≤ n/2 in the last axis;   ct_x = rfft of ct"""

    key = "std::irfft"
    accepts = "complex"
    axes: tuple[int, ...]
    length: int
    norm: str = "sum"
    twice: bool = True

    def __post_init__(self) -> None:
        self._set(
            axes=integers(self, "axes", self.axes),
            length=integers(self, "length", (self.length,), minimum=1)[0],
            twice=bool(self.twice),
        )
        _check_norm(self, self.norm)

    def abstract_eval(self, x: Aval) -> Aval:
        accepted(self, x)
        _check_axes(self, self.axes, x)
        last = _last(self, self.axes)
        if x.shape[last] != _half(self.length):
            raise ShapeMismatchError.of(
                self.name,
                "the last axis is not half a spectrum of this length",
                got=f"{x} with {x.shape[last]} columns on axis {last}, length={self.length}",
                need=f"length // 2 + 1 = {_half(self.length)} columns",
                shapes=(x.shape,),
            )
        return x.with_shape(_resized(x, last, self.length)).with_dtype(x.dtype.real_dtype)

    def transpose_x(self, ct: Handle, x: Handle) -> Handle:
        return rfft(ct, self.axes, norm=self.norm, twice=self.twice)

    def batch(self, size: int, batched: Sequence[bool], x: Handle) -> Handle:
        return irfft(x, behind(self.axes), self.length, norm=self.norm, twice=self.twice)


def _half(n: int) -> int:
    """Return how many columns of a spectrum of n are kept."""
    return n // 2 + 1


def _resized(x: Aval, axis: int, size: int) -> list[int]:
    return [size if i == axis else n for i, n in enumerate(x.shape)]


def _last(op: Operation, axes: Sequence[int]) -> int:
    """Return the axis whose spectrum is halved."""
    if not axes:
        raise invalid(
            op, "axes", "no axis for the half spectrum", got="axes=()", need="one axis or more"
        )
    return axes[-1]


def _check_axes(op: Operation, axes: Sequence[int], x: Aval) -> None:
    """Check that the axes are distinct and none has size 0."""
    distinct_axes(op, "axes", axes, x)
    if any(not x.shape[axis] for axis in axes):
        raise invalid(
            op,
            "axes",
            "an axis has no elements to transform",
            got=f"axes={tuple(axes)} for {x}",
            need="axes of size 1 or more",
        )


def _check_norm(op: Operation, norm: str) -> None:
    if norm not in NORMS:
        need = f"one of {', '.join(NORMS)}"
        raise invalid(op, "norm", "unknown norm", got=f"norm={norm!r}", need=need)


def fft(x: H, axes: Sequence[int], *, inverse: bool = False, norm: str = "sum") -> H:
    """Transform complex numbers over axes; the inverse has the other sign in the exponent.

    x: c[*s]   →   y: c[*s]

    Definition   y_k = s Σ_j x_j exp(∓2πi jk/n),  s = 1 (sum), 1/√N (ortho), 1/N (mean)
    Transpose    the same with the other sign: the matrix is symmetric, its conjugate is that
    Raises       AxisError; DTypeMismatchError: if x is not complex.
    Raises       InvalidParameterError: if an axis has size 0, or the norm is another.

    >>> from tenferro.primitives import variable
    >>> from tenferro.primitives.fourier import fft
    >>> fft(variable("x", (3, 4), "c128"), (0, 1)).aval
    c128[3,4]
    """
    return bind(Fft(tuple(axes), inverse, norm), x)


def rfft(x: H, axes: Sequence[int], *, norm: str = "sum", twice: bool = False) -> H:
    """Transform real numbers over axes; of the last one the columns 0 … n//2 are kept.

    x: f[*b,n]   →   y: c[*b,n//2+1]

    Definition   y_k = s w_k Σ_j x_j exp(-2πi jk/n),  w = 1; if twice, 2 where 0 < k < n/2
    Transpose    irfft with the same w: ct_x = s Re Σ_k w_k ct_k exp(2πi jk/n)
    Raises       AxisError; DTypeMismatchError: unless x is of float32 or float64.
    Raises       InvalidParameterError: if an axis has size 0 or there is none.

    >>> from tenferro.primitives import rfft, variable
    >>> rfft(variable("x", (3, 5), "f64"), (1,)).aval
    c128[3,3]
    """
    return bind(Rfft(tuple(axes), norm, twice), x)


def irfft(x: H, axes: Sequence[int], length: int, *, norm: str = "sum", twice: bool = True) -> H:
    """Transform half a spectrum to real numbers; the last axis gets the given length.

    x: c[*b,n//2+1]   →   y: f[*b,n]

    Definition   y_j = s Re Σ_k w_k x_k exp(2πi jk/n),  w = 1; if twice, 2 where 0 < k < n/2
    Convention   what no spectrum of real numbers has is dropped by the real part, as in NumPy:
                 with one axis, the imaginary parts of the columns 0 and n/2
    Transpose    rfft with the same w
    Raises       AxisError; DTypeMismatchError: if x is not complex.
    Raises       ShapeMismatchError: unless the last axis has length // 2 + 1 columns.

    >>> from tenferro.primitives import irfft, variable
    >>> irfft(variable("x", (3, 3), "c128"), (1,), 5).aval
    f64[3,5]
    """
    return bind(Irfft(tuple(axes), index(length), norm, twice), x)
