"""Arithmetic on arrays of a few numbers that were put together is done number by number.

A ufunc costs as much as ten operations on Python's numbers. The state of a small system of
differential equations is such an array: its slope is put together from numbers, scaled, added to
the state, and its elements are read again. Read next: `elements.py`, `unboxing.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, MutableMapping, Sequence
from typing import Any

from tenferro.primitives import Aval, DType
from tenferro.primitives.arithmetic import Add, Mul, Neg, Sub
from tenferro.primitives.constants import Constant
from tenferro_numpy.ir.expression import Expression
from tenferro_numpy.ir.step import Step
from tenferro_numpy.plan_passes.elements import Element, array_of_elements, element_of

__all__ = ["by_numbers"]

_MAX_NUMBERS = 4  # in an array
_ARITHMETIC = (Add, Mul, Neg, Sub)  # rounds Python's numbers like arrays, and never raises
_NUMBER = Aval((), DType.of("float64"))

#: (operation, avals of the operands, aval of the result) → its line
ExpressionOf = Callable[[Any, tuple[Aval, ...], Aval], Expression]


def by_numbers(
    steps: Sequence[Step],
    avals: list[Aval],
    operations: Sequence[Any],
    literals: MutableMapping[int, Any],
    outputs: Collection[int],
    put: Mapping[int, Sequence[Element]],
    expression_of: ExpressionOf,
) -> list[Step]:
    """Replace arithmetic on arrays that `put` lists with their elements; append to the avals."""
    short = {slot: elements for slot, elements in put.items() if _is_short(avals[slot])}
    if not short:
        return list(steps)
    rewriter = _Rewriter(avals, literals, short, expression_of)
    for step in steps:
        is_plain = step.is_elementwise and len(step.positions) == 1
        op = operations[step.positions[0]] if is_plain else None
        if type(op) not in _ARITHMETIC or not rewriter.split(step, op):
            rewriter.keep(step)
    return rewriter.done(outputs) if rewriter.made else list(steps)


def _is_short(aval: Aval) -> bool:
    return aval.ndim == 1 and aval.dtype is _NUMBER.dtype and 0 < aval.size <= _MAX_NUMBERS


class _Rewriter:
    """The steps so far, and the elements of short arrays.

    made   arrays whose elements are computed by steps of their own, and the step that puts them
           together if something reads the whole
    """

    def __init__(
        self,
        avals: list[Aval],
        literals: MutableMapping[int, Any],
        elements: dict[int, Sequence[Element]],
        expression_of: ExpressionOf,
    ) -> None:
        self.avals = avals
        self.literals = literals
        self.elements = elements
        self.expression_of = expression_of
        self.steps: list[Step] = []
        self.made: dict[int, Step] = {}
        self.numbers: dict[Element, int] = {}  # slots of elements
        self.renamed: dict[int, int] = {}  # slots that are an element of an array in `made`

    def keep(self, step: Step) -> None:
        """Append a step; note which element of a short array it reads, if it does."""
        step.operands = tuple([self.renamed.get(slot, slot) for slot in step.operands])
        source, target = step.operands[0] if step.operands else -1, step.targets[0]
        if len(step.operands) == 1 and _is_short(self.avals[source]):
            shape = self.avals[source].shape
            for place in range(*shape):
                if step.expression is element_of(shape, place, True):
                    self.read(source, place, target)
        self.steps.append(step)

    def read(self, source: int, place: int, target: int) -> None:
        """Note that a slot is an element; its readers read the number itself if that is there."""
        if source in self.made:
            self.renamed[target] = self.slot_of(self.elements[source][place])
        else:
            self.numbers.setdefault((source, place), target)

    def split(self, step: Step, op: Any) -> bool:
        """Compute the elements of a short array one by one, if some operand is such elements."""
        target = step.targets[0]
        if not _is_short(self.avals[target]) or self.elements.keys().isdisjoint(step.operands):
            return False
        given = tuple([self.avals[i] for i in step.operands])
        if len(given) != (1 if type(op) is Neg else 2):
            return False  # a pass before this one made another line of the operation
        if step.expression != self.expression_of(op, given, self.avals[target]):
            return False
        count = self.avals[target].size
        columns = [self.elements_of(self.renamed.get(i, i), count) for i in step.operands]
        if any([len(column) != count for column in columns]):
            return False
        line = self.expression_of(op, (_NUMBER,) * len(columns), _NUMBER)
        found: list[Element] = []
        for row in zip(*columns, strict=True):
            slot = self.new_slot()
            operands = tuple([self.slot_of(element) for element in row])
            self.steps.append(Step(line, operands, (slot,), ()))
            found.append((slot, None))
        self.elements[target] = found
        line, operands = array_of_elements(found, self.avals[target])
        self.made[target] = Step(line, operands, (target,), step.positions)
        self.steps.append(self.made[target])
        return True

    def elements_of(self, slot: int, count: int) -> Sequence[Element]:
        """Return the elements of an operand; a number stands for each of them."""
        if slot in self.elements:
            return self.elements[slot]
        aval, op = self.avals[slot], self.literals.get(slot)
        if type(op) is Constant:
            return [float(op.value.real)] * count
        if not aval.shape and aval is _NUMBER:
            return [(slot, None)] * count
        is_literal = slot in self.literals
        return [] if is_literal else [(slot, place) for place in range(aval.size)]

    def slot_of(self, element: Element) -> int:
        """Return the slot of a number: a literal, the result of a step, or an element read now."""
        if element in self.numbers:
            return self.numbers[element]
        if not isinstance(element, tuple):
            slot = self.new_slot()
            self.literals[slot] = Constant(element, _NUMBER.dtype, ())
        elif element[1] is None:
            slot = self.renamed.get(element[0], element[0])
        else:
            slot = self.new_slot()
            line = element_of(self.avals[element[0]].shape, element[1], True)
            self.steps.append(Step(line, (element[0],), (slot,), ()))
        self.numbers[element] = slot
        return slot

    def new_slot(self) -> int:
        self.avals.append(_NUMBER)
        return len(self.avals) - 1

    def done(self, outputs: Collection[int]) -> list[Step]:
        """Return the steps without those that put together or read what nothing reads."""
        read, kept = set(outputs), []
        for step in reversed(self.steps):
            slot = step.targets[0]
            if slot not in read and (slot in self.elements or slot in self.renamed):
                continue
            read.update(step.operands)
            kept.append(step)
        kept.reverse()
        return kept
