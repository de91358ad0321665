"""Rewrites of the bodies of loops and branches, and operations that lower themselves.

Lowerings of loops know the table of lowerings alone. What the compilation of a program does to
bodies is in force while JAX traces the program, in that thread. Read next:
``lowerings/control.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from tenferro.backend.lowering import LoweringTable
from tenferro.computegraph import CompiledProgram, Operation

__all__ = ["OwnOperation", "rewriting_bodies", "rewritten_body"]

Rewrite = Callable[[CompiledProgram], CompiledProgram]

_in_force: ContextVar[Rewrite | None] = ContextVar("rewrite of bodies", default=None)


class OwnOperation(Operation):
    """An operation that this backend puts into programs, and no table has a lowering for."""

    def lowered(self, table: LoweringTable) -> Callable[..., Any]:
        """Return the function of JAX that runs it, which is given it and its operands."""
        raise NotImplementedError


@contextmanager
def rewriting_bodies(rewrite: Rewrite) -> Iterator[None]:
    """Apply a rewrite to every body that is traced in this context, nested ones included."""
    token = _in_force.set(rewrite)
    try:
        yield
    finally:
        _in_force.reset(token)


def rewritten_body(program: CompiledProgram) -> CompiledProgram:
    """Return the program of a body, rewritten if that is in force."""
    rewrite = _in_force.get()
    return program if rewrite is None else rewrite(program)
