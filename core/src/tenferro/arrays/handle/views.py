"""Marks of handles whose memory NumPy would share with other arrays, such as ``x.T`` and ``x[0]``.

A mark is a weak reference to the handle that the view was taken from, and the mark of that handle.
It says which arrays a write would change in NumPy. Read next: ``diagnosis/copy_warnings.py``.
"""

from __future__ import annotations

from typing import Any, TypeVar
from weakref import ref

_A = TypeVar("_A", bound=Any)


def mark_of(x: Any) -> tuple[Any, Any]:
    """Make the mark of a view of x: a weak reference to x, and the mark of x if x is a view itself.

    Handles that no longer exist are left out where they stand first.
    """
    earlier = x.is_taken
    while earlier and earlier[0]() is None:
        earlier = earlier[1]
    return ref(x), earlier


def view_of(x: _A, y: _A) -> _A:
    """Mark ``y``, which NumPy would make as a view of ``x``; never the handle ``x`` itself."""
    if y is x:
        y = type(x)(x.key, x.flow)
    y.is_taken = mark_of(x)
    return y
