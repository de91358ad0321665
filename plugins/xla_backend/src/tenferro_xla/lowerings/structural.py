"""Moving numbers on XLA: reshape transpose broadcast_in_dim slice pad concatenate reverse convert.

``convert`` follows NumPy where NumPy is defined: floats truncate, complex numbers give their real
part, and everything but zero is true (nan too). A float that no integer can hold, which NumPy
leaves undefined, saturates, and nan gives 0. Read next: ``reduction.py``.
"""

from __future__ import annotations

from typing import Any

from jax import Array, lax

from tenferro.backend.lowering import Lowerings
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
from tenferro_xla._mesh import mesh_in_force
from tenferro_xla.lowerings._direct import register_direct
from tenferro_xla.lowerings._numeric import like

lowerings = Lowerings()
_MIN_SPARSE_GAP = 8  # elements of padding between two elements
register_direct(lowerings, {StopGradient: lambda x: x})


@lowerings.register(Reshape)
def reshape(op: Reshape, x: Array) -> Array:
    """Read the elements in row-major order into another shape."""
    return lax.reshape(x, op.shape)


@lowerings.register(Transpose)
def transpose(op: Transpose, x: Array) -> Array:
    """Permute the axes."""
    return lax.transpose(x, op.permutation)


@lowerings.register(BroadcastInDim)
def broadcast_in_dim(op: BroadcastInDim, x: Array) -> Array:
    """Repeat along new axes and axes of size 1."""
    return lax.broadcast_in_dim(x, op.shape, op.dimensions)


@lowerings.register(Slice)
def slice_(op: Slice, x: Array) -> Array:
    """Take every stride-th element between two positions."""
    return lax.slice(x, op.start, op.limit, op.strides)


@lowerings.register(Pad)
def pad(op: Pad, x: Array, value: Array) -> Array:
    """Pad outside and between elements; a negative amount crops."""
    if _is_diagonal(op, x):
        return _diagonal(x, value)
    if _is_sparse(op):
        return _scattered(op, x, value)
    if mesh_in_force() is not None:
        return _padded_in_steps(op, x, value)
    return lax.pad(x, value, tuple(zip(op.low, op.high, op.interior, strict=True)))


def _padded_in_steps(op: Pad, x: Array, value: Array) -> Array:
    """Pad between elements, then outside, then crop.

    XLA's partitioner (jax 0.10.2) ends the process on one pad that does several of these to a
    dimension that is split.
    """
    for axis, gap in enumerate(op.interior):
        if gap and x.shape[axis] > 1:
            x = _spread(x, value, axis, gap)
    sides = list(zip(op.low, op.high, strict=True))
    x = lax.pad(x, value, [(max(low, 0), max(high, 0), 0) for low, high in sides])
    starts = [max(-low, 0) for low, _ in sides]
    limits = [size - max(-high, 0) for size, (_, high) in zip(x.shape, sides, strict=True)]
    return lax.slice(x, starts, limits)


def _spread(x: Array, value: Array, axis: int, gap: int) -> Array:
    """Put padding between the elements along an axis, by a new axis behind it."""
    rows = lax.expand_dims(x, (axis + 1,))
    edges = [(0, gap if i == axis + 1 else 0, 0) for i in range(rows.ndim)]
    size = x.shape[axis] * (gap + 1)
    long = lax.reshape(lax.pad(rows, value, edges), (*x.shape[:axis], size, *x.shape[axis + 1 :]))
    return lax.slice_in_dim(long, 0, size - gap, axis=axis)


def _is_diagonal(op: Pad, x: Array) -> bool:
    """Return True if the elements become the diagonal of a square matrix, in one axis."""
    return op.interior[-1:] == (x.shape[-1:] or (0,)) and not any(
        (*op.interior[:-1], *op.low, *op.high)
    )


def _diagonal(x: Array, value: Array) -> Array:
    """Choose by comparing positions, which XLA fuses into what reads the matrix."""
    *batch, n = x.shape
    shape = (*batch, n, n)
    rows, columns = (lax.broadcasted_iota("int32", shape, len(shape) - k) for k in (2, 1))
    entries = lax.broadcast_in_dim(x, shape, tuple(range(x.ndim)))
    matrix = lax.select(rows == columns, entries, lax.broadcast(value, shape))
    return lax.reshape(matrix, (*batch, n * n))


def _is_sparse(op: Pad) -> bool:
    """Return True if much padding lies between elements of the last axis, as in a diagonal.

    XLA on a CPU divides to find out which elements are padding, which costs several times as much
    as a scatter of the few elements into what is filled.
    """
    if not op.interior or op.interior[-1] < _MIN_SPARSE_GAP or any(op.interior[:-1]):
        return False
    sides = zip(op.low, op.high, strict=True)
    return min(op.low[-1], op.high[-1]) >= 0 and not any(map(any, [*sides][:-1]))


def _scattered(op: Pad, x: Array, value: Array) -> Array:
    """Write the elements into an array of the padding value."""
    last, gap = x.ndim - 1, op.interior[-1]
    n = x.shape[last]
    size = op.low[-1] + n + max(n - 1, 0) * gap + op.high[-1]
    filled = lax.broadcast(value, (*x.shape[:last], size))
    places = lax.iota("int64", n) * (gap + 1) + op.low[-1]
    numbers = lax.ScatterDimensionNumbers(tuple(range(last)), (last,), (last,))
    return lax.scatter(
        filled,
        lax.expand_dims(places, (1,)),
        x,
        numbers,
        indices_are_sorted=True,
        unique_indices=True,
        mode=lax.GatherScatterMode.PROMISE_IN_BOUNDS,
    )


@lowerings.register(Concatenate)
def concatenate(op: Concatenate, *xs: Array) -> Array:
    """Join along a dimension."""
    return lax.concatenate(xs, op.dimension)


@lowerings.register(Reverse)
def reverse(op: Reverse, x: Array) -> Array:
    """Reverse the order along dimensions."""
    return lax.rev(x, op.dimensions)


@lowerings.register(Convert)
def convert(op: Convert, x: Array) -> Array:
    """Change the dtype."""
    if op.dtype.is_bool:
        return lax.ne(x, like(x, 0))
    if x.dtype.kind == "c" and not op.dtype.is_complex:
        x = lax.real(x)
    return lax.convert_element_type(x, op.dtype.name)


@lowerings.register(Bitcast)
def bitcast(op: Bitcast, x: Array) -> Array:
    """Read the bits as another dtype."""
    return lax.bitcast_convert_type(x, op.dtype.name)


@lowerings.register(OptimizationBarrier)
def optimization_barrier(op: OptimizationBarrier, *xs: Array) -> Any:
    """Keep the compiler from moving work across."""
    return lax.optimization_barrier(xs if op.count > 1 else xs[0])  # type: ignore[no-untyped-call]
