"""Decisions of transforms, in words: what was chosen, what was counted, and why.

A transform notes a decision where it takes it; whoever explains a function collects the notes that
are made while the function is recorded. Read next: ``inspection/explain.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_notes: ContextVar[list[tuple[str, str]] | None] = ContextVar("_notes", default=None)


@contextmanager
def collected_decisions() -> Iterator[list[tuple[str, str]]]:
    """Yield the list that takes the decisions made inside: name of the transform and text."""
    notes: list[tuple[str, str]] = []
    token = _notes.set(notes)
    try:
        yield notes
    finally:
        _notes.reset(token)


def note_decision(transform: str, text: str) -> None:
    """Note a decision if somebody collects them."""
    notes = _notes.get()
    if notes is not None:
        notes.append((transform, text))
