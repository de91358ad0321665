"""Division of an extent into tiles of nearly equal size.

The number of tiles follows from the extent alone, so that sums over tiles have one order whatever
the number of threads. Read next: ``find.py``.
"""

from __future__ import annotations

__all__ = ["CHUNKS", "even_rows"]

CHUNKS = 16  # of the tiles of one array; a thread takes one chunk after another


def even_rows(extent: int, rows: int) -> int:
    """Return about ``rows``, so that tiles of so many rows have nearly equal size.

    Tiles that are fewer than the chunks are a power of two, so that threads do equal work.
    """
    count = max(round(extent / rows), 1)
    if count < CHUNKS:
        count = 1 << (count - 1).bit_length()
    return -(-extent // count)
