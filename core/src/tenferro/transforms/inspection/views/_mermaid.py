"""A picture as text for Mermaid, which draws it in Markdown on many sites."""

from __future__ import annotations

from tenferro.transforms.inspection.views._colors import INK, LOOKS
from tenferro.transforms.inspection.views._picture import Box, Picture

_SHAPES = {"input": ("([", "])"), "output": ("([", "])")}  # a stadium; equations have round corners
_ARROWS = {"value": "-->", "flow": "==>", "residual": "-.->"}


def mermaid(picture: Picture) -> str:
    """Write the picture as a Mermaid flowchart."""
    lines = ["flowchart TD"]
    lines += [_node(number, box) for number, box in enumerate(picture.boxes)]
    lines += [f"  n{e.start} {_ARROWS[e.kind]} n{e.end}" for e in picture.edges]
    for part in dict.fromkeys(box.part for box in picture.boxes):
        look = LOOKS[part]
        lines.append(f"  classDef {part} fill:{look.fill},stroke:{look.line},color:{INK}")
    return "\n".join(lines)


def _node(number: int, box: Box) -> str:
    left, right = _SHAPES.get(box.part, ("(", ")"))
    mark = LOOKS[box.part].mark
    lines = [*box.lines[:-1], f"{box.lines[-1]}  {mark}"] if mark else box.lines
    text = "<br/>".join(escape(line) for line in lines)
    return f'  n{number}{left}"{text}"{right}:::{box.part}'


def escape(text: str) -> str:
    """Escape text for a quoted label: all but letters, digits and some plain signs as entities.

    >>> escape('%1 = sin "x"')
    '#37;1 = sin #34;x#34;'
    """
    return "".join(
        c if c.isalnum() or c in " .,:=()[]_-+'" or ord(c) > 127 else f"#{ord(c)};" for c in text
    )
