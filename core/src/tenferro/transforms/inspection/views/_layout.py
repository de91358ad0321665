"""Layered layout of a picture's boxes, from the top down, in four steps.

Longest path gives each box its row; an edge over several rows passes a lane in each of them; rows
are ordered by barycentres until fewer edges no longer cross; and positions within a row minimize
the squared distances to the neighbours, with room kept between. The scheme is that of K. Sugiyama,
S. Tagawa, M. Toda, IEEE Trans. SMC 11 (1981) 109; the last step is an isotonic regression (pooling
of adjacent violators). Nothing recurses over the depth. Knows only sizes and numbers.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Hashable, Sequence
from itertools import pairwise

from tenferro._runtime.records import NamedTuple

_BETWEEN_BOXES = 22.0
_BETWEEN_LANES = 9.0
_BETWEEN_ROWS = 34.0
_MARGIN = 16.0
_SWEEPS = 8


class BoxPlace(NamedTuple):
    """A box: its centre, its top, and its size."""

    x: float
    top: float
    width: float
    height: float


class Drawing(NamedTuple):
    """Places of the boxes; per edge the points (x, top, bottom) that it passes, both ends too."""

    width: float
    height: float
    places: list[BoxPlace]
    routes: list[list[tuple[float, float, float]]]


class _Net:
    """Boxes and lanes with their rows; every link joins neighbouring rows."""

    def __init__(self, sizes: Sequence[tuple[float, float]], rows: Sequence[int]) -> None:
        self.row = list(rows)
        self.width = [width for width, _ in sizes]
        self.is_lane = [False] * len(sizes)
        self.up: list[list[int]] = [[] for _ in sizes]
        self.down: list[list[int]] = [[] for _ in sizes]
        self._lanes: dict[tuple[int, Hashable, int], int] = {}

    def link(self, above: int, below: int) -> None:
        """Join two neighbours, once."""
        if below not in self.down[above]:
            self.down[above].append(below)
            self.up[below].append(above)

    def lane(self, start: int, kind: Hashable, row: int) -> int:
        """Return the lane through a row for all edges of a kind that leave one box."""
        found = self._lanes.get((start, kind, row))
        if found is None:
            found = self._lanes[start, kind, row] = len(self.row)
            self.row.append(row)
            self.width.append(0.0)
            self.is_lane.append(True)
            self.up.append([])
            self.down.append([])
        return found


def draw(
    sizes: Sequence[tuple[float, float]],
    edges: Sequence[tuple[int, int, Hashable]],
    loose: Sequence[bool],
) -> Drawing:
    """Place boxes of these sizes (width, height), given in topological order.

    ``edges`` are (start, end, kind); those of one kind that leave one box run together. ``loose``
    boxes stand right above the first that reads them instead of at the top.
    """
    rows = _rows(len(sizes), edges, loose)
    net = _Net(sizes, rows)
    paths = [_path(net, *edge) for edge in edges]
    order = _order(net)
    x = _positions(net, order)
    return _drawing(sizes, rows, paths, x)


def _rows(
    count: int, edges: Sequence[tuple[int, int, Hashable]], loose: Sequence[bool]
) -> list[int]:
    """Return the row of each box: one below the lowest box that it reads."""
    row = [0] * count
    for start, end, _ in sorted(edges, key=lambda edge: edge[1]):
        row[end] = max(row[end], row[start] + 1)
    nearest: dict[int, int] = {}
    for start, end, _ in edges:
        nearest[start] = min(nearest.get(start, row[end]), row[end])
    for box, below in nearest.items():
        if loose[box]:
            row[box] = below - 1
    return row


def _path(net: _Net, start: int, end: int, kind: Hashable) -> list[int]:
    """Link the box, lanes and box that an edge passes, and return them."""
    lanes = [net.lane(start, kind, row) for row in range(net.row[start] + 1, net.row[end])]
    path = [start, *lanes, end]
    for above, below in pairwise(path):
        net.link(above, below)
    return path


# ---- order within the rows -----------------------------------------------------------------------


def _order(net: _Net) -> list[list[int]]:
    """Return the members of each row from left to right; the best order of some sweeps."""
    order: list[list[int]] = [[] for _ in range(max(net.row, default=-1) + 1)]
    for item, row in enumerate(net.row):
        order[row].append(item)
    best, fewest = order, _crossings(net, order)
    for sweep in range(_SWEEPS):
        if fewest == 0:
            break
        order = _sorted(net, order, downward=sweep % 2 == 0)
        crossings = _crossings(net, order)
        if crossings < fewest:
            best, fewest = order, crossings
    return best


def _sorted(net: _Net, order: list[list[int]], downward: bool) -> list[list[int]]:
    """Sort each row by the mean place of the neighbours in the row before it."""
    rows = list(range(len(order)) if downward else reversed(range(len(order))))
    neighbours = net.up if downward else net.down
    place: dict[int, float] = {}
    result: list[list[int]] = [[] for _ in order]
    for row in rows:
        own = {item: float(i) for i, item in enumerate(order[row])}
        key = {item: _mean([place[n] for n in neighbours[item]], own[item]) for item in own}
        result[row] = sorted(order[row], key=key.__getitem__)
        place.update({item: float(i) for i, item in enumerate(result[row])})
    return result


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _crossings(net: _Net, order: list[list[int]]) -> int:
    """Count the pairs of links that cross."""
    total = 0
    for above, below in pairwise(order):
        place = {item: i for i, item in enumerate(below)}
        seen: list[int] = []
        for item in above:
            ends = sorted(place[n] for n in net.down[item])
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


# ---- positions -----------------------------------------------------------------------------------


def _positions(net: _Net, order: list[list[int]]) -> list[float]:
    """Return the x of every box and lane: near its neighbours, without overlap in its row."""
    x = [0.0] * len(net.row)
    for row in order:
        _keep_distance(net, row, [0.0] * len(row), x)
    for sweep in range(_SWEEPS):
        downward = sweep % 2 == 1
        for row in order if downward else reversed(order):
            near = net.up if downward else net.down
            wanted = [_mean([x[n] for n in near[item]], x[item]) for item in row]
            _keep_distance(net, row, wanted, x)
    return x


def _keep_distance(net: _Net, row: Sequence[int], wanted: Sequence[float], x: list[float]) -> None:
    """Set the x of a row as near as possible to what is wanted, in its order, without overlap."""
    offset, offsets = 0.0, []
    for i, item in enumerate(row):
        if i:
            lanes = net.is_lane[row[i - 1]] and net.is_lane[item]
            gap = _BETWEEN_LANES if lanes else _BETWEEN_BOXES
            offset += (net.width[row[i - 1]] + net.width[item]) / 2 + gap
        offsets.append(offset)
    # lanes weigh more, so that long edges are straight
    weights = [4.0 if net.is_lane[item] else 1.0 for item in row]
    free = rising([w - o for w, o in zip(wanted, offsets, strict=True)], weights)
    for item, value, o in zip(row, free, offsets, strict=True):
        x[item] = value + o


def rising(values: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Return the nondecreasing sequence that is nearest to the values, in weighted squares.

    >>> rising([3.0, 1.0, 5.0], [1.0, 1.0, 1.0])
    [2.0, 2.0, 5.0]
    """
    pools: list[tuple[float, float, int]] = []  # mean, weight, members
    for value, weight in zip(values, weights, strict=True):
        pool = (value, weight, 1)
        while pools and pools[-1][0] > pool[0]:
            mean, w, members = pools.pop()
            both = w + pool[1]
            pool = ((mean * w + pool[0] * pool[1]) / both, both, members + pool[2])
        pools.append(pool)
    return [mean for mean, _, members in pools for _ in range(members)]


# ---- the drawing ---------------------------------------------------------------------------------


def _drawing(
    sizes: Sequence[tuple[float, float]],
    rows: Sequence[int],
    paths: Sequence[Sequence[int]],
    x: Sequence[float],
) -> Drawing:
    heights = [0.0] * (max(rows, default=-1) + 1)
    for (_, height), row in zip(sizes, rows, strict=True):
        heights[row] = max(heights[row], height)
    tops = [_MARGIN]
    for height in heights:
        tops.append(tops[-1] + height + _BETWEEN_ROWS)
    left = min([x[i] - sizes[i][0] / 2 for i in range(len(sizes))] + list(x), default=0.0)
    x = [value - left + _MARGIN for value in x]
    places = [
        BoxPlace(x[i], tops[rows[i]] + (heights[rows[i]] - h) / 2, w, h)
        for i, (w, h) in enumerate(sizes)
    ]
    ports = _ports(paths, x, places)
    routes = [
        _route(path, port, rows, places, x, tops, heights)
        for path, port in zip(paths, ports, strict=True)
    ]
    right = max([p.x + p.width / 2 for p in places] + list(x), default=0.0)
    return Drawing(right + _MARGIN, tops[-1] - _BETWEEN_ROWS + _MARGIN, places, routes)


def _ports(
    paths: Sequence[Sequence[int]], x: Sequence[float], places: Sequence[BoxPlace]
) -> list[float]:
    """Return where each edge enters its box: spread over the top side, in the order of arrival."""
    arriving: dict[int, list[int]] = {}
    for number, path in enumerate(paths):
        arriving.setdefault(path[-1], []).append(number)
    ports = [0.0] * len(paths)
    for box, numbers in arriving.items():
        numbers.sort(key=lambda n: x[paths[n][-2]])
        room = min(places[box].width * 0.6, 26.0 * (len(numbers) - 1))
        for i, number in enumerate(numbers):
            share = i / (len(numbers) - 1) - 0.5 if len(numbers) > 1 else 0.0
            ports[number] = places[box].x + room * share
    return ports


def _route(
    path: Sequence[int],
    port: float,
    rows: Sequence[int],
    places: Sequence[BoxPlace],
    x: Sequence[float],
    tops: Sequence[float],
    heights: Sequence[float],
) -> list[tuple[float, float, float]]:
    start, end = places[path[0]], places[path[-1]]
    points = [(start.x, start.top, start.top + start.height)]
    for i, lane in enumerate(path[1:-1], rows[path[0]] + 1):
        points.append((x[lane], tops[i], tops[i] + heights[i]))
    return [*points, (port, end.top, end.top + end.height)]
