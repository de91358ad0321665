"""Factors of a square matrix for linear systems alone, in the form that a backend chooses.

Whether a matrix is Hermitian and positive definite is seen when a program runs: it equals its
adjoint to the last bit, and it has a Cholesky factor. That takes half of the arithmetic of an LU
factorization, and a third of it for an inverse. Of a stack of small matrices a backend may keep the
matrices themselves, if one call that factorizes and solves all of them takes less time than one
call per matrix that uses its factors. Graph passes emit these operations instead of
``lu``, ``linear_solve`` and ``slogdet``, if a backend has lowerings of them. They have no
derivative, because passes run behind differentiation, and no decomposition.
Read next: ``linear_solve.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro.primitives._aval import Aval
from tenferro.primitives._dtype import int32
from tenferro.primitives._handle import Handle
from tenferro.primitives._primitive import Mixed, bind, in_front, over_leading_axes
from tenferro.primitives.linalg._matrices import batched_columns

__all__: list[str] = []


class SystemFactors(Mixed):
    """(F, p, q) of a: the factors of ``lu``, a Cholesky factor in the lower triangle of F, or F = a

    The pivots p and the permutation q are filled with -1 for a Cholesky factor, with -2 for F = a.
    The second operand, if there is one, is the Cholesky factor of the lower triangle of a.
    """

    key = "std::system_factors"
    batch = over_leading_axes
    output_count = 3
    linear = ()
    input_count = None

    def abstract_eval(self, a: Aval, *factor: Aval) -> tuple[Aval, Aval, Aval]:
        order = Aval(a.shape[:-1], int32)
        return a, order, order


class SystemSolve(Mixed):
    """x = a⁻¹ b or a⁻ᴴ b of F, q and b"""

    key = "std::system_solve"
    linear = ()
    adjoint: bool = False

    def __post_init__(self) -> None:
        self._set(adjoint=bool(self.adjoint))

    def abstract_eval(self, factors: Aval, permutation: Aval, b: Aval) -> Aval:
        return b

    def batch(
        self, size: int, batched: Sequence[bool], factors: Handle, permutation: Handle, b: Handle
    ) -> Handle:
        """Batch: right-hand sides of one matrix side by side; otherwise one more leading axis."""
        has_many = any(batched[:2])
        if has_many:
            factors = in_front(factors, batched[0], size)
            permutation = in_front(permutation, batched[1], size)

        def solve(factors: Handle, b: Handle) -> Handle:
            return bind(self, factors, permutation, b)

        return batched_columns(solve, size, (has_many, batched[2]), factors, b)


class SystemSlogdet(Mixed):
    """The sign and the logarithm of the modulus of det a, of F and p"""

    key = "std::system_slogdet"
    batch = over_leading_axes
    output_count = 2
    linear = ()

    def abstract_eval(self, factors: Aval, pivots: Aval) -> tuple[Aval, Aval]:
        sign = factors.with_shape(factors.shape[:-2])
        return sign, sign.with_dtype(factors.dtype.real_dtype)
