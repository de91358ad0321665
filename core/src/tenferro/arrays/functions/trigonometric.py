"""Angles: trigonometric functions and their inverses, degrees, the normalized sinc, unwrapping."""

from __future__ import annotations

from math import pi
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._factories import binary, filled, unary
from tenferro.arrays.functions.elementwise import stop_gradient
from tenferro.arrays.handle.array import SCALARS, Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import cast, common_dtype, float_for, normalize_axis
from tenferro.arrays.registry import FUNCTIONS, covers
from tenferro.primitives import DTypeMismatchError, float64
from tenferro.primitives import trigonometric as p
from tenferro.primitives.comparison import select

sin = unary("sin", p.sin, "Compute the sine elementwise, of x in radians.")
cos = unary("cos", p.cos, "Compute the cosine elementwise, of x in radians.")
tan = unary("tan", p.tan, "Compute the tangent elementwise, of x in radians.")
arcsin = unary(
    "arcsin asin",
    p.asin,
    "Compute the inverse sine elementwise: the angle between −π/2 and π/2 whose sine is x.",
)
arccos = unary(
    "arccos acos",
    p.acos,
    "Compute the inverse cosine elementwise: the angle between 0 and π whose cosine is x.",
)
arctan = unary(
    "arctan atan",
    p.atan,
    "Compute the inverse tangent elementwise: the angle between −π/2 and π/2 whose tangent is x.",
)
arctan2 = binary(
    "arctan2 atan2", p.atan2, "Compute the angle of the point (y, x) elementwise; y comes first."
)
hypot = binary(
    "hypot", p.hypot, "Compute √(x² + y²) elementwise, without overflow. Its derivative at 0 is 0."
)


def _scaled(names: str, factor: float, doc: str) -> Any:
    def primitive(x: Array) -> Array:
        if x.dtype.is_complex:
            raise at_user_line(
                DTypeMismatchError.of(names.split()[0], "angles are real", got=x.aval, need="reals")
            )
        return x * factor

    return unary(names, primitive, doc)


degrees = _scaled("degrees rad2deg", 180 / pi, "Convert angles from radians to degrees.")
radians = _scaled("radians deg2rad", pi / 180, "Convert angles from degrees to radians.")


@covers("angle")
def angle(z: Any, deg: bool = False) -> Array:
    """Return the angle of complex numbers, between −π and π.

    >>> import tenferro as tn
    >>> tn.angle(1j, deg=True)
    np.float64(90.0)
    """
    found = as_array(z)
    x, y = FUNCTIONS["real"](found), FUNCTIONS["imag"](found)
    if not found.dtype.is_inexact:
        kind = float64 if x.dtype.is_bool else float_for(x.dtype)
        x, y = cast(x, kind), cast(y, kind)
    result = arctan2(y, x)
    return degrees(result) if deg else result


@covers("sinc")
def sinc(x: Any) -> Array:
    """Compute sin(πx) / (πx) elementwise; 1 at 0, with all derivatives.

    Near 0 the quotient is replaced by its series 1 − u/6 + u²/120 − u³/5040 + …, u = (πx)², whose
    terms after u⁶ are below the precision where u < 1/4.
    """
    found = as_array(x)
    t = (found if found.dtype.is_inexact else cast(found, float64)) * pi
    u = t * t
    near = FUNCTIONS["less"](FUNCTIONS["absolute"](t), 0.5)
    one = filled(t, 1)
    safe = select(near, one, t)
    series = _sinc_series(select(near, u, FUNCTIONS["zeros_like"](u)))
    return select(near, series, p.sin(safe) / safe)  # type: ignore[no-any-return]


def _sinc_series(u: Array) -> Array:
    """Σ (−u)ⁿ / (2n + 1)!, by Horner's scheme."""
    total = 1 - u * (1 / (18 * 19))
    for n in range(8, 0, -1):
        total = 1 - u * total * (1 / (2 * n * (2 * n + 1)))
    return total


@covers("unwrap")
def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: float = 2 * pi) -> Array:
    """Remove jumps between angles along an axis by adding multiples of the period."""
    found = as_array(p)
    along = normalize_axis(axis, found.ndim, "unwrap")
    step = FUNCTIONS["diff"](found, axis=along)  # unsigned integers wrap around here, as in NumPy
    kind = common_dtype([step, period if type(period) in SCALARS else as_array(period)])
    whole = kind.is_integer and not isinstance(period, Array)
    if not (whole or kind.is_inexact):
        kind = float64
    found, step = cast(found, kind), cast(step, kind)
    jump = _jumps(step, period, period / 2 if discont is None else discont, whole)
    start = FUNCTIONS["zeros_like"](found[(slice(None),) * along + (slice(0, 1),)])
    moved = FUNCTIONS["cumsum"](FUNCTIONS["concatenate"]([start, jump], axis=along), axis=along)
    return found + cast(moved, found.dtype)


def _jumps(step: Array, period: Any, discont: Any, whole: bool) -> Array:
    """Return the correction of each step: a multiple of the period, constant in the step."""
    half = period // 2 if whole else period / 2
    wrapped = FUNCTIONS["remainder"](step + half, period) - half
    if not whole or period % 2 == 0:
        at_edge = FUNCTIONS["logical_and"](wrapped == -half, step > 0)
        wrapped = FUNCTIONS["where"](at_edge, half, wrapped)
    small = FUNCTIONS["absolute"](step) < discont
    jumps: Array = stop_gradient(FUNCTIONS["where"](small, 0, wrapped - step))
    if isinstance(period, Array):
        turns = FUNCTIONS["rint"](jumps / stop_gradient(period))
        jumps = jumps + turns * (period - stop_gradient(period))
    return jumps
