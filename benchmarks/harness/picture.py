"""Draws bars per library as SVG, in the standard library alone: the picture at the top of the page.

The scale is logarithmic: a bar to the left of the line is faster than the version by hand, one to
the right slower. Read next: `page.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import log10

COLOURS = {
    "tenferro": "#0b7285",
    "tenferro, XLA": "#66c2d3",
    "jax": "#e8871e",
    "autograd": "#8c8c8c",
    "torch": "#c2452d",
}
_BAR, _GAP, _LABEL, _WIDTH, _MARGIN = 11, 14, 190, 470, 90  # pixels
_LOW, _HIGH = 0.1, 100.0  # of the scale; longer bars end there and say their number
_TICKS = (0.1, 0.3, 1, 3, 10, 30, 100)
_TOP = 54


def picture(rows: Mapping[str, Mapping[str, float]], title: str) -> str:
    """Return the picture: for each label, a bar per library."""
    libraries = [name for name in COLOURS if any(name in values for values in rows.values())]
    lines: list[str] = []
    y = _TOP
    for label, values in rows.items():
        bars = [name for name in libraries if name in values]
        middle = y + len(bars) * _BAR / 2 + 4
        lines.append(
            f'<text x="{_LABEL - 10}" y="{middle}" text-anchor="end">{escape(label)}</text>'
        )
        for name in bars:
            lines += _bar(name, values[name], y)
            y += _BAR
        y += _GAP
    height = y + 10
    ticks = [_tick(value, height - 22) for value in _TICKS]
    width = _LABEL + _WIDTH + _MARGIN
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"'
        f' aria-label="{escape(title)}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="10" y="18" font-size="14">{escape(title)}</text>',
        *_legend(libraries),
    ]
    return "\n".join([*head, *ticks, *lines, "</svg>"]) + "\n"


def _bar(name: str, value: float, y: int) -> Sequence[str]:
    """A bar from the line of the version by hand, with its number."""
    start, end = _x(1.0), _x(value)
    left, width = min(start, end), max(abs(end - start), 1.0)
    text = f"{value:.2f}" if value < 10 else f"{value:,.0f}"
    box = f'x="{left:.1f}" y="{y}" width="{width:.1f}" height="{_BAR - 2}"'
    place = f'x="{max(start, end) + 4:.1f}" y="{y + _BAR - 2}" font-size="9" fill="#444"'
    return (
        f'<rect {box} fill="{COLOURS[name]}"><title>{escape(name)}: {text}</title></rect>',
        f"<text {place}>{text}</text>",
    )


def _x(value: float) -> float:
    share = log10(min(max(value, _LOW), _HIGH) / _LOW) / log10(_HIGH / _LOW)
    return _LABEL + share * _WIDTH


def _tick(value: float, bottom: float) -> str:
    colour = "#222" if value == 1 else "#ddd"
    x = _x(value)
    return (
        f'<line x1="{x:.1f}" y1="{_TOP - 8}" x2="{x:.1f}" y2="{bottom}" stroke="{colour}"/>'
        f'<text x="{x:.1f}" y="{bottom + 14}" text-anchor="middle" fill="#444">{value:g}</text>'
    )


def _legend(libraries: Sequence[str]) -> list[str]:
    found = []
    x = 10
    for name in libraries:
        found.append(f'<rect x="{x}" y="28" width="10" height="10" fill="{COLOURS[name]}"/>')
        found.append(f'<text x="{x + 14}" y="37">{escape(name)}</text>')
        x += 34 + 7 * len(name)
    return found
