"""The problem that recorded functions, numbers and options make: what the solver takes.

A ``Setting`` has the options that decide the program besides the functions and the avals of the
numbers. Read next: ``_solution.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.functions.arithmetic import maximum
from tenferro.arrays.functions.data_types import finfo
from tenferro.arrays.handle.array import Array
from tenferro.integrate._dop853 import DOP853
from tenferro.integrate._explicit import BOGACKI_SHAMPINE, DORMAND_PRINCE
from tenferro.integrate._method import RightSide
from tenferro.integrate._rosenbrock import RODAS
from tenferro.integrate._step_sizes import Events, Problem
from tenferro.transforms.control.around import BoundFunction

METHODS = {"RK23": BOGACKI_SHAMPINE, "RK45": DORMAND_PRINCE, "DOP853": DOP853, "Rodas4": RODAS}


class EventSetting(NamedTuple):
    """Attributes of the events, an entry for each function, as a part of the program's key."""

    directions: tuple[float, ...]
    last: tuple[int, ...]
    """The number of the zero that ends the solution; 0: none does."""
    room: tuple[int, ...]
    """The number of zeros that are returned."""


class Setting(NamedTuple):
    """Options that decide the program, besides the functions and the avals of arrays."""

    name: str
    method: str
    max_steps: int
    fixed_times: bool
    axis: int
    """The axis of the times in the solution."""
    is_dense: bool
    has_first_step: bool
    events: EventSetting | None


class Given(NamedTuple):
    """The numbers of a problem, in one precision."""

    t0: Array
    t1: Array
    y0: Array
    rtol: Array
    atol: Array
    max_step: Array
    first_step: Array | None = None

    @property
    def arrays(self) -> list[Array]:
        """Those that there are."""
        return [x for x in self if x is not None]


def problem_of(
    setting: Setting, functions: Sequence[BoundFunction], times: Array, given: Given
) -> Problem:
    """Return the problem of the right side and, unless they are not needed, the events."""
    right, *watched = functions
    events = None
    if setting.events is not None and watched:
        directions, last, room = setting.events
        values = watched[0]
        events = Events(_first(values), _first(values.constant()), directions, last, max(room))
    f = _first(right)
    t0, t1, y0, rtol, atol, max_step, first_step = given
    relative = maximum(rtol, 100 * finfo(t0.dtype).eps)
    return Problem(
        f, _first(right.constant()), METHODS[setting.method], t0, t1, y0, f(t0, y0), times,
        relative, atol, first_step, max_step, setting.max_steps, setting.fixed_times, events,
        setting.is_dense,
    )  # fmt: skip


def _first(function: BoundFunction) -> RightSide:
    """Return the first result of a function of two arguments."""
    return lambda t, y: function(t, y)[0]
