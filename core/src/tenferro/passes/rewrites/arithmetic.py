"""``simplify``: identities of arithmetic, complex numbers, logic and the choice of two.

Each keeps every bit of the result (but the sign and payload of a nan): x·1, x - 0 and x + (-0) are
x, whereas x + 0 is not where x = -0.0, nor is x·0 zero where x is inf. A sign moves outwards
through products and quotients of real numbers, until it meets another or a sum that takes it in;
of complex ones it does not, because the parts of their product are sums. Division by ±2ᵏ is
multiplication by its inverse. Read next: ``moves.py``.
"""

from __future__ import annotations

from math import copysign
from typing import Any

from tenferro.passes._facts import constant, constant_of, is_real, made_by
from tenferro.passes._rewriter import Rewriter
from tenferro.passes._rounding import is_power_of_two, negated, rounded
from tenferro.passes._rules import PassRules
from tenferro.primitives.arithmetic import (
    Abs,
    Add,
    Div,
    Maximum,
    Minimum,
    Mul,
    Neg,
    Square,
    Sub,
)
from tenferro.primitives.comparison import (
    Eq,
    LogicalAnd,
    LogicalNot,
    LogicalOr,
    LogicalXor,
    Ne,
    Select,
)
from tenferro.primitives.complex import Complex, Conj, Imag, Real
from tenferro.primitives.constants import Constant
from tenferro.primitives.structural import Convert, StopGradient

SIMPLIFY = PassRules("simplify")
_Operands = tuple[int, ...]

# ---- products ------------------------------------------------------------------------------------


@SIMPLIFY.of(Mul, reads=[Constant])
def _product_with_constant(rw: Rewriter, op: Mul, operands: _Operands) -> int | None:
    """x·1 = x, x·(-1) = -x, (-x)·c = x·(-c); integers: x·0 = 0."""
    for x, c in (operands, operands[::-1]):
        value = constant_of(rw, c)
        if value is None or not is_real(rw.avals[x]):
            continue
        if value == 1:
            return x
        if value == -1 and rw.can(Neg):
            return rw.emit(Neg(), x)
        if value == 0 and rw.avals[x].dtype.is_integer:
            return c
        if made_by(rw, x, Neg):
            return rw.emit(op, rw.operands[x][0], _opposite(rw, c))
        return _product_of_powers(rw, x, c, value)
    return None


def _product_of_powers(rw: Rewriter, x: int, c: int, value: Any) -> int | None:
    """(x·b)·c = x·(bc) where both are powers of two from one on, or integers."""
    inner = made_by(rw, x, Mul)
    if inner is None:
        return None
    aval = rw.avals[x]
    for y, b in (rw.operands[x], rw.operands[x][::-1]):
        first = constant_of(rw, b)
        if first is None:
            continue
        if not aval.dtype.is_integer and not (_is_doubling(first) and _is_doubling(value)):
            return None
        both = rounded(first * value, aval.dtype)
        return None if both is None else rw.emit(inner, y, constant(rw, both, aval))
    return None


def _is_doubling(value: Any) -> bool:
    return is_power_of_two(value) and abs(value) >= 1


def _opposite(rw: Rewriter, c: int) -> int:
    """Emit the constant with the other sign."""
    aval = rw.avals[c]
    return constant(rw, negated(constant_of(rw, c), aval.dtype), aval)


@SIMPLIFY.of(Mul, reads=[Neg])
def _sign_of_product(rw: Rewriter, op: Mul, operands: _Operands) -> int | None:
    """(-x)(-y) = xy; (-x)·y = -(xy), if nothing else reads -x, or x·y is there anyway."""
    x, y = operands
    left, right = made_by(rw, x, Neg), made_by(rw, y, Neg)
    if (left is None and right is None) or not is_real(rw.avals[x]):
        return None
    if left is not None and right is not None:
        return rw.emit(op, rw.operands[x][0], rw.operands[y][0])
    negative, other = (x, y) if left is not None else (y, x)
    positive = rw.operands[negative][0]
    if not rw.is_read_once(negative) and not rw.is_there(op, positive, other):
        return None
    return rw.emit(Neg(), rw.emit(op, positive, other))


@SIMPLIFY.of(Div, reads=[Constant])
def _quotient(rw: Rewriter, op: Div, operands: _Operands) -> int | None:
    """x/1 = x, x/(-1) = -x, x/2ᵏ = x·2⁻ᵏ."""
    x, c = operands
    value, dtype = constant_of(rw, c), rw.avals[x].dtype
    if value is None or not (dtype.is_float or (dtype.is_integer and value == 1)):
        return None
    if value == 1:
        return x
    if value == -1 and rw.can(Neg):
        return rw.emit(Neg(), x)
    if dtype.name == "bfloat16" or not is_power_of_two(value) or not rw.can(Mul):
        return None
    inverse = rounded(1 / value, dtype)
    if inverse is None or abs(inverse) < dtype.smallest_normal:
        return None
    return rw.emit(Mul(), x, constant(rw, inverse, rw.avals[c]))


@SIMPLIFY.of(Div, reads=[Neg])
def _sign_of_quotient(rw: Rewriter, op: Div, operands: _Operands) -> int | None:
    """(-x)/(-y) = x/y; (-x)/y = x/(-y) = -(x/y), if nothing else reads the negative one."""
    x, y = operands
    left, right = made_by(rw, x, Neg), made_by(rw, y, Neg)
    if (left is None and right is None) or not rw.avals[x].dtype.is_float:
        return None
    above = x if left is None else rw.operands[x][0]
    below = y if right is None else rw.operands[y][0]
    if left is not None and right is not None:
        return rw.emit(op, above, below)
    if not rw.is_read_once(x if left is not None else y):
        return None
    return rw.emit(Neg(), rw.emit(op, above, below))


# ---- sums ----------------------------------------------------------------------------------------


@SIMPLIFY.of(Add, reads=[Constant, Neg])
def _sum(rw: Rewriter, op: Add, operands: _Operands) -> int | None:
    """x + (-0) = x; x + (-y) = x - y."""
    for x, y in (operands, operands[::-1]):
        if _is_nothing(rw, y, subtracted=False):
            return x
    for x, y in (operands, operands[::-1]):
        if made_by(rw, y, Neg) and rw.can(Sub):
            return rw.emit(Sub(), x, rw.operands[y][0])
    return None


@SIMPLIFY.of(Sub)
def _difference(rw: Rewriter, op: Sub, operands: _Operands) -> int | None:
    """x - 0 = x; x - (-y) = x + y; (-0) - y = -y; -x - x = x·(-2); integers: x - x = 0."""
    x, y = operands
    if _is_nothing(rw, y, subtracted=True):
        return x
    if made_by(rw, y, Neg) and rw.can(Add):
        return rw.emit(Add(), x, rw.operands[y][0])
    if _is_nothing(rw, x, subtracted=False) and rw.can(Neg):
        return rw.emit(Neg(), y)
    aval = rw.avals[x]
    if x == y and aval.dtype.is_integer:
        return constant(rw, 0, aval)
    if made_by(rw, x, Neg) and rw.operands[x][0] == y and aval.dtype.is_float and rw.can(Mul):
        return rw.emit(Mul(), y, constant(rw, -2.0, aval))
    return None


def _is_nothing(rw: Rewriter, zero: int, *, subtracted: bool) -> bool:
    """Return True if a term changes nothing: -0.0 added, 0.0 subtracted, an integer zero."""
    value = constant_of(rw, zero)
    if value is None or value != 0 or not is_real(rw.avals[zero]):
        return False
    negative = copysign(1.0, value) < 0
    return rw.avals[zero].dtype.is_integer or negative is not subtracted


@SIMPLIFY.of(Neg, reads=[Neg, Sub, Mul, Div])
def _negative(rw: Rewriter, op: Neg, operands: _Operands) -> int | None:
    """-(-x) = x; -(x·c) = x·(-c), -(c/x) = (-c)/x of a constant c; integers: -(x - y) = y - x."""
    (x,) = operands
    if made_by(rw, x, Neg):
        return rw.operands[x][0]
    aval = rw.avals[x]
    inner = rw.operations[x]
    if type(inner) is Sub and aval.dtype.is_integer:
        return rw.emit(inner, *rw.operands[x][::-1])
    if type(inner) not in (Mul, Div) or not is_real(aval) or not rw.is_read_once(x):
        return None
    if type(inner) is Div and not aval.dtype.is_float:
        return None
    return _with_opposite_constant(rw, inner, rw.operands[x])


def _with_opposite_constant(rw: Rewriter, op: Any, operands: _Operands) -> int | None:
    for i, c in enumerate(operands):
        if constant_of(rw, c) is not None:
            changed = list(operands)
            changed[i] = _opposite(rw, c)
            return rw.emit(op, *changed)
    return None


@SIMPLIFY.of(Abs, Square, reads=[Neg, Conj, Abs])
def _even(rw: Rewriter, op: Any, operands: _Operands) -> int | None:
    """|-x| = |x|, (-x)² = x², |conj z| = |z|, ||x|| = |x|, and |x|² = x² of real x."""
    (x,) = operands
    inner = rw.operations[x]
    if type(inner) is Neg and (type(op) is Square or rw.avals[x].dtype.category != "uint"):
        return rw.emit(op, rw.operands[x][0])
    if type(inner) is Conj and type(op) is Abs:
        return rw.emit(op, rw.operands[x][0])
    if type(inner) is not Abs:
        return None
    if type(op) is Abs:
        return x
    before = rw.operands[x][0]
    return rw.emit(op, before) if is_real(rw.avals[before]) else None


@SIMPLIFY.of(Maximum, Minimum, LogicalAnd, LogicalOr)
def _idempotent(rw: Rewriter, op: Any, operands: _Operands) -> int | None:
    """max(x, x) = x, p and p = p."""
    return operands[0] if operands[0] == operands[1] else None


# ---- complex numbers -----------------------------------------------------------------------------


@SIMPLIFY.of(Conj)
def _conjugate(rw: Rewriter, op: Conj, operands: _Operands) -> int | None:
    """conj conj z = z; a real number is its own conjugate."""
    (z,) = operands
    if made_by(rw, z, Conj):
        return rw.operands[z][0]
    return None if rw.avals[z].dtype.is_complex else z


@SIMPLIFY.of(Real, Imag, reads=[Complex, Conj, Convert])
def _part(rw: Rewriter, op: Any, operands: _Operands) -> int | None:
    """Re(a + bi) = a, Im(a + bi) = b, Re conj z = Re z, Im conj z = -Im z; of a + 0i, made of a."""
    (z,) = operands
    inner, is_real_part = rw.operations[z], type(op) is Real
    if type(inner) is Complex:
        return rw.operands[z][0 if is_real_part else 1]
    if type(inner) is Conj:
        part = rw.emit(op, rw.operands[z][0])
        return part if is_real_part else rw.emit(Neg(), part)
    if type(inner) is Convert:
        return _part_of_converted(rw, z, is_real_part)
    return None


def _part_of_converted(rw: Rewriter, z: int, is_real_part: bool) -> int | None:
    (a,) = rw.operands[z]
    aval = rw.avals[z].with_dtype(rw.avals[z].dtype.real_dtype)
    if rw.avals[a].dtype.is_complex:
        return None
    if not is_real_part:
        return constant(rw, 0.0, aval)
    return rw.emit(Convert(aval.dtype), a)


@SIMPLIFY.of(Complex, reads=[Real])
def _reassembled(rw: Rewriter, op: Complex, operands: _Operands) -> int | None:
    """Re z + i·Im z = z."""
    re, im = operands
    if not made_by(rw, re, Real) or not made_by(rw, im, Imag):
        return None
    z = rw.operands[re][0]
    return z if rw.operands[im][0] == z else None


# ---- logic and choice ----------------------------------------------------------------------------


@SIMPLIFY.of(LogicalNot, reads=[LogicalNot, Eq, Ne])
def _not(rw: Rewriter, op: LogicalNot, operands: _Operands) -> int | None:
    """not not p = p; not x = y is x ≠ y (nan included), and the reverse."""
    (p,) = operands
    inner = rw.operations[p]
    if type(inner) is LogicalNot:
        return rw.operands[p][0]
    if type(inner) is Eq and rw.can(Ne):
        return rw.emit(Ne(), *rw.operands[p])
    if type(inner) is Ne and rw.can(Eq):
        return rw.emit(Eq(), *rw.operands[p])
    return None


@SIMPLIFY.of(LogicalAnd, LogicalOr, LogicalXor, reads=[Constant])
def _logic_with_constant(rw: Rewriter, op: Any, operands: _Operands) -> int | None:
    """p and True = p, p and False = False, p or False = p, p or True = True, p xor False = p."""
    for p, c in (operands, operands[::-1]):
        value = constant_of(rw, c)
        if value is None:
            continue
        if type(op) is LogicalXor:
            return rw.emit(LogicalNot(), p) if value else p
        return p if value is (type(op) is LogicalAnd) else c
    return None


@SIMPLIFY.of(Select)
def _choice(rw: Rewriter, op: Select, operands: _Operands) -> int | None:
    """Simplify a select: constant predicate, equal branches, or a negated predicate."""
    pred, on_true, on_false = operands
    if on_true == on_false:
        return on_true
    value = constant_of(rw, pred)
    if value is not None:
        return on_true if value else on_false
    if made_by(rw, pred, LogicalNot):
        return rw.emit(op, rw.operands[pred][0], on_false, on_true)
    return None


@SIMPLIFY.of(StopGradient)
def _barrier_of_derivatives(rw: Rewriter, op: StopGradient, operands: _Operands) -> int | None:
    """Remove the barrier: a program that runs is not differentiated any more."""
    return operands[0]
