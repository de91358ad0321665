"""NumPy's functions that write into their first argument; the Array stands for the new value.

Memory of NumPy is never written. Read next: ``methods.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._known import found_of
from tenferro.arrays.functions.assignment import assign, fit, updated, value_for
from tenferro.arrays.functions.indexing import as_positions, integer_positions, moved_inside
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.handle.looks import true_positions
from tenferro.arrays.numpy_protocols.writing import destination, rebind, write, writing_error
from tenferro.arrays.promotion.broadcast import cast, normalize_axis, weak_or_array
from tenferro.arrays.registry import FUNCTIONS, covers
from tenferro.primitives import bool_, reshape, select


def _target(x: Any, function: str) -> Array:
    found = destination(x, function)
    if found is None:
        raise writing_error(function)
    return found


@covers("copyto")
def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Give an Array the values of another where a mask holds."""
    target = _target(dst, "copyto")
    given = weak_or_array(src, target.dtype) if type(src) is int else as_array(src)
    write(target, given, "copyto", casting=casting, where=where)


@covers("putmask")
def putmask(a: Any, mask: Any, values: Any) -> None:
    """Set elements where a mask is true, to values at the same places, repeated as needed."""
    x = _target(a, "putmask")
    v = value_for(x.dtype, values)
    if v.ndim:
        v = FUNCTIONS["resize"](v, x.shape)
    where = reshape(cast(as_array(mask), bool_), x.shape)
    rebind(x, select(where, fit(v, x.shape), x))


@covers("place")
def place(arr: Any, mask: Any, vals: Any) -> None:
    """Set elements where a mask is true, to the values in turn."""
    x = _target(arr, "place")
    where = cast(as_array(mask), bool_)
    flat = reshape(where, (where.size,))
    (places,) = found_of([flat], true_positions, "place", "`np.where(mask, value, x)`")
    count = places.shape[0]
    if count:
        if not as_array(vals).size:
            raise at_user_line(ValueError("place: nothing to insert, the values are empty"))
        v = FUNCTIONS["resize"](value_for(x.dtype, vals), (count,))
        rebind(x, reshape(updated(reshape(x, (x.size,)), flat, v), x.shape))


@covers("put")
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """Set elements of the flattened array at positions, the values repeated as needed."""
    x = _target(a, "put")
    at = as_positions(ind)
    if not at.size:
        return
    at = moved_inside(reshape(at, (at.size,)), x.size, mode)
    values = FUNCTIONS["resize"](value_for(x.dtype, v), (at.size,))
    rebind(x, reshape(updated(reshape(x, (x.size,)), at, values), x.shape))


@covers("put_along_axis")
def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None = -1) -> None:
    """Set elements at positions along an axis, one position for every other index."""
    x, at = _target(arr, "put_along_axis"), integer_positions(indices, "put_along_axis")
    if axis is None:
        flat = updated(reshape(x, (x.size,)), at, values)
        rebind(x, reshape(flat, x.shape))
        return
    along = normalize_axis(axis, x.ndim, "put_along_axis")
    index: list[Any] = [
        FUNCTIONS["arange"](n).reshape([n if i == d else 1 for i in range(x.ndim)])
        for d, n in enumerate(x.shape)
    ]
    index[along] = at
    assign(x, tuple(index), values)


@covers("fill_diagonal")
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Set the elements of the main diagonal, the values repeated as needed."""
    x = _target(a, "fill_diagonal")
    if x.ndim < 2:
        raise at_user_line(ValueError(f"fill_diagonal: rank 2 or more, not {x.aval}"))
    columns = x.shape[1] if x.ndim == 2 else x.shape[0]
    step = 1 + sum(_products(x.shape))
    end = None if wrap or x.ndim > 2 else columns * columns
    count = len(range(*slice(None, end, step).indices(x.size)))
    v = FUNCTIONS["resize"](value_for(x.dtype, val), (count,)) if count else val
    rebind(x, reshape(updated(reshape(x, (x.size,)), slice(None, end, step), v), x.shape))


def _products(shape: tuple[int, ...]) -> list[int]:
    """Return the distance of neighbours on the diagonal, minus one, for each axis but the first."""
    found, product = [], 1
    for n in shape[:0:-1]:
        product *= n
        found.append(product)
    return found
