"""Cumulative reductions: element i of the result reduces elements 0 … i along one axis.

With ``reverse`` it reduces elements i … n-1. Sums are linear; the derivatives of the others are
linear recurrences along the axis, right where factors are zero and where elements tie (those that
attain a maximum share equally). Of nothing, they are nothing. Read next: ``indexing.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from tenferro.computegraph import Operation
from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import accepted, axes, integers
from tenferro.primitives._dtype import int64
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Linear, Mixed, TensorPrimitive, bind
from tenferro.primitives._recurrence import earlier, recurrence
from tenferro.primitives.comparison import eq, gt, logical_not, lt, select
from tenferro.primitives.constants import full_like, zeros_like
from tenferro.primitives.elementwise import excess, logistic
from tenferro.primitives.structural import convert

__all__ = [
    "Cumlogsumexp", "Cummax", "Cummin", "Cumprod", "Cumsum", "cumlogsumexp", "cummax", "cummin",
    "cumprod", "cumsum",
]  # fmt: skip


class Cumsum(Linear):
    """y_i = Σ_{j≤i} x_j along an axis"""

    key = "std::cumsum"
    accepts = "numeric"
    axis: int
    reverse: bool = False

    def __post_init__(self) -> None:
        _normalise(self, self.axis, self.reverse)

    def abstract_eval(self, x: Aval) -> Aval:
        return _along(self, self.axis, x)

    def transpose_x(self, ct: Handle, x: Handle) -> Handle:
        return cumsum(ct, self.axis, reverse=not self.reverse)

    def batch(self, size: int, batched: Sequence[bool], x: Handle) -> Handle:
        return cumsum(x, self.axis + 1, reverse=self.reverse)


class Cumprod(Mixed):
    """y_i = Π_{j≤i} x_j along an axis,   dy_i = x_i dy_{i-1} + y_{i-1} dx_i"""

    key = "std::cumprod"
    accepts = "numeric"
    linear = ()
    axis: int
    reverse: bool = False

    def __post_init__(self) -> None:
        _normalise(self, self.axis, self.reverse)

    def abstract_eval(self, x: Aval) -> Aval:
        return _along(self, self.axis, x)

    def jvp_x(self, dx: Handle, x: Handle, y: Handle) -> Handle:
        before = earlier(y, 1, self.axis, self.reverse, 1)
        return recurrence(x, before * dx, self.axis, reverse=self.reverse)

    def batch(self, size: int, batched: Sequence[bool], x: Handle) -> Handle:
        return cumprod(x, self.axis + 1, reverse=self.reverse)


class Cummax(Mixed):
    """y_i = max_{j≤i} x_j, nan once one is;   dy_i = the mean of dx_j where x_j = y_i, j ≤ i"""

    key = "std::cummax"
    accepts = "ordered"
    linear = ()
    axis: int
    reverse: bool = False

    def __post_init__(self) -> None:
        _normalise(self, self.axis, self.reverse)

    def abstract_eval(self, x: Aval) -> Aval:
        return _along(self, self.axis, x)

    def jvp_x(self, dx: Handle, x: Handle, y: Handle) -> Handle:
        attained, before = logical_not(lt(x, y)), earlier(y, 1, self.axis, self.reverse, 0)
        joins = logical_not(lt(before, y))
        return _mean_of_the_best(dx, attained, joins, self.axis, self.reverse)

    def batch(self, size: int, batched: Sequence[bool], x: Handle) -> Handle:
        return cummax(x, self.axis + 1, reverse=self.reverse)


class Cummin(Mixed):
    """y_i = min_{j≤i} x_j, nan once one is;   dy_i = the mean of dx_j where x_j = y_i, j ≤ i"""

    key = "std::cummin"
    accepts = "ordered"
    linear = ()
    axis: int
    reverse: bool = False

    def __post_init__(self) -> None:
        _normalise(self, self.axis, self.reverse)

    def abstract_eval(self, x: Aval) -> Aval:
        return _along(self, self.axis, x)

    def jvp_x(self, dx: Handle, x: Handle, y: Handle) -> Handle:
        attained, before = logical_not(gt(x, y)), earlier(y, 1, self.axis, self.reverse, 0)
        joins = logical_not(gt(before, y))
        return _mean_of_the_best(dx, attained, joins, self.axis, self.reverse)

    def batch(self, size: int, batched: Sequence[bool], x: Handle) -> Handle:
        return cummin(x, self.axis + 1, reverse=self.reverse)


def _mean_of_the_best(
    dx: Handle, attained: Handle, joins: Handle, axis: int, reverse: bool
) -> Handle:
    """Average dx over the elements that attain the extremum so far, since its last change."""
    count = recurrence(None, convert(attained, int64), axis, reverse=reverse, joins=joins)
    found = select(attained, dx, zeros_like(dx))
    total = recurrence(None, found, axis, reverse=reverse, joins=joins)
    return total / convert(count, dx.dtype)


class Cumlogsumexp(Mixed):
    """y_i = ln Σ_{j≤i} exp x_j along an axis,   dy_i = Σ_{j≤i} exp(x_j - y_i) dx_j

    The shares of x_i and y_{i-1} in dy_i are σ(x_i - y_{i-1}) and σ(y_{i-1} - x_i), with σ the
    logistic function: exp(x_i - y_i) with a rounded, large y_i would let them not sum to 1.
    """

    key = "std::cumlogsumexp"
    accepts = "float"
    linear = ()
    axis: int
    reverse: bool = False

    def __post_init__(self) -> None:
        _normalise(self, self.axis, self.reverse)

    def abstract_eval(self, x: Aval) -> Aval:
        return _along(self, self.axis, x)

    def jvp_x(self, dx: Handle, x: Handle, y: Handle) -> Handle:
        before = earlier(y, 1, self.axis, self.reverse, -inf)
        terms = _share(x, before) * dx
        return recurrence(_share(before, x), terms, self.axis, reverse=self.reverse)

    def batch(self, size: int, batched: Sequence[bool], x: Handle) -> Handle:
        return cumlogsumexp(x, self.axis + 1, reverse=self.reverse)


def _share(part: Handle, other: Handle) -> Handle:
    """exp(part) / (exp(part) + exp(other)); 0 for the part -inf, 1/2 for two parts inf."""
    is_none = eq(part, full_like(part, -inf))
    return select(is_none, zeros_like(part), logistic(excess(part, other)))


def _normalise(op: Operation, axis: int, reverse: object) -> None:
    op._set(axis=integers(op, "axis", (axis,))[0], reverse=bool(reverse))


def _along(op: TensorPrimitive, axis: int, x: Aval) -> Aval:
    axes(op, "axis", (axis,), x)
    return accepted(op, x)


def cumsum(x: H, axis: int, *, reverse: bool = False) -> H:
    """Sum the elements up to each one along an axis.

    x: [*s]   →   y: [*s]

    Transpose   the same from the other end
    Raises      AxisError; DTypeMismatchError: if x is bool.

    >>> from tenferro.primitives import cumsum, variable
    >>> cumsum(variable("x", (2, 3), "f64"), 1).aval
    f64[2,3]
    """
    return bind(Cumsum(axis, reverse), x)


def cumprod(x: H, axis: int, *, reverse: bool = False) -> H:
    """Multiply the elements up to each one along an axis.

    x: [*s]   →   y: [*s]

    JVP          dy_i = x_i dy_{i-1} + y_{i-1} dx_i
    Convention   right where factors are zero, at every order
    Raises       AxisError; DTypeMismatchError: if x is bool.

    >>> from tenferro.primitives import cumprod, variable
    >>> cumprod(variable("x", (2, 3), "f64"), 1).aval
    f64[2,3]
    """
    return bind(Cumprod(axis, reverse), x)


def cummax(x: H, axis: int, *, reverse: bool = False) -> H:
    """Find the maximum of the elements up to each one along an axis.

    x: [*s]   →   y: [*s]

    JVP          dy_i = the mean of dx over the elements up to i that attain the maximum
    Convention   nan wins; ties share equally
    Raises       AxisError; DTypeMismatchError: if x is complex.

    >>> from tenferro.primitives import cummax, variable
    >>> cummax(variable("x", (2, 3), "f64"), 1).aval
    f64[2,3]
    """
    return bind(Cummax(axis, reverse), x)


def cummin(x: H, axis: int, *, reverse: bool = False) -> H:
    """Find the minimum of the elements up to each one along an axis.

    x: [*s]   →   y: [*s]

    JVP          dy_i = the mean of dx over the elements up to i that attain the minimum
    Convention   nan wins; ties share equally
    Raises       AxisError; DTypeMismatchError: if x is complex.

    >>> from tenferro.primitives import cummin, variable
    >>> cummin(variable("x", (2, 3), "f64"), 1).aval
    f64[2,3]
    """
    return bind(Cummin(axis, reverse), x)


def cumlogsumexp(x: H, axis: int, *, reverse: bool = False) -> H:
    """Take the logarithm of the sum of exponentials of the elements up to each one.

    x: [*s]   →   y: [*s]

    JVP          dy_i = Σ_{j≤i} exp(x_j - y_i) dx_j
    Convention   an element -inf has no share in the derivative
    Raises       AxisError; DTypeMismatchError: unless x is of floats.

    >>> from tenferro.primitives import cumlogsumexp, variable
    >>> cumlogsumexp(variable("x", (2, 3), "f64"), 1).aval
    f64[2,3]
    """
    return bind(Cumlogsumexp(axis, reverse), x)
