"""Integers and choices: randint, bernoulli, categorical. No derivative flows through them.

Read next: ``ordering.py``.
"""

from __future__ import annotations

from operator import index
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._factories import filled
from tenferro.arrays.functions.comparison import less
from tenferro.arrays.functions.random._draws import prepared, signed, size_of, unit
from tenferro.arrays.functions.random.continuous import standard_gumbel
from tenferro.arrays.functions.random.keys import as_known_key
from tenferro.arrays.functions.reduction import all as all_of
from tenferro.arrays.functions.reduction import argmax
from tenferro.arrays.functions.structural import moveaxis
from tenferro.arrays.handle.array import Array, evaluable
from tenferro.arrays.handle.convert import as_array, fits, is_operand, scalar
from tenferro.arrays.promotion.broadcast import stretch
from tenferro.primitives import (
    DType,
    DTypeMismatchError,
    InvalidParameterError,
    Shape,
    bitcast,
    bitwise_and,
    convert,
    eq,
    float64,
    int64,
    lt,
    random_bits,
    select,
    shift_right,
    uint64,
)

_WORD = 2**64


def randint(key: Any, shape: Any, low: Any, high: Any, dtype: Any = int64) -> Array:
    """Draw integers low <= n < high, all equally likely, of any integer dtype.

    ``low`` and ``high`` broadcast against the shape; Python integers reach from the smallest
    integer of the dtype to one more than the largest. The numbers are ⌊u·(high - low)⌋ of u with
    as many bits again as the dtype (64 at least), so that no probability is off by more than one
    part in 2³², of 64 bits in 2⁶⁴.

    Raises InvalidParameterError: if a range is empty, or goes beyond the dtype.

    >>> from tenferro import random
    >>> random.randint(random.key(0), (2, 3), 0, 10).aval
    i64[2,3]
    """
    known, kind = as_known_key(key, "randint"), DType.of(dtype)
    if not kind.is_integer:
        error = DTypeMismatchError.of(
            "random.randint", "no integers", got=kind, need="an integer dtype", dtypes=(kind,)
        )
        raise at_user_line(error)
    _check_range(low, high, kind)
    bottom, top = _word_of(low), _word_of(high)
    size = size_of("randint", shape, [bottom.shape, top.shape])
    bottom = stretch(bottom, size)
    span = stretch(top, size) - bottom
    draw = _below_wide if kind.bits == 64 else _below
    found = bottom + draw(known, size, span)
    return convert(found if kind.category == "uint" else bitcast(found, int64), kind)


def _check_range(low: Any, high: Any, dtype: DType) -> None:
    bounds = [x if is_operand(x) or isinstance(x, Array) else index(x) for x in (low, high)]
    first, end = bounds
    if isinstance(first, int) and isinstance(end, int):
        is_empty = first >= end
    else:
        arrays = [as_array(x) for x in bounds]
        known = all(evaluable(x.key) for x in arrays)
        is_empty = known and not bool(all_of(less(*bounds)))
    beyond = (isinstance(first, int) and not fits(first, dtype)) or (
        isinstance(end, int) and not fits(end - 1, dtype)
    )
    if is_empty or beyond:
        error = InvalidParameterError.of(
            "random.randint", "the range is empty" if is_empty else f"the range leaves {dtype}",
            got=f"low={low}, high={high}", need=f"low < high, and both within {dtype}",
            parameter="high", value=high,
        )  # fmt: skip
        raise at_user_line(error)


def _word_of(x: Any) -> Array:
    """Return integers modulo 2⁶⁴."""
    if not is_operand(x) and not isinstance(x, Array):
        return scalar(index(x) % _WORD, uint64)
    found = as_array(x)
    if not found.dtype.is_integer:
        error = DTypeMismatchError.of(
            "random.randint", "a bound is not an integer", got=found.aval, need="integers",
            dtypes=(found.dtype,),
        )  # fmt: skip
        raise at_user_line(error)
    if found.dtype.category == "uint":
        return convert(found, uint64)
    return bitcast(convert(found, int64), uint64)


def _halves(x: Array) -> tuple[Array, Array]:
    return bitwise_and(x, filled(x, 2**32 - 1)), shift_right(x, filled(x, 32))


def _below(key: Array, shape: Shape, span: Array) -> Array:
    """⌊u·span⌋ with u of 64 bits and span <= 2³²: the high word of a product of 96 bits."""
    low, high = _halves(random_bits(key, shape, uint64))
    carried = shift_right(low * span, filled(low, 32))
    return shift_right(high * span + carried, filled(low, 32))


def _below_wide(key: Array, shape: Shape, span: Array) -> Array:
    """⌊u·span⌋ with u of 128 bits; a span of 0 stands for 2⁶⁴."""
    bits = random_bits(key, (2, *shape), uint64)
    high, low = bits[0], bits[1]
    rest = high * span
    total = rest + _high_product(low, span)
    carry = convert(lt(total, rest), uint64)
    found = _high_product(high, span) + carry
    return select(eq(span, filled(span, 0)), high, found)


def _high_product(x: Array, y: Array) -> Array:
    """Return the upper 64 bits of a product of two 64-bit words, from products of halves."""
    (x0, x1), (y0, y1) = _halves(x), _halves(y)
    low, left, right = x0 * y0, x1 * y0, x0 * y1
    middle = shift_right(low, filled(low, 32)) + _halves(left)[0] + _halves(right)[0]
    uppers = [shift_right(each, filled(low, 32)) for each in (left, right, middle)]
    return x1 * y1 + uppers[0] + uppers[1] + uppers[2]


def bernoulli(key: Any, p: Any = 0.5, shape: Any = None) -> Array:
    """Draw bools that are True with probability ``p``, to 53 bits. p gets no derivative.

    >>> from tenferro import random
    >>> random.bernoulli(random.key(0), 0.25, (3,)).aval
    bool[3]
    """
    size, _, (chance,) = prepared("bernoulli", shape, float64, p)
    return unit(as_known_key(key, "bernoulli"), size, float64) < stretch(chance, size)


def categorical(key: Any, logits: Any, axis: int = -1, shape: Any = None) -> Array:
    """Draw positions along an axis with probabilities proportional to exp(logits).

    Drawn by adding Gumbel noise, of ``shape`` times the axis; no derivative flows through logits.
    ``shape`` is that of the result; the shape of logits without the axis must broadcast to it.

    >>> from tenferro import random
    >>> random.categorical(random.key(0), [0.0, 1.0, 2.0], shape=(5,)).aval
    i64[5]
    """
    last = moveaxis(prepared("categorical", None, float64, logits)[2][0], axis, -1)
    size = (*size_of("categorical", shape, [last.shape[:-1]]), last.shape[-1])
    t = signed(key, size, float64, "categorical")
    return argmax(stretch(last, size) + standard_gumbel(t), -1)
