"""The words that rules of linear algebra are written in: products, adjoints, triangles, diagonals.

Matrices are the last two axes; what stands before them is a batch and equal in all operands. None
of these is a primitive. Read next: ``triangular_solve.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import of_kind
from tenferro.primitives._dtype import float32
from tenferro.primitives._errors import DTypeMismatchError, ShapeMismatchError
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import in_front
from tenferro.primitives.arithmetic import abs as absolute
from tenferro.primitives.arithmetic import add
from tenferro.primitives.comparison import eq, ge, gt, select
from tenferro.primitives.complex import conj
from tenferro.primitives.constants import full_like, iota, zeros_like
from tenferro.primitives.contraction import dot_general
from tenferro.primitives.indexing import gather
from tenferro.primitives.reduction import reduce_max, reduce_sum
from tenferro.primitives.structural import (
    broadcast_in_dim,
    concatenate,
    eye,
    reshape,
    slice,
    transpose,
)
from tenferro.tidu import Primitive as Operation


def matrix_sizes(op: Operation, a: Aval) -> tuple[int, int]:
    """Return the numbers of rows and columns.

    Raises ShapeMismatchError: if the rank is below 2.
    """
    if a.ndim < 2:
        raise ShapeMismatchError.of(
            op.name,
            "an operand is not a matrix",
            got=f"{a} of rank {a.ndim}",
            need="rank 2 or more: [*batch, rows, columns]",
            shapes=(a.shape,),
        )
    return a.shape[-2], a.shape[-1]


def square_size(op: Operation, a: Aval) -> int:
    """Return the size of a square matrix.

    Raises ShapeMismatchError: if it is none.
    """
    rows, columns = matrix_sizes(op, a)
    if rows != columns:
        raise ShapeMismatchError.of(
            op.name,
            "the matrix is not square",
            got=f"{a}: {rows} rows, {columns} columns",
            need="as many rows as columns",
            shapes=(a.shape,),
        )
    return rows


def factorizable(op: Operation, a: Aval) -> Aval:
    """Return the aval; raise if no factorization exists for its dtype (32 bits a part or more).

    Raises DTypeMismatchError: for integers, bools and short floats.
    """
    of_kind(op, "inexact", a)
    if a.dtype.is_float and a.dtype.bits < 32:
        raise DTypeMismatchError.of(
            op.name,
            f"not defined for {a.dtype}",
            got=f"{a}",
            need="float32, float64, complex64 or complex128",
            dtypes=(a.dtype,),
        )
    return a


def same_batch(op: Operation, a: Aval, b: Aval) -> None:
    """Check that two stacks of matrices have one batch.

    Raises ShapeMismatchError: if they have not.
    """
    matrix_sizes(op, b)
    if a.shape[:-2] != b.shape[:-2]:
        raise ShapeMismatchError.of(
            op.name,
            "batches differ",
            got=f"{a}, {b}",
            need="the same axes before the last two (nothing broadcasts here)",
            shapes=(a.shape, b.shape),
        )


def swapped(x: H) -> H:
    """xᵀ."""
    return transpose(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def adjoint(x: H) -> H:
    """xᴴ."""
    return conj(swapped(x)) if x.dtype.is_complex else swapped(x)


def matmul(x: H, y: H) -> H:
    """x y, matrix by matrix."""
    lead = tuple(range(x.ndim - 2))
    return dot_general(x, y, (x.ndim - 1,), (x.ndim - 2,), lead, lead)


def identity(like: Handle | Aval, size: int | None = None) -> Handle:
    """Return a stack of identity matrices like another, of its size by default."""
    n = like.shape[-1] if size is None else size
    one = eye(n, n, 0, like.dtype)
    lead = like.shape[:-2]
    return broadcast_in_dim(one, (*lead, n, n), (len(lead), len(lead) + 1))


def columns_by(x: H, d: H) -> H:
    """x diag(d): column j times d_j."""
    return x * broadcast_in_dim(d, x.shape, (*range(x.ndim - 2), x.ndim - 1))


def rows_by(d: H, x: H) -> H:
    """diag(d) x: row i times d_i."""
    return x * broadcast_in_dim(d, x.shape, tuple(range(x.ndim - 1)))


def diagonal(x: H) -> H:
    """Return the main diagonal: [*b, m, n] → [*b, min(m, n)]."""
    rows, columns = x.shape[-2:]
    masked = kept(_on_diagonal(x), x)
    return reduce_sum(masked, (x.ndim - 1 if rows <= columns else x.ndim - 2,))


def diagonal_matrix(d: H) -> H:
    """diag(d): [*b, n] → [*b, n, n]."""
    shape = (*d.shape, d.shape[-1])
    spread = broadcast_in_dim(d, shape, tuple(range(d.ndim)))
    return kept(_on_diagonal(spread), spread)


def _on_diagonal(x: Handle) -> Handle:
    row, column = _places(x)
    return eq(row, column)


def kept(where: Any, x: H) -> H:
    """x where the mask is true, zeros elsewhere: those of a select, which no nan passes."""
    zeros: Any = zeros_like(x)
    found: H = select(where, x, zeros)
    return found


def _places(x: Handle) -> tuple[Handle, Handle]:
    """Return the row and the column of every entry."""
    return iota(x.shape, x.ndim - 2, "int32"), iota(x.shape, x.ndim - 1, "int32")


def lower(x: H, strict: bool = False) -> H:
    """Return the lower triangle, without the diagonal if strict; real zeros elsewhere."""
    row, column = _places(x)
    return kept(gt(row, column) if strict else ge(row, column), x)


def upper(x: H, strict: bool = False) -> H:
    """Return the upper triangle, without the diagonal if strict; real zeros elsewhere."""
    row, column = _places(x)
    return kept(gt(column, row) if strict else ge(column, row), x)


def hermitian(x: H) -> H:
    """(x + xᴴ)/2."""
    return (x + adjoint(x)) * 0.5


def of_lower(x: H) -> H:
    """Return the Hermitian matrix with the lower triangle of x and the real part of its diagonal.

    Factorizations of Hermitian matrices read the lower triangle, so this is the tangent that they
    see: tril(dA) + tril(dA, -1)ᴴ with a real diagonal.
    """
    half = half_lower(x)
    return half + adjoint(half)


def onto_lower(x: H) -> H:
    """Transpose ``of_lower``: tril(x) + tril(xᴴ, -1), with the real part of the diagonal."""
    return half_lower(x + adjoint(x))


def largest(x: H) -> H:
    """Return the largest entry along the last axis, which is kept with size 1."""
    found = reduce_max(x, (x.ndim - 1,))
    return broadcast_in_dim(found, (*found.shape, 1), tuple(range(found.ndim)))


def differences(x: H) -> H:
    """x_j - x_i: [*b, n] → [*b, n, n]."""
    along, down = _paired(x)
    return along - down


def sums(x: H) -> H:
    """x_i + x_j: [*b, n] → [*b, n, n]."""
    along, down = _paired(x)
    return along + down


def _paired(x: H) -> tuple[H, H]:
    """x_j and x_i at every place i, j."""
    shape, lead = (*x.shape, x.shape[-1]), tuple(range(x.ndim - 1))
    along = broadcast_in_dim(x, shape, (*lead, x.ndim))
    return along, broadcast_in_dim(x, shape, (*lead, x.ndim - 1))


def inverse_gaps(gaps: H, scale: H, epsilon: float | None = None) -> H:
    """1/gap where |gap| > ε·scale, and 0 elsewhere, with zero derivative there.

    gaps: [*b, *s]   scale: f[*b], at least 0   →   [*b, *s]

    Terms 1/gap of a derivative belong to pairs of vectors. Where the gap is none, a loss that sees
    the pair only through their common space gets a factor 0 times that term, so the term may be
    dropped, and its own derivatives with it: a select, which gives no 1/ε at any order. A loss that
    distinguishes the vectors of such a pair has no derivative.

    Convention   ε is relative to the scale, such as the largest value; 1e-12 if None, and 1e-5
                 in single precision
    """
    bound = scale * (default_epsilon(gaps) if epsilon is None else epsilon)
    far: Any = gt(absolute(gaps), broadcast_in_dim(bound, gaps.shape, tuple(range(scale.ndim))))
    ones: Any = full_like(gaps, 1)
    inverse: H = 1 / select(far, gaps, ones)
    return kept(far, inverse)


def default_epsilon(like: Handle) -> float:
    """Return the relative gap below which values count as equal."""
    return 1e-5 if like.dtype.real_dtype is float32 else 1e-12


def unit_lower(x: H) -> H:
    """Return the lower triangle with a unit diagonal: L, as an LU factorization stores it."""
    one: H = identity(x)  # type: ignore[assignment]
    return add(lower(x, strict=True), one)


def half_lower(x: H) -> H:
    """Φ(x): the lower triangle with half of the diagonal."""
    row, column = _places(x)
    weights: Any = select(eq(row, column), full_like(x, 0.5), full_like(x, 1))
    found: H = kept(ge(row, column), x) * weights
    return found


def rows(x: H, start: int, stop: int | None = None) -> H:
    """Return rows from start up to stop."""
    last = x.shape[-2] if stop is None else stop
    return slice(x, (*[0] * (x.ndim - 2), start, 0), (*x.shape[:-2], last, x.shape[-1]))


def columns(x: H, start: int, stop: int | None = None) -> H:
    """Return columns from start up to stop."""
    last = x.shape[-1] if stop is None else stop
    return slice(x, (*[0] * (x.ndim - 1), start), (*x.shape[:-1], last))


def joined_rows(*parts: H) -> H:
    """Stack matrices vertically."""
    return concatenate(parts, parts[0].ndim - 2)


def joined_columns(*parts: H) -> H:
    """Stack matrices horizontally."""
    return concatenate(parts, parts[0].ndim - 1)


def rows_in_order(x: H, order: H) -> H:
    """Reorder rows: row i of the result is row order[i]: [*b, m, n], int[*b, k] → [*b, k, n]."""
    (*lead, m, n), k = x.shape, order.shape[-1]
    if not x.size:  # nothing to gather from
        return reshape(x, (*lead, k, n))
    count = prod(lead)
    places = reshape(order, (count, k))
    if count > 1:
        before: Any = iota((count, k), 0, order.dtype) * m
        places = add(places, before)
    found = gather(
        reshape(x, (count * m, n)),
        reshape(places, (count * k, 1)),
        offset_dims=(1,),
        collapsed_slice_dims=(0,),
        start_index_map=(0,),
        slice_sizes=(1, n),
        mode="clip",
    )
    return reshape(found, (*lead, k, n))


def batched_columns(
    solve: Callable[[Handle, Handle], Handle],
    size: int,
    batched: Sequence[bool],
    a: Handle,
    b: Handle,
    *,
    side_by_side: bool = True,
) -> Handle:
    """Batch a solver: right-hand sides of one matrix are placed side by side.

    They are more columns of b, or more rows if ``side_by_side`` is False. With a batched matrix,
    the batch is one more leading axis.
    """
    if batched[0]:
        return solve(a, in_front(b, batched[1], size))
    place = b.ndim - 2 if side_by_side else b.ndim - 3
    front = (*range(1, place + 1), 0, *range(place + 1, b.ndim))
    moved = transpose(b, front)
    merged = (*moved.shape[:place], size * moved.shape[place + 1], *moved.shape[place + 2 :])
    solved = reshape(solve(a, reshape(moved, merged)), moved.shape)
    return transpose(solved, (place, *range(place), *range(place + 1, b.ndim)))
