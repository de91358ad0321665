"""Differences, slopes, sums of trapezoids, interpolation: calculus on samples.

All of it is linear in the samples, and derivatives flow to the places of the samples, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.handle.array import SCALARS, Array, another_handle
from tenferro.arrays.handle.convert import as_array, asarray
from tenferro.arrays.handle.views import view_of
from tenferro.arrays.promotion.broadcast import (
    cast,
    fitted,
    normalize_axes,
    normalize_axis,
    stretch,
)
from tenferro.arrays.registry import FUNCTIONS, covers
from tenferro.primitives import ShapeMismatchError, complex128, float64, searchsorted
from tenferro.primitives.comparison import logical_xor
from tenferro.primitives.structural import stop_gradient


def _cut(x: Array, axis: int, start: int | None, stop: int | None) -> Array:
    """Take a range of positions along an axis."""
    return x[(slice(None),) * axis + (slice(start, stop),)]


@covers("diff")
def diff(x: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Array:
    """Compute the n-th differences of neighbours along an axis; of bools, whether they differ.

    >>> import tenferro as tn
    >>> tn.diff(tn.arange(4) ** 2)
    Array([1, 3, 5])
    """
    if n < 0:
        raise at_user_line(ValueError(f"diff: n must not be negative, got {n}"))
    found = another_handle(asarray(x))
    if not found.ndim:
        raise at_user_line(ValueError("diff: need at least one axis, got a scalar"))
    along = normalize_axis(axis, found.ndim, "diff")
    if not n:
        return view_of(x, found) if isinstance(x, Array) else found  # without what is prepended
    parts = [_edge(prepend, found, along), found, _edge(append, found, along)]
    given = [part for part in parts if part is not None]
    found = FUNCTIONS["concatenate"](given, axis=along) if len(given) > 1 else found
    for _ in range(n):
        high, low = _cut(found, along, 1, None), _cut(found, along, None, -1)
        found = logical_xor(high, low) if found.dtype.is_bool else high - low
    return found


def _edge(values: Any, x: Array, axis: int) -> Array | None:
    if values is None:
        return None
    found = asarray(values)
    shape = tuple(1 if i == axis else n for i, n in enumerate(x.shape))
    return stretch(found, shape) if not found.ndim else found


@covers("ediff1d")
def ediff1d(x: Any, to_end: Any = None, to_begin: Any = None) -> Array:
    """Compute the differences of neighbours in the flattened array, between given end values."""
    flat = FUNCTIONS["ravel"](asarray(x))
    parts = [flat[1:] - flat[:-1]]
    if to_begin is not None:
        parts.insert(0, _of_kind(to_begin, flat, "to_begin"))
    if to_end is not None:
        parts.append(_of_kind(to_end, flat, "to_end"))
    return FUNCTIONS["concatenate"](parts) if len(parts) > 1 else parts[0]  # type: ignore[no-any-return]


def _of_kind(values: Any, x: Array, name: str) -> Array:
    found = asarray(values)
    if not FUNCTIONS["can_cast"](found.dtype, x.dtype, "same_kind"):
        raise at_user_line(TypeError(f"ediff1d: {name} is {found.dtype}, which {x.dtype} is not"))
    return cast(FUNCTIONS["ravel"](found), x.dtype)


@covers("trapezoid", "trapz")
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Array:
    """Integrate samples along an axis by the trapezoidal rule."""
    found = asarray(y)
    along = normalize_axis(axis, found.ndim, "trapezoid")
    if x is not None:
        places = asarray(x)
        steps = diff(places) if places.ndim == 1 else diff(places, axis=along)
        if places.ndim == 1:
            if steps.size not in (1, found.shape[along] - 1):
                raise _other_places(found, along, places)
            steps = FUNCTIONS["reshape"](steps, _vector_shape(steps.size, along, found.ndim))
    else:
        steps = dx
    sums = _cut(found, along, 1, None) + _cut(found, along, None, -1)
    return FUNCTIONS["sum"](FUNCTIONS["multiply"](steps, sums) / 2.0, axis=along)  # type: ignore[no-any-return]


def _other_places(samples: Array, axis: int, places: Array) -> Exception:
    error = ShapeMismatchError.of(
        "trapezoid",
        "not as many places as samples",
        got=f"y {samples.aval} with axis {axis}, x {places.aval}",
        need=f"x of {samples.shape[axis]} places",
        shapes=(samples.shape, places.shape),
    )
    return at_user_line(error)


def _vector_shape(size: int, axis: int, ndim: int) -> tuple[int, ...]:
    return tuple(size if i == axis else 1 for i in range(ndim))


# ---- gradient ------------------------------------------------------------------------------------


@covers("gradient")
def gradient(x: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Estimate the gradient: central differences inside, one-sided ones at the ends.

    Steps or coordinates of the samples may follow, one for all axes or one each. With unequal steps
    a, b the slope is that of the parabola through three neighbours. Slopes have the dtype of x, or
    float64 if that is of integers.

    Source  Fornberg, Math. Comp. 51 (1988) 699
    """
    found = asarray(x)
    if found.dtype.is_bool and found.ndim:
        raise at_user_line(TypeError("gradient: not defined for bools; convert them first"))
    found = found if found.dtype.is_inexact else cast(found, float64)
    axes = normalize_axes(axis, found.ndim, "gradient") if axis is None else _in_order(axis, found)
    steps = _steps(varargs, axes, found)
    if edge_order not in (1, 2):
        raise at_user_line(ValueError("gradient: edge_order is 1 or 2"))
    for a in axes:
        if found.shape[a] < edge_order + 1:
            raise at_user_line(ValueError(f"gradient: too few samples, {found.aval} on axis {a}"))
    pairs = zip(steps, axes, strict=True)
    slopes = [fitted(_slope(found, h, a, edge_order), found.dtype, "gradient") for h, a in pairs]
    if axis is not None and not isinstance(axis, (tuple, list)):
        return slopes[0]
    return slopes[0] if len(slopes) == 1 else tuple(slopes)


def _in_order(axis: Any, x: Array) -> tuple[int, ...]:
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    normalize_axes(axis, x.ndim, "gradient")
    return tuple(normalize_axis(a, x.ndim, "gradient") for a in given)


def _steps(varargs: Sequence[Any], axes: Sequence[int], x: Array) -> list[Any]:
    """Return, for each axis, a step or the distances of its coordinates."""
    if len(varargs) not in (0, 1, len(axes)):
        raise at_user_line(TypeError("gradient: give one step for all axes, or one per axis"))
    given = list(varargs) or [1.0]
    given = given * len(axes) if len(given) == 1 else given
    return [_step(h, a, x) for h, a in zip(given, axes, strict=True)]


def _step(h: Any, axis: int, x: Array) -> Any:
    if type(h) in SCALARS or not as_array(h).ndim:
        return h
    places = asarray(h)
    if places.shape != (x.shape[axis],):
        error = ShapeMismatchError.of(
            "gradient", "not as many coordinates as samples", got=f"{places.aval} for {x.aval}",
            need=f"{x.shape[axis]} coordinates", shapes=(places.shape, x.shape),
        )  # fmt: skip
        raise at_user_line(error)
    distances = diff(places if places.dtype.is_inexact else cast(places, float64))
    return FUNCTIONS["reshape"](distances, _vector_shape(distances.size, axis, x.ndim))


def _slope(f: Array, h: Any, axis: int, edge_order: int) -> Array:
    inner = _inside(f, h, axis)
    ends = [_end(f, h, axis, edge_order), _end(f, h, axis, edge_order, last=True)]
    return FUNCTIONS["concatenate"]([ends[0], inner, ends[1]], axis=axis)  # type: ignore[no-any-return]


def _inside(f: Array, h: Any, axis: int) -> Array:
    low, mid, high = _cut(f, axis, None, -2), _cut(f, axis, 1, -1), _cut(f, axis, 2, None)
    if _is_one_step(h):
        return (high - low) / (2.0 * h)  # type: ignore[no-any-return]
    a, b = _cut(h, axis, None, -1), _cut(h, axis, 1, None)
    return -b / (a * (a + b)) * low + (b - a) / (a * b) * mid + a / (b * (a + b)) * high


def _is_one_step(h: Any) -> bool:
    return type(h) in SCALARS or not as_array(h).ndim


def _end(f: Array, h: Any, axis: int, order: int, last: bool = False) -> Array:
    """Estimate the slope at the first sample, or at the last one."""
    n, sign = f.shape[axis], -1.0 if last else 1.0

    def at(i: int, x: Array = f) -> Array:
        place = x.shape[axis] - 1 - i if last else i
        return _cut(x, axis, place, place + 1)

    one = _is_one_step(h)
    first = h if one else at(0, h)
    if order == 1 or n < 3:
        rise = at(0) - at(1) if last else at(1) - at(0)
        return rise / first
    second = h if one else at(1, h)
    if one:
        return (-1.5 * at(0) + 2.0 * at(1) - 0.5 * at(2)) / h * sign  # type: ignore[no-any-return]
    total = first + second
    outer, middle = -(first + total) / (first * total), total / (first * second)
    return (outer * at(0) + middle * at(1) - first / (second * total) * at(2)) * sign


# ---- interpolation -------------------------------------------------------------------------------


@covers("interp")
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Array:
    """Interpolate linearly at x between the points (xp, fp), whose xp increase.

    Beyond the points it is ``left`` and ``right``, by default the values of the outermost points;
    with ``period`` it repeats.

    Raises ValueError: for a period of 0.
    """
    at, places, values = _points(x, xp, fp)
    if period is not None:
        if isinstance(period, (int, float)) and not period:
            raise at_user_line(ValueError("interp: a period of 0"))
        at, places, values = _periodic(at, places, values, abs(period))
        left = right = None
    n = places.size
    lower = values[0] if left is None else fitted(left, values.dtype, "interp")
    upper = values[-1] if right is None else fitted(right, values.dtype, "interp")
    where = FUNCTIONS["where"]
    inside = _between(at, places, values) if n > 1 else stretch(values[0], at.shape)
    return where(at < places[0], lower, where(at > places[n - 1], upper, inside))  # type: ignore[no-any-return]


def _points(x: Any, xp: Any, fp: Any) -> tuple[Array, Array, Array]:
    at, places, values = asarray(x), asarray(xp), asarray(fp)
    if places.ndim != 1 or values.shape != places.shape or not places.size:
        error = ShapeMismatchError.of(
            "interp", "the points are not pairs", got=f"xp: {places.aval}, fp: {values.aval}",
            need="vectors of one length, at least 1", shapes=(places.shape, values.shape),
        )  # fmt: skip
        raise at_user_line(error)
    kind = complex128 if values.dtype.is_complex else float64
    return _real64(at), _real64(places), cast(values, kind)


def _real64(x: Array) -> Array:
    if x.dtype.is_complex:
        raise at_user_line(TypeError(f"interp: places are real, not {x.aval}"))
    return cast(x, float64)


def _periodic(at: Array, places: Array, values: Array, period: Any) -> tuple[Array, Array, Array]:
    """Return one period of the points, with one neighbour before and one after it."""
    modulo, take = FUNCTIONS["remainder"], FUNCTIONS["take"]
    at, places = modulo(at, period), modulo(places, period)
    order = FUNCTIONS["argsort"](places)
    places, values = take(places, order), take(values, order)
    join = FUNCTIONS["concatenate"]
    places = join([places[-1:] - period, places, places[:1] + period])
    return at, places, join([values[-1:], values, values[:1]])


def _between(at: Array, places: Array, values: Array) -> Array:
    """Interpolate on the segment of each place; the outermost segments extend beyond the ends.

    At a point the value is that of the point, whatever the slope; its derivative is the slope.
    """
    take, where = FUNCTIONS["take"], FUNCTIONS["where"]
    after = searchsorted(stop_gradient(places), stop_gradient(at), side="right")
    low = FUNCTIONS["clip"](after - 1, 0, places.size - 2)
    x0, y0 = take(places, low), take(values, low)
    x1, y1 = take(places, low + 1), take(values, low + 1)
    slope = (y1 - y0) / (x1 - x0)
    is_last = stop_gradient(at) == stop_gradient(x1)  # a place at any other point begins a segment
    offset = at - where(is_last, x1, x0)
    step = where((offset == 0) & ~FUNCTIONS["isfinite"](slope), 0, slope * offset)
    return step + where(is_last, y1, y0)  # type: ignore[no-any-return]
