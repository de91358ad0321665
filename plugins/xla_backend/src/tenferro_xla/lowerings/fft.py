"""Fourier transforms on XLA: fft rfft irfft.

XLA transforms the last axes, three at most, so axes are moved there, in several steps where there
are more. A transform to real numbers is made of complex ones over all axes but the last and one
line transform: what the former give need not be Hermitian, which a device asks for in several
dimensions. Read next: ``indexing.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt

from jax import Array, lax

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.fourier import Fft, Irfft, Rfft
from tenferro_xla._not_public import Layout, with_layout_constraint
from tenferro_xla.lowerings._numeric import like

lowerings = Lowerings()
_AT_ONCE = 3  # axes


@lowerings.register(Fft)
def fft(op: Fft, x: Array) -> Array:
    """Transform complex numbers."""
    count = prod(x.shape[axis] for axis in op.axes)
    return _scaled(_complex(x, op.axes, op.inverse), _scale(op.norm, count, op.inverse))


@lowerings.register(Rfft)
def rfft(op: Rfft, x: Array) -> Array:
    """Transform real numbers to half a spectrum."""
    *others, last = op.axes
    length = x.shape[last]
    count = prod(x.shape[axis] for axis in op.axes)
    y = _along(x, (last,), lax.FftType.RFFT, length)
    y = _scaled(_complex(y, others, False), _scale(op.norm, count))
    return _weighted(y, 2.0, last, length) if op.twice else y


@lowerings.register(Irfft)
def irfft(op: Irfft, x: Array) -> Array:
    """Transform half a spectrum to real numbers."""
    *others, last = op.axes
    count = prod(x.shape[axis] for axis in others) * op.length
    x = x if op.twice else _weighted(x, 0.5, last, op.length)
    y = _along(_complex(x, others, True), (last,), lax.FftType.IRFFT, op.length)
    return _scaled(y, _scale(op.norm, count, True))


def _complex(x: Array, axes: Sequence[int], inverse: bool) -> Array:
    """Transform over any number of axes; XLA divides the inverse by the count."""
    kind = lax.FftType.IFFT if inverse else lax.FftType.FFT
    for start in range(0, len(axes), _AT_ONCE):
        x = _along(x, axes[start : start + _AT_ONCE], kind)
    return x


def _along(x: Array, axes: Sequence[int], kind: lax.FftType, length: int | None = None) -> Array:
    """Run one transform of XLA over some axes, moved to the end and back."""
    others = [axis for axis in range(x.ndim) if axis not in axes]
    order = [*others, *axes]
    moved = lax.transpose(x, order)
    lengths = [x.shape[axis] for axis in axes] if length is None else [length]
    back = sorted(range(x.ndim), key=order.__getitem__)
    return lax.transpose(_row_major(lax.fft(_row_major(moved), kind, tuple(lengths))), back)


def _row_major(x: Array) -> Array:
    """Constrain the array to the one layout that XLA's transform has on the CPU (jax 0.10.2).

    LAPACK's column-major operands next to a transform make it choose another, and then refuse.
    """
    layout = Layout(tuple(range(x.ndim)))
    found: Array = with_layout_constraint(x, layout)  # type: ignore[no-untyped-call]
    return found


def _scale(norm: str, count: int, inverse: bool = False) -> float:
    """Return the factor of a norm; of an inverse, what XLA's division by the count leaves of it."""
    if inverse:
        return {"sum": float(count), "ortho": sqrt(count), "mean": 1.0}[norm]
    return {"sum": 1.0, "ortho": 1 / sqrt(count), "mean": 1 / count}[norm]


def _scaled(x: Array, scale: float) -> Array:
    return x if scale == 1 else lax.mul(x, like(x, scale))


def _weighted(x: Array, factor: float, axis: int, length: int) -> Array:
    """Multiply the columns of a half spectrum that stand for two."""
    last = length // 2 if length % 2 == 0 else -1
    column = lax.broadcasted_iota("int32", x.shape, axis)
    single = lax.bitwise_or(
        lax.eq(column, lax.full_like(column, 0)), lax.eq(column, lax.full_like(column, last))
    )
    return lax.mul(x, lax.select(single, like(x, 1), like(x, factor)))
