"""A picture as text for Graphviz."""

from __future__ import annotations

from tenferro.transforms.inspection.views._colors import FLOWS, INK, LOOKS
from tenferro.transforms.inspection.views._picture import Box, Edge, Picture

_HEAD = """\
digraph graph_of_a_function {
  rankdir=TB
  node [shape=box, style="rounded,filled", fontname="monospace", fontsize=11, margin="0.12,0.06"]
  edge [arrowsize=0.7]"""


def dot(picture: Picture) -> str:
    """Write the picture in Graphviz's language."""
    lines = [_HEAD]
    lines += [_node(number, box) for number, box in enumerate(picture.boxes)]
    lines += [_edge(picture, edge) for edge in picture.edges]
    return "\n".join([*lines, "}"])


def _node(number: int, box: Box) -> str:
    look = LOOKS[box.part]
    lines = [*box.lines[:-1], f"{box.lines[-1]}  {look.mark}"] if look.mark else box.lines
    # \l ends a line of a label and justifies it to the left
    label = "".join(escape(line) + "\\l" for line in lines)
    return (
        f'  n{number} [label="{label}", tooltip="{escape(box.note)}", color="{look.line}", '
        f'fillcolor="{look.fill}", fontcolor="{INK}"]'
    )


def _edge(picture: Picture, edge: Edge) -> str:
    color = FLOWS.get(edge.kind) or LOOKS[picture.boxes[edge.end].part].line
    style = {"residual": ", style=dashed", "flow": ", penwidth=2"}.get(edge.kind, "")
    return f'  n{edge.start} -> n{edge.end} [color="{color}"{style}]'


def escape(text: str) -> str:
    r"""Escape text inside a quoted string.

    >>> print(escape('a "b"'))
    a \"b\"
    """
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
