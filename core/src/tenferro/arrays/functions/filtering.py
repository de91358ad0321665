"""Products of shifted vectors: convolution, correlation, vector products."""

from __future__ import annotations

from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.complex import conj
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import asarray
from tenferro.arrays.promotion.broadcast import broadcast_shapes, cast, normalize_axis, stretch
from tenferro.arrays.registry import FUNCTIONS, covers
from tenferro.primitives import ShapeMismatchError, bool_, int64, promote_dtypes
from tenferro.primitives.contraction import dot_general

_MODES = ("valid", "same", "full")


@covers("convolve")
def convolve(x: Any, y: Any, mode: str = "full") -> Array:
    """Compute the discrete convolution Σ_j x_{k−j} y_j: full, same or valid.

    >>> import tenferro as tn
    >>> tn.convolve(tn.arange(3), tn.arange(2))
    Array([0, 0, 1, 2])
    """
    a, b = _vectors(x, y, "convolve")
    if b.size > a.size:
        a, b = b, a
    return _part(_full(a, b), a.size, b.size, mode, (b.size - 1) // 2)


@covers("correlate")
def correlate(x: Any, y: Any, mode: str = "valid") -> Array:
    """Compute the cross-correlation Σ_j x_{k+j} conj(y_j): full, same or valid."""
    a, b = _vectors(x, y, "correlate")
    full = _full(a, FUNCTIONS["flip"](conj(b)) if b.dtype.is_complex else FUNCTIONS["flip"](b))
    short = min(a.size, b.size)
    start = (short - 1) // 2 if a.size >= b.size else short // 2
    return _part(full, max(a.size, b.size), short, mode, start)


def _vectors(x: Any, y: Any, name: str) -> tuple[Array, Array]:
    a, b = (FUNCTIONS["ravel"](v) if v.ndim == 0 else v for v in (asarray(x), asarray(y)))
    if a.ndim != 1 or b.ndim != 1 or not a.size or not b.size:
        error = ShapeMismatchError.of(
            name, "an operand is not a vector with elements",
            got=f"{a.aval}, {b.aval}", need="rank 1 and one element or more",
            shapes=(a.shape, b.shape),
        )  # fmt: skip
        raise at_user_line(error)
    dtype = promote_dtypes(a.dtype, b.dtype)
    return cast(a, dtype), cast(b, dtype)


def _full(a: Array, b: Array) -> Array:
    """Return the whole convolution.

    Where both overlap wholly it is windows of the longer vector times the other one reversed. At
    the ends only what overlaps is multiplied, so that a NaN beyond it stays away.
    """
    if b.size > a.size:
        a, b = b, a
    dtype = a.dtype
    if dtype.is_bool:
        a, b = cast(a, int64), cast(b, int64)
    n, m = a.size, b.size
    count, reverse = FUNCTIONS["arange"], FUNCTIONS["flip"](b)
    places = FUNCTIONS["add"](count(n - m + 1)[:, None], count(m))
    whole = dot_general(FUNCTIONS["take"](a, places), reverse, (1,), (0,))
    if m > 1:
        parts = [_end(a[: m - 1], b), whole, FUNCTIONS["flip"](_end(a[: n - m : -1], reverse))]
        whole = FUNCTIONS["concatenate"](parts)
    return cast(whole, dtype)


def _end(a: Array, b: Array) -> Array:
    """Return the first elements of a convolution, Σ_{j ≤ k} a_{k−j} b_j, one for each of a."""
    count = FUNCTIONS["arange"]
    places = FUNCTIONS["subtract"](count(a.size)[:, None], count(b.size))
    inside, zero = places >= 0, cast(asarray(0), a.dtype)
    where, moved = FUNCTIONS["where"], FUNCTIONS["take"](a, FUNCTIONS["maximum"](places, 0))
    left: Array = where(inside, moved, zero)
    right: Array = where(inside, FUNCTIONS["broadcast_to"](b, places.shape), zero)
    return dot_general(left, right, (1,), (1,), (0,), (0,))


def _part(full: Array, long: int, short: int, mode: str, start: int) -> Array:
    if mode not in _MODES:
        raise at_user_line(ValueError(f"mode is one of {_MODES}, not {mode!r}"))
    if mode == "full":
        return full
    if mode == "valid":
        return full[short - 1 : long]
    return full[start : start + long]


@covers("cross")
def cross(
    x: Any, y: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Array:
    """Compute the cross product of vectors of three elements along an axis of each.

    Raises ShapeMismatchError: for vectors of another length.
    """
    axisa, axisb, axisc = (axis, axis, axis) if axis is not None else (axisa, axisb, axisc)
    a, b = _three(x, axisa), _three(y, axisb)
    lead = broadcast_shapes(a.shape[1:], b.shape[1:], function="cross")
    parts = [a[i] * b[j] - a[j] * b[i] for i, j in ((1, 2), (2, 0), (0, 1))]
    result = FUNCTIONS["stack"]([stretch(part, lead) for part in parts], axis=-1)
    return FUNCTIONS["moveaxis"](result, -1, normalize_axis(axisc, result.ndim, "cross"))  # type: ignore[no-any-return]


def _three(x: Any, axis: int) -> Array:
    found = asarray(x)
    place = normalize_axis(axis, found.ndim, "cross") if found.ndim else 0
    if not found.ndim or found.shape[place] != 3:
        error = ShapeMismatchError.of(
            "cross", "a vector does not have three elements", got=f"{found.aval}, axis {axis}",
            need="size 3 there (put a zero to vectors of two)", shapes=(found.shape,),
        )  # fmt: skip
        raise at_user_line(error)
    if found.dtype is bool_:
        raise at_user_line(TypeError("cross: not defined for bools; use numbers"))
    return FUNCTIONS["moveaxis"](found, place, 0)  # type: ignore[no-any-return]


@covers("linalg.cross")
def linalg_cross(x: Any, y: Any, *, axis: int = -1) -> Array:
    """Compute the cross product of vectors of three elements along one axis of both.

    x: [*B,3]   y: [*B,3]   →   z: [*B,3]   for axis=-1

    Raises ShapeMismatchError: for vectors of another length.

    >>> import tenferro as tn
    >>> tn.linalg.cross([1, 0, 0], [0, 1, 0])
    array([0, 0, 1])
    """
    return cross(x, y, axis=axis)
