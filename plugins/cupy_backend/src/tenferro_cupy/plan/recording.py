"""Recording of what a captured program does at each call: launches of graphs, and copies between.

A step that a graph cannot hold whole, such as a long loop, ends the graph and begins another. All
graphs use the same memory, so nothing is copied between them. Read next: ``chunks.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from functools import partial
from typing import Any

from tenferro.backend.extend import NamedTuple

__all__ = ["RECORDER", "Recorder", "Repeated"]


class Repeated(NamedTuple):
    """Launches that a replay repeats, between two functions of the count.

    record   launches them
    """

    record: Callable[[], object]
    times: int
    before: Callable[[int], object]
    after: Callable[[int], object]


class Recorder:
    """Captures the launches of a stream in graphs.

    pieces   what a replay calls, in order
    """

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.pieces: list[Callable[[], Any]] = []
        self.is_capturing = False

    def begin(self) -> None:
        """Begin a graph: launches are recorded and nothing is computed."""
        self.stream.begin_capture()
        self.is_capturing = True

    def end(self) -> None:
        """End the graph; it is a piece."""
        self.is_capturing = False
        graph = self.stream.end_capture()
        self.pieces.append(partial(graph.launch, self.stream))

    def abort(self) -> None:
        """Leave the stream as it was before the capture, after an error."""
        if self.is_capturing:
            self.is_capturing = False
            with suppress(RuntimeError):  # CUDA's, about a capture that the first error has ended
                self.stream.end_capture()

    def repeat(self, parts: Sequence[Repeated]) -> None:
        """Record parts, each in graphs of its own.

        Launches before and after them are in other graphs.
        """
        self.end()
        outer = self.pieces
        for part in parts:
            self.pieces = []
            self.begin()
            part.record()
            self.end()
            outer.append(partial(_replay, part, self.pieces))
        self.pieces = outer
        self.begin()


#: the recorder of the capture that this context is in; None outside of captures
RECORDER: ContextVar[Recorder | None] = ContextVar("RECORDER", default=None)


def _replay(part: Repeated, pieces: Sequence[Callable[[], Any]]) -> None:
    for k in range(part.times):
        part.before(k)
        for piece in pieces:
            piece()
        part.after(k)
