"""Plans that another process has made, and how their arrays are written and read.

Read next: `executable.py`, whose executables are kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenferro_numpy.ir.plan import Plan

__all__ = ["Planned", "made_again", "number"]


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
    with gaps between their elements, which no plan makes.
    """
    if array.flags.writeable:
        if array.dtype.kind in "iub":
            return NotImplemented
        raise ValueError("a run may write to this array")
    if array.size > 1 and not any(array.strides):
        return _repeated, (array.reshape(-1)[:1].tobytes(), array.dtype.str, array.shape)
    axes = sorted(range(array.ndim), key=lambda i: -array.strides[i])  # outermost first
    rows = array if array.flags.c_contiguous else array.transpose(axes)
    if not rows.flags.c_contiguous:
        raise ValueError("a constant has gaps between its elements")
    places = None if rows is array else tuple([axes.index(i) for i in range(array.ndim)])
    return _constant, (rows.tobytes(), array.dtype.str, rows.shape, places)


def number(value: Any, dtype: str) -> Any:
    """Return a read-only array of rank 0, which a plan that is kept may hold.

    NumPy combines arrays faster than numbers.
    """
    array = np.asarray(value, dtype)
    array.flags.writeable = False
    return array


def _constant(
    content: bytes, dtype: str, shape: tuple[int, ...], axes: tuple[int, ...] | None
) -> Any:
    """Return a read-only array of some bytes, whose axes are those of row-major order in turn."""
    rows = np.frombuffer(content, dtype).reshape(shape)
    return rows if axes is None else rows.transpose(axes)


def _repeated(content: bytes, dtype: str, shape: tuple[int, ...]) -> Any:
    """Return a read-only view of one element."""
    return np.broadcast_to(np.frombuffer(content, dtype)[0], shape)
