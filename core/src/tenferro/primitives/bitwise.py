"""Integers as bits: logic bit by bit, and shifts.

Integers are in two's complement. On bools the bitwise operations are the logical ones, and are
recorded as those. No derivative flows through integers. Read next: ``reduction.py``.
"""

from __future__ import annotations

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import accepted
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind, pointwise
from tenferro.primitives.comparison import logical_and, logical_not, logical_or, logical_xor

__all__ = [
    "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "ShiftLeft", "ShiftRight", "bitwise_and",
    "bitwise_not", "bitwise_or", "bitwise_xor", "shift_left", "shift_right",
]  # fmt: skip


class BitwiseAnd(Mixed):
    """z = x & y"""

    key = "std::bitwise_and"
    accepts = "bits"
    batch = pointwise
    commutative = True
    linear = ()

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return accepted(self, x, y)

    def simplify(self, x: Handle, y: Handle) -> Handle | None:
        return logical_and(x, y) if x.dtype.is_bool else None


class BitwiseOr(Mixed):
    """z = x | y"""

    key = "std::bitwise_or"
    accepts = "bits"
    batch = pointwise
    commutative = True
    linear = ()

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return accepted(self, x, y)

    def simplify(self, x: Handle, y: Handle) -> Handle | None:
        return logical_or(x, y) if x.dtype.is_bool else None


class BitwiseXor(Mixed):
    """z = x ^ y"""

    key = "std::bitwise_xor"
    accepts = "bits"
    batch = pointwise
    commutative = True
    linear = ()

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return accepted(self, x, y)

    def simplify(self, x: Handle, y: Handle) -> Handle | None:
        return logical_xor(x, y) if x.dtype.is_bool else None


class BitwiseNot(Mixed):
    """y = ~x"""

    key = "std::bitwise_not"
    accepts = "bits"
    batch = pointwise
    linear = ()

    def abstract_eval(self, x: Aval) -> Aval:
        return accepted(self, x)

    def simplify(self, x: Handle) -> Handle | None:
        return logical_not(x) if x.dtype.is_bool else None


class ShiftLeft(Mixed):
    """z = x·2^count without the bits that fall off; 0 unless 0 <= count < the number of bits"""

    key = "std::shift_left"
    accepts = "integer"
    batch = pointwise
    linear = ()

    def abstract_eval(self, x: Aval, count: Aval) -> Aval:
        return accepted(self, x, count)


class ShiftRight(Mixed):
    """z = x / 2^count rounded down;   all bits the sign unless 0 <= count < the number of bits"""

    key = "std::shift_right"
    accepts = "integer"
    batch = pointwise
    linear = ()

    def abstract_eval(self, x: Aval, count: Aval) -> Aval:
        return accepted(self, x, count)


def bitwise_and(x: H, y: H) -> H:
    """Find the bits that both have.

    x: i[*s]   y: i[*s]   →   z: i[*s]

    Convention   of bools it is ``logical_and``
    Raises       DTypeMismatchError: if the operands are floats or complex.

    >>> from tenferro.primitives import bitwise_and, variable
    >>> bitwise_and(variable("x", (2,), "i32"), variable("y", (2,), "i32")).aval
    i32[2]
    """
    return bind(BitwiseAnd(), x, y)


def bitwise_or(x: H, y: H) -> H:
    """Find the bits that at least one has.

    x: i[*s]   y: i[*s]   →   z: i[*s]

    Convention   of bools it is ``logical_or``
    Raises       DTypeMismatchError: if the operands are floats or complex.

    >>> from tenferro.primitives import bitwise_or, variable
    >>> bitwise_or(variable("x", (2,), "i32"), variable("y", (2,), "i32")).aval
    i32[2]
    """
    return bind(BitwiseOr(), x, y)


def bitwise_xor(x: H, y: H) -> H:
    """Find the bits that exactly one has.

    x: i[*s]   y: i[*s]   →   z: i[*s]

    Convention   of bools it is ``logical_xor``
    Raises       DTypeMismatchError: if the operands are floats or complex.

    >>> from tenferro.primitives import bitwise_xor, variable
    >>> bitwise_xor(variable("x", (2,), "i32"), variable("y", (2,), "i32")).aval
    i32[2]
    """
    return bind(BitwiseXor(), x, y)


def bitwise_not(x: H) -> H:
    """Turn every bit over.

    x: i[*s]   →   y: i[*s]

    Convention   of bools it is ``logical_not``
    Raises       DTypeMismatchError: if the operands are floats or complex.

    >>> from tenferro.primitives import bitwise_not, variable
    >>> bitwise_not(variable("x", (2,), "i32")).aval
    i32[2]
    """
    return bind(BitwiseNot(), x)


def shift_left(x: H, count: H) -> H:
    """Move the bits up by count places, filling with zeros.

    x: i[*s]   count: i[*s]   →   z: i[*s]

    Convention   0 unless 0 <= count < the number of bits
    Raises       DTypeMismatchError: if the operands are not integers.

    >>> from tenferro.primitives import shift_left, variable
    >>> shift_left(variable("x", (2,), "i32"), variable("y", (2,), "i32")).aval
    i32[2]
    """
    return bind(ShiftLeft(), x, count)


def shift_right(x: H, count: H) -> H:
    """Move the bits down by count places, filling with the sign of signed integers.

    x: i[*s]   count: i[*s]   →   z: i[*s]

    Convention   all bits the sign (0 of unsigned integers) unless 0 <= count < the number of bits
    Raises       DTypeMismatchError: if the operands are not integers.

    >>> from tenferro.primitives import shift_right, variable
    >>> shift_right(variable("x", (2,), "i32"), variable("y", (2,), "i32")).aval
    i32[2]
    """
    return bind(ShiftRight(), x, count)
