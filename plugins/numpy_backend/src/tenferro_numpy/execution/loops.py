"""Loops and branches: each closed graph has a plan of its own.

A body runs interpreted, and as generated source once it has run often. Read next: `planner.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tenferro.backend.numpy_like.control import branch_of, looped, repeated
from tenferro.computegraph import Fragment
from tenferro.primitives.control import Scan, Switch, WhileLoop
from tenferro_numpy.execution.codegen import generate
from tenferro_numpy.execution.interpreter import RUNS_BEFORE_SOURCE, Interpreter
from tenferro_numpy.ir.expression import Expression
from tenferro_numpy.ir.plan import Plan

__all__ = ["LOOPS", "loop_expression"]

PlanOf = Callable[[Fragment], Plan]


class Body:
    """A closed graph as a function of its inputs."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.run: Any = Interpreter(self.plan)
        self.left = RUNS_BEFORE_SOURCE

    def prepared(self, runs: int) -> Any:
        """Return the function that runs it; from some number of runs on, as source."""
        if self.left > 0:
            self.left -= runs
            if self.left <= 0:
                self.run = generate(self.plan).compile()
        return self.run


def _single(found: Any) -> Any:
    return found[0] if len(found) == 1 else tuple(found)


class Loop:
    """A loop of known length as a function of its operands."""

    def __init__(self, op: Scan, plan_of: PlanOf) -> None:
        self.op = op
        self.body = Body(plan_of(op.body))

    def __call__(self, *operands: Any) -> Any:
        """Run the steps; a single result is not in a tuple."""
        return _single(looped(self.op, self.body.prepared(self.op.length), np, operands))

    def __repr__(self) -> str:
        return f"<Loop of {self.op.length} steps of {self.op.body!r}>"


class Choice:
    """A choice among branches as a function of its operands; a branch is planned when it runs."""

    def __init__(self, op: Switch, plan_of: PlanOf) -> None:
        self.op = op
        self.plan_of = plan_of
        self.branches: dict[int, Body] = {}

    def __call__(self, index: Any, *operands: Any) -> Any:
        """Run one branch; a single result is not in a tuple."""
        number = branch_of(index, len(self.op.branches))
        body = self.branches.get(number)
        if body is None:
            body = self.branches[number] = Body(self.plan_of(self.op.branches[number]))
        return _single(body.prepared(1)(*operands))

    def __repr__(self) -> str:
        return f"<Choice of {len(self.op.branches)} branches>"


class Repetition:
    """A loop with a condition as a function of its operands."""

    def __init__(self, op: WhileLoop, plan_of: PlanOf) -> None:
        self.op = op
        self.condition = Body(plan_of(op.condition))
        self.body = Body(plan_of(op.body))

    def __call__(self, *operands: Any) -> Any:
        """Run the steps; a single result is not in a tuple."""
        runs = RUNS_BEFORE_SOURCE  # unknown, and loops are written to run often
        condition, body = self.condition.prepared(runs), self.body.prepared(runs)
        return _single(repeated(self.op, condition, body, operands))

    def __repr__(self) -> str:
        return f"<Repetition of {self.op.body!r}>"


LOOPS: dict[type, Any] = {Scan: Loop, Switch: Choice, WhileLoop: Repetition}


def loop_expression(op: Any, count: int, plan_of: PlanOf) -> Expression:
    """Write the call of a loop or branch over so many operands."""
    operands = ", ".join([f"{{{i}}}" for i in range(count)])
    return Expression(f"{{p0}}({operands})", (LOOPS[type(op)](op, plan_of),), shares=True)
