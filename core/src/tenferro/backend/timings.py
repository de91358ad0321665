"""Timings of the equations of a program, as text, as a trace for a viewer, and for notebooks.

An executable's ``profile`` returns them. The trace has the Trace Event Format, which
chrome://tracing and Perfetto (ui.perfetto.dev) load. Read next: ``bars.py``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import CompiledProgram
from tenferro.primitives._source import source_text

__all__ = ["Timing", "Timings", "timing_of"]


class Timing(NamedTuple):
    """Seconds that a backend spent on one equation.

    ``line`` is the user's line that recorded it. A backend that computes several equations together
    names the further ones in ``others``.
    """

    equation: str
    seconds: float
    line: str = ""
    others: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The equation on one line, with the number of those that were computed with it."""
        text = " ".join(self.equation.split())
        return f"{text}   and {len(self.others)} more" if self.others else text


def timing_of(program: CompiledProgram, positions: Sequence[int], seconds: float) -> Timing:
    """Return the row for the equations of a program that were computed together."""
    first, *others = [program.equation(i) for i in positions]
    line = source_text(program.instructions[positions[0]].source) or ""
    return Timing(first, seconds, line, tuple(others))


class Timings(tuple[Timing, ...]):
    """Seconds per equation, in the order of execution; prints as a table.

    >>> from tenferro.backend import Timings
    >>> from tenferro.backend.timings import Timing
    >>> print(Timings([Timing("%1 = sin %0", 2e-6, "model.py:3   y = np.sin(x)")]))
             2.0 µs  %1 = sin %0    # model.py:3   y = np.sin(x)
             2.0 µs  total
    """

    __slots__ = ()

    @property
    def total(self) -> float:
        """Seconds of all equations together."""
        return sum(row.seconds for row in self)

    def to_chrome(self) -> list[dict[str, Any]]:
        """Return the rows as complete events of the Trace Event Format, times in microseconds.

        The equations follow each other without gaps. ``args`` has the user's line, and the
        equations that were computed together.
        """
        events: list[dict[str, Any]] = []
        start = 0.0
        for row in self:
            args: dict[str, Any] = {"equation": row.equation.strip()}
            if row.line:
                args["line"] = row.line
            if row.others:
                args["others"] = [text.strip() for text in row.others]
            event = {"name": row.text, "cat": "equation", "ph": "X", "pid": 1, "tid": 1}
            duration = round(row.seconds * 1e6, 3)  # clocks have nanoseconds
            events.append({**event, "ts": round(start, 3), "dur": duration, "args": args})
            start += duration
        return events

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file for chrome://tracing and Perfetto."""
        named = {"ph": "M", "pid": 1, "tid": 1, "ts": 0, "cat": "__metadata"}
        names = [
            {**named, "name": "process_name", "args": {"name": "tenferro"}},
            {**named, "name": "thread_name", "args": {"name": "equations"}},
        ]
        trace = {"traceEvents": [*names, *self.to_chrome()], "displayTimeUnit": "ns"}
        text = import_module("json").dumps(trace, indent=1)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def __str__(self) -> str:
        rows = [f"{_microseconds(row.seconds):>15}  {_labelled(row)}" for row in self]
        return "\n".join([*rows, f"{_microseconds(self.total):>15}  total"])

    def _repr_html_(self) -> str:
        bars = import_module("tenferro.backend.bars")
        rows = [
            bars.Bar(row.seconds, _microseconds(row.seconds), row.text, row.line) for row in self
        ]
        head = f"{len(self)} steps, {_microseconds(self.total)}"
        text: str = bars.html([head], rows, what="time, from left to right")
        return text


def _microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:,.1f} µs"


def _labelled(row: Timing) -> str:
    return f"{row.text}    # {row.line}" if row.line else row.text
