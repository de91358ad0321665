"""Arrays at places between their elements, by the names of scipy.ndimage; differentiable here.

An array is continued beyond its edges by a mode and interpolated by a B-spline; derivatives flow to
its elements and to the places. SciPy converts what it is given, and refuses Arrays.

>>> import numpy as np
>>> import tenferro as tn
>>> image = np.arange(6.0).reshape(2, 3)
>>> tn.ndimage.map_coordinates(image, [[0.5], [1.0]], order=1)
array([2.5])
"""

from __future__ import annotations

from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import at_user_line, unknown_option
from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.arithmetic import clip
from tenferro.arrays.functions.comparison import greater_equal, less, less_equal, logical_and, where
from tenferro.arrays.functions.padding import pad
from tenferro.arrays.functions.ranges import arange
from tenferro.arrays.functions.rearranging import flip
from tenferro.arrays.functions.reduction import sum as _sum
from tenferro.arrays.functions.rounding import floor
from tenferro.arrays.functions.structural import stack
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import cast, double_if_exact
from tenferro.primitives import (
    DTypeMismatchError,
    ShapeMismatchError,
    int64,
    promote_dtypes,
)
from tenferro.primitives._boundary import publish as _publish
from tenferro.primitives.structural import stop_gradient
from tenferro.signal._filters import lfilter

__all__ = ["map_coordinates", "spline_filter"]

_POLE = 3**0.5 - 2  # of the recursive filter whose inverse is (1, 4, 1) / 6
_TAIL = 30  # elements after which a power of the pole is below all digits
_REACH = 3  # so far outside, all elements around a place are the one at the edge
_MARGIN = 12  # elements that SciPy adds at each side for the modes nearest and grid-constant


class _Mode(NamedTuple):
    """Names of continuations: for places, for the elements around them, and for the filter."""

    places: str
    elements: str
    filter: str


_MODES = {
    "reflect": _Mode("reflect", "reflect", "symmetric"),
    "grid-mirror": _Mode("reflect", "reflect", "symmetric"),
    "mirror": _Mode("mirror", "mirror", "reflect"),
    "nearest": _Mode("nearest", "nearest", "symmetric"),
    "constant": _Mode("inside", "mirror", "reflect"),
    "grid-constant": _Mode("any", "constant", "reflect"),
    "wrap": _Mode("wrap", "mirror", "reflect"),
    "grid-wrap": _Mode("cycle", "cycle", "wrap"),
}


def map_coordinates(
    input: Any,
    coordinates: Any,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Array:
    """Evaluate an array at places, by a spline of order 0 (the nearest element), 1 or 3.

    input: f[*s]   coordinates: [rank, *p], in units of elements   →   [*p], of the input's dtype

    Modes are SciPy's: reflect (also grid-mirror), mirror, nearest, constant, grid-constant, wrap,
    grid-wrap. With the mode constant a place outside gives ``cval``. ``prefilter=False`` says that
    the input has the coefficients of the spline, which ``spline_filter`` computes. Between
    two elements the derivative by a place is that of the piece to the right. Half-way between two
    elements, order 0 takes that of SciPy.

    Raises       ShapeMismatchError, InvalidParameterError; DTypeMismatchError: of integers, whose
                 results SciPy truncates.

    The coefficients are exact to rounding; SciPy's for the mode reflect are off by up to 1e-4 of
    the values where an axis has fewer than 10 elements.

    Source       M. Unser, IEEE Signal Processing Magazine 16 (1999) 22, table 1 and box 2

    >>> from tenferro.ndimage import map_coordinates
    >>> map_coordinates([0.0, 1.0, 8.0, 27.0], [[1.0, 1.5]]).round(6)
    array([1.  , 2.25])
    """
    image = _image("map_coordinates", input)
    places = double_if_exact(coordinates)
    places = cast(places, promote_dtypes(places.dtype, image.dtype.real_dtype))
    kind = _option("mode", mode, _MODES)
    _option("order", order, (0, 1, 3))
    if not places.ndim or places.shape[0] != image.ndim or 0 in image.shape:
        error = ShapeMismatchError.of(
            "map_coordinates", "not one row of coordinates for each axis",
            got=f"input {image.aval}, coordinates {places.aval}",
            need=f"coordinates [{image.ndim}, ...], and elements in the input",
            shapes=(image.shape, places.shape),
        )  # fmt: skip
        raise at_user_line(error)
    shift = 0
    if prefilter and order > 1:
        image, shift = _with_margin(image, mode, cval)
        image = _filtered(image, kind.filter, range(image.ndim))
    return _evaluated(image, places + shift, order, kind, cval)


def spline_filter(input: Any, order: int = 3, mode: str = "mirror") -> Array:
    """Compute the coefficients of the cubic spline through the elements of an array.

    Raises       InvalidParameterError, DTypeMismatchError.

    >>> from tenferro.ndimage import spline_filter
    >>> spline_filter([1.0, 1.0, 1.0]).round(12)
    array([1., 1., 1.])
    """
    image = _image("spline_filter", input)
    _option("order", order, (0, 1, 3), "spline_filter")
    kind = _option("mode", mode, _MODES, "spline_filter")
    return _filtered(image, kind.filter, range(image.ndim)) if order > 1 else image


def _image(function: str, given: Any) -> Array:
    image = as_array(given)
    if not image.dtype.is_inexact:
        error = DTypeMismatchError.of(
            function, "what lies between integers is not an integer", got=image.aval,
            need="floats or complex numbers: `x.astype(float)`", dtypes=(image.dtype,),
        )  # fmt: skip
        raise at_user_line(error)
    return image


def _option(parameter: str, value: Any, known: Any, function: str = "map_coordinates") -> Any:
    """Return what a table has of an option. Raises InvalidParameterError: if it has nothing."""
    if value not in known:
        need = ", ".join(map(str, known))
        raise at_user_line(unknown_option(function, parameter, value, need))
    return known[value] if isinstance(known, dict) else value


# ---- coefficients --------------------------------------------------------------------------------


def _with_margin(image: Array, mode: str, cval: Any) -> tuple[Array, int]:
    """Continue an array explicitly where its spline does not end at the edges."""
    if mode == "nearest":
        return pad(image, _MARGIN, mode="edge"), _MARGIN
    if mode == "grid-constant":
        return pad(image, _MARGIN, constant_values=cval), _MARGIN
    return image, 0


def _filtered(image: Array, mode: str, axes: range) -> Array:
    """Invert (1, 4, 1) / 6 along axes by two recursive filters, which begin far outside."""
    for axis in axes:
        n = image.shape[axis]
        if n == 1:
            continue
        widths = [(_TAIL, _TAIL) if d == axis else (0, 0) for d in range(image.ndim)]
        one, below, gain = [
            cast(as_array(taps), image.dtype) for taps in ([1.0], [1.0, -_POLE], [-6 * _POLE])
        ]
        forward = lfilter(one, below, pad(image, widths, mode=mode), axis)
        backward = lfilter(gain, below, flip(forward, axis), axis)
        index: list[Any] = [slice(None)] * image.ndim
        index[axis] = slice(_TAIL, _TAIL + n)
        image = flip(backward, axis)[tuple(index)]
    return image


# ---- evaluation ----------------------------------------------------------------------------------


def _evaluated(image: Array, places: Array, order: int, kind: _Mode, cval: Any) -> Array:
    """Add up the elements around each place with the weights of B-splines."""
    rank, index, weights = image.ndim, [], []
    inside: list[Array] = []
    valid: list[Array] = []
    for d, n in enumerate(image.shape):
        place = places[d]
        if kind.places == "inside":
            inside.append(logical_and(greater_equal(place, 0), less_equal(place, n - 1)))
        moved = (_moved if order else _folded)(place, n, kind.places)
        first = floor(stop_gradient(moved) + (0.5 if order == 0 else 0)) - order // 2
        weights.append(_weights(moved - first, order))
        around = cast(first, int64)[..., None] + arange(order + 1)
        if kind.elements == "constant":
            valid.append(logical_and(greater_equal(around, 0), less_equal(around, n - 1)))
        shape = [*places.shape[1:], *[order + 1 if axis == d else 1 for axis in range(rank)]]
        index.append(_element(around, n, kind.elements).reshape(shape))
    found = image[tuple(index)] if rank else image
    for d, mask in enumerate(valid):
        shape = [*places.shape[1:], *[order + 1 if axis == d else 1 for axis in range(rank)]]
        found = where(mask.reshape(shape), found, cval)
    for weight in reversed(weights):
        shape = [*weight.shape[:-1], *[1] * (found.ndim - weight.ndim), weight.shape[-1]]
        found = _sum(found * weight.reshape(shape), -1)
    for mask in inside:
        found = where(mask, found, cval)
    return cast(found, image.dtype)


def _weights(t: Array, order: int) -> Array:
    """Return the weights of the elements around a place, which is t after the first of them."""
    if order == 0:
        return (t * 0 + 1)[..., None]
    if order == 1:
        return stack([1 - t, t], -1)
    t = t - 1
    s = 1 - t
    parts = [s * s * s, 4 - 6 * t * t + 3 * t * t * t, 4 - 6 * s * s + 3 * s * s * s, t * t * t]
    return stack(parts, -1) / 6


def _moved(place: Array, n: int, mode: str) -> Array:
    """Return a place within the array that has the same value."""
    if mode == "nearest":
        return clip(place, -_REACH, n - 1 + _REACH)
    if mode == "wrap":
        period = max(n - 1, 1)
        after = where(place > n - 1, _periods(place, period), 0)
        beyond = where(place < 0, -1 - _periods(-place, period), after)  # SciPy's, (0, n - 1]
        found: Array = place - beyond * period
        return found
    periods = {"cycle": n, "mirror": max(2 * n - 2, 1), "reflect": 2 * n}
    if mode not in periods:
        return place
    return place - _periods(place, periods[mode]) * periods[mode]


def _folded(place: Array, n: int, mode: str) -> Array:
    """Return a place within the array whose nearest element SciPy takes, also half-way."""
    if mode not in ("mirror", "reflect"):
        return _moved(place, n, mode)
    is_reflect = mode == "reflect"
    period = max(2 * n if is_reflect else 2 * n - 2, 1)
    below = place + _periods(-place, period) * period
    is_far = less(below, -n) if is_reflect else less_equal(below, 1 - n)
    left = where(is_far, below + period, -below - is_reflect)
    above = place - _periods(place, period) * period
    right = where(greater_equal(above, n), period - above - is_reflect, above)
    found: Array = where(less(place, 0), left, right)
    return found


def _periods(place: Array, period: int) -> Array:
    return stop_gradient(floor(place / period))


def _element(i: Array, n: int, mode: str) -> Array:
    """Return the element that stands for the i-th one, which may lie outside."""
    if n == 1:
        return i * 0
    if mode in ("constant", "nearest"):
        return clip(i, 0, n - 1)
    if mode == "cycle":
        return i % n
    period = 2 * n - 2 if mode == "mirror" else 2 * n
    within = i % period
    found: Array = where(within < n, within, period - within - (mode == "reflect"))
    return found


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)
