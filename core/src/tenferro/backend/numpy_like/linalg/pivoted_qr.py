"""Pivoted QR decompositions for a NumPy-shaped namespace, whose `linalg.qr` exchanges no columns.

The order of columns is found first, by Gram and Schmidt's method on what remains of each column;
then the reordered matrix is decomposed. The search takes a `loop`, since some namespaces trace
their loops. Read next: `svd.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.linalg.qr import canonical_factors
from tenferro.primitives.linalg.pivoted_qr import PivotedQr

__all__ = ["column_order", "in_columns_order", "register", "step_by_step"]

#: ``loop(count, step, state)`` returns the state after ``state = step(i, state)`` for each i.
Loop = Callable[[int, Callable[[Any, Any], Any], Any], Any]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register pivoted_qr."""

    @lowerings.register(PivotedQr)
    def pivoted_qr(op: PivotedQr, a: Any) -> Any:
        order = column_order(xp, step_by_step, a)
        exchanged = in_columns_order(xp, a, order)
        q, r = xp.linalg.qr(exchanged, "complete" if op.full else "reduced")
        if op.canonical:
            q, r = canonical_factors(xp, q, r)
        return q, r, order


def step_by_step(count: int, step: Callable[[Any, Any], Any], state: Any) -> Any:
    """Run a loop in a namespace that computes eagerly."""
    for i in range(count):
        state = step(i, state)
    return state


def column_order(xp: Any, loop: Loop, a: Any) -> Any:
    """Return the order in which columns are taken: the one with the longest rest is next.

    a: [*b, m, n]   →   int32[*b, n]
    """
    n = a.shape[-1]
    place = xp.arange(n, dtype="int32")
    start = xp.broadcast_to(place, (*a.shape[:-2], n))
    if not a.size:
        return start

    def step(j: Any, state: Any) -> Any:
        rest, order = state
        size = xp.sum(xp.absolute(rest) ** 2, -2)
        size = xp.where(place < j, xp.full_like(size, -1), size)
        longest = xp.argmax(size, -1).astype("int32")[..., None]
        exchange = xp.where(place == j, longest, xp.where(place == longest, j, place))
        exchange = exchange.astype("int32")
        order = xp.take_along_axis(order, exchange, -1)
        rest = in_columns_order(xp, rest, exchange)
        column = xp.sum(xp.where(place == j, rest, xp.zeros_like(rest)), -1)[..., None]
        length = xp.sum(xp.absolute(column) ** 2, -2)[..., None]
        overlap = xp.sum(xp.conj(column) * rest, -2)[..., None, :]
        share = overlap / xp.where(length == 0, xp.ones_like(length), length)
        return rest - column * share, order

    largest = xp.max(xp.absolute(a), (-2, -1))[..., None, None]  # so that no square overflows
    scaled = a / xp.where(largest == 0, xp.ones_like(largest), largest)
    return loop(min(a.shape[-2:]), step, (scaled, start))[1]


def in_columns_order(xp: Any, a: Any, order: Any) -> Any:
    """Return a[..., order] for each matrix of a stack with its own order."""
    spread = xp.broadcast_to(order[..., None, :], (*a.shape[:-1], order.shape[-1]))
    return xp.take_along_axis(a, spread, -1)
