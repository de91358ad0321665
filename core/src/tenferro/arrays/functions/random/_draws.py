"""Shared code of all distributions: parameters, shapes, dtypes, and uniform numbers.

Parameters broadcast against the shape that is asked for; without one, the result has their own.
Python scalars are weak, so that the dtype is that of the arrays among them, float64 if there are
none. Half floats are drawn as float32 and rounded. Read next: ``continuous.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._factories import filled
from tenferro.arrays.functions.creation import shape_of
from tenferro.arrays.functions.random.keys import as_known_key
from tenferro.arrays.handle.array import SCALARS, Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import (
    broadcast_shapes,
    cast,
    common_dtype,
    stretch,
    weak_or_array,
)
from tenferro.primitives import (
    DType,
    DTypeMismatchError,
    Shape,
    ShapeMismatchError,
    convert,
    float32,
    float64,
    random_bits,
    shift_right,
)
from tenferro.primitives.random import bits_for, symmetric


def prepared(
    function: str, shape: Any, dtype: Any, *parameters: Any
) -> tuple[Shape, DType, list[Array]]:
    """Return the shape and dtype of a result, and the parameters in that dtype."""
    given = [x if type(x) in SCALARS else as_array(x) for x in parameters]
    kind = _dtype(function, dtype, given)
    arrays = [cast(weak_or_array(x, kind), kind) for x in given]
    return size_of(function, shape, [x.shape for x in arrays]), kind, arrays


def _dtype(function: str, dtype: Any, given: Sequence[Any]) -> DType:
    if dtype is None:
        found = common_dtype(given) if given else float64
        kind = found if found.is_inexact else float64
    else:
        kind = DType.of(dtype)
    if not kind.is_float:
        error = DTypeMismatchError.of(
            f"random.{function}", "the distribution does not support this dtype", got=kind,
            need="a float dtype", dtypes=(kind,),
        )  # fmt: skip
        raise at_user_line(error)
    return kind


def size_of(function: str, shape: Any, shapes: Sequence[Shape]) -> Shape:
    """Return the shape of a result, to which the shapes of the parameters must broadcast."""
    joint = broadcast_shapes(*shapes, function=f"random.{function}") if shapes else ()
    if shape is None:
        return joint
    wanted = shape_of(shape)
    if joint and broadcast_shapes(joint, wanted, function=f"random.{function}") != wanted:
        error = ShapeMismatchError.of(
            f"random.{function}", "the parameters do not fit into the shape",
            got=f"parameters of shape {joint}, shape={wanted}",
            need="a shape to which the parameters broadcast", shapes=(joint, wanted),
        )  # fmt: skip
        raise at_user_line(error)
    return wanted


def is_number(x: Any, value: float) -> bool:
    """Return True if x is this Python number, so that no computation with it is needed."""
    return type(x) in (int, float) and x == value


def wide(dtype: DType) -> DType:
    """Return the dtype in which half-precision floats are drawn."""
    return dtype if dtype is float64 else float32


def unit(key: Array, shape: Shape, dtype: DType) -> Array:
    """Draw uniform numbers in [0, 1): multiples of the spacing below 1, all equally likely."""
    bits = random_bits(key, shape, bits_for(dtype))
    leading = shift_right(bits, filled(bits, bits.dtype.bits - dtype.precision))
    return convert(leading, dtype) * 2.0**-dtype.precision


def signed(key: Any, shape: Shape, dtype: DType, function: str) -> Array:
    """Draw uniform numbers in (-1, 1) without 0, symmetric, in float32 or float64."""
    known = as_known_key(key, function)
    kind = wide(dtype)
    return symmetric(random_bits(known, shape, bits_for(kind)), kind)


def moved(x: Array, dtype: DType, loc: Any, scale: Any, arrays: Sequence[Array]) -> Array:
    """loc + scale x in the dtype; what is 0 or 1 by default costs nothing."""
    found = cast(x, dtype)
    if not is_number(scale, 1):
        found = stretch(arrays[1], x.shape) * found
    return found if is_number(loc, 0) else stretch(arrays[0], x.shape) + found
