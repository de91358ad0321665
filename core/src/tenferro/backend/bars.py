"""A report as HTML for notebooks: a timeline, and a bar for each equation.

Pages are light or dark: text has the page's own colour, and bars are half transparent. There is no
script, no style sheet and nothing from elsewhere. All text is escaped. Read next: ``timings.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro._runtime.markup import escape
from tenferro._runtime.records import NamedTuple

_MOST_ROWS = 300
_MOST_PIECES = 400  # of the timeline; narrower ones cannot be seen
_COLORS = ("#0072b2", "#d55e00", "#00805c")  # of Okabe and Ito, "Color Universal Design"
_MONOSPACE = "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace"
_CELL = "padding:.1em .6em;white-space:pre;text-align:left;vertical-align:top;border:0"


class Bar(NamedTuple):
    """One equation: how large it is, that as text, what it is, and the user's line."""

    size: float
    figure: str
    text: str
    note: str = ""


def html(heads: Sequence[str], bars: Sequence[Bar], foot: str = "", what: str = "") -> str:
    """Return the report: lines of text, a timeline of what is measured, a table with bars.

    >>> html(["total 3 s"], [Bar(3.0, "3 s", "y = f(x)")]).count("<tr>")
    1
    """
    head = "\n".join(map(escape, heads))
    timeline = f"{_caption(what)}{_timeline(bars)}" if any([bar.size > 0 for bar in bars]) else ""
    plain = f'<pre style="background:none;color:inherit">{escape(foot)}</pre>'
    folded = f"<details><summary>program of the backend</summary>{plain}</details>" if foot else ""
    return (
        f'<div style="{_MONOSPACE};line-height:1.4;overflow-x:auto">'
        f'<pre style="background:none;color:inherit;margin:0">{head}</pre>'
        f"{timeline}{_table(bars)}{folded}</div>"
    )


def _caption(what: str) -> str:
    return f'<div style="margin-top:.6em;opacity:.7">{escape(what)}</div>' if what else ""


def _timeline(bars: Sequence[Bar]) -> str:
    """Return one strip: each equation as wide as it is large, from left to right."""
    pieces = [
        f'<span style="flex:{size:.6g} 0 0;min-width:0;background:{_COLORS[i % 3]};opacity:.55"'
        f' title="{escape(title)}"></span>'
        for i, (size, title) in enumerate(_pieces(bars))
    ]
    style = "display:flex;height:1.6em;margin:.2em 0 .6em;border:1px solid currentColor"
    return f'<div style="{style}" role="img">{"".join(pieces)}</div>'


def _pieces(bars: Sequence[Bar]) -> list[tuple[float, str]]:
    """Return sizes and titles; neighbours are joined where there are too many."""
    step = -(-len(bars) // _MOST_PIECES)
    if step == 1:
        return [(bar.size, _title(bar)) for bar in bars]
    groups = [bars[i : i + step] for i in range(0, len(bars), step)]
    titled = [(g, f"{len(g)} equations, from {g[0].text}") for g in groups]
    return [(sum([bar.size for bar in group]), title) for group, title in titled]


def _title(bar: Bar) -> str:
    return "\n".join([bar.figure, bar.text, *([bar.note] if bar.note else [])])


def _table(bars: Sequence[Bar]) -> str:
    """Return a row for each equation, in order; of very many, those that are largest."""
    chosen = [*range(len(bars))]
    left = ""
    if len(bars) > _MOST_ROWS:
        by_size = sorted(chosen, key=lambda i: bars[i].size, reverse=True)
        chosen = sorted(by_size[:_MOST_ROWS])
        rest = len(bars) - _MOST_ROWS
        left = f'<div style="opacity:.7">… {rest} smaller equations are not shown</div>'
    largest = max([bar.size for bar in bars], default=0.0) or 1.0
    rows = "".join([_row(bars[i], bars[i].size / largest, _COLORS[i % 3]) for i in chosen])
    table = f'<table style="border-collapse:collapse;border:0;font-size:90%">{rows}</table>'
    return f"{table}{left}"


def _row(bar: Bar, share: float, color: str) -> str:
    width = max(share, 0.0) * 100
    inner = f"width:{width:.2f}%;height:1em;background:{color};opacity:.55"
    strip = f'<div style="width:10em"><div style="{inner}"></div></div>'
    note = f'<span style="opacity:.7">{escape(bar.note)}</span>'
    cells = (escape(bar.figure), strip, escape(bar.text), note)
    return "<tr>" + "".join([f'<td style="{_CELL}">{cell}</td>' for cell in cells]) + "</tr>"
