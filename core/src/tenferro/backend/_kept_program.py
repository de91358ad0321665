"""A program as bytes, for executables that another process makes again.

Read next: ``kept/forms.py``.
"""

from __future__ import annotations

import pickle
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import CompiledProgram
from tenferro.computegraph._compile import from_instructions
from tenferro.primitives._source import source_text


class KeptProgram(NamedTuple):
    """A program as bytes, which only reports and errors read; lines of the user are texts."""

    inputs: range
    content: bytes

    @classmethod
    def of(cls, program: CompiledProgram) -> KeptProgram:
        """Write a program."""
        rows = [_parts(row) for row in program.nodes]
        parts = program.input_names, rows, program.outputs, program.avals
        return cls(range(len(program.inputs)), pickle.dumps(parts))

    def read(self) -> CompiledProgram:
        """Return the program."""
        found: CompiledProgram = from_instructions(*pickle.loads(self.content))
        return found


def _parts(row: Any) -> tuple[Any, ...]:
    """Return an instruction without the slots that are dead after it."""
    return row.operation, row.inputs, row.outputs, row.role, source_text(row.source)
