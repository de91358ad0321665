"""Loops and branches on NumPy: each closed graph has a plan of its own.

A body runs interpreted, and as generated source once it has run often. Read next: `planner.py` of
the package.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenferro.backend.lowering import LoweringTable
from tenferro.backend.numpy_like.control import branch_of, looped, repeated
from tenferro.computegraph import Fragment, compile_program
from tenferro.primitives import Aval
from tenferro.primitives.control import Scan, Switch, WhileLoop
from tenferro_numpy.execution.codegen import generate
from tenferro_numpy.execution.interpreter import RUNS_BEFORE_SOURCE, Interpreter
from tenferro_numpy.ir.expression import Expression, Specialize

__all__ = ["EXPRESSIONS"]


class Body:
    """A closed graph as a function of its inputs."""

    def __init__(self, fragment: Fragment, table: LoweringTable) -> None:
        from tenferro_numpy.planner import make_plan  # noqa: PLC0415 - it plans loops by this module

        self.plan = make_plan(table.close(compile_program(fragment.flat)), table)
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

    def __init__(self, op: Scan, table: LoweringTable) -> None:
        self.op = op
        self.body = Body(op.body, table)

    def __call__(self, *operands: Any) -> Any:
        """Run the steps; a single result is not in a tuple."""
        return _single(looped(self.op, self.body.prepared(self.op.length), np, operands))

    def __repr__(self) -> str:
        return f"<Loop of {self.op.length} steps of {self.op.body!r}>"


class Choice:
    """A choice among branches as a function of its operands; a branch is planned when it runs."""

    def __init__(self, op: Switch, table: LoweringTable) -> None:
        self.op = op
        self.table = table
        self.branches: dict[int, Body] = {}

    def __call__(self, index: Any, *operands: Any) -> Any:
        """Run one branch; a single result is not in a tuple."""
        number = branch_of(index, len(self.op.branches))
        body = self.branches.get(number)
        if body is None:
            body = self.branches[number] = Body(self.op.branches[number], self.table)
        return _single(body.prepared(1)(*operands))

    def __repr__(self) -> str:
        return f"<Choice of {len(self.op.branches)} branches>"


class Repetition:
    """A loop with a condition as a function of its operands."""

    def __init__(self, op: WhileLoop, table: LoweringTable) -> None:
        self.op = op
        self.condition = Body(op.condition, table)
        self.body = Body(op.body, table)

    def __call__(self, *operands: Any) -> Any:
        """Run the steps; a single result is not in a tuple."""
        runs = RUNS_BEFORE_SOURCE  # unknown, and loops are written to run often
        condition, body = self.condition.prepared(runs), self.body.prepared(runs)
        return _single(repeated(self.op, condition, body, operands))

    def __repr__(self) -> str:
        return f"<Repetition of {self.op.body!r}>"


_MADE: dict[type, Any] = {Scan: Loop, Switch: Choice, WhileLoop: Repetition}


def _call(op: Any, avals: tuple[Aval, ...], result: Aval, function: Any) -> Expression:
    operands = ", ".join([f"{{{i}}}" for i in range(len(avals))])
    made = _MADE[type(op)](op, function.args[0])
    return Expression(f"{{p0}}({operands})", (made,), shares=True)


EXPRESSIONS: dict[type, Specialize] = dict.fromkeys(_MADE, _call)
