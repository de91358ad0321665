"""Pictures of graphs: one description of what is drawn, and the forms that it takes.

``_picture`` says which boxes and edges there are, ``_layout`` where they go, the others write them.
Nothing here evaluates, and nothing needs a program other than Python.
"""

from tenferro.transforms.inspection.views._dot import dot
from tenferro.transforms.inspection.views._html import html
from tenferro.transforms.inspection.views._mermaid import mermaid
from tenferro.transforms.inspection.views._picture import Picture, part_of, picture
from tenferro.transforms.inspection.views._svg import svg

__all__ = ["Picture", "dot", "html", "mermaid", "part_of", "picture", "svg"]
