"""Makers of covering functions that differ only in their primitive.

A table in a family file says the names, the primitive and the docstring; what is the same for all
rows, promotion and broadcasting, is here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array, weak_kind
from tenferro.arrays.promotion.broadcast import cast, float_for, floating, pair
from tenferro.arrays.registry import covers
from tenferro.primitives import constant, promote_dtypes

Unary = Callable[[Any], Array]
Binary = Callable[[Any, Any], Array]


def unary(names: str, primitive: Callable[[Array], Array], doc: str) -> Unary:
    """Make a public function of one array, computed in floats; the first name is NumPy's."""

    def function(x: Any) -> Array:
        return primitive(floating(x))

    made: Unary = _registered(names, function, doc)
    return made


def binary(names: str, primitive: Callable[[Array, Array], Array], doc: str) -> Binary:
    """Make a public function of two arrays, computed in floats."""
    name = names.split()[0]

    def function(x: Any, y: Any) -> Array:
        return primitive(*floating_pair(x, y, name))

    made: Binary = _registered(names, function, doc)
    return made


def _registered(names: str, function: Any, doc: str) -> Any:
    known = names.split()
    function.__name__ = function.__qualname__ = known[0]
    function.__module__ = sys._getframe(2).f_globals["__name__"]  # the family: pickle looks there
    function.__doc__ = doc
    return covers(*known, ufunc=True)(function)


def floating_pair(x: Any, y: Any, name: str) -> tuple[Array, Array]:
    """Return two operands of one shape and floating dtype, the one in which NumPy computes."""
    a, b = pair(x, y, name)
    dtype = a.aval.dtype
    if dtype.is_inexact:
        return a, b
    kind = float_for(dtype)
    if weak_kind(x) is None and weak_kind(y) is None:  # each asks for the float that holds it
        kind = promote_dtypes(float_for(as_array(x).dtype), float_for(as_array(y).dtype))
    return cast(a, kind), cast(b, kind)


def filled(like: Array, value: float | bool) -> Array:
    """Return a constant of the shape and dtype of an array."""
    return Array(constant(value, like.dtype, like.shape).key)


def zeros(like: Array) -> Array:
    """Return zeros of the shape and dtype of an array."""
    return filled(like, 0)
