"""Minimum vertex cuts: the cheapest values from which all wanted values can be computed.

Every value is split into an entry and an exit with as much room between them as the value weighs;
flow is added while there is a path with room (Ford, Fulkerson (1956), Maximal flow through a
network), along all shortest paths in one walk, so that few walks find them (Dinic (1970), Algorithm
for solution of a problem of maximum flow).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

__all__ = ["vertex_cut"]

_ORIGIN, _END = -1, -2
_UNBOUNDED = 1 << 62

Room = dict[int, dict[int, int]]  # node → next node → how much more flow fits


def vertex_cut(
    ends: Iterable[int],
    sources: Callable[[int], Sequence[int] | None],
    weight: Callable[[int], int] = lambda value: 1,
) -> set[int]:
    """Return the lightest set of values that separates the origins from the ends.

    `sources` gives the values before a value, and None for an origin; a value without an origin
    behind it needs no cut. Weights are positive. Of several lightest sets it is the one next to the
    ends.
    """
    room: Room = {_ORIGIN: {}, _END: {}}
    values = _build(room, ends, sources, weight)
    while _END in (distance := _distances(room)):
        _add_flow(room, distance)
    near_end = _reaching_end(room)
    return {v for v in values if 2 * v not in near_end and 2 * v + 1 in near_end}


def _build(
    room: Room,
    ends: Iterable[int],
    sources: Callable[[int], Sequence[int] | None],
    weight: Callable[[int], int],
) -> set[int]:
    """Enter all values behind the ends; entries are even nodes, exits odd ones."""
    found: set[int] = set()
    stack = list(ends)
    for end in stack:
        _join(room, 2 * end + 1, _END, _UNBOUNDED)
    while stack:
        value = stack.pop()
        if value in found:
            continue
        found.add(value)
        _join(room, 2 * value, 2 * value + 1, weight(value))
        before = sources(value)
        if before is None:
            _join(room, _ORIGIN, 2 * value, _UNBOUNDED)
            continue
        for source in before:
            _join(room, 2 * source + 1, 2 * value, _UNBOUNDED)
            stack.append(source)
    return found


def _join(room: Room, a: int, b: int, flow: int) -> None:
    room.setdefault(a, {})[b] = flow
    room.setdefault(b, {}).setdefault(a, 0)


def _distances(room: Room) -> dict[int, int]:
    """Return distances of nodes from the origins on remaining paths; stop at the ends."""
    distance = {_ORIGIN: 0}
    queue = deque([_ORIGIN])
    while queue and _END not in distance:
        node = queue.popleft()
        for other, flow in room[node].items():
            if flow and other not in distance:
                distance[other] = distance[node] + 1
                queue.append(other)
    return distance


def _add_flow(room: Room, distance: dict[int, int]) -> None:
    """Fill shortest paths to the ends until each further one has an edge without room."""
    edges = {node: list(room[node]) for node in distance}
    tried = dict.fromkeys(distance, 0)  # edges of a node that lead no further
    path = [_ORIGIN]
    while path:
        node = path[-1]
        if node == _END:
            flow = min([room[a][b] for a, b in pairwise(path)])
            for a, b in pairwise(path):
                room[a][b] -= flow
                room[b][a] += flow
            path = [_ORIGIN]
            continue
        for i in range(tried[node], len(edges[node])):
            other = edges[node][i]
            if room[node][other] and distance.get(other) == distance[node] + 1:
                path.append(other)
                break
            tried[node] += 1
        else:
            path.pop()
            if path:
                tried[path[-1]] += 1


def _reaching_end(room: Room) -> set[int]:
    """Return the nodes that still have a path to the ends."""
    found = {_END}
    stack = [_END]
    while stack:
        node = stack.pop()
        for other in room[node]:
            if other not in found and room[other].get(node, 0):
                found.add(other)
                stack.append(other)
    return found
