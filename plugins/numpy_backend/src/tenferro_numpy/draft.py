"""A program before it is planned to the end: its steps can run as they are.

Many programs run once or a few times: a loop of a length that never comes again. To choose
registers, memory and results costs more than such runs. The steps compute the same, to the last
bit, because whatever decides on a value is decided before. Read next: `planner.py`,
`executable.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tenferro.backend.lowering import LoweringTable
from tenferro.computegraph import CompiledProgram
from tenferro_numpy.assignment import plan_of
from tenferro_numpy.execution.interpreter import general
from tenferro_numpy.ir.expression import Expression
from tenferro_numpy.ir.literals import Literals
from tenferro_numpy.ir.liveness import dying_after
from tenferro_numpy.ir.peak import total_bytes
from tenferro_numpy.ir.plan import Plan
from tenferro_numpy.ir.step import Step
from tenferro_numpy.plan_options import PlanOptions
from tenferro_numpy.planner import Planner, planner_of

__all__ = ["RUNS_BEFORE_PLAN", "Draft"]

RUNS_BEFORE_PLAN = 16  # a plan costs about as much as it saves in so many runs (measured: 11-40)
_MAX_BYTES_WITHOUT_FREEING = 1 << 20  # of all values of a program together
_ANY_RANK = 1 << 10

#: told of the instruction in which an error was raised
Note = Callable[[Exception, int], None]
#: number of operands (0: any), function, operands, targets (an int: one result), whether the result
#: may be in another order than row-major, slots to free
_Call = tuple[int, Callable[..., Any], Any, int, Any, bool, Sequence[int]]


class Draft:
    """A program that is planned when it has run a few times, or when its plan is asked for."""

    def __init__(self, program: CompiledProgram, table: LoweringTable, how: PlanOptions) -> None:
        self._made_of = program, table, how
        planner = planner_of(program, table, how)
        self._planners = [planner]  # empty while a thread runs its steps, and after planning
        self._run: Run | None = None  # belongs to the thread that took the planner
        self._plan: Plan | None = None
        self._runs_left = RUNS_BEFORE_PLAN if is_plain(planner) else 0
        self.donated = how.donated
        if not self._runs_left:
            self._finish()

    @property
    def plan(self) -> Plan:
        """The plan, which is made now if it is not there yet."""
        return self._plan or self._finish()

    def _finish(self) -> Plan:
        """Make the plan; two threads that meet here may both make one."""
        self._runs_left = 0
        try:
            planner = self._planners.pop()
        except IndexError:
            planner = planner_of(*self._made_of)
        self._run = None
        self._plan = plan = plan_of(planner)
        return plan

    def early_run(self, operands: tuple[Any, ...], note: Note) -> tuple[Any, ...] | None:
        """Run the steps, in one of the first runs; return `None` where the plan must run."""
        if self._runs_left <= 0:
            return None
        try:
            planner = self._planners.pop()
        except IndexError:  # another thread has it
            return None
        try:
            run = self._run
            if run is None:
                run = self._run = Run(planner)
            results = run(operands, note)
        finally:
            self._planners.append(planner)
        self._runs_left = 0 if results is None else self._runs_left - 1
        return results


def is_plain(planner: Planner) -> bool:
    """Return whether steps can run before they are a plan: small arrays, all code from here."""
    return not (
        planner.has_regions
        or planner.blocks
        or planner.donated
        or any([expression.foreign for expression in planner.memo.values()])
    )


class Run:
    """The steps of a plain program as calls over its slots, and the literals behind these."""

    def __init__(self, planner: Planner) -> None:
        self.avals = planner.avals
        self.steps = planner.steps
        self.literals = Literals(planner.literals, planner.table)
        self.unboxed = planner.unboxed_inputs()
        kept = planner.outputs
        self.calls = self.calls_of(self.steps, self.dying(kept))
        self.outputs = [
            len(self.avals) + ~self.literals.index(slot, "array")
            if slot in planner.literals
            else slot
            for slot in kept
        ]

    def calls_of(self, steps: Sequence[Step], dying: Sequence[Sequence[int]]) -> list[_Call]:
        """Return the calls of the steps."""
        avals = self.avals
        calls: list[_Call] = []
        reads_no_literal = self.literals.operations.keys().isdisjoint
        known: dict[int, tuple[Callable[..., Any], int]] = {}  # by the identity of expressions
        for step, dead in zip(steps, dying, strict=True):
            expression, operands, targets = step.expression, step.operands, step.targets
            entry = known.get(id(expression))
            if entry is None:
                entry = known[id(expression)] = expression.function(), row_major_rank(expression)
            if not reads_no_literal(operands):
                operands = self.with_literals(step)
            function, rank = entry
            any_order = avals[targets[0]].ndim > rank
            if len(targets) != 1:
                calls.append((0, function, operands, 0, targets, True, dead))
            elif len(operands) == 2:
                x, y = operands
                calls.append((2, function, x, y, targets[0], any_order, dead))
            elif len(operands) == 1:
                calls.append((1, function, operands[0], 0, targets[0], any_order, dead))
            else:
                calls.append((0, function, operands, 0, targets[0], any_order, dead))
        return calls

    def with_literals(self, step: Step) -> tuple[int, ...]:
        """Return the operands of a step, literals in the form in which a plan reads them."""
        if step.on_numbers:
            form = "number"
        else:
            form = "array" if self.avals[step.targets[0]].shape else "scalar"
        literals, count = self.literals, len(self.avals)
        return tuple(
            [
                count + ~literals.index(slot, form) if slot in literals.operations else slot
                for slot in step.operands
            ]
        )

    def dying(self, kept: Sequence[int]) -> Sequence[Sequence[int]]:
        """Return the slots to free after each step; none if all values together are small."""
        if total_bytes(self.avals) <= _MAX_BYTES_WITHOUT_FREEING:
            return [()] * len(self.steps)
        return dying_after(self.steps, (*kept, *self.literals.operations), len(self.avals))

    def __call__(self, operands: tuple[Any, ...], note: Note) -> tuple[Any, ...] | None:
        """Return the results; `None` if an array does not lie in memory as a plan requires.

        `note` is told of the instruction in which an error is raised.
        """
        slots: list[Any] = [None] * len(self.avals) + self.literals.values
        slots[: len(operands)] = operands
        for i in self.unboxed:
            slots[i] = operands[i][()]
        done: Any = iter(self.calls)  # its length hint says how far it came
        try:
            if not take(done, slots):
                return None
        except Exception as error:
            positions = self.steps[len(self.calls) - done.__length_hint__() - 1].positions
            if positions:
                note(error, positions[0])
            raise
        return own_results([slots[i] for i in self.outputs], operands)


def row_major_rank(expression: Expression) -> int:
    """Return the rank up to which results are in row-major order, or may lie as they do.

    A ufunc gives a new array, and one of rank 1 is in row-major order.
    """
    if expression.shares:
        return _ANY_RANK
    return 1 if expression.broadcasts else 0


def take(calls: Sequence[_Call], slots: list[Any]) -> bool:
    """Make the calls in their order, freeing values after their last use.

    Return False as soon as one makes an array that is not in row-major order. A plan may write in
    its place into another array, and a sum then adds in another order.
    """
    for count, function, a, b, target, any_order, dead in calls:
        if count == 2:
            result = slots[target] = function(slots[a], slots[b])
        elif count == 1:
            result = slots[target] = function(slots[a])
        else:
            result = general(slots, function, a, target)
        if any_order and not is_row_major(result):
            return False
        for i in dead:
            slots[i] = None
    return True


def is_row_major(result: Any) -> bool:
    """Return whether an array, or each of several, is in row-major order."""
    if type(result) is np.ndarray:
        return result.flags.c_contiguous
    several = result if isinstance(result, (tuple, list)) else [result]
    arrays = [value for value in several if isinstance(value, np.ndarray)]  # the others are numbers
    return all([value.flags.c_contiguous for value in arrays])


def own_results(values: Sequence[Any], operands: Sequence[Any]) -> tuple[Any, ...]:
    """Return the results as arrays that share memory with nothing."""
    taken = {id(x) for x in operands}
    results = []
    for value in values:
        result = np.asarray(value)
        if id(result) in taken or result.base is not None or not result.flags.writeable:
            result = np.array(result)
        taken.add(id(result))
        results.append(result)
    return tuple(results)
