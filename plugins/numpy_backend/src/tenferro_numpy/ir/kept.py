"""A plan in another process: it is there from the first run on, and its arrays come from bytes.

Read next: `executable.py`, which is what is kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenferro_numpy.ir.plan import Plan

__all__ = ["Planned", "made_again"]


class Planned:
    """A plan that is there from the first run on."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.donated = plan.donated

    def early_run(self, operands: tuple[Any, ...], note: Any) -> None:
        """Return None: the plan must run."""


def made_again(array: np.ndarray[Any, Any]) -> Any:
    """Return a function and arguments that make an array again; NotImplemented: as pickle does.

    Positions may be written to, because `take` copies those that may not.

    Raises ValueError: for other arrays that may be written to, which hold values of a run, and for
    constants in an order of memory that no plan makes.
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
