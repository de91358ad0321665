"""Shape and layout for a NumPy-shaped namespace.

Most results are views of the operand; an executor that hands them out copies them. `Pad` counts as
XLA does: interior padding first, then the edges, where a negative width crops.
Read next: `reduction.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like._common import cast, native_dtype
from tenferro.primitives.structural import (
    Bitcast,
    BroadcastInDim,
    Concatenate,
    Convert,
    OptimizationBarrier,
    Pad,
    Reshape,
    Reverse,
    Slice,
    StopGradient,
    Transpose,
)

__all__ = ["padded_axis", "register"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the structural family."""
    _register_views(lowerings, xp)
    _register_identities(lowerings, xp)

    @lowerings.register(Pad)
    def pad(op: Pad, x: Any, value: Any) -> Any:
        axes = [
            padded_axis(*axis) for axis in zip(x.shape, op.low, op.high, op.interior, strict=True)
        ]
        out = xp.empty(tuple(size for size, _, _ in axes), x.dtype)
        out[...] = value
        out[tuple(places for _, places, _ in axes)] = x[tuple(kept for _, _, kept in axes)]
        return out

    @lowerings.register(Concatenate)
    def concatenate(op: Concatenate, *xs: Any) -> Any:
        return xp.concatenate(xs, op.dimension)

    @lowerings.register(Convert)
    def convert(op: Convert, x: Any) -> Any:
        return cast(xp, x, op.dtype)


def _register_views(lowerings: Lowerings, xp: Any) -> None:
    @lowerings.register(Reshape)
    def reshape(op: Reshape, x: Any) -> Any:
        return xp.reshape(x, op.shape)

    @lowerings.register(Transpose)
    def transpose(op: Transpose, x: Any) -> Any:
        return xp.transpose(x, op.permutation)

    @lowerings.register(BroadcastInDim)
    def broadcast_in_dim(op: BroadcastInDim, x: Any) -> Any:
        return xp.broadcast_to(xp.reshape(x, op.expanded(x.shape)), op.shape)

    @lowerings.register(Slice)
    def slice_(op: Slice, x: Any) -> Any:
        return x[tuple(map(slice, op.start, op.limit, op.strides))]

    @lowerings.register(Reverse)
    def reverse(op: Reverse, x: Any) -> Any:
        backward = slice(None, None, -1)
        return x[tuple(backward if d in op.dimensions else slice(None) for d in range(x.ndim))]


def _register_identities(lowerings: Lowerings, xp: Any) -> None:
    @lowerings.register(Bitcast)
    def bitcast(op: Bitcast, x: Any) -> Any:
        return x.view(native_dtype(xp, op.dtype))

    @lowerings.register(OptimizationBarrier)
    def optimization_barrier(op: OptimizationBarrier, *xs: Any) -> Any:
        return xs[0] if op.count == 1 else xs

    @lowerings.register(StopGradient)
    def stop_gradient(op: StopGradient, x: Any) -> Any:
        return x


def padded_axis(size: int, low: int, high: int, interior: int) -> tuple[int, slice, slice]:
    """Return the padded size, the places of the kept elements, and which elements these are."""
    step = interior + 1
    padded = size + max(size - 1, 0) * interior + low + high
    first = -(low // step) if low < 0 else 0
    stop = max(min(size, -(-max(padded - low, 0) // step)), first)
    if stop == first:
        return padded, slice(0, 0), slice(0, 0)
    begin = low + first * step
    return padded, slice(begin, begin + (stop - first - 1) * step + 1, step), slice(first, stop)
