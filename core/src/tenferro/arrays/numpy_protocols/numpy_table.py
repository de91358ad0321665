"""Covered functions of NumPy: the primitives that they record, whether they vary.

``numpy_table.txt`` has a row for each function; ``python tools/generate.py`` writes it from the
rows of the tests. Read next: ``protocols.py``.
"""

from __future__ import annotations

from importlib.resources import files


def _rows() -> list[list[str]]:
    text = files("tenferro.arrays.numpy_protocols").joinpath("numpy_table.txt").read_text("utf-8")
    lines = (line.split("|") for line in text.splitlines() if not line.startswith("#"))
    return [[cell.strip() for cell in line] for line in lines]


TABLE: dict[str, tuple[tuple[str, ...], bool]] = {
    name: (tuple(primitives.split()), varies == "yes") for name, varies, primitives in _rows()
}
