"""Arrays of a few numbers are computed number by number.

A call of NumPy costs as much as twenty operations on Python's numbers. The state of a small system
of differential equations, the covariance of a filter, the messages of a chain with a few states are
such arrays. What moves their elements then costs nothing, and a loop over them has no calls at all.
Where an instruction needs an array, it is put together; where numbers are computed from an array,
they are read all at once. Read next: `forms.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from tenferro.backend.extend import NamedTuple
from tenferro.backend.lowering import LoweringTable
from tenferro.computegraph import CompiledProgram
from tenferro.primitives import Aval, DType
from tenferro.primitives.constants import Constant
from tenferro_numpy.ir.expression import Expression, for_each
from tenferro_numpy.ir.literals import Literals, is_zero
from tenferro_numpy.ir.liveness import without_unread
from tenferro_numpy.ir.step import Step
from tenferro_numpy.lowerings import is_promised_here
from tenferro_numpy.plan_passes.elements import array_of_elements
from tenferro_numpy.plan_passes.finite_maxima import Exponentials
from tenferro_numpy.plan_passes.short_arrays.choice import Candidate, chosen, without_long
from tenferro_numpy.plan_passes.short_arrays.ends import (
    NO_LOOP,
    Ends,
    is_short,
    reading,
    without_foreign,
)
from tenferro_numpy.plan_passes.short_arrays.forms import (
    Form,
    Stage,
    form_of,
)
from tenferro_numpy.plan_passes.short_arrays.shares import Shares

__all__ = ["Split", "Unsplit", "by_numbers"]

_NUMBER = Aval((), DType.of("float64"))
_ITSELF = Expression("{0}")


class Unsplit(Protocol):
    """A program on its way to a plan; its avals and literals are appended to."""

    program: CompiledProgram
    table: LoweringTable
    avals: list[Aval]
    literals: dict[int, Any]
    steps: list[Step]
    outputs: Sequence[int]

    def operands_of(self, step: Step, /) -> tuple[int, ...]:
        """Return what the instruction of a step reads."""
        ...

    def expression_of(self, op: Any, avals: tuple[Aval, ...], result: Aval, /) -> Expression:
        """Choose the line of an instruction."""
        ...

    def exponentials(self) -> Exponentials | None:
        """Return the steps as those of shares of exponentials; `None` if it has none."""
        ...


class Split(NamedTuple):
    """A program with arrays as their numbers.

    numbers  slots that hold Python's own numbers
    given    inputs of a loop's body that come as the numbers in some slots, rows and what stays as
             arrays, too
    parts    outputs, by their positions, that are the numbers in some slots
    """

    steps: list[Step]
    outputs: Sequence[int]
    numbers: set[int]
    given: Mapping[int, Sequence[int]]
    parts: Mapping[int, Sequence[int]]


def by_numbers(planner: Unsplit, fewest: int, ends: Ends = NO_LOOP) -> Split:
    """Compute short arrays number by number, where that is faster.

    Instructions that feed each other stay as they are if they are fewer than `fewest`.
    """
    forms = without_long(_forms(planner), ends)
    steps = planner.steps
    if not forms:
        return Split(steps, planner.outputs, set(), {}, {})
    candidates = _candidates(planner, forms)
    ends = without_foreign(ends, {slot for each in candidates.values() for slot in each.targets})
    outside = {*planner.outputs}.difference(ends.carries.values(), ends.stacked)
    for i, step in enumerate(steps):
        if i not in candidates:
            outside.update(step.operands)
    taken = chosen(candidates, outside, planner.avals, fewest, ends)
    if not taken:
        return Split(steps, planner.outputs, set(), {}, {})
    made = {slot for i in taken for slot in steps[i].targets}
    exponentials = planner.exponentials()
    on_numbers = [steps[i] for i in sorted(taken)]
    shares = None if exponentials is None else Shares(exponentials, on_numbers)
    rewriter = _Rewriter(planner, ends, shares)
    rewriter.split_carries([slot for slot, last in ends.carries.items() if last in made])
    for i, step in enumerate(steps):
        if i in taken:
            rewriter.compute(step, forms[i])
        else:
            rewriter.keep(step)
    parts = rewriter.parts()
    left = [slot for i, slot in enumerate(planner.outputs) if i not in parts]
    arrays = iter(rewriter.as_arrays(left))
    outputs = [slot if i in parts else next(arrays) for i, slot in enumerate(planner.outputs)]
    results = [*outputs, *[slot for slots in parts.values() for slot in slots]]
    kept = without_unread(rewriter.steps, rewriter.idle, results)
    return Split(kept, outputs, rewriter.numbers, rewriter.given, parts)


def _forms(planner: Unsplit) -> dict[int, Form]:
    """Return the forms of the steps that can run on numbers, by their places."""
    avals, nodes = planner.avals, planner.program.nodes
    known: dict[Any, Form | None] = {}
    found = {}

    def scalar_of(op: Any, given: tuple[Aval, ...], result: Aval) -> Any:
        return planner.expression_of(op, given, result).scalar

    for i, step in enumerate(planner.steps):
        result = avals[step.targets[0]]
        if len(step.positions) != 1 or not is_short(result):
            continue
        op = nodes[step.positions[0]].operation
        given = tuple([avals[slot] for slot in planner.operands_of(step)])
        key = op, given
        if key not in known:
            own = is_promised_here(op, planner.table.promise(op, given))
            known[key] = form_of(op, given, result, scalar_of) if own else None
        form = known[key]
        if form is not None:
            found[i] = form
    return found


def _candidates(planner: Unsplit, forms: Mapping[int, Form]) -> dict[int, Candidate]:
    """Return what is to choose from; steps of one form differ in their slots alone."""
    steps, literals = planner.steps, planner.literals
    lines: dict[int, int] = {}
    found = {}
    for i, form in forms.items():
        count = lines.get(id(form))
        if count is None:
            count = lines[id(form)] = form.lines
        operands = _read(planner, steps[i], form)
        if not literals.keys().isdisjoint(operands):
            operands = tuple([slot for slot in operands if slot not in literals])
        found[i] = Candidate(operands, steps[i].targets, form.saved, count)
    return found


def _read(planner: Unsplit, step: Step, form: Form) -> tuple[int, ...]:
    """Return the slots that a step reads on numbers."""
    operands: tuple[int, ...] = planner.operands_of(step)
    return operands if form.reads is None else tuple([operands[i] for i in form.reads])


class _Rewriter:
    """The steps so far, and the numbers that short arrays consist of.

    elements  the slots of the numbers of each short array
    numbers   slots of Python's numbers
    missing   arrays that no step has put together so far
    padding   the slots of zeros around padded terms: what is added to them stays as it is
    given     the slots of the numbers as which a body of a loop is given an array
    whole     a carry that is given as numbers → the slot of its array, if a step wants that
    idle      lines whose numbers may have no reader any more
    """

    def __init__(
        self, planner: Unsplit, ends: Ends = NO_LOOP, shares: Shares | None = None
    ) -> None:
        self.planner = planner
        self.ends = ends
        self.shares = shares
        self.idle: set[Step] = set()
        self.given: dict[int, Sequence[int]] = {}
        self.whole: dict[int, int] = {}
        self.avals: list[Aval] = planner.avals
        self.steps: list[Step] = []
        self.elements: dict[int, Sequence[int]] = {}
        self.numbers: set[int] = set()
        self.missing: set[int] = set()
        self.padding: set[int] = set()
        self._literals = Literals(planner.literals, planner.table)
        self._literal_slots: dict[str, int] = {}
        self._lines: dict[Any, Expression] = {}

    # ---- the ends of a loop ----------------------------------------------------------------------

    def split_carries(self, carries: Sequence[int]) -> None:
        """Let carries be numbers in all steps."""
        for slot in carries:
            (whole,) = self.new_slots(1, self.avals[slot])
            self.whole[slot] = whole
            self.missing.add(whole)
            self.elements[whole] = self.elements[slot] = self.given_as(slot)

    def given_as(self, slot: int) -> Sequence[int]:
        """Return the slots of the numbers as which a body is given an array."""
        aval = self.avals[slot]
        found = self.given[slot] = self.new_slots(aval.size, aval.with_shape(()))
        self.numbers.update(found)
        return found

    def parts(self) -> dict[int, Sequence[int]]:
        """Gather the outputs of a loop's body that are numbers; return their slots by position."""
        ends, outputs, found = self.ends, self.planner.outputs, dict[int, Sequence[int]]()
        for position, carry in ends.becomes.items():
            if carry in self.whole:
                found[position] = self.gathered(outputs[position])
        for position in ends.stored:
            slot = outputs[position]
            if self.avals[slot].shape and (slot in self.missing or slot in self.whole):
                found[position] = self.gathered(slot)
        return found

    def gathered(self, slot: int) -> Sequence[int]:
        """Return slots of Python's numbers for an array behind all steps."""
        elements = self.elements[slot]
        if all([i in self.numbers or i in self.planner.literals for i in elements]):
            return elements
        kind = self.avals[slot].with_shape(())
        return self.line(_ITSELF, tuple([(i,) for i in range(len(elements))]), elements, kind)

    # ---- steps on arrays -------------------------------------------------------------------------

    def keep(self, step: Step) -> None:
        """Append a step as it is, behind those that put its operands together."""
        is_there = self.missing.isdisjoint(step.operands)
        if not (is_there and self.whole.keys().isdisjoint(step.operands)):
            step.operands = tuple(self.as_arrays(step.operands))
        self.steps.append(step)

    def as_arrays(self, slots: Sequence[int]) -> list[int]:
        """Return slots that hold the same in the form of arrays, or of numbers of rank 0."""
        found = []
        for slot in slots:
            slot = self.whole.get(slot, slot)
            if slot in self.missing:
                if not self.avals[slot].shape:
                    slot = self.elements[slot][0]
                else:
                    self.put(slot)
            found.append(slot)
        return found

    def put(self, slot: int) -> None:
        """Put an array together."""
        literals = self.planner.literals
        elements = [literals[i].value if i in literals else (i, None) for i in self.elements[slot]]
        line, operands = array_of_elements(elements, self.avals[slot])
        line = self._lines.setdefault((line.template, line.bound), line)
        self.steps.append(Step(line, operands, (slot,), ()))
        self.missing.discard(slot)

    # ---- steps on numbers ------------------------------------------------------------------------

    def compute(self, step: Step, form: Form) -> None:
        """Compute the elements of a short array."""
        operands, target = _read(self.planner, step, form), step.targets[0]
        op: Any = self.planner.program.nodes[step.positions[0]].operation
        given = [number for slot in operands for number in self.elements_of(slot)]
        if form.call is not None:
            self.call(step, form.call, given)
            return
        if form.sources is not None:
            if op.key == "std::pad" and self.is_zero(operands[1]):
                given[-1] = self.zero()
            self.elements[target] = [given[i] for i in form.sources]
        else:
            begin = len(self.steps)
            for stage in form.stages[:-1]:
                given += self.line(stage.line, stage.rows, given, _NUMBER)
            found = self.shares and self.shares.rewritten(step, form, self.elements)
            last, read = found or (form.stages[-1], given)
            skips = self.padding if op.key == "std::add" else ()
            self.elements[target] = self.computed(step, last, read, skips)
            if self.shares is not None and self.shares.is_idle(step):
                self.idle.update(self.steps[begin:])
        if self.elements[target] != [target]:
            self.missing.add(target)

    def call(self, step: Step, line: Expression, given: Sequence[int]) -> None:
        """Compute all numbers of all results by one call."""
        targets: list[int] = []
        for slot in step.targets:
            aval = self.avals[slot]
            self.elements[slot] = self.new_slots(aval.size, aval.with_shape(()))
            targets += self.elements[slot]
        self.numbers.update(targets)
        self.missing.update(step.targets)
        made = Step(line, tuple(given), tuple(targets), step.positions, on_numbers=True)
        self.steps.append(made)

    def computed(
        self, step: Step, stage: Stage, given: Sequence[int], skips: Collection[int]
    ) -> Sequence[int]:
        """Compute the last stage of an instruction; of a sum with what it skips, not the sum."""
        alone: dict[int, int] = {}
        if skips:
            for i, (x, y) in enumerate(stage.rows):
                if given[x] in skips or given[y] in skips:
                    alone[i] = given[y] if given[x] in skips else given[x]
        rest = tuple([row for i, row in enumerate(stage.rows) if i not in alone])
        kind = self.avals[step.targets[0]].with_shape(())
        made = iter(self.line(stage.line, rest, given, kind, step) if rest else ())
        return [alone[i] if i in alone else next(made) for i in range(len(stage.rows))]

    def line(
        self,
        line: Expression,
        rows: tuple[tuple[int, ...], ...],
        given: Sequence[int],
        kind: Aval,
        step: Step | None = None,
    ) -> Sequence[int]:
        """Append a line that computes a number for each row, and return their slots.

        `step` is told of errors; a result of rank 0 keeps its slot.
        """
        places: dict[int, int] = {}
        wiring = tuple(
            [tuple([places.setdefault(given[i], len(places)) for i in row]) for row in rows]
        )
        key = id(line), wiring
        if key not in self._lines:
            self._lines[key] = for_each(line, wiring)
        if step is None or self.avals[step.targets[0]].shape:
            targets = self.new_slots(len(rows), kind)
        else:
            targets = step.targets
        positions = () if step is None else step.positions
        self.numbers.update(targets)
        made = Step(self._lines[key], tuple(places), targets, positions, on_numbers=True)
        self.steps.append(made)
        return targets

    def elements_of(self, slot: int) -> Sequence[int]:
        """Return the slots of the numbers of an operand; read them if they are in an array."""
        found = self.elements.get(slot)
        if found is not None:
            return found
        aval = self.avals[slot]
        if slot in self.planner.literals:
            found = self.literal(slot)
        elif not aval.shape:
            found = [slot]
        elif slot in self.ends.staying or slot in self.ends.rows:
            found = self.given_as(slot)
        else:
            found = self.new_slots(aval.size, aval.with_shape(()))
            self.numbers.update(found)
            self.steps.append(Step(reading(aval), (slot,), found, (), on_numbers=True))
        self.elements[slot] = found
        return found

    def literal(self, slot: int) -> Sequence[int]:
        """Return the slots of literal numbers for those of a literal array."""
        value = self._literals.evaluate(self.planner.literals[slot])
        return [self.slot_of(number) for number in value.reshape(-1).tolist()]

    def slot_of(self, number: float | bool) -> int:
        """Return the slot of a literal number."""
        name = repr(number)
        if name not in self._literal_slots:
            kind = "bool" if isinstance(number, bool) else "float64"
            (slot,) = self.new_slots(1, Aval((), DType.of(kind)))
            self.planner.literals[slot] = Constant(number, DType.of(kind), ())
            self._literal_slots[name] = slot
        return self._literal_slots[name]

    def is_zero(self, slot: int) -> bool:
        """Return whether a slot is a literal 0.0, and no mask."""
        return self.avals[slot] is _NUMBER and is_zero(self.planner.literals.get(slot))

    def zero(self) -> int:
        """Return the slot of the zero that pads, which no other literal has."""
        if not self.padding:
            (slot,) = self.new_slots(1, _NUMBER)
            self.planner.literals[slot] = Constant(0.0, _NUMBER.dtype, ())
            self.padding.add(slot)
        return next(iter(self.padding))

    def new_slots(self, count: int, aval: Aval) -> tuple[int, ...]:
        """Return slots for as many numbers."""
        begin = len(self.avals)
        self.avals += [aval] * count
        return tuple(range(begin, begin + count))
