"""A line while the plan is made: operands and targets are slots of the program.

Read next: `_regions.py`, `_unboxing.py`, `_plan.py`.
"""

from __future__ import annotations

from tenferro_numpy._expression import Expression

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
