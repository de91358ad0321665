"""Integers as bits and as numbers with divisors: logic, shifts, counting, ``gcd`` and ``lcm``.

No derivative flows through integers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._factories import filled, zeros
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import cast, pair
from tenferro.arrays.registry import covers
from tenferro.primitives import DType, DTypeMismatchError, arithmetic, int8, uint8
from tenferro.primitives import bitwise as p
from tenferro.primitives.comparison import eq, select
from tenferro.primitives.rounding import rem

_Binary = Callable[[Array, Array], Array]


def _bits(names: str, primitive: _Binary, word: str) -> Callable[[Any, Any], Array]:
    known = names.split()

    def function(x: Any, y: Any) -> Array:
        return primitive(*_integers(x, y, known[0]))

    function.__name__ = function.__qualname__ = known[0]
    function.__doc__ = f"Compute the bitwise {word.upper()} of integers or bools elementwise."
    return covers(*known, ufunc=True)(function)


def _integers(x: Any, y: Any, name: str) -> tuple[Array, Array]:
    a, b = pair(x, y, name)
    if a.dtype.is_inexact:
        given = as_array(x), as_array(y)
        error = DTypeMismatchError.of(
            name,
            "only integers and bools have bits",
            got=f"{given[0].aval}, {given[1].aval}",
            need="integers or bools",
            hint="comparisons need parentheses, `(a > 0) & (b < 1)`; a mask of floats is `x != 0`",
            dtypes=(given[0].dtype, given[1].dtype),
        )
        raise at_user_line(error)
    return a, b


bitwise_and = _bits("bitwise_and", p.bitwise_and, "and")
bitwise_or = _bits("bitwise_or", p.bitwise_or, "or")
bitwise_xor = _bits("bitwise_xor", p.bitwise_xor, "xor")


@covers("invert", "bitwise_not", "bitwise_invert", ufunc=True)
def invert(x: Any) -> Array:
    """Compute the bitwise NOT of integers, or the logical NOT of bools, elementwise."""
    found = as_array(x)
    if found.dtype.is_inexact:
        error = DTypeMismatchError.of(
            "invert", "only integers and bools have bits", got=found.aval, need="integers or bools"
        )
        raise at_user_line(error)
    return p.bitwise_not(found)


def _counted(x: Any, y: Any, name: str) -> tuple[Array, Array]:
    a, b = _integers(x, y, name)
    return (cast(a, int8), cast(b, int8)) if a.dtype.is_bool else (a, b)


@covers("left_shift", "bitwise_left_shift", ufunc=True)
def left_shift(x: Any, y: Any) -> Array:
    """Shift the bits of x left by y places; zeros are shifted in."""
    return p.shift_left(*_counted(x, y, "left_shift"))


@covers("right_shift", "bitwise_right_shift", ufunc=True)
def right_shift(x: Any, y: Any) -> Array:
    """Shift the bits of x right by y places; the sign is shifted in."""
    return p.shift_right(*_counted(x, y, "right_shift"))


@covers("bitwise_count", ufunc=True)
def bitwise_count(x: Any) -> Array:
    """Count the bits of |x| that are 1, by sums of ever wider fields.

    Source  Warren, Hacker's Delight (2012), Fig. 5-2

    >>> import tenferro as tn
    >>> tn.bitwise_count(7)
    np.uint8(3)
    """
    found = as_array(x)
    if found.dtype.is_inexact:
        _integers(found, found, "bitwise_count")
    if found.dtype.is_bool:
        return cast(found, uint8)
    size = arithmetic.abs(found) if found.dtype.category == "int" else found
    kind = DType.of(f"uint{found.dtype.bits}")
    bits, width = cast(size, kind), 1
    while width < kind.bits:
        mask = filled(bits, (2**kind.bits - 1) // (2**width + 1))
        upper = p.shift_right(bits, filled(bits, width))
        bits = p.bitwise_and(bits, mask) + p.bitwise_and(upper, mask)
        width *= 2
    return cast(bits, uint8)


# ---- common divisors -----------------------------------------------------------------------------


def _sizes(x: Any, y: Any, name: str) -> tuple[Array, Array]:
    a, b = _integers(x, y, name)
    if a.dtype.is_bool:
        error = DTypeMismatchError.of(name, "not defined for bool", got=a.aval, need="integers")
        raise at_user_line(error)
    return (a, b) if a.dtype.category == "uint" else (arithmetic.abs(a), arithmetic.abs(b))


def _common_divisor(a: Array, b: Array) -> Array:
    """Euclid's algorithm: for n bits it ends within 1.45 n steps (Lamé 1844)."""
    zero, one = zeros(a), filled(a, 1)
    for _ in range(a.dtype.bits * 145 // 100 + 1):
        done = eq(b, zero)
        rest = rem(a, select(done, one, b))
        a, b = select(done, a, b), select(done, zero, rest)
    return a


@covers("gcd", ufunc=True)
def gcd(x: Any, y: Any) -> Array:
    """Return the greatest common divisor elementwise; gcd(0, 0) is 0."""
    found = _common_divisor(*_sizes(x, y, "gcd"))
    return found if found.dtype.category == "uint" else arithmetic.abs(found)  # |min| is min


@covers("lcm", ufunc=True)
def lcm(x: Any, y: Any) -> Array:
    """Return the least common multiple elementwise; it is 0 if an operand is 0."""
    a, b = _sizes(x, y, "lcm")
    divisor = _common_divisor(a, b)
    safe = select(eq(divisor, zeros(a)), filled(a, 1), divisor)
    return arithmetic.div(a, safe) * b
