"""Assignments in the body of a loop or branch: only to handles that were made inside it.

A body is recorded once and runs any number of times, so that an assignment to an Array from outside
would happen once, when the body is recorded. Each handle carries the number of the body that was
recorded last when it was made; a smaller number than that of the body is a handle from outside.
Read next: ``numpy_protocols/writing.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import CapturedAssignmentError, at_user_line
from tenferro.arrays.handle.array import Array, next_body


class _Body(NamedTuple):
    number: int
    name: str  # of the function that records it: "scan"
    cure: str  # "take it into the carry and return it"


_recording: ContextVar[_Body | None] = ContextVar("tenferro_body", default=None)


@contextmanager
def recording_body(name: str, cure: str) -> Iterator[None]:
    """Refuse assignments to handles that are made before; ``cure`` says what to write instead."""
    token = _recording.set(_Body(next_body(), name, cure))
    try:
        yield
    finally:
        _recording.reset(token)


def refuse_captured(x: Array) -> None:
    """Raise CapturedAssignmentError if x was made outside of the body that is being recorded."""
    body = _recording.get()
    if body is None or x.body >= body.number:
        return
    raise at_user_line(
        CapturedAssignmentError(
            f"{body.name}: the body assigns to an array from outside\n"
            f"  got        an array {x.aval} that was made before the body began\n"
            "  need       assignments to arrays that the body makes or receives\n"
            f"  hint       {body.cure}",
            aval=x.aval,
            body=body.name,
        )
    )
