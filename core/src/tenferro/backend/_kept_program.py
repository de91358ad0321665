"""A program as bytes, for executables that another process makes again.

Read next: ``kept/forms.py``.
"""

from __future__ import annotations

import pickle
import sys
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import CompiledProgram
from tenferro.computegraph._compile import program_from_rows
from tenferro.primitives._source import line_number, line_text, source_text


class KeptProgram(NamedTuple):
    """A program as bytes, which only reports and errors read.

    Lines of the user are texts with the places where they stood. Another program or an edited one
    may find this one: so a line is named only if this process has loaded its file, and the line
    still reads the same.
    """

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
        names, rows, outputs, avals = pickle.loads(self.content)
        files = {getattr(module, "__file__", None) for module in [*sys.modules.values()]}
        rows = [(*row, _line_now(line, files)) for *row, line in rows]
        found: CompiledProgram = program_from_rows(names, rows, outputs, avals)
        return found


def _parts(row: Any) -> tuple[Any, ...]:
    """Return an instruction without the slots that are dead after it."""
    return row.operation, row.inputs, row.outputs, row.role, _line_of(row.source)


def _line_of(source: Any) -> tuple[str, int | None, str | None] | None:
    """Return file, number and text of a source."""
    if source is None or isinstance(source, str):
        return None
    return source[0].co_filename, line_number(source), source_text(source)


def _line_now(line: Any, files: set[str | None]) -> str | None:
    """Return the text of a line, if one of these files has it still."""
    if line is None or line[0] not in files:
        return None
    filename, number, text = line
    return text if number is None or text == line_text(filename, number) else None
