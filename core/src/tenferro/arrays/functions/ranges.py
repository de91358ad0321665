"""Values in steps and grids of them: ``arange``, ``linspace`` and its kin, indices, meshes.

How many values there are must be known; ``linspace`` is differentiable in its ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._factories import filled
from tenferro.arrays.functions._known import known
from tenferro.arrays.functions.creation import on_device, shape_of
from tenferro.arrays.handle.array import SCALARS, Array, evaluable
from tenferro.arrays.handle.convert import as_array, asarray
from tenferro.arrays.handle.traces import is_followed, is_traced
from tenferro.arrays.promotion.broadcast import broadcast_shapes, cast, common_dtype, stretch
from tenferro.arrays.registry import FUNCTIONS, covers
from tenferro.primitives import (
    DType,
    InvalidParameterError,
    Shape,
    complex128,
    float64,
    int64,
    iota,
    promote,
)
from tenferro.primitives.comparison import eq, select


@covers("arange")
def arange(
    start: Any,
    stop: Any = None,
    step: Any = 1,
    dtype: Any = None,
    *,
    device: Any = None,
) -> Array:
    """Return evenly spaced numbers from ``start`` up to ``stop``, exclusive. The ends must be
    known. Derivatives by ``start`` and ``step`` are those of the numbers, whose count is constant.

    >>> import tenferro as tn
    >>> tn.arange(3).shape, tn.arange(0.0, 1.0, 0.25).shape
    ((3,), (4,))
    """
    first, last = (0, start) if stop is None else (start, stop)
    moving = first, 1 if step is None else step
    first, last, step = (_number(x) for x in (first, last, moving[1]))
    if not step:
        raise at_user_line(ValueError("arange: the step is zero"))
    exact = all(isinstance(x, int) for x in (first, last, step))
    count = max(0, -((first - last) // step) if exact else ceil((last - first) / step))
    kind = (
        promote(promote(type(first), type(last)), type(step)) if dtype is None else DType.of(dtype)
    )
    counted = Array(iota((count,), 0, int64).key)
    if any(isinstance(x, Array) and is_followed(x.key) for x in moving):
        first, step = moving
        exact = False
    result = counted if exact and (first, step) == (0, 1) else counted * step + first
    return on_device(cast(result, kind), device)


def _number(x: Any) -> Any:
    return x if type(x) in SCALARS else as_array(x)._concrete("the length of `arange`").item()


@covers("linspace")
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """Return ``num`` numbers in equal steps from ``start`` to ``stop``, included if ``endpoint``.

    >>> import tenferro as tn
    >>> tn.linspace(0, 1, 3)
    Array([0. , 0.5, 1. ])
    """
    count = _count(num, "linspace")
    a, b = _ends(start, stop)
    parts = count - 1 if endpoint else count
    step = (b - a) / parts if parts else filled(a, float("nan"))
    t = _counted(count, a)
    result = t * _leading(step if parts else b - a, count) + _leading(a, count)
    if endpoint and parts:
        result = select(eq(t, filled(t, parts)), _leading(b, count), result)
    result = _in_dtype(result, dtype, axis)
    found = on_device(result, device)
    return (found, Array(step.key, step.flow)) if retstep else found


def _count(num: Any, name: str) -> int:
    count = int(num.__index__())
    if count < 0:
        error = InvalidParameterError.of(
            name, "a negative number of samples", got=f"num={num}", need="num >= 0",
            parameter="num", value=num,
        )  # fmt: skip
        raise at_user_line(error)
    return count


def _ends(start: Any, stop: Any) -> tuple[Array, Array]:
    """Return both ends in one shape and floating dtype."""
    given = [x if type(x) in SCALARS else asarray(x) for x in (start, stop)]
    dtype = promote(common_dtype(given), 0.0)
    a, b = (cast(as_array(x), dtype) for x in given)
    joint = broadcast_shapes(a.shape, b.shape, function="linspace")
    return stretch(a, joint), stretch(b, joint)


def _counted(count: int, like: Array) -> Array:
    """0, 1, …, count − 1 along a new first axis."""
    numbers = cast(Array(iota((count, *like.shape), 0, int64).key), like.dtype)
    return numbers


def _leading(x: Array, count: int) -> Array:
    return stretch(x, (count, *x.shape))


def _in_dtype(x: Array, dtype: Any, axis: int) -> Array:
    """Cast to a dtype, rounding integers down, and move the values to an axis."""
    if dtype is not None:
        kind = DType.of(dtype)
        x = cast(FUNCTIONS["floor"](x) if kind.is_integer else x, kind)
    return FUNCTIONS["moveaxis"](x, 0, axis) if axis else x


@covers("logspace")
def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Array:
    """Return numbers that are evenly spaced on a logarithmic scale, as powers of ``base``."""
    ends = [x if type(x) in SCALARS else asarray(x) for x in (start, stop, base)]
    rank = max(as_array(x).ndim for x in ends)
    ends = [x if type(x) in SCALARS else _of_rank(x, rank) for x in ends]
    joint = broadcast_shapes(*[as_array(x).shape for x in ends], function="logspace")
    start, stop = (x if type(x) in SCALARS else stretch(x, joint) for x in ends[:2])
    exponents = linspace(start, stop, num, endpoint)
    if exponents.ndim < len(joint) + 1:  # only the base has axes
        exponents = FUNCTIONS["reshape"](exponents, (exponents.shape[0],) + (1,) * len(joint))
    return _in_dtype(FUNCTIONS["power"](ends[2], exponents), dtype, axis)


def _of_rank(x: Any, rank: int) -> Array:
    found = as_array(x)
    return FUNCTIONS["reshape"](found, (1,) * (rank - found.ndim) + found.shape)  # type: ignore[no-any-return]


def _refuse_zeros(*ends: Array) -> None:
    """Refuse a ratio to or from 0, where the ends are known."""
    for end in ends:
        if evaluable(end.key) and not is_traced(end.key) and not known(end, "geomspace", "").all():
            raise at_user_line(ValueError("geomspace: start and stop must not be 0"))


@covers("geomspace")
def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Array:
    """Return ``num`` numbers in equal ratios from ``start`` to ``stop``, neither of which is 0."""
    count = _count(num, "geomspace")
    a, b = _ends(start, stop)
    _refuse_zeros(a, b)
    kind = complex128 if a.dtype.is_complex else float64  # as NumPy has it, whatever the ends
    a, b = cast(a, kind), cast(b, kind)
    parts = count - 1 if endpoint else count
    t = _counted(count, a)
    growth = FUNCTIONS["log"](b / a) / max(parts, 1)
    result = FUNCTIONS["exp"](t * _leading(growth, count)) * _leading(a, count)
    result = select(eq(t, filled(t, 0)), _leading(a, count), result)
    if endpoint and parts:
        result = select(eq(t, filled(t, parts)), _leading(b, count), result)
    return _in_dtype(result, dtype, axis)


# ---- grids ---------------------------------------------------------------------------------------


@covers("meshgrid")
def meshgrid(
    *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[Array, ...]:
    """Return coordinate arrays, one per axis of a grid, from the coordinates along each axis.

    With ``indexing="xy"`` the first two axes change places, as in a picture.
    """
    if indexing not in ("xy", "ij"):
        raise at_user_line(ValueError("meshgrid: indexing is 'xy' or 'ij'"))
    flat = [FUNCTIONS["ravel"](x) for x in xi]
    order = list(range(len(flat)))
    if indexing == "xy" and len(flat) > 1:
        order[:2] = [1, 0]
    sizes = [0] * len(flat)
    for place, x in zip(order, flat, strict=True):
        sizes[place] = x.size
    open_grid = [_along(x, place, len(flat)) for x, place in zip(flat, order, strict=True)]
    if sparse:
        return tuple(open_grid)
    return tuple(stretch(x, tuple(sizes)) for x in open_grid)


def _along(x: Array, axis: int, rank: int) -> Array:
    """Reshape a vector to an array whose other axes have size 1."""
    sizes = [1] * rank
    sizes[axis] = x.size
    return FUNCTIONS["reshape"](x, tuple(sizes))  # type: ignore[no-any-return]


@covers("indices")
def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    """Return the indices of each axis of a grid, stacked; a tuple of open grids if ``sparse``."""
    sizes, kind = shape_of(dimensions), DType.of(dtype)
    if sparse:
        each = [_counted_axis((n,), 0, kind) for n in sizes]
        return tuple(_along(x, i, len(sizes)) for i, x in enumerate(each))
    return _stacked([_counted_axis(sizes, i, kind) for i in range(len(sizes))], sizes, kind)


def _counted_axis(sizes: Shape, axis: int, kind: DType) -> Array:
    return cast(Array(iota(sizes, axis, int64).key), kind)


def _stacked(parts: Sequence[Array], sizes: Shape, kind: DType) -> Array:
    if not parts:
        return FUNCTIONS["zeros"]((0, *sizes), kind)  # type: ignore[no-any-return]
    return FUNCTIONS["stack"](parts)  # type: ignore[no-any-return]
