"""Floats as they are stored: signs, neighbours, exponents; and what is infinite or not a number.

A power of two is made exactly, so that ``ldexp`` and ``frexp`` are inverse to each other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._factories import binary, filled, floating_pair, zeros
from tenferro.arrays.functions.arithmetic import clip, maximum, minimum
from tenferro.arrays.functions.comparison import equal, isfinite, isnan, where
from tenferro.arrays.functions.complex import imag, real
from tenferro.arrays.handle.array import Array, another_handle
from tenferro.arrays.handle.convert import as_array, weak_kind
from tenferro.arrays.numpy_protocols.writing import rebind, written_by_user
from tenferro.arrays.promotion.broadcast import (
    broadcast_shapes,
    cast,
    fitted,
    floating,
    pair,
    stretch,
)
from tenferro.arrays.registry import covers
from tenferro.primitives import (
    DType,
    DTypeMismatchError,
    arithmetic,
    bool_,
    float16,
    int32,
    int64,
    uint64,
)
from tenferro.primitives import complex as make_complex
from tenferro.primitives import rounding as p
from tenferro.primitives.bitwise import bitwise_and, shift_left, shift_right
from tenferro.primitives.comparison import eq, logical_and, lt, ne, select
from tenferro.primitives.structural import bitcast, stop_gradient

_LEAST_EXPONENT = {"float16": -14, "bfloat16": -126, "float32": -126, "float64": -1022}

copysign = binary(
    "copysign", p.copysign, "Return |x| with the sign of y elementwise, also for a zero y."
)
nextafter = binary(
    "nextafter", p.nextafter, "Return the next number after x in the direction of y, elementwise."
)


def _real(x: Any, name: str) -> Array:
    found = as_array(x)
    if found.dtype.is_complex:
        error = DTypeMismatchError.of(
            name, "not defined for complex numbers", got=found.aval, need="a real array"
        )
        raise at_user_line(error)
    return found


@covers("signbit", ufunc=True)
def signbit(x: Any) -> Array:
    """Test elementwise whether the sign bit is set; True also for −0.0."""
    found = _real(x, "signbit")
    if not found.dtype.is_float:
        found = floating(found)
    signed = p.copysign(filled(found, 1), found)
    return lt(signed, zeros(signed))


@covers("spacing", ufunc=True)
def spacing(x: Any) -> Array:
    """Return the distance to the adjacent number farther from 0; it is negative below 0."""
    found = stop_gradient(floating(_real(x, "spacing")))
    outer = select(
        lt(found, zeros(found)), filled(found, -float("inf")), filled(found, float("inf"))
    )
    return p.nextafter(found, outer) - found


@covers("heaviside", ufunc=True)
def heaviside(x: Any, y: Any) -> Array:
    """Compute the Heaviside step function: 0 for negative x, 1 for positive x, y where x is 0."""
    a, b = floating_pair(x, y, "heaviside")
    zero = zeros(a)
    step = select(lt(a, zero), zero, select(lt(zero, a), filled(a, 1), b))
    return select(isnan(a), filled(a, float("nan")), step)


@covers("fmax", ufunc=True)
def fmax(x: Any, y: Any) -> Array:
    """Return the elementwise maximum, ignoring NaN. A tie shares the derivative equally."""
    return _without_nan(maximum, x, y, "fmax")


@covers("fmin", ufunc=True)
def fmin(x: Any, y: Any) -> Array:
    """Return the elementwise minimum, ignoring NaN. A tie shares the derivative equally."""
    return _without_nan(minimum, x, y, "fmin")


def _without_nan(function: Callable[[Any, Any], Array], x: Any, y: Any, name: str) -> Array:
    a, b = pair(x, y, name)
    if not a.dtype.is_inexact:
        return function(a, b)
    missing_a, missing_b = ne(a, a), ne(b, b)
    return function(select(missing_a, b, a), select(missing_b, a, b))


# ---- powers of two -------------------------------------------------------------------------------


def _bits(dtype: DType) -> DType:
    """Return the signed integer dtype of the width of a float dtype."""
    return DType.of(f"int{dtype.bits}")


def _power_of_two(exponent: Array, dtype: DType) -> Array:
    """2^e for integers e whose power is a normal number of the dtype: its exponent field is e."""
    field = exponent + (1 - _LEAST_EXPONENT[dtype.name])
    shift = filled(field, dtype.precision - 1)
    return bitcast(shift_left(field, shift), dtype)


def _times_power_of_two(x: Array, exponent: Array) -> Array:
    """x · 2^e in three steps, none of which leaves the range of normal powers of two."""
    most = -_LEAST_EXPONENT[x.dtype.name]
    for _ in range(3):
        step = arithmetic.clamp(filled(exponent, -most), exponent, filled(exponent, most))
        x = x * _power_of_two(step, x.dtype)
        exponent = exponent - step
    return x


@covers("ldexp", ufunc=True)
def ldexp(x: Any, y: Any) -> Array:
    """Compute x · 2^y elementwise, for integers y.

    A Python integer x has no dtype of its own; with an array y it becomes float16, as in NumPy.

    Raises DTypeMismatchError: if y is not an integer, or one of 64 bits without a sign.

    >>> import tenferro as tn
    >>> tn.ldexp(0.75, 4)
    np.float64(12.0)
    """
    power = as_array(y)
    if not (power.dtype.is_integer or power.dtype.is_bool) or power.dtype is uint64:
        error = DTypeMismatchError.of(
            "ldexp", "the exponent does not fit into int64", got=power.aval,
            need="an array of integers, not of uint64",
        )  # fmt: skip
        raise at_user_line(error)
    is_weak = weak_kind(x) is int and weak_kind(y) is None
    found = cast(as_array(x), float16) if is_weak else floating(_real(x, "ldexp"))
    shape = broadcast_shapes(found.shape, power.shape, function="ldexp")
    bound = 3 * -_LEAST_EXPONENT[found.dtype.name]
    wide = clip(cast(power, int64), -bound, bound)
    return _times_power_of_two(
        stretch(found, shape), stretch(cast(wide, _bits(found.dtype)), shape)
    )


@covers("frexp", ufunc=True)
def frexp(x: Any) -> tuple[Array, Array]:
    """Decompose x into mantissa m and integer exponent e: x = m · 2^e with 1/2 ≤ |m| < 1.

    >>> import tenferro as tn
    >>> tn.frexp(10.0)
    (np.float64(0.625), np.int32(4))
    """
    found = floating(_real(x, "frexp"))
    regular = logical_and(isfinite(found), cast(found, bool_))
    exponent = _exponent(stop_gradient(select(regular, found, filled(found, 1))))
    exponent = select(regular, exponent, zeros(exponent))
    return _times_power_of_two(found, -exponent), cast(exponent, int32)


def _exponent(x: Array) -> Array:
    """e with 2^(e−1) ≤ |x| < 2^e, from the exponent field; subnormal numbers are scaled first."""
    dtype, digits = x.dtype, x.dtype.precision - 1
    tiny = lt(arithmetic.abs(x), filled(x, dtype.smallest_normal))
    scaled = select(tiny, x * 2.0 ** (digits + 1), x)
    raw = bitcast(scaled, _bits(dtype))
    mask = 1 - 2 * _LEAST_EXPONENT[dtype.name] + 2
    field = bitwise_and(shift_right(raw, filled(raw, digits)), filled(raw, mask))
    exponent = field + (_LEAST_EXPONENT[dtype.name])
    return select(tiny, exponent - (digits + 1), exponent)


# ---- infinite, not a number, real, complex -------------------------------------------------------


@covers("isposinf")
def isposinf(x: Any) -> Array:
    """Test elementwise for positive infinity."""
    found = _real(x, "isposinf")
    return equal(found, float("inf"))


@covers("isneginf")
def isneginf(x: Any) -> Array:
    """Test elementwise for negative infinity."""
    found = _real(x, "isneginf")
    return equal(found, float("-inf"))


@covers("nan_to_num")
def nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Array:
    """Replace NaN by 0 and ±∞ by the largest numbers of the dtype, or by given numbers.

    With ``copy=False`` the Array x is bound to the result.
    """
    found = as_array(x)
    result = _parts_to_num(found, nan, posinf, neginf)
    if copy or not isinstance(x, Array):
        return result
    return rebind(written_by_user(x), result)


def _parts_to_num(x: Array, nan: Any, posinf: Any, neginf: Any) -> Array:
    if x.dtype.is_complex:
        parts = [_parts_to_num(part, nan, posinf, neginf) for part in (real(x), imag(x))]
        return make_complex(*parts)
    if not x.dtype.is_float:
        return another_handle(x)
    largest = _largest(x.dtype)
    above = fitted(largest if posinf is None else posinf, x.dtype, "nan_to_num")
    below = fitted(-largest if neginf is None else neginf, x.dtype, "nan_to_num")
    finite = where(isposinf(x), above, where(isneginf(x), below, x))
    return where(isnan(x), fitted(nan, x.dtype, "nan_to_num"), finite)  # type: ignore[no-any-return]


def _largest(dtype: DType) -> float:
    digits, top = dtype.precision - 1, 1 - _LEAST_EXPONENT[dtype.name]
    return (2.0 - 2.0**-digits) * 2.0**top


@covers("isreal")
def isreal(x: Any) -> Array:
    """Test elementwise for a zero imaginary part."""
    part = imag(x)
    return eq(part, zeros(part))


@covers("iscomplex")
def iscomplex(x: Any) -> Array:
    """Test elementwise for a nonzero imaginary part."""
    part = imag(x)
    return ne(part, zeros(part))


@covers("isrealobj")
def isrealobj(x: Any) -> bool:
    """Return True if the dtype is not complex."""
    return not as_array(x).dtype.is_complex


@covers("iscomplexobj")
def iscomplexobj(x: Any) -> bool:
    """Return True if the dtype is complex."""
    return as_array(x).dtype.is_complex
