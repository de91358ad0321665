"""The program of an initial value problem: recorded functions and arrays in, a solution out.

A ``Setting`` has the options that decide the program besides these. Read next: ``_steps.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.evaluation.results import in_kind
from tenferro.arrays.functions.arithmetic import maximum, minimum, sign
from tenferro.arrays.functions.comparison import where
from tenferro.arrays.functions.creation import ones_like
from tenferro.arrays.functions.data_types import finfo
from tenferro.arrays.functions.elementwise import stop_gradient
from tenferro.arrays.functions.searching import searchsorted
from tenferro.arrays.functions.structural import moveaxis
from tenferro.arrays.handle.array import Array
from tenferro.integrate._dop853 import DOP853
from tenferro.integrate._explicit import BOGACKI_SHAMPINE, DORMAND_PRINCE
from tenferro.integrate._method import RightSide
from tenferro.integrate._rosenbrock import RODAS
from tenferro.integrate._step_sizes import Events, Problem
from tenferro.integrate._steps import Part, State, solution, stepped, values_within
from tenferro.transforms.control.around import BoundFunction, RecordedFunction, program_around
from tenferro.transforms.custom_rules.with_derivative_of import with_derivative_of

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


class Solution(NamedTuple):
    """The result of ``solve_ivp``."""

    t: Array
    """The times that were asked for, [m]."""
    y: Array
    """The solution there, [*s, m]; nan where it was not reached."""
    nfev: Array
    """The number of evaluations of the right side."""
    success: Array
    """Whether the end, or an event that ends the solution, was reached."""
    status: Array
    """0: the end was reached; 1: an event ended the solution; -1: neither."""
    t_events: tuple[Array, ...] | None = None
    """For each function of ``events``, the times of its zeros, [n], in order; the rest is nan."""
    y_events: tuple[Array, ...] | None = None
    """The solution there, [n, *s] for each function."""
    sol: DenseSolution | None = None
    """The solution as a function of the time, with ``dense_output``."""


class DenseSolution:
    """The solution at any times: ``solution(t)`` is of shape [*s, *t.shape].

    Values are those of the polynomials over the steps. Derivatives flow to the times and to all
    that derivatives of the solution flow to. Times behind an event that ends the solution, or that
    were not reached, give nan.
    """

    def __init__(
        self,
        setting: Setting,
        right: RecordedFunction,
        given: Given,
        steps: Sequence[Array],
        times_of: Callable[[Any], Array],
        like: Any,
    ) -> None:
        """``steps``: the time that was reached, the attempts, and where they begin.

        ``times_of`` checks times and makes arrays of them. ``like`` is what the user gave as y0: it
        decides the kind of the results.
        """
        self._setting = setting
        self._right = right
        self._given = given
        self._steps = steps
        self._times_of = times_of
        self._like = like

    def __call__(self, t: Any) -> Any:
        """Return the solution at times of any shape.

        Raises InvalidParameterError: for known times outside of a known interval.
        """
        times = self._times_of(t)
        arrays = self._given.arrays
        (y,) = program_around(
            "solution", [self._right], partial(_read, self._setting, len(arrays)),
            self._setting, [times.reshape(-1), *arrays, *self._steps],
        )  # fmt: skip
        return in_kind(y.reshape(*y.shape[:-1], *times.shape), (t, self._like), {})


def solve(
    setting: Setting,
    right: RecordedFunction,
    events: RecordedFunction | None,
    times: Array,
    given: Given,
    times_of: Callable[[Any], Array],
    like: Any,
) -> Solution:
    """Run, or record, the program of a problem; see ``DenseSolution`` for the last two."""
    functions = [right] if events is None else [right, events]
    run = partial(_solved, setting)
    found = program_around(setting.name, functions, run, setting, [times, *given.arrays])
    y, evaluations, success, status, *steps = found
    solved = Solution(times, y, evaluations, success, status)
    if setting.events is not None:
        event_times, event_states, *steps = steps
        rooms = [*enumerate(setting.events.room)]
        solved = solved._replace(
            t_events=tuple([event_times[i, :room] for i, room in rooms]),
            y_events=tuple([event_states[i, :room] for i, room in rooms]),
        )
    if setting.is_dense:
        solved = solved._replace(sol=DenseSolution(setting, right, given, steps, times_of, like))
    return solved


def _problem(
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


def _solved(setting: Setting, functions: Any, times: Array, *given: Array) -> list[Array]:
    """Return the solution as arrays: that at the times, of events, and all steps."""
    p = _problem(setting, functions, times, Given(*given))
    found = solution(p)
    evaluations = p.method.evaluations * found.attempts + (1 if setting.has_first_step else 2)
    outputs = [moveaxis(found.y, 0, setting.axis), evaluations, found.status >= 0, found.status]
    if found.event_times is not None and found.event_states is not None:
        outputs += [found.event_times, found.event_states]
    if found.parts is not None and found.nodes is not None:
        outputs += [found.reached, *found.parts, *found.nodes]
    return outputs


def _read(
    setting: Setting, count: int, functions: Any, times: Array, *arrays: Array
) -> list[Array]:
    """Return y at the times, [*s, m], from all steps; ``count`` arrays are those of ``Given``."""
    p = _problem(setting, functions, times, Given(*arrays[:count]))
    reached, *steps = arrays[count:]
    width = len(Part._fields)
    rows = [x.reshape(x.shape[0] * x.shape[1], *x.shape[2:]) for x in steps]
    return [moveaxis(_between(p, reached, Part(*rows[:width]), State(*rows[width:])), 0, -1)]


def _between(p: Problem, reached: Array, parts: Part, nodes: State) -> Array:
    """Return y at the times, [m, *s]."""
    forward, at = stop_gradient(sign(p.t1 - p.t0)), stop_gradient(p.times)
    ends = forward * (parts.t + parts.size)
    i = minimum(searchsorted(ends, forward * at), ends.size - 1)
    is_known = (forward * (reached - at) >= 0) & (forward * (at - p.t0) >= 0)
    values = values_within(parts, i, where(is_known, at, parts.t[i]))
    known = where(is_known, ones_like(at), 0.0)
    y = with_derivative_of(values, stepped(p, p.times, known, *[x[i] for x in nodes]))
    found: Array = where(is_known.reshape(-1, *[1] * p.y0.ndim), y, float("nan"))
    return found
