"""``cholesky``: the lower triangular factor of a positive definite matrix, and its tangents.

Value and tangent read the lower triangle: a tangent da stands for tril(da) + tril(da, -1)ᴴ with a
real diagonal, so gradients are lower triangular. The linear map from tangents of the matrix to
those of the factor is a primitive of its own, because half of its products are known to be zero.
Read next: ``qr.py``.
"""

from __future__ import annotations

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import same_aval
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind, over_leading_axes
from tenferro.primitives.linalg._matrices import (
    adjoint as adjoint_of,
)
from tenferro.primitives.linalg._matrices import (
    factorizable,
    half_lower,
    lower,
    matmul,
    of_lower,
    onto_lower,
    square_size,
)
from tenferro.primitives.linalg.triangular_solve import triangular_solve

__all__ = ["Cholesky", "CholeskyTangent", "cholesky", "cholesky_tangent"]


class Cholesky(Mixed):
    """a = L Lᴴ;   dL = L Φ(L⁻¹ da L⁻ᴴ), Φ the lower triangle with half of the diagonal"""

    key = "std::cholesky"
    batch = over_leading_axes
    linear = ()

    def abstract_eval(self, a: Aval) -> Aval:
        square_size(self, factorizable(self, a))
        return a

    def jvp_a(self, da: Handle, a: Handle, factor: Handle) -> Handle:
        return cholesky_tangent(factor, da)


class CholeskyTangent(Mixed):
    """y = L Φ(L⁻¹ S L⁻ᴴ), S Hermitian with the lower triangle of x; or the adjoint of that map"""

    key = "std::cholesky_tangent"
    batch = over_leading_axes
    linear = ((1,),)
    adjoint: bool = False

    def __post_init__(self) -> None:
        self._set(adjoint=bool(self.adjoint))

    def abstract_eval(self, factor: Aval, x: Aval) -> Aval:
        square_size(self, factorizable(self, same_aval(self, factor, x)))
        return x

    def transpose_x(self, ct: Handle, factor: Handle, x: Handle) -> Handle:
        return cholesky_tangent(factor, ct, adjoint=not self.adjoint)

    def jvp_factor(self, dl: Handle, factor: Handle, x: Handle, y: Handle) -> Handle:
        """Differentiate in the factor.

        dL Φ(w) - T(dL w Lᴴ + L w dLᴴ) with w = L⁻¹ S L⁻ᴴ. Of the adjoint, the transpose of
        ``of_lower`` at (L⁻ᴴ Φ(dLᴴ x) - 2 Z dL) L⁻¹, where Z is the Hermitian part of
        L⁻ᴴ Φ(Lᴴ x) L⁻¹ and 2 Z = y + yᴴ.
        """
        dl = lower(dl)
        if self.adjoint:
            outer = _left_adjoint(factor, half_lower(matmul(adjoint_of(dl), x)))
            rate = outer - matmul(y + adjoint_of(y), dl)
            return onto_lower(triangular_solve(factor, rate, left=False))
        inner = _between(factor, of_lower(x))
        moved = matmul(matmul(dl, inner), adjoint_of(lower(factor)))
        return matmul(dl, half_lower(inner)) - cholesky_tangent(factor, moved + adjoint_of(moved))

    def decompose(self, factor: Handle, x: Handle) -> Handle:
        """Solve two triangular systems and multiply."""
        if not self.adjoint:
            return matmul(lower(factor), half_lower(_between(factor, of_lower(x))))
        outer = _left_adjoint(factor, half_lower(matmul(adjoint_of(lower(factor)), lower(x))))
        return onto_lower(triangular_solve(factor, outer, left=False))


class CholeskyCotangent(Mixed):
    """The adjoint of ``CholeskyTangent`` at x, and Φ(u wᵀ) for each pair of vectors u and w

    Each u wᵀ is symmetric. Graph passes emit it, behind differentiation: it has no derivative, and
    no decomposition, so that a pass can tell which backends have it.   factor, x, u, w, …
    """

    key = "std::cholesky_cotangent"
    linear = ()
    input_count = None

    def abstract_eval(self, factor: Aval, x: Aval, *vectors: Aval) -> Aval:
        return x


class CholeskyDiagonalCotangent(Mixed):
    """The adjoint of ``CholeskyTangent`` at diag(x), for real numbers: Φ(L⁻ᵀ diag(x L_ii) L⁻¹)

    As of the logarithm of a determinant. Graph passes emit it, as they do ``CholeskyCotangent``.
    factor: [n, n], x: [n]
    """

    key = "std::cholesky_diagonal_cotangent"
    linear = ()

    def abstract_eval(self, factor: Aval, x: Aval) -> Aval:
        return factor


def _between(factor: Handle, x: Handle) -> Handle:
    """L⁻¹ x L⁻ᴴ."""
    left = triangular_solve(factor, x)
    return triangular_solve(factor, left, left=False, transpose=True, conjugate=True)


def _left_adjoint(factor: Handle, x: Handle) -> Handle:
    """L⁻ᴴ x."""
    return triangular_solve(factor, x, transpose=True, conjugate=True)


def cholesky(a: H) -> H:
    """Factorize a positive definite matrix.

    a: [*s, n, n], Hermitian   →   L: [*s, n, n], lower triangular with a positive diagonal

    Definition   a = L Lᴴ
    JVP          dL = L Φ(L⁻¹ da L⁻ᴴ), Φ the lower triangle with half of the diagonal
    Convention   value and tangent read the lower triangle: da stands for tril(da) + tril(da, -1)ᴴ
                 with a real diagonal, so a gradient is lower triangular
    Raises       ShapeMismatchError, DTypeMismatchError; NotPositiveDefiniteError where a backend
                 can see it, nan elsewhere.
    Source       Murray (2016), arXiv:1602.07527, equations 8 and 10

    >>> from tenferro.primitives import cholesky, variable
    >>> cholesky(variable("a", (3, 3), "f64")).aval
    f64[3,3]
    """
    return bind(Cholesky(), a)


def cholesky_tangent(factor: H, x: H, *, adjoint: bool = False) -> H:
    """Find the tangent of a Cholesky factor, or the cotangent of the matrix.

    factor, x: [*s, n, n]   →   y: [*s, n, n]

    Definition   y = L Φ(L⁻¹ s L⁻ᴴ) with s = tril(x) + tril(x, -1)ᴴ with a real diagonal, and Φ the
                 lower triangle with half of the diagonal; adjoint: y = tril(z) + tril(zᴴ, -1) with
                 a real diagonal, for z = L⁻ᴴ Φ(Lᴴ x) L⁻¹
    Transpose    the other of the two
    Convention   the lower triangles of the factor and of x are read
    Raises       ShapeMismatchError, DTypeMismatchError; SingularMatrixError as triangular_solve.
    Source       Murray (2016), arXiv:1602.07527, equations 8 and 10

    >>> from tenferro.primitives import cholesky_tangent, variable
    >>> cholesky_tangent(variable("L", (3, 3), "f64"), variable("x", (3, 3), "f64")).aval
    f64[3,3]
    """
    return bind(CholeskyTangent(adjoint), factor, x)
