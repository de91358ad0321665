"""Also ``sums``: what is added to zeros, and then to another term, is added to that term.

The derivative of what reads elements of an array is a sum of such terms. A term is then added to
element by element, not in one: results agree to rounding, where nothing overflows; and -0.0, to
which nothing is added, stays so. Many small updates of one element would be lost one by one in a
large term, so there are to be few; and nothing is done to float16 and bfloat16.
Read next: ``arithmetic.py``.
"""

from __future__ import annotations

from math import prod

from tenferro.passes._facts import constant_of, made_by
from tenferro.passes._rewriter import Rewriter
from tenferro.passes._rules import PassRules
from tenferro.passes.rewrites.reductions import is_narrow
from tenferro.primitives.arithmetic import Add
from tenferro.primitives.indexing import ScatterAdd

SUMS = PassRules("sums")
_MAX_COLLIDING_UPDATES = 64  # updates that may all hit one element


@SUMS.of(Add, reads=[ScatterAdd])
def _added_to_term(rw: Rewriter, op: Add, operands: tuple[int, ...]) -> int | None:
    """y + (0 with u added at i) = y with u added at i, if nothing else reads the second term."""
    if is_narrow(rw.avals[operands[0]]):
        return None
    for y, term in (operands, operands[::-1]):
        scatter = made_by(rw, term, ScatterAdd)
        if scatter is not None and rw.is_read_once(term):
            zeros, indices, updates = rw.operands[term]
            are_few = prod(rw.avals[indices].shape[:-1]) <= _MAX_COLLIDING_UPDATES
            if are_few and constant_of(rw, zeros) == 0:
                return rw.emit(scatter, y, indices, updates)
    return None
