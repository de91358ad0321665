"""Identity matrices among the equations of a graph, as ``eye`` writes them.

Read next: ``rewrites/inverses.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.computegraph._materialize import MaterializedNode
from tenferro.primitives.comparison import Eq
from tenferro.primitives.constants import Iota
from tenferro.primitives.structural import Convert


def identities_of(nodes: Sequence[MaterializedNode]) -> frozenset[int]:
    """Return the values that are one identity matrix: row = column, as numbers."""
    counts: dict[int, Any] = {}
    masks, found = set[int](), set[int]()
    for operation, operands, outputs, *_ in nodes:
        if type(operation) is Iota:
            counts[outputs[0]] = operation
        elif type(operation) is Eq:
            pair = [counts.get(i) for i in operands]
            if all(pair) and _is_square([*pair]):
                masks.add(outputs[0])
        elif type(operation) is Convert and operands[0] in masks:
            found.add(outputs[0])
    return frozenset(found)


def _is_square(counts: Sequence[Any]) -> bool:
    """Return True for the counts of rows and of columns of a square matrix."""
    shape = counts[0].shape
    dimensions = sorted([count.dimension for count in counts])
    return len(shape) == 2 and shape[0] == shape[1] and dimensions == [0, 1]
