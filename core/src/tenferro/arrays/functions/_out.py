"""``out=`` of functions that are no ufuncs."""

from __future__ import annotations

from typing import Any

from tenferro.arrays.handle.array import Array
from tenferro.arrays.numpy_protocols.writing import destination, write


def into(out: Any, result: Array, function: str, casting: str = "same_kind") -> Array:
    """Return the result; if ``out`` is given, bind ``out`` to it and return ``out``.

    Raises ImmutableArrayError: if ``out`` is memory of NumPy.
    """
    target = destination(out, function)
    return result if target is None else write(target, result, function, casting=casting)
