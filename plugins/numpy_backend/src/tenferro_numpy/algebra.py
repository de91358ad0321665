"""Algebras over NumPy arrays: an author writes the sum and the product, and nothing else.

`ArrayAlgebra` has what does not depend on the numbers: shapes, contractions, indexing and the
conversion of operands. `tenferro.backend.AlgebraBackend` makes a backend of an instance. The
backend of this distribution does not use it. Read next: the page *Add an algebra*.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from math import prod
from typing import Any

import numpy as np

from tenferro.primitives import Aval

__all__ = ["ArrayAlgebra", "is_position"]


class ArrayAlgebra:
    """An algebra over NumPy arrays; a subclass states ``add``, ``mul``, ``zero`` and ``one``.

    ``dtype`` is NumPy's dtype of an array of elements, and ``element`` makes an element of a
    number. Programs see every element as a float64, because float64 has derivatives and
    contractions. Integers and truth values of a program are positions and masks, not elements, and
    keep their dtype. A subclass may add any other primitive of the standard set as a method:
    ``neg`` and ``div`` of a field, ``maximum`` and ``argmax`` of an order.

    Examples
    --------
    Over min and + a matrix product finds shortest paths:

    >>> import numpy as np
    >>> import tenferro as tn
    >>> from tenferro.backend import AlgebraBackend
    >>> class MinPlus(ArrayAlgebra):
    ...     zero, one, dtype = np.inf, 0.0, float
    ...
    ...     def add(self, x, y):
    ...         return np.minimum(x, y)
    ...
    ...     def mul(self, x, y):
    ...         return x + y
    >>> steps = np.array([[0.0, 4.0, 9.0], [np.inf, 0.0, 3.0], [np.inf, np.inf, 0.0]])
    >>> tn.jit(lambda a: a @ a, backend=AlgebraBackend(MinPlus()))(steps)
    array([[ 0.,  4.,  7.],
           [inf,  0.,  3.],
           [inf, inf,  0.]])
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

    def each(self, move: Callable[..., Any], *operands: Any) -> Any:
        """Apply a function that moves elements to each array that the operands consist of.

        An algebra whose operands consist of several arrays, such as the two ends of intervals,
        overrides this method.
        """
        return move(*operands)

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

    def concatenate(self, *operands: Any, dimension: int) -> Any:
        """Join operands along an axis."""
        return self.each(lambda *arrays: np.concatenate(arrays, dimension), *operands)

    def pad(
        self,
        x: Any,
        value: Any,
        *,
        low: Sequence[int],
        high: Sequence[int],
        interior: Sequence[int],
    ) -> Any:
        """Put value around the elements of x and between them; negative low or high crop."""
        return self.each(lambda a, fill: _padded(a, fill, low, high, interior), x, value)

    def slice(
        self, x: Any, *, start: Sequence[int], limit: Sequence[int], strides: Sequence[int]
    ) -> Any:
        """Return every stride-th element from start up to limit, along each axis."""
        kept = tuple([slice(*bounds) for bounds in zip(start, limit, strides, strict=True)])
        return self.each(lambda a: a[kept], x)

    def dynamic_slice(self, x: Any, *starts: Any, sizes: Sequence[int]) -> Any:
        """Return the block of given sizes that begins at starts, moved so that it fits."""
        block = _block(x.shape, starts, sizes)
        return self.each(lambda a: a[block], x)

    def dynamic_update_slice(self, x: Any, update: Any, *starts: Any) -> Any:
        """Return x with the block that begins at starts replaced by update."""
        block = _block(x.shape, starts, update.shape)

        def replaced(a: Any, new: Any) -> Any:
            found = a.copy()
            found[block] = new
            return found

        return self.each(replaced, x, update)

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
    """Return True for a dtype of integers: a program counts and indexes with it."""
    return dtype is not None and dtype.is_integer


def _block(shape: Sequence[int], starts: Sequence[Any], sizes: Sequence[int]) -> tuple[slice, ...]:
    begins = [
        min(max(int(start), 0), n - size)
        for start, n, size in zip(starts, shape, sizes, strict=True)
    ]
    return tuple([slice(begin, begin + size) for begin, size in zip(begins, sizes, strict=True)])


def _padded(
    a: Any, fill: Any, low: Sequence[int], high: Sequence[int], interior: Sequence[int]
) -> Any:
    spread = [n + max(n - 1, 0) * between for n, between in zip(a.shape, interior, strict=True)]
    before, after = [max(n, 0) for n in low], [max(n, 0) for n in high]
    found = np.empty([sum(sizes) for sizes in zip(before, spread, after, strict=True)], a.dtype)
    found[...] = fill
    steps = zip(before, spread, interior, strict=True)
    found[tuple([slice(begin, begin + n, between + 1) for begin, n, between in steps])] = a
    crops = zip(found.shape, low, high, strict=True)
    return found[tuple([slice(max(-first, 0), n + min(last, 0)) for n, first, last in crops])]
