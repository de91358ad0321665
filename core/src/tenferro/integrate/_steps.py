"""The steps of an initial value problem: a loop that chooses them, and one that follows them.

``_chosen`` gives the values; it attempts steps until it is at the end, and nothing flows through
it. ``_followed`` makes the accepted steps again, with sizes that are constants: derivatives of the
solution are its derivatives, so that rejected steps, which may leave the domain of the right side,
have no part in them. A program without derivatives has the first loop alone.
Both take 16 steps as a block, and reverse mode keeps one state for each block. Read next:
``_events.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.functions.arithmetic import maximum, minimum, sign
from tenferro.arrays.functions.comparison import isfinite, where
from tenferro.arrays.functions.creation import full_like, ones_like, zeros_like
from tenferro.arrays.functions.elementwise import stop_gradient
from tenferro.arrays.functions.structural import concatenate
from tenferro.arrays.handle.array import Array
from tenferro.integrate._events import Watch, first_watch, happened, is_crossed, roots, with_zeros
from tenferro.integrate._method import value_between
from tenferro.integrate._step_sizes import (
    Events,
    Problem,
    error_ratio,
    factor,
    first_size,
    least_size,
)
from tenferro.primitives import bool_, int64
from tenferro.transforms import checkpoint, cond, scan, vmap, while_loop
from tenferro.transforms.custom_rules.with_derivative_of import with_derivative_of

_BLOCK = 16


class State(NamedTuple):
    """The place that a solution has come to."""

    t: Array
    y: Array
    slope: Array


class Part(NamedTuple):
    """A solution over one step."""

    t: Array
    size: Array
    """With its sign; 0 if the step was rejected or is behind the end."""
    y: Array
    slope: Array
    coefficients: Array


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
    values, sizes, last, kept = _chosen(constant)
    reached = _reached(last)
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
    y = with_derivative_of(values, followed)
    y = where(_as_column(is_reached, p.y0), y, float("nan"))
    found = Found(y, last.attempts, status, reached, event_times, event_states)
    if kept is None:
        return found
    return found._replace(parts=kept, nodes=_all_nodes(p, sizes))


def _at_times(p: Problem, sizes: Array) -> Array:
    """Return y at the times by the steps that were chosen."""
    if p.fixed_times:
        (found,) = _followed(p, sizes, _values)
        return found
    return stepped(p, p.times, *_followed(p, sizes, _nodes))


def _with_events(
    p: Problem, events: Events, sizes: Array, watch: Watch
) -> tuple[Array, Array, Array]:
    """Return y at the times by the steps that were chosen, and the times and states of events."""
    is_there = happened(watch)
    given = where(is_there, watch.times, stop_gradient(p.t0))
    every = p._replace(times=concatenate([p.times, given.reshape(-1)]))
    found = _followed(every, sizes, _nodes)
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


def _stopped(x: Any) -> Any:
    """Return a tuple of arrays, or of such tuples, as constants for derivatives."""
    if isinstance(x, tuple):
        return type(x)(*map(_stopped, x))
    return x if x is None else stop_gradient(x)


# ---- the steps are chosen ------------------------------------------------------------------------


def _chosen(p: Problem) -> tuple[Array, Array, Search, Part | None]:
    """Return y at the times, the sizes of steps in blocks, 0 for rejected ones, and the end.

    Also return all attempts if the solution between the times is kept.
    """
    forward = sign(p.t1 - p.t0)
    never, none = zeros_like(p.t0, dtype=bool_), zeros_like(p.t0, dtype=int64)
    watch = None if p.events is None else first_watch(p, p.events, forward)
    size = first_size(p, forward)
    start = _stopped(Search(State(p.t0, p.y0, p.slope), size, never, none, never, watch))
    sizes = zeros_like(p.t0, shape=(-(-p.max_steps // _BLOCK), _BLOCK))

    def goes_on(search: Search) -> Array:
        is_left: Array = (forward * (p.t1 - search.at.t) > 0) & (search.attempts < p.max_steps)
        found = is_left & ~search.is_stuck
        watch = search.watch
        return found if watch is None else found & ~isfinite(watch.end) & ~watch.is_full

    def attempt(search: Search, _: None) -> tuple[Search, Part]:
        go = lambda search: tuple(map(_stopped, _attempted(p, forward, search)))  # noqa: E731
        rest = lambda search: (search, _no_part(p, search.at))  # noqa: E731
        return cond(goes_on(search), go, rest, search)  # type: ignore[no-any-return]

    def block(carry: Any) -> Any:
        search, sizes, values, kept = carry
        after, parts = scan(attempt, search, None, _BLOCK)
        number = search.attempts // _BLOCK
        sizes = sizes.at[number].set(parts.size)
        if kept is not None:
            kept = Part(*[x.at[number].set(y) for x, y in zip(kept, parts, strict=True)])
        (more,) = _values(p, parts, *_found(p, forward, search.at.t, after.at.t, parts))
        return after, sizes, values + more, kept

    kept = _room(p, forward, sizes) if p.is_dense else None
    carry = start, sizes, _at_first(p, p.y0), kept
    last, sizes, values, kept = while_loop(lambda carry: goes_on(carry[0]), block, carry)
    return values, sizes, last, kept


def _reached(last: Search) -> Array:
    """Return the time up to which there is a solution."""
    watch = last.watch
    return last.at.t if watch is None else where(isfinite(watch.end), watch.end, last.at.t)


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
        lambda watch, part, after, crossed: with_zeros(events, watch, part, after, crossed),
        lambda watch, part, after, crossed: watch._replace(values=after),
        *(watch, part, after, crossed),
    )
    return found


# ---- the steps are followed ----------------------------------------------------------------------


def _followed(p: Problem, sizes: Array, read: Callable[..., Sequence[Array]]) -> Sequence[Array]:
    """Return what ``read``, one of the two below, finds for the times in steps of known sizes."""
    forward = stop_gradient(sign(p.t1 - p.t0))

    @checkpoint
    def block(at: State, sizes: Array) -> tuple[State, Sequence[Array]]:
        after, parts = scan(_follower(p), at, sizes)
        return after, read(p, parts, *_found(p, forward, at.t, after.t, parts))

    def go(at: State, found: Sequence[Array], sizes: Array) -> tuple[State, Sequence[Array]]:
        after, more = block(at, sizes)
        return after, [
            x + y for x, y in zip(found, more, strict=True)
        ]  # reverse mode keeps neither

    def blocks(carry: Any, sizes: Array) -> tuple[Any, None]:
        rest = lambda at, found, sizes: (at, found)  # noqa: E731
        return cond((sizes != 0).any(), go, rest, *carry, sizes), None

    at = State(p.t0, p.y0, p.slope)
    first = [p.y0] if read is _values else [ones_like(p.t0), *at]
    (_, found), _ = scan(blocks, (at, [_at_first(p, x) for x in first]), sizes)
    return found  # type: ignore[no-any-return]


def _follower(p: Problem) -> Callable[[State, Array], tuple[State, Part]]:
    """Return the function that makes one step of a known size."""

    def one(at: State, h: Array) -> tuple[State, Part]:
        def go(at: State) -> tuple[State, Part]:
            t, y, slope = at
            found = p.method.step(p.f, t, y, slope, h, t + h)
            part = Part(t, h, y, slope, found.coefficients)
            return State(t + h, found.y, found.slope), part

        return cond(h != 0, go, lambda at: (at, _no_part(p, at)), at)  # type: ignore[no-any-return]

    return one


def _all_nodes(p: Problem, sizes: Array) -> State:
    """Return where the steps of known sizes begin."""

    @checkpoint
    def block(at: State, sizes: Array) -> tuple[State, State]:
        def one(at: State, h: Array) -> tuple[State, State]:
            return _follower(p)(at, h)[0], at

        return scan(one, at, sizes)

    def blocks(at: State, sizes: Array) -> tuple[State, State]:
        def rest(at: State, sizes: Array) -> tuple[State, State]:
            return at, State(*[zeros_like(x, shape=(_BLOCK, *x.shape)) for x in at])

        return cond((sizes != 0).any(), block, rest, at, sizes)  # type: ignore[no-any-return]

    return scan(blocks, State(p.t0, p.y0, p.slope), sizes)[1]  # type: ignore[no-any-return]


def stepped(p: Problem, times: Array, is_known: Array, t: Array, y: Array, slope: Array) -> Array:
    """Return y at the times by a step from each node: derivatives by time are as exact as y is.

    Those of the polynomials are not. Nothing moves at times that were not reached.
    """
    known = is_known > 0
    column = _as_column(known, p.y0)
    t, y, slope = where(known, t, times), where(column, y, p.y0), where(column, slope, p.slope)
    one = lambda t, y, slope, end: p.method.step(p.f, t, y, slope, end - t, end).y  # noqa: E731
    found: Array = vmap(one)(t, y, slope, times)
    return found


# ---- values at the times -------------------------------------------------------------------------


def _at_first(p: Problem, x: Array) -> Array:
    """Return x for those times that are the first one, and 0 for the others, to be added."""
    found: Array = where(_as_column(p.times == p.t0, x), x, 0.0)
    return found


def _found(
    p: Problem, forward: Array, begin: Array, end: Array, parts: Part
) -> tuple[Array, Array]:
    """Return whether each time lies behind ``begin`` and up to ``end``, and in which part."""
    is_inside = (forward * (p.times - begin) > 0) & (forward * (end - p.times) >= 0)
    ends = forward * (parts.t + parts.size)
    is_behind = (ends < forward * p.times[:, None]).sum(axis=1)  # how many parts end before
    return is_inside, minimum(is_behind, _BLOCK - 1)


def _values(p: Problem, parts: Part, is_inside: Array, i: Array) -> Sequence[Array]:
    """Return y at the times that are inside, by the polynomials, and 0 at the others."""
    y = values_within(parts, i, where(is_inside, p.times, parts.t[i]))
    return [where(_as_column(is_inside, p.y0), y, 0.0)]


def values_within(parts: Part, i: Array, times: Array) -> Array:
    """Return y by the polynomials of some parts, at times within these."""
    size = parts.size[i]
    x = (times - parts.t[i]) / where(size == 0, 1.0, size)
    return value_between(parts.y[i], parts.coefficients[i], x)


def _nodes(p: Problem, parts: Part, is_inside: Array, i: Array) -> Sequence[Array]:
    """Return 1, and t, y, y′ where the step with a time begins; 0 for times that are not inside."""
    at = ones_like(p.times), parts.t[i], parts.y[i], parts.slope[i]
    return [where(is_inside.reshape(-1, *[1] * (x.ndim - 1)), x, 0.0) for x in at]


def _no_part(p: Problem, at: State) -> Part:
    """Return the part of a step that is not made."""
    nothing = zeros_like(at.y, shape=(p.method.coefficients, *at.y.shape))
    return Part(at.t, zeros_like(at.t), at.y, at.slope, nothing)


def _as_column(x: Array, y: Array) -> Array:
    """Return numbers for the times, [m], to meet values of y at the times, [m, *s]."""
    return x.reshape(-1, *[1] * y.ndim)
