"""The text of a graph for a notebook: coloured by part, with the user's lines as tooltips.

Styles are attributes of the elements, because a style sheet would reach the whole page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tenferro._runtime.markup import escape
from tenferro.transforms.inspection.views._colors import FAINT, INK, LOOKS, PAPER
from tenferro.transforms.inspection.views._picture import PARTS

_PRE = (
    f"background:{PAPER};color:{INK};padding:.6em .8em;margin:0;line-height:1.45;"
    "overflow-x:auto;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace"
)


def html(
    head: str,
    rows: Iterable[tuple[str, str, str]],
    tail: Sequence[str],
    counts: dict[str, int],
    drawn: str = "",
) -> str:
    """Return a block of text; ``rows`` are (part, line, tooltip), ``drawn`` a picture to fold
    out.
    """
    lines = [escape(head), *[_row(*row) for row in rows], *[escape(line) for line in tail]]
    picture = f"<details><summary>picture</summary>{drawn}</details>" if drawn else ""
    body = "\n".join(lines)
    return f'<div>{_legend(counts)}<pre style="{_PRE}">{body}</pre>{picture}</div>'


def _row(part: str, line: str, note: str) -> str:
    look = LOOKS.get(part)
    if look is None:
        return f'<span style="color:{FAINT}">{escape(line)}</span>'
    style = f"background:{look.fill};box-shadow:inset 4px 0 {look.line};display:inline-block;"
    return f'<span style="{style}min-width:100%" title="{escape(note)}">{escape(line)}</span>'


def _legend(counts: dict[str, int]) -> str:
    parts = []
    for part in (p for p in PARTS if counts[p]):
        look = LOOKS[part]
        mark = f" {look.mark}" if look.mark else ""
        style = (
            f"background:{look.fill};color:{INK};border-left:4px solid {look.line};"
            "padding:.1em .6em;margin-right:.8em;font-family:monospace"
        )
        parts.append(f'<span style="{style}">{part}{mark} {counts[part]}</span>')
    return f'<div style="margin-bottom:.4em">{"".join(parts)}</div>'
