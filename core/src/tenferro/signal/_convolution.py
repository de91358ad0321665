"""Convolutions of any rank: by windows of the longer operand, or by Fourier transforms.

A sum over windows is exact for integers, and a NaN stays in the windows that have it; a transform
costs less where both operands are large, and has errors relative to the largest result.
Read next: ``_filters.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.arrays.errors import at_user_line, unknown_option
from tenferro.arrays.functions.complex import conj
from tenferro.arrays.functions.fft import fftn, ifftn, irfftn, rfftn
from tenferro.arrays.functions.filtering import convolve as convolve_vectors
from tenferro.arrays.functions.indexing import take
from tenferro.arrays.functions.padding import pad
from tenferro.arrays.functions.ranges import arange
from tenferro.arrays.functions.rearranging import flip
from tenferro.arrays.functions.rounding import rint
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import (
    broadcast_shapes,
    cast,
    double_if_exact,
    normalize_axes,
)
from tenferro.primitives import ShapeMismatchError, int64, promote_dtypes
from tenferro.primitives.contraction import dot_general

_MODES = ("full", "same", "valid")
_METHODS = ("auto", "direct", "fft")
_MAX_PRODUCTS = 2**18  # from here on, transforms of floats cost less than sums over windows
_MAX_SMALL_KERNEL = 32  # elements of an operand with which windows always cost less


def convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Array:
    """Convolve two arrays of one rank: z[k] = Σ_j in1[k - j] in2[j] over all axes.

    in1: [*s]   in2: [*t]   →   z: [*(s + t - 1)] for the mode "full", [*s] for "same", the parts
    where one operand overlaps the other wholly for "valid"

    The dtype is that of the operands, also for a transform: integers are rounded.

    Raises       ShapeMismatchError, InvalidParameterError.

    >>> from tenferro.signal import convolve
    >>> convolve([[1, 2], [3, 4]], [[1, 1]])
    array([[1, 3, 2],
           [3, 7, 4]])
    """
    a, b = _pair("convolve", in1, in2)
    _not_empty("convolve", a, b)
    _known("convolve", "mode", mode, _MODES)
    if _known("convolve", "method", method, _METHODS) == "auto":
        method = "fft" if _is_large(a, b) else "direct"
    if method == "fft":
        found = fftconvolve(a, b, mode)
        return found if a.dtype.is_inexact else cast(rint(found), a.dtype)
    shapes = a.shape, b.shape
    if a.dtype.is_bool:
        return convolve(cast(a, int64), cast(b, int64), mode, method) != 0
    long, short = (a, b) if a.size >= b.size else (b, a)
    return _part("convolve", _full(long, short), shapes, range(a.ndim), mode)


def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Array:
    """Compute the cross-correlation of two arrays: z[k] = Σ_j in1[k + j] conj(in2[j]).

    >>> from tenferro.signal import correlate
    >>> correlate([1, 2, 3], [1, 1], "valid")
    array([3, 5])
    """
    a, b = _pair("correlate", in1, in2)
    flipped = flip(conj(b) if b.dtype.is_complex else b)
    return convolve(a, flipped, mode, method)


def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Array:
    """Convolve along axes by Fourier transforms; other axes broadcast.

    Integers become float64. A NaN or an infinity anywhere makes the whole result nan.

    >>> from tenferro.signal import fftconvolve
    >>> fftconvolve([1.0, 2.0], [1.0, 1.0]).round(12)
    array([1., 3., 2.])
    """
    a, b = _pair("fftconvolve", in1, in2)
    _known("fftconvolve", "mode", mode, _MODES)
    places = normalize_axes(axes, a.ndim, "fftconvolve")
    a, b = double_if_exact(a), double_if_exact(b)
    others = [d for d in range(a.ndim) if d not in places]
    broadcast_shapes(
        tuple([a.shape[d] for d in others]), tuple([b.shape[d] for d in others]),
        function="fftconvolve",
    )  # fmt: skip
    sizes = [a.shape[d] + b.shape[d] - 1 for d in places]
    if not places:
        return a * b
    _not_empty("fftconvolve", a, b)
    lengths = [_smooth(size) for size in sizes]
    if a.dtype.is_complex:
        found = ifftn(fftn(a, lengths, places) * fftn(b, lengths, places), axes=places)
    else:
        product = rfftn(a, lengths, places) * rfftn(b, lengths, places)
        found = irfftn(product, lengths, places)
    whole = _cut(found, places, [0] * len(places), sizes)
    return _part("fftconvolve", whole, (a.shape, b.shape), places, mode)


# ---- operands ------------------------------------------------------------------------------------


def _pair(function: str, in1: Any, in2: Any) -> tuple[Array, Array]:
    """Return two operands of one dtype.

    Raises ShapeMismatchError: if their ranks differ.
    """
    a, b = as_array(in1), as_array(in2)
    if a.ndim != b.ndim:
        error = ShapeMismatchError.of(
            function, "the operands differ in rank", got=f"{a.aval}, {b.aval}", need="one rank",
            shapes=(a.shape, b.shape),
        )  # fmt: skip
        raise at_user_line(error)
    dtype = promote_dtypes(a.dtype, b.dtype)
    return cast(a, dtype), cast(b, dtype)


def _not_empty(function: str, a: Array, b: Array) -> None:
    """Raise ShapeMismatchError if there is nothing to convolve."""
    if not a.size or not b.size:
        error = ShapeMismatchError.of(
            function, "an operand is empty", got=f"{a.aval}, {b.aval}", need="elements in both",
            shapes=(a.shape, b.shape),
        )  # fmt: skip
        raise at_user_line(error)


def _known(function: str, parameter: str, value: str, names: Sequence[str]) -> str:
    """Return the value of an option.

    Raises InvalidParameterError: if it is not one of the names.
    """
    if value not in names:
        raise at_user_line(unknown_option(function, parameter, value, ", ".join(names)))
    return value


def _is_large(a: Array, b: Array) -> bool:
    short = min(a.size, b.size)
    return a.dtype.is_inexact and short > _MAX_SMALL_KERNEL and a.size * b.size > _MAX_PRODUCTS


# ---- sums over windows ---------------------------------------------------------------------------


def _full(a: Array, b: Array) -> Array:
    """Return the whole convolution; ``b`` is the smaller operand."""
    if not a.ndim:
        return a * b
    if a.ndim == 1:
        return convolve_vectors(a, b)
    windows = pad(a, [(size - 1, size - 1) for size in b.shape])
    for d, size in enumerate(b.shape):  # of [..., n, ...] make [..., out, ..., size at the end]
        count = windows.shape[d] - size + 1
        found = take(windows, arange(count)[:, None] + arange(size), axis=d)
        windows = _moved_to_end(found, d + 1)
    axes = tuple(range(a.ndim))
    return dot_general(windows, flip(b), tuple([a.ndim + d for d in axes]), axes)


def _moved_to_end(x: Array, axis: int) -> Array:
    order = [d for d in range(x.ndim) if d != axis]
    return x.transpose([*order, axis])


# ---- parts of the whole --------------------------------------------------------------------------


def _part(
    function: str, whole: Array, shapes: Sequence[tuple[int, ...]], axes: Sequence[int], mode: str
) -> Array:
    """Return the part of a whole convolution that a mode names."""
    sizes = [[shape[d] for shape in shapes] for d in axes]
    if mode == "full":
        return whole
    if mode == "same":
        starts = [(first + second - 1 - first) // 2 for first, second in sizes]
        return _cut(whole, axes, starts, [first for first, _ in sizes])
    first, second = zip(*sizes, strict=True) if sizes else ((), ())
    if not _holds(first, second) and not _holds(second, first):
        error = ShapeMismatchError.of(
            function, "none of the operands holds the other one", got=f"{shapes[0]}, {shapes[1]}",
            need="for the mode 'valid', one that is at least as long in every axis",
            shapes=tuple(shapes),
        )  # fmt: skip
        raise at_user_line(error)
    starts = [min(pair) - 1 for pair in sizes]
    return _cut(whole, axes, starts, [max(pair) - min(pair) + 1 for pair in sizes])


def _holds(shape: Sequence[int], other: Sequence[int]) -> bool:
    return all(n >= m for n, m in zip(shape, other, strict=True))


def _cut(x: Array, axes: Sequence[int], starts: Sequence[int], sizes: Sequence[int]) -> Array:
    index = [slice(None)] * x.ndim
    for d, start, size in zip(axes, starts, sizes, strict=True):
        index[d] = slice(start, start + size)
    return x[tuple(index)]


def _smooth(n: int) -> int:
    """Return the least number >= n without prime factors above 5.

    >>> _smooth(17)
    18
    """
    while _rest(n) != 1:
        n += 1
    return n


def _rest(n: int) -> int:
    """Divide by 2, 3 and 5 as often as possible."""
    for prime in (2, 3, 5):
        while n % prime == 0:
            n //= prime
    return n
