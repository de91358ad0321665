"""Let Arrays take over the product ``A @ x`` with a sparse matrix A of SciPy.

SciPy asks what it multiplies for an array of NumPy. For what it then gets an array of rank 0 that
holds an object, it returns NotImplemented, so that Python asks the other operand: a comment in
SciPy's ``_matmul_dispatch`` says so. Read next: ``operators.py``.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

#: Methods of sparse matrices that ask for the array of what they multiply, in all versions of
#: SciPy from 1.13 on.
_PRODUCTS = frozenset(("_matmul_dispatch", "_rmatmul_dispatch", "_mul_dispatch"))


def is_product(frame: FrameType) -> bool:
    """Return True if a product of SciPy's sparse matrices runs in the frame."""
    module = str(frame.f_globals.get("__name__") or "")
    return frame.f_code.co_name in _PRODUCTS and module.startswith("scipy.sparse")


def nothing() -> Any:
    """Return the array of NumPy that says that there is none."""
    return sys.modules["numpy"].empty((), object)
