"""``linear_solve``: the solution of a square system whose LU factors are known.

The factors carry no derivative; the matrix does. So one factorization serves the value and the
derivatives of every order: the rules emit ``linear_solve`` with the same factors. Read next:
``determinant.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import of_kind, same_aval, same_dtype
from tenferro.primitives._errors import ShapeMismatchError
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind, in_front
from tenferro.primitives.linalg._matrices import (
    adjoint as adjoint_of,
)
from tenferro.primitives.linalg._matrices import (
    batched_columns,
    factorizable,
    identity,
    matmul,
    rows_in_order,
    same_batch,
    square_size,
)
from tenferro.primitives.linalg.lu import lu
from tenferro.primitives.linalg.triangular_solve import triangular_solve
from tenferro.primitives.sorting import argsort
from tenferro.primitives.structural import stop_gradient

__all__ = ["LinearSolve", "linear_solve"]


class LinearSolve(Mixed):
    """x = a⁻¹ b or a⁻ᴴ b, by the factors of a;   dx = a⁻¹(-da x), or a⁻ᴴ(-daᴴ x)"""

    key = "std::linear_solve"
    linear = ((3,),)
    adjoint: bool = False

    def __post_init__(self) -> None:
        self._set(adjoint=bool(self.adjoint))

    def abstract_eval(self, a: Aval, factors: Aval, permutation: Aval, b: Aval) -> Aval:
        n = square_size(self, factorizable(self, same_dtype(self, a, b)))
        same_aval(self, a, factors)
        of_kind(self, "integer", permutation)
        same_batch(self, a, b)
        if b.shape[-2] != n or permutation.shape != a.shape[:-1]:
            raise ShapeMismatchError.of(
                self.name,
                "operands do not fit",
                got=f"a {a},  permutation {permutation},  b {b}",
                need=f"a permutation of {n} rows, and b with {n} rows",
                shapes=(a.shape, permutation.shape, b.shape),
            )
        return b

    def transpose_b(
        self, ct: Handle, a: Handle, factors: Handle, permutation: Handle, b: Handle
    ) -> Handle:
        return linear_solve(a, factors, permutation, ct, adjoint=not self.adjoint)

    def jvp_a(
        self,
        da: Handle,
        a: Handle,
        factors: Handle,
        permutation: Handle,
        b: Handle,
        x: Handle,
    ) -> Handle:
        product = matmul(adjoint_of(da) if self.adjoint else da, x)
        # the sign inside: transposed, a and b then share one solve
        return linear_solve(a, factors, permutation, -product, adjoint=self.adjoint)

    def batch(
        self,
        size: int,
        batched: Sequence[bool],
        a: Handle,
        factors: Handle,
        permutation: Handle,
        b: Handle,
    ) -> Handle:
        """Batch: right-hand sides of one matrix side by side; otherwise one more leading axis."""
        if any(batched[:3]):
            given = zip((factors, permutation), batched[1:3], strict=True)
            factors, permutation = (in_front(x, each, size) for x, each in given)
            a = in_front(a, batched[0], size)

        def solve(a: Handle, b: Handle) -> Handle:
            return linear_solve(a, factors, permutation, b, adjoint=self.adjoint)

        return batched_columns(solve, size, (any(batched[:3]), batched[3]), a, b)

    def decompose(self, a: Handle, factors: Handle, permutation: Handle, b: Handle) -> Handle:
        """Solve two triangular systems, with the row exchange before them, or its inverse after."""
        if not self.adjoint:
            exchanged = rows_in_order(b, permutation)
            below = triangular_solve(factors, exchanged, unit_diagonal=True)
            return triangular_solve(factors, below, lower=False)
        above = triangular_solve(factors, b, lower=False, transpose=True, conjugate=True)
        both = triangular_solve(factors, above, transpose=True, conjugate=True, unit_diagonal=True)
        return rows_in_order(both, argsort(permutation, permutation.ndim - 1))


def linear_solve(a: H, factors: H, permutation: H, b: H, *, adjoint: bool = False) -> H:
    """Solve a square system whose matrix is factorized already.

    a: [*s, n, n]   factors, permutation: of lu(a)   b: [*s, n, k]   →   x: [*s, n, k]

    Definition   a x = b, or aᴴ x = b
    JVP          dx = -a⁻¹ da x + a⁻¹ db,  by the same factors
    Transpose    ct_b = a⁻ᴴ ct,  by the same factors
    Convention   factors must carry no derivative: take those of ``factorized(a)``
    Raises       ShapeMismatchError, DTypeMismatchError; SingularMatrixError where a backend can
                 see a pivot of zero, inf or nan elsewhere.
    Source       Giles (2008), Collected matrix derivative results, 2.2.3 and 2.3.1

    >>> from tenferro.primitives import linear_solve, lu, stop_gradient, variable
    >>> a, b = variable("a", (3, 3), "f64"), variable("b", (3, 2), "f64")
    >>> factors, pivots, permutation = lu(stop_gradient(a))
    >>> linear_solve(a, factors, permutation, b).aval
    f64[3,2]
    """
    return bind(LinearSolve(adjoint), a, factors, permutation, b)


def factorized(a: H) -> tuple[H, H]:
    """Return the factors and the permutation of a square matrix, which carry no derivative."""
    factors, _, permutation = lu(stop_gradient(a))
    return factors, permutation


def inverse(a: H) -> H:
    """a⁻¹, by its factors: a word for rules."""
    one: H = identity(a)  # type: ignore[assignment]
    return linear_solve(a, *factorized(a), one)
