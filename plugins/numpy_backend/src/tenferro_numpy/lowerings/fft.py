"""Fourier transforms on NumPy: those of `numpy.fft`, of many elements those of `scipy.fft`.

Both are pocketfft. Of short lines `numpy.fft` spends two thirds of its time in Python before it
calls a ufunc: an instruction along one axis is the call of that ufunc. SciPy's vectorizes over
lines and runs over all axes in one call, which is 1.3 times as fast from about 2¹⁴ elements on, and
3 times in single precision; below, the call counts, which is cheaper in NumPy, and so does the
import of SciPy, which takes as long as that of NumPy.
Read next: `indexing.py`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like import fft as shared
from tenferro.backend.numpy_like.fft import BACKWARD, FORWARD, rescaled
from tenferro.primitives import Aval
from tenferro.primitives.fourier import Fft, Irfft, Rfft
from tenferro_numpy.ir.expression import Expression, Function, Specialize, called

__all__ = ["EXPRESSIONS", "register"]

_MIN_ELEMENTS_FOR_SCIPY = 2**14  # elements from which SciPy is faster


def register(lowerings: Lowerings) -> None:
    """Register what replaces the shared lowerings."""
    own = Lowerings()
    shared.register(own, np)
    numpys = {record.primitive: record.target for record in own}
    for primitive, of_scipy in ((Fft, _fft), (Rfft, _rfft), (Irfft, _irfft)):
        lowerings.register(primitive)(_by_size(numpys[primitive.key], of_scipy))


def _by_size(few: Any, many: Any) -> Any:
    def lower(op: Any, x: Any) -> Any:
        return few(op, x) if x.size < _MIN_ELEMENTS_FOR_SCIPY else many(_scipy_fft(), op, x)

    return lower


def _scipy_fft() -> Any:
    from scipy import fft  # noqa: PLC0415 - slow to import, see above

    return fft


def _fft(fft: Any, op: Fft, x: Any) -> Any:
    if op.inverse:
        return fft.ifftn(x, None, op.axes, BACKWARD[op.norm])
    return fft.fftn(x, None, op.axes, FORWARD[op.norm])


def _rfft(fft: Any, op: Rfft, x: Any) -> Any:
    y = fft.rfftn(x, None, op.axes, FORWARD[op.norm])
    return rescaled(y, 2, op.axes[-1], x.shape[op.axes[-1]]) if op.twice else y


def _irfft(fft: Any, op: Irfft, x: Any) -> Any:
    lengths = [x.shape[axis] for axis in op.axes[:-1]] + [op.length]
    if not op.twice:
        x = rescaled(x.copy(), 0.5, op.axes[-1], op.length)
    return fft.irfftn(x, lengths, op.axes, BACKWARD[op.norm])


# ---- few elements along one axis: the ufunc that `numpy.fft` calls -------------------------------


def _along_one_axis(
    op: Any, avals: tuple[Aval, ...], result: Aval, lowering: Function
) -> Expression:
    """Call the ufunc with the factor that `numpy.fft` would give it."""
    (x,) = avals
    ufunc = _ufunc(op, x)
    if ufunc is None or len(op.axes) != 1 or not 0 < x.size < _MIN_ELEMENTS_FOR_SCIPY:
        return called(op, 1, lowering, shares=False)
    (axis,) = op.axes
    dtype = np.dtype(result.dtype.name)
    factor = _factor(op.norm, (result if type(op) is Irfft else x).shape[axis], dtype)
    bound = (ufunc, factor, np.empty, result.shape, dtype)
    if axis == x.ndim - 1:
        return Expression("{p0}({0}, {p1}, {p2}({p3}, {p4}))", bound, onto="{p0}({0}, {p1}, {out})")
    return Expression(
        "{p0}({0}, {p1}, {p2}({p3}, {p4}), axes={p5})",
        (*bound, [(axis,), (), (axis,)]),
        onto="{p0}({0}, {p1}, {out}, axes={p5})",
    )


def _ufunc(op: Any, x: Aval) -> Any:
    """Return the ufunc of `numpy.fft`; None where NumPy has it no more, or columns are rescaled."""
    if type(op) is Fft:
        name = "ifft" if op.inverse else "fft"
    elif type(op) is Irfft:
        name = "irfft" if op.twice else ""
    else:
        name = "" if op.twice else "rfft_n_odd" if x.shape[op.axes[-1]] % 2 else "rfft_n_even"
    try:
        found = getattr(import_module("numpy.fft._pocketfft_umath"), name, None)
    except ImportError:
        return None
    return found if getattr(found, "nin", None) == 2 else None


def _factor(norm: str, length: int, dtype: Any) -> Any:
    """Return the factor of a scale as an array, rounded as `numpy.fft` rounds it.

    A ufunc converts a number at every call, which takes a fifth of the time of a short transform.
    The factor 1 of `numpy.fft` is an integer, with which NumPy transforms single precision in
    double and rounds then; 1.0 in double precision does the same.
    """
    real = dtype.type(0).real.dtype.type
    if norm == "sum":
        return np.array(1.0)
    scale = np.sqrt(length, dtype=real) if norm == "ortho" else real(length)
    return np.array(np.reciprocal(scale))


EXPRESSIONS: dict[type, Specialize] = dict.fromkeys((Fft, Irfft, Rfft), _along_one_axis)
