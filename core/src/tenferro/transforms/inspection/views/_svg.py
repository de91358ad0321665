"""A picture as SVG that stands alone: no styles, scripts or fonts from elsewhere.

Colours are attributes, because a style sheet inside a page would reach the whole page; arrowheads
are paths, because markers vanish where the first picture of a page is folded away.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro._runtime.markup import escape
from tenferro.transforms.inspection.views._colors import FAINT, FLOWS, INK, LOOKS, PAPER
from tenferro.transforms.inspection.views._layout import BoxPlace, Drawing, draw
from tenferro.transforms.inspection.views._picture import PARTS, Box, Edge, Picture

_FONT = "'DejaVu Sans Mono',Menlo,Consolas,'Liberation Mono',monospace"
_SIZE = 12.0
_ADVANCE = 0.605 * _SIZE  # of a letter; that of the widest of the fonts
_LINE = 16.0
_PADDING = 10.0
_BAR = 5.0  # the coloured edge of a box
_LEGEND = 34.0
_HEAD = 7.0  # length of an arrowhead
_STRAIGHT = 0.3  # a bend too small to see


def svg(picture: Picture) -> str:
    """Draw the picture, laid out from the top down."""
    sizes = [_size(box) for box in picture.boxes]
    drawing = draw(sizes, list(picture.edges), [box.literal for box in picture.boxes])
    legend, needed = _legend(picture)
    width, height = max(drawing.width, needed), drawing.height + _LEGEND
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" font-family="{_FONT}" '
            f'font-size="{_SIZE:.0f}" fill="{INK}">',
            f"<title>{_title(picture)}</title>",
            f'<rect width="100%" height="100%" fill="{PAPER}"/>',
            *legend,
            f'<g transform="translate({(width - drawing.width) / 2:.1f} {_LEGEND:.0f})">',
            *_edges(picture, drawing),
            *[_box(b, place) for b, place in zip(picture.boxes, drawing.places, strict=True)],
            "</g>",
            "</svg>",
        ]
    )


def _title(picture: Picture) -> str:
    counted = ", ".join(f"{picture.counts[part]} {part}" for part in PARTS)
    return f"Graph of {sum(picture.counts.values())} equations: {counted}"


def _size(box: Box) -> tuple[float, float]:
    letters = max(len(line) for line in box.lines)
    room = (len(LOOKS[box.part].mark) + 1.5) * _ADVANCE if LOOKS[box.part].mark else 0.0
    return letters * _ADVANCE + room + 2 * _PADDING + _BAR, len(box.lines) * _LINE + _PADDING


def _box(box: Box, place: BoxPlace) -> str:
    look = LOOKS[box.part]
    left, top, w, h = place.x - place.width / 2, place.top, place.width, place.height
    is_end = box.part in ("input", "output")
    radius = min(h / 2, 14.0) if is_end else 6.0
    dashes = ' stroke-dasharray="1 3" stroke-linecap="round"' if box.literal else ""
    parts = [
        f"<g><title>{escape(box.note)}</title>",
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{w:.1f}" height="{h:.1f}" rx="{radius:.0f}" '
        f'fill="{look.fill}" stroke="{look.line}" stroke-width="1.3"{dashes}/>',
    ]
    if not is_end:
        parts.append(
            f'<rect x="{left + 3:.1f}" y="{top + 4:.1f}" width="{_BAR - 1:.1f}" '
            f'height="{h - 8:.1f}" rx="2" fill="{look.line}"/>'
        )
    parts += _texts(box, left + _PADDING + (0 if is_end else _BAR), top)
    if look.mark:
        x, y = left + w - _PADDING + 2, top + _LINE
        parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="end" font-weight="bold" '
            f'fill="{look.line}">{look.mark}</text>'
        )
    return "".join([*parts, "</g>"])


def _texts(box: Box, x: float, top: float) -> list[str]:
    """Write the lines of a box: the equation in ink, its explanation fainter."""
    found = []
    for i, line in enumerate(box.lines):
        color = "" if i == 0 else f' fill="{FAINT}"'
        y = top + _LINE * (i + 1)
        found.append(
            f'<text x="{x:.1f}" y="{y:.1f}" xml:space="preserve"{color}>{escape(line)}</text>'
        )
    return found


def _edges(picture: Picture, drawing: Drawing) -> list[str]:
    found = []
    for edge, route in zip(picture.edges, drawing.routes, strict=True):
        color = _color(picture, edge)
        x, y = route[-1][:2]
        dashes = ' stroke-dasharray="5 4"' if edge.kind == "residual" else ""
        width = 2.2 if edge.kind == "flow" else 1.3
        found.append(
            f'<path d="{_curve(route)}" fill="none" stroke="{color}" stroke-width="{width}"'
            f'{dashes}/><path d="M{x:.1f} {y:.1f}l-3.5 -{_HEAD:.0f}h7z" fill="{color}"/>'
        )
    return found


def _color(picture: Picture, edge: Edge) -> str:
    return FLOWS.get(edge.kind) or LOOKS[picture.boxes[edge.end].part].line


def _curve(route: Sequence[tuple[float, float, float]]) -> str:
    """Write a smooth path that leaves, passes its lanes, and arrives vertically."""
    x, _, y = route[0]
    path = [f"M{x:.1f} {y:.1f}"]
    for to_x, top, bottom in route[1:]:
        is_last = (to_x, top, bottom) == route[-1]
        end = top - _HEAD + 1 if is_last else top
        if abs(to_x - x) > _STRAIGHT:
            middle = (y + end) / 2
            path.append(f"V{y:.1f}C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f}")
            path.append(f" {to_x:.1f} {end:.1f}")
            x = to_x
        if is_last:
            path.append(f"V{end:.1f}")
        y = bottom
    return "".join(path)


def _legend(picture: Picture) -> tuple[list[str], float]:
    """Return the legend of colours and lines with counts, and its width."""
    found, x = [], 16.0
    for part in (p for p in PARTS if picture.counts[p]):
        look = LOOKS[part]
        mark = f" {look.mark}" if look.mark else ""
        text = f"{part}{mark}  {picture.counts[part]}"
        found.append(
            f'<rect x="{x:.1f}" y="11" width="14" height="14" rx="3" fill="{look.fill}" '
            f'stroke="{look.line}" stroke-width="1.5"/>'
            f'<text x="{x + 20:.1f}" y="22" xml:space="preserve">{text}</text>'
        )
        x += 20 + len(text) * _ADVANCE + 18
    for kind in ("flow", "residual"):
        if any(edge.kind == kind for edge in picture.edges):
            style = 'stroke-dasharray="5 4"' if kind == "residual" else 'stroke-width="2.2"'
            text = "residual" if kind == "residual" else "linear flow"
            found.append(
                f'<path d="M{x:.1f} 18h24" stroke="{FAINT}" {style}/>'
                f'<text x="{x + 30:.1f}" y="22">{text}</text>'
            )
            x += 30 + len(text) * _ADVANCE + 18
    return found, x
