"""The standard variable of a distribution, its parameters, and values outside of the support.

A parameter without a meaning (a scale of 0, say) makes the value nan, and every derivative as well:
the parameter itself is multiplied by nan. A mask around the value would make derivatives 0, and so
would a sum with nan where the value is linear in the parameter.
Read next: ``norm.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log as ln
from math import nan, prod
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.arithmetic import absolute
from tenferro.arrays.functions.comparison import greater, less, where
from tenferro.arrays.functions.elementwise import exp, expm1, log, log1p
from tenferro.arrays.handle.array import SCALARS, Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import (
    broadcast_shapes,
    cast,
    common_dtype,
    stretch,
    weak_or_array,
)
from tenferro.primitives import DTypeMismatchError, float64

LN_2 = ln(2)
_MAX_TINY_Z = 1e-8  # below it ln(1 - e⁻ᶻ) = ln z - z/2 in double precision
Mask = Callable[[Array], Array]


class Standard(NamedTuple):
    """The standard variable of a distribution, and its parameters; all have one dtype."""

    z: Array  # (x - loc) / scale
    shapes: tuple[Array, ...]
    scale: Array | None  # None: it is 1
    flaw: Array | float  # 1, and nan where a parameter has no meaning

    def density(self, value: Any) -> Array:
        """Return the density of x, given that of z."""
        found: Array = value if self.scale is None else value / self.scale
        return found

    def log_density(self, value: Any) -> Array:
        """Return the logarithm of the density of x, given that of z."""
        found: Array = value if self.scale is None else value - log(self.scale)
        return found

    def outside(self, is_outside: Array, constant: float, value: Any) -> Array:
        """Return a constant outside of the support, and the value inside."""
        return choose(is_outside, constant * self.flaw, value)


def operands(function: str, *xs: Any, broadcasts: bool = True) -> list[Array]:
    """Return Arrays of one floating dtype in shapes of their own; integers become float64.

    Raises DTypeMismatchError: if one is complex. ShapeMismatchError: if they do not broadcast,
    unless ``broadcasts`` is False.
    """
    given = [x if type(x) in SCALARS else as_array(x) for x in xs]
    dtype = common_dtype(given)
    if dtype.is_complex:
        error = DTypeMismatchError.of(
            function, "a distribution of real numbers", got=dtype, need="real operands",
            dtypes=tuple([as_array(x).dtype for x in given]),
        )  # fmt: skip
        raise at_user_line(error)
    dtype = dtype if dtype.is_inexact else float64
    found = [cast(weak_or_array(x, dtype), dtype) for x in given]
    if broadcasts:
        broadcast_shapes(*[x.shape for x in found], function=function)
    return found


def standard(
    function: str,
    x: Any,
    loc: Any,
    scale: Any,
    *shapes: Any,
    legal: Mask | tuple[Mask, ...] | None = None,
) -> Standard:
    """Return (x - loc) / scale and the shapes, which must satisfy ``legal``, or be positive.

    ``legal`` is one condition for all shapes, or one for each.

    Raises DTypeMismatchError, ShapeMismatchError.
    """
    has_loc, has_scale = not _is(loc, 0), not _is(scale, 1)
    given = [x, *shapes, *([loc] if has_loc else ()), *([scale] if has_scale else ())]
    z, *others = operands(function, *given)
    flaws: list[Array] = []
    masks = legal if isinstance(legal, tuple) else [legal or is_positive] * len(shapes)
    pairs = zip(others[: len(shapes)], masks, strict=True)
    found = [_checked(each, mask, flaws) for each, mask in pairs]
    size = _checked(others[-1], is_positive, flaws) if has_scale else None
    z = z - others[len(shapes)] if has_loc else z
    z = z if size is None else z / size
    return Standard(z, tuple(found), size, prod(flaws, start=1.0))


def on_half_line(function: str, x: Any, loc: Any, scale: Any) -> tuple[Standard, Array, Array]:
    """Return the standard variable of the support z >= 0; also z (0 below), and where it is below.

    Raises DTypeMismatchError, ShapeMismatchError.
    """
    given = standard(function, x, loc, scale)
    is_below = less(given.z, 0)
    return given, choose(is_below, 0.0, given.z), is_below


def _is(value: Any, number: int) -> bool:
    """Return True for a number of Python that changes nothing."""
    return type(value) in (int, float) and value == number


def positive(x: Array) -> Array:
    """Return a parameter, nan where it is not positive."""
    return _checked(x, is_positive, [])


def _checked(x: Array, legal: Mask, flaws: list[Array]) -> Array:
    """Return a parameter, nan where it is not legal; its factor joins the flaws."""
    flaw = cast(choose(legal(x), 1.0, nan), x.dtype)
    flaws.append(flaw)
    return x * flaw


def with_flaw(x: Array, is_legal: Array) -> Array:
    """Return a parameter, nan where a mask does not hold."""
    return x * cast(choose(is_legal, 1.0, nan), x.dtype)


def is_positive(x: Array) -> Array:
    """Return True where a parameter is positive."""
    return greater(x, 0)


def log1mexp(z: Array) -> Array:
    """Compute ln(1 - e⁻ᶻ) for z >= 0, with all digits (Mächler, 2012)."""
    is_near = less(z, LN_2)
    near = log(-expm1(-choose(is_near, z, 1.0)))
    return choose(is_near, near, log1p(-exp(-choose(is_near, 1.0, z))))


def log1mexp_of_log(z: Array, log_z: Array) -> Array:
    """Compute ln(1 - e⁻ᶻ) for z >= 0 from z and ln z, also where z underflows."""
    is_tiny = less(z, _MAX_TINY_Z)
    far = choose(is_tiny, log_z - 0.5 * z, 0.0)
    return choose(is_tiny, far, log1mexp(choose(is_tiny, 1.0, z)))


def log_of_one_and_square(z: Array) -> Array:
    """Compute ln(1 + z²), also where z² overflows."""
    size = absolute(z)
    is_large = greater(size, 1)
    outer, inner = choose(is_large, size, 1.0), choose(is_large, 0.0, z)
    inverse = 1 / outer
    return choose(is_large, 2 * log(outer) + log1p(inverse * inverse), log1p(inner * inner))


def choose(condition: Array, x: Any, y: Any) -> Array:
    """Choose x where a condition holds, else y; all broadcast."""
    found: Array = where(condition, x, y)
    return found


def broadcast(*xs: Array) -> list[Array]:
    """Return operands of one dtype in one shape, as primitives take them."""
    shape = broadcast_shapes(*[x.shape for x in xs])
    return [stretch(x, shape) for x in xs]
