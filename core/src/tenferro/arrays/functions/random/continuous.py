"""Distributions that are a formula of one uniform number, so that results follow their parameters.

All are differentiable in loc, scale, low and high. The formulas are inverses of distribution
functions, written so that neither tail loses digits. Read next: ``gamma.py``.
"""

from __future__ import annotations

from math import pi
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.arithmetic import clip
from tenferro.arrays.functions.comparison import where
from tenferro.arrays.functions.creation import shape_of
from tenferro.arrays.functions.elementwise import stop_gradient
from tenferro.arrays.functions.random._draws import is_number, moved, prepared, signed, unit, wide
from tenferro.arrays.functions.random.keys import as_known_key
from tenferro.arrays.handle.array import Array
from tenferro.arrays.promotion.broadcast import cast, stretch
from tenferro.primitives import (
    DType,
    DTypeMismatchError,
    add,
    copysign,
    erfinv,
    exp,
    log,
    log1p,
    ndtr,
    ndtri,
    nextafter,
    random_bits,
    tan,
    uint32,
    uint64,
)
from tenferro.primitives import convert as converted


def bits(key: Any, shape: Any = (), dtype: Any = uint32) -> Array:
    """Draw random bits: integers of an unsigned dtype, all equally likely.

    The bits of uint32 and uint64 are those of the generator in order; narrower integers are the
    low bits of those of uint32.

    >>> from tenferro import random
    >>> random.bits(random.key(0), (2, 3)).aval
    u32[2,3]
    """
    known, kind = as_known_key(key, "bits"), DType.of(dtype)
    if kind.category != "uint":
        error = DTypeMismatchError.of(
            "random.bits", "bits are unsigned integers", got=kind,
            need="uint8, uint16, uint32 or uint64", dtypes=(kind,),
        )  # fmt: skip
        raise at_user_line(error)
    words = random_bits(known, shape_of(shape), uint64 if kind is uint64 else uint32)
    return converted(words, kind)


def uniform(
    key: Any, shape: Any = None, dtype: Any = None, low: Any = 0.0, high: Any = 1.0
) -> Array:
    """Draw uniform numbers in [low, high).

    Between 0 and 1 the numbers are the same on every backend, bit for bit; ``high`` itself is
    never a result, unless it equals ``low``.

    >>> from tenferro import random
    >>> random.uniform(random.key(0), (2, 3)).aval
    f64[2,3]
    """
    size, kind, (bottom, top) = prepared("uniform", shape, dtype, low, high)
    found = unit(as_known_key(key, "uniform"), size, kind)
    if is_number(low, 0) and is_number(high, 1):
        return found
    bottom, top = stretch(bottom, size), stretch(top, size)
    return _below(bottom + (top - bottom) * found, bottom, top)


def _below(x: Array, low: Array, high: Array) -> Array:
    """x, or the number below ``high`` where the sum was rounded up to it; derivatives are those
    of x.
    """
    beyond = (x >= high) & (low < high)
    if x.dtype.bits == 16:
        found: Array = where(beyond, low, x)
        return found
    gap: Array = where(beyond, nextafter(high, low) - x, 0.0)
    fixed: Array = stop_gradient(gap)
    return add(x, fixed)


def normal(
    key: Any, shape: Any = None, dtype: Any = None, loc: Any = 0.0, scale: Any = 1.0
) -> Array:
    """Draw normal numbers with mean ``loc`` and standard deviation ``scale``.

    z = √2 erfinv(u) with u in (-1, 1), so that |z| ends at 8.2, or at 5.4 of float32.

    >>> from tenferro import random
    >>> random.normal(random.key(0), (2, 3), loc=1.0).aval
    f64[2,3]
    """
    size, kind, arrays = prepared("normal", shape, dtype, loc, scale)
    return moved(2**0.5 * erfinv(signed(key, size, kind, "normal")), kind, loc, scale, arrays)


def exponential(key: Any, shape: Any = None, dtype: Any = None, scale: Any = 1.0) -> Array:
    """Draw exponential numbers with mean ``scale``: -ln(1 - u).

    >>> from tenferro import random
    >>> random.exponential(random.key(0), (2, 3), scale=0.5).aval
    f64[2,3]
    """
    size, kind, (factor,) = prepared("exponential", shape, dtype, scale)
    found = -log1p(-abs(signed(key, size, kind, "exponential")))
    return moved(found, kind, 0.0, scale, (factor, factor))


def laplace(
    key: Any, shape: Any = None, dtype: Any = None, loc: Any = 0.0, scale: Any = 1.0
) -> Array:
    """Draw Laplace numbers: ``loc``, more or less an exponential number with mean ``scale``.

    >>> from tenferro import random
    >>> random.laplace(random.key(0), (2, 3), scale=0.5).aval
    f64[2,3]
    """
    size, kind, arrays = prepared("laplace", shape, dtype, loc, scale)
    t = signed(key, size, kind, "laplace")
    return moved(copysign(log1p(-abs(t)), t), kind, loc, scale, arrays)


def logistic(
    key: Any, shape: Any = None, dtype: Any = None, loc: Any = 0.0, scale: Any = 1.0
) -> Array:
    """Draw logistic numbers: ``loc + scale`` ln((1 + t)/(1 - t)) with t in (-1, 1).

    >>> from tenferro import random
    >>> random.logistic(random.key(0), (2, 3), loc=1.0).aval
    f64[2,3]
    """
    size, kind, arrays = prepared("logistic", shape, dtype, loc, scale)
    t = signed(key, size, kind, "logistic")
    return moved(log1p(t) - log1p(-t), kind, loc, scale, arrays)


def gumbel(
    key: Any, shape: Any = None, dtype: Any = None, loc: Any = 0.0, scale: Any = 1.0
) -> Array:
    """Draw Gumbel numbers with mode ``loc``: ``loc - scale`` ln(-ln(1 - u)).

    >>> from tenferro import random
    >>> random.gumbel(random.key(0), (2, 3), scale=2.0).aval
    f64[2,3]
    """
    size, kind, arrays = prepared("gumbel", shape, dtype, loc, scale)
    return moved(standard_gumbel(signed(key, size, kind, "gumbel")), kind, loc, scale, arrays)


def standard_gumbel(t: Array) -> Array:
    """Transform uniform numbers in (-1, 1) to Gumbel numbers."""
    return -log(-log1p(-abs(t)))


def cauchy(
    key: Any, shape: Any = None, dtype: Any = None, loc: Any = 0.0, scale: Any = 1.0
) -> Array:
    """Draw Cauchy numbers: ``loc + scale`` tan(πt/2) with t in (-1, 1).

    For |t| > ½ the tangent is computed from the distance of |t| to 1, which is exact.

    >>> from tenferro import random
    >>> random.cauchy(random.key(0), (2, 3), scale=2.0).aval
    f64[2,3]
    """
    size, kind, arrays = prepared("cauchy", shape, dtype, loc, scale)
    t = signed(key, size, kind, "cauchy")
    distance = abs(t)
    is_far = distance > 0.5
    slope = tan(pi / 2 * where(is_far, 1 - distance, distance))
    return moved(copysign(where(is_far, 1 / slope, slope), t), kind, loc, scale, arrays)


def lognormal(
    key: Any, shape: Any = None, dtype: Any = None, loc: Any = 0.0, scale: Any = 1.0
) -> Array:
    """Draw numbers whose logarithm is normal with mean ``loc`` and standard deviation ``scale``.

    >>> from tenferro import random
    >>> random.lognormal(random.key(0), (2, 3), scale=0.5).aval
    f64[2,3]
    """
    return exp(normal(key, shape, dtype, loc, scale))


def truncated_normal(
    key: Any, lower: Any, upper: Any, shape: Any = None, dtype: Any = None
) -> Array:
    """Draw standard normal numbers between ``lower`` and ``upper``, differentiable in both.

    The inverse of the distribution function, taken on the side where its values are small, so that
    intervals far out keep their digits; beyond 37 (13 of float32) the nearer end is the result.

    >>> from tenferro import random
    >>> random.truncated_normal(random.key(0), 2.0, 3.0, (4,)).aval
    f64[4]
    """
    size, kind, ends = prepared("truncated_normal", shape, dtype, lower, upper)
    uniform_ = abs(signed(key, size, kind, "truncated_normal"))
    low, high = (cast(stretch(x, size), wide(kind)) for x in ends)
    mirrored = low > 0
    first, last = where(mirrored, -high, low), where(mirrored, -low, high)
    from_, to = ndtr(first), ndtr(last)
    x = ndtri(from_ + uniform_ * (to - from_))
    x = where(to > 0, clip(x, first, last), last)
    return cast(where(mirrored, -x, x), kind)
