"""Recursive filters: a rational transfer function along an axis, as one loop.

The loop carries the state of the direct form II transposed, which is SciPy's, so states can be
exchanged. Read next: ``_convolution.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.creation import zeros
from tenferro.arrays.functions.padding import pad
from tenferro.arrays.functions.structural import concatenate, moveaxis
from tenferro.arrays.handle.array import Array, evaluable
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import (
    broadcast_shapes,
    cast,
    common_dtype,
    normalize_axis,
    stretch,
)
from tenferro.primitives import InvalidParameterError, ShapeMismatchError, float64
from tenferro.transforms import scan


def lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """Filter x along an axis: a[0] y[n] = Σ_k b[k] x[n-k] - Σ_{k>0} a[k] y[n-k].

    b: [p]   a: [q]   x: [*s]   zi: [*s with max(p, q) - 1 on the axis]   →   y: [*s], and with zi
    the last state

    Raises       ShapeMismatchError: if b or a is not a vector, or zi does not fit.
                 InvalidParameterError: if a[0] is known and zero.

    >>> from tenferro.signal import lfilter
    >>> lfilter([1.0], [1.0, -0.5], [1.0, 0.0, 0.0])
    array([1.  , 0.5 , 0.25])
    """
    given = [as_array(each) for each in (b, a, x, *(() if zi is None else (zi,)))]
    dtype = common_dtype(given)
    dtype = dtype if dtype.is_inexact else float64
    above, below, signal, *state = [cast(each, dtype) for each in given]
    place = normalize_axis(axis, signal.ndim, "lfilter")
    _check_vectors(above, below)
    _check_divisor(below)
    order = max(above.size, below.size) - 1
    above, below = [_extended(each / below[0], order + 1) for each in (above, below)]
    moved = moveaxis(signal, place, 0)
    lead = moved.shape[1:]
    kept = _state(state, order, place, lead) if state else zeros((order, *lead), dtype=dtype)
    taps = (order, *[1] * len(lead))
    forward, backward = above[1:].reshape(taps), below[1:].reshape(taps)

    def step(kept: Array, value: Array) -> tuple[Array, Array]:
        if not order:
            return kept, above[0] * value
        found = above[0] * value + kept[0]
        later = concatenate([kept[1:], zeros((1, *lead), dtype=dtype)])
        return later + forward * value - backward * found, found

    last, values = scan(step, kept, moved)
    result = moveaxis(values, 0, place)
    return result if zi is None else (result, moveaxis(last, 0, place))


def _extended(x: Array, size: int) -> Array:
    return pad(x, (0, size - x.size))


def _check_vectors(b: Array, a: Array) -> None:
    if b.ndim != 1 or a.ndim != 1 or not b.size or not a.size:
        error = ShapeMismatchError.of(
            "lfilter", "coefficients are two vectors", got=f"{b.aval}, {a.aval}",
            need="b [p], a [q]", shapes=(b.shape, a.shape),
        )  # fmt: skip
        raise at_user_line(error)


def _check_divisor(a: Array) -> None:
    """Check coefficients whose values are known: the output is divided by the first one."""
    if evaluable(a.key) and not a._concrete("the first coefficient")[0]:
        raise at_user_line(InvalidParameterError.of(
            "lfilter", "the first coefficient is zero", got="a[0] = 0", need="a[0] != 0",
            parameter="a", value=a,
        ))  # fmt: skip


def _state(state: list[Array], order: int, place: int, lead: tuple[int, ...]) -> Array:
    """Return the first state with its axis in front, broadcast over the others."""
    (given,) = state
    fits = given.ndim == len(lead) + 1 and given.shape[place] == order
    if not fits:
        error = ShapeMismatchError.of(
            "lfilter", "the first state does not fit", got=given.aval,
            need=f"rank {len(lead) + 1}, {order} elements on axis {place}", shapes=(given.shape,),
        )  # fmt: skip
        raise at_user_line(error)
    moved = moveaxis(given, place, 0)
    broadcast_shapes(moved.shape[1:], lead, function="lfilter")
    return stretch(moved, (order, *lead))
