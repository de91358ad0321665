"""The matrices that derivatives return: one for each block, made of its entries.

Read next: ``derivatives/jacobian.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.arrays.sparse.pattern import SparsePattern
from tenferro.computegraph import ValueKey
from tenferro.transforms.recording.sparse import checked, put_together


def matrices(
    patterns: Sequence[SparsePattern], entries: Sequence[Any], wrt: Sequence[ValueKey]
) -> list[Any]:
    """Return one matrix per pattern; a `SparseArray` where a program is recorded.

    Entries that are constants may be known there, too; the arguments ``wrt`` have an open trace
    besides their own.
    """
    if any([len(key.traces) > 1 for key in wrt]):
        return [checked(x, p) for p, x in zip(patterns, entries, strict=True)]
    return [put_together(p, (x,)) for p, x in zip(patterns, entries, strict=True)]
