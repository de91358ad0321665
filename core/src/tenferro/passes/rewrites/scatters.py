"""Also ``sums``: what is added to zeros, and then to another term, is added to that term.

Terms that are padded alike are added before they are padded: pad(u) + (pad(v) + w) is
pad(u + v) + w.

The derivative of what reads elements of an array is a sum of such terms. A term is then added to
element by element, not in one: results agree to rounding, where nothing overflows; and -0.0, to
which nothing is added, stays so. Many small updates of one element would be lost one by one in a
large term, so there are to be few; and nothing is done to float16 and bfloat16.
Read next: ``arithmetic.py``.
"""

from __future__ import annotations

from math import prod
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.passes._facts import constant_of, is_narrow, made_by
from tenferro.passes._rewriter import Rewriter
from tenferro.passes._rules import PassRules
from tenferro.primitives.arithmetic import Add, Sub
from tenferro.primitives.indexing import ScatterAdd
from tenferro.primitives.structural import Pad

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


class _Signed(NamedTuple):
    """A term of a sum."""

    value: int
    negative: bool


@SUMS.of(Add, Sub, reads=[Pad])
def _padded_alike(rw: Rewriter, op: Add | Sub, operands: tuple[int, ...]) -> int | None:
    """pad(u) + (pad(v) + w) = pad(u + v) + w, with any signs, if nothing else reads what is in
    brackets.
    """
    if is_narrow(rw.avals[operands[0]]):
        return None
    outer = _terms(op, operands)
    for padded, inner in (outer, outer[::-1]):
        if not _is_padded(rw, padded.value) or not rw.is_read_once(inner.value):
            continue
        inside: Any = rw.operations[inner.value]
        if type(inside) not in (Add, Sub):
            continue
        terms = _terms(inside, rw.operands[inner.value], inner.negative)
        for other, rest in (terms, terms[::-1]):
            if _are_alike(rw, padded.value, other.value):
                return _with_one_padding(rw, padded, other, rest)
    return None


def _terms(op: Any, operands: tuple[int, ...], negative: bool = False) -> tuple[_Signed, _Signed]:
    x, y = operands
    return _Signed(x, negative), _Signed(y, negative is not (type(op) is Sub))


def _is_padded(rw: Rewriter, value: int) -> bool:
    return made_by(rw, value, Pad) is not None and constant_of(rw, rw.operands[value][1]) == 0


def _are_alike(rw: Rewriter, x: int, y: int) -> bool:
    """Return True if values are padded alike, with zeros, and nothing else reads the second."""
    same = rw.operations[x] is rw.operations[y] and _is_padded(rw, y) and rw.is_read_once(y)
    return same and rw.avals[rw.operands[x][0]] is rw.avals[rw.operands[y][0]]


def _with_one_padding(rw: Rewriter, x: _Signed, y: _Signed, rest: _Signed) -> int | None:
    """Add two padded terms before they are padded; None if the whole sum is negative."""
    pad: Any = rw.operations[x.value]
    (u, filler), (v, _) = rw.operands[x.value], rw.operands[y.value]
    if x.negative is y.negative:
        both, negative = (Add(), u, v), x.negative
    else:
        both, negative = (Sub(), v, u) if x.negative else (Sub(), u, v), False
    if (negative and rest.negative) or not rw.can(Sub):
        return None
    padded = rw.emit(pad, rw.emit(*both), filler)
    if negative:
        return rw.emit(Sub(), rest.value, padded)
    return rw.emit(Sub() if rest.negative else Add(), padded, rest.value)
