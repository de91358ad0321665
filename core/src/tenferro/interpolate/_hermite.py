"""Piecewise cubic polynomials from values and slopes at knots, and slopes that keep monotony.

Read next: ``_cubic_spline.py``, which chooses slopes with a continuous second derivative.
"""

from __future__ import annotations

from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.arithmetic import absolute as _abs
from tenferro.arrays.functions.arithmetic import sign
from tenferro.arrays.functions.comparison import equal, logical_and, logical_or, not_equal, where
from tenferro.arrays.functions.structural import concatenate, moveaxis, stack
from tenferro.arrays.handle.array import Array
from tenferro.arrays.promotion.broadcast import (
    cast,
    common_dtype,
    double_if_exact,
    normalize_axis,
)
from tenferro.interpolate._piecewise import PPoly, real_places, require_increasing
from tenferro.primitives import DTypeMismatchError, ShapeMismatchError


class Samples(NamedTuple):
    """Values at knots, with the axis of the knots in front, and what follows from them."""

    x: Array  # [n]
    y: Array  # [n, *s]
    axis: int
    widths: Array  # [n - 1, *ones]
    slopes: Array  # [n - 1, *s]: of straight lines between neighbours


def samples(function: str, x: Any, y: Any, axis: int) -> Samples:
    """Return values and knots in one floating dtype.

    Raises ShapeMismatchError: if there are not as many values as knots, or fewer than 2;
    InvalidParameterError: if knots that are known do not increase.
    """
    knots, values = real_places(function, x), double_if_exact(y)
    place = normalize_axis(axis, values.ndim, function)
    values = moveaxis(values, place, 0)
    if knots.ndim != 1 or knots.size < 2 or values.shape[:1] != knots.shape:
        error = ShapeMismatchError.of(
            function, "not one value for each knot", got=f"x {knots.aval}, y {values.aval}",
            need="x [n] with n >= 2, and n values along the axis of y",
            shapes=(knots.shape, values.shape),
        )  # fmt: skip
        raise at_user_line(error)
    require_increasing(function, knots, strictly=True)
    dtype = common_dtype([knots, values])
    values = cast(values, dtype)
    knots = knots if dtype.is_complex else cast(knots, dtype)
    widths = (knots[1:] - knots[:-1]).reshape((-1, *[1] * (values.ndim - 1)))
    return Samples(knots, values, place, widths, (values[1:] - values[:-1]) / widths)


def coefficients(given: Samples, slopes: Array) -> Array:
    """Return the coefficients of the cubic polynomials with given slopes at the knots."""
    left, right = slopes[:-1], slopes[1:]
    bend = (left + right - 2 * given.slopes) / given.widths
    parts = [bend / given.widths, (given.slopes - left) / given.widths - bend, left]
    return stack([*parts, given.y[:-1]])


class CubicHermiteSpline(PPoly):
    """A piecewise cubic polynomial with given values and slopes at knots.

    x: [n], increasing   y, dydx: [*s], n values along ``axis``

    >>> from tenferro.interpolate import CubicHermiteSpline
    >>> float(CubicHermiteSpline([0.0, 1.0], [0.0, 1.0], [0.0, 3.0])(0.5))  # of x³
    0.125
    """

    def __init__(self, x: Any, y: Any, dydx: Any, axis: int = 0, extrapolate: Any = None) -> None:
        given = samples("CubicHermiteSpline", x, y, axis)
        slopes = moveaxis(double_if_exact(dydx), axis, 0)
        if slopes.shape != given.y.shape:
            error = ShapeMismatchError.of(
                "CubicHermiteSpline", "not one slope for each value", got=f"{slopes.aval}",
                need=f"the shape {given.y.shape} of y", shapes=(given.y.shape, slopes.shape),
            )  # fmt: skip
            raise at_user_line(error)
        self._make(given, slopes, extrapolate, (x, y, dydx))

    def _make(self, given: Samples, slopes: Array, extrapolate: Any, origin: Any) -> None:
        beyond = True if extrapolate is None else extrapolate
        super().__init__(coefficients(given, slopes), given.x, beyond, given.axis)
        self._given = origin


class PchipInterpolator(CubicHermiteSpline):
    """A piecewise cubic polynomial that keeps the monotony of its values.

    x: [n], increasing   y: [*s], n real values along ``axis``

    Where the values turn the slope is 0, and a constant for derivatives.

    Source       F. N. Fritsch, J. Butland, SIAM J. Sci. Stat. Comput. 5 (1984) 300; the ends:
                 C. B. Moler, Numerical Computing with MATLAB (2004), section 3.6

    >>> from tenferro.interpolate import PchipInterpolator
    >>> float(PchipInterpolator([0.0, 1.0, 2.0], [0.0, 1.0, 1.0])(1.5))  # it does not overshoot
    1.0
    """

    def __init__(self, x: Any, y: Any, axis: int = 0, extrapolate: Any = None) -> None:
        given = samples("PchipInterpolator", x, y, axis)
        if given.y.dtype.is_complex:
            error = DTypeMismatchError.of(
                "PchipInterpolator", "complex numbers have no order", got=given.y.aval,
                need="real values", dtypes=(given.y.dtype,),
            )  # fmt: skip
            raise at_user_line(error)
        self._make(given, _monotone_slopes(given), extrapolate, (x, y))


def _monotone_slopes(given: Samples) -> Array:
    h, m = given.widths, given.slopes
    if m.shape[0] == 1:
        return concatenate([m, m])
    turns = logical_or(not_equal(sign(m[1:]), sign(m[:-1])), equal(m[1:] * m[:-1], 0))
    first, second = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    before, after = where(turns, 1, m[:-1]), where(turns, 1, m[1:])
    inner = where(turns, 0, (first + second) / (first / before + second / after))
    ends = [
        _end_slope(*parts) for parts in ((h[0], h[1], m[0], m[1]), (h[-1], h[-2], m[-1], m[-2]))
    ]
    return concatenate([ends[0][None], inner, ends[1][None]])


def _end_slope(h0: Array, h1: Array, m0: Array, m1: Array) -> Array:
    """Return the slope at an end by three points, limited so that it keeps the shape."""
    slope = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    too_steep = logical_and(not_equal(sign(m0), sign(m1)), _abs(slope) > 3 * _abs(m0))
    limited = where(too_steep, 3 * m0, slope)
    found: Array = where(not_equal(sign(slope), sign(m0)), 0, limited)
    return found
