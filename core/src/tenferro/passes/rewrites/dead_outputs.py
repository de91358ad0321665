"""``outputs``: operations whose results are not all read, or that share work.

A decomposition whose vectors are not read computes values alone. Values next to a decomposition of
the same matrix, as in a function and its derivative, are those of the decomposition. What is sorted
alone, and again with the positions, is sorted once. Operands that are only sorted along, and that
are not read, are dropped. Values agree to rounding, because the routines differ (and 0.0 and -0.0,
which are equal, may be sorted the other way round). What a parameter says of derivatives alone is
forgotten. Where tangents or cotangents of vectors and of values are read, a mark becomes a check
for equal values, if the backend can warn; other marks go. Read next: ``../_outputs.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from tenferro.computegraph import MaterializedGraph
from tenferro.passes._rewriter import needed

OUTPUTS = "outputs"
_NAMES = "eig eigh eigvals eigvalsh sort svd svdvals vectors_seen vectors_vary"
_KEYS = frozenset(f"std::{name}" for name in _NAMES.split())


def without_dead_outputs(
    graph: MaterializedGraph, can: Callable[[type], bool]
) -> tuple[MaterializedGraph, int]:
    """Shrink decompositions whose outputs are not all read; also return how many changed."""
    if _KEYS.isdisjoint(graph.operation_keys):
        return graph, 0
    found = import_module("tenferro.passes._outputs").Outputs(graph, can)
    found.run()
    if not found.count:
        return graph, 0
    outputs = [found.number[i] for i in graph.outputs]
    return needed(graph, found.nodes, outputs, found.avals), found.count
