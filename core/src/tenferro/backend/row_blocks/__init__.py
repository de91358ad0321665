"""Parts of a program that run some rows at a time, so that they stay in the cache.

``find_blocks`` chooses them, for a cache of so many bytes; a backend runs each ``Block`` as a loop
over rows. Nothing here knows an array library. Read in this order: ``find``, ``row_rules``,
``savings``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tenferro._runtime.lazy import later

if TYPE_CHECKING:
    from tenferro.backend.row_blocks.even import PARTS, even_rows
    from tenferro.backend.row_blocks.find import Block, find_blocks
    from tenferro.backend.row_blocks.row_rules import row_axis
    from tenferro.backend.row_blocks.savings import VIEWS, size_of
else:
    __getattr__, __dir__ = later(
        __name__,
        {
            "even": "PARTS even_rows",
            "find": "Block find_blocks",
            "row_rules": "row_axis",
            "savings": "VIEWS size_of",
        },
    )

__all__ = ["PARTS", "VIEWS", "Block", "even_rows", "find_blocks", "row_axis", "size_of"]
