"""Random orders and draws from a set: permutation, choice.

An order is the permutation that sorts random 64-bit words. Only equal words would prefer an order;
two of n words are equal with a probability below n²/2⁶⁵. Derivatives follow the elements.
"""

from __future__ import annotations

from math import prod
from operator import index
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.creation import shape_of
from tenferro.arrays.functions.cumulative import cumsum
from tenferro.arrays.functions.indexing import take
from tenferro.arrays.functions.random._draws import signed, unit
from tenferro.arrays.functions.random.continuous import standard_gumbel
from tenferro.arrays.functions.random.discrete import randint
from tenferro.arrays.functions.random.keys import as_known_key
from tenferro.arrays.functions.searching import searchsorted
from tenferro.arrays.functions.sorting import argsort, positions
from tenferro.arrays.functions.structural import reshape
from tenferro.arrays.functions.taking import take_along_axis
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array, is_operand
from tenferro.arrays.promotion.broadcast import cast, normalize_axis, stretch
from tenferro.primitives import (
    InvalidParameterError,
    Shape,
    ShapeMismatchError,
    float64,
    log,
    random_bits,
    uint64,
)


def permutation(key: Any, x: Any, axis: int = 0, independent: bool = False) -> Array:
    """Permute the elements of x randomly along an axis, or the integers below x.

    Slices stay together, unless ``independent``. x itself is not changed.

    >>> from tenferro import random
    >>> random.permutation(random.key(0), 5).aval
    i64[5]
    """
    known = as_known_key(key, "permutation")
    if not isinstance(x, (Array, list, tuple)) and not is_operand(x):
        return _order(known, (index(x),), 0)
    found = as_array(x)
    if not found.ndim:
        return _order(known, (index(found),), 0)
    along = normalize_axis(axis, found.ndim, "random.permutation")
    if independent:
        return take_along_axis(found, _order(known, found.shape, along), along)
    return take(found, _order(known, (found.shape[along],), 0), along)


def _order(key: Array, shape: Shape, axis: int) -> Array:
    return positions(random_bits(key, shape, uint64), axis)


def choice(
    key: Any, a: Any, shape: Any = (), replace: bool = True, p: Any = None, axis: int = 0
) -> Array:
    """Draw elements of ``a`` along an axis, or integers below a, with or without replacement.

    ``p`` are their probabilities, divided by their sum; without replacement one is drawn after the
    other, with the probabilities of what is left. No derivative flows through p.

    Raises InvalidParameterError: if more elements are drawn than exist, without replacement.

    >>> from tenferro import random
    >>> random.choice(random.key(0), 10, (3,), replace=False).aval
    i64[3]
    """
    known, size = as_known_key(key, "choice"), shape_of(shape)
    is_array = isinstance(a, (Array, list, tuple)) or is_operand(a)
    found = as_array(a) if is_array else None
    if found is not None and not found.ndim:
        a, found = index(found), None
    along = 0 if found is None else normalize_axis(axis, found.ndim, "random.choice")
    count = index(a) if found is None else found.shape[along]
    _check_count(count, size, replace)
    places = _places(known, count, size, replace, _weights(p, count))
    return places if found is None else take(found, places, along)


def _check_count(count: int, size: Shape, replace: bool) -> None:
    wanted = prod(size)
    if (wanted and not count) or (not replace and wanted > count):
        error = InvalidParameterError.of(
            "random.choice", "more elements are drawn than exist", got=f"{wanted} of {count}",
            need="a smaller shape, or replace=True", parameter="shape", value=size,
        )  # fmt: skip
        raise at_user_line(error)


def _weights(p: Any, count: int) -> Array | None:
    if p is None:
        return None
    found = cast(as_array(p), float64)
    if found.shape != (count,):
        error = ShapeMismatchError.of(
            "random.choice", "the number of probabilities differs from the number of elements",
            got=f"p of shape {found.shape}",
            need=f"shape ({count},)", shapes=(found.shape, (count,)),
        )  # fmt: skip
        raise at_user_line(error)
    return found


def _places(key: Array, count: int, size: Shape, replace: bool, p: Array | None) -> Array:
    """Draw positions; without replacement, those of the largest logits plus Gumbel noise
    (Yellott 1977).
    """
    if replace and p is None:
        return randint(key, size, 0, count) if prod(size) else randint(key, size, 0, 1)
    if replace and p is not None:
        total = cumsum(p)
        at = unit(key, size, float64) * stretch(total[-1], size)
        return searchsorted(total, at, "right")
    if p is None:
        order = _order(key, (count,), 0)
    else:
        noise = standard_gumbel(signed(key, (count,), float64, "choice"))
        order = argsort(-(log(p) + noise))
    return reshape(order[: prod(size)], size)
