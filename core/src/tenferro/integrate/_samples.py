"""Integrals of samples: rules that are linear in the samples, with places at any distance."""

from __future__ import annotations

from typing import Any

from tenferro.arrays.errors import at_user_line, unknown_option
from tenferro.arrays.functions.calculus import diff
from tenferro.arrays.functions.comparison import equal, where
from tenferro.arrays.functions.creation import zeros_like
from tenferro.arrays.functions.cumulative import cumsum
from tenferro.arrays.functions.indexing import take
from tenferro.arrays.functions.rearranging import flip
from tenferro.arrays.functions.reduction import sum as _sum
from tenferro.arrays.functions.structural import concatenate, moveaxis
from tenferro.arrays.handle.array import Array, evaluable
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import double_if_exact, normalize_axis
from tenferro.primitives import InvalidParameterError, ShapeMismatchError


def simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: int = -1) -> Array:
    """Integrate samples along an axis by Simpson's rule.

    y: [*s]   x: None, [n] or as y   →   [*s without the axis]

    With an even number of samples the last interval is that of the parabola through the last three.

    Source       K. V. Cartwright, Simpson's Rule Cumulative Integration with MS Excel and
                 Irregularly-Spaced Data (2017), equation 8

    >>> from tenferro.integrate import simpson
    >>> float(simpson([0.0, 1.0, 8.0]))  # of x³, exact
    4.0
    """
    values, steps = _samples("simpson", y, x, dx, axis)
    n = values.shape[-1]
    if n == 2:
        return _sum((values[..., 1:] + values[..., :-1]) / 2 * steps, -1)
    found = _sum(_parabolas(values, steps, n if n % 2 else n - 1), -1)
    return found if n % 2 else found + _last_interval(values, steps)


def _parabolas(y: Array, h: Array, count: int) -> Array:
    """Return the integrals over pairs of intervals, of the first ``count`` samples."""
    left, middle, right = y[..., : count - 2 : 2], y[..., 1 : count - 1 : 2], y[..., 2:count:2]
    a, b = h[..., : count - 2 : 2], h[..., 1 : count - 1 : 2]
    both = a + b
    inner = _ratio(both * both, a * b) * middle
    return both / 6 * (left * (2 - _ratio(b, a)) + inner + right * (2 - _ratio(a, b)))


def _last_interval(y: Array, h: Array) -> Array:
    """Return the integral over the last interval of the parabola through the last three samples."""
    a, b = h[..., -2], h[..., -1]
    both = a + b
    last = _ratio(2 * b * b + 3 * a * b, 6 * both) * y[..., -1]
    middle = _ratio(b * b + 3 * a * b, 6 * a) * y[..., -2]
    return last + middle - _ratio(b * b * b, 6 * a * both) * y[..., -3]


def _ratio(x: Array, y: Array) -> Array:
    """Return x / y, and 0 where y is 0, as SciPy does where places coincide."""
    nothing = equal(y, 0)
    found: Array = where(nothing, 0, x / where(nothing, 1, y))
    return found


def cumulative_trapezoid(
    y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None
) -> Array:
    """Integrate samples up to each of them by the trapezoidal rule.

    The result has one element less along the axis than y, and as many with ``initial=0``.

    >>> from tenferro.integrate import cumulative_trapezoid
    >>> cumulative_trapezoid([1.0, 3.0, 5.0], initial=0)
    array([0., 2., 6.])
    """
    if not (initial is None or (isinstance(initial, (int, float)) and initial == 0)):
        raise at_user_line(unknown_option("cumulative_trapezoid", "initial", initial, "None or 0"))
    values, steps = _samples("cumulative_trapezoid", y, x, dx, axis)
    parts = steps * (values[..., 1:] + values[..., :-1]) / 2
    return _accumulated(parts, initial, axis)


def cumulative_simpson(
    y: Any, *, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None
) -> Array:
    """Integrate samples up to each of them by Simpson's rule.

    Each interval is that of the parabola through three neighbours. The result has one element less
    along the axis than y; ``initial``, a number or [*s with 1 on the axis], comes in front and is
    added to all.

    Raises       ShapeMismatchError; InvalidParameterError: if places that are known do not
                 increase.
    Source       K. V. Cartwright (2017), as for ``simpson``

    >>> from tenferro.integrate import cumulative_simpson
    >>> cumulative_simpson([0.0, 1.0, 4.0], initial=0.0).round(12)
    array([0.        , 0.33333333, 2.66666667])
    """
    values, steps = _samples("cumulative_simpson", y, x, dx, axis)
    if x is not None:
        _check_increasing(steps)
    n = values.shape[-1]
    if n < 3:
        parts = steps * (values[..., 1:] + values[..., :-1]) / 2
    else:
        first = _first_intervals(values, steps)
        second = flip(_first_intervals(flip(values, -1), flip(steps, -1)), -1)
        places = [k if k % 2 == 0 and k < n - 2 else n - 2 + k - 1 for k in range(n - 1)]
        parts = take(concatenate([first, second], -1), places, axis=-1)
    return _accumulated(parts, initial, axis)


def _check_increasing(steps: Array) -> None:
    """Check the intervals of ``cumulative_simpson`` if their lengths are known."""
    if evaluable(steps.key) and not (steps._concrete("the order of places") > 0).all():
        raise at_user_line(InvalidParameterError.of(
            "cumulative_simpson", "places do not increase",
            got="an interval whose length is not positive", need="strictly increasing x",
            parameter="x", value=steps,
        ))  # fmt: skip


def _first_intervals(y: Array, h: Array) -> Array:
    """Return the integral over the first interval of each parabola through three neighbours."""
    a, b = h[..., :-1], h[..., 1:]
    share, bend = a / (a + b), a / (a + b) * (a / b)
    inner = (3 + bend + share) * y[..., 1:-1]
    return a / 6 * ((3 - share) * y[..., :-2] + inner - bend * y[..., 2:])


def _accumulated(parts: Array, initial: Any, axis: int) -> Array:
    """Return sums up to each part, after an initial value, with the axis in its place."""
    found = cumsum(parts, -1)
    if initial is not None:
        start = initial if _is_number(initial) else as_array(initial)
        start = moveaxis(start, axis, -1) if isinstance(start, Array) and start.ndim else start
        nothing = zeros_like(parts, shape=(*parts.shape[:-1], 1))
        found = concatenate([nothing + start, found + start], -1)
    return moveaxis(found, -1, axis)


def _is_number(x: Any) -> bool:
    """Return True for a number of Python, which takes the dtype of what it is added to."""
    return type(x) in (int, float, complex)


def _samples(function: str, y: Any, x: Any, dx: Any, axis: int) -> tuple[Array, Array]:
    """Return samples with their axis last, and the lengths of intervals.

    Raises ShapeMismatchError: without samples, or if there are not as many places.
    """
    values = double_if_exact(y)
    place = normalize_axis(axis, values.ndim, function)
    values = moveaxis(values, place, -1)
    n = values.shape[-1]
    if x is None:
        steps = zeros_like(values[..., 1:]) + dx if n else values
        fits = n > 0
    else:
        places = double_if_exact(x)
        fits = n > 0 and (places.shape == (n,) or (places.ndim == values.ndim))
        places = moveaxis(places, place, -1) if places.ndim > 1 and fits else places
        fits = fits and places.shape[-1] == n
        steps = diff(places) if fits else places
    if not fits:
        given = values.aval if x is None else f"{values.aval}, places {as_array(x).aval}"
        error = ShapeMismatchError.of(
            function, "not as many places as samples" if n else "there is no sample", got=given,
            need="samples, and a place for each of them", shapes=(values.shape,),
        )  # fmt: skip
        raise at_user_line(error)
    return values, steps
