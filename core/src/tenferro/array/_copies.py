"""Say when an array is assigned into that NumPy would have made as a view: ``r = u[1]; r[1] = 5``.

Indexing copies here, so ``u`` does not change. Reading by integers and slices marks the handle that
it makes; every other handle of the value, such as that of ``r.copy()``, has no mark. What a
function returns is no view that the user took: the instruction that recorded the value tells them
apart.
Read next: ``_temporary.py``.
"""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from typing import Any

from tenferro.array._errors import CopyAssignmentWarning
from tenferro.primitives._source import Source

_READING = ("BINARY_SUBSCR", "BINARY_SLICE", "BINARY_OP", "FOR_ITER", "UNPACK_SEQUENCE")


def tell_of_copy(x: Any) -> None:
    """Warn at the user's line, once for a handle: from now on it is an array of its own."""
    x.is_taken = False
    frame = sys._getframe(2)
    by_user = frame.f_globals.get("__name__", "").partition(".")[0] != "tenferro"
    if x.ndim and by_user and _is_reading(x.key.source):
        warnings.warn(
            "in NumPy this writes into the array that it was taken from; here that array does not "
            "change — write `u[1, 1] = 5`, or take `u[1].copy()` if a copy is meant",
            CopyAssignmentWarning,
            stacklevel=3,
        )


def _is_reading(source: Source | None) -> bool:
    """Whether the user's program was at an index or a loop, and not at a call, when it recorded."""
    if source is None:  # the value of a whole array, `u[:]`, which may be an input
        return True
    code, offset = source
    return import_module("opcode").opname[code.co_code[offset]] in _READING
