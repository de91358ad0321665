"""Eigenvalues of a pair of matrices, the second of them positive definite: ``b`` of ``eigh``.

With b = L Lᴴ the problem a x = w b x is that of the one Hermitian matrix c = L⁻¹ a L⁻ᴴ, whose
vectors are y = Lᴴ x (Golub & Van Loan, Matrix Computations, algorithm 8.7.1). Derivatives by both
matrices follow from those of its steps. Read next: ``eigenproblems.py``.
"""

from __future__ import annotations

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.complex import adjoint
from tenferro.arrays.functions.linalg.solving import square
from tenferro.arrays.functions.linalg.triangular import cholesky, solve_triangular
from tenferro.arrays.functions.triangles import tril
from tenferro.arrays.handle.array import Array
from tenferro.primitives import ShapeMismatchError


def one_matrix(a: Array, b: Array, function: str) -> tuple[Array, Array]:
    """Return c with the eigenvalues of the pair, and the Cholesky factor L of b.

    The lower triangles are read.
    """
    if square(a, function).shape[-1] != square(b, function).shape[-1]:
        error = ShapeMismatchError.of(
            function,
            "a and b differ in size",
            got=f"a: {a.aval}, b: {b.aval}",
            need="two square matrices of one size",
            shapes=(a.shape, b.shape),
        )
        raise at_user_line(error)
    half = (tril(a) + tril(a, -1)) / 2  # an imaginary part of the diagonal cancels
    factor = cholesky(b)
    left = solve_triangular(factor, half + adjoint(half), lower=True)
    return solve_triangular(factor, adjoint(left), lower=True), factor


def of_unit_length(factor: Array, y: Array) -> Array:
    """Return x with y = Lᴴ x, so that xᴴ b x = 1."""
    return solve_triangular(factor, y, trans=2, lower=True)
