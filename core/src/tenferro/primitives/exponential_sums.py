"""Sums of exponentials: their logarithm, and each one's share, without overflow.

The largest entry is taken out first. Infinite entries leave no nan where a limit exists: of equal
infinities in ``logsumexp`` each has an equal part in the derivative, as in ``logaddexp``.
Read next: ``special.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro.computegraph import Operation
from tenferro.primitives._aval import Aval, Shape
from tenferro.primitives._checks import accepted, axes, integers
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind
from tenferro.primitives.comparison import eq, select
from tenferro.primitives.constants import zeros_like
from tenferro.primitives.elementwise import exp, log
from tenferro.primitives.reduction import reduce_max, reduce_sum
from tenferro.primitives.rounding import is_finite
from tenferro.primitives.structural import behind, broadcast_in_dim, convert

__all__ = ["LogSoftmax", "ReduceLogsumexp", "Softmax", "log_softmax", "reduce_logsumexp", "softmax"]


class ReduceLogsumexp(Mixed):
    """y = ln Σ exp x over axes,   dy = Σ softmax(x) dx;   real only"""

    key = "std::reduce_logsumexp"
    accepts = "float"
    linear = ()
    axes: Shape

    def __post_init__(self) -> None:
        self._set(axes=_sorted(self, self.axes))

    def abstract_eval(self, x: Aval) -> Aval:
        accepted(self, x)
        return x.without(tuple(axes(self, "axes", self.axes, x)))

    def decompose(self, x: Handle) -> Handle:
        if not x.size:
            return log(reduce_sum(x, self.axes))
        top = reduce_max(x, self.axes)
        top = select(is_finite(top), top, zeros_like(top))
        return log(reduce_sum(exp(x - _spread(top, x, self.axes)), self.axes)) + top

    def jvp_x(self, dx: Handle, x: Handle, y: Handle) -> Handle:
        return reduce_sum(_shares(x, self.axes) * dx, self.axes)

    def batch(self, size: int, batched: Sequence[bool], x: Handle) -> Handle:
        return reduce_logsumexp(x, behind(self.axes))


class Softmax(Mixed):
    """y = exp x / Σ exp x over axes,   dy = y (dx - Σ y dx);   real only"""

    key = "std::softmax"
    accepts = "float"
    linear = ()
    axes: Shape

    def __post_init__(self) -> None:
        self._set(axes=_sorted(self, self.axes))

    def abstract_eval(self, x: Aval) -> Aval:
        axes(self, "axes", self.axes, x)
        return accepted(self, x)

    def decompose(self, x: Handle) -> Handle:
        if not x.size:
            return x
        terms = exp(x - _spread(reduce_max(x, self.axes), x, self.axes))
        return terms / _spread(reduce_sum(terms, self.axes), x, self.axes)

    def jvp_x(self, dx: Handle, x: Handle, y: Handle) -> Handle:
        return y * (dx - _spread(reduce_sum(y * dx, self.axes), x, self.axes))

    def batch(self, size: int, batched: Sequence[bool], x: Handle) -> Handle:
        return softmax(x, behind(self.axes))


class LogSoftmax(Mixed):
    """y = x - ln Σ exp x over axes,   dy = dx - Σ softmax(x) dx;   real only"""

    key = "std::log_softmax"
    accepts = "float"
    linear = ()
    axes: Shape

    def __post_init__(self) -> None:
        self._set(axes=_sorted(self, self.axes))

    def abstract_eval(self, x: Aval) -> Aval:
        axes(self, "axes", self.axes, x)
        return accepted(self, x)

    def decompose(self, x: Handle) -> Handle:
        if not x.size:
            return x
        top = reduce_max(x, self.axes)
        top = select(is_finite(top), top, zeros_like(top))
        excess = x - _spread(top, x, self.axes)
        return excess - _spread(log(reduce_sum(exp(excess), self.axes)), x, self.axes)

    def jvp_x(self, dx: Handle, x: Handle, y: Handle) -> Handle:
        share = softmax(x, self.axes)
        return dx - _spread(reduce_sum(share * dx, self.axes), x, self.axes)

    def batch(self, size: int, batched: Sequence[bool], x: Handle) -> Handle:
        return log_softmax(x, behind(self.axes))


def _sorted(op: Operation, values: Sequence[int]) -> Shape:
    return tuple(sorted(integers(op, "axes", values)))


def _spread(y: Handle, x: Handle, reduced: Sequence[int]) -> Handle:
    """Broadcast a reduced value to the shape of x."""
    return broadcast_in_dim(y, x.shape, [d for d in range(x.ndim) if d not in reduced])


def _shares(x: Handle, reduced: Sequence[int]) -> Handle:
    """Compute the softmax of x; where the maximum is infinite, the entries equal to it share."""
    if not x.size:
        return x
    top = _spread(reduce_max(x, reduced), x, reduced)
    wins = convert(eq(x, top), x.dtype)
    equal = wins / _spread(reduce_sum(wins, reduced), x, reduced)
    regular = is_finite(top)
    return select(regular, softmax(select(regular, x, zeros_like(x)), reduced), equal)


def reduce_logsumexp(x: H, axes: Sequence[int]) -> H:
    """Take the logarithm of sums of exponentials, without overflow.

    x: f[*S]   →   y: f[S without axes]

    Definition   y = ln Σ exp x; -inf of nothing
    JVP          dy = Σ exp(x - y)·dx
    Convention   equal infinities share equally
    Raises       DTypeMismatchError: if the operand is not real; AxisError: if an axis is not there.

    >>> from tenferro.primitives import reduce_logsumexp, variable
    >>> reduce_logsumexp(variable("x", (2, 3), "f64"), (1,)).aval
    f64[2]
    """
    return bind(ReduceLogsumexp(tuple(axes)), x)


def softmax(x: H, axes: Sequence[int]) -> H:
    """Take each exponential's share in their sum.

    x: f[*s]   →   y: f[*s]

    Definition   y = exp x / Σ exp x
    JVP          dy = y·(dx - Σ y dx)
    Raises       DTypeMismatchError: if the operand is not real; AxisError: if an axis is not there.

    >>> from tenferro.primitives import softmax, variable
    >>> softmax(variable("x", (2, 3), "f64"), (1,)).aval
    f64[2,3]
    """
    return bind(Softmax(tuple(axes)), x)


def log_softmax(x: H, axes: Sequence[int]) -> H:
    """Take the logarithm of each exponential's share in their sum, without loss of small ones.

    x: f[*s]   →   y: f[*s]

    Definition   y = x - ln Σ exp x
    JVP          dy = dx - Σ softmax(x) dx
    Raises       DTypeMismatchError: if the operand is not real; AxisError: if an axis is not there.

    >>> from tenferro.primitives import log_softmax, variable
    >>> log_softmax(variable("x", (2, 3), "f64"), (1,)).aval
    f64[2,3]
    """
    return bind(LogSoftmax(tuple(axes)), x)
