"""One step of a plan: a call of a lowering, or, after fusion, of a region.

Read next: ``regions.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.primitives import Aval
from tenferro_cupy.kernels.expressions import FOLDS, call_of
from tenferro_cupy.kernels.reads.table import SizedRead, read_of

__all__ = ["Step"]

#: gives the results of a step as a sequence, one for each target
Run = Callable[..., Sequence[Any]]


class Step:
    """Slots that are read and written, and the function that does it.

    positions   of its instructions in the program
    call        the operation in a kernel, of the same element of each operand; else None
    read        the operation in a kernel, of other elements of its operands; else None
    """

    __slots__ = (
        "call", "operands", "operation", "positions", "read", "reduced_axes", "run", "targets",
    )  # fmt: skip

    shares = False

    def __init__(
        self,
        operation: Any,
        operands: tuple[int, ...],
        targets: tuple[int, ...],
        positions: tuple[int, ...],
        run: Run | None = None,
    ) -> None:
        self.operation = operation
        self.operands = operands
        self.targets = targets
        self.positions = positions
        self.run = run
        self.call: str | None = None
        self.read: SizedRead | None = None
        self.reduced_axes: tuple[int, ...] | None = None

    @property
    def is_elementwise(self) -> bool:
        """True if a kernel can compute it together with others."""
        return self.call is not None

    @property
    def is_assembled(self) -> bool:
        """True if a kernel can compute it from arrays that were made before."""
        return self.read is not None

    def let_fuse(self, avals: Sequence[Aval]) -> None:
        """Note whether the operation may be part of a kernel."""
        operands = [avals[i] for i in self.operands]
        if len(self.targets) != 1 or not operands:
            return
        self.call = call_of(self.operation, operands, avals[self.targets[0]])
        self.read = read_of(self.operation, operands, avals[self.targets[0]])
        _, categories = FOLDS.get(type(self.operation), ("", frozenset()))
        if operands[0].dtype.category in categories and self.operation.axes:
            self.reduced_axes = tuple(self.operation.axes)
