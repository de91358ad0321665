"""Arithmetic on arrays: NumPy's names, promotion and broadcasting over the primitives.

Each function takes operands, arrays and Python scalars. Read next: ``elementwise.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.handle.array import Array, another_handle, strong
from tenferro.arrays.handle.convert import as_array, check_range, fits
from tenferro.arrays.handle.weak import is_weak
from tenferro.arrays.promotion.broadcast import cast, float_for, floating, pair, together
from tenferro.arrays.registry import FUNCTIONS, covers
from tenferro.primitives import (
    DType,
    DTypeMismatchError,
    complex128,
    convert,
    float64,
    int8,
    int64,
    promote,
)
from tenferro.primitives import arithmetic as p
from tenferro.primitives.comparison import logical_and, logical_or


def _refuse_bool(function: str, hint: str) -> DTypeMismatchError:
    error = DTypeMismatchError.of(
        function, "not defined for bool", got="bool operands", need=f"numbers; {hint}"
    )
    return at_user_line(error)


@covers("add", ufunc=True)
def add(x: Any, y: Any) -> Array:
    """Add arguments elementwise; for bools this is the logical OR, as in NumPy.

    >>> import tenferro as tn
    >>> tn.add(1.0, 2).dtype
    dtype('float64')
    """
    a, b = pair(x, y, "add")
    return (logical_or if a.aval.dtype.is_bool else p.add)(a, b)


@covers("subtract", ufunc=True)
def subtract(x: Any, y: Any) -> Array:
    """Subtract arguments elementwise.

    Raises DTypeMismatchError: for bools, as in NumPy.
    """
    a, b = pair(x, y, "subtract")
    if a.aval.dtype.is_bool:
        raise _refuse_bool("subtract", "use logical_xor for bools")
    return p.sub(a, b)


@covers("multiply", ufunc=True)
def multiply(x: Any, y: Any) -> Array:
    """Multiply arguments elementwise; for bools this is the logical AND, as in NumPy."""
    a, b = pair(x, y, "multiply")
    return (logical_and if a.aval.dtype.is_bool else p.mul)(a, b)


@covers("divide", "true_divide", ufunc=True)
def divide(x: Any, y: Any) -> Array:
    """Divide arguments elementwise; integers are divided as floats."""
    return p.div(*pair(x, y, "divide", floating=True))


@covers("power", "pow", ufunc=True)
def power(x: Any, y: Any) -> Array:
    """Raise x to the power y elementwise.

    A Python integer, or a Python float that is one, is an exact integer power, also at negative x.

    Raises DTypeMismatchError: for integers to a negative power, which have no integer value.
    Raises OverflowError: for an exponent that the dtype of integers does not hold, as in NumPy.
    """
    if type(y) is float and y.is_integer() and abs(y) < 2**31:
        exponent: int | None = int(y)
    else:
        exponent = y if type(y) is int else None
    if exponent is None:
        a, b = pair(x, y, "power")
        return p.pow(cast(a, int8), cast(b, int8)) if a.dtype.is_bool else p.pow(a, b)
    base = as_array(x)
    dtype = promote(base.dtype, y)
    if dtype.is_integer:
        _check_exponent(base, exponent, dtype)
    return _integer_power(cast(base, dtype), exponent)


def _check_exponent(base: Array, exponent: int, dtype: DType) -> None:
    if exponent < 0:
        error = DTypeMismatchError.of(
            "power",
            "an integer to a negative power is not an integer",
            got=f"{base.aval} ** {exponent}",
            need="a float base, e.g. x.astype(float)",
            dtypes=(dtype,),
        )
        raise at_user_line(error)
    check_range(exponent, dtype)


@covers("__power__")
def powered(x: Any, y: Any) -> Array:
    """``x ** y``, which for 2 is the square, of bools an int8."""
    return square(x) if type(y) is int and y == 2 and as_array(x).dtype.is_bool else power(x, y)


def _integer_power(x: Array, exponent: int) -> Array:
    if exponent == 1:
        return another_handle(x)
    return p.square(x) if exponent == 2 else p.integer_pow(x, exponent)


@covers("maximum", ufunc=True)
def maximum(x: Any, y: Any) -> Array:
    """Return the elementwise maximum. NaNs propagate; a tie shares the derivative equally."""
    return _extremum(p.maximum, logical_or, x, y, "maximum")


@covers("minimum", ufunc=True)
def minimum(x: Any, y: Any) -> Array:
    """Return the elementwise minimum. NaNs propagate; a tie shares the derivative equally."""
    return _extremum(p.minimum, logical_and, x, y, "minimum")


_Binary = Callable[[Array, Array], Array]


def _extremum(function: _Binary, of_bools: _Binary, x: Any, y: Any, name: str) -> Array:
    a, b = pair(x, y, name)
    return (of_bools if a.aval.dtype.is_bool else function)(a, b)


@covers("clip")
def clip(
    x: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None
) -> Array:
    """Limit values to [a_min, a_max]. The derivative is 1 strictly inside, 0 at the bounds.

    ``min`` and ``max`` are NumPy's other names for the bounds; ``None`` leaves a side open, and so
    does a Python integer beyond that end of an integer dtype, as in NumPy.
    """
    low = a_min if min is None else min
    high = a_max if max is None else max
    x = strong(as_array(x))  # as in NumPy: a number that is limited is an array, bounds are numbers
    if x.dtype.is_integer:
        low = None if type(low) is int and low < 0 and not fits(low, x.dtype) else low
        high = None if type(high) is int and high > 0 and not fits(high, x.dtype) else high
    if low is None and high is None:
        return another_handle(x)
    if low is None:
        return minimum(x, high)
    if high is None:
        return maximum(x, low)
    middle, bottom, top = together("clip", x, low, high)
    return p.clamp(bottom, middle, top)


@covers("negative", ufunc=True)
def negative(x: Any) -> Array:
    """Compute −x elementwise.

    Raises DTypeMismatchError: for bools, as in NumPy.
    """
    found = as_array(x)
    if found.dtype.is_bool:
        raise _refuse_bool("negative", "use logical_not for bools")
    return p.neg(found)


@covers("positive", ufunc=True)
def positive(x: Any) -> Array:
    """Compute +x elementwise.

    Raises DTypeMismatchError: for bools, as in NumPy.
    """
    found = as_array(x)
    if found.dtype.is_bool:
        raise _refuse_bool("positive", "use copy for bools")
    return another_handle(found)


@covers("absolute", "abs", ufunc=True)
def absolute(x: Any) -> Array:
    """Compute the absolute value elementwise; real for complex x. Its derivative at 0 is 0."""
    found = as_array(x)
    return another_handle(found) if found.dtype.is_bool else p.abs(found)


@covers("fabs", ufunc=True)
def fabs(x: Any) -> Array:
    """Compute the absolute value of real x elementwise, as floats."""
    found = floating(x)
    if found.dtype.is_complex:
        error = DTypeMismatchError.of(
            "fabs", "not defined for complex numbers", got=found.aval, need="a real array; abs(x)"
        )
        raise at_user_line(error)
    return p.abs(found)


@covers("sign", ufunc=True)
def sign(x: Any) -> Array:
    """Return the sign of x, z/|z| for complex z, 0 at 0; that of a real x has derivative zero."""
    return p.sign(as_array(x))


@covers("sqrt", ufunc=True)
def sqrt(x: Any) -> Array:
    """Return the square root elementwise. Its derivative at 0 is inf."""
    return p.sqrt(floating(x))


@covers("cbrt", ufunc=True)
def cbrt(x: Any) -> Array:
    """Return the real cube root elementwise, also of negative x. Its derivative at 0 is inf."""
    return p.cbrt(floating(x))


@covers("float_power", ufunc=True)
def float_power(x: Any, y: Any) -> Array:
    """Raise x to the power y in float64 or complex128, so that integers have negative powers."""
    a, b = pair(x, y, "float_power", floating=True)
    kind = complex128 if a.dtype.is_complex else float64
    return p.pow(cast(a, kind), cast(b, kind))


@covers("square", ufunc=True)
def square(x: Any) -> Array:
    """Compute x² elementwise; bools become int8."""
    found = as_array(x)
    return p.square(cast(found, int8) if found.dtype.is_bool else found)


@covers("reciprocal", ufunc=True)
def reciprocal(x: Any) -> Array:
    """Compute 1/x elementwise in the dtype of x, truncated for integers."""
    found = as_array(x)
    return p.div(*pair(1, cast(found, int8) if found.dtype.is_bool else found, "reciprocal"))


@covers("astype")
def astype(x: Any, dtype: Any, copy: bool = True, *, device: Any = None) -> Array:
    """Cast an array to a dtype. Derivatives pass between floats and complex numbers.

    >>> import tenferro as tn
    >>> tn.astype(1.9, int).dtype
    dtype('int64')
    """
    given, kind = another_handle(as_array(x)), DType.of(dtype)
    found = convert(given, kind) if is_weak(given) else cast(given, kind)  # asked for: may wrap
    return found if device is None else FUNCTIONS["__to_device__"](found, device)


def sum_dtype(dtype: DType) -> DType:
    """Return the dtype in which NumPy sums: at least 64 bits for integers and bools."""
    if dtype.is_bool or (dtype.category == "int" and dtype.bits < 64):
        return int64
    return DType.of("uint64") if dtype.category == "uint" else dtype


def mean_dtype(dtype: DType) -> DType:
    """Return the dtype of a mean: float64 for integers."""
    return dtype if dtype.is_inexact else float_for(int64)
