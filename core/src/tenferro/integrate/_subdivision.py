"""The program of an adaptive integral: intervals whose errors are large are halved.

Every round halves the intervals with the largest errors, up to 8 of them, as long as those of the
others are too large together. The derivative is the integral of the derivative over the intervals
that the values were found with; the ends of these move with the ends of the integral and with the
points that the user names. Read next: ``_quadrature.py``.

Source  R. Piessens et al., QUADPACK (1983), for the estimate of errors
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.functions.arithmetic import absolute, clip, maximum, minimum, sqrt, square
from tenferro.arrays.functions.comparison import isfinite, where
from tenferro.arrays.functions.creation import array, zeros_like
from tenferro.arrays.functions.cumulative import cumsum
from tenferro.arrays.functions.data_types import finfo
from tenferro.arrays.functions.elementwise import stop_gradient
from tenferro.arrays.functions.ranges import arange
from tenferro.arrays.functions.reduction import argmax
from tenferro.arrays.functions.reduction import sum as _sum
from tenferro.arrays.functions.searching import searchsorted
from tenferro.arrays.functions.sorting import argsort
from tenferro.arrays.functions.structural import concatenate, stack
from tenferro.arrays.handle.array import Array
from tenferro.arrays.promotion.broadcast import cast
from tenferro.integrate._gauss import RULES, Kronrod
from tenferro.primitives import int64
from tenferro.transforms import checkpoint, cond, scan, vmap, while_loop
from tenferro.transforms.custom_rules.with_derivative_of import with_derivative_of

_HALVED = 8  # intervals in one round, at most


class Setting(NamedTuple):
    """Options that decide the program, besides the integrand and the avals of arrays."""

    rule: str
    norm: str
    limit: int
    kind: str
    """"finite", or which ends are infinite: "up", "down" or "both"."""


class _Pieces(NamedTuple):
    """Intervals of the variable that runs from 0 to 1, and what the rule finds in each."""

    left: Array
    right: Array
    values: Array
    errors: Array
    rounding: Array


class _Search(NamedTuple):
    pieces: _Pieces
    """Behind ``used`` of them the rest is of length 0; the last row holds what is not wanted."""
    used: Array
    """The number of intervals."""
    evaluated: Array
    """The number of intervals in which the rule was applied."""


def integral(
    setting: Setting, functions: Any, a: Array, b: Array, epsabs: Array, epsrel: Array,
    edges: Array,
) -> list[Array]:  # fmt: skip
    """Return the integral, its error, whether that is small enough, and how often f was called."""
    f = functions[0]
    ends = stop_gradient(a), stop_gradient(b)
    fixed = _on_unit(setting, f.constant(), *ends)
    rule = RULES[setting.rule]
    norm = _NORMS[setting.norm]
    epsabs, epsrel, places = [stop_gradient(x) for x in (epsabs, epsrel, edges)]

    def tolerance(pieces: _Pieces) -> Array:
        return maximum(epsabs, epsrel * norm(_sum(pieces.values, 0)))

    def goes_on(search: _Search) -> Array:
        pieces = search.pieces
        error, rounding = _sum(pieces.errors), _sum(pieces.rounding)
        is_small = (error < tolerance(pieces) / 8) | (error < rounding)
        has_room = search.used < setting.limit
        found: Array = has_room & isfinite(error) & ~((search.evaluated > 1) & is_small)
        return found

    def found(left: Array, right: Array, proper: Array) -> _Pieces:
        return _found(fixed, rule, norm, left, right, proper)

    def halve(search: _Search) -> _Search:
        return _halved(search, tolerance(search.pieces), found)

    last = while_loop(goes_on, halve, _first(setting, places, found))
    pieces = last.pieces
    value = _sum(pieces.values, 0)
    error = _sum(pieces.errors) + _sum(pieces.rounding)
    enough = maximum(tolerance(pieces), _sum(pieces.rounding) * 2)
    proper = _widest(pieces.left, pieces.right)
    if edges.size > 2:
        left, right = _moved(edges, pieces.left, pieces.right)
        pieces = pieces._replace(left=left, right=right)
    y = with_derivative_of(value, _followed(_on_unit(setting, f, a, b), rule, pieces, proper))
    calls = last.evaluated * len(rule.nodes) * (2 if setting.kind == "both" else 1)
    return [y, error, error <= enough, calls]


def _on_unit(setting: Setting, f: Any, a: Array, b: Array) -> Callable[[Array], Array]:
    """Return the integrand as a function of a variable from 0 to 1."""

    def value(x: Array) -> Array:
        y: Array = f(x)[0]
        return y

    if setting.kind == "finite":
        return lambda s: value(a + (b - a) * s) * (b - a)
    if setting.kind == "up":
        return lambda s: value(a + (1 - s) / s) / (s * s)
    if setting.kind == "down":
        return lambda s: value(b - (1 - s) / s) / (s * s)
    return lambda s: (value((1 - s) / s) + value((s - 1) / s)) / (s * s)


def _first(setting: Setting, edges: Array, found: Callable[..., _Pieces]) -> _Search:
    """Return the intervals between the edges, and room for more."""
    left, right = edges[:-1], edges[1:]
    given = found(left, right, _widest(left, right))
    count = edges.size - 1
    more = max(setting.limit - count, 0) + _HALVED + 1
    room = [concatenate([x, zeros_like(x, shape=(more, *x.shape[1:]))], 0) for x in given]
    number = zeros_like(edges, shape=(), dtype=int64) + count
    return _Search(_Pieces(*room), number, number - _sum(cast(left == right, int64)))


def _halved(search: _Search, tolerance: Array, found: Callable[..., _Pieces]) -> _Search:
    """Halve those intervals whose errors are the largest."""
    pieces, count = search.pieces, search.used
    largest = argsort(-pieces.errors)[:_HALVED]
    errors = pieces.errors[largest]
    before = cumsum(errors) - errors
    too_much = before <= _sum(pieces.errors) - tolerance / 8
    chosen = (largest < count) & (too_much | (arange(_HALVED) == 0))
    left = pieces.left[largest]
    right = where(chosen, pieces.right[largest], left)
    middle = (left + right) / 2
    ends = concatenate([left, middle], 0), concatenate([middle, right], 0)
    halves = found(*ends, _widest(pieces.left, pieces.right))
    spare = pieces.errors.size - 1
    behind = count + cumsum(cast(chosen, int64)) - 1
    places = [where(chosen, largest, spare), where(chosen, behind, spare)]
    at = concatenate(places, 0)
    rows = [x.at[at].set(y).at[spare].set(0) for x, y in zip(pieces, halves, strict=True)]
    more = _sum(cast(chosen, int64))
    return _Search(_Pieces(*rows), count + more, search.evaluated + 2 * more)


def _widest(left: Array, right: Array) -> Array:
    """Return both ends of the widest interval."""
    i = argmax(right - left)
    return stack([left[i], right[i]])


def _proper(left: Array, right: Array, proper: Array) -> tuple[Array, Array]:
    """Return intervals in place of those of length 0, at which the integrand may be infinite."""
    is_there = left != right
    return where(is_there, left, proper[0]), where(is_there, right, proper[1])


def _moved(edges: Array, left: Array, right: Array) -> tuple[Array, Array]:
    """Return the ends of intervals with derivatives: each moves with the edges around it."""
    places = stop_gradient(edges)
    i = clip(searchsorted(places, (left + right) / 2) - 1, 0, edges.size - 2)
    length = places[i + 1] - places[i]

    def moved(x: Array) -> Array:
        share = (x - places[i]) / where(length == 0, 1.0, length)
        return with_derivative_of(x, edges[i] + share * (edges[i + 1] - edges[i]))

    return moved(left), moved(right)


def _found(f: Any, rule: Kronrod, norm: Any, left: Array, right: Array, proper: Array) -> _Pieces:
    """Return the intervals with their integrals, errors, and what rounding may contribute."""
    half = (right - left) / 2
    y = _at_nodes(f, rule, *_proper(left, right, proper))
    weights, gauss = [array(w, dtype=left.dtype) for w in (rule.weights, rule.gauss)]
    value = _weighted(weights, y)
    spread = _rows(norm, _weighted(weights, absolute(y - value[:, None] / 2))) * half
    size = _rows(norm, _weighted(weights, absolute(y))) * half
    error = _rows(norm, value - _weighted(gauss, y)) * half
    has_spread = spread != 0
    share = 200 * error / where(has_spread, spread, 1)
    error = where(has_spread, spread * minimum(1, share * sqrt(share)), error)
    rounding = 50 * finfo(left.dtype).eps * size
    return _Pieces(left, right, _scaled(value, half), maximum(error, rounding), rounding)


def _at_nodes(f: Any, rule: Kronrod, left: Array, right: Array) -> Array:
    """Return the integrand at the nodes of each interval, [m, n, *s]."""
    nodes = array(rule.nodes, dtype=left.dtype)
    s = (left + right)[:, None] / 2 + ((right - left) / 2)[:, None] * nodes
    y = vmap(f)(s.reshape(-1))
    return y.reshape(*s.shape, *y.shape[1:])  # type: ignore[no-any-return]


def _weighted(weights: Array, y: Array) -> Array:
    """Return sums over the nodes, [m, *s]."""
    return _sum(weights.reshape(-1, *[1] * (y.ndim - 2)) * y, 1)


def _scaled(y: Array, half: Array) -> Array:
    """Return the rows of y times the numbers of ``half``."""
    return y * half.reshape(-1, *[1] * (y.ndim - 1))


def _rows(norm: Any, y: Array) -> Array:
    """Return the norm of each row."""
    return vmap(norm)(y)  # type: ignore[no-any-return]


def _root_of_squares(x: Array) -> Array:
    return sqrt(_sum(square(absolute(x))))


def _largest(x: Array) -> Array:
    return absolute(x).reshape(-1).max(initial=0)


_NORMS = {"2": _root_of_squares, "max": _largest}


def _followed(f: Any, rule: Kronrod, pieces: _Pieces, proper: Array) -> Array:
    """Return the integral over known intervals, 8 at a time; reverse mode keeps none of them."""
    count = pieces.left.size - 1
    rows = -(-count // _HALVED)
    empty = zeros_like(pieces.left, shape=(rows * _HALVED - count,))
    ends = [
        concatenate([x[:-1], empty], 0).reshape(rows, _HALVED)
        for x in (pieces.left, pieces.right)
    ]  # fmt: skip

    @checkpoint
    def part(left: Array, right: Array) -> Array:
        y = _at_nodes(f, rule, *_proper(left, right, proper))
        value = _weighted(array(rule.weights, dtype=left.dtype), y)
        return _sum(_scaled(value, (right - left) / 2), 0)

    def step(total: Array, row: tuple[Array, Array]) -> tuple[Array, None]:
        left, right = row
        add = lambda total, left, right: total + part(left, right)  # noqa: E731
        rest = lambda total, left, right: total  # noqa: E731
        return cond((left != right).any(), add, rest, total, left, right), None

    found: Array = scan(step, zeros_like(pieces.values[0]), tuple(ends))[0]
    return found
