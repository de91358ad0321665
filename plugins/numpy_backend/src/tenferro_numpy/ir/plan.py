"""A plan: lines over registers, and all that the executors need to run them.

Read next: `execution/interpreter.py`, `execution/codegen.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.extend import NamedTuple
from tenferro_numpy.ir.expression import Expression
from tenferro_numpy.ir.peak import Peak

__all__ = ["Line", "Plan", "Result"]


class Line(NamedTuple):
    """One line: an expression over registers (or literals: ~index), written to registers."""

    expression: Expression
    operands: tuple[int, ...]
    targets: tuple[int, ...]
    frees: tuple[int, ...]
    ends: tuple[int, ...]  # registers of Python's numbers that are not read again
    positions: tuple[int, ...]  # of its instructions in the program; none for a conversion

    @property
    def position(self) -> int | None:
        """The instruction that errors in this line are told of."""
        return self.positions[0] if self.positions else None


class Result(NamedTuple):
    """A result: where it is, and whether it must be copied to have no other reference."""

    operand: int  # a register, or a literal: ~index
    copied: bool
    scalar: bool


class Plan(NamedTuple):
    """Everything that the executors need."""

    input_count: int
    register_count: int
    unboxed: tuple[int, ...]  # inputs of rank 0 that are read as NumPy scalars
    literals: tuple[Any, ...]
    lines: tuple[Line, ...]
    results: tuple[Result, ...]
    peak: Peak  # of the memory that its lines make
    raises: bool  # a line on Python's numbers may raise, and running again from the start is cheap
    donated: tuple[int, ...]  # inputs that lines may write to
    passes: tuple[tuple[str, int], ...] = ()  # that made it, and the number of steps after each
