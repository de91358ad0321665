"""``residuals``: large values are computed where they are read, so that less is kept at a time.

The order of a graph follows its outputs; what a derivative reads may so be computed long before.
An equation moves down to its first reader if what it reads and nothing else would need is not
larger than its result, and up to the last of its operands if its result is not larger than what it
frees: so the gradient of a weight is computed before the sweep goes on. A conversion, comparison
or count that is read again far below is computed again there, if what it reads is there or smaller,
and if memory is at its peak in between. All of it is done only where the peak becomes lower. No
number changes. Read next: ``../_driver.py``.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from tenferro.computegraph import MaterializedGraph
from tenferro.computegraph._materialize import MaterializedNode, new_row
from tenferro.computegraph._roles import PRIMARY
from tenferro.passes._memory import Liveness
from tenferro.passes._rewriter import needed
from tenferro.primitives.comparison import Eq, Ge, Gt, Le, LogicalAnd, LogicalNot, LogicalOr, Lt, Ne
from tenferro.primitives.constants import Constant, Iota
from tenferro.primitives.structural import BroadcastInDim, Convert

_MIN_DISTANCE_TO_RECOMPUTE = 8  # equations between two readers
_NEAR_PEAK = 0.9  # of the peak
_RECOMPUTABLE = frozenset(
    {Eq, Ge, Gt, Le, Lt, Ne, LogicalAnd, LogicalNot, LogicalOr, Convert, BroadcastInDim, Iota}
)
_FIXED = frozenset({Constant, Iota})


def with_short_lives(graph: MaterializedGraph, large: int) -> tuple[MaterializedGraph, int]:
    """Reorder and recompute to shorten the lives of values of at least ``large`` bytes; also count
    the changes.
    """
    best, changes = graph, 0
    lives = Liveness.of(graph)
    least = lives.peak
    count = 0
    for change in (_late, _early, _again):  # one may lower the peak only where another has worked
        found, more = change(graph, lives, large)
        if not more:
            continue
        sizes = lives.sizes if len(found.avals) == len(lives.sizes) else None
        graph, lives, count = found, Liveness.of(found, sizes), count + more
        if lives.peak < least:
            best, least, changes = graph, lives.peak, count
    return needed(best, best.nodes, best.outputs, best.avals) if changes else best, changes


# ---- later ---------------------------------------------------------------------------------------


def _late(graph: MaterializedGraph, lives: Liveness, large: int) -> tuple[MaterializedGraph, int]:
    """Move each large value as late as possible, unless that keeps a larger operand alive."""
    sizes = lives.sizes
    end = len(graph.nodes)
    first = [end] * len(sizes)  # the place of the first reader
    last = [end if i < len(graph.inputs) else -1 for i in range(len(sizes))]  # inputs are kept
    for i in graph.outputs:
        first[i], last[i] = -1, end
    place = list(range(end))
    for position in range(end - 1, -1, -1):
        node = graph.nodes[position]
        made = node[2]
        wanted = first[made[0]] if len(made) == 1 else min([first[i] for i in made])
        if position + 1 < wanted < end and type(node[0]) not in _FIXED:
            waiting = sum([sizes[i] for i in set(node[1]) if last[i] < wanted])
            if waiting <= sum([sizes[i] for i in made]) >= large:
                place[position] = wanted
        here = place[position]
        for i in node[1]:
            if here < first[i]:
                first[i] = here
            if here > last[i]:
                last[i] = here
    return _ordered(graph, place)


def _early(graph: MaterializedGraph, lives: Liveness, large: int) -> tuple[MaterializedGraph, int]:
    """Move each equation that frees large values up to the last of its operands."""
    place = list(range(len(graph.nodes)))
    sizes, last = lives.sizes, lives.last
    made = [-1] * len(sizes)
    for position, node in enumerate(graph.nodes):
        operation, inputs, outputs = node[:3]
        size = lives.freed[position]
        if size >= large and size >= sum([sizes[i] for i in outputs]):
            wanted = max([made[i] for i in inputs], default=position)
            if wanted + 1 < position and type(operation) not in _FIXED:
                freed = [i for i in set(inputs) if last[i] == position]
                others = [place[at] for i in freed for at in lives.reads[i] if at < position]
                place[position] = min(position, max([wanted, *others]))
        for i in outputs:
            made[i] = place[position]
    return _ordered(graph, place)


def _ordered(graph: MaterializedGraph, place: list[int]) -> tuple[MaterializedGraph, int]:
    """Return the graph with its equations in the order of their places, and how many moved.

    Values keep their numbers.
    """
    count = sum([here != position for position, here in enumerate(place)])
    if not count:
        return graph, 0
    nodes = [graph.nodes[position] for position in sorted(range(len(place)), key=place.__getitem__)]
    return MaterializedGraph(graph.inputs, nodes, graph.outputs, graph.avals), count


# ---- again ---------------------------------------------------------------------------------------


def _again(graph: MaterializedGraph, lives: Liveness, large: int) -> tuple[MaterializedGraph, int]:
    """Recompute cheap values before readers that are far below."""
    copies: dict[int, list[int]] = {}  # position → values that are made again before it
    for node in graph.nodes:
        if type(node[0]) in _RECOMPUTABLE and lives.sizes[node[2][0]] >= large:
            for position in _far_readers(node, lives):
                copies.setdefault(position, []).append(node[2][0])
    if not copies:
        return graph, 0
    makers = {node[2][0]: node for node in graph.nodes}
    avals: list[Any] = list(graph.avals)
    number = list(range(len(avals)))
    nodes = []
    for position, node in enumerate(graph.nodes):
        for value in copies.get(position, ()):
            operation, inputs, _, _, source = makers[value]
            number[value] = len(avals)
            avals.append(avals[value])
            given = tuple([number[i] for i in inputs])
            nodes.append(new_row((operation, given, (number[value],), PRIMARY, source)))
        operation, inputs, outputs, role, source = node
        given = tuple([number[i] for i in inputs])
        nodes.append(new_row((operation, given, outputs, role, source)))
    found = MaterializedGraph(graph.inputs, nodes, graph.outputs, avals)
    return found, sum(map(len, copies.values()))


def _far_readers(node: MaterializedNode, lives: Liveness) -> list[int]:
    """Return readers before which the value would be kept for long, over the peak."""
    value = node[2][0]
    if lives.is_output[value]:
        return []
    found = []
    reads = lives.reads[value]
    for previous, position in pairwise(reads):
        if position - previous < _MIN_DISTANCE_TO_RECOMPUTE or not lives.is_high(
            previous, position, _NEAR_PEAK
        ):
            continue
        waiting = sum([lives.sizes[i] for i in set(node[1]) if lives.last[i] < position])
        if 2 * waiting < lives.sizes[value]:
            found.append(position)
    return found
