"""The loop that chooses the steps of an initial value problem, and gives the values.

It attempts steps until it is at the end. Nothing flows through it: derivatives are those of
``_followed_steps.py``. Read next: ``_events.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.functions.arithmetic import maximum, minimum, sign
from tenferro.arrays.functions.comparison import isfinite, where
from tenferro.arrays.functions.creation import full_like, zeros_like
from tenferro.arrays.functions.elementwise import stop_gradient
from tenferro.arrays.handle.array import Array
from tenferro.integrate._events import Watch, first_watch, is_crossed, with_zeros
from tenferro.integrate._step_sizes import Problem, error_ratio, factor, first_size, least_size
from tenferro.integrate._steps import BLOCK, Part, State, at_first, located, no_part, values_at
from tenferro.primitives import bool_, int64
from tenferro.transforms import cond, scan, while_loop


class Search(NamedTuple):
    """The place that a solution has come to, and the next step to attempt."""

    at: State
    size: Array
    """Positive."""
    rejected: Array
    """Whether the last attempt was."""
    attempts: Array
    is_stuck: Array
    """Whether a step was rejected that cannot be made smaller."""
    watch: Watch | None
    """The events so far, if there are any functions."""


class Chosen(NamedTuple):
    """The steps that were chosen, and the values that they give."""

    last: Search
    sizes: Array
    """With their signs, [n, 16]; 0 for rejected steps and behind the end."""
    y: Array
    """At the times, [m, *s], by the polynomials; 0 where they were not reached."""
    parts: Part | None
    """All attempts, [n, 16, …], if the solution between the times is kept."""

    @property
    def reached(self) -> Array:
        """The time up to which there is a solution."""
        at, watch = self.last.at, self.last.watch
        return at.t if watch is None else where(isfinite(watch.end), watch.end, at.t)


def chosen(p: Problem) -> Chosen:
    """Choose steps, in blocks, until the solution is at the end or cannot go on."""
    forward = sign(p.t1 - p.t0)

    def attempt(search: Search, _: None) -> tuple[Search, Part]:
        go = lambda search: tuple(map(_stopped, _attempted(p, forward, search)))  # noqa: E731
        rest = lambda search: (search, no_part(p, search.at))  # noqa: E731
        return cond(_goes_on(p, forward, search), go, rest, search)  # type: ignore[no-any-return]

    def block(found: Any) -> Chosen:
        before, sizes, y, kept = found
        last, parts = scan(attempt, before, None, BLOCK)
        number = before.attempts // BLOCK
        sizes = sizes.at[number].set(parts.size)
        if kept is not None:
            kept = Part(*[x.at[number].set(new) for x, new in zip(kept, parts, strict=True)])
        more = values_at(p, parts, *located(p, forward, before.at.t, last.at.t, parts))
        return Chosen(last, sizes, y + more, kept)

    start = _first_search(p, forward)
    sizes = zeros_like(p.t0, shape=(-(-p.max_steps // BLOCK), BLOCK))
    kept = _room(p, forward, sizes) if p.is_dense else None
    nothing = Chosen(start, sizes, at_first(p, p.y0), kept)
    result: Chosen = while_loop(lambda found: _goes_on(p, forward, found.last), block, nothing)
    return result


def _first_search(p: Problem, forward: Array) -> Search:
    """Return the search before the first step."""
    never, none = zeros_like(p.t0, dtype=bool_), zeros_like(p.t0, dtype=int64)
    watch = None if p.events is None else first_watch(p, p.events, forward)
    at, size = State(p.t0, p.y0, p.slope), first_size(p, forward)
    return _stopped(Search(at, size, never, none, never, watch))  # type: ignore[no-any-return]


def _goes_on(p: Problem, forward: Array, search: Search) -> Array:
    """Return whether another step is to be attempted."""
    is_left: Array = (forward * (p.t1 - search.at.t) > 0) & (search.attempts < p.max_steps)
    found, watch = is_left & ~search.is_stuck, search.watch
    return found if watch is None else found & ~isfinite(watch.end) & ~watch.is_full


def _room(p: Problem, forward: Array, sizes: Array) -> Part:
    """Return room for all attempts; the times of those that are not made lie behind the end."""
    of_y = zeros_like(p.y0, shape=(*sizes.shape, *p.y0.shape))
    shape = (*sizes.shape, p.method.coefficients, *p.y0.shape)
    times = full_like(sizes, 1.0) * forward * float("inf")
    return Part(times, sizes, of_y, of_y, zeros_like(p.y0, shape=shape))


def _attempted(p: Problem, forward: Array, search: Search) -> tuple[Search, Part]:
    """Try one step; the next place is behind it, or the same with a smaller size."""
    t, y, slope = search.at
    left = forward * (p.t1 - t)
    least = least_size(t, forward)
    size = where(search.rejected, search.size, maximum(search.size, least))
    is_last = size >= left
    size = where(is_last, left, size)
    h = forward * size
    end = where(is_last, p.t1, t + h)
    found = p.method.step(p.f, t, y, slope, h, end)
    ratio = error_ratio(p, found.error, y, found.y)
    accepted = ratio < 1
    new = (end, found.y, found.slope)
    at = [where(accepted, x, old) for x, old in zip(new, search.at, strict=True)]
    next_size = minimum(size * factor(p, ratio, accepted, search.rejected), p.max_step)
    is_stuck = ~accepted & ~(next_size >= least)  # also where it is nan
    part = Part(t, where(accepted, h, 0.0), y, slope, found.coefficients)
    watch = search.watch
    if watch is not None:
        watch = _watched(p, watch, State(*at), part)
    state = State(*at)
    return Search(state, next_size, ~accepted, search.attempts + 1, is_stuck, watch), part


def _watched(p: Problem, watch: Watch, at: State, part: Part) -> Watch:
    """Return the events after a step; those of a rejected one are as before."""
    events = p.events
    assert events is not None
    after = events.values(at.t, at.y)
    crossed = is_crossed(events, watch.values, after) & (part.size != 0)
    found: Watch = cond(
        crossed.any(),
        lambda watch, part, *rest: with_zeros(events, watch, part, *rest),
        lambda watch, part, end, after, crossed: watch._replace(values=after),
        *(watch, part, at.t, after, crossed),
    )
    return found


def _stopped(x: Any) -> Any:
    """Return a tuple of arrays, or of such tuples, as constants for derivatives."""
    if isinstance(x, tuple):
        return type(x)(*map(_stopped, x))
    return x if x is None else stop_gradient(x)
