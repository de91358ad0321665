"""Functions of the user along axes. The function runs once for each line, and is recorded so often.

A function of whole arrays, or ``tenferro.vmap`` of one of a single line, records it once.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.structural import expand_dims, moveaxis, reshape, stack
from tenferro.arrays.handle.array import Array, another_handle
from tenferro.arrays.handle.convert import as_array, asarray
from tenferro.arrays.promotion.broadcast import integers, normalize_axis
from tenferro.arrays.registry import covers


@covers("apply_along_axis")
def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any
) -> Array:
    """Apply a function to each line along an axis; the axes of its result replace that axis.

    >>> import tenferro as tn
    >>> tn.apply_along_axis(lambda row: row[-1] - row[0], 1, [[1, 5], [2, 3]])
    array([4, 1])
    """
    found = as_array(arr)
    along = normalize_axis(axis, found.ndim, "apply_along_axis")
    last = moveaxis(found, along, -1)
    outer, n = last.shape[:-1], found.shape[along]
    if not prod(outer):
        raise at_user_line(ValueError("apply_along_axis: no lines to apply the function to"))
    lines = reshape(last, (prod(outer), n))
    results = [asarray(func1d(lines[i], *args, **kwargs)) for i in range(prod(outer))]
    inner = results[0].ndim
    whole = reshape(stack(results), (*outer, *results[0].shape))
    behind = tuple(range(len(outer), len(outer) + inner))
    return moveaxis(whole, behind, tuple(range(along, along + inner)))


@covers("apply_over_axes")
def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Array:
    """Apply func(x, axis) for one axis after the other; reduced axes stay with size 1."""
    found = another_handle(as_array(a))
    for axis in integers(axes):
        along = normalize_axis(axis, as_array(a).ndim, "apply_over_axes")
        result = asarray(func(found, along))
        found = result if result.ndim == found.ndim else expand_dims(result, along)
        if found.ndim != as_array(a).ndim:
            raise at_user_line(ValueError("apply_over_axes: the function changes the rank"))
    return found
