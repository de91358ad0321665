"""A line while the plan is made: operands and targets are slots of the program.

Read next: `plan_passes/fusion/choice.py`, `plan_passes/unboxing.py`, `planner.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro_numpy.ir.expression import Expression
from tenferro_numpy.ir.tiled import Tiled

__all__ = ["Step"]


class Step:
    """A line while the plan is made.

    positions    of its instructions in the program; none for a conversion
    on_numbers   it reads and gives Python's own numbers
    """

    __slots__ = ("expression", "on_numbers", "operands", "positions", "targets")

    def __init__(
        self,
        expression: Expression,
        operands: tuple[int, ...],
        targets: tuple[int, ...],
        positions: tuple[int, ...],
        *,
        on_numbers: bool = False,
    ) -> None:
        self.expression = expression
        self.operands = operands
        self.targets = targets
        self.positions = positions
        self.on_numbers = on_numbers

    def operation_of(self, operations: Sequence[Any]) -> Any:
        """Return the operation of a step that a pass may rewrite; `None` of another.

        It has one instruction, its line is from this package, and it computes arrays. `operations`
        are those of the program by position.
        """
        if len(self.positions) != 1 or self.on_numbers or self.expression.foreign:
            return None
        return operations[self.positions[0]]

    @property
    def is_elementwise(self) -> bool:
        """True if an element of the result needs only the same element of each operand."""
        return bool(self.expression.into)

    @property
    def is_assembled(self) -> bool:
        """True if the step pads or concatenates its operands, and may do so tile by tile."""
        return self.expression.pieces is not None

    @property
    def is_concatenation(self) -> bool:
        """True if the step puts its operands together, and nothing else."""
        pieces = self.expression.pieces
        return pieces is not None and pieces.fill is None

    @property
    def is_region(self) -> bool:
        """True if the step runs others tile by tile."""
        bound = self.expression.bound
        return bool(bound) and isinstance(bound[0], Tiled)

    @property
    def reduced_axes(self) -> tuple[int, ...] | None:
        """Axes of a reduction that may run on the tiles of its operand; else None."""
        fold = self.expression.fold
        return None if fold is None else fold[1]

    @property
    def shares(self) -> bool:
        """True if a result may use the memory of an operand."""
        return self.expression.shares
