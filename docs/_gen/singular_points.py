"""Write `docs/singular_points.md` from the table that the tests prove; `--check` only compares."""

from __future__ import annotations

import sys
from pathlib import Path

import checked_page

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/singular_points.md"
sys.path.insert(0, str(ROOT / "core/tests/on_backend"))

from singular_points import ROWS, SECTIONS, Row  # noqa: E402

INTRODUCTION = """\
# Derivatives at singular points

*Written by `python docs/_gen/singular_points.py` from the table that the tests prove.*

Where a function has a kink, a pole, a tie or an end, its derivative is a choice. This table says
what tenferro gives there: the same by gradients and by JVPs, eagerly and under `jit`, in every
dtype, on every backend. [Conventions](conventions.md) gives the reasons at more length. Values
are those of NumPy and SciPy.

`f′` lists the derivative in each argument, and `f″` the second derivative in the first one, where
the table states it. `z` is a complex argument: `f′` is then f′(z) of a complex function, and the
gradient of a real one. `big` is a quarter of the largest finite number of the dtype, `tiny` its
smallest normal number. XLA takes numbers below `tiny` for zeros.
"""


def row(entry: Row) -> str:
    """One line of the table."""
    code = [entry.function, entry.at, entry.first, entry.second]
    cells = [f"`{cell}`" if cell else "" for cell in code]
    return f"| {' | '.join([*cells, entry.why])} |".replace("|  |", "| |").replace("|  |", "| |")


def page() -> str:
    """Return the text of the page."""
    parts = [INTRODUCTION]
    for section, title in SECTIONS.items():
        head = ["| f | at | f′ | f″ | because |", "|---|---|---|---|---|"]
        rows = [row(entry) for entry in ROWS if entry.section == section]
        parts.append("\n".join([f"## {title}\n", *head, *rows, ""]))
    return "\n".join(parts)


if __name__ == "__main__":
    sys.exit(checked_page.main(PAGE, page()))
