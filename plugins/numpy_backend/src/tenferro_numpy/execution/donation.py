"""Donated inputs: which of them a program may really write to, and copies of the others.

Read next: `executable.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["given_up"]


def given_up(operands: Sequence[Any], donated: Sequence[int]) -> tuple[Any, ...]:
    """Return the operands; donated ones as arrays with no reference but the caller's and ours.

    A read-only array, or one that shares memory with another operand, is copied, since code that
    promised nothing may read it. So is an array with two elements at one address.
    """
    found = list(operands)
    for number in donated:
        x = operands[number]
        others = (y for i, y in enumerate(operands) if i != number and isinstance(y, np.ndarray))
        if not isinstance(x, np.ndarray) or not x.ndim:
            continue
        shared = not x.flags.writeable or any(np.may_share_memory(x, y) for y in others)
        if shared or _may_overlap_itself(x):
            found[number] = x.copy()
    return tuple(found)


def _may_overlap_itself(x: Any) -> bool:
    """Return True if an axis has a stride below the extent of shorter ones: elements may
    overlap.
    """
    if x.flags.forc:
        return False
    reach = x.itemsize
    for stride, extent in sorted(zip(map(abs, x.strides), x.shape, strict=True)):
        if extent > 1:
            if stride < reach:
                return True
            reach += stride * (extent - 1)
    return False
