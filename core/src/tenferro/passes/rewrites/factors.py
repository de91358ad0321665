"""``factors``: what multiplies an array is put together before it does.

(x·a)·c = x·(a·c) where a and c are repeated, and one of them is a number from 1 on, so that no
product underflows that did not: derivatives of powers bring such numbers. So are x·a + x·a and
a/x + a/x, which are derivatives of x·x and of what it is part of, and t + (t + w) where 2·t is
there or costs nothing. (x/y)·z = x·(z/y) where z/y is
there anyway and one of them carries a derivative, as in those of quotients. -a - b = -(a + b), so
that the sign moves on, to what takes it in. exp(x - ln Σ exp x) is exp(x - max x) over its sum,
which are there anyway. Results agree to rounding, where nothing overflows; a
zero may have the other sign. No float16 or bfloat16 is multiplied in another order.
Read next: ``reductions.py``.
"""

from __future__ import annotations

from math import prod
from typing import Any

from tenferro.passes._facts import constant_of, is_narrow, is_real, made_by
from tenferro.passes._repeats import REPEATED, along, may_repeat, repeated, varying
from tenferro.passes._rewriter import Rewriter
from tenferro.passes._rules import PassRules
from tenferro.passes._shares import share_of_sum
from tenferro.primitives.arithmetic import Add, Div, Mul, Neg, Sub
from tenferro.primitives.constants import Constant
from tenferro.primitives.elementwise import Exp
from tenferro.primitives.structural import Transpose

FACTORS = PassRules("factors")
_Operands = tuple[int, ...]
_MAX_FACTOR = 1 << 20  # of the numbers that multiply others first


@FACTORS.of(Mul, reads=REPEATED)
def _repeated_first(rw: Rewriter, op: Mul, operands: _Operands) -> int | None:
    """(x·a)·c = x·(a·c), done on what is not repeated."""
    if not rw.avals[operands[0]].ndim:
        return None
    for product, c in (operands, operands[::-1]):
        if not may_repeat(rw, c) or not made_by(rw, product, Mul) or not rw.is_read_once(product):
            continue
        pair = rw.operands[product]
        for x, a in (pair, pair[::-1]):
            axes = _axes(rw, a, c) if _is_number(rw, a) or _is_number(rw, c) else None
            if axes is not None:
                small = rw.emit(op, along(rw, a, axes), along(rw, c, axes))
                return rw.emit(op, x, repeated(rw, small, rw.avals[c].shape, axes))
    return None


@FACTORS.of(Add, reads=[Mul, Div, Transpose])
def _twice(rw: Rewriter, op: Add, operands: _Operands) -> int | None:
    """x·a + x·a = x·(a + a) and a/x + a/x = (a + a)/x, also if both are transposed."""
    t, other = operands
    if t != other or not rw.is_read_once(t, times=2):
        return None
    turned = made_by(rw, t, Transpose)
    if turned is None:
        return _with_twice_a_factor(rw, op, t)
    (source,) = rw.operands[t]
    found = _with_twice_a_factor(rw, op, source) if rw.is_read_once(source) else None
    return None if found is None else rw.emit(turned, found)


def _with_twice_a_factor(rw: Rewriter, op: Add, t: int) -> int | None:
    """Return t + t as a product or quotient whose small part is doubled."""
    inner: Any = rw.operations[t]
    if type(inner) not in (Mul, Div) or (type(inner) is Div and rw.avals[t].dtype.is_integer):
        return None
    pair = rw.operands[t]
    for k in (0, 1) if type(inner) is Mul else (0,):
        axes = _axes(rw, pair[k])
        if axes is not None:
            small = along(rw, pair[k], axes)
            both = repeated(rw, rw.emit(op, small, small), rw.avals[t].shape, axes)
            return rw.emit(inner, *((both, pair[1]) if k == 0 else (pair[0], both)))
    return None


@FACTORS.of(Add, reads=[Add])
def _twice_in_a_sum(rw: Rewriter, op: Add, operands: _Operands) -> int | None:
    """t + (t + w) = 2·t + w, where 2·t costs nothing: t is x·a, or 2·t is there anyway."""
    if not rw.avals[operands[0]].ndim or is_narrow(rw.avals[operands[0]]):
        return None
    for t, inner in (operands, operands[::-1]):
        if made_by(rw, inner, Add) is None or not rw.is_read_once(inner):
            continue
        terms = rw.operands[inner]
        if t not in terms:
            continue
        w = terms[1] if terms[0] == t else terms[0]
        twice = _doubled(rw, t)
        if twice is not None:
            return rw.emit(op, twice, w)
    return None


def _doubled(rw: Rewriter, t: int) -> int | None:
    """Return 2·t if it is there, or where a repeated factor of t is doubled instead."""
    two = Constant(2.0, rw.avals[t].dtype, rw.avals[t].shape)
    if rw.avals[t].dtype.is_float and rw.is_there(two):
        number = rw.emit(two)
        if rw.is_there(Mul(), t, number) or rw.is_there(Mul(), number, t):
            return rw.emit(Mul(), t, number)
    if made_by(rw, t, Mul) is None or not rw.is_read_once(t, times=2):
        return None
    return _twice(rw, Add(), (t, t))


@FACTORS.of(Add, reads=[Mul], every=True)
def _same_product(rw: Rewriter, op: Add, operands: _Operands) -> int | None:
    """(x·y)·z + x·(y·z) is twice the first: the derivatives of a product by equal factors."""
    t, other = operands
    if t == other or rw.avals[t].dtype.is_bool or is_narrow(rw.avals[t]):
        return None
    if _factors(rw, t).isdisjoint(_factors(rw, other)) or not rw.is_read_once(other):
        return None
    return rw.emit(op, t, t)


def _factors(rw: Rewriter, product: int) -> set[tuple[int, ...]]:
    """Return the three factors of a product of a product, for each operand that is one."""
    if made_by(rw, product, Mul) is None:
        return set()
    x, y = rw.operands[product]
    found = set()
    for inner, z in ((x, y), (y, x)):
        if made_by(rw, inner, Mul) is not None:
            found.add(tuple(sorted((*rw.operands[inner], z))))
    return found


def _axes(rw: Rewriter, *values: int) -> list[int] | None:
    """Return the axes along which values differ; ``None`` if they are repeated too little."""
    aval = rw.avals[values[0]]
    if not all([may_repeat(rw, i) for i in values]) or not is_real(aval) or is_narrow(aval):
        return None
    axes = sorted({axis for i in values for axis in varying(rw, i)})
    return axes if 2 * prod([aval.shape[axis] for axis in axes]) <= aval.size else None


def _is_number(rw: Rewriter, value: int) -> bool:
    """Return True if the value is a constant c with 1 <= |c| <= the largest allowed factor."""
    number = constant_of(rw, value)
    return number is not None and 1 <= abs(number) <= _MAX_FACTOR


@FACTORS.of(Mul, reads=[Div])
def _shared_quotient(rw: Rewriter, op: Mul, operands: _Operands) -> int | None:
    """(x/y)·z = x·(z/y) where one carries a derivative, x/y is read once, and z/y is there anyway.

    Not of values, where z/y may underflow and x/y not: their order is the user's. Nor of what is
    emitted here, where x/y is still there and would be taken back.
    """
    aval = rw.avals[operands[0]]
    if rw.is_emitting() or not aval.dtype.is_float or is_narrow(aval):
        return None
    for quotient, z in (operands, operands[::-1]):
        if not (rw.is_linear(quotient) or rw.is_linear(z)):
            continue
        if made_by(rw, quotient, Div) and rw.is_read_once(quotient):
            x, y = rw.operands[quotient]
            if rw.is_there(Div(), z, y):
                return rw.emit(op, x, rw.emit(Div(), z, y))
    return None


@FACTORS.of(Sub, reads=[Neg])
def _sign_of_sum(rw: Rewriter, op: Sub, operands: _Operands) -> int | None:
    """-a - b = -(a + b)."""
    x, b = operands
    if made_by(rw, x, Neg) is None or not rw.can(Add) or not rw.is_read_once(x):
        return None
    return rw.emit(Neg(), rw.emit(Add(), rw.operands[x][0], b))


@FACTORS.of(Exp, reads=[Sub])
def _share(rw: Rewriter, op: Exp, operands: _Operands) -> int | None:
    """exp(x - ln Σ exp x) = exp(x - m) / Σ exp(x - m) with m = max x, also where the
    logarithm is m + ln Σ exp(x - m).
    """
    return share_of_sum(rw, operands[0])
