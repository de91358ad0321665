"""The steps of an initial value problem: a loop that chooses them, and one that follows them.

``_chosen`` gives the values; it attempts steps until it is at the end, and nothing flows through
it. ``_followed`` makes the accepted steps again, with sizes that are constants: derivatives of the
solution are its derivatives, so that rejected steps, which may leave the domain of the right side,
have no part in them. A program without derivatives has the first loop alone.
Both take 16 steps as a block, and reverse mode keeps one state for each block.
"""

from __future__ import annotations

from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.functions.arithmetic import minimum, sign
from tenferro.arrays.functions.comparison import where
from tenferro.arrays.functions.creation import zeros_like
from tenferro.arrays.functions.elementwise import stop_gradient
from tenferro.arrays.handle.array import Array
from tenferro.integrate._dormand_prince import step, value_between
from tenferro.integrate._step_sizes import Problem, error_ratio, factor, first_size
from tenferro.primitives import bool_, int64
from tenferro.transforms import checkpoint, cond, custom_jvp, scan, while_loop

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
    return _with_derivative(values, _followed(problem, sizes)), last


@custom_jvp
def _with_derivative(values: Array, of: Array) -> Array:
    return values


@_with_derivative.defjvp
def _derivative(primals: Any, tangents: Any) -> Any:
    return _with_derivative(*primals), tangents[1]


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
        return after, sizes, values + _values(p, forward, search.at.t, after.at.t, parts)

    carry = start, sizes, _first_values(p)
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


def _followed(p: Problem, sizes: Array) -> Array:
    """Return y at the times, by steps of known sizes."""
    forward = stop_gradient(sign(p.t1 - p.t0))

    def one(at: State, h: Array) -> tuple[State, Part]:
        def go(at: State) -> tuple[State, Part]:
            t, y, slope = at
            found = step(p.f, t, y, slope, h, t + h)
            return State(t + h, found.y, found.slope), Part(t, h, y, found.coefficients)

        return cond(h != 0, go, lambda at: (at, _no_part(at)), at)  # type: ignore[no-any-return]

    @checkpoint
    def block(at: State, sizes: Array) -> tuple[State, Array]:
        after, parts = scan(one, at, sizes)
        return after, _values(p, forward, at.t, after.t, parts)

    def go(at: State, values: Array, sizes: Array) -> tuple[State, Array]:
        after, more = block(at, sizes)
        return after, values + more

    def blocks(carry: tuple[State, Array], sizes: Array) -> tuple[tuple[State, Array], None]:
        rest = lambda at, values, sizes: (at, values)  # noqa: E731
        return cond((sizes != 0).any(), go, rest, *carry, sizes), None

    start = State(p.t0, p.y0, p.slope), _first_values(p)
    return scan(blocks, start, sizes)[0][1]  # type: ignore[no-any-return]


# ---- values at the times -------------------------------------------------------------------------


def _first_values(p: Problem) -> Array:
    """Return y at those times that are the first one, and 0 at the others, which are added."""
    passed = _as_column(p.times - p.t0, p.y0)  # 0, with a derivative
    found: Array = where(_as_column(p.times == p.t0, p.y0), p.y0 + passed * p.slope, 0.0)
    return found


def _values(p: Problem, forward: Array, begin: Array, end: Array, parts: Part) -> Array:
    """Return y at those times that lie behind ``begin`` and up to ``end``, and 0 at the others."""
    is_inside = (forward * (p.times - begin) > 0) & (forward * (end - p.times) >= 0)
    ends = forward * (parts.t + parts.size)
    is_behind = (ends < forward * p.times[:, None]).sum(axis=1)  # how many parts end before
    i = minimum(is_behind, _BLOCK - 1)
    size = parts.size[i]
    x = (p.times - parts.t[i]) / where(size == 0, 1.0, size)
    values = value_between(parts.y[i], parts.coefficients[i], where(is_inside, x, 0.0))
    found: Array = where(_as_column(is_inside, p.y0), values, 0.0)
    return found


def _no_part(at: State) -> Part:
    """Return the part of a step that is not made."""
    nothing = zeros_like(at.y, shape=(4, *at.y.shape))
    return Part(at.t, zeros_like(at.t), at.y, nothing)


def _as_column(x: Array, y: Array) -> Array:
    """Return numbers for the times, [m], to meet values of y at the times, [m, *s]."""
    return x.reshape(-1, *[1] * y.ndim)
