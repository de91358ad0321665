"""Reductions over explicit axes, which are dropped from the result.

Sums are linear. Products keep their derivative where factors are zero, to every order. Where
several elements attain a maximum or a minimum, they share the derivative equally. Positions
(argmax, argmin) are integers and carry none. An empty sum is 0 and an empty product 1; a maximum
of nothing is an error. Read next: ``cumulative.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tenferro.computegraph import Operation
from tenferro.primitives import structural  # a cycle: sums broadcast back, broadcasts sum back
from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import accepted, axes, index_dtype, integers, invalid
from tenferro.primitives._dtype import DType, int64
from tenferro.primitives._errors import InvalidParameterError
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Linear, Mixed, TensorPrimitive, bind
from tenferro.primitives.comparison import gt, logical_not, lt, select
from tenferro.primitives.constants import zeros_like

__all__ = [
    "Argmax", "Argmin", "ReduceAnd", "ReduceMax", "ReduceMin", "ReduceOr", "ReduceProd",
    "ReduceSum", "argmax", "argmin", "reduce_and", "reduce_max", "reduce_min", "reduce_or",
    "reduce_prod", "reduce_sum",
]  # fmt: skip


class ReduceSum(Linear):
    """Sum over axes.   x: [*s]  →  y: [s without axes]"""

    key = "std::reduce_sum"
    accepts = "numeric"
    simplify_triggers = ()
    axes: tuple[int, ...]

    def __post_init__(self) -> None:
        self._set(axes=_sorted(self, self.axes))

    def abstract_eval(self, x: Aval) -> Aval:
        axes(self, "axes", self.axes, x)
        return accepted(self, x).without(self.axes)

    def simplify(self, x: Handle) -> Handle | None:
        return None if self.axes or x.dtype.is_bool else x

    def transpose_x(self, ct: Handle, x: Handle) -> Handle:
        return _spread(ct, x, self.axes)

    def batch(self, size: int, batched: Sequence[bool], x: Handle) -> Handle:
        return reduce_sum(x, structural.behind(self.axes))


class ReduceProd(Mixed):
    """Product over axes,   dy = Σ_i dx_i Π_{j≠i} x_j"""

    key = "std::reduce_prod"
    accepts = "numeric"
    simplify_triggers = ()
    linear = ()
    axes: tuple[int, ...]

    def __post_init__(self) -> None:
        self._set(axes=_sorted(self, self.axes))

    def abstract_eval(self, x: Aval) -> Aval:
        axes(self, "axes", self.axes, x)
        return accepted(self, x).without(self.axes)

    def simplify(self, x: Handle) -> Handle | None:
        return None if self.axes or x.dtype.is_bool else x

    def jvp_x(self, dx: Handle, x: Handle, y: Handle) -> Handle:
        """Apply the product rule along a balanced tree, without division, so zeros do no harm."""
        factors, tangents = _leading(x, self.axes), _leading(dx, self.axes)
        if factors.shape[0] == 0:
            return reduce_sum(tangents, (0,))
        while factors.shape[0] > 1:
            factors, tangents = _multiply_halves(factors, tangents)
        return structural.reshape(tangents, y.shape)

    def batch(self, size: int, batched: Sequence[bool], x: Handle) -> Handle:
        return reduce_prod(x, structural.behind(self.axes))


def _leading(x: Handle, reduced: Sequence[int]) -> Handle:
    """Join the reduced axes into one axis in front."""
    kept = [axis for axis in range(x.ndim) if axis not in reduced]
    count = prod(x.shape[axis] for axis in reduced)
    front = structural.transpose(x, [*reduced, *kept])
    return structural.reshape(front, [count, *(x.shape[axis] for axis in kept)])


def _multiply_halves(factors: Handle, tangents: Handle) -> tuple[Handle, Handle]:
    """Multiply the first half by the second, and differentiate the products."""
    half = (factors.shape[0] + 1) // 2
    (a, b), (da, db) = _halves(factors, half, 1), _halves(tangents, half, 0)
    return a * b, da * b + a * db


def _halves(x: Handle, half: int, filler: int) -> tuple[Handle, Handle]:
    """Split the leading axis in two halves; the second is filled up if the count is odd."""
    rest, none = x.shape[1:], (0,) * (x.ndim - 1)
    missing = (2 * half - x.shape[0], *none)
    even = structural.pad(x, filler, (0, *none), missing, (0, *none))
    first = structural.slice(even, (0, *none), (half, *rest))
    return first, structural.slice(even, (half, *none), (2 * half, *rest))


class ReduceMax(Mixed):
    """Maximum over axes, nan if any is;   dy = the mean of dx where x = y"""

    key = "std::reduce_max"
    accepts = "ordered"
    simplify_triggers = ()
    linear = ()
    axes: tuple[int, ...]

    def __post_init__(self) -> None:
        self._set(axes=_sorted(self, self.axes))

    def abstract_eval(self, x: Aval) -> Aval:
        axes(self, "axes", self.axes, x)
        return _of_something(self, accepted(self, x), self.axes).without(self.axes)

    def simplify(self, x: Handle) -> Handle | None:
        return None if self.axes else x

    def jvp_x(self, dx: Handle, x: Handle, y: Handle) -> Handle:
        return _mean_of_the_best(dx, lt(x, _spread(y, x, self.axes)), self.axes)

    def batch(self, size: int, batched: Sequence[bool], x: Handle) -> Handle:
        return reduce_max(x, structural.behind(self.axes))


class ReduceMin(Mixed):
    """Minimum over axes, nan if any is;   dy = the mean of dx where x = y"""

    key = "std::reduce_min"
    accepts = "ordered"
    simplify_triggers = ()
    linear = ()
    axes: tuple[int, ...]

    def __post_init__(self) -> None:
        self._set(axes=_sorted(self, self.axes))

    def abstract_eval(self, x: Aval) -> Aval:
        axes(self, "axes", self.axes, x)
        return _of_something(self, accepted(self, x), self.axes).without(self.axes)

    def simplify(self, x: Handle) -> Handle | None:
        return None if self.axes else x

    def jvp_x(self, dx: Handle, x: Handle, y: Handle) -> Handle:
        return _mean_of_the_best(dx, gt(x, _spread(y, x, self.axes)), self.axes)

    def batch(self, size: int, batched: Sequence[bool], x: Handle) -> Handle:
        return reduce_min(x, structural.behind(self.axes))


def _mean_of_the_best(dx: Handle, loses: Handle, reduced: Sequence[int]) -> Handle:
    """Average dx over the elements that do not lose: ties share, and all do if one is nan."""
    count = reduce_sum(structural.convert(logical_not(loses), dx.dtype), reduced)
    return reduce_sum(select(loses, zeros_like(dx), dx), reduced) / count


class ReduceAnd(Mixed):
    """Logical AND over axes; over no elements, True"""

    key = "std::reduce_and"
    accepts = "bool"
    linear = ()
    axes: tuple[int, ...]

    def __post_init__(self) -> None:
        self._set(axes=_sorted(self, self.axes))

    def abstract_eval(self, x: Aval) -> Aval:
        axes(self, "axes", self.axes, x)
        return accepted(self, x).without(self.axes)

    def simplify(self, x: Handle) -> Handle | None:
        return x if not self.axes and x.dtype.is_bool else None

    def batch(self, size: int, batched: Sequence[bool], x: Handle) -> Handle:
        return reduce_and(x, structural.behind(self.axes))


class ReduceOr(Mixed):
    """Logical OR over axes; over no elements, False"""

    key = "std::reduce_or"
    accepts = "bool"
    linear = ()
    axes: tuple[int, ...]

    def __post_init__(self) -> None:
        self._set(axes=_sorted(self, self.axes))

    def abstract_eval(self, x: Aval) -> Aval:
        axes(self, "axes", self.axes, x)
        return accepted(self, x).without(self.axes)

    def simplify(self, x: Handle) -> Handle | None:
        return x if not self.axes and x.dtype.is_bool else None

    def batch(self, size: int, batched: Sequence[bool], x: Handle) -> Handle:
        return reduce_or(x, structural.behind(self.axes))


class Argmax(Mixed):
    """Position of the first maximum along one axis; nan wins"""

    key = "std::argmax"
    accepts = "ordered"
    linear = ()
    axis: int
    dtype: DType

    def __post_init__(self) -> None:
        self._set(axis=_sorted(self, (self.axis,))[0], dtype=index_dtype(self, self.dtype))

    def abstract_eval(self, x: Aval) -> Aval:
        return _position(self, x, self.axis, self.dtype)

    def batch(self, size: int, batched: Sequence[bool], x: Handle) -> Handle:
        return argmax(x, self.axis + 1, self.dtype)


class Argmin(Mixed):
    """Position of the first minimum along one axis; nan wins"""

    key = "std::argmin"
    accepts = "ordered"
    linear = ()
    axis: int
    dtype: DType

    def __post_init__(self) -> None:
        self._set(axis=_sorted(self, (self.axis,))[0], dtype=index_dtype(self, self.dtype))

    def abstract_eval(self, x: Aval) -> Aval:
        return _position(self, x, self.axis, self.dtype)

    def batch(self, size: int, batched: Sequence[bool], x: Handle) -> Handle:
        return argmin(x, self.axis + 1, self.dtype)


def _position(op: TensorPrimitive, x: Aval, axis: int, dtype: DType) -> Aval:
    axes(op, "axis", (axis,), x)
    return _of_something(op, accepted(op, x), (axis,)).without((axis,)).with_dtype(dtype)


def _sorted(op: Operation, values: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted(integers(op, "axes", values)))


def _of_something(op: Operation, x: Aval, reduced: Sequence[int]) -> Aval:
    """Return the aval; raise if it has no elements along the reduced axes."""
    if any([x.shape[axis] == 0 for axis in reduced]):
        raise _empty(op, x, reduced)
    return x


def _empty(op: Operation, x: Aval, reduced: Sequence[int]) -> InvalidParameterError:
    parameter = "axes" if hasattr(op, "axes") else "axis"
    fact = "nothing to choose from along an empty axis"
    got = f"{parameter}={tuple(reduced)} of {x}"
    return invalid(op, parameter, fact, got=got, need="axes of size >= 1")


def _spread(y: Handle, x: Handle, reduced: Sequence[int]) -> Handle:
    """Broadcast a reduced value over the axes that were dropped from x."""
    kept = [axis for axis in range(x.ndim) if axis not in reduced]
    return structural.broadcast_in_dim(y, x.shape, kept)


def reduce_sum(x: H, axes: Sequence[int]) -> H:
    """Sum over axes; over no axes, the identity.

    x: [*s]   →   y: [s without axes]

    Transpose   ct_x = ct repeated along the axes
    Raises      AxisError: if an axis is out of range or named twice.

    >>> from tenferro.primitives import reduce_sum, variable
    >>> reduce_sum(variable("x", (2, 3), "f64"), (1,)).aval
    f64[2]
    """
    return bind(ReduceSum(tuple(axes)), x)


def reduce_prod(x: H, axes: Sequence[int]) -> H:
    """Multiply over axes; over no axes, the identity.

    x: [*s]   →   y: [s without axes]

    JVP          dy = Σ_i dx_i Π_{j≠i} x_j
    Convention   right where factors are zero, at every order
    Raises       AxisError: if an axis is out of range or named twice.

    >>> from tenferro.primitives import reduce_prod, variable
    >>> reduce_prod(variable("x", (2, 3), "f64"), (0, 1)).aval
    f64[]
    """
    return bind(ReduceProd(tuple(axes)), x)


def reduce_max(x: H, axes: Sequence[int]) -> H:
    """Take the maximum over axes; over no axes, the identity.

    x: [*s]   →   y: [s without axes]

    JVP          dy = the mean of dx over the elements that attain the maximum
    Convention   nan wins; ties share equally
    Raises       InvalidParameterError: if an axis is empty; DTypeMismatchError: if x is complex.

    >>> from tenferro.primitives import reduce_max, variable
    >>> reduce_max(variable("x", (2, 3), "f64"), (0,)).aval
    f64[3]
    """
    return bind(ReduceMax(tuple(axes)), x)


def reduce_min(x: H, axes: Sequence[int]) -> H:
    """Take the minimum over axes; over no axes, the identity.

    x: [*s]   →   y: [s without axes]

    JVP          dy = the mean of dx over the elements that attain the minimum
    Convention   nan wins; ties share equally
    Raises       InvalidParameterError: if an axis is empty; DTypeMismatchError: if x is complex.

    >>> from tenferro.primitives import reduce_min, variable
    >>> reduce_min(variable("x", (2, 3), "f64"), (0,)).aval
    f64[3]
    """
    return bind(ReduceMin(tuple(axes)), x)


def reduce_and(x: H, axes: Sequence[int]) -> H:
    """Find whether it holds everywhere along axes; over no axes, the identity.

    x: bool[*s]   →   y: bool[s without axes]

    Raises   AxisError; DTypeMismatchError: unless x is bool.

    >>> from tenferro.primitives import reduce_and, variable
    >>> reduce_and(variable("x", (2, 3), bool), (0,)).aval
    bool[3]
    """
    return bind(ReduceAnd(tuple(axes)), x)


def reduce_or(x: H, axes: Sequence[int]) -> H:
    """Find whether it holds anywhere along axes; over no axes, the identity.

    x: bool[*s]   →   y: bool[s without axes]

    Raises   AxisError; DTypeMismatchError: unless x is bool.

    >>> from tenferro.primitives import reduce_or, variable
    >>> reduce_or(variable("x", (2, 3), bool), (0,)).aval
    bool[3]
    """
    return bind(ReduceOr(tuple(axes)), x)


def argmax(x: H, axis: int, dtype: object = int64) -> H:
    """Find the position of the first maximum along one axis.

    x: [*s]   →   y: int[s without axis]

    Convention   nan wins
    Raises       InvalidParameterError: if the axis is empty; DTypeMismatchError: if x is complex.

    >>> from tenferro.primitives import argmax, variable
    >>> argmax(variable("x", (2, 3), "f64"), 1).aval
    i64[2]
    """
    return bind(Argmax(axis, DType.of(dtype)), x)


def argmin(x: H, axis: int, dtype: object = int64) -> H:
    """Find the position of the first minimum along one axis.

    x: [*s]   →   y: int[s without axis]

    Convention   nan wins
    Raises       InvalidParameterError: if the axis is empty; DTypeMismatchError: if x is complex.

    >>> from tenferro.primitives import argmin, variable
    >>> argmin(variable("x", (2, 3), "f64"), 1).aval
    i64[2]
    """
    return bind(Argmin(axis, DType.of(dtype)), x)
