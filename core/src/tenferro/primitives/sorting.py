"""Sorting along an axis, and finding places in what is sorted.

``sort`` is stable on every backend: what is equal keeps its order, so the permutation is a
function of the keys. nan comes last; complex keys are compared by real part, then by imaginary
part, those with a nan part last (NumPy's order). Derivatives follow the elements: they are
gathered by the permutation, which is an integer and constant. Read next: ``scattering.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import (
    accepted,
    axes,
    index_dtype,
    integers,
    invalid,
    of_kind,
    same_dtype,
    same_shape,
)
from tenferro.primitives._dtype import DType, int64
from tenferro.primitives._errors import ShapeMismatchError
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind, bind_all, in_front
from tenferro.primitives.comparison import eq, le, logical_and, logical_or, lt, ne, select
from tenferro.primitives.constants import Iota, constant, iota
from tenferro.primitives.indexing import take_along_axis
from tenferro.primitives.structural import convert, reshape, reverse, slice
from tenferro.tidu import RuleBuilder, Value

__all__ = ["Searchsorted", "Sort", "TopK", "argsort", "searchsorted", "sort", "top_k"]


class Sort(Mixed):
    """Operands in the order of the first num_keys of them, compared in turn;   dy = dx permuted"""

    key = "std::sort"
    prunable = True
    linear = ()
    dimension: int
    num_keys: int
    count: int  # of operands, and of results

    def __post_init__(self) -> None:
        values = [integers(self, n, (getattr(self, n),))[0] for n in self._fields]
        self._set(**dict(zip(self._fields, values, strict=True)))
        if not 1 <= self.num_keys <= self.count:
            got, need = f"num_keys={self.num_keys} of {self.count} operands", "one key or more"
            raise invalid(self, "num_keys", "no such keys", got=got, need=need)

    @property
    def input_count(self) -> int:
        """As many as operands."""
        return self.count

    @property
    def output_count(self) -> int:
        """As many as operands."""
        return self.count

    def abstract_eval(self, *xs: Aval) -> tuple[Aval, ...]:
        same_shape(self, *xs)
        axes(self, "dimension", (self.dimension,), xs[0])
        return xs

    def jvp_input(
        self,
        rule: RuleBuilder,
        index: int,
        tangent: Value,
        primals_in: Sequence[Any],
        primals_out: Sequence[Any],
    ) -> Sequence[Value | None]:
        """Call ``jvp_each``."""
        return self.jvp_each(tangent, index, primals_in, primals_out)

    def jvp_each(
        self, dx: Any, index: int, xs: Sequence[Handle], ys: Sequence[Handle]
    ) -> list[Value | None]:
        """Permute the tangent of one operand like the operand."""
        found: list[Value | None] = [None] * self.count
        found[index] = take_along_axis(dx, self._order(xs, ys), self.dimension)
        return found

    def _order(self, xs: Sequence[Handle], ys: Sequence[Handle]) -> Handle:
        """Return the permutation: an operand that counts the positions, or one more sort."""
        positions = iota(xs[0].shape, self.dimension, int64)
        for x, y in zip(xs, ys, strict=True):
            if isinstance(x.key.operation, Iota) and x.key.operation.dimension == self.dimension:
                return y
        return sort([*xs[: self.num_keys], positions], self.dimension, self.num_keys)[-1]

    def batch(self, size: int, batched: Sequence[bool], *xs: Handle) -> tuple[Handle, ...]:
        spread = [in_front(x, each, size) for x, each in zip(xs, batched, strict=True)]
        return sort(spread, self.dimension + 1, self.num_keys)


class TopK(Mixed):
    """The k largest along an axis, largest first, and where they are;   dy = dx from there"""

    key = "std::top_k"
    accepts = "ordered"
    linear = ()
    output_count = 2
    k: int
    axis: int
    dtype: DType

    def __post_init__(self) -> None:
        k, axis = (integers(self, n, (getattr(self, n),))[0] for n in ("k", "axis"))
        self._set(k=k, axis=axis, dtype=index_dtype(self, self.dtype))

    def abstract_eval(self, x: Aval) -> tuple[Aval, Aval]:
        axes(self, "axis", (self.axis,), accepted(self, x))
        if self.k > x.shape[self.axis]:
            got, need = f"k={self.k} for {x}, axis={self.axis}", "k no larger than the axis"
            raise invalid(self, "k", "k exceeds the number of elements", got=got, need=need)
        y = x.with_shape((*x.shape[: self.axis], self.k, *x.shape[self.axis + 1 :]))
        return y, y.with_dtype(self.dtype)

    def jvp_x(
        self, dx: Handle, x: Handle, values: Handle, positions: Handle
    ) -> tuple[Handle, None]:
        return take_along_axis(dx, positions, self.axis), None

    def batch(self, size: int, batched: Sequence[bool], x: Handle) -> tuple[Handle, Handle]:
        return top_k(x, self.k, axis=self.axis + 1, dtype=self.dtype)

    def decompose(self, x: Handle) -> tuple[Handle, Handle]:
        """Sort in reverse and take the last k; reversed before and after, so ties keep their
        order.
        """
        positions = iota(x.shape, self.axis, self.dtype)
        reversed_inputs = [reverse(each, (self.axis,)) for each in (x, positions)]
        start, limit = [0] * x.ndim, list(x.shape)
        start[self.axis] = x.shape[self.axis] - self.k
        ordered = sort(reversed_inputs, self.axis)
        values, places = (reverse(slice(y, start, limit), (self.axis,)) for y in ordered)
        return values, places


class Searchsorted(Mixed):
    """Number of elements of each sorted row that are less than a value (left), or at most it
    (right)
    """

    key = "std::searchsorted"
    accepts = "ordered"
    linear = ()
    side: str
    dtype: DType

    def __post_init__(self) -> None:
        self._set(dtype=index_dtype(self, self.dtype))
        if self.side not in ("left", "right"):
            got, need = f"side={self.side!r}", "'left' or 'right'"
            raise invalid(self, "side", "unknown side", got=got, need=need)

    def abstract_eval(self, rows: Aval, values: Aval) -> Aval:
        of_kind(self, self.accepts, same_dtype(self, rows, values))
        if rows.ndim == 0 or rows.shape[:-1] != values.shape[: rows.ndim - 1]:
            raise ShapeMismatchError.of(
                self.name,
                "rows and values have different batch axes",
                got=f"rows {rows}, values {values}",
                need="rows of shape [*b, n] and values of shape [*b, *s]",
                shapes=(rows.shape, values.shape),
            )
        return values.with_dtype(self.dtype)

    def batch(self, size: int, batched: Sequence[bool], rows: Handle, values: Handle) -> Handle:
        """Batch; one row that serves all examples is not repeated."""
        if not batched[0] and rows.ndim == 1:
            return bind(self, rows, values)
        spread = in_front(rows, batched[0], size), in_front(values, batched[1], size)
        return bind(self, *spread)

    def decompose(self, rows: Handle, values: Handle) -> Handle:
        """Search by bisection: add powers of two, the largest first, as long as they fit."""
        n, batch = rows.shape[-1], rows.shape[:-1]
        wanted = reshape(values, (*batch, prod(values.shape[len(batch) :])))
        found = constant(0, int64, wanted.shape)
        size = constant(n, int64, wanted.shape)
        for bit in range(n.bit_length() - 1, -1, -1):
            probe = found + 2**bit
            seen = take_along_axis(rows, probe - 1, len(batch), mode="clip")
            fits = logical_and(le(probe, size), self._counts(seen, wanted))
            found = select(fits, probe, found)
        return convert(reshape(found, values.shape), self.dtype)

    def _counts(self, x: Handle, value: Handle) -> Handle:
        """Return whether x counts for the value; nan is larger than all numbers."""
        is_nan = ne(value, value)
        if self.side == "right":
            return logical_or(le(x, value), is_nan)
        return logical_or(lt(x, value), logical_and(is_nan, eq(x, x)))


def sort(operands: Sequence[H], dimension: int, num_keys: int = 1) -> tuple[H, ...]:
    """Bring operands into the order of the first ones along one axis.

    xs: each [*s]   →   ys: each [*s]

    Definition   ys are xs permuted alike, so that the first key increases; where keys are equal
                 the next decides, and in the end the order that was (the sort is stable)
    JVP          dys = dxs permuted like the operands
    Convention   nan comes last; complex: by real part, then imaginary part, those with nan last
    Raises       AxisError, ShapeMismatchError, InvalidParameterError (num_keys).

    >>> from tenferro.primitives import sort, variable
    >>> sort([variable("x", (2, 3), "f64"), variable("y", (2, 3), "i64")], 1)[1].aval
    i64[2,3]
    """
    return bind_all(Sort(dimension, num_keys, len(operands)), *operands)


def argsort(x: Handle, axis: int, dtype: object = int64) -> Handle:
    """Find the permutation that sorts along one axis: the sort of the positions by x.

    x: [*s]   →   y: int[*s]

    Convention   equal elements keep their order; nan comes last
    Raises       AxisError.

    >>> from tenferro.primitives import argsort, variable
    >>> argsort(variable("x", (2, 3), "f64"), 1).aval
    i64[2,3]
    """
    axes(Sort(axis, 1, 2), "dimension", (axis,), x.aval)
    return sort([x, iota(x.shape, axis, dtype)], axis)[1]


def top_k(x: H, k: int, *, axis: int, dtype: object = int64) -> tuple[H, H]:
    """Find the k largest elements along one axis and their positions, the largest first.

    x: [*s]   →   values: [s with k along axis]   positions: int[the same]

    JVP          d values = dx at the positions
    Convention   nan is the largest; of equal elements the first comes first
    Raises       InvalidParameterError: if k exceeds the axis; DTypeMismatchError: if x is complex.

    >>> from tenferro.primitives import top_k, variable
    >>> [y.aval for y in top_k(variable("x", (2, 5), "f64"), 3, axis=1)]
    [f64[2,3], i64[2,3]]
    """
    values, positions = bind_all(TopK(k, axis, DType.of(dtype)), x)
    return values, positions


def searchsorted(rows: H, values: H, *, side: str = "left", dtype: object = int64) -> H:
    """Find where values belong in sorted rows.

    rows: [*b, n]   values: [*b, *s]   →   y: int[*b, *s]

    Definition   left: how many of the row are less than the value; right: how many are at most it
    Convention   rows increase, nan last, which is larger than all numbers
    Raises       ShapeMismatchError, DTypeMismatchError, InvalidParameterError.

    >>> from tenferro.primitives import searchsorted, variable
    >>> searchsorted(variable("a", (5,), "f64"), variable("v", (2, 3), "f64")).aval
    i64[2,3]
    """
    return bind(Searchsorted(side, DType.of(dtype)), rows, values)
