"""Directions of one colour are pushed together: no result reads two of them.

The columns of a Jacobian that have no row in common are structurally orthogonal, and their sum
holds each of their entries by itself (Curtis, Powell, Reid, "On the estimation of sparse Jacobian
matrices", J. Inst. Maths Applics 13 (1974) 117). Such groups are a colouring of the graph whose
edges join columns that share a row (Gebremedhin, Manne, Pothen, "What color is your Jacobian?
Graph coloring for computing derivatives", SIAM Review 47 (2005) 629); it is coloured greedily,
the columns with most neighbours first.

A symmetric matrix needs fewer colours: an entry is had by its column or by its row. No path of four
columns may have two colours (Gebremedhin, Tarafdar, Manne, Pothen, "New acyclic and star coloring
algorithms with application to computing Hessians", SIAM J. Sci. Comput. 29 (2007) 1042, algorithm
4.1). Read next: ``patterns/compressed.py``.
"""

from __future__ import annotations

from collections import Counter
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


def star_coloured(rows: Sequence[int], most: int) -> list[int] | None:
    """Return a colour for each column of a symmetric pattern; ``None`` beyond ``most``."""
    neighbours = _neighbours(rows)
    colours = [-1] * len(rows)
    left = _BUDGET
    for i in sorted(range(len(rows)), key=lambda i: -len(neighbours[i])):
        left -= sum([len(neighbours[j]) for j in neighbours[i]])
        forbidden = _forbidden(i, neighbours, colours)
        colours[i] = next(c for c in range(len(rows)) if c not in forbidden)
        if left < 0 or colours[i] >= most:
            return None
    return colours


def _neighbours(rows: Sequence[int]) -> list[list[int]]:
    """Return the other columns of each row, of a pattern that may be too large on one side only."""
    near = [row & ~(1 << i) for i, row in enumerate(rows)]
    for i, row in enumerate(near):
        for column in columns_of(row):
            near[column] |= 1 << i
    return [[*columns_of(row)] for row in near]


def _forbidden(i: int, neighbours: Sequence[Sequence[int]], colours: Sequence[int]) -> set[int]:
    """Return the colours with which column i would end a path of four in two colours."""
    found = {colours[j] for j in neighbours[i]}
    for j in neighbours[i]:
        for k in neighbours[j]:
            if k == i or colours[k] in found:
                continue
            others = [colours[m] for m in neighbours[k] if m != j]
            if colours[j] < 0 or colours[j] in others:
                found.add(colours[k])
    return found


def by_one_colour(row: int, colours: Sequence[int]) -> set[int]:
    """Return the colours that just one column of a row has."""
    found = Counter([colours[column] for column in columns_of(row)])
    return {colour for colour, times in found.items() if times == 1}


def columns_of(row: int) -> Iterator[int]:
    """Yield the columns of a row, from the first to the last."""
    while row:
        lowest = row & -row
        yield lowest.bit_length() - 1
        row ^= lowest
