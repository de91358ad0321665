"""Row blocks: parts of a program that run some rows at a time, so that they stay in the cache.

``find_row_blocks`` chooses them, for a cache of so many bytes; a backend runs each ``RowBlock`` as
a loop over tiles of rows. Nothing here knows an array library. Read in this order: ``find``,
``row_rules``, ``savings``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tenferro._runtime.lazy import later

if TYPE_CHECKING:
    from tenferro.backend.row_blocks.even import CHUNKS, even_rows
    from tenferro.backend.row_blocks.find import RowBlock, find_row_blocks
    from tenferro.backend.row_blocks.row_rules import row_axis
    from tenferro.backend.row_blocks.savings import VIEWS, size_of
else:
    __getattr__, __dir__ = later(
        __name__,
        {
            "even": "CHUNKS even_rows",
            "find": "RowBlock find_row_blocks",
            "row_rules": "row_axis",
            "savings": "VIEWS size_of",
        },
    )

__all__ = ["CHUNKS", "VIEWS", "RowBlock", "even_rows", "find_row_blocks", "row_axis", "size_of"]
