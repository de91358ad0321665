"""``lu``: the triangular factors of a matrix with its rows exchanged.

Both factors stand in one matrix, U on and above the diagonal, L below it with a diagonal of ones.
Square, wide and tall matrices; the exchanges are integers and constant. Read next:
``linear_solve.py``.
"""

from __future__ import annotations

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import integers, of_kind
from tenferro.primitives._dtype import int32
from tenferro.primitives._errors import ShapeMismatchError
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind, bind_all, over_leading_axes
from tenferro.primitives.linalg._matrices import (
    columns,
    factorizable,
    joined_columns,
    joined_rows,
    lower,
    matmul,
    matrix_sizes,
    rows,
    rows_in_order,
    unit_lower,
    upper,
)
from tenferro.primitives.linalg.triangular_solve import triangular_solve

__all__ = ["Lu", "LuPermutation", "lu", "lu_permutation"]


class Lu(Mixed):
    """a[permutation] = L U;   dL = L tril(F), dU = triu(F) U with F = L⁻¹ da[permutation] U⁻¹"""

    key = "std::lu"
    batch = over_leading_axes
    output_count = 3
    linear = ()

    def abstract_eval(self, a: Aval) -> tuple[Aval, Aval, Aval]:
        m, n = matrix_sizes(self, factorizable(self, a))
        lead = a.shape[:-2]
        return a, Aval((*lead, min(m, n)), int32), Aval((*lead, m), int32)

    def jvp_a(
        self, da: Handle, a: Handle, factors: Handle, pivots: Handle, permutation: Handle
    ) -> tuple[Handle, None, None]:
        m, n = a.shape[-2:]
        exchanged = rows_in_order(da, permutation)
        if m > n:
            return _tall(exchanged, factors, n), None, None
        return _wide(exchanged, factors, m), None, None


class LuPermutation(Mixed):
    """The order of rows that exchanges lead to: row i with row pivots[i], one after the other"""

    key = "std::lu_permutation"
    batch = over_leading_axes
    linear = ()
    size: int

    def __post_init__(self) -> None:
        self._set(size=integers(self, "size", (self.size,))[0])

    def abstract_eval(self, pivots: Aval) -> Aval:
        of_kind(self, "integer", pivots)
        if not pivots.ndim or pivots.shape[-1] > self.size:
            raise ShapeMismatchError.of(
                self.name,
                "there are more exchanges than rows",
                got=f"{pivots} for {self.size} rows",
                need=f"int[*batch, k] with k <= {self.size}",
                shapes=(pivots.shape,),
            )
        return Aval((*pivots.shape[:-1], self.size), int32)


def _square(da: Handle, factors: Handle) -> tuple[Handle, Handle]:
    """L⁻¹ da U⁻¹, strictly below the diagonal, and on and above it."""
    left = triangular_solve(factors, da, unit_diagonal=True)
    both = triangular_solve(factors, left, left=False, lower=False)
    return lower(both, strict=True), upper(both)


def _wide(da: Handle, factors: Handle, m: int) -> Handle:
    """Return the tangent of the factors; the columns after the square part belong to U alone."""
    square = columns(factors, 0, m)
    below, above = _square(columns(da, 0, m), square)
    moved = matmul(unit_lower(square), below) + matmul(above, upper(square))
    if factors.shape[-1] == m:
        return moved
    solved = triangular_solve(square, columns(da, m), unit_diagonal=True)
    return joined_columns(moved, solved - matmul(below, columns(factors, m)))


def _tall(da: Handle, factors: Handle, n: int) -> Handle:
    """Return the tangent of the factors; the rows below the square part belong to L alone."""
    square = rows(factors, 0, n)
    below, above = _square(rows(da, 0, n), square)
    moved = matmul(unit_lower(square), below) + matmul(above, upper(square))
    solved = triangular_solve(square, rows(da, n), left=False, lower=False)
    return joined_rows(moved, solved - matmul(rows(factors, n), above))


def lu(a: H) -> tuple[H, H, H]:
    """Factorize a matrix into triangles, with its rows exchanged.

    a: [*s, m, n]   →   factors: [*s, m, n],  pivots: i32[*s, min(m,n)],  permutation: i32[*s, m]

    Definition   a[permutation] = L U;  factors has U on and above the diagonal, L below it
    JVP          dL = L tril(F),  dU = triu(F) U  with F = L⁻¹ da[permutation] U⁻¹ and L's diagonal
                 constant; what lies beyond the square part follows from d(L U) = dL U + L dU
    Convention   pivots[i] >= i is the row that was exchanged with row i, counted from 0
    Raises       ShapeMismatchError, DTypeMismatchError. No derivative exists where U is singular.
    Source       Walter & Lehmann (2018), Algorithmic differentiation of linear algebra functions

    >>> from tenferro.primitives import lu, variable
    >>> [y.aval for y in lu(variable("a", (2, 3), "f64"))]
    [f64[2,3], i32[2], i32[2]]
    """
    factors, pivots, permutation = bind_all(Lu(), a)
    return factors, pivots, permutation


def lu_permutation(pivots: H, size: int) -> H:
    """Find the permutation of rows that the pivots of an LU factorization stand for.

    pivots: int[*s, k]   →   permutation: i32[*s, size]

    Definition   of 0 … size-1, exchange i and pivots[i] for i = 0 … k-1
    Raises       ShapeMismatchError: if k > size; DTypeMismatchError: unless pivots are integers.

    >>> from tenferro.primitives import lu_permutation, variable
    >>> lu_permutation(variable("pivots", (2,), "i32"), 3).aval
    i32[3]
    """
    return bind(LuPermutation(size), pivots)
