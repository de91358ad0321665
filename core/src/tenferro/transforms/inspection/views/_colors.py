"""Colours of the parts; legible to colour-ignores_values eyes, and never the only sign.

Blue, vermilion and green are those of M. Okabe and K. Ito, "Color Universal Design" (2008); the
texts are near black on light fills (contrast above 12 to 1). A part is also told by its mark.
"""

from __future__ import annotations

from tenferro._runtime.records import NamedTuple

INK = "#1b1f24"
FAINT = "#57606a"
PAPER = "#ffffff"


class Look(NamedTuple):
    """The colours of a kind of box, and the mark that its title bears."""

    line: str
    fill: str
    mark: str = ""


LOOKS = {
    "input": Look("#57606a", "#eef0f3"),
    "output": Look("#57606a", "#eef0f3"),
    "primal": Look("#0072b2", "#e3f1fa"),
    "linear": Look("#d55e00", "#fdeadb", "J"),
    "transposed": Look("#00805c", "#dcf3ea", "Jᵀ"),
}
FLOWS = {"value": "#57606a", "residual": "#57606a"}  # "flow" has the colour of where it leads
