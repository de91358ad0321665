"""Warn of writes into an array that NumPy would have made as a view: ``r = u[1]; r[1] = 5``.

Indexing and reshaping copy here, so ``u`` does not change. Reading by integers and slices marks the
handle that it makes, as do ``x.T``, ``reshape``, ``split`` and the like; every other handle of the
value, such as that of ``r.copy()``, has no mark. Functions and methods that write, as ``r.sort()``
and ``np.exp(r, out=r)`` do, look at the mark, too. A view that another function returns was not
taken by the user: the instruction that recorded the value distinguishes them. Read next:
``diagnosis/views_in_source.py``, ``diagnosis/temporaries.py``.
"""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from itertools import islice
from types import CodeType
from typing import Any, TypeVar

from tenferro.arrays.errors import CopyAssignmentWarning
from tenferro.primitives._source import Source, caller, stack_level

_A = TypeVar("_A", bound=Any)
_READING = ("BINARY_SUBSCR", "BINARY_SLICE", "BINARY_OP", "FOR_ITER", "UNPACK_SEQUENCE")
_ITSELF = "write `u[1, 1] = 5`, or take `u[1].copy()` if a copy is meant"
_FACT = (
    "in NumPy this writes into the array that it was taken from; here that array does not change"
)


def view_of(x: _A, y: _A) -> _A:
    """Mark ``y``, which NumPy would make as a view of ``x``; never the handle ``x`` itself."""
    if y.key is x.key:
        y = type(x)(x.key, x.flow)
        y.is_taken = caller() or True  # the value was recorded elsewhere
    else:
        y.is_taken = True
    return y


def tell_of_copy(x: Any) -> None:
    """Warn at the user's line, once for a handle: from now on it is an array of its own."""
    mark, x.is_taken = x.is_taken, False
    frame = sys._getframe(2)
    by_user = frame.f_globals.get("__name__", "").partition(".")[0] != "tenferro"
    better = _better(x.key.source if mark is True else mark) if x.ndim and by_user else ""
    if better:
        warnings.warn(f"{_FACT} — {better}", CopyAssignmentWarning, stacklevel=3)


def tell_of_augmented(x: Any) -> None:
    """Warn of ``z += 1`` where ``z = u[1]``, and not of ``u[1] += 1``, which is put back."""
    frame = sys._getframe(2)
    names = import_module("opcode").opname
    code = frame.f_code.co_code
    after = (names[op] for op in islice(code, frame.f_lasti + 2, None, 2))
    storing = next((name for name in after if name != "CACHE"), "")
    if not storing.startswith(("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF")):
        return
    mark, x.is_taken = x.is_taken, False
    better = _better(x.key.source if mark is True else mark)
    if better:
        better = better.replace("u[1, 1] = 5", "u[1] += 5")
        warnings.warn(f"{_FACT} — {better}", CopyAssignmentWarning, stacklevel=3)


def tell_of_write(x: Any) -> None:
    """Warn of a function or a method that writes into x: ``u[1].sort()``, ``np.exp(v, out=u[1])``.

    From now on x is an array of its own.
    """
    mark, x.is_taken = x.is_taken, False
    better = _better(x.key.source if mark is True else mark) if x.ndim else ""
    if better:
        better = better.replace("u[1, 1] = 5", "u[1] = np.exp(v)")
        warnings.warn(f"{_FACT} — {better}", CopyAssignmentWarning, stacklevel=stack_level())


def _better(source: Source | None) -> str:
    """Suggest what to write instead; empty if the user's program took no view when it recorded.

    It is empty, too, for views of arrays that nothing else refers to.
    """
    if source is None:  # the value of a whole array, `u[:]`, which may be an input
        return _ITSELF
    code, offset = source
    written = import_module("tenferro.arrays.diagnosis.asking").written_at(code, offset)
    views = import_module("tenferro.arrays.diagnosis.views_in_source")
    tree = views.parsed(written)
    is_read = _instruction_at(code, offset) in _READING
    if views.is_of_new_array(tree) or not (is_read or views.taken_by(tree) in views.VIEWS):
        return ""
    if is_read:
        return _ITSELF
    is_list = views.taken_by(tree).endswith("split")
    copied = "`.copy()` of the part" if is_list else f"`{written}.copy()`"
    return f"assign into that array, or take {copied} if a copy is meant"


def _instruction_at(code: CodeType, offset: int) -> str:
    """Return the name of the instruction at an offset, which may be that of one of its caches.

    From its eighth run on, CPython runs `u[1]` as a call of `__getitem__` that returns behind them.
    """
    opcode = import_module("opcode")
    while offset > 0 and opcode.opname[code.co_code[offset]] == "CACHE":
        offset -= 2
    return str(opcode.opname[code.co_code[offset]])
