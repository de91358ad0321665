"""Algebras for tenferro's own vocabulary: truth values, fractions, and intervals.

An object with operations under their names is a backend (``AlgebraBackend``), and programs of
tenferro, their contractions and their derivatives run on it. ``ArrayAlgebra`` has what does not
depend on the numbers; an algebra adds its own sum and product. Read next: the page *Add an
algebra*.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from math import inf
from typing import Any

import numpy as np

from tenferro.primitives import Aval
from tenferro_numpy.algebra import ArrayAlgebra, is_position


class Truth(ArrayAlgebra):
    """False and True under *or* and *and*: a matrix product says which way there is one."""

    zero, one, dtype = False, True, bool

    def element(self, number: Any) -> bool:
        """Return True for anything but 0."""
        return bool(number)

    def add(self, x: Any, y: Any) -> Any:
        """x or y."""
        return np.logical_or(x, y)

    def mul(self, x: Any, y: Any) -> Any:
        """x and y."""
        return np.logical_and(x, y)


class MaxPlus(ArrayAlgebra):
    """Numbers under max and +: a matrix product finds best paths."""

    zero, one, dtype = -inf, 0.0, float

    def add(self, x: Any, y: Any) -> Any:
        """Return the larger one."""
        return np.maximum(x, y)

    def mul(self, x: Any, y: Any) -> Any:
        """x + y."""
        return x + y


class Fractions(ArrayAlgebra):
    """Exact rational numbers."""

    zero, one, dtype = Fraction(0), Fraction(1), object

    def element(self, number: Any) -> Fraction:
        """Make a fraction, without rounding."""
        return Fraction(number)

    def add(self, x: Any, y: Any) -> Any:
        """x + y."""
        return x + y

    def mul(self, x: Any, y: Any) -> Any:
        """x · y."""
        return x * y

    def neg(self, x: Any) -> Any:
        """−x."""
        return -x

    def div(self, x: Any, y: Any) -> Any:
        """x / y."""
        return x / y


class LongDouble(ArrayAlgebra):
    """NumPy's widest floats: 64 bits of significand on x86."""

    zero, one, dtype = np.longdouble(0), np.longdouble(1), np.longdouble

    def element(self, number: Any) -> Any:
        """Make a long double; a Python float keeps its 53 bits."""
        return np.longdouble(number)

    def add(self, x: Any, y: Any) -> Any:
        """x + y."""
        return x + y

    def mul(self, x: Any, y: Any) -> Any:
        """x · y."""
        return x * y

    def neg(self, x: Any) -> Any:
        """−x."""
        return -x

    def div(self, x: Any, y: Any) -> Any:
        """x / y."""
        return x / y

    def exp(self, x: Any) -> Any:
        """eˣ."""
        return np.exp(x)


class Interval:
    """Arrays of lower and of upper ends."""

    def __init__(self, low: Any, high: Any) -> None:
        self.low, self.high = np.asarray(low), np.asarray(high)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of both."""
        return tuple(self.low.shape)


class Intervals(ArrayAlgebra):
    """Closed intervals, rounded outward: the exact result lies in what comes out."""

    zero, one, dtype = 0.0, 1.0, float

    def each(self, move: Callable[..., Any], *operands: Any) -> Interval:
        """Move lower and upper ends alike."""
        low, high = [x.low for x in operands], [x.high for x in operands]
        return Interval(move(*low), move(*high))

    def add(self, x: Interval, y: Interval) -> Interval:
        """All sums of an element of x and one of y."""
        return outward(x.low + y.low, x.high + y.high)

    def mul(self, x: Interval, y: Interval) -> Interval:
        """All products of an element of x and one of y."""
        ends = [a * b for a in (x.low, x.high) for b in (y.low, y.high)]
        return outward(reduce(np.minimum, ends), reduce(np.maximum, ends))

    def neg(self, x: Interval) -> Interval:
        """All −a for an element a of x; exact."""
        return Interval(-x.high, -x.low)

    def constant(self, *, value: Any, dtype: Any, shape: Sequence[int]) -> Interval:
        """Return an array of one number, which a float64 is exactly."""
        if is_position(dtype):
            return super().constant(value=value, dtype=dtype, shape=shape)
        there = super().constant(value=value, dtype=dtype, shape=shape)
        return Interval(there, there)

    def asoperand(self, value: Any, aval: Aval) -> Interval:
        """Return an interval itself; make one of no width of a number."""
        if isinstance(value, Interval):
            return value
        if is_position(aval.dtype):
            return np.array(value, dtype=aval.dtype.name)
        there = np.array(value, dtype=float)
        return Interval(there, there)

    def owns(self, value: Any) -> bool:
        """Return True for intervals."""
        return isinstance(value, Interval)

    def to_numpy(self, operand: Interval) -> Any:
        """Return the lower and the upper ends, along a new last axis."""
        return np.stack([operand.low, operand.high], axis=-1)


def outward(low: Any, high: Any) -> Interval:
    """Move both ends by one float, which is more than an operation rounds by."""
    return Interval(np.nextafter(low, -inf), np.nextafter(high, inf))
