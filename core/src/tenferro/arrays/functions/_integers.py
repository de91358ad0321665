"""Shapes, counts and axes that a caller gives as one integer or as several.

An array of rank 0 is one integer, as in NumPy: ``np.roll(x, np.argmax(x))``. An array that is only
traced has no integers; ``ConcretizationError`` says so. Read next: ``creation.py``.
"""

from __future__ import annotations

from operator import index
from typing import Any


def is_sequence(x: Any) -> bool:
    """Return True for a list, a tuple, an iterator or an array of rank 1 or more."""
    if type(x) in (tuple, list):
        return True
    return bool(getattr(x, "ndim", hasattr(x, "__len__") or hasattr(x, "__iter__")))


def integers(given: Any) -> tuple[int, ...]:
    """Return one integer, or several, as a tuple.

    Raises TypeError: if an element is not an integer; ConcretizationError: if it is only traced.

    >>> integers(3), integers([2, 3])
    ((3,), (2, 3))
    """
    return tuple(map(index, given)) if is_sequence(given) else (index(given),)
