"""Sets of values that are made element by element and share one order of axes.

The graph has large arrays; sets have these, and others that are not small.

What one equation reads and makes is connected, and so is what reads one product of matrices: that
comes in one order. Read next: ``_layout_costs.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro.computegraph import MaterializedGraph
from tenferro.computegraph._materialize import MaterializedNode
from tenferro.passes._disjoint_sets import DisjointSets
from tenferro.passes._shapes import follows_large
from tenferro.primitives._primitive import pointwise
from tenferro.primitives.constants import Constant
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.structural import BroadcastInDim, Transpose


def connected(graph: MaterializedGraph) -> tuple[set[int], DisjointSets]:
    """Return values that are not small and made element by element, and the sets of connected
    ones.
    """
    sets, members = DisjointSets(), set[int]()
    products: dict[int, int] = {}  # and what is transposed of them, to a value that reads it
    avals, ordered = graph.avals, {aval for aval in set(graph.avals) if follows_large(aval)}
    for node in graph.nodes:
        value = node[2][0]
        if avals[value] not in ordered:
            continue
        if type(node[0]) is DotGeneral or (type(node[0]) is Transpose and node[1][0] in products):
            products[value] = value
        elif type(node[0]) in (BroadcastInDim, Constant):
            members.add(value)
        elif _is_elementwise(node):
            members.add(value)
            for other in _read_with(node, avals, members, products):
                sets.join(other, value)
    return members, sets


def _read_with(
    node: MaterializedNode, avals: Any, members: set[int], products: dict[int, int]
) -> list[int]:
    """Return what an equation reads of its own shape, and who else reads the products of it."""
    value, found = node[2][0], []
    for i in node[1]:
        if avals[i].shape != avals[value].shape:
            continue
        if i in members:
            found.append(i)
        elif i in products:
            found += [products[i]] if products[i] != i else []
            products[i] = value
    return found


def _is_elementwise(node: MaterializedNode) -> bool:
    operation: Any = node[0]
    return operation.output_count == 1 and getattr(type(operation), "batch", None) is pointwise
