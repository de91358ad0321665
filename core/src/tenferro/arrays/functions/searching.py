"""Searching: positions of nonzero elements, and places in a sorted array.

How many elements are not zero depends on values, so these need them. Places in a sorted array have
a fixed shape and work anywhere.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._known import elements, found_of, known
from tenferro.arrays.functions.creation import zeros
from tenferro.arrays.functions.rearranging import flip
from tenferro.arrays.functions.structural import ravel, stack
from tenferro.arrays.handle.array import Array, evaluable
from tenferro.arrays.handle.convert import as_array, asarray
from tenferro.arrays.handle.looks import true_positions
from tenferro.arrays.promotion.broadcast import cast, common_dtype
from tenferro.arrays.registry import covers
from tenferro.primitives import bool_, int64
from tenferro.primitives import sorting as p

_STATIC = "keep the shape: np.where(condition, a, b), or a mask times the array"


@covers("nonzero")
def nonzero(a: Any) -> tuple[Array, ...]:
    """Return the indices of the nonzero elements, one array per axis.

    Raises ConcretizationError: under ``jit``, where their number is not known.

    >>> import tenferro as tn
    >>> [places.tolist() for places in tn.nonzero([[5, 0], [0, 7]])]
    [[0, 1], [0, 1]]
    """
    found = as_array(a)
    if not found.ndim:
        raise at_user_line(ValueError("nonzero: an array of rank 0; use np.atleast_1d(a)"))
    each = found_of([cast(found, bool_)], true_positions, "nonzero", _STATIC)
    return tuple(as_array(places) for places in each)


@covers("flatnonzero")
def flatnonzero(a: Any) -> Array:
    """Return the indices of the nonzero elements in the flattened array."""
    return nonzero(ravel(a))[0]


@covers("argwhere")
def argwhere(a: Any) -> Array:
    """Return the indices of the nonzero elements, one row per element."""
    found = as_array(a)
    if not found.ndim:
        count = int(known(cast(found, bool_), "argwhere", _STATIC))
        return zeros((count, 0), int64)
    return stack(nonzero(found), -1)


@covers("searchsorted")
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Array:
    """Find the indices at which values would be inserted to keep a sorted array sorted.

    sorter: positions that sort the array, if it is not sorted itself
    """
    rows, values = together_unstretched(a, v)
    if rows.ndim != 1:
        raise at_user_line(ValueError(f"searchsorted: need rank 1, not {rows.aval}"))
    if sorter is not None:
        if as_array(sorter).size != rows.size:
            text = f"searchsorted: `sorter` has {as_array(sorter).size} positions for {rows.aval}"
            raise at_user_line(ValueError(text))
        rows = elements(rows, sorter)
    if side not in ("left", "right"):
        raise at_user_line(ValueError(f"searchsorted: side is left or right, not {side!r}"))
    return p.searchsorted(rows, values, side=side)


def together_unstretched(*xs: Any) -> list[Array]:
    """Cast arrays to one dtype and leave each in its own shape."""
    arrays = [asarray(x) for x in xs]
    dtype = common_dtype(arrays)
    return [cast(x, dtype) for x in arrays]


@covers("digitize")
def digitize(x: Any, bins: Any, right: bool = False) -> Array:
    """Return the index of the bin of each element; bins may increase or decrease.

    ``right`` bins contain their right ends. Bins that are only traced are taken for sorted.
    """
    values, edges = asarray(x), asarray(bins)
    side = "left" if right else "right"
    if not _decreases(edges):
        return searchsorted(edges, values, side)
    return edges.size - searchsorted(flip(edges), values, side)


def _decreases(edges: Array) -> bool:
    """Return True if bins decrease, which takes their values.

    Raises ValueError: if known bins neither increase nor decrease.
    """
    if not evaluable(edges.key):
        return False
    value = known(edges, "digitize", "")
    steps = [(a <= b, a >= b) for a, b in pairwise(value.tolist())]
    if all(up for up, _ in steps):
        return False
    if not all(down for _, down in steps):
        raise at_user_line(ValueError("digitize: bins neither increase nor decrease"))
    return True
