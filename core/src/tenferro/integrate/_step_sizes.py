"""The sizes of the steps of an initial value problem, so that errors stay within a tolerance.

Source  E. Hairer, S. P. Nørsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed.
        (1993), section II.4; the numbers are those of SciPy
"""

from __future__ import annotations

from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.functions.arithmetic import absolute, maximum, minimum
from tenferro.arrays.functions.comparison import where
from tenferro.arrays.functions.floating import nextafter
from tenferro.arrays.handle.array import Array
from tenferro.integrate._method import Method, RightSide, root_mean_square


class Events(NamedTuple):
    """Functions whose zeros along the solution are wanted."""

    values: RightSide
    """A time, [*s] → [k], one for each function."""
    constant: RightSide
    """The same as a constant for derivatives, but for those in its arguments."""
    directions: tuple[float, ...]
    """More than 0: zeros where the values rise; less than 0: where they fall; 0: both."""
    last: tuple[int, ...]
    """The number of the zero that ends the solution; 0: none does."""
    kept: int
    """The number of zeros of each function for which there is room."""


class Problem(NamedTuple):
    """y′ = f(t, y) from t0 to t1, and how exactly.

    f: a time, [*s] → [*s], of the dtype of y   y0: [*s]   times: [m]
    """

    f: RightSide
    constant: RightSide
    """f as a constant for derivatives, but for those in its arguments."""
    method: Method
    t0: Array
    t1: Array
    y0: Array
    slope: Array
    """f(t0, y0)."""
    times: Array
    relative: Any
    absolute: Any
    first_step: Any
    """None: chosen."""
    max_step: Any
    max_steps: int
    fixed_times: bool
    """Whether t0 and the times are known numbers, in which no derivative is taken."""
    events: Events | None = None
    is_dense: bool = False
    """Whether the solution between the times is kept."""


def first_size(p: Problem, forward: Array) -> Array:
    """Return the size of the first step, positive, by two values of f."""
    length = absolute(p.t1 - p.t0)
    if p.first_step is not None:
        return minimum(p.first_step, minimum(length, p.max_step))
    y, slope = p.y0, p.slope
    scale = _scale(p, y)
    of_y, of_slope = root_mean_square(y / scale), root_mean_square(slope / scale)
    is_small = (of_y < 1e-5) | (of_slope < 1e-5)
    trial = minimum(where(is_small, 1e-6, 0.01 * of_y / where(is_small, 1.0, of_slope)), length)
    h = forward * trial
    later = p.f(p.t0 + h, y + h * slope)
    bend = root_mean_square((later - slope) / scale) / where(trial == 0, 1.0, trial)
    largest = maximum(of_slope, bend)
    is_flat = largest <= 1e-15
    by_bend = (0.01 / where(is_flat, 1.0, largest)) ** (1 / p.method.error_order)
    chosen = where(is_flat, maximum(1e-6, trial * 1e-3), by_bend)
    return minimum(minimum(100 * trial, chosen), minimum(length, p.max_step))


def error_ratio(p: Problem, error: Array, *ys: Array) -> Array:
    """Return the error over what is tolerated at these values; 1 and more is too much."""
    return p.method.ratio(error / _scale(p, *ys))


def factor(p: Problem, ratio: Array, accepted: Array, was_rejected: Array) -> Array:
    """Return what the size is multiplied by; nan, outside of the domain of f, makes it small."""
    ideal = 0.9 * maximum(ratio, 1e-10) ** (-1 / p.method.error_order)
    larger = where(was_rejected, minimum(ideal, 1.0), minimum(ideal, 10.0))
    found: Array = where(accepted, larger, where(ideal > 0.2, ideal, 0.2))
    return found


def least_size(t: Array, forward: Array) -> Array:
    """Return the smallest size of a step from t: ten times the distance of the next number."""
    found: Array = 10.0 * absolute(nextafter(t, forward * float("inf")) - t)
    return found


def _scale(p: Problem, *ys: Array) -> Array:
    """Return the errors that are tolerated, [*s]."""
    size = absolute(ys[0])
    for y in ys[1:]:
        size = maximum(size, absolute(y))
    tolerated: Array = p.absolute + p.relative * size
    return tolerated
