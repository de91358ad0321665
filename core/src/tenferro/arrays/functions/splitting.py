"""Cutting arrays into parts; joining the parts again gives the array."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from operator import index
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.handle.views import view_of
from tenferro.arrays.promotion.broadcast import integers, is_sequence, normalize_axis
from tenferro.arrays.registry import covers
from tenferro.primitives import Shape, Slice, bind, reshape


@covers("array_split")
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Split an array along an axis into nearly equal parts, or at the given positions.

    >>> import tenferro as tn
    >>> [part.tolist() for part in tn.array_split([1, 2, 3, 4, 5], 2)]
    [[1, 2, 3], [4, 5]]
    """
    found = as_array(ary)
    along = normalize_axis(axis, found.ndim, "array_split")
    cuts = tuple(_cuts(found.shape[along], indices_or_sections))
    return [view_of(found, bind(part, found)) for part in _parts(found.shape, along, cuts)]


def _cuts(n: int, given: Any) -> list[int | None]:
    """Return the positions where parts begin and end; None is the end of the axis."""
    if is_sequence(given):
        return [0, *integers(given), None]
    count = index(given)
    if count <= 0:
        raise at_user_line(ValueError(f"split: need one section or more, not {count}"))
    each, more = divmod(n, count)
    return [0, *accumulate(each + (i < more) for i in range(count))]


@lru_cache(maxsize=512)  # a loop splits the same shape again and again
def _parts(shape: Shape, axis: int, cuts: tuple[int | None, ...]) -> list[Slice]:
    """Return the operations that take the parts between cuts."""
    return [_part(shape, axis, start, stop) for start, stop in pairwise(cuts)]


def _part(shape: Shape, axis: int, start: int | None, stop: int | None) -> Slice:
    first, last, _ = slice(start, stop).indices(shape[axis])
    low, high = [0] * len(shape), [*shape]
    low[axis], high[axis] = first, max(first, last)
    return Slice(tuple(low), tuple(high), (1,) * len(shape))


@covers("split")
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Split an array along an axis into equal parts, or at the given positions.

    Raises ValueError: if the axis is not a multiple of the number of parts.
    """
    found = as_array(ary)
    n = found.shape[normalize_axis(axis, found.ndim, "split")]
    if is_sequence(indices_or_sections):
        return array_split(found, indices_or_sections, axis)
    count = index(indices_or_sections)
    if count > 0 and n % count:
        text = (
            f"split: {n} elements do not divide into {count} equal parts\n"
            "  hint       `np.array_split` makes parts of nearly equal size"
        )
        raise at_user_line(ValueError(text))
    return array_split(found, indices_or_sections, axis)


def _needs_rank(function: str, x: Any, rank: int) -> Array:
    found = as_array(x)
    if found.ndim < rank:
        raise at_user_line(ValueError(f"{function}: need rank {rank} or more, got {found.aval}"))
    return found


@covers("vsplit")
def vsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Split an array of at least two axes along the first axis."""
    return split(_needs_rank("vsplit", ary, 2), indices_or_sections, 0)


@covers("hsplit")
def hsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Split an array along the second axis, or along its only axis."""
    found = _needs_rank("hsplit", ary, 1)
    return split(found, indices_or_sections, 1 if found.ndim > 1 else 0)


@covers("dsplit")
def dsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Split an array along the third axis."""
    return split(_needs_rank("dsplit", ary, 3), indices_or_sections, 2)


@covers("unstack")
def unstack(x: Any, *, axis: int = 0) -> tuple[Array, ...]:
    """Split an array along an axis into arrays without that axis."""
    found = _needs_rank("unstack", x, 1)
    along = normalize_axis(axis, found.ndim, "unstack")
    rest = _without(found.shape, along)
    parts = _parts(found.shape, along, tuple(range(found.shape[along] + 1)))
    return tuple([view_of(found, reshape(bind(part, found), rest)) for part in parts])


def _without(shape: Sequence[int], axis: int) -> list[int]:
    return [n for i, n in enumerate(shape) if i != axis]
