"""Notes on an error in one equation of a program: the equation, what ran it, the user's line.

Read next: ``interpreter.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.backend.base import Backend
from tenferro.backend.lowering import key_of
from tenferro.computegraph import CompiledProgram, Operation
from tenferro.primitives._source import source_text


def equation_notes(program: CompiledProgram, position: int, executed: str) -> list[str]:
    """Return the notes on an error in the equation at a position.

    ``executed`` is the note about what ran it, such as that of ``lowering_note``.
    """
    node = program.nodes[position]
    operands = "  ".join([f"%{i}: {program.avals[i]}" for i in node.inputs])
    notes = [f"  equation   {program.equation(position)}    {operands}".rstrip(), executed]
    line = source_text(node.source)
    return notes if line is None else [*notes, f"  from       {line}"]


def lowering_note(backend: Backend, operation: Operation, avals: Sequence[Any]) -> str:
    """Return the note that names the lowering of an operation, and who provides it."""
    provider = backend.lowerings.provider_of(operation, avals) or backend.provider or "unknown"
    return f"  lowering   {key_of(operation)} on {backend.name}, by {provider}"


def loop_hint(operation: Operation) -> list[str]:
    """Return the hint for an error in a loop or branch, whose body has lines of its own."""
    if not hasattr(operation, "bodies"):
        return []
    return ["  hint       `with tn.debug.unrolled():` shows the line and the step"]
