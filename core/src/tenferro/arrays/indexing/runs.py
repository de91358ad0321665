"""Known conditions that hold in few runs along one axis: where they hold is a part, like a slice.

``np.where(np.arange(n) < k, x, y)`` is ``np.concatenate([x[:k], y[k:]])``: what is not chosen need
not be computed. This is asked under ``jit`` alone, which records once; un-jitted, a condition is
data of the program. Read next: ``progressions.py``.
"""

from __future__ import annotations

import sys
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.handle.array import Array, evaluate_if_known
from tenferro.computegraph import UNKNOWN
from tenferro.primitives import Shape

_MAX_RUNS = 3  # parts of a concatenation that costs no more than a selection


class Runs(NamedTuple):
    """Runs of equal truth values along an axis, which alternate."""

    axis: int
    bounds: tuple[tuple[int, int], ...]
    first: bool  # whether the condition holds in the first run


def runs_of(condition: Any, shape: Shape) -> Runs | None:
    """Return the runs of a known condition that broadcasts to a shape; None if not along one axis.

    Also None if there are many runs.
    """
    given = getattr(condition, "shape", ())
    varying = [axis for axis, n in enumerate(given) if n != 1]
    if len(varying) != 1 or not given[varying[0]]:
        return None
    known = _known(condition)
    if known is None or known.dtype.kind != "b":
        return None
    line = known.reshape(-1)
    is_change = line[1:] != line[:-1]
    if int(is_change.sum()) >= _MAX_RUNS:
        return None
    ends = [int(i) + 1 for i in is_change.nonzero()[0]]
    bounds = tuple(zip([0, *ends], [*ends, line.size], strict=True))
    return Runs(varying[0] + len(shape) - len(given), bounds, bool(line[0]))


def _known(condition: Any) -> Any:
    """Return a condition as a NumPy array, if its value does not depend on what is recorded."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None and isinstance(condition, numpy.ndarray):
        return condition
    if not isinstance(condition, Array) or condition.key.traces:
        return None
    if condition.key.operand is UNKNOWN and not evaluate_if_known(condition.key):
        return None
    return condition._concrete("where")
