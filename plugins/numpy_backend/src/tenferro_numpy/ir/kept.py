"""Plans that another process has made, and how their arrays are written and read.

Read next: `executable.py`, whose executables are kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenferro_numpy.ir.plan import Plan

__all__ = ["Planned", "made_again"]


class Planned:
    """A finished plan, where an executable of this process has a `Draft`."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.donated = plan.donated

    def early_run(self, operands: tuple[Any, ...], note: Any) -> None:
        """Return None: the plan runs from the first call on."""


def made_again(array: np.ndarray[Any, Any]) -> Any:
    """Return a function and its arguments that make an array again, or NotImplemented.

    NotImplemented stands for arrays of positions, which pickle writes as they are: they are
    writeable, because `take` copies read-only ones.

    Raises ValueError: for other writeable arrays, which hold values of a run, and for constants
    that are neither in row-major nor in column-major order, which no plan makes.
    """
    if array.flags.writeable:
        if array.dtype.kind in "iub":
            return NotImplemented
        raise ValueError("a run may write to this array")
    if array.size > 1 and not any(array.strides):
        return _repeated, (array.reshape(-1)[:1].tobytes(), array.dtype.str, array.shape)
    if array.flags.c_contiguous:
        return _constant, (array.tobytes("C"), array.dtype.str, array.shape, "C")
    if array.flags.f_contiguous:
        return _constant, (array.tobytes("F"), array.dtype.str, array.shape, "F")
    raise ValueError("a constant is neither in row-major nor in column-major order")


def _constant(content: bytes, dtype: str, shape: tuple[int, ...], order: Any) -> Any:
    """Return a read-only array of some bytes."""
    return np.frombuffer(content, dtype).reshape(shape, order=order)


def _repeated(content: bytes, dtype: str, shape: tuple[int, ...]) -> Any:
    """Return a read-only view of one element."""
    return np.broadcast_to(np.frombuffer(content, dtype)[0], shape)
