"""Shares of sums of exponentials: exp(x - ln Σ exp x) is a quotient of what the sum is made of.

Mixtures, attention and losses of classes compute such shares next to the logarithm of the sum. The
logarithm may be `reduce_logsumexp`, or m + ln Σ exp(x - m) with the maximum m of x, which keeps
exponentials finite; x may have lost m before. Read next: ``rewrites/factors.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro.passes._facts import constant, made_by
from tenferro.passes._repeats import remaining, varying
from tenferro.passes._rewriter import Rewriter
from tenferro.passes._shapes import unit_axes_alone
from tenferro.primitives._aval import Shape
from tenferro.primitives.arithmetic import Add, Clamp, Div, Sub
from tenferro.primitives.elementwise import Exp, Log
from tenferro.primitives.exponential_sums import ReduceLogsumexp
from tenferro.primitives.reduction import ReduceMax, ReduceSum
from tenferro.primitives.structural import BroadcastInDim, Reshape

_NEEDED = (BroadcastInDim, Clamp, Div, Exp, ReduceMax, ReduceSum, Sub)


def share_of_sum(rw: Rewriter, exponent: int) -> int | None:
    """Return the quotient that is the exponential of a value; ``None`` if it is not a share.

    An infinite maximum leaves the same nan and zeros.
    """
    x, wide = rw.operands[exponent]
    if made_by(rw, wide, BroadcastInDim) is None or not rw.avals[x].size:
        return None
    if not all([rw.can(cls) for cls in _NEEDED]):
        return None
    y = _unshaped(rw, rw.operands[wide][0])
    logsum = made_by(rw, y, ReduceLogsumexp)
    if logsum is None:
        return _quotient(rw, x, wide, _terms_behind(rw, x, y))
    if rw.operands[y] != (x,) or not _is_spread(rw, wide, logsum.axes):
        return None
    return _quotient(rw, x, wide, (_terms(rw, x, logsum.axes), logsum.axes))


def _quotient(rw: Rewriter, x: int, wide: int, found: tuple[int, Shape] | None) -> int | None:
    """Emit terms over their sum, if the sum is spread as its logarithm was."""
    if found is None or not _is_spread(rw, wide, found[1]):
        return None
    terms, axes = found
    total = rw.emit(ReduceSum(axes), terms)
    return rw.emit(Div(), terms, _spread(rw, total, x, axes))


def _terms(rw: Rewriter, x: int, axes: Shape) -> int:
    """Emit exp(x - max x), equation by equation as `ReduceLogsumexp` is decomposed."""
    top = rw.emit(ReduceMax(axes), x)
    aval = rw.avals[top]
    largest = aval.dtype.largest
    bounds = [constant(rw, bound, aval) for bound in (-largest, largest)]
    finite = rw.emit(Clamp(), bounds[0], top, bounds[1])
    return rw.emit(Exp(), rw.emit(Sub(), x, _spread(rw, finite, x, axes)))


def _terms_behind(rw: Rewriter, x: int, y: int) -> tuple[int, Shape] | None:
    """Return the terms and axes of the sum whose logarithm is y: m + ln Σ exp(x - m), or ln Σ exp x
    where x is less a maximum.
    """
    parts = [_unshaped(rw, i) for i in rw.operands[y]] if made_by(rw, y, Add) else [y]
    for log, *rest in (parts, parts[::-1]):
        if made_by(rw, log, Log) is None:
            continue
        total = _unshaped(rw, rw.operands[log][0])
        axes, terms = _summed_exponentials(rw, total)
        less = None if terms is None else _maximum_less(rw, rw.operands[terms][0], axes)
        if terms is None or less is None:
            continue
        of, top = less
        if (x == of and rest == [top]) or (x == rw.operands[terms][0] and not rest):
            return terms, axes
    return None


def _summed_exponentials(rw: Rewriter, total: int) -> tuple[Shape, int | None]:
    summed = made_by(rw, total, ReduceSum)
    if summed is None or made_by(rw, rw.operands[total][0], Exp) is None:
        return (), None
    return summed.axes, rw.operands[total][0]


def _maximum_less(rw: Rewriter, excess: int, axes: Shape) -> tuple[int, int] | None:
    """Return x and m of x - m with the maximum m of x over these axes."""
    if made_by(rw, excess, Sub) is None:
        return None
    x, wide = rw.operands[excess]
    if made_by(rw, wide, BroadcastInDim) is None or not _is_spread(rw, wide, axes):
        return None
    top = _unshaped(rw, rw.operands[wide][0])
    largest = made_by(rw, top, ReduceMax)
    if largest is None or largest.axes != axes or rw.operands[top] != (x,):
        return None
    return x, top


def _spread(rw: Rewriter, value: int, x: int, axes: Shape) -> int:
    shape = rw.avals[x].shape
    return rw.emit(BroadcastInDim(shape, tuple(remaining(len(shape), axes))), value)


def _is_spread(rw: Rewriter, wide: int, axes: Shape) -> bool:
    """Return True if a broadcast repeats a value along the axes of a reduction, and no others."""
    shape = rw.avals[wide].shape
    spread: Any = rw.operations[wide]
    own = frozenset([axis for axis in remaining(len(shape), axes) if shape[axis] != 1])
    return varying(rw, wide) == own and list(spread.dimensions) == sorted(spread.dimensions)


def _unshaped(rw: Rewriter, value: int) -> int:
    """Return a value before axes of size 1 came or went."""
    while made_by(rw, value, Reshape):
        (source,) = rw.operands[value]
        if unit_axes_alone(rw.avals[source].shape, rw.avals[value].shape) is None:
            break
        value = source
    return value
