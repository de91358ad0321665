"""Minimum vertex cuts: the fewest values through which everything that is wanted can be had.

Every value is split into an entry and an exit with room for one way between them; ways are added
while one can be found (Ford, Fulkerson (1956), Maximal flow through a network), all of one length
in one walk, so that few walks find them (Even, Tarjan (1975), Network flow and testing graph
connectivity, §3). Read next: `plan_passes/fusion/rematerialize.py`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

__all__ = ["vertex_cut"]

_ORIGIN, _END = -1, -2
_UNBOUNDED = 1 << 30

Room = dict[int, dict[int, int]]  # node → next node → how many more ways fit


def vertex_cut(ends: Iterable[int], sources: Callable[[int], Sequence[int] | None]) -> set[int]:
    """Return the smallest set of values that separates the origins from the ends.

    `sources` gives the values before a value, and None for an origin; what has no origin behind it
    needs no cut. Of several smallest sets it is the one next to the ends.
    """
    room: Room = {_ORIGIN: {}, _END: {}}
    values = _build(room, ends, sources)
    while _END in (distance := _distances(room)):
        _add_ways(room, distance)
    near_end = _reaching_end(room)
    return {v for v in values if 2 * v not in near_end and 2 * v + 1 in near_end}


def _build(
    room: Room, ends: Iterable[int], sources: Callable[[int], Sequence[int] | None]
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
        _join(room, 2 * value, 2 * value + 1, 1)
        before = sources(value)
        if before is None:
            _join(room, _ORIGIN, 2 * value, _UNBOUNDED)
            continue
        for source in before:
            _join(room, 2 * source + 1, 2 * value, _UNBOUNDED)
            stack.append(source)
    return found


def _join(room: Room, a: int, b: int, ways: int) -> None:
    room.setdefault(a, {})[b] = ways
    room.setdefault(b, {}).setdefault(a, 0)


def _distances(room: Room) -> dict[int, int]:
    """Return distances of nodes from the origins on remaining paths; stop at the ends."""
    distance = {_ORIGIN: 0}
    queue = deque([_ORIGIN])
    while queue and _END not in distance:
        node = queue.popleft()
        for other, ways in room[node].items():
            if ways and other not in distance:
                distance[other] = distance[node] + 1
                queue.append(other)
    return distance


def _add_ways(room: Room, distance: dict[int, int]) -> None:
    """Use shortest ways to the ends that are left, until each further one would meet another."""
    untried = {node: iter(room[node]) for node in distance}
    way = [_ORIGIN]
    while way:
        node = way[-1]
        if node == _END:
            for one, other in pairwise(way):
                room[one][other] -= 1
                room[other][one] += 1
            way = [_ORIGIN]
            continue
        for other in untried[node]:  # a node has room for one way, so each is tried once
            if room[node][other] and distance.get(other) == distance[node] + 1:
                way.append(other)
                break
        else:
            way.pop()


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
