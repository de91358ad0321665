"""Typed errors for XLA's refusals: one class per kind of fault, the equation as a field.

XLA reports a status and a text. ``translated`` reads the status, says whose fault it is, and names
the equation that most probably caused it. Read next: ``_compile.py``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from tenferro.backend import BackendError
from tenferro.computegraph import CompiledProgram


class XlaError(BackendError):
    """Report what XLA could not do. Fields: ``backend``, ``status``, ``equation``, ``device``."""


class OutOfMemoryError(XlaError, MemoryError):
    """Report that a device has not enough memory. Fields as its parent."""


class RejectedProgramError(XlaError, ValueError):
    """Report a program or a compiler option that XLA does not accept. Fields as its parent."""


class InternalCompilerError(XlaError):
    """Report a fault inside XLA. Fields as its parent."""


class MatrixError(XlaError, np.linalg.LinAlgError):
    """Report, with ``check_errors``, a matrix without factors or without an inverse.

    Fields: ``backend``, ``primitive``, ``equation``.
    """


class IntegerError(XlaError, ArithmeticError):
    """Report, with ``check_errors``, a quotient or a power that no integer is. Fields: as above."""


class DeviceMismatchError(BackendError, ValueError):
    """Report operands on other devices than the program's. Fields: ``backend``, ``devices``."""


class ForkedProcessError(BackendError, RuntimeError):
    """Report XLA in a forked child of a process that has used it. Fields: ``backend``."""


class CompilerOptionWarning(UserWarning):
    """Warn that an option is unknown to this version of XLA and was dropped."""


_CLASSES: dict[str, tuple[type[XlaError], str]] = {
    "RESOURCE_EXHAUSTED": (OutOfMemoryError, "not enough memory"),
    "INVALID_ARGUMENT": (RejectedProgramError, "XLA does not accept this"),
    "INTERNAL": (InternalCompilerError, "XLA failed internally; the program is not at fault"),
}


def status_of(error: Exception) -> str:
    """``RESOURCE_EXHAUSTED`` of "RESOURCE_EXHAUSTED: Out of memory …"; empty if there is none."""
    found = re.match(r"\s*([A-Z_]{4,}):", str(error))
    return found.group(1) if found else ""


def translated(
    error: Exception, program: CompiledProgram, positions: Sequence[int], device: str
) -> XlaError:
    """Make the typed error for what XLA raised while compiling or running some instructions."""
    status = status_of(error)
    cls, fact = _CLASSES.get(status, (XlaError, "XLA failed"))
    equation = _largest(program, positions)
    first_line = str(error).strip().partition("\n")[0]
    lines = [f"xla: {fact}", f"  because    {first_line[:300]}", f"  device     {device}"]
    if equation:
        of = "" if len(positions) == 1 else f"    the largest of {len(positions)}"
        lines.append(f"  equation   {equation}{of}")
    return cls("\n".join(lines), backend="xla", status=status, equation=equation, device=device)


def _largest(program: CompiledProgram, positions: Sequence[int]) -> str:
    """Return the equation with the largest results."""

    def size(position: int) -> int:
        slots = program.instructions[position].outputs
        return sum(program.avals[i].size * program.avals[i].dtype.itemsize for i in slots)

    return program.equation(max(positions, key=size)) if positions else ""


def unknown_option(error: Exception) -> str | None:
    """Return the name of the compiler option that XLA rejects, if that is its complaint."""
    found = re.search(r"No such compile option: '([^']+)'", str(error))
    return found.group(1) if found else None
