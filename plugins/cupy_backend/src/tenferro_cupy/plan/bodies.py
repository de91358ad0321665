"""Loops, branches and checkpoints whose bodies are plans, too.

A loop whose body is one chain is one launch. In any other loop a step launches the kernels of the
body's plan. Bodies are planned once, when the program that
contains them is. Read next: ``../_backend.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from tenferro.backend.numpy_like.control import branch_of, repeated
from tenferro.computegraph import Fragment
from tenferro.primitives.control import Checkpoint, Scan, Switch, WhileLoop
from tenferro_cupy.kernels.modules import Modules
from tenferro_cupy.plan.chunks import SteppedLoop
from tenferro_cupy.plan.loops import loop_of
from tenferro_cupy.plan.planned import Plan
from tenferro_cupy.plan.step import Run

__all__ = ["body_runner"]


class Body(Protocol):
    """A body as a function of its inputs, and its plan."""

    plan: Plan

    @property
    def launches(self) -> int:
        """About how many kernels a run launches."""

    def __call__(self, *operands: Any) -> Sequence[Any]:
        """Return the results."""


def body_runner(op: Any, plan_body: Callable[[Fragment], Body], modules: Modules) -> Run | None:
    """Return the function that runs an operation with bodies; None for any other operation."""
    make = _RUNNERS.get(type(op))
    return None if make is None else make(op, plan_body, modules)


def _scan(op: Scan, plan_body: Callable[[Fragment], Body], modules: Modules) -> Run:
    body = plan_body(op.body)
    in_one_launch = loop_of(op, body.plan, modules)
    if in_one_launch is not None:
        return in_one_launch
    return SteppedLoop(op, body, body.launches, modules.cupy)


def _while(op: WhileLoop, plan_body: Callable[[Fragment], Body], modules: Modules) -> Run:
    condition, body = plan_body(op.condition), plan_body(op.body)
    return lambda *xs: repeated(op, condition, body, xs)


def _switch(op: Switch, plan_body: Callable[[Fragment], Body], modules: Modules) -> Run:
    branches = [plan_body(branch) for branch in op.branches]
    return lambda index, *xs: branches[branch_of(index, len(branches))](*xs)


def _checkpoint(op: Checkpoint, plan_body: Callable[[Fragment], Body], modules: Modules) -> Run:
    return plan_body(op.body)


_RUNNERS: dict[type, Callable[..., Run]] = {
    Scan: _scan,
    WhileLoop: _while,
    Switch: _switch,
    Checkpoint: _checkpoint,
}
