"""The loop that makes the accepted steps of an initial value problem again.

Their sizes are constants. Derivatives of the solution are derivatives of this loop, so that
rejected steps, which may leave the domain of the right side, have no part in them. A program
without derivatives does not run it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.arrays.functions.arithmetic import sign
from tenferro.arrays.functions.comparison import where
from tenferro.arrays.functions.creation import ones_like, zeros_like
from tenferro.arrays.functions.elementwise import stop_gradient
from tenferro.arrays.handle.array import Array
from tenferro.integrate._step_sizes import Problem
from tenferro.integrate._steps import (
    BLOCK,
    Part,
    State,
    as_column,
    at_first,
    located,
    no_part,
    values_at,
)
from tenferro.transforms import checkpoint, cond, scan, vmap
from tenferro.transforms.custom_rules.with_derivative_of import with_derivative_of


def followed_values(p: Problem, sizes: Array) -> Array:
    """Return y at the times, [m, *s], by the polynomials over steps of known sizes."""
    read = lambda *given: [values_at(*given)]  # noqa: E731
    (found,) = _followed(p, sizes, [p.y0], read)
    return found


def followed_nodes(p: Problem, sizes: Array) -> Sequence[Array]:
    """Return 1, and t, y, y′ where the step with each time begins; 0 for times not reached.

    They are of shapes [m], [m], [m, *s] and [m, *s]; ``stepped`` takes them.
    """
    return _followed(p, sizes, [ones_like(p.t0), p.t0, p.y0, p.slope], _nodes_at)


def _followed(
    p: Problem, sizes: Array, first: Sequence[Array], read: Callable[..., Sequence[Array]]
) -> Sequence[Array]:
    """Return what ``read`` finds for the times in each block of steps, and ``first`` for t0.

    ``read(p, parts, is_inside, i)`` gives 0 for times that are not inside of the block.
    """
    forward = stop_gradient(sign(p.t1 - p.t0))

    @checkpoint
    def block(at: State, sizes: Array) -> tuple[State, Sequence[Array]]:
        after, parts = scan(_follower(p), at, sizes)
        return after, read(p, parts, *located(p, forward, at.t, after.t, parts))

    def go(at: State, found: Sequence[Array], sizes: Array) -> tuple[State, Sequence[Array]]:
        after, more = block(at, sizes)
        found = [x + y for x, y in zip(found, more, strict=True)]  # reverse mode keeps neither
        return after, found

    def blocks(carry: Any, sizes: Array) -> tuple[Any, None]:
        rest = lambda at, found, sizes: (at, found)  # noqa: E731
        return cond((sizes != 0).any(), go, rest, *carry, sizes), None

    start = State(p.t0, p.y0, p.slope), [at_first(p, x) for x in first]
    (_, found), _ = scan(blocks, start, sizes)
    return found  # type: ignore[no-any-return]


def _follower(p: Problem) -> Callable[[State, Array], tuple[State, Part]]:
    """Return the function that makes one step of a known size."""

    def one(at: State, h: Array) -> tuple[State, Part]:
        def go(at: State) -> tuple[State, Part]:
            t, y, slope = at
            # the last step goes to the end, which t + h may miss by rounding
            end = with_derivative_of(where(h == p.t1 - t, p.t1, t + h), t + h)
            found = p.method.step(p.f, t, y, slope, h, end)
            part = Part(t, h, y, slope, found.coefficients)
            return State(end, found.y, found.slope), part

        return cond(h != 0, go, lambda at: (at, no_part(p, at)), at)  # type: ignore[no-any-return]

    return one


def _nodes_at(p: Problem, parts: Part, is_inside: Array, i: Array) -> Sequence[Array]:
    """Return 1, and t, y, y′ where the step with a time begins; 0 for times that are not inside."""
    at = ones_like(p.times), parts.t[i], parts.y[i], parts.slope[i]
    return [where(is_inside.reshape(-1, *[1] * (x.ndim - 1)), x, 0.0) for x in at]


def all_nodes(p: Problem, sizes: Array) -> State:
    """Return where the steps of known sizes begin."""

    @checkpoint
    def block(at: State, sizes: Array) -> tuple[State, State]:
        def one(at: State, h: Array) -> tuple[State, State]:
            return _follower(p)(at, h)[0], at

        return scan(one, at, sizes)

    def blocks(at: State, sizes: Array) -> tuple[State, State]:
        def rest(at: State, sizes: Array) -> tuple[State, State]:
            return at, State(*[zeros_like(x, shape=(BLOCK, *x.shape)) for x in at])

        return cond((sizes != 0).any(), block, rest, at, sizes)  # type: ignore[no-any-return]

    return scan(blocks, State(p.t0, p.y0, p.slope), sizes)[1]  # type: ignore[no-any-return]


def stepped(p: Problem, times: Array, is_known: Array, t: Array, y: Array, slope: Array) -> Array:
    """Return y at the times by a step from each node: derivatives by time are as exact as y is.

    Those of the polynomials are not. Nothing moves at times that were not reached.
    """
    known = is_known > 0
    column = as_column(known, p.y0)
    t, y, slope = where(known, t, times), where(column, y, p.y0), where(column, slope, p.slope)
    one = lambda t, y, slope, end: p.method.step(p.f, t, y, slope, end - t, end).y  # noqa: E731
    found: Array = vmap(one)(t, y, slope, times)
    return found
