"""Plain text in columns, for every command. Read next: ``plugins.py``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def section_lines(title: str, rows: Iterable[tuple[str, str]]) -> list[str]:
    """Return the lines of a title and of rows in two columns."""
    listed = list(rows) or [("none", "")]
    width = max(len(name) for name, _ in listed)
    return [title, *(f"  {name:<{width}}  {text}".rstrip() for name, text in listed), ""]


def table_text(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose columns are as wide as their longest cells."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (header, *rows)
    ]
    return "\n".join(lines)
