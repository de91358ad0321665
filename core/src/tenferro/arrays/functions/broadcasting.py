"""Giving arrays more axes, or the shape that they have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.handle.array import Array, another_handle
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.handle.views import view_of
from tenferro.arrays.promotion.broadcast import broadcast_shapes, integers, stretch
from tenferro.arrays.registry import covers
from tenferro.primitives import ShapeMismatchError
from tenferro.primitives import structural as p


@covers("atleast_1d")
def atleast_1d(*arys: Any) -> Any:
    """Convert each argument to an array with at least one axis."""
    return _each(arys, lambda x: at_least(x, 1))


@covers("atleast_2d")
def atleast_2d(*arys: Any) -> Any:
    """Convert each argument to an array with at least two axes; new axes come first."""
    return _each(arys, lambda x: at_least(x, 2))


@covers("atleast_3d")
def atleast_3d(*arys: Any) -> Any:
    """Convert each argument to an array with at least three axes; a matrix gets a new last axis."""
    return _each(arys, _with_depth)


def _each(arys: Sequence[Any], function: Callable[[Any], Array]) -> Any:
    arrays = [as_array(x) for x in arys]
    found = tuple([view_of(x, function(x)) for x in arrays])
    return found[0] if len(found) == 1 else found


def at_least(x: Any, ndim: int) -> Array:
    """x with new axes in front, up to a rank."""
    found = as_array(x)
    missing = ndim - found.ndim
    return found if missing <= 0 else p.reshape(found, (1,) * missing + found.shape)


def _with_depth(x: Any) -> Array:
    found = at_least(x, 2)
    return found if found.ndim > 2 else p.reshape(found, (*found.shape, 1))


@covers("broadcast_to")
def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Array:
    """Broadcast an array to a shape; ``subok`` is ignored."""
    found = as_array(array)
    target = integers(shape)
    if broadcast_shapes(found.shape, target, function="broadcast_to") != target:
        error = ShapeMismatchError.of(
            "broadcast_to",
            "the array has sizes that the shape does not have",
            got=f"{found.aval} to {target}",
            need="sizes 1 or equal",
            shapes=(found.shape, target),
        )
        raise at_user_line(error)
    return stretch(another_handle(found), target)


@covers("broadcast_arrays")
def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Array, ...]:
    """Broadcast arrays to their common shape; ``subok`` is ignored."""
    arrays = [as_array(x) for x in args]
    shape = broadcast_shapes(*[x.shape for x in arrays], function="broadcast_arrays")
    return tuple([view_of(x, stretch(x, shape)) for x in arrays])
