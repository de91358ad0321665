"""Shape and layout for a namespace of the Array API standard.

Most results may be views of the operand; an executor that hands them out copies them. `Pad` counts
as XLA does: interior padding first, then the edges, where a negative width crops.
Read next: `reduction.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.array_api_like._common import cast
from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.structural import padded_axis
from tenferro.primitives.structural import (
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

__all__ = ["register"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the structural family."""
    _register_moves(lowerings, xp)

    @lowerings.register(Pad)
    def pad(op: Pad, x: Any, value: Any) -> Any:
        axes = [
            padded_axis(*axis) for axis in zip(x.shape, op.low, op.high, op.interior, strict=True)
        ]
        out = xp.empty(tuple(size for size, _, _ in axes), dtype=x.dtype)
        out[...] = value
        out[tuple(places for _, places, _ in axes)] = x[tuple(kept for _, _, kept in axes)]
        return out

    @lowerings.register(Convert)
    def convert(op: Convert, x: Any) -> Any:
        return cast(xp, x, op.dtype)

    @lowerings.register(OptimizationBarrier)
    def optimization_barrier(op: OptimizationBarrier, *xs: Any) -> Any:
        return xs[0] if op.count == 1 else xs

    @lowerings.register(StopGradient)
    def stop_gradient(op: StopGradient, x: Any) -> Any:
        return x


def _register_moves(lowerings: Lowerings, xp: Any) -> None:
    @lowerings.register(Reshape)
    def reshape(op: Reshape, x: Any) -> Any:
        return xp.reshape(x, op.shape)

    @lowerings.register(Transpose)
    def transpose(op: Transpose, x: Any) -> Any:
        return xp.permute_dims(x, op.permutation)

    @lowerings.register(BroadcastInDim)
    def broadcast_in_dim(op: BroadcastInDim, x: Any) -> Any:
        return xp.broadcast_to(xp.reshape(x, op.expanded(x.shape)), op.shape)

    @lowerings.register(Slice)
    def slice_(op: Slice, x: Any) -> Any:
        return x[tuple(map(slice, op.start, op.limit, op.strides))]

    @lowerings.register(Reverse)
    def reverse(op: Reverse, x: Any) -> Any:
        return xp.flip(x, axis=op.dimensions) if op.dimensions else x

    @lowerings.register(Concatenate)
    def concatenate(op: Concatenate, *xs: Any) -> Any:
        return xp.concat(xs, axis=op.dimension)
