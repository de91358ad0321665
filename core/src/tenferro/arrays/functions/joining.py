"""Joining arrays into rows, columns and blocks: NumPy's short forms of ``concatenate``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.broadcasting import at_least, atleast_3d
from tenferro.arrays.functions.structural import concatenate, ravel, transpose
from tenferro.arrays.handle.array import Array, another_handle
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.registry import covers


@covers("vstack")
def vstack(tup: Sequence[Any], *, dtype: Any = None, casting: str = "same_kind") -> Array:
    """Stack arrays along the first axis; arrays of rank 1 become rows."""
    return concatenate([at_least(x, 2) for x in tup], 0, dtype=dtype, casting=casting)


@covers("hstack")
def hstack(tup: Sequence[Any], *, dtype: Any = None, casting: str = "same_kind") -> Array:
    """Stack arrays along the second axis; arrays of rank 1 along their only axis."""
    arrays = [at_least(x, 1) for x in tup]
    axis = 1 if arrays and arrays[0].ndim > 1 else 0
    return concatenate(arrays, axis, dtype=dtype, casting=casting)


@covers("dstack")
def dstack(tup: Sequence[Any]) -> Array:
    """Stack arrays along the third axis.

    >>> import tenferro as tn
    >>> tn.dstack([tn.asarray(1.0), tn.asarray(2.0)]).shape
    (1, 1, 2)
    """
    return concatenate([atleast_3d(x) for x in tup], 2)


@covers("column_stack")
def column_stack(tup: Sequence[Any]) -> Array:
    """Stack arrays along the second axis; arrays of rank 1 become columns."""
    arrays = [as_array(x) for x in tup]
    return concatenate([x if x.ndim > 1 else transpose(at_least(x, 2)) for x in arrays], 1)


@covers("append")
def append(arr: Any, values: Any, axis: int | None = None) -> Array:
    """Append values to the end of an array; without an axis, both are flattened."""
    if axis is None:
        return concatenate([ravel(arr), ravel(values)])
    return concatenate([arr, values], axis)


@covers("block")
def block(arrays: Any) -> Array:
    """Assemble an array from nested lists of blocks: the innermost lists along the last axis.

    Raises ValueError: if the lists are not nested equally deep.
    """
    depth = _depth(arrays)
    rank = max(depth, *(as_array(x).ndim for x in _leaves(arrays)))
    return another_handle(_join(arrays, depth, rank))


def _depth(x: Any) -> int:
    """Return the depth of nested lists, which must be equal everywhere."""
    if not isinstance(x, list):
        return 0
    depths = {_depth(item) for item in x}
    if len(depths) != 1:
        fact = "empty lists" if not depths else "lists nested to different depths"
        raise at_user_line(ValueError(f"block: {fact}"))
    return 1 + depths.pop()


def _leaves(x: Any) -> list[Any]:
    return [leaf for item in x for leaf in _leaves(item)] if isinstance(x, list) else [x]


def _join(x: Any, depth: int, rank: int) -> Array:
    if depth == 0:
        return at_least(x, rank)
    return concatenate([_join(item, depth - 1, rank) for item in x], -depth)
