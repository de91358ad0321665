"""Segments of a program whose sizes depend on values, and the cache that holds them.

Values have names that do not depend on what comes after a segment: an input has its number, the
output of an equation the number of the equation and its own. Read next: ``dynamic.py``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from threading import RLock
from typing import TYPE_CHECKING, Any

from tenferro._runtime import renew_in_children
from tenferro._runtime.records import NamedTuple
from tenferro.arrays.evaluation.evaluate import executable
from tenferro.arrays.handle.looks import Find
from tenferro.computegraph import CacheStats, MaterializedGraph, ValueKey, new_leaf
from tenferro.computegraph._materialize import MaterializedNode
from tenferro.primitives._aval import Aval

if TYPE_CHECKING:
    from tenferro.backend.base import Backend, Executable

MAX_SEGMENTS = 256
_BYTES_PER_EQUATION = 1500

Name = int | tuple[int, int]  # of an input, or the output of an equation


class Part(NamedTuple):
    """A part of a function: the values that its look reads, or the results."""

    roots: tuple[ValueKey, ...]
    find: Find | None  # of the look; None for the last part


class Last(NamedTuple):
    """The form of the results of the last segment."""

    spec: Any
    avals: tuple[Aval, ...]
    captured: tuple[Any, ...]


class Piece(NamedTuple):
    """Equations of one part, before they are compiled."""

    graph: MaterializedGraph  # of the whole function
    declared: int  # number of inputs that are not captured
    captured: Sequence[Any]
    nodes: Sequence[MaterializedNode]
    names: Mapping[int, Name]
    roots: tuple[int, ...]
    kept: frozenset[Name]  # values of this part that later parts read
    find: Find | None


def parts_of(
    graph: MaterializedGraph, declared: int, parts: Sequence[Part], captured: Sequence[Any]
) -> list[Piece]:
    """Cut a graph whose outputs are the roots of all parts, in order."""
    names: dict[int, Name] = {number: number for number in range(declared)}
    maker: dict[int, int] = {}
    for i, node in enumerate(graph.nodes):
        for j, number in enumerate(node.outputs):
            names[number] = (i, j)
            maker[number] = i
    literals = {i for i, node in enumerate(graph.nodes) if node.operation.literal}
    cuts: list[int] = []
    first = 0
    roots = []
    for part in parts:
        after = first + len(part.roots)
        roots.append(graph.outputs[first:after])
        ends = [maker[number] + 1 for number in roots[-1] if number in maker]
        cuts.append(max([*ends, *cuts[-1:]], default=0))
        first = after
    bounds = list(zip([0, *cuts], cuts, strict=False))
    read_later: list[frozenset[Name]] = []
    wanted: set[int] = set()
    for (start, end), numbers in zip(reversed(bounds), reversed(roots), strict=True):
        own = {number for number in wanted if start <= maker.get(number, -1) < end}
        read_later.append(frozenset([names[n] for n in own if maker[n] not in literals]))
        wanted.update(numbers)
        for node in graph.nodes[start:end]:
            wanted.update(node.inputs)
    read_later.reverse()
    return [
        Piece(graph, declared, captured, graph.nodes[a:b], names, numbers, kept, part.find)
        for (a, b), numbers, kept, part in zip(bounds, roots, read_later, parts, strict=True)
    ]


def compiled_segment(
    piece: Piece, old: Segment | None, backend: Backend, options: Any, last: Last | None
) -> Segment:
    """Compile a piece, or return the segment of an earlier trace if it does as much.

    The segment keeps what any continuation reads, those of earlier traces too.
    """
    bare, inputs = _cut_out(piece, ())
    base = bare.structure, tuple([piece.names.get(number) for number in inputs])
    kept = piece.kept
    if old is not None and old.base == base and old.backend is backend:
        if old.kept >= kept and last is None:
            return old
        kept |= old.kept
    ordered = tuple(sorted(kept, key=str))
    graph, inputs = _cut_out(piece, ordered)
    run = executable(graph, backend, options)
    run.prepare()
    take = backend.asoperand
    captured = {
        i: take(piece.captured[number - piece.declared], graph.avals[i])
        for i, number in enumerate(inputs)
        if piece.declared <= number < len(piece.graph.inputs)
    }
    names = tuple([None if i in captured else piece.names[n] for i, n in enumerate(inputs)])
    segment = Segment(run, backend, names, captured, graph.avals, ordered, piece.find, last)
    segment.base = base
    segment.looked_avals = [piece.graph.avals[n] for n in piece.roots]
    segment.equations = len(graph)
    segment.count = len(piece.roots) if last is None else len(last.avals)
    segment.roots = len(piece.roots)
    return segment


def _cut_out(piece: Piece, kept: Sequence[Name]) -> tuple[MaterializedGraph, tuple[int, ...]]:
    """Return the equations of a piece as a graph, and the numbers of its inputs in the whole."""
    whole = piece.graph
    number_of = {name: number for number, name in piece.names.items()}
    outputs = (*piece.roots, *[number_of[name] for name in kept])
    made = {number for node in piece.nodes for number in node.outputs}
    needed = [n for node in piece.nodes for n in node.inputs] + [*outputs]
    outside = [number for number in dict.fromkeys(needed) if number not in made]
    by_literal = {n: node for node in whole.nodes if node.operation.literal for n in node.outputs}
    literals = [by_literal[number] for number in outside if number in by_literal]
    inputs = sorted([number for number in outside if number not in by_literal])
    place = {number: i for i, number in enumerate(inputs)}
    avals = [whole.avals[number] for number in inputs]
    rows = []
    for node in [*literals, *piece.nodes]:
        given = tuple([place[number] for number in node.inputs])
        first = len(avals)
        place.update({number: first + j for j, number in enumerate(node.outputs)})
        avals += [whole.avals[number] for number in node.outputs]
        rows.append(node._replace(inputs=given, outputs=tuple(range(first, len(avals)))))
    leaves = [
        whole.inputs[n] if n < len(whole.inputs) else new_leaf(f"value{n}", whole.avals[n])
        for n in inputs
    ]
    found = MaterializedGraph(leaves, rows, [place[number] for number in outputs], avals)
    return found, tuple(inputs)


class Segment:
    """The program from one look to the next."""

    base: Any  # what it computes for its look, and the names of the inputs of that
    looked_avals: Sequence[Aval]
    equations: int
    count: int  # of results that leave, or that its look reads
    roots: int  # the same with effects

    def __init__(
        self,
        run: Executable,
        backend: Backend,
        names: tuple[Name | None, ...],
        captured: Mapping[int, Any],
        avals: Sequence[Aval],
        ordered: tuple[Name, ...],
        find: Find | None,
        last: Last | None,
    ) -> None:
        self._run = run
        self.backend = backend
        self._names = names
        self._captured = captured
        self._avals = avals
        self._ordered = ordered
        self.kept = frozenset(ordered)
        self.find = find
        self.last = last

    def can_run(self, values: Mapping[Name, Any]) -> bool:
        """Return True if the values hold all that it reads."""
        return all([name is None or name in values for name in self._names])

    def run(self, values: dict[Any, Any]) -> Sequence[Any]:
        """Run on the values, add those that later segments read, and return the results."""
        take = self.backend.asoperand
        operands = []
        for i, name in enumerate(self._names):
            x = self._captured[i] if name is None else values[name]
            operands.append(take(x, self._avals[i]) if type(name) is int else x)
        found = self._run(*operands)
        values.update(zip(self._ordered, found[self.roots :], strict=True))
        return found[: self.count]

    def explain(self) -> str:
        """Describe the program."""
        rows = {"backend": self.backend.name, "equations": str(self.equations)}
        rows["then"] = "returns" if self.find is None else "asks for a size"
        lines = [f"{label:<13}{text}" for label, text in rows.items()]
        return "\n".join([*lines, self._run.explain().rstrip()])


def answer_of(find: Find, values: Sequence[Any], avals: Sequence[Aval]) -> Sequence[Any]:
    """Return what a look finds in values; those of rank 0 are numbers."""
    pairs = zip(values, avals, strict=True)
    return find(*[x if aval.shape else x[()] for x, aval in pairs])


def on_host(operand: Any, backend: Backend) -> Any:
    """Return an operand as an array of NumPy."""
    return backend.to_numpy(operand)


class Continuations:
    """Cache of segments by signature and sizes; those used last stay."""

    def __init__(self) -> None:
        self._segments: OrderedDict[Any, Segment] = OrderedDict()
        self._lock = RLock()
        renew_in_children(self)
        self._hits = self._misses = self._evictions = 0
        self.level = 0  # as `JitCache.level`

    def renew_after_fork(self) -> None:
        """Make a new lock."""
        self._lock = RLock()

    def __len__(self) -> int:
        return len(self._segments)

    def find(self, key: Hashable) -> Segment | None:
        """Return a segment, and count this as a use of it."""
        with self._lock:
            segment = self._segments.get(key)
            if segment is not None:
                self._segments.move_to_end(key)
            return segment

    def peek(self, key: Hashable) -> Segment | None:
        """Return a segment."""
        return self._segments.get(key)

    def keep(self, key: Hashable, segment: Segment) -> None:
        """Keep a segment; the one that was not used for longest leaves when there are too many."""
        with self._lock:
            self._segments[key] = segment
            self._segments.move_to_end(key)
            while len(self._segments) > MAX_SEGMENTS:
                self._segments.popitem(last=False)
                self._evictions += 1

    def items(self) -> list[Any]:
        """Return keys and segments, shortest sizes first."""
        with self._lock:
            return sorted(self._segments.items(), key=lambda item: len(item[0][1]))

    def count(self, has_traced: bool) -> None:
        """Count a call that traced the function as a miss, any other as a hit."""
        with self._lock:
            self._misses += has_traced
            self._hits += not has_traced

    @property
    def stats(self) -> CacheStats:
        """The counters."""
        with self._lock:
            size = sum([_BYTES_PER_EQUATION * x.equations for x in self._segments.values()])
            count = len(self._segments)
            return CacheStats(self._hits, self._misses, self._evictions, count, size)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._segments.clear()
            self._hits = self._misses = self._evictions = 0
