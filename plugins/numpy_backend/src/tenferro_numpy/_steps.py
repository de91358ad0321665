"""A line while the plan is made: operands and targets are slots of the program.

Read next: `_unboxing.py`, `_plan.py`.
"""

from __future__ import annotations

from tenferro_numpy._expression import Expression

__all__ = ["CONVERSION", "Step"]

CONVERSION = -1  # the position of a line that stands for no instruction


class Step:
    """A line while the plan is made; `on_numbers`: it reads and gives Python's own numbers."""

    __slots__ = ("expression", "on_numbers", "operands", "position", "targets")

    def __init__(
        self,
        expression: Expression,
        operands: tuple[int, ...],
        targets: tuple[int, ...],
        position: int,
        *,
        on_numbers: bool = False,
    ) -> None:
        self.expression = expression
        self.operands = operands
        self.targets = targets
        self.position = position
        self.on_numbers = on_numbers
