"""Fourier transforms for a NumPy-shaped namespace.

The scale goes to the library as its `norm`. A transform to real numbers runs over its last axis by
itself: what the other axes give need not be Hermitian, and libraries on devices ask for that in
several dimensions. Columns that stand for two are counted on the half spectrum.
Read next: `indexing.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like._common import native_dtype
from tenferro.primitives import Aval, DType
from tenferro.primitives.fourier import Fft, Irfft, Rfft

__all__ = ["BACKWARD", "FORWARD", "register", "rescaled", "twofold"]

#: The name of a scale: for transforms with minus in the exponent, and for those with plus.
FORWARD = {"sum": "backward", "ortho": "ortho", "mean": "forward"}
BACKWARD = {"sum": "forward", "ortho": "ortho", "mean": "backward"}


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the fft family."""
    for primitive, function in ((Fft, _fft), (Rfft, _rfft), (Irfft, _irfft)):
        lowerings.register(primitive)(_of(xp, function))


def _of(xp: Any, function: Any) -> Any:
    def lower(op: Any, x: Any) -> Any:
        if x.size:
            return function(xp, op, x)
        y = op.abstract_eval(Aval(x.shape, DType.of(x.dtype)))
        return xp.empty(y.shape, native_dtype(xp, y.dtype))  # which some libraries refuse

    return lower


def _fft(xp: Any, op: Fft, x: Any) -> Any:
    if op.inverse:
        return _inverse(xp, x, op.axes, op.norm)
    if len(op.axes) == 1:
        return xp.fft.fft(x, None, op.axes[0], FORWARD[op.norm])
    return xp.fft.fftn(x, None, op.axes, FORWARD[op.norm])


def _rfft(xp: Any, op: Rfft, x: Any) -> Any:
    norm, last = FORWARD[op.norm], op.axes[-1]
    if len(op.axes) == 1:
        y = xp.fft.rfft(x, None, last, norm)
    else:
        y = xp.fft.rfftn(x, None, op.axes, norm)
    return rescaled(y, 2, last, x.shape[last]) if op.twice else y


def _irfft(xp: Any, op: Irfft, x: Any) -> Any:
    *others, last = op.axes
    if not op.twice:
        x = rescaled(x.copy(), 0.5, last, op.length)
    if others:
        x = _inverse(xp, x, tuple(others), op.norm)
    return xp.fft.irfft(x, op.length, last, BACKWARD[op.norm])


def _inverse(xp: Any, x: Any, axes: tuple[int, ...], norm: str) -> Any:
    if len(axes) == 1:
        return xp.fft.ifft(x, None, axes[0], BACKWARD[norm])
    return xp.fft.ifftn(x, None, axes, BACKWARD[norm])


def rescaled(x: Any, factor: float, axis: int, length: int) -> Any:
    """Multiply, in place, the columns of a half spectrum that stand for two."""
    x[(slice(None),) * axis + (twofold(length),)] *= factor
    return x


def twofold(length: int) -> slice:
    """Return the columns that stand for two: all but 0, and the middle one of an even length."""
    return slice(1, (length + 1) // 2)
