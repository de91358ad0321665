"""Counts of what devices exchange, read in the program that XLA made.

Read next: ``_sharded.py``.
"""

from __future__ import annotations

import re
from collections import Counter

_KINDS = "all-gather all-reduce all-to-all collective-permute reduce-scatter".split()
_LINE = re.compile(
    rf"= (?P<type>\([^=]*?\)|\S+) (?P<kind>{'|'.join(_KINDS)})(?:-start)?\(", re.ASCII
)
_ARRAY = re.compile(r"([a-z]+)(\d+)?\[([\d,]*)\]")


class Collectives(Counter[str]):
    """Numbers of exchanges by kind; ``bytes`` are those of their results on one device."""

    bytes: int = 0

    def __str__(self) -> str:
        if not self:
            return "none"
        counted = ", ".join(f"{count} {kind}" for kind, count in sorted(self.items()))
        return f"{counted}; {self.bytes} bytes per device"


def collectives(hlo: str) -> Collectives:
    """Count the exchanges between devices in the text of an optimized program."""
    found = Collectives()
    for line in _LINE.finditer(hlo):
        found[line["kind"]] += 1
        found.bytes += sum(_bytes(*array) for array in _ARRAY.findall(line["type"]))
    return found


def _bytes(kind: str, bits: str, shape: str) -> int:
    size = 1
    for count in shape.split(","):
        size *= int(count or 1)
    return size * max(int(bits or 8) // 8, 1)
