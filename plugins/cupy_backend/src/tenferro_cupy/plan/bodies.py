"""Loops, branches and checkpoints whose bodies are plans, too.

The loop itself is Python's, as in ``numpy_like``; a step launches the kernels of the body's plan.
Bodies are planned once, when the program that contains them is. Read next: ``planned.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.backend.numpy_like.control import branch_of, looped, repeated
from tenferro.computegraph import Fragment
from tenferro.primitives.control import Checkpoint, Scan, Switch, WhileLoop
from tenferro_cupy.plan.step import Run

__all__ = ["body_runner"]

#: a body as a function of its inputs
Body = Callable[..., Sequence[Any]]


def body_runner(op: Any, plan_body: Callable[[Fragment], Body], xp: Any) -> Run | None:
    """Return the function that runs an operation with bodies; None for any other operation."""
    make = _RUNNERS.get(type(op))
    return None if make is None else make(op, plan_body, xp)


def _scan(op: Scan, plan_body: Callable[[Fragment], Body], xp: Any) -> Run:
    body = plan_body(op.body)
    return lambda *xs: looped(op, body, xp, xs)


def _while(op: WhileLoop, plan_body: Callable[[Fragment], Body], xp: Any) -> Run:
    condition, body = plan_body(op.condition), plan_body(op.body)
    return lambda *xs: repeated(op, condition, body, xs)


def _switch(op: Switch, plan_body: Callable[[Fragment], Body], xp: Any) -> Run:
    branches = [plan_body(branch) for branch in op.branches]
    return lambda index, *xs: branches[branch_of(index, len(branches))](*xs)


def _checkpoint(op: Checkpoint, plan_body: Callable[[Fragment], Body], xp: Any) -> Run:
    return plan_body(op.body)


_RUNNERS: dict[type, Callable[..., Run]] = {
    Scan: _scan,
    WhileLoop: _while,
    Switch: _switch,
    Checkpoint: _checkpoint,
}
