"""Cubic splines: slopes at the knots that make the second derivative continuous.

They solve a tridiagonal system whose first and last rows are the conditions at the ends.

Source  C. de Boor, A Practical Guide to Splines (1978), chapter IV.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.creation import zeros, zeros_like
from tenferro.arrays.functions.linalg.solving import solve
from tenferro.arrays.functions.linalg.structured import solve_banded
from tenferro.arrays.functions.reduction import sum as _sum
from tenferro.arrays.functions.structural import concatenate, stack
from tenferro.arrays.handle.array import Array
from tenferro.arrays.promotion.broadcast import broadcast_shapes, cast, double_if_exact, stretch
from tenferro.interpolate._hermite import CubicHermiteSpline, Samples, samples
from tenferro.primitives import InvalidParameterError, promote_dtypes

_NAMED = {"clamped": (1, 0.0), "natural": (2, 0.0)}
_NAMES = ("not-a-knot", "periodic", *_NAMED)
_NEED = (
    f"{', '.join(_NAMES)}, (1, slope) or (2, second derivative), one of them or one for each end"
)


class CubicSpline(CubicHermiteSpline):
    """The piecewise cubic interpolant with two continuous derivatives.

    x: [n], increasing   y: [*s], n values along ``axis``

    ``bc_type`` is the condition at the ends, one for both or a pair: "not-a-knot", "natural",
    "clamped", "periodic" (for both; y must end as it begins), (1, slope) or (2, second derivative).
    A periodic spline repeats unless ``extrapolate`` says otherwise.

    Raises       ShapeMismatchError, InvalidParameterError.

    >>> from tenferro.interpolate import CubicSpline
    >>> float(CubicSpline([0.0, 1.0, 2.0], [0.0, 1.0, 0.0], bc_type="natural")(0.5))
    0.6875
    """

    def __init__(
        self, x: Any, y: Any, axis: int = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None
    ) -> None:
        given = samples("CubicSpline", x, y, axis)
        ends = _conditions(bc_type)
        is_periodic = ends[0] == "periodic"
        if extrapolate is None:
            extrapolate = "periodic" if is_periodic else True
        slopes = _periodic(given) if is_periodic else _between_ends(given, ends)
        self._make(
            given, slopes, extrapolate, (x, y, *[end[1] for end in ends if end[0] in (1, 2)])
        )


def _conditions(bc_type: Any) -> list[Any]:
    """Return the two conditions: "not-a-knot", "periodic", or pairs of an order and a value.

    Raises InvalidParameterError.
    """
    ends = [bc_type, bc_type] if isinstance(bc_type, str) else list(_items(bc_type))
    found = [_NAMED.get(end, end) if isinstance(end, str) else tuple(_items(end)) for end in ends]
    one = ["periodic" in found, len(found) == 2 and found[0] == found[1] == "periodic"]
    if len(found) != 2 or not all(map(_is_condition, found)) or one == [True, False]:
        error = InvalidParameterError.of(
            "CubicSpline", "these are not conditions at two ends", got=repr(bc_type), need=_NEED,
            parameter="bc_type", value=bc_type,
        )  # fmt: skip
        raise at_user_line(error)
    return found


def _items(x: Any) -> Sequence[Any]:
    return x if isinstance(x, (tuple, list)) else ()


def _is_condition(end: Any) -> bool:
    if isinstance(end, str):
        return end in ("not-a-knot", "periodic")
    return len(end) == 2 and end[0] in (1, 2)


# ---- the system ----------------------------------------------------------------------------------


def _between_ends(given: Samples, ends: list[Any]) -> Array:
    """Return the slopes with a condition at each end."""
    n = given.x.size
    if n == 3 and ends == ["not-a-knot", "not-a-knot"]:
        return _of_parabola(given)
    if n == 2:
        ends = [(1, given.slopes[0]) if end == "not-a-knot" else end for end in ends]
    h, m = given.widths, given.slopes
    first = _end(given, ends[0], h, m, given.y[1] - given.y[0], 1)
    reversed_knots = h[::-1], m[::-1]
    last = _end(given, ends[1], *reversed_knots, given.y[-1] - given.y[-2], -1)
    widths = h.reshape(-1)
    right = concatenate([first[2], _right(given), last[2]])
    diagonals = [
        concatenate([zeros_like(first[1]), first[1], widths[:-1]]),
        concatenate([first[0], 2 * (widths[:-1] + widths[1:]), last[0]]),
        concatenate([widths[1:], last[1], zeros_like(last[1])]),
    ]
    return _banded(stack(diagonals), right)


def _right(given: Samples) -> Array:
    """Return the right sides of the inner rows."""
    h, m = given.widths, given.slopes
    return 3 * (h[1:] * m[:-1] + h[:-1] * m[1:])


def _end(
    given: Samples, condition: Any, h: Array, m: Array, rise: Array, sign: int
) -> tuple[Array, Array, Array]:
    """Return a row at an end: on the diagonal, off it, right side; intervals begin at the end."""
    widths = h.reshape(-1)
    one = zeros_like(widths[:1]) + 1
    if condition == "not-a-knot":
        both = widths[:1] + widths[1:2]
        wide = both.reshape(h[:1].shape)
        inner = (h[:1] + 2 * wide) * h[1:2] * m[:1] + h[:1] * h[:1] * m[1:2]
        return widths[1:2], both, inner / wide
    order, value = condition
    value = _of_end(value, given)[None]
    if order == 1:
        return one, 0 * one, value
    curved = sign * value * h[:1] * h[:1] / 2
    return 2 * widths[:1], widths[:1], 3 * rise[None] - curved


def _of_end(value: Any, given: Samples) -> Array:
    """Return the value of a condition, for each of the interpolated functions."""
    found, shape = double_if_exact(value), given.y.shape[1:]
    broadcast_shapes(found.shape, shape, function="CubicSpline")
    return stretch(cast(found, promote_dtypes(found.dtype, given.y.dtype)), shape)


def _banded(diagonals: Array, right: Array) -> Array:
    """Solve a tridiagonal system for all right sides, [n, *s]."""
    flat = right.reshape((right.shape[0], -1)) if right.size else right
    if not right.size:
        return right
    dtype = promote_dtypes(diagonals.dtype, right.dtype)
    found = solve_banded((1, 1), cast(diagonals, dtype), cast(flat, dtype))
    return found.reshape(right.shape)


def _of_parabola(given: Samples) -> Array:
    """Return the slopes of the parabola through three points."""
    h, m = given.widths, given.slopes
    bend = (m[1:] - m[:1]) / (h[:1] + h[1:])
    return concatenate([m[:1] - bend * h[:1], m[:1] + bend * h[:1], m[1:] + bend * h[1:]])


def _periodic(given: Samples) -> Array:
    """Return the slopes of a spline that goes on at its end as at its beginning."""
    h, m = given.widths, given.slopes
    count = h.shape[0]
    if count == 1:
        return concatenate([m, m])
    if count == 2:
        slope = _sum(m / h, 0, keepdims=True) / _sum(1 / h, 0, keepdims=True)
        return concatenate([slope, slope, slope])
    before_h, before_m = concatenate([h[-1:], h[:-1]]), concatenate([m[-1:], m[:-1]])
    right = 3 * (h * before_m + before_h * m)
    widths, before = h.reshape(-1), before_h.reshape(-1)
    rows = list(range(count))
    matrix = zeros((count, count), dtype=widths.dtype)
    matrix = matrix.at[rows, rows].set(2 * (widths + before))
    matrix = matrix.at[rows, [(i - 1) % count for i in rows]].add(widths)
    matrix = matrix.at[rows, [(i + 1) % count for i in rows]].add(before)
    if not right.size:
        return concatenate([right, right[:1]])
    dtype = promote_dtypes(matrix.dtype, right.dtype)
    found = solve(cast(matrix, dtype), cast(right, dtype).reshape((count, -1))).reshape(right.shape)
    return concatenate([found, found[:1]])
