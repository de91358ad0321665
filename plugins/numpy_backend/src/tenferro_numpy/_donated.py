"""Donated inputs: which of them a program may really write to, and copies of the others.

Read next: `_executor.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["given_up"]


def given_up(operands: Sequence[Any], donated: Sequence[int]) -> tuple[Any, ...]:
    """The operands, those that are donated as arrays that only the caller holds besides us.

    A read-only array, or one that shares memory with another operand, is copied: somebody who
    promised nothing may look at it.
    """
    found = list(operands)
    for number in donated:
        x = operands[number]
        others = (y for i, y in enumerate(operands) if i != number and isinstance(y, np.ndarray))
        if not isinstance(x, np.ndarray) or not x.ndim:
            continue
        if not x.flags.writeable or any(np.may_share_memory(x, y) for y in others):
            found[number] = x.copy()
    return tuple(found)
