"""Directions of one colour are pushed together: no result reads two of them.

The columns of a Jacobian that have no row in common are structurally orthogonal, and their sum
holds each of their entries by itself (Curtis, Powell, Reid, "On the estimation of sparse Jacobian
matrices", J. Inst. Maths Applics 13 (1974) 117). Such groups are a colouring of the graph whose
edges join columns that share a row (Gebremedhin, Manne, Pothen, "What color is your Jacobian?
Graph coloring for computing derivatives", SIAM Review 47 (2005) 629); it is coloured greedily,
the columns with most neighbours first. Read next: ``sparsity/compressed.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

_BUDGET = 1 << 22  # comparisons of a column with a colour


def coloured(rows: Sequence[int], count: int, most: int) -> list[int] | None:
    """Return a colour for each of ``count`` columns; ``None`` if that takes more than ``most``.

    Each row is the set of its columns, as bits.
    """
    distinct = set(rows)
    if max([row.bit_count() for row in distinct], default=0) > most:
        return None
    near = [0] * count
    for row in distinct:
        for column in columns_of(row):
            near[column] |= row
    colours = [0] * count
    members: list[int] = []
    left = _BUDGET
    for column in sorted(range(count), key=lambda column: -near[column].bit_count()):
        colour = next((c for c, of in enumerate(members) if not of & near[column]), len(members))
        left -= colour + 1
        if colour == most or left < 0:
            return None
        if colour == len(members):
            members.append(0)
        members[colour] |= 1 << column
        colours[column] = colour
    return colours


def columns_of(row: int) -> Iterator[int]:
    """Yield the columns of a row, from the first to the last."""
    while row:
        lowest = row & -row
        yield lowest.bit_length() - 1
        row ^= lowest
