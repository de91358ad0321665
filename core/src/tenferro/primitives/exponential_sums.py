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
from tenferro.primitives.arithmetic import clamp
from tenferro.primitives.comparison import lt, select
from tenferro.primitives.constants import full_like, zeros_like
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
        terms, top = _terms(x, self.axes)
        return log(reduce_sum(terms, self.axes)) + top

    def jvp_x(self, dx: Handle, x: Handle, y: Handle) -> Handle:
        return reduce_sum(softmax(x, self.axes, limits=True) * dx, self.axes)

    def batch(self, size: int, batched: Sequence[bool], x: Handle) -> Handle:
        return reduce_logsumexp(x, behind(self.axes))


class Softmax(Mixed):
    """y = exp x / Σ exp x over axes,   dy = y (dx - Σ y dx);   real only"""

    key = "std::softmax"
    accepts = "float"
    linear = ()
    axes: Shape
    limits: bool = False

    def __post_init__(self) -> None:
        self._set(axes=_sorted(self, self.axes), limits=bool(self.limits))

    def abstract_eval(self, x: Aval) -> Aval:
        axes(self, "axes", self.axes, x)
        return accepted(self, x)

    def decompose(self, x: Handle) -> Handle:
        if not x.size:
            return x
        if self.limits:
            return self._in_the_limit(x)
        terms = exp(x - _spread(reduce_max(x, self.axes), x, self.axes))
        return terms / _spread(reduce_sum(terms, self.axes), x, self.axes)

    def _in_the_limit(self, x: Handle) -> Handle:
        """Count 1 for an entry equal to an infinite maximum: terms are inf of inf, 0 of -inf."""
        terms, top = _terms(x, self.axes)
        least = convert(lt(top, full_like(top, -x.dtype.largest)), x.dtype)
        terms = clamp(_spread(least, x, self.axes), terms, full_like(x, 1))
        return terms / _spread(reduce_sum(terms, self.axes), x, self.axes)

    def jvp_x(self, dx: Handle, x: Handle, y: Handle) -> Handle:
        weights = y
        if self.limits and x.size:  # constant where the maximum is infinite
            regular = convert(is_finite(reduce_max(x, self.axes)), x.dtype)
            weights = y * _spread(regular, x, self.axes)
        return weights * (dx - _spread(reduce_sum(y * dx, self.axes), x, self.axes))

    def batch(self, size: int, batched: Sequence[bool], x: Handle) -> Handle:
        return softmax(x, behind(self.axes), limits=self.limits)


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


def _terms(x: Handle, reduced: Sequence[int]) -> tuple[Handle, Handle]:
    """Return exp(x - max x) and max x; an infinite maximum is subtracted as the largest number."""
    top = reduce_max(x, reduced)
    largest = x.dtype.largest
    finite = clamp(full_like(top, -largest), top, full_like(top, largest))
    return exp(x - _spread(finite, x, reduced)), top


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


def softmax(x: H, axes: Sequence[int], *, limits: bool = False) -> H:
    """Take each exponential's share in their sum.

    x: f[*s]   →   y: f[*s]

    Definition   y = exp x / Σ exp x; nan where the maximum is infinite
    JVP          dy = y·(dx - Σ y dx)
    Convention   with `limits`, entries equal to an infinite maximum share equally, and dy is 0
    Raises       DTypeMismatchError: if the operand is not real; AxisError: if an axis is not there.

    >>> from tenferro.primitives import softmax, variable
    >>> softmax(variable("x", (2, 3), "f64"), (1,)).aval
    f64[2,3]
    """
    return bind(Softmax(tuple(axes), limits), x)


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
