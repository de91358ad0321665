"""The operands of the backend, and the backend, which makes, reads and recognizes them.

Read next: ``lowerings.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tenferro.backend import Backend
from tenferro.primitives import Aval


class AcmeArray:
    """An array that belongs to this backend. Replace it by the array class of your library."""

    def __init__(self, data: npt.NDArray[Any]) -> None:
        self.data = data

    def __repr__(self) -> str:
        return f"AcmeArray({self.data})"

    def copy(self) -> AcmeArray:
        """Return an array with memory of its own."""
        return AcmeArray(self.data.copy())

    def item(self) -> Any:
        """Return the number in an array of rank 0; loops and branches ask for it."""
        return self.data.item()


class AcmeBackend(Backend):
    """Backend on these arrays; it inherits ``compile``, which interprets programs."""

    def asoperand(self, value: Any, aval: Aval) -> AcmeArray:
        """Convert a NumPy array or a number; an own array is returned as it is."""
        if isinstance(value, AcmeArray):
            return value
        return AcmeArray(np.array(value, dtype=aval.dtype.name))

    def to_numpy(self, operand: AcmeArray) -> npt.NDArray[Any]:
        """Convert an operand to a NumPy array."""
        return operand.data.copy()

    def aval_of(self, operand: AcmeArray) -> Aval:
        """Return the shape and dtype of an operand."""
        return Aval(operand.data.shape, str(operand.data.dtype))

    def owns(self, value: Any) -> bool:
        """Recognize operands of this backend."""
        return isinstance(value, AcmeArray)
