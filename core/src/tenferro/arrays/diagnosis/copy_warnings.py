"""Warn of writes into an array that NumPy would have made as a view: ``r = u[1]; r[1] = 5``.

Indexing and reshaping copy here, so ``u`` does not change. A write into a handle with a mark warns
if one of the handles that the mark refers to still exists; otherwise the write changes no other
array in NumPy either, as with ``r = (2 * u)[1]``. Functions and methods that write, as ``r.sort()``
and ``np.exp(r, out=r)`` do, look at the mark, too. Read next: ``handle/views.py``.
"""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from itertools import islice
from typing import Any

from tenferro.arrays.errors import CopyAssignmentWarning
from tenferro.primitives._source import stack_level

_FACT = (
    "in NumPy this writes into the array that it was taken from; here that array does not change "
    "— write `{}`, or take `u[1].copy()` if a copy is meant"
)


def tell_of_copy(x: Any) -> None:
    """Warn at the user's line, once for a handle: from now on it is an array of its own."""
    is_shared = _is_shared(x)
    frame = sys._getframe(2)
    by_user = frame.f_globals.get("__name__", "").partition(".")[0] != "tenferro"
    if is_shared and by_user:
        _warn("u[1, 1] = 5", 4)


def tell_of_augmented(x: Any) -> None:
    """Warn of ``z += 1`` where ``z = u[1]``, and not of ``u[1] += 1``, which is put back."""
    frame = sys._getframe(2)
    names = import_module("opcode").opname
    code = frame.f_code.co_code
    after = (names[op] for op in islice(code, frame.f_lasti + 2, None, 2))
    storing = next((name for name in after if name != "CACHE"), "")
    is_stored = storing.startswith(("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF"))
    if is_stored and _is_shared(x):
        _warn("u[1] += 5", 4)


def tell_of_write(x: Any) -> None:
    """Warn of a function or a method that writes into x: ``u[1].sort()``, ``np.exp(v, out=u[1])``.

    From now on x is an array of its own.
    """
    if _is_shared(x):
        _warn("u[1] = np.exp(v)", stack_level() + 1)


def _is_shared(x: Any) -> bool:
    """Return True if an array still exists whose view x would be in NumPy; remove the mark.

    An array of rank 0 is a number there.
    """
    mark, x.is_taken = x.is_taken, False
    while mark and x.ndim:
        taken_from, mark = mark
        if taken_from() is not None:
            return True
    return False


def _warn(better: str, level: int) -> None:
    warnings.warn(_FACT.format(better), CopyAssignmentWarning, stacklevel=level)
