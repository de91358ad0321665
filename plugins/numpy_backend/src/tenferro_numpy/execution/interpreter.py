"""The interpreter of plans: for programs that run too rarely to be worth compiling.

CPython's compiler costs as much per line as a hundred runs of it save, so a program is interpreted
until it has run that often, and a very long one always. The calls are the same as in the generated
source. Read next: `row_blocks.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from types import TracebackType
from typing import Any

import numpy as np

from tenferro.backend.extend import CollectorPaused
from tenferro_numpy.ir.plan import Line, Plan

__all__ = ["RUNS_BEFORE_SOURCE", "PlanInterpreter", "general"]

RUNS_BEFORE_SOURCE = 64  # compiling a line costs about as much as interpreting it saves in 100 runs

#: (line number, seconds, results)
Observe = Callable[[int, float, tuple[Any, ...]], None]
#: number of operands (4: any), function, operands, targets (an int: one result), frees
_Step = tuple[int, Callable[..., Any], Any, int, int, Any, tuple[int, ...]]


class PlanInterpreter:
    """Runs the lines of a plan over a list of registers and literals."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._functions: dict[int, Callable[..., Any]] = {}
        self._start = [None] * plan.register_count + list(plan.literals)
        self._literals_at = plan.register_count
        with CollectorPaused():
            self._steps = [self._step(line) for line in plan.lines]
        self._functions.clear()

    def _step(self, line: Line) -> _Step:
        function = self._functions.get(id(line.expression))
        if function is None:
            function = self._functions[id(line.expression)] = line.expression.function()
        operands = tuple([self._place(i) for i in line.operands])
        targets: Any = line.targets[0] if len(line.targets) == 1 else line.targets
        count = len(operands)
        if 1 <= count <= 3 and type(targets) is int:
            a, b, c = (*operands, 0, 0)[:3]
            return count, function, a, b, c, targets, line.frees
        return 4, function, operands, 0, 0, targets, line.frees

    def _place(self, operand: int) -> int:
        return operand if operand >= 0 else self._literals_at + ~operand

    def __reduce__(self) -> tuple[object, ...]:
        return PlanInterpreter, (self.plan,)

    def __call__(self, *operands: Any) -> tuple[Any, ...]:
        """Run the lines in order, freeing each value after its last use."""
        slots = self._begin(operands)
        del operands
        steps = iter(self._steps)  # its length hint says, to `position`, how far it came
        for count, function, a, b, c, target, frees in steps:
            if count == 2:
                slots[target] = function(slots[a], slots[b])
            elif count == 1:
                slots[target] = function(slots[a])
            elif count == 3:
                slots[target] = function(slots[a], slots[b], slots[c])
            else:
                general(slots, function, a, target)
            for i in frees:
                slots[i] = None
        return self._results(slots)

    def observed(self, operands: tuple[Any, ...], observe: Observe) -> tuple[Any, ...]:
        """Run, and tell `observe(line number, seconds, results)` of each line."""
        slots = self._begin(operands)
        steps = iter(self._steps)
        for number, (count, function, a, b, c, target, frees) in enumerate(steps):
            inputs = (a, b, c)[:count] if count <= 3 else a
            start = perf_counter()
            general(slots, function, inputs, target)
            seconds = perf_counter() - start
            targets = (target,) if type(target) is int else target
            observe(number, seconds, tuple([slots[i] for i in targets]))
            for i in frees:
                slots[i] = None
        return self._results(slots)

    def _begin(self, operands: tuple[Any, ...]) -> list[Any]:
        slots = self._start.copy()
        slots[: len(operands)] = operands
        for i in self.plan.unboxed:
            slots[i] = slots[i][()]
        return slots

    def _results(self, slots: list[Any]) -> tuple[Any, ...]:
        return tuple(
            [
                np.array(slots[self._place(operand)]) if copied else np.asarray(slots[operand])
                for operand, copied, _ in self.plan.results
            ]
        )

    def position(self, trace: TracebackType | None) -> int | None:
        """Return the instruction in which an error was raised; `None` if in none of ours."""
        while trace is not None:
            frame = trace.tb_frame
            if frame.f_code in _RUNNING and frame.f_locals.get("self") is self:
                steps = frame.f_locals.get("steps")
                if steps is None:
                    return None
                done = len(self._steps) - steps.__length_hint__()
                return self.plan.lines[done - 1].position if done else None
            trace = trace.tb_next
        return None


def general(slots: list[Any], function: Callable[..., Any], inputs: Any, target: Any) -> Any:
    """Call a function of any number of operands, store its results in slots and return them."""
    result = function(*[slots[i] for i in inputs])
    if type(target) is int:
        slots[target] = result
        return result
    if not isinstance(result, (tuple, list)) or len(result) != len(target):
        raise ValueError(f"got {type(result).__name__}, need a tuple of {len(target)} results")
    for i, value in zip(target, result, strict=True):
        slots[i] = value
    return result


_RUNNING = frozenset(
    method.__code__ for method in (PlanInterpreter.__call__, PlanInterpreter.observed)
)
