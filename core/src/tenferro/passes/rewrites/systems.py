"""``systems``: linear systems and Cholesky factors, by what is known of matrix and right-hand side.

A system whose right-hand sides are an outer product has one: a⁻¹(u vᵀ) = (a⁻¹ u) vᵀ. A sign or a
number before a right-hand side goes behind the solution, if that is there without it. A system with
a Cholesky factor is triangular and needs no LU factors. In the cotangent of a Cholesky factor,
w zᵀ with w = L⁻ᵀ z, which a quadratic form zᵀ z = yᵀ (L Lᵀ)⁻¹ y brings, gives ½ w wᵀ; what is left
besides is the sparse cotangent of the diagonal, a vector. Results agree to rounding.
Linear algebra is named by keys, so that its modules load with programs that use it.
Read next: ``../_outer_products.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.passes._facts import constant, constant_of, made_by
from tenferro.passes._outer_products import Outer, outer_of
from tenferro.passes._repeats import along, may_repeat, repeated, varying
from tenferro.passes._rewriter import Rewriter
from tenferro.passes._rules import PassRules
from tenferro.primitives._dtype import int32
from tenferro.primitives.arithmetic import Add, Mul, Neg, Sub
from tenferro.primitives.comparison import Eq, Ge, Gt, Select
from tenferro.primitives.constants import Constant, Iota
from tenferro.primitives.indexing import ScatterAdd
from tenferro.primitives.structural import Pad, Reshape, Transpose

SYSTEMS = PassRules("systems")
_Operands = tuple[int, ...]
_TRIANGULAR, _GENERAL = "std::triangular_solve", "std::linear_solve"
_MAX_STEPS = 16  # from a vector to what it is a multiple of


def _named(*keys: str) -> Callable[[type], bool]:
    return lambda cls: getattr(cls, "key", None) in keys


def _is_solve_from_left(op: Any) -> bool:
    return bool(op.key == _GENERAL or op.left)


# ---- right-hand sides ----------------------------------------------------------------------------


@SYSTEMS.where(_named(_TRIANGULAR, _GENERAL), reads=[Mul, Neg])
def _of_outer(rw: Rewriter, op: Any, operands: _Operands) -> int | None:
    """a⁻¹(u vᵀ) = (a⁻¹ u) vᵀ, and from the right likewise."""
    *matrix, b = operands
    outer = outer_of(rw, b)
    if outer is None:
        return None
    column, row = outer
    if _is_solve_from_left(op):
        column = _solved(rw, op, matrix, column)
    else:
        whole = rw.emit(op, *matrix, rw.emit(Reshape((1, *rw.avals[row].shape)), row))
        row = rw.emit(Reshape(rw.avals[row].shape), whole)
    return Outer(column, row).emit(rw)


def _solved(rw: Rewriter, op: Any, matrix: list[int], b: int) -> int:
    """Solve for one vector."""
    shape = rw.avals[b].shape
    return rw.emit(Reshape(shape), rw.emit(op, *matrix, rw.emit(Reshape((*shape, 1)), b)))


@SYSTEMS.where(_named(_TRIANGULAR, _GENERAL), reads=[Mul, Neg])
def _of_multiple(rw: Rewriter, op: Any, operands: _Operands) -> int | None:
    """a⁻¹(c b) = c (a⁻¹ b) for a number c, where a⁻¹ b is there."""
    *matrix, b = operands
    multiple = _Multiple.of(rw, b)
    if multiple.value == b or not rw.is_there(op, *matrix, multiple.value):
        return None
    return multiple.emit(rw, rw.emit(op, *matrix, multiple.value))


class _Multiple(NamedTuple):
    """A value, the numbers that it is multiplied by, and True if its sign is changed, too."""

    value: int
    factors: tuple[int, ...]
    negative: bool

    @staticmethod
    def of(rw: Rewriter, value: int) -> _Multiple:
        """Take signs and numbers off a value; also off a vector in the shape of a matrix."""
        factors: list[int] = []
        negative = False
        for _ in range(_MAX_STEPS):
            operands = rw.operands[value]
            if made_by(rw, value, Neg):
                value, negative = operands[0], not negative
            elif made_by(rw, value, Mul) and _number(rw, operands[0]) is not None:
                value, factors = operands[1], [*factors, operands[0]]
            elif made_by(rw, value, Mul) and _number(rw, operands[1]) is not None:
                value, factors = operands[0], [*factors, operands[1]]
            else:
                break
        return _Multiple(value, tuple([along(rw, c, ()) for c in factors]), negative)

    def emit(self, rw: Rewriter, value: int) -> int:
        """Multiply another value likewise."""
        for c in self.factors:
            value = rw.emit(Mul(), repeated(rw, c, rw.avals[value].shape, ()), value)
        return rw.emit(Neg(), value) if self.negative else value

    def times(self, other: _Multiple) -> _Multiple:
        """Return the multiple of this value by the factors of both."""
        factors = (*self.factors, *other.factors)
        return _Multiple(self.value, factors, self.negative != other.negative)


def _number(rw: Rewriter, value: int) -> int | None:
    return value if may_repeat(rw, value) and not varying(rw, value) else None


# ---- matrices ------------------------------------------------------------------------------------


@SYSTEMS.where(_named(_GENERAL))
def _by_factor(rw: Rewriter, op: Any, operands: _Operands) -> int | None:
    """Solve with L or Lᵀ of a Cholesky factorization as with a triangular matrix."""
    a, b = operands[0], operands[-1]
    complex_ = rw.avals[a].dtype.is_complex
    turned = made_by(rw, a, Transpose) is not None and rw.avals[a].ndim == 2 and not complex_
    factor = rw.operands[a][0] if turned else a
    if getattr(rw.operations[factor], "key", None) != "std::cholesky":
        return None
    cls = import_module("tenferro.primitives.linalg.triangular_solve").TriangularSolve
    transposed, conjugated = op.adjoint != turned, op.adjoint and complex_
    return rw.emit(cls(transposed=transposed, conjugated=conjugated), factor, b)


# ---- the cotangent of a Cholesky factor ----------------------------------------------------------


@SYSTEMS.where(_named("std::cholesky_tangent"))
def _of_quadratic_form(rw: Rewriter, op: Any, operands: _Operands) -> int | None:
    """Take terms L⁻ᵀ z zᵀ out of a cotangent.

    A backend adds them to the cotangent of the rest; if it cannot, the rest must be sparse.
    """
    factor, ct = operands
    aval = rw.avals[ct]
    if not op.adjoint or aval.ndim != 2 or not aval.dtype.is_float or min(aval.shape) < 2:
        return None
    together = import_module("tenferro.primitives.linalg.cholesky").CholeskyCotangent
    rest, found = [], []
    for term, negative in _terms(rw, ct):
        square = _quadratic(rw, factor, term)
        if square is not None:
            found.append(square._replace(negative=square.negative != negative))
        elif rw.can(together) or _is_sparse(rw, term):
            rest.append(rw.emit(Neg(), term) if negative else term)
        else:
            return None
    if not found:
        return None
    outer = [Outer(square.emit(rw, square.value), square.value) for square in found]
    if rest and rw.can(together):
        return rw.emit(together(), factor, _sum(rw, rest), *[i for pair in outer for i in pair])
    parts = [rw.emit(op, factor, _sum(rw, rest))] if rest else []
    return _sum(rw, [*parts, _halved_below(rw, _sum(rw, [pair.emit(rw) for pair in outer]))])


@SYSTEMS.where(_named("std::cholesky_tangent"))
def _of_diagonal(rw: Rewriter, op: Any, operands: _Operands) -> int | None:
    """Name the cotangent of a diagonal, where a backend makes use of it."""
    factor, ct = operands
    cls = import_module("tenferro.primitives.linalg.cholesky").CholeskyDiagonalCotangent
    if not op.adjoint or not rw.avals[ct].dtype.is_float or not rw.can(cls):
        return None
    diagonal = _diagonal_of(rw, ct)
    return None if diagonal is None else rw.emit(cls(), factor, diagonal)


def _diagonal_of(rw: Rewriter, matrix: int) -> int | None:
    """Return the diagonal of a square matrix that is padded from it, of at least two rows."""
    size = rw.avals[matrix].shape[-1]
    pad: Any = rw.operations[flat := _inside(rw, matrix)]
    if not isinstance(pad, Pad) or rw.avals[flat].shape != (size * size,) or size < 2:
        return None
    inner, filling = rw.operands[flat]
    is_diagonal = (pad.low, pad.high, pad.interior) == ((0,), (0,), (size,))
    return inner if is_diagonal and constant_of(rw, filling) == 0 else None


def _inside(rw: Rewriter, value: int) -> int:
    """Return what a value is a reshape of."""
    return rw.operands[value][0] if made_by(rw, value, Reshape) else value


def _is_sparse(rw: Rewriter, term: int) -> bool:
    """Return True for what is scattered, or padded to a matrix."""
    term = _inside(rw, term)
    return made_by(rw, term, ScatterAdd) is not None or made_by(rw, term, Pad) is not None


def _terms(rw: Rewriter, value: int) -> list[tuple[int, bool]]:
    """Return the terms of a sum whose lower triangle is read, and whether each is subtracted."""
    waiting, found = [(value, False)], list[tuple[int, bool]]()
    while waiting and len(found) + len(waiting) <= _MAX_STEPS:
        value, negative = waiting.pop()
        operands, operation = rw.operands[value], rw.operations[value]
        kind, parts = _summed_in_another_shape(rw, value) or (type(operation), operands)
        if kind is Add:
            waiting += [(parts[0], negative), (parts[1], negative)]
        elif kind is Sub:
            waiting += [(parts[0], negative), (parts[1], not negative)]
        elif made_by(rw, value, Neg):
            waiting.append((operands[0], not negative))
        elif made_by(rw, value, Select) and _is_lower(rw, operands[0]):
            waiting.append((operands[1], negative))
        elif type(operation) is ScatterAdd and constant_of(rw, operands[0]) != 0:
            waiting.append((operands[0], negative))
            zeros = constant(rw, 0.0, rw.avals[value])
            found.append((rw.emit(operation, zeros, *operands[1:]), negative))
        else:
            found.append((value, negative))
    return [*found, *waiting]


def _summed_in_another_shape(rw: Rewriter, value: int) -> tuple[type, list[int]] | None:
    """Return the sum or difference of matrices that a reshape gives, and the matrices."""
    inner = _inside(rw, value)
    kind, shape = type(rw.operations[inner]), rw.avals[value].shape
    if inner == value or kind not in (Add, Sub):
        return None
    parts = []
    for i in rw.operands[inner]:
        whole = rw.operands[i][0] if made_by(rw, i, Reshape) else i
        parts.append(whole if rw.avals[whole].shape == shape else rw.emit(Reshape(shape), i))
    return kind, parts


def _is_lower(rw: Rewriter, mask: int) -> bool:
    """Return True for the mask row >= column of a matrix."""
    if not made_by(rw, mask, Ge):
        return False
    counts: list[Any] = [made_by(rw, i, Iota) for i in rw.operands[mask]]
    return all(counts) and [count.dimension for count in counts] == [0, 1]


def _quadratic(rw: Rewriter, factor: int, term: int) -> _Multiple | None:
    """Return w and its multiple c w if a term is c w zᵀ with w = L⁻ᵀ z.

    In the lower triangle Lᵀ tril(w zᵀ) is then z zᵀ, which L⁻ᵀ and L⁻¹ make w wᵀ.
    """
    outer = outer_of(rw, term)
    if outer is None:
        return None
    w, z = _reduced(rw, outer.column), _reduced(rw, outer.row)
    solve: Any = rw.operations[w.value]
    if getattr(solve, "key", "") != _TRIANGULAR or rw.operands[w.value] != (factor, z.value):
        return None
    if not (solve.left and solve.lower and solve.transposed) or solve.unit_diagonal:
        return None
    vector = rw.emit(Reshape(rw.avals[outer.row].shape), w.value)
    return w.times(z)._replace(value=vector)


def _reduced(rw: Rewriter, vector: int) -> _Multiple:
    """Return a column [n, 1] and what a vector is of it: signs and numbers before it, and before
    the right-hand sides that it solves for, one inside the other.
    """
    found = _Multiple.of(rw, vector)
    inside: list[tuple[Any, int]] = []
    column = found.value
    for _ in range(_MAX_STEPS):
        if made_by(rw, column, Reshape):
            column = rw.operands[column][0]
        elif getattr(rw.operations[column], "key", "") == _TRIANGULAR:
            inside.append((rw.operations[column], rw.operands[column][0]))
            column = rw.operands[column][1]
        else:
            break
        multiple = _Multiple.of(rw, column)
        found, column = found.times(multiple), multiple.value
    size = rw.avals[vector].size
    if rw.avals[column].shape != (size, 1):
        column = rw.emit(Reshape((size, 1)), column)
    for solve, matrix in reversed(inside):
        column = rw.emit(solve, matrix, column)
    return found._replace(value=column)


def _halved_below(rw: Rewriter, x: int) -> int:
    """Keep the lower triangle of a symmetric matrix, and half of its diagonal."""
    aval = rw.avals[x]
    rows, columns = [rw.emit(Iota(aval.shape, axis, int32)) for axis in (0, 1)]
    half = repeated(rw, rw.emit(Constant(0.5, aval.dtype, ())), aval.shape, ())
    nothing = constant(rw, 0.0, aval)
    diagonal = rw.emit(Select(), rw.emit(Eq(), rows, columns), rw.emit(Mul(), half, x), nothing)
    return rw.emit(Select(), rw.emit(Gt(), rows, columns), x, diagonal)


def _sum(rw: Rewriter, values: list[int]) -> int:
    total = values[0]
    for value in values[1:]:
        total = rw.emit(Add(), total, value)
    return total
