"""Events of an initial value problem: zeros of functions along its solution.

A step over which a function changes its sign holds a zero, which bisection finds on the polynomial
over the step. Its derivative is that of the equation g(t, y(t)) = 0, by the implicit function
theorem. As with SciPy, two zeros of one function in one step are not noticed.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.functions.arithmetic import maximum, minimum
from tenferro.arrays.functions.broadcasting import broadcast_to
from tenferro.arrays.functions.comparison import isnan, where
from tenferro.arrays.functions.creation import full_like, zeros_like
from tenferro.arrays.functions.ranges import arange
from tenferro.arrays.functions.structural import stack
from tenferro.arrays.functions.taking import diagonal
from tenferro.arrays.handle.array import Array
from tenferro.integrate._method import value_between
from tenferro.integrate._step_sizes import Events, Problem
from tenferro.integrate._steps import Part
from tenferro.primitives import int64
from tenferro.transforms import custom_root, scan, vmap

_BISECTIONS = 60  # of a step: beyond the resolution of its times


class Watch(NamedTuple):
    """The events so far."""

    values: Array
    """Those of the functions at the place that the solution has come to, [k]."""
    counts: Array
    """Numbers of zeros, int[k]."""
    times: Array
    """Those of the zeros, [k, m]; nan where there is none yet."""
    states: Array
    """The solution there, [k, m, *s]."""
    end: Array
    """The time of the zero that ends the solution; infinite without one."""
    is_full: Array
    """Whether there were more zeros than room."""


def first_watch(p: Problem, events: Events, forward: Array) -> Watch:
    """Return the state before the first step."""
    values = events.values(p.t0, p.y0)
    room = (*values.shape, events.kept)
    return Watch(
        values,
        zeros_like(values, dtype=int64),
        full_like(values, float("nan"), shape=room),
        full_like(p.y0, float("nan"), shape=(*room, *p.y0.shape)),
        forward * float("inf"),
        forward != forward,
    )


def is_crossed(events: Events, before: Array, after: Array) -> Array:
    """Return whether each function has a wanted zero between two places, bool[k]."""
    rises, falls = (before <= 0) & (after >= 0), (before >= 0) & (after <= 0)
    return stack([
        rises[i] if wanted > 0 else falls[i] if wanted < 0 else rises[i] | falls[i]
        for i, wanted in enumerate(events.directions)
    ])  # fmt: skip


def with_zeros(
    events: Events, watch: Watch, part: Part, end: Array, after: Array, crossed: Array
) -> Watch:
    """Add the zeros within a step, up to one that ends the solution.

    ``end``: the time behind the step   ``after``: the values there   ``crossed``: which functions
    have a zero, bool[k]
    """
    k, m = watch.times.shape
    x, states = _zeros(events, part, watch.values, after)
    times = _within(part, end, x)
    counts = watch.counts + where(crossed, 1, 0)
    ends = stack([
        crossed[i] & (counts[i] >= last) if last else crossed[i] & False
        for i, last in enumerate(events.last)
    ])  # fmt: skip
    first = where(ends, x, float("inf")).min()
    seen = crossed & (x <= first)
    place = seen[:, None] & (arange(m) == watch.counts[:, None])
    column = place.reshape(k, m, *[1] * part.y.ndim)
    return Watch(
        after,
        watch.counts + where(seen, 1, 0),
        where(place, times[:, None], watch.times),
        where(column, states[:, None], watch.states),
        where(ends.any(), _within(part, end, where(ends.any(), first, 0.0)), watch.end),
        watch.is_full | (seen & (watch.counts >= m)).any(),
    )


def _within(part: Part, end: Array, x: Array) -> Array:
    """Return times at parts x of a step, none of them behind its end by rounding."""
    times = part.t + x * part.size
    found: Array = where(part.size > 0, minimum(times, end), maximum(times, end))
    return found


def _zeros(events: Events, part: Part, before: Array, after: Array) -> tuple[Array, Array]:
    """Return the parts of a step up to the zeros, [k], and the states there, by bisection."""
    rises = after > before

    def states(x: Array) -> Array:
        y, coefficients = [broadcast_to(c, (x.size, *c.shape)) for c in (part.y, part.coefficients)]
        return value_between(y, coefficients, x)

    def values(x: Array) -> Array:
        return diagonal(vmap(events.values)(part.t + x * part.size, states(x)))

    def halve(ends: tuple[Array, Array], _: None) -> tuple[tuple[Array, Array], None]:
        low, high = ends
        x = (low + high) / 2
        found = values(x)
        is_behind = where(rises, found >= 0, found <= 0)
        return (where(is_behind, low, x), where(is_behind, x, high)), None

    (_, x), _ = scan(halve, (zeros_like(before), full_like(before, 1.0)), None, _BISECTIONS)
    return x, states(x)


def roots(p: Problem, events: Events, nodes: Sequence[Array], times: Array) -> Array:
    """Return the times of zeros, [k, m], with their derivatives.

    ``nodes``: t, y, y′ where the steps that hold them begin, [k, m], [k, m, *s], [k, m, *s]
    """

    def root(i: int, t: Array, y: Array, slope: Array, time: Array) -> Array:
        def residual(end: Array) -> Array:
            return events.values(end, p.method.step(p.f, t, y, slope, end - t, end).y)[i]

        found: Array = custom_root(residual, time, lambda _, x: x, lambda f, b: b / f(1.0))
        return found

    rows = [vmap(lambda *given, i=i: root(i, *given)) for i in range(times.shape[0])]
    return stack([
        row(*[x[i] for x in nodes], times[i]) for i, row in enumerate(rows)
    ])  # fmt: skip


def happened(watch: Watch) -> Array:
    """Return which of the places are taken, bool[k, m]."""
    return ~isnan(watch.times)
