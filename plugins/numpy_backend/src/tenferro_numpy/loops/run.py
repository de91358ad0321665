"""Calls of loops, branches and checkpoints: each becomes one function of its operands.

The source of a loop is written when it first runs. A long body becomes a function of its own, which
the loop calls in each step. Read next: `loops/plan.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from tenferro.backend.extend import CollectorPaused
from tenferro.backend.lowering import LoweringTable
from tenferro.backend.numpy_like.control import branch_of, known, looped, repeated
from tenferro.computegraph import CompiledProgram, Fragment, compile_program, new_leaf
from tenferro.primitives import Aval
from tenferro.primitives.control import Checkpoint, Scan, Switch, WhileLoop
from tenferro_numpy.assignment import make_plan
from tenferro_numpy.execution.codegen import generate
from tenferro_numpy.execution.codegen_chunks import compiled
from tenferro_numpy.execution.interpreter import RUNS_BEFORE_SOURCE, PlanInterpreter
from tenferro_numpy.ir.expression import RAISED, Expression, Scalar
from tenferro_numpy.loops.plan import LoopPlan, LoopPlanner, Roles
from tenferro_numpy.loops.source import BranchSource, LoopSource
from tenferro_numpy.plan_options import PlanOptions
from tenferro_numpy.planner import planner_of
from tenferro_numpy.python_scalars import UNBOXED

__all__ = ["LOOPS", "loop_expression"]

_MAX_STEPS_IN_SOURCE = 500  # steps of a body above which it is a function that the loop calls
_MAX_EQUATIONS_IN_SOURCE = 200  # of all branches, above which each is planned when it runs
_SAVED_BY_NUMBERS = 200  # nanoseconds of a choice among branches on Python's numbers
_shared = lru_cache(maxsize=512)(compiled)


class Context:
    """The lowerings and options that plans of bodies need."""

    def __init__(self, table: LoweringTable, how: PlanOptions) -> None:
        self.table = table
        self.how = how._replace(donated=())

    def program(self, body: Fragment) -> CompiledProgram:
        """Return a closed graph as a program."""
        found: CompiledProgram = self.table.close(compile_program(body.flat))
        return found


class Body:
    """A closed graph as a function of its inputs."""

    def __init__(self, body: Fragment, context: Context) -> None:
        self.plan = make_plan(context.program(body), context.table, context.how)
        self.run: Any = PlanInterpreter(self.plan)
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


def _own(found: Sequence[Any], outputs: Sequence[int], carried: int) -> list[Any]:
    """Return results with copies of carries, which may share memory with operands."""
    return [np.array(x) if i < carried else x for x, i in zip(found, outputs, strict=True)]


class Written:
    """A loop in source: a function of its operands, which returns a tuple.

    `write` returns the function that makes it and its text, with lines that may raise or without.
    """

    def __init__(
        self, write: Callable[..., tuple[Callable[..., Any], str]], count: Sequence[int], fast: bool
    ) -> None:
        self._write = write
        self._count = count  # of steps, if it is known
        self.text = ""
        self._raising = self._made(fast=fast)
        self.run = self._fast if fast else self._raising

    def _made(self, *, fast: bool) -> Any:
        make, self.text = self._write(fast=fast)
        return make(*self._count)

    def _fast(self, *operands: Any) -> Any:
        """Run lines that may raise; if one does, run again and for ever lines that do not."""
        try:
            return self._raising(*operands)
        except RAISED:
            self.run = run = self._made(fast=False)
            return run(*operands)


@lru_cache(maxsize=256)
def _planned(
    body: Fragment, roles: Roles, table: LoweringTable, generation: int, how: PlanOptions
) -> tuple[LoopPlanner, LoopPlan | None]:
    """Plan a body; loops that differ in their length share it. There is no plan for a long body."""
    planner = _loop_planner(body, roles, Context(table, how))
    if len(planner.steps) > _MAX_STEPS_IN_SOURCE:
        return planner, None
    return planner, planner.loop_plan()


def _loop_planner(body: Fragment, roles: Roles, context: Context) -> LoopPlanner:
    """Return the planner of a body, with its steps."""

    def kind(program: CompiledProgram, table: LoweringTable, how: PlanOptions) -> LoopPlanner:
        return LoopPlanner(program, table, how, roles)

    planner: Any = planner_of(context.program(body), context.table, context.how, kind)
    found: LoopPlanner = planner
    return found


@lru_cache(maxsize=256)
def _source(
    body: Fragment, roles: Roles, table: LoweringTable, generation: int, how: PlanOptions,
    results: Sequence[int], *, counted: bool, reverse: bool, fast: bool,
) -> tuple[Callable[..., Any], str]:  # fmt: skip
    """Return the function that makes a loop of some number of steps, and its text."""
    planner, plan = _planned(body, roles, table, generation, how)
    assert plan is not None
    with CollectorPaused():
        source = LoopSource(planner, plan, results, counted=counted, reverse=reverse, fast=fast)
        return partial(_shared(source.text), *source.bound), source.text


def _written(
    body: Fragment, roles: Roles, context: Context, results: Sequence[int],
    count: Sequence[int] = (), *, reverse: bool = False,
) -> Written | None:  # fmt: skip
    """Write a loop; ``None`` if its body is long."""
    parts = body, roles, context.table, context.table.generation, context.how
    planner, plan = _planned(*parts)
    if plan is None:
        return None
    write = partial(_source, *parts, tuple(results), counted=bool(count), reverse=reverse)
    return Written(write, count, planner.raises())


class Loop:
    """A loop of known length as a function of its operands."""

    def __init__(self, op: Scan, context: Context) -> None:
        self.op = op
        self.context = context
        self.written: Written | None = None
        self.body: Body | None = None

    def __call__(self, *operands: Any) -> Any:
        """Run the steps; a single result is not in a tuple."""
        written = self.written
        if written is not None:
            return _single(written.run(*operands))
        if self.body is None:
            self._write()
            if self.body is None:
                return self(*operands)
        found = looped(self.op, self.body.prepared(self.op.length), np, operands)
        return _single(_own(found, self.op.outputs, self.op.carried))

    def _write(self) -> None:
        op = self.op
        stacked = tuple(dict.fromkeys([i for i in op.outputs if i >= op.carried]))
        roles = Roles(op.consts, op.carried, stacked, op.offloaded, op.offload or "")
        self.written = _written(
            op.body, roles, self.context, op.outputs, (op.length,), reverse=op.reverse
        )
        if self.written is None:
            self.body = Body(op.body, self.context)

    def described(self) -> str:
        """Return the source."""
        if self.written is None and self.body is None:
            self._write()
        return "" if self.written is None else f"{self!r}\n{self.written.text}"

    def __repr__(self) -> str:
        return f"<Loop of {self.op.length} steps of {self.op.body!r}>"


class Choice:
    """A choice among branches as a function of its operands; a branch is planned when it runs."""

    def __init__(self, op: Switch, context: Context) -> None:
        self.op = op
        self.context = context
        self.branches: dict[int, Body] = {}

    def __call__(self, index: Any, *operands: Any) -> Any:
        """Run one branch; a single result is not in a tuple."""
        number = branch_of(index, len(self.op.branches))
        return _single(self._body(number).prepared(1)(*operands))

    def _body(self, number: int) -> Body:
        body = self.branches.get(number)
        if body is None:
            body = self.branches[number] = Body(self.op.branches[number], self.context)
        return body

    def described(self) -> str:
        """Return the source of the loops in each branch."""
        texts = [f"{self!r}\n"]
        for number in range(len(self.op.branches)):
            lines = self._body(number).plan.lines
            parts = [line.expression.bound[0] for line in lines if line.expression.bound]
            loops = [part.described() for part in parts if hasattr(part, "described")]
            texts += [f"branch {number}: {text}" for text in loops]
        return "\n".join(texts)

    def __repr__(self) -> str:
        return f"<Choice of {len(self.op.branches)} branches>"


class Recomputation:
    """A checkpoint as a function of its operands; what its body computes is freed when it ends."""

    def __init__(self, op: Checkpoint, context: Context) -> None:
        self.op = op
        self.context = context
        self.body: Body | None = None

    def __call__(self, *operands: Any) -> Any:
        """Run the body; a single result is not in a tuple."""
        if self.body is None:
            self.body = Body(self.op.body, self.context)
        return _single(self.body.prepared(1)(*operands))

    def __repr__(self) -> str:
        return f"<Recomputation of {self.op.body!r}>"


class Repetition:
    """A loop with a condition as a function of its operands."""

    def __init__(self, op: WhileLoop, context: Context) -> None:
        self.op = op
        self.context = context
        self.condition: Body | None = None
        self.body: Body | None = None
        self.written: Written | None = None

    def __call__(self, *operands: Any) -> Any:
        """Run the steps; a single result is not in a tuple."""
        if self.condition is None:
            self.condition = Body(self.op.condition, self.context)
        condition = self.condition.prepared(1)
        if not known(condition(*operands)[0]):
            carry = operands[self.op.consts :]
            return _single([np.array(carry[i]) for i in self.op.outputs])
        if self.written is None and self.body is None:
            self._write()
        if self.written is not None:
            return _single(self.written.run(*operands))
        assert self.body is not None
        body = self.body.prepared(RUNS_BEFORE_SOURCE)  # loops are written to run often
        found = repeated(self.op, condition, body, operands)
        return _single(_own(found, self.op.outputs, self.op.carried))

    def _write(self) -> None:
        """Write body and condition as one: a step gives the next carry, and whether to go on."""
        op = self.op
        inputs = [new_leaf(f"x{i}", aval) for i, aval in enumerate(op.body.input_avals)]
        carry = op.body.apply(inputs)
        test = op.condition.apply([*inputs[: op.consts], *carry])
        step = Fragment.of(inputs, [*carry, *test])
        self.written = _written(step, Roles(op.consts, op.carried), self.context, op.outputs)
        if self.written is None:
            self.body = Body(op.body, self.context)

    def described(self) -> str:
        """Return the source."""
        if self.written is None and self.body is None:
            self._write()
        return "" if self.written is None else f"{self!r}\n{self.written.text}"

    def __repr__(self) -> str:
        return f"<Repetition of {self.op.body!r}>"


def _branches(
    op: Switch, context: Context, *, numbers: bool, fast: bool
) -> tuple[tuple[Any, ...], bool]:
    """Return the branches as functions in source, and whether their results are new arrays."""
    found = []
    is_new = True
    for branch in op.branches:
        roles = Roles(len(branch.input_avals), 0)
        planner = _loop_planner(branch, roles, context)
        new = {i for step in planner.steps if not step.expression.shares for i in step.targets}
        several = len({*planner.outputs}) != len(planner.outputs)  # one array twice
        is_new = is_new and not several and new.issuperset(planner.outputs)
        source = BranchSource(planner, planner.loop_plan(), numbers=numbers, fast=fast)
        found.append(_shared(source.text)(*source.bound))
    return tuple(found), is_new


def _is_short(op: Switch) -> bool:
    """Return True for branches without loops and branches inside that have few equations."""
    operations = [operation for branch in op.branches for operation, _ in branch.equations]
    nested = any([hasattr(operation, "bodies") for operation in operations])
    return len(operations) <= _MAX_EQUATIONS_IN_SOURCE and not nested


def _chosen(op: Switch, avals: Sequence[Aval], context: Context) -> Expression:
    """Write the choice among branches that are there as functions."""
    operands = ", ".join([f"{{{i}}}" for i in range(1, len(avals))])
    if avals[0].dtype.is_bool and len(op.branches) == 2:
        text = f"({{p1}} if {{0}} else {{p0}})({operands})"
    elif (
        len(op.branches) == 1
    ):  # the index is read all the same, so that operands keep their places
        text = f"({{p0}}, {{0}})[0]({operands})"
    else:
        last = len(op.branches) - 1
        text = "".join([f"{{p{i}}} if {{0}} <= {i} else " for i in range(last)])
        text = f"({text}{{p{last}}})({operands})"
    plain, is_new = _branches(op, context, numbers=False, fast=False)
    found = Expression(text, plain, shares=not is_new)
    if not UNBOXED.issuperset((*avals, *op.branches[0].output_avals)):
        return found
    safe = Expression(text, _branches(op, context, numbers=True, fast=False)[0])
    fast = Expression(text, _branches(op, context, numbers=True, fast=True)[0])
    scalar = Scalar(fast._replace(safe=safe.function()), _SAVED_BY_NUMBERS)
    return found._replace(scalar=scalar)


LOOPS: dict[type, Any] = {
    Checkpoint: Recomputation,
    Scan: Loop,
    Switch: Choice,
    WhileLoop: Repetition,
}


def loop_expression(
    op: Any, avals: Sequence[Aval], table: LoweringTable, how: PlanOptions
) -> Expression:
    """Write the call of a loop or branch over operands of these avals."""
    context = Context(table, how)
    if type(op) is Switch and _is_short(op):
        return _chosen(op, avals, context)
    operands = ", ".join([f"{{{i}}}" for i in range(len(avals))])
    made = LOOPS[type(op)](op, context)
    return Expression(f"{{p0}}({operands})", (made,), shares=type(op) in (Checkpoint, Switch))
