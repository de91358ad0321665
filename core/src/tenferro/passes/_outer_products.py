"""Outer products u vᵀ among the equations of a graph: products of two repeated vectors.

Read next: ``rewrites/systems.py``, ``rewrites/contractions.py``.
"""

from __future__ import annotations

from tenferro._runtime.records import NamedTuple
from tenferro.passes._facts import made_by
from tenferro.passes._repeats import along, may_repeat, repeated, varying
from tenferro.passes._rewriter import Rewriter
from tenferro.primitives.arithmetic import Mul, Neg


class Outer(NamedTuple):
    """A matrix u vᵀ; ``column`` is u, ``row`` is v, both vectors."""

    column: int
    row: int

    def emit(self, rw: Rewriter) -> int:
        """Emit the matrix."""
        shape = (rw.avals[self.column].shape[0], rw.avals[self.row].shape[0])
        factors = repeated(rw, self.column, shape, (0,)), repeated(rw, self.row, shape, (1,))
        return rw.emit(Mul(), *factors)


def outer_of(rw: Rewriter, value: int) -> Outer | None:
    """Return the outer product that a matrix is, perhaps with a minus."""
    inner = rw.operands[value][0] if made_by(rw, value, Neg) else value
    if rw.avals[inner].ndim != 2 or not made_by(rw, inner, Mul) or 1 in rw.avals[inner].shape:
        return None
    x, y = rw.operands[inner]
    if not (may_repeat(rw, x) and may_repeat(rw, y)):
        return None
    if varying(rw, x) == {1}:
        x, y = y, x
    if varying(rw, x) != {0} or varying(rw, y) != {1}:
        return None
    column = along(rw, x, (0,))
    return Outer(column if inner == value else rw.emit(Neg(), column), along(rw, y, (1,)))
