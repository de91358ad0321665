"""Memory of a graph run in its order: bytes alive at each equation, with those inside of loops.

A value counts from its equation to its last reader. A view counts nothing, and keeps alive what it
shows. The arguments of a program count nothing: they are the caller's. While a loop runs, its
stacked results are there, two copies of its carry, and what one step needs.
Read next: ``loops.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from tenferro.computegraph import Fragment, MaterializedGraph, MaterializedNode, Operation
from tenferro.primitives.constants import Constant
from tenferro.primitives.control import Scan
from tenferro.primitives.structural import (
    BroadcastInDim,
    OptimizationBarrier,
    Reshape,
    Slice,
    Transpose,
)

VIEWS = frozenset({BroadcastInDim, Reshape, Slice, Transpose})


def bytes_of(aval: Any) -> int:
    """Return the size of an array in bytes."""
    size: int = aval.size * aval.dtype.itemsize
    return size


class Profile:
    """Bytes alive while each equation of a graph runs, without the inputs of the graph."""

    def __init__(self, graph: MaterializedGraph) -> None:
        self.graph = graph
        count, end = len(graph.inputs), len(graph.nodes)
        self.sizes = [0] * count + [bytes_of(aval) for aval in graph.avals[count:]]
        self.owner = owner = list(range(len(graph.avals)))  # the value whose memory a view shows
        self.made = [-1] * len(owner)
        self.last = last = [-1] * len(owner)  # position of the last reader of the memory
        self.inner = [inner_bytes(node[0]) for node in graph.nodes]
        for position, node in enumerate(graph.nodes):
            for i in node[1]:
                last[owner[i]] = position
            for i in node[2]:
                self.made[i] = position
                last[i] = max(last[i], position)
            self._share(node)
        for i in graph.outputs:
            last[owner[i]] = end
        self.outside = self._profile()
        self.kept = [a + b for a, b in zip(self.outside, self.inner, strict=True)]
        self.peak = max(self.kept, default=0)

    def _share(self, node: MaterializedNode) -> None:
        """Count nothing for results that are views, literals, or in a file."""
        operation: Any = node.operation
        kind = type(operation)
        free: Sequence[int] = ()
        if kind in VIEWS:
            free = node.outputs
            self.owner[free[0]] = self.owner[node.inputs[0]]
        elif kind is OptimizationBarrier:
            free = node.outputs
            for i, k in zip(free, node.inputs, strict=True):
                self.owner[i] = self.owner[k]
        elif kind is Constant:
            free = node.outputs
        elif kind is Scan and operation.offloaded:
            pairs = zip(node.outputs, operation.outputs, strict=True)
            free = [i for i, output in pairs if output in operation.offloaded]
        for i in free:
            self.sizes[i] = 0

    def _profile(self) -> list[int]:
        """Return the bytes of the values of this graph at each equation."""
        change = [0] * (len(self.graph.nodes) + 2)
        for i in range(len(self.graph.inputs), len(self.sizes)):
            if self.sizes[i]:
                change[self.made[i]] += self.sizes[i]
                change[self.last[i] + 1] -= self.sizes[i]
        now, found = 0, []
        for position in range(len(self.graph.nodes)):
            now += change[position]
            found.append(now)
        return found

    @property
    def position(self) -> int:
        """The first equation at which the most bytes are alive."""
        return self.kept.index(self.peak) if self.kept else 0

    def largest(self, count: int) -> list[tuple[int, int]]:
        """Return the largest values alive at the peak: their bytes and numbers."""
        at = self.position
        alive = [
            (size, i)
            for i, size in enumerate(self.sizes)
            if size and self.made[i] <= at <= self.last[i]
        ]
        return sorted(alive, key=lambda entry: (-entry[0], entry[1]))[:count]


@lru_cache(maxsize=4)
def profile_of(graph: MaterializedGraph) -> Profile:
    """Return the profile of a graph; those asked for last are kept until they are forgotten."""
    return Profile(graph)


def inner_bytes(operation: Operation) -> int:
    """Return the bytes that an equation needs while it runs, without its operands and results."""
    bodies: Sequence[tuple[str, Fragment]] = getattr(operation, "bodies", ())
    if not bodies:
        return 0
    inside = max([peak_of(body) for _, body in bodies])
    body = bodies[-1][1]
    key = getattr(operation, "key", "")
    if key in ("std::scan", "std::while_loop"):
        carried = operation.carried  # type: ignore[attr-defined]  # a loop
        return inside + sum(map(bytes_of, body.output_avals[:carried]))
    return max(0, inside - sum(map(bytes_of, body.output_avals)))  # the results count outside


@lru_cache(maxsize=1024)
def peak_of(body: Fragment) -> int:
    """Return the most bytes alive while a closed graph runs, without its inputs."""
    return Profile(body.flat).peak
