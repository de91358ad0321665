"""What repeated times say: median and minimum, ratios, slopes, and whether a goal is met."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

UNDECIDED = 0.15


def summary(times: Sequence[float]) -> dict[str, float]:
    """Median, minimum and how many."""
    return {"median": statistics.median(times), "minimum": min(times), "samples": len(times)}


def ratio(own: Sequence[float], over: Sequence[float]) -> dict[str, float]:
    """How two contestants compare that took turns: the median over the turns, and of the minima.

    A processor that changes its clock does so for both contestants of most turns, so that the
    ratios of single turns vary less than the times do.
    """
    turns = [x / y for x, y in zip(own, over, strict=True)]
    return {"median": statistics.median(turns), "minimum": min(own) / min(over)}


def slope(points: Mapping[float, float] | Sequence[tuple[float, float]]) -> float:
    """The slope of log(y) over log(x) by least squares: the power with which a cost grows."""
    pairs = points.items() if isinstance(points, Mapping) else points
    logs = [(math.log(x), math.log(y)) for x, y in pairs if x > 0 and y > 0]
    if len({x for x, _ in logs}) < 2:
        return math.nan
    x0, y0 = (statistics.mean(axis) for axis in zip(*logs, strict=True))
    return sum((x - x0) * (y - y0) for x, y in logs) / sum((x - x0) ** 2 for x, _ in logs)


def verdict(found: Sequence[float], limit: float, exact: bool = False) -> str:
    """Whether figures stay below a limit: `met`, `missed`, or `undecided` within 15 % of it.

    All given figures (the ratio of the medians, that of the minima) must agree. Counts are exact.
    """
    margin = 1 + (0.0 if exact else UNDECIDED)
    if all(value <= limit / margin for value in found):
        return "met"
    if all(value > limit * margin for value in found):
        return "missed"
    return "undecided"
