"""Fourier transforms on NumPy: those of `numpy.fft`, of many elements those of `scipy.fft`.

Both are pocketfft. SciPy's vectorizes over lines and runs over all axes in one call, which is 1.3
times as fast from about 2¹⁴ elements on, and 3 times in single precision; below, the call counts,
which is cheaper in NumPy, and so does the import of SciPy, which takes as long as that of NumPy.
Read next: `indexing.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like import fft as shared
from tenferro.backend.numpy_like.fft import BACKWARD, FORWARD, rescaled
from tenferro.primitives.fourier import Fft, Irfft, Rfft

__all__ = ["register"]

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
