"""``pad``: elements around an array, in NumPy's modes, one axis after the other.

What is put around an axis are linear functions of the elements along it (constants, copies,
mirror images, ramps, means) or one of them (maxima, minima, medians), so that derivatives flow.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

from tenferro.arrays.errors import UnsupportedFunctionError, at_user_line
from tenferro.arrays.functions._known import elements
from tenferro.arrays.functions.indexing import getitem
from tenferro.arrays.functions.ranges import arange
from tenferro.arrays.functions.rearranging import flip
from tenferro.arrays.functions.structural import concatenate
from tenferro.arrays.handle.array import Array, another_handle
from tenferro.arrays.handle.convert import as_array, asarray
from tenferro.arrays.promotion.broadcast import cast, fitted, is_sequence, normalize_axis, stretch
from tenferro.arrays.registry import FUNCTIONS, covers
from tenferro.primitives import InvalidParameterError, float64
from tenferro.primitives import structural as p

_KEYWORDS = {
    "constant": ("constant_values",),
    "empty": (),
    "edge": (),
    "wrap": (),
    "linear_ramp": ("end_values",),
    "maximum": ("stat_length",),
    "mean": ("stat_length",),
    "median": ("stat_length",),
    "minimum": ("stat_length",),
    "reflect": ("reflect_type",),
    "symmetric": ("reflect_type",),
}


@covers("pad")
def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Array:
    """Pad an array on the sides of its axes. Mode "empty" pads with zeros.

    pad_width: n, (before, after), one such pair per axis, or a dict from axis to any of these

    Raises UnsupportedFunctionError: for a mode that is a function, which fills memory in place.

    >>> import tenferro as tn
    >>> tn.pad([1, 2], 2, mode="edge")
    array([1, 1, 1, 2, 2, 2])
    """
    found = another_handle(as_array(array))
    _check_mode(mode, kwargs)
    parameter = _parameter(mode, kwargs)
    for axis, (before, after) in enumerate(_widths(pad_width, found.ndim)):
        if before or after:
            found = _pad_axis(found, axis, before, after, mode, parameter)
    return found


def _check_mode(mode: Any, kwargs: dict[str, Any]) -> None:
    if callable(mode):
        error = UnsupportedFunctionError(
            "np.pad: a function as the mode fills memory in place, which arrays refuse\n"
            "  hint       name a mode, or join parts with np.concatenate",
            function="pad",
            nearest="pad",
        )
        raise at_user_line(error)
    if mode not in _KEYWORDS:
        raise _refuse("mode", mode, f"one of {', '.join(_KEYWORDS)}", "unknown mode")
    for name in kwargs:
        if name not in _KEYWORDS[mode]:
            need = f"keywords of mode {mode!r}: {', '.join(_KEYWORDS[mode]) or 'none'}"
            raise _refuse(name, kwargs[name], need, "the mode does not take this argument")


def _refuse(
    parameter: str, value: Any, need: str, fact: str = "the value does not fit"
) -> InvalidParameterError:
    got = f"{parameter}={value!r}"
    error = InvalidParameterError.of(
        "pad",
        fact,
        got=got,
        need=need,
        parameter=parameter,
        value=value,
    )
    return at_user_line(error)


def _parameter(mode: str, kwargs: dict[str, Any]) -> Any:
    """Return the value of the only keyword that a mode takes."""
    default = {"stat_length": None, "reflect_type": "even"}
    return next((kwargs.get(name, default.get(name, 0)) for name in _KEYWORDS[mode]), None)


def _widths(given: Any, ndim: int) -> list[tuple[int, int]]:
    if isinstance(given, dict):
        by_axis = {
            normalize_axis(axis, ndim, "pad"): _width(*_pairs(width, 1, "pad_width")[0])
            for axis, width in given.items()
        }
        return [by_axis.get(axis, (0, 0)) for axis in range(ndim)]
    return [_width(*pair) for pair in _pairs(given, ndim, "pad_width")]


def _pairs(given: Any, ndim: int, name: str) -> list[tuple[Any, Any]]:
    """Return a value for each side of each axis, from anything that broadcasts to (ndim, 2)."""
    rows = list(given) if is_sequence(given) else [given]
    nested = [is_sequence(row) for row in rows]
    if not any(nested) and len(rows) in (1, 2):
        return [(rows[0], rows[-1])] * ndim
    if rows and all(nested) and len(rows) in (1, ndim):
        pairs = [list(row) for row in rows]
        if len({len(pair) for pair in pairs}) == 1 and len(pairs[0]) in (1, 2):
            found = [(pair[0], pair[-1]) for pair in pairs]
            return found * ndim if len(found) == 1 else found
    need = f"one value, (before, after), or such a pair for each of the {ndim} axes"
    raise _refuse(name, given, need)


def _width(before: Any, after: Any) -> tuple[int, int]:
    if isinstance(before, bool) or isinstance(after, bool):
        raise at_user_line(TypeError("pad: widths are integers, not bools"))
    before, after = index(before), index(after)
    if before < 0 or after < 0:
        raise at_user_line(ValueError(f"pad: widths must not be negative, got {before}, {after}"))
    return before, after


def _pad_axis(x: Array, axis: int, before: int, after: int, mode: str, parameter: Any) -> Array:
    if mode in ("reflect", "symmetric"):
        return _mirror(x, axis, (before, after), mode == "symmetric", parameter == "odd")
    if mode == "wrap":
        _check_not_empty(x, axis, mode)
        places = [i % x.shape[axis] for i in range(-before, x.shape[axis] + after)]
        return elements(x, asarray(places), axis)
    left, right = _sides(x, axis, (before, after), mode, parameter)
    return p.concatenate([left, x, right], axis)


def _check_not_empty(x: Array, axis: int, mode: str) -> None:
    if not x.shape[axis]:
        raise at_user_line(ValueError(f"pad: no elements along axis {axis} for mode {mode!r}"))


def _sides(
    x: Array, axis: int, widths: tuple[int, int], mode: str, parameter: Any
) -> tuple[Array, Array]:
    """Return the parts that go before and after x along an axis."""
    if mode == "empty":
        mode, parameter = "constant", 0
    values = _pairs(parameter, x.ndim, _KEYWORDS[mode][0] if _KEYWORDS[mode] else mode)[axis]
    if mode == "constant":
        edges = tuple(_scalar(value, x) for value in values)
    else:
        _check_not_empty(x, axis, mode)
        edges = _part(x, axis, 0, 1), _part(x, axis, -1, None)
    if mode == "linear_ramp":
        return _ramp(edges[0], axis, widths[0], values[0]), flip(
            _ramp(edges[1], axis, widths[1], values[1]), axis
        )
    if mode in _STATISTICS:
        edges = tuple(_statistic(x, axis, mode, n, side) for side, n in enumerate(values))
    left, right = (_repeat(e, x, axis, n) for e, n in zip(edges, widths, strict=True))
    return left, right


def _scalar(value: Any, x: Array) -> Array:
    return p.reshape(fitted(value, x.dtype, "pad"), (1,) * x.ndim)


def _repeat(edge: Array, x: Array, axis: int, width: int) -> Array:
    return stretch(edge, (*x.shape[:axis], width, *x.shape[axis + 1 :]))


def _part(x: Array, axis: int, start: int, stop: int | None) -> Array:
    return getitem(x, (slice(None),) * axis + (slice(start, stop),))


def _ramp(edge: Array, axis: int, width: int, end: Any) -> Array:
    """Return values from ``end`` towards the edge, which is not reached."""
    kind = edge.dtype if edge.dtype.is_inexact else float64
    shape = [1] * edge.ndim
    shape[axis] = width
    steps = p.reshape(cast(arange(width), kind), shape) / max(width, 1)
    fitted(end, edge.dtype, "pad")  # refuses what the result cannot hold
    start = p.reshape(fitted(end, kind, "pad"), (1,) * edge.ndim)
    line = start + (cast(edge, kind) - start) * steps
    return cast(FUNCTIONS["floor"](line) if edge.dtype.is_integer else line, edge.dtype)


_STATISTICS = {"maximum": "max", "minimum": "min", "mean": "mean", "median": "median"}


def _statistic(x: Array, axis: int, mode: str, length: Any, side: int) -> Array:
    """Return a statistic of the elements next to an edge, rounded if x holds integers."""
    n = x.shape[axis]
    count = n if length is None else min(index(length), n)
    if count <= 0:
        raise _refuse("stat_length", length, "a positive number of elements")
    near = _part(x, axis, n - count, None) if side else _part(x, axis, 0, count)
    function: Callable[..., Array] = FUNCTIONS[_STATISTICS[mode]]
    found = function(near, axis=axis, keepdims=True)
    return cast(FUNCTIONS["round"](found) if x.dtype.is_integer else found, x.dtype)


def _mirror(x: Array, axis: int, widths: tuple[int, int], with_edge: bool, odd: bool) -> Array:
    """Mirror images at both edges, with the edge itself or without, until both sides are full.

    An odd image is mirrored at the edge: twice the edge minus the image. Every round mirrors whole
    periods.
    """
    _check_not_empty(x, axis, "reflect")
    period = x.shape[axis] - (not with_edge)
    if not period:  # a single element without its edge: NumPy repeats it
        return _pad_axis(x, axis, *widths, "edge", None)
    before, after = widths
    while before or after:
        n = x.shape[axis]
        whole = (n - (not with_edge)) // period * period
        left, right = min(whole, before), min(whole, after)
        skip = 0 if with_edge else 1
        parts = [
            _image(_part(x, axis, skip, skip + left), _part(x, axis, 0, 1), axis, odd),
            x,
            _image(_part(x, axis, n - skip - right, n - skip), _part(x, axis, -1, None), axis, odd),
        ]
        x = concatenate(parts, axis)
        before, after = before - left, after - right
    return x


def _image(part: Array, edge: Array, axis: int, odd: bool) -> Array:
    image = flip(part, axis)
    return cast(2 * edge - image, edge.dtype) if odd else image
