"""Cells and tables of the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def mark(verdict: str) -> str:
    """A verdict, the bad ones to be seen."""
    return verdict if verdict == "met" else f"**{verdict}**"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """A table of Markdown."""
    head = list(head)
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in row)} |"
    yield ""
