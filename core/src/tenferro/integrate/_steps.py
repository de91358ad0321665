"""The steps of an initial value problem: a loop that chooses them, and one that follows them.

``_chosen`` gives the values; it attempts steps until it is at the end, and nothing flows through
it. ``_followed`` makes the accepted steps again, with sizes that are constants: derivatives of the
solution are its derivatives, so that rejected steps, which may leave the domain of the right side,
have no part in them. A program without derivatives has the first loop alone.
Both take 16 steps as a block, and reverse mode keeps one state for each block.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.functions.arithmetic import minimum, sign
from tenferro.arrays.functions.comparison import where
from tenferro.arrays.functions.creation import ones_like, zeros_like
from tenferro.arrays.functions.elementwise import stop_gradient
from tenferro.arrays.handle.array import Array
from tenferro.integrate._dormand_prince import step, value_between
from tenferro.integrate._step_sizes import Problem, error_ratio, factor, first_size
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
    coefficients: Array


class Search(NamedTuple):
    """The place that a solution has come to, and the next step to attempt."""

    at: State
    size: Array
    """Positive."""
    rejected: Array
    """Whether the last attempt was."""
    attempts: Array


def solution(problem: Problem) -> tuple[Array, Search]:
    """Return y at the times, [m, *s], nan where it was not reached, and how the search ended."""
    values, sizes, last = _chosen(_constant(problem))
    if problem.fixed_times:
        (followed,) = _followed(problem, sizes, _values)
    else:
        followed = _stepped(problem, *_followed(problem, sizes, _nodes))
    return with_derivative_of(values, followed), last


def _constant(p: Problem) -> Problem:
    """Return the problem as a constant for derivatives."""
    arrays = {k: stop_gradient(x) for k, x in p._asdict().items() if isinstance(x, Array)}
    return p._replace(**arrays, f=lambda t, y: stop_gradient(p.f(t, y)))


# ---- the steps are chosen ------------------------------------------------------------------------


def _chosen(p: Problem) -> tuple[Array, Array, Search]:
    """Return y at the times, the sizes of steps in blocks, 0 for rejected ones, and the end."""
    forward = sign(p.t1 - p.t0)
    never, none = zeros_like(p.t0, dtype=bool_), zeros_like(p.t0, dtype=int64)
    start = Search(State(p.t0, p.y0, p.slope), first_size(p, forward), never, none)
    sizes = zeros_like(p.t0, shape=(-(-p.max_steps // _BLOCK), _BLOCK))

    def goes_on(search: Search) -> Array:
        found: Array = (forward * (p.t1 - search.at.t) > 0) & (search.attempts < p.max_steps)
        return found

    def attempt(search: Search, _: None) -> tuple[Search, Part]:
        go = lambda search: _attempted(p, forward, search)  # noqa: E731
        rest = lambda search: (search, _no_part(search.at))  # noqa: E731
        return cond(goes_on(search), go, rest, search)  # type: ignore[no-any-return]

    def block(carry: Any) -> Any:
        search, sizes, values = carry
        after, parts = scan(attempt, search, None, _BLOCK)
        sizes = sizes.at[search.attempts // _BLOCK].set(parts.size)
        (more,) = _values(p, parts, *_found(p, forward, search.at.t, after.at.t, parts))
        return after, sizes, values + more

    carry = start, sizes, _at_first(p, p.y0)
    last, sizes, values = while_loop(lambda carry: goes_on(carry[0]), block, carry)
    is_reached = forward * (last.at.t - p.times) >= 0
    return where(_as_column(is_reached, p.y0), values, float("nan")), sizes, last


def _attempted(p: Problem, forward: Array, search: Search) -> tuple[Search, Part]:
    """Try one step; the next place is behind it, or the same with a smaller size."""
    t, y, slope = search.at
    left = forward * (p.t1 - t)
    is_last = search.size >= left
    size = where(is_last, left, search.size)
    h = forward * size
    end = where(is_last, p.t1, t + h)
    found = step(p.f, t, y, slope, h, end)
    ratio = error_ratio(p, found.error, y, found.y)
    accepted = ratio < 1
    new = (end, found.y, found.slope)
    at = [where(accepted, x, old) for x, old in zip(new, search.at, strict=True)]
    next_size = minimum(size * factor(ratio, accepted, search.rejected), p.max_step)
    return (
        Search(State(*at), next_size, ~accepted, search.attempts + 1),
        Part(t, where(accepted, h, 0.0), y, found.coefficients),
    )


# ---- the steps are followed ----------------------------------------------------------------------


def _followed(p: Problem, sizes: Array, read: Callable[..., Sequence[Array]]) -> Sequence[Array]:
    """Return what ``read``, one of the two below, finds for the times in steps of known sizes."""
    forward = stop_gradient(sign(p.t1 - p.t0))

    def one(at: State, h: Array) -> tuple[State, Part]:
        def go(at: State) -> tuple[State, Part]:
            t, y, slope = at
            found = step(p.f, t, y, slope, h, t + h)
            return State(t + h, found.y, found.slope), Part(t, h, y, found.coefficients)

        return cond(h != 0, go, lambda at: (at, _no_part(at)), at)  # type: ignore[no-any-return]

    @checkpoint
    def block(at: State, sizes: Array) -> tuple[State, Sequence[Array]]:
        after, parts = scan(one, at, sizes)
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


def _stepped(p: Problem, is_known: Array, t: Array, y: Array, slope: Array) -> Array:
    """Return y at the times by a step from each node: derivatives by time are as exact as y is.

    Those of the polynomials are not. Nothing moves at times that were not reached.
    """
    known = is_known > 0
    column = _as_column(known, p.y0)
    t, y, slope = where(known, t, p.times), where(column, y, p.y0), where(column, slope, p.slope)
    one = lambda t, y, slope, end: step(p.f, t, y, slope, end - t, end).y  # noqa: E731
    found: Array = vmap(one)(t, y, slope, p.times)
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
    size = parts.size[i]
    x = where(is_inside, (p.times - parts.t[i]) / where(size == 0, 1.0, size), 0.0)
    y = value_between(parts.y[i], parts.coefficients[i], x)
    return [where(_as_column(is_inside, p.y0), y, 0.0)]


def _nodes(p: Problem, parts: Part, is_inside: Array, i: Array) -> Sequence[Array]:
    """Return 1, and t, y, y′ where the step with a time begins; 0 for times that are not inside."""
    size = where(is_inside, parts.size[i], 1.0)
    slope = parts.coefficients[i][:, 0] / _as_column(size, p.y0)
    at = ones_like(p.times), parts.t[i], parts.y[i], slope
    return [where(is_inside.reshape(-1, *[1] * (x.ndim - 1)), x, 0.0) for x in at]


def _no_part(at: State) -> Part:
    """Return the part of a step that is not made."""
    nothing = zeros_like(at.y, shape=(4, *at.y.shape))
    return Part(at.t, zeros_like(at.t), at.y, nothing)


def _as_column(x: Array, y: Array) -> Array:
    """Return numbers for the times, [m], to meet values of y at the times, [m, *s]."""
    return x.reshape(-1, *[1] * y.ndim)
