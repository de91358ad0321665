"""Memory profile of a graph run in its order: bytes after each equation, and the peak.

Every value counts with its own bytes until its last reader; what is only repeated counts for
nothing, because backends need not expand it. Read next: ``rewrites/residuals.py``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from tenferro.computegraph import MaterializedGraph
from tenferro.primitives.constants import Constant
from tenferro.primitives.structural import BroadcastInDim

_VIEWS = frozenset({BroadcastInDim, Constant})


class Liveness:
    """Lifetimes and sizes of the values in one order of a graph.

    ``freed`` are the bytes whose last reader is each equation; the last entry is for the outputs.
    """

    def __init__(
        self, graph: MaterializedGraph, sizes: Sequence[int], reads: list[list[int]]
    ) -> None:
        self.sizes = sizes
        self.reads = reads
        self.is_output = bytearray(len(sizes))
        end = len(graph.nodes)
        self.last = [read[-1] if read else -1 for read in reads]
        for i in range(len(graph.inputs)):
            self.last[i] = end
        for i in graph.outputs:
            self.is_output[i] = 1
            self.last[i] = end
        self._high: list[int] | None = None
        self.freed = self._freed(graph)
        self._kept = self._profile(graph)
        self.peak = max(self._kept, default=0)

    @staticmethod
    def of(graph: MaterializedGraph, sizes: Sequence[int] | None = None) -> Liveness:
        """Compute the lifetimes of the values of a graph; ``sizes`` are those of another order."""
        counted = _sizes(graph) if sizes is None else sizes
        reads: list[list[int]] = [[] for _ in counted]
        for position, node in enumerate(graph.nodes):
            for i in node[1]:
                reads[i].append(position)
        return Liveness(graph, counted, reads)

    def _freed(self, graph: MaterializedGraph) -> list[int]:
        """Return the bytes that are not read after each equation, without those of the inputs."""
        count = len(graph.inputs)
        freed: list[int] = [0] * (len(graph.nodes) + 1)
        for last, size in zip(self.last[count:], self.sizes[count:], strict=True):
            if last >= 0:
                freed[last] += size
        return freed

    def _profile(self, graph: MaterializedGraph) -> list[int]:
        """Return the bytes that are live while each equation runs, without those of the inputs."""
        sizes = self.sizes
        kept, now = [], 0
        for node, less in zip(graph.nodes, self.freed, strict=False):
            made = node[2]
            now += sizes[made[0]] if len(made) == 1 else sum([sizes[i] for i in made])
            kept.append(now)
            now -= less
        return kept

    def is_high(self, start: int, stop: int, share: float) -> bool:
        """Return True if memory is near its peak at some equation strictly between two others."""
        if self._high is None:
            self._high = [at for at, kept in enumerate(self._kept) if kept >= share * self.peak]
        after = bisect_right(self._high, start)
        return after < len(self._high) and self._high[after] < stop


def _sizes(graph: MaterializedGraph) -> list[int]:
    """Return the bytes of each value; what is only repeated has none."""
    bytes_of = {aval: aval.size * aval.dtype.itemsize for aval in set(graph.avals)}
    sizes = [bytes_of[aval] for aval in graph.avals]
    for node in graph.nodes:
        if type(node[0]) in _VIEWS:
            sizes[node[2][0]] = 0
    return sizes
