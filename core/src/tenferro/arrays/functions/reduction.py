"""Reductions of arrays: NumPy's names and keywords, over the primitives.

Elements that ``where`` leaves out contribute nothing, to derivatives either. Read next:
``moments.py`` for means and variances.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._out import into
from tenferro.arrays.functions.arithmetic import (
    add,
    maximum,
    minimum,
    multiply,
    subtract,
    sum_dtype,
)
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array, scalar
from tenferro.arrays.promotion.broadcast import (
    cast,
    fitted,
    flag,
    mask_of,
    normalize_axis,
    reduced_axes,
)
from tenferro.arrays.registry import FUNCTIONS, covers
from tenferro.primitives import DType, InvalidParameterError, bool_, int64, select, structural
from tenferro.primitives import reduction as p

_Reduce = Callable[[Array, Sequence[int]], Array]


def reduce(function: _Reduce, x: Array, axis: Any, keepdims: bool, name: str) -> Array:
    """Reduce over axes; with ``keepdims`` they stay with size 1."""
    axes = reduced_axes(axis, x.ndim, name)
    result = function(x, axes)
    return keep(result, x, axes) if flag(keepdims, "keepdims", name) else result


def starting(initial: Any, dtype: DType, name: str) -> Array:
    """Return the start value of a reduction in its dtype."""
    found = as_array(initial)
    if found.ndim:
        raise at_user_line(ValueError(f"{name}: `initial` is one number, not {found.aval}"))
    return fitted(initial, dtype, name)


def keep(result: Array, x: Array, axes: Sequence[int]) -> Array:
    """Reshape the result to have axes of size 1 where axes of x were reduced."""
    shape = [1 if i in axes else n for i, n in enumerate(x.shape)]
    return structural.reshape(result, shape)


def among(x: Array, where: Any, filler: Any, name: str) -> Array:
    """x where a mask holds, the filler elsewhere."""
    if where is True:
        return x
    mask: Array = FUNCTIONS["broadcast_to"](mask_of(where, name), x.shape)
    other = filler if isinstance(filler, Array) else scalar(filler, x.dtype)
    return select(mask, x, spread(other, x))


def spread(value: Array, x: Array) -> Array:
    """Broadcast the value to the shape of x."""
    found: Array = FUNCTIONS["broadcast_to"](value, x.shape)
    return found


@covers("sum")
def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """Return the sum of array elements over the given axes.

    Bools and narrow integers are summed as 64-bit integers.

    >>> import tenferro as tn
    >>> tn.sum(tn.asarray(2.0)).shape
    ()
    """
    found = as_array(a)
    kind = sum_dtype(found.key.aval.dtype) if dtype is None else DType.of(dtype)
    wide = among(cast(found, kind), where, 0, "sum")
    result = reduce(p.reduce_sum, wide, axis, keepdims, "sum")
    if initial is not None:
        result = add(result, starting(initial, kind, "sum"))
    return into(out, result, "sum") if out is not None else result


@covers("prod")
def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """Return the product of array elements over the given axes.

    Its derivatives are right even where elements are zero.
    """
    found = as_array(a)
    kind = sum_dtype(found.dtype) if dtype is None else DType.of(dtype)
    wide = among(cast(found, kind), where, 1, "prod")
    result = reduce(p.reduce_prod, wide, axis, keepdims, "prod")
    if initial is not None:
        result = multiply(result, starting(initial, kind, "prod"))
    return into(out, result, "prod") if out is not None else result


@covers("max", "amax")
def max(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """Return the maximum over the given axes. NaNs propagate; ties share the derivative equally.

    Raises InvalidParameterError: for nothing to choose from; ``initial`` is then the answer.
    """
    return _extremum("max", as_array(a), axis, out, keepdims, initial, where)


@covers("min", "amin")
def min(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """Return the minimum over the given axes. NaNs propagate; ties share the derivative equally.

    Raises InvalidParameterError: for nothing to choose from; ``initial`` is then the answer.
    """
    return _extremum("min", as_array(a), axis, out, keepdims, initial, where)


_EXTREMA = {"max": (p.reduce_max, maximum, -inf), "min": (p.reduce_min, minimum, inf)}


def _extremum(
    name: str, x: Array, axis: Any, out: Any, keepdims: bool, initial: Any, where: Any
) -> Array:
    function, of_two, worst = _EXTREMA[name]
    if initial is None and where is True:
        result = reduce(function, x, axis, keepdims, name)
        return into(out, result, name) if out is not None else result
    if initial is None:
        raise _refuse_open(name)
    start = starting(initial, x.dtype, name)
    axes = reduced_axes(axis, x.ndim, name)
    if any_empty(x, axes):
        shape = [n for i, n in enumerate(x.shape) if i not in axes]
        result = FUNCTIONS["broadcast_to"](start, shape)
    else:
        filler = worst if x.dtype.is_float else start  # `start` would share in a tie of elements
        result = of_two(function(among(x, where, filler, name), axes), start)
    return into(out, keep(result, x, axes) if flag(keepdims, "keepdims", name) else result, name)


def any_empty(x: Array, axes: Sequence[int]) -> bool:
    """Return True if one of these axes has no elements."""
    return 0 in [x.shape[axis] for axis in axes]


def _refuse_open(name: str) -> InvalidParameterError:
    error = InvalidParameterError.of(
        name,
        "`where` may exclude all elements",
        got="where without initial",
        need="an initial value",
        parameter="initial",
        value=None,
    )
    return at_user_line(error)


@covers("ptp")
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Array:
    """Return the range of values (maximum − minimum) over the given axes."""
    largest, smallest = max(a, axis, keepdims=keepdims), min(a, axis, keepdims=keepdims)
    return into(out, subtract(largest, smallest), "ptp")


@covers("any")
def any(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> Array:
    """Test whether any element over the given axes is true."""
    count = _count(a, axis, keepdims, where, "any")
    return into(out, count > 0, "any")


@covers("all")
def all(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> Array:
    """Test whether all elements over the given axes are true."""
    count = _count(as_array(a) == 0, axis, keepdims, where, "all")
    return into(out, count == 0, "all")


@covers("count_nonzero")
def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Array:
    """Count the nonzero elements over the given axes."""
    return _count(a, axis, keepdims, True, "count_nonzero")


def _count(x: Any, axis: Any, keepdims: bool, where: Any, name: str) -> Array:
    ones = cast(among(cast(as_array(x), bool_), where, False, name), int64)
    return reduce(p.reduce_sum, ones, axis, keepdims, name)


@covers("argmax")
def argmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Array:
    """Return the indices of the first maximum along an axis, or in the flattened array."""
    return into(out, _position(p.argmax, a, axis, keepdims, "argmax"), "argmax")


@covers("argmin")
def argmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Array:
    """Return the indices of the first minimum along an axis, or in the flattened array."""
    return into(out, _position(p.argmin, a, axis, keepdims, "argmin"), "argmin")


def _position(function: Any, x: Any, axis: int | None, keepdims: bool, name: str) -> Array:
    found = as_array(x)
    axis = None if axis in (0, -1) and not found.ndim else axis  # NumPy sees one element here
    flat = found if axis is not None else structural.reshape(found, (found.size,))
    along = 0 if axis is None else normalize_axis(axis, found.ndim, name)
    result: Array = function(flat, along, int64)
    if not keepdims:
        return result
    return keep(result, found, range(found.ndim) if axis is None else (along,))
