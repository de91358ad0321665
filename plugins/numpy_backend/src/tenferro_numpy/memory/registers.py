"""Steps over slots become lines over registers; a register is taken again when its value is dead.

Read next: `ir/plan.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

from tenferro.primitives import Aval
from tenferro_numpy.ir.literals import Literals
from tenferro_numpy.ir.plan import Line
from tenferro_numpy.ir.step import Step

__all__ = ["Registers"]

_new_line: Callable[[tuple[Any, ...]], Line] = partial(tuple.__new__, Line)


class Registers:
    """Assignment of slots to registers.

    numbers   slots that hold Python's own numbers
    """

    def __init__(
        self, inputs: int, avals: Sequence[Aval], literals: Literals, numbers: Collection[int]
    ) -> None:
        self.count = inputs
        self.register_of: list[Any] = [None] * len(avals)  # None: not yet made, or a literal
        self.register_of[:inputs] = range(inputs)
        self._avals = avals
        self._literals = literals
        self._numbers = numbers
        self._of_numbers: set[int] = set()  # registers that hold Python's numbers

    def lines(self, steps: Sequence[Step], dying: Sequence[Sequence[int]]) -> list[Line]:
        """Return the steps as lines; `dying` are the slots without a reader after each step."""
        register_of, count = self.register_of, self.count
        free: list[Any] = []
        lines = []
        for step, last in zip(steps, dying, strict=True):
            slots = step.targets
            operands = tuple([register_of[slot] for slot in step.operands])
            if None in operands:
                operands = self._with_literals(step, operands)
            released = [register_of[slot] for slot in last if slot not in slots] if last else []
            for slot in slots:
                if released:
                    register_of[slot] = released.pop()
                elif free:
                    register_of[slot] = free.pop()
                else:
                    register_of[slot] = count
                    count += 1
            targets = tuple([register_of[slot] for slot in slots])
            if last and last[0] in slots:  # the new value has no reader
                released += [register_of[slot] for slot in last if slot in slots]
            free += released
            frees, ends = self._arrays_and_numbers(step, released)
            lines.append(
                _new_line((step.expression, operands, targets, frees, ends, step.positions))
            )
        self.count = count
        return lines

    def _with_literals(self, step: Step, registers: Sequence[int | None]) -> tuple[int, ...]:
        """Return the operands of a step, with literals in the form that it reads fastest."""
        if step.on_numbers:
            form = "number"
        else:
            form = "array" if self._avals[step.targets[0]].shape else "scalar"
        found = []
        for slot, register in zip(step.operands, registers, strict=True):
            if register is None:
                register = self._literals.index(slot, form)
                if self._avals[slot].shape:  # in whichever form, it is this array
                    self.register_of[slot] = register
            found.append(register)
        return tuple(found)

    def _arrays_and_numbers(
        self, step: Step, released: Sequence[int]
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the registers that a step releases: those of arrays, and of Python numbers."""
        if not self._numbers:
            return tuple(released), ()
        for slot in step.targets:
            change = self._of_numbers.add if slot in self._numbers else self._of_numbers.discard
            change(self.register_of[slot])
        if not released:
            return (), ()
        arrays = tuple([i for i in released if i not in self._of_numbers])
        return arrays, tuple([i for i in released if i in self._of_numbers])
