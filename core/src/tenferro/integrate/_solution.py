"""The solution of an initial value problem at times and events, with its derivatives.

Values are those of the loop that chooses steps, derivatives those of the loop that follows these
steps. Read next: ``_steps.py``.
"""

from __future__ import annotations

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.functions.arithmetic import sign
from tenferro.arrays.functions.comparison import isfinite, where
from tenferro.arrays.functions.elementwise import stop_gradient
from tenferro.arrays.functions.structural import concatenate
from tenferro.arrays.handle.array import Array
from tenferro.integrate._chosen_steps import chosen
from tenferro.integrate._events import Watch, happened, roots
from tenferro.integrate._followed_steps import all_nodes, followed_nodes, followed_values, stepped
from tenferro.integrate._step_sizes import Events, Problem
from tenferro.integrate._steps import Part, State, as_column
from tenferro.transforms.custom_rules.with_derivative_of import with_derivative_of


class Found(NamedTuple):
    """A solution: at the times, nan where they were not reached, at events, and between."""

    y: Array
    """[m, *s]."""
    attempts: Array
    status: Array
    """0: the end was reached, 1: an event ended the solution, -1: neither."""
    reached: Array
    """The time up to which there is a solution."""
    event_times: Array | None = None
    event_states: Array | None = None
    parts: Part | None = None
    """The steps that were attempted: one more axis in front."""
    nodes: State | None = None
    """Where they begin, with derivatives."""


def solution(p: Problem) -> Found:
    """Return the solution with its derivatives."""
    constant = _constant(p)
    steps = chosen(constant)
    sizes, last, reached = steps.sizes, steps.last, steps.reached
    watch, events = last.watch, p.events
    status = where(last.at.t == p.t1, 0, -1)
    forward = sign(constant.t1 - constant.t0)
    is_reached = forward * (reached - constant.times) >= 0
    if watch is None or events is None:
        followed = _at_times(p, sizes)
        event_times = event_states = None
    else:
        status = where(watch.is_full, -1, where(isfinite(watch.end), 1, status))
        followed, event_times, event_states = _with_events(p, events, sizes, watch)
    y = with_derivative_of(steps.y, followed)
    y = where(as_column(is_reached, p.y0), y, float("nan"))
    found = Found(y, last.attempts, status, reached, event_times, event_states)
    if steps.parts is None:
        return found
    return found._replace(parts=steps.parts, nodes=all_nodes(p, sizes))


def _at_times(p: Problem, sizes: Array) -> Array:
    """Return y at the times by the steps that were chosen."""
    if p.fixed_times:
        return followed_values(p, sizes)
    return stepped(p, p.times, *followed_nodes(p, sizes))


def _with_events(
    p: Problem, events: Events, sizes: Array, watch: Watch
) -> tuple[Array, Array, Array]:
    """Return y at the times by the steps that were chosen, and the times and states of events."""
    is_there = happened(watch)
    given = where(is_there, watch.times, stop_gradient(p.t0))
    every = p._replace(times=concatenate([p.times, given.reshape(-1)]))
    found = followed_nodes(every, sizes)
    count = p.times.size
    nodes = [x[count:].reshape(*given.shape, *x.shape[1:]) for x in found[1:]]
    times = with_derivative_of(given, roots(p, events, nodes, given))
    y = stepped(p, concatenate([p.times, times.reshape(-1)]), *found)
    state = y[count:].reshape(*given.shape, *p.y0.shape)
    column = is_there.reshape(*given.shape, *[1] * p.y0.ndim)
    states = with_derivative_of(where(column, watch.states, 0.0), state)
    nan = float("nan")
    return y[:count], where(is_there, times, nan), where(column, states, nan)


def _constant(p: Problem) -> Problem:
    """Return the problem as a constant for derivatives."""
    arrays = {k: stop_gradient(x) for k, x in p._asdict().items() if isinstance(x, Array)}
    events = p.events
    if events is not None:
        events = events._replace(values=events.constant)
    return p._replace(**arrays, f=p.constant, events=events)
