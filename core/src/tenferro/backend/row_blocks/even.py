"""Division of an extent into parts of nearly equal size.

The number of parts follows from the extent alone, so that sums over parts have one order whatever
the number of threads. Read next: ``find.py``.
"""

from __future__ import annotations

__all__ = ["PARTS", "even_rows"]

PARTS = 16  # parts of the work that threads take in turn


def even_rows(extent: int, rows: int) -> int:
    """Return rows per part such that parts have nearly equal size, instead of a remainder.

    Of few parts there are a power of two, so that threads have as much to do as one another.
    """
    count = max(round(extent / rows), 1)
    if count < PARTS:
        count = 1 << (count - 1).bit_length()
    return -(-extent // count)
