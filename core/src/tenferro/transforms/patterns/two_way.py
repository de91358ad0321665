"""Both modes at once: rows of many entries are pulled, the columns of all others pushed.

An arrowhead has a row, a column and a diagonal. No two of its columns are orthogonal, because they
share the full row; without that row two colours suffice. So the rows with most entries go one by
one, or those that share no column together, as long as that makes fewer directions (after Coleman,
Verma, "The efficient computation of sparse Jacobian matrices using automatic differentiation",
SIAM J. Sci. Comput. 19 (1998) 1210). Read next: ``derivatives/blocks.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro._runtime.records import NamedTuple
from tenferro.primitives import Handle, concatenate, reshape
from tenferro.primitives._aval import Aval
from tenferro.transforms.patterns.colouring import coloured, columns_of
from tenferro.transforms.patterns.compressed import (
    Directions,
    spread_out,
    sums_of_directions,
)
from tenferro.transforms.patterns.parts import taken

_FULL_ROWS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)  # how many of the fullest rows are tried
_MAX_TABLE_ELEMENTS = 1 << 20


class TwoWay(NamedTuple):
    """The colours of pulled rows and pushed columns, -1 for none, and where each entry is found."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    sources: tuple[int, ...]  # in the pulled rows, and then in the pushed columns
    targets: tuple[int, ...]

    @property
    def counts(self) -> tuple[int, int]:
        """Number of pulled and of pushed directions."""
        return max(self.rows) + 1, max(self.columns) + 1


def two_way(bits: Sequence[int], count: int, pull: int, push: int) -> TwoWay | None:
    """Return the cheapest way for a pattern, its rows as bits of ``count`` columns.

    ``pull`` and ``push`` are what one direction costs. ``None`` if no row is worth pulling.
    """
    fullest = sorted(range(len(bits)), key=lambda i: -bits[i].bit_count())
    least, best = None, None
    for number in _FULL_ROWS:
        if number > len(bits):
            break
        full = fullest[:number]
        by_row = coloured(_transposed([bits[i] for i in full], count), number, number + 1)
        chosen = set(full)
        rest = [row for i, row in enumerate(bits) if i not in chosen]
        by_column = coloured(rest, count, count + 1)
        if by_row is None or by_column is None:
            continue
        cost = pull * (max(by_row) + 1) + push * (max(by_column, default=-1) + 1)
        if least is None or cost < least:
            least, best = cost, (full, by_row, by_column)
    return None if best is None else _placed(bits, count, *best)


def direction_counts(bits: Sequence[int], sizes: tuple[int, int]) -> tuple[int, int]:
    """Return how many directions columns alone take, and rows alone."""
    columns, rows = sizes
    by_column = coloured(bits, columns, columns + 1)
    by_row = coloured(_transposed(bits, columns), rows, rows + 1)
    return (
        columns if by_column is None else max(by_column, default=-1) + 1,
        rows if by_row is None else max(by_row, default=-1) + 1,
    )


def _transposed(rows: Sequence[int], count: int) -> list[int]:
    """Return for each column the set of rows that have it."""
    found = [0] * count
    for i, row in enumerate(rows):
        for column in columns_of(row):
            found[column] |= 1 << i
    return found


def _placed(
    bits: Sequence[int],
    count: int,
    full: Sequence[int],
    by_row: Sequence[int],
    by_column: Sequence[int],
) -> TwoWay | None:
    rows = [-1] * len(bits)
    for i, colour in zip(full, by_row, strict=True):
        rows[i] = colour
    pulled = (max(by_row) + 1) * count
    sources, targets = [], []
    for i, row in enumerate(bits):
        for column in columns_of(row):
            targets.append(i * count + column)
            by = rows[i] * count + column
            sources.append(by if rows[i] >= 0 else pulled + by_column[column] * len(bits) + i)
    tables = len(sources), pulled, (max(by_column, default=-1) + 1) * count
    if max(tables) > _MAX_TABLE_ELEMENTS:
        return None
    return TwoWay(tuple(rows), tuple(by_column), tuple(sources), tuple(targets))


def entries_of(
    way: TwoWay, columns: Directions, rows: Directions, output: Aval, argument: Aval
) -> Handle:
    """Return the entries of the pattern, in row-major order."""
    pulled, pushed = way.counts
    parts = []
    for directions, of, number, aval in (
        (rows, way.rows, pulled, output),
        (columns, way.columns, pushed, argument),
    ):
        basis = reshape(sums_of_directions(of, number, aval.dtype), (number, *aval.shape))
        (found,) = directions.sent(basis, number)
        if found is not None:
            parts.append(reshape(found, (found.aval.size,)))
    return taken(concatenate(parts, 0), way.sources)


def whole(way: TwoWay, entries: Handle, output: Aval, argument: Aval) -> Handle:
    """Return the dense matrix: [*output, *argument]."""
    return spread_out(entries, way.targets, (*output.shape, *argument.shape))
