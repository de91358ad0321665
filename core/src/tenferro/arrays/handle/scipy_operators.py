"""Let Arrays take over operators with a sparse matrix A of SciPy, such as ``A @ x`` and ``A * x``.

SciPy asks its other operand for an array of NumPy. If it gets an array of rank 0 that holds an
object, it returns NotImplemented, so that Python asks the other operand: a comment in SciPy's
``_matmul_dispatch`` says so. Read next: ``operators.py``.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

#: Methods of sparse matrices that ask for the array of what they multiply, in all versions of
#: SciPy from 1.15 on.
_PRODUCTS = frozenset(("_matmul_dispatch", "_rmatmul_dispatch"))
#: Methods that do the same, and are called by others than operators, too.
_SHARED = frozenset(("_comparison", "_divide", "_multiply_2d_with_broadcasting", "multiply"))


def is_operator(frame: FrameType, *, is_followed: bool) -> bool:
    """Return True if an operator of SciPy's sparse matrices asks in the frame for an array.

    A method such as ``A.multiply(x)`` would return NotImplemented to the user. SciPy multiplies by
    entries itself where no derivative is lost: ``is_followed`` says that one would be.
    """
    if not _is_of_sparse(frame):
        return False
    if frame.f_code.co_name in _PRODUCTS:
        return True
    return is_followed and frame.f_code.co_name in _SHARED and _is_called_by_operator(frame)


def _is_called_by_operator(frame: FrameType | None) -> bool:
    while frame is not None and _is_of_sparse(frame):
        if frame.f_code.co_name.startswith("__"):
            return True
        frame = frame.f_back
    return False


def _is_of_sparse(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__") or "").startswith("scipy.sparse")


def nothing() -> Any:
    """Return the array of NumPy that says that there is none."""
    return sys.modules["numpy"].empty((), object)
