"""`dot_general` on NumPy: views of the operands, then one `dot`, `matmul` or product.

With the avals known, permutations and merged shapes are bound beforehand, so that a product of
small matrices costs `a.T.dot(b)` and nothing else (`dot` is twice as fast as `matmul` on them).
Read next: `indexing.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from operator import itemgetter
from typing import Any

import numpy as np

from tenferro.backend.extend import Axes, NamedTuple, aligned, blas_ready
from tenferro.primitives import Aval
from tenferro.primitives.contraction import DotGeneral
from tenferro_numpy.ir.expression import Expression, Function, Specialize, called, simple

__all__ = ["EXPRESSIONS", "Matrix", "matrices_of", "product_of"]

_BLAS = ("float32", "float64", "complex64", "complex128")
#: Multiplications of a stack, or elements of a result, up to which the calls cost more.
_MAX_PRODUCTS_FOR_PLAIN_CALL = 4096


class Matrix(NamedTuple):
    """An operand as a matrix, or a vector: its axes in this order, merged.

    is_copy        the axes do not lie side by side in a row-major array
    is_transposed  the matrix is the transpose of that
    """

    axes: tuple[int, ...]
    shape: tuple[int, ...]
    is_copy: bool
    is_transposed: bool

    @classmethod
    def of(cls, aval: Aval, rows: tuple[int, ...], columns: tuple[int, ...]) -> Matrix:
        """Return the matrix with rows along some axes and columns along the others.

        An empty group of axes leaves a vector. A copy is made by columns, and read as its
        transpose, if it then consists of fewer runs of memory.
        """
        groups = [axes for axes in (rows, columns) if axes]
        shape = tuple([prod(_sizes(aval, axes)) for axes in groups])
        is_copy = any([_runs(aval, axes) > 1 for axes in groups])
        axes, by_columns = rows + columns, columns + rows
        if len(groups) == 2 and _is_better(aval, by_columns, axes, is_copy=is_copy):
            return cls(by_columns, shape[::-1], is_copy, is_transposed=True)
        return cls(axes, shape, is_copy, is_transposed=False)

    def cost(self, aval: Aval) -> int:
        """Return the number of pieces that are copied; most of the time of a small copy."""
        return _runs(aval, self.axes) if self.is_copy else 0


class _Writer:
    """Collects the bound values of a template while it is written."""

    def __init__(self) -> None:
        self.bound: list[Any] = []

    def bind(self, value: Any) -> str:
        self.bound.append(value)
        return f"{{p{len(self.bound) - 1}}}"

    def view(self, operand: str, aval: Aval, axes: tuple[int, ...], shape: tuple[int, ...]) -> str:
        """Write the operand with its axes in this order, merged into this shape."""
        text = operand
        if axes == (1, 0):
            text += ".T"
        elif axes != tuple(range(aval.ndim)):
            text += f".transpose({self.bind(axes)})"
        if tuple(aval.shape[axis] for axis in axes) != shape:
            text += f".reshape({self.bind(shape)})"
        return text

    def matrix(self, operand: str, aval: Aval, matrix: Matrix, *, is_made: bool = False) -> str:
        """Write the operand as a matrix; `is_made`: it is one, maybe transposed."""
        text = operand if is_made else self.view(operand, aval, matrix.axes, matrix.shape)
        return f"{text}.T" if matrix.is_transposed else text

    def ready(self, operand: str, view: str, shape: tuple[int, ...]) -> str:
        """Write a matrix in a layout that BLAS reads; mostly it has one.

        An axis of one element may have any stride, whatever the flags say.
        """
        called = f"{self.bind(_ready)}({view})"
        if view not in (operand, f"{operand}.T") or min(shape) < 2:
            return called
        return f"({view} if {operand}.flags.forc else {called})"


def _dot_general(
    op: DotGeneral, avals: tuple[Aval, ...], result: Aval, lowering: Function
) -> Expression:
    lhs, rhs = avals
    if lhs.dtype.is_bool or op.preferred not in (None, lhs.dtype):
        return called(op, 2, lowering, shares=False)
    if lhs.ndim == 0 or rhs.ndim == 0:
        return simple(np.multiply, 2) if result.shape else Expression("{0} * {1}")
    left = Axes.of(lhs.ndim, op.lhs_batch, op.lhs_contract)
    right = Axes.of(rhs.ndim, op.rhs_batch, op.rhs_contract)
    left, right = aligned(lhs, rhs, left, right)
    write = _Writer()
    if not left.contracted:
        text, shape = _outer(write, lhs, rhs, left, right), result.shape
    elif left.batch:
        text, shape = _stacked(write, lhs, rhs, left, right)
    else:
        text, shape = _flat(write, lhs, rhs, left, right)
    return _reshaped(write, text, shape, result)


def _reshaped(write: _Writer, text: str, shape: tuple[int, ...], result: Aval) -> Expression:
    if shape != result.shape:
        text += f".reshape({write.bind(result.shape)})"
    elif len(shape) == 1 and ".dot(" in text:  # an array of higher rank may be in another order
        onto = text.removesuffix(")") + ", {out})"
        return Expression(text, tuple(write.bound), onto=onto, strict_out=True)
    return Expression(text, tuple(write.bound))


def matrices_of(
    op: DotGeneral, avals: Sequence[Aval], orders: Sequence[Sequence[int]]
) -> tuple[Matrix, Matrix] | None:
    """Return how a small product reads its operands as matrices; None for another product.

    The operands are these arrays with their axes in these orders.
    """
    lhs, rhs = avals
    if op.lhs_batch or not op.lhs_contract or op.preferred not in (None, lhs.dtype):
        return None
    left = _in_order(Axes.of(lhs.ndim, (), op.lhs_contract), orders[0])
    right = _in_order(Axes.of(rhs.ndim, (), op.rhs_contract), orders[1])
    size = prod(_sizes(lhs, left.free)) * prod(_sizes(rhs, right.free))
    if lhs.dtype.name not in _BLAS or size > _MAX_PRODUCTS_FOR_PLAIN_CALL:
        return None
    pairs = [*zip(left.contracted, right.contracted, strict=True)]
    found = []
    for side in (0, 1) if lhs.size >= rhs.size else (1, 0):  # as in one of the operands
        of_lhs, of_rhs = zip(*sorted(pairs, key=itemgetter(side)), strict=True)
        found.append((Matrix.of(lhs, left.free, of_lhs), Matrix.of(rhs, of_rhs, right.free)))
    return min(found, key=lambda both: both[0].cost(lhs) + both[1].cost(rhs))


def _in_order(axes: Axes, order: Sequence[int]) -> Axes:
    """Return where these axes of an array in another order are in the array itself."""
    free, contracted = [tuple([order[i] for i in some]) for some in (axes.free, axes.contracted)]
    return axes._replace(free=free, contracted=contracted)


def product_of(
    avals: Sequence[Aval], matrices: Sequence[Matrix], made: Sequence[bool], result: Aval
) -> Expression:
    """Write the product of two operands, which already are these matrices where `made` says so."""
    write = _Writer()
    given = zip(("{0}", "{1}"), avals, matrices, made, strict=True)
    a, b = [
        write.matrix(text, aval, matrix, is_made=is_made) for text, aval, matrix, is_made in given
    ]
    left, right = [m.shape[::-1] if m.is_transposed else m.shape for m in matrices]
    return _reshaped(write, f"{a}.dot({b})", (*left[:-1], *right[1:]), result)


def _sizes(aval: Aval, axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(aval.shape[axis] for axis in axes)


def _is_better(
    aval: Aval, by_columns: tuple[int, ...], axes: tuple[int, ...], *, is_copy: bool
) -> bool:
    """Return True if a matrix is made faster as the transpose of one that lists its columns."""
    if by_columns == tuple(range(aval.ndim)):
        return True
    if not is_copy or aval.dtype.name not in _BLAS:
        return False
    return (_runs(aval, by_columns), by_columns) < (_runs(aval, axes), axes)


def _runs(aval: Aval, axes: tuple[int, ...]) -> int:
    """Count the pieces of a row-major array that are evenly spaced in this order of its axes.

    NumPy copies each in one loop, and a short one costs more than its elements do.
    """
    long = [axis for axis in axes if aval.shape[axis] != 1]
    between = [axis for axis in range(aval.ndim) if aval.shape[axis] != 1]
    place = {axis: k for k, axis in enumerate(between)}
    last = len(long) - 1
    while last > 0 and place[long[last]] == place[long[last - 1]] + 1:
        last -= 1
    return prod(_sizes(aval, tuple(long[:last]))) if last > 0 else 1


def _outer(write: _Writer, lhs: Aval, rhs: Aval, left: Axes, right: Axes) -> str:
    batch, rows, columns = _sizes(lhs, left.batch), _sizes(lhs, left.free), _sizes(rhs, right.free)
    a_shape, b_shape = batch + rows + (1,) * len(columns), batch + (1,) * len(rows) + columns
    a = write.view("{0}", lhs, left.batch + left.free, a_shape)
    b = write.view("{1}", rhs, right.batch + right.free, b_shape)
    return f"{write.bind(np.multiply)}({a}, {b})"


def _flat(
    write: _Writer, lhs: Aval, rhs: Aval, left: Axes, right: Axes
) -> tuple[str, tuple[int, ...]]:
    """Write one product of two matrices or vectors."""
    depth = (prod(_sizes(lhs, left.contracted)),)
    rows = (prod(_sizes(lhs, left.free)),) if left.free else ()
    columns = (prod(_sizes(rhs, right.free)),) if right.free else ()
    a = write.matrix("{0}", lhs, Matrix.of(lhs, left.free, left.contracted))
    b = write.matrix("{1}", rhs, Matrix.of(rhs, right.contracted, right.free))
    large = bool(rows and columns) and prod(rows + columns) > _MAX_PRODUCTS_FOR_PLAIN_CALL
    if large and depth == (1,):
        return f"{write.bind(np.multiply)}({a}, {b})", rows + columns  # BLAS is slow at one term
    if large and lhs.dtype.name in _BLAS:  # `dot` writes zeros into its result first
        left_ready = write.ready("{0}", a, rows + depth)
        right_ready = write.ready("{1}", b, depth + columns)
        return f"{write.bind(np.matmul)}({left_ready}, {right_ready})", rows + columns
    return f"{a}.dot({b})", rows + columns


def _stacked(
    write: _Writer, lhs: Aval, rhs: Aval, left: Axes, right: Axes
) -> tuple[str, tuple[int, ...]]:
    """Write a stack of matrix products."""
    batch, depth = _sizes(lhs, left.batch), prod(_sizes(lhs, left.contracted))
    rows, columns = prod(_sizes(lhs, left.free)), prod(_sizes(rhs, right.free))
    a = write.view("{0}", lhs, left.batch + left.free + left.contracted, (*batch, rows, depth))
    b = write.view(
        "{1}", rhs, right.batch + right.contracted + right.free, (*batch, depth, columns)
    )
    if rows * columns * depth > _MAX_PRODUCTS_FOR_PLAIN_CALL:
        ready = write.bind(_ready)
        a, b = f"{ready}({a})", f"{ready}({b})"
    return f"{write.bind(np.matmul)}({a}, {b})", (*batch, rows, columns)


def _ready(x: Any) -> Any:
    return blas_ready(np, x)


EXPRESSIONS: dict[type, Specialize] = {DotGeneral: _dot_general}
