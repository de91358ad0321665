"""Algebras for tenferro's own vocabulary: truth values, fractions, and intervals.

An object with operations under their names is a backend (``AlgebraBackend``), and programs of
tenferro, their contractions and their derivatives run on it. ``Arrays`` has what does not depend
on the numbers; an algebra adds its own sum and product. Read next: the page *Add an algebra*.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from math import inf, prod
from typing import Any

import numpy as np

from tenferro.primitives import Aval


class Arrays:
    """Arrays of any elements; an algebra states ``add``, ``mul``, ``zero`` and ``one``.

    ``element`` makes an element of a number, ``dtype`` is NumPy's for arrays of elements. To
    programs each is a float64, because float64 is what has a derivative and contracts. Integers
    stay integers: they are positions, not elements.
    """

    zero: Any
    one: Any
    dtype: Any

    def element(self, number: Any) -> Any:
        """Make an element of a number."""
        return number

    def add(self, x: Any, y: Any) -> Any:
        """x + y."""
        raise NotImplementedError

    def mul(self, x: Any, y: Any) -> Any:
        """x · y."""
        raise NotImplementedError

    def conj(self, x: Any) -> Any:
        """Return x."""
        return x

    # ---- what only moves elements ----------------------------------------------------------------

    def each(self, move: Callable[[Any], Any], x: Any) -> Any:
        """Apply a function that moves elements to each array that an operand consists of."""
        return move(x)

    def transpose(self, x: Any, *, permutation: Sequence[int]) -> Any:
        """Permute axes."""
        return self.each(lambda a: np.transpose(a, permutation), x)

    def reshape(self, x: Any, *, shape: Sequence[int]) -> Any:
        """Give another shape."""
        return self.each(lambda a: np.reshape(a, shape), x)

    def broadcast_in_dim(self, x: Any, *, shape: Sequence[int], dimensions: Sequence[int]) -> Any:
        """Repeat x; axis i of x becomes axis ``dimensions[i]``."""

        def spread(a: Any) -> Any:
            whole = [1] * len(shape)
            for axis, size in zip(dimensions, a.shape, strict=True):
                whole[axis] = size
            return np.broadcast_to(a.reshape(whole), shape)

        return self.each(spread, x)

    # ---- sums and products -----------------------------------------------------------------------

    def reduce_sum(self, x: Any, *, axes: Sequence[int]) -> Any:
        """Add along axes, one after the other."""
        for axis in sorted(axes, reverse=True):
            x = self._sum(x, axis)
        return x

    def _sum(self, x: Any, axis: int) -> Any:
        rest = [n for i, n in enumerate(x.shape) if i != axis]
        rows = [self.each(lambda a, i=i: np.take(a, i, axis), x) for i in range(x.shape[axis])]
        return reduce(self.add, rows, self.constant(value=0, dtype=None, shape=rest))

    def dot_general(
        self,
        lhs: Any,
        rhs: Any,
        *,
        lhs_contract: Sequence[int],
        rhs_contract: Sequence[int],
        lhs_batch: Sequence[int],
        rhs_batch: Sequence[int],
        preferred: Any,
    ) -> Any:
        """Multiply and add; the axes of the result are those of the batch, of lhs, of rhs."""
        lhs_free = [i for i in range(len(lhs.shape)) if i not in {*lhs_contract, *lhs_batch}]
        rhs_free = [i for i in range(len(rhs.shape)) if i not in {*rhs_contract, *rhs_batch}]
        batch = [lhs.shape[i] for i in lhs_batch]
        left = [lhs.shape[i] for i in lhs_free]
        right = [rhs.shape[i] for i in rhs_free]
        terms = prod([lhs.shape[i] for i in lhs_contract])
        lhs = self.transpose(lhs, permutation=[*lhs_batch, *lhs_free, *lhs_contract])
        rhs = self.transpose(rhs, permutation=[*rhs_batch, *rhs_free, *rhs_contract])
        ones = [1] * len(right)
        lhs = self.reshape(lhs, shape=[*batch, *left, *ones, terms])
        rhs = self.reshape(rhs, shape=[*batch, *[1] * len(left), *right, terms])
        products = self.mul(lhs, rhs)
        return self._sum(products, len(products.shape) - 1)

    # ---- values ----------------------------------------------------------------------------------

    def constant(self, *, value: Any, dtype: Any, shape: Sequence[int]) -> Any:
        """Return an array of one element; 0 and 1 are the zero and the one of the algebra."""
        if is_position(dtype):
            return np.full(tuple(shape), value, dtype=dtype.name)
        found = {0: self.zero, 1: self.one}.get(value)
        element = self.element(value) if found is None else found
        return np.full(tuple(shape), element, dtype=self.dtype)

    def asoperand(self, value: Any, aval: Aval) -> Any:
        """Make elements of numbers."""
        if is_position(aval.dtype):
            return np.array(value, dtype=aval.dtype.name)
        made = [self.element(number) for number in np.asarray(value, dtype=object).ravel()]
        found = np.empty(len(made), dtype=self.dtype)
        found[:] = made
        return found.reshape(aval.shape)

    def to_numpy(self, operand: Any) -> Any:
        """Return an array of the elements."""
        return np.array(operand)

    def aval_of(self, operand: Any) -> Aval:
        """Return the shape, as float64 or as integers."""
        is_integer = getattr(operand, "dtype", None) is not None and operand.dtype.kind in "iu"
        return Aval(operand.shape, operand.dtype if is_integer else "float64")


def is_position(dtype: Any) -> bool:
    """Return True for a dtype of integers."""
    return dtype is not None and dtype.is_integer


class Truth(Arrays):
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


class MaxPlus(Arrays):
    """Numbers under max and +: a matrix product finds best paths."""

    zero, one, dtype = -inf, 0.0, float

    def add(self, x: Any, y: Any) -> Any:
        """Return the larger one."""
        return np.maximum(x, y)

    def mul(self, x: Any, y: Any) -> Any:
        """x + y."""
        return x + y


class Fractions(Arrays):
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


class LongDouble(Arrays):
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


class Intervals(Arrays):
    """Closed intervals, rounded outward: the exact result lies in what comes out."""

    zero, one, dtype = 0.0, 1.0, float

    def each(self, move: Callable[[Any], Any], x: Any) -> Interval:
        """Move lower and upper ends alike."""
        return Interval(move(x.low), move(x.high))

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
