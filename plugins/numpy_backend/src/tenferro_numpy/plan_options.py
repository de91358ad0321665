"""The options of a plan; the passes that they switch off load with the planner.

Read next: `planner.py`.
"""

from __future__ import annotations

from tenferro.backend.extend import NamedTuple
from tenferro_numpy.machine.tile_size import Tiling

__all__ = ["PlanOptions"]


class PlanOptions(NamedTuple):
    """Options of a plan.

    tiling    of large elementwise steps, which become regions; None for none
    donated   inputs that may be written to
    without   names among the planner's `SWITCHES`: passes that do not run
    """

    tiling: Tiling | None = None
    donated: tuple[int, ...] = ()
    without: frozenset[str] = frozenset()
