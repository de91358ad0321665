"""Arrays in notebooks: a small table of the values under a line that says shape and dtype."""

from __future__ import annotations

from typing import Any

from tenferro.arrays.handle.array import Array, evaluable
from tenferro.arrays.registry import covers
from tenferro.computegraph import UNKNOWN

_MAX_ROWS_SHOWN = 12  # more rows or columns are abbreviated
_EDGE = 5
_STYLE = "font-family:monospace;text-align:right;padding:0 .6em"


@covers("__html__")
def html(x: Array) -> str:
    """Return the array as HTML for a notebook: its aval, and a table of at most two axes."""
    aval = _escape(str(x.aval))
    if x.key.operand is UNKNOWN and not evaluable(x.key):
        return f"<code>Array({aval}, abstract)</code>"
    values = x._concrete("repr()")
    if 1 <= x.ndim <= 2 and x.size:
        rows = values[None] if x.ndim == 1 else values
        return f"<div><code>Array {aval}</code>{_table(rows)}</div>"
    return f"<div><code>Array {aval}</code><pre>{_escape(str(values))}</pre></div>"


def _table(values: Any) -> str:
    lines = [_line(None if i is None else values[i]) for i in _shown(len(values))]
    return f"<table>{''.join(lines)}</table>"


def _line(row: Any) -> str:
    cells = ["⋮"] if row is None else [_cell(row, i) for i in _shown(len(row))]
    return "<tr>" + "".join([f'<td style="{_STYLE}">{cell}</td>' for cell in cells]) + "</tr>"


def _cell(row: Any, i: int | None) -> str:
    return "…" if i is None else _escape(f"{row[i]:.6g}" if row.dtype.kind in "fc" else str(row[i]))


def _shown(count: int) -> list[int | None]:
    """Return the positions to show; None stands for those left out."""
    if count <= _MAX_ROWS_SHOWN:
        return [*range(count)]
    return [*range(_EDGE), None, *range(count - _EDGE, count)]


def _escape(text: str) -> str:
    """Escape text between tags. Importing the module ``html`` would take longer."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
