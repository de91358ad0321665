"""A program before it is planned to the end: its steps can run once as they are.

Many programs run once: a loop of a length that never comes again. To choose registers, memory and
results costs more than such a run. The steps compute the same, to the last bit, because whatever
decides on a value is decided before. Read next: `planner.py`, `executable.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from tenferro.backend.lowering import LoweringTable
from tenferro.computegraph import CompiledProgram
from tenferro_numpy.ir.expression import Expression
from tenferro_numpy.ir.literals import Literals
from tenferro_numpy.ir.liveness import dying_after
from tenferro_numpy.ir.plan import Plan
from tenferro_numpy.ir.step import Step
from tenferro_numpy.memory.ownership import size_of
from tenferro_numpy.planner import How, Planner, planner_of

__all__ = ["Draft"]

_SMALL = 1 << 20  # bytes of all values of a program, below which none is freed before its end

#: told of the instruction in which an error was raised
Note = Callable[[Exception, int], None]


class Draft:
    """A program that is planned when it runs for the second time, or when its plan is asked for."""

    def __init__(self, program: CompiledProgram, table: LoweringTable, how: How) -> None:
        self._made_of = program, table, how
        planner = planner_of(program, table, how)
        self._planners = [planner]  # none while its steps run, and once they are a plan
        self._plan: Plan | None = None
        self._is_new = is_plain(planner)
        self.donated = how.donated
        if not self._is_new:
            self._finish()

    @property
    def plan(self) -> Plan:
        """The plan, which is made now if it is not there yet."""
        return self._plan or self._finish()

    def _finish(self) -> Plan:
        """Make the plan; two threads that meet here may both make one."""
        self._is_new = False
        how = self._made_of[2]
        try:
            planner = self._planners.pop()
        except IndexError:
            planner = planner_of(*self._made_of)
        self._plan = plan = planner.finish(reusing=how.elide)
        return plan

    def first_run(self, operands: tuple[Any, ...], note: Note) -> tuple[Any, ...] | None:
        """Return the results of the first run; `None` if the plan must run."""
        if not self._is_new:
            return None
        self._is_new = False
        try:
            planner = self._planners.pop()
        except IndexError:  # another thread has it
            return None
        try:
            return Run(planner, operands)(operands, note)
        finally:
            self._planners.append(planner)


def is_plain(planner: Planner) -> bool:
    """Return True if steps can run before they are a plan: small arrays, only our lowerings."""
    return not (
        planner.has_regions
        or planner.blocks
        or planner.numbers
        or planner.donated
        or any([expression.foreign for expression in planner.memo.values()])
    )


class Run:
    """The only run of the steps of a plain program."""

    def __init__(self, planner: Planner, operands: tuple[Any, ...]) -> None:
        self.steps = planner.steps
        self.avals = planner.avals
        self.literals = planner.literals
        self.outputs = planner.outputs
        self.slots: list[Any] = [None] * len(self.avals)
        self.slots[: len(operands)] = operands
        for i in planner.unboxed_inputs():
            self.slots[i] = operands[i][()]
        made = Literals(self.literals, planner.table)
        values = {op: made.evaluate(op) for op in set(self.literals.values())}
        for slot, op in self.literals.items():
            self.slots[slot] = values[op]
        self.functions: dict[int, Callable[..., Any]] = {}

    def __call__(self, operands: tuple[Any, ...], note: Note) -> tuple[Any, ...] | None:
        """Return the results; `None` if an array does not lie in memory as a plan requires.

        `note` is told of the instruction in which an error is raised.
        """
        done: Any = iter(self.steps)  # its length hint says how far it came
        try:
            if not self.take(done):
                return None
        except Exception as error:
            position = len(self.steps) - done.__length_hint__() - 1
            if self.steps[position].positions:
                note(error, self.steps[position].positions[0])
            raise
        return own_results([self.slots[i] for i in self.outputs], operands)

    def take(self, steps: Iterable[Step]) -> bool:
        """Take the steps in their order, freeing each value after its last use.

        False as soon as one makes an array that is not in row-major order. A plan may write in its
        place into another array, and a sum then adds in another order.
        """
        slots, avals, functions = self.slots, self.avals, self.functions
        for step, dead in zip(steps, self.dying(), strict=False):
            expression, operands, targets = step.expression, step.operands, step.targets
            function = functions.get(id(expression)) or self.function_of(expression)
            target = targets[0]
            if not avals[target].shape:
                result = function(*self.operands_of(step))
            elif len(operands) == 2:
                result = function(slots[operands[0]], slots[operands[1]])
            else:
                result = function(*[slots[i] for i in operands])
            if len(targets) == 1:
                slots[target] = result
                if not (expression.shares or result.flags.c_contiguous):
                    return False
            elif not self.store(targets, result):
                return False
            for i in dead:
                slots[i] = None
        return True

    def function_of(self, expression: Expression) -> Callable[..., Any]:
        """Make the function of an expression, for all its steps."""
        function = self.functions[id(expression)] = expression.function()
        return function

    def dying(self) -> Iterable[Sequence[int]]:
        """Return the slots to free after each step; none if all values together are small."""
        counts = Counter(self.avals)
        if sum([count * size_of(aval) for aval, count in counts.items()]) <= _SMALL:
            return repeat(())
        return dying_after(self.steps, (*self.outputs, *self.literals), len(self.avals))

    def operands_of(self, step: Step) -> list[Any]:
        """Return the operands of a step of rank 0, which reads literals as NumPy scalars."""
        slots, literals = self.slots, self.literals
        return [slots[i][()] if i in literals else slots[i] for i in step.operands]

    def store(self, targets: Sequence[int], results: Sequence[Any]) -> bool:
        """Put several results into their slots; whether all are in row-major order."""
        for i, value in zip(targets, results, strict=True):
            self.slots[i] = value
        return all([value.flags.c_contiguous for value in results])


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
