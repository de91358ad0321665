"""``cholesky``: the lower triangular factor of a positive definite matrix.

It reads the lower triangle and treats the matrix as Hermitian: a tangent is symmetrised, so that
gradients are Hermitian too. Read next: ``qr.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro.primitives._aval import Aval
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind
from tenferro.primitives.linalg._matrices import (
    factorizable,
    half_lower,
    hermitian,
    matmul,
    square_size,
)
from tenferro.primitives.linalg.triangular_solve import triangular_solve


class Cholesky(Mixed):
    """a = L Lᴴ;   dL = L Φ(L⁻¹ da L⁻ᴴ), Φ the lower triangle with half of the diagonal"""

    key = "std::cholesky"
    linear = ()

    def abstract_eval(self, a: Aval) -> Aval:
        square_size(self, factorizable(self, a))
        return a

    def jvp_a(self, da: Handle, a: Handle, factor: Handle) -> Handle:
        complex_ = a.dtype.is_complex
        left = triangular_solve(factor, hermitian(da))
        inner = triangular_solve(factor, left, left=False, transpose=True, conjugate=complex_)
        return matmul(factor, half_lower(inner))

    def batch(self, size: int, batched: Sequence[bool], a: Handle) -> Handle:
        return cholesky(a)


def cholesky(a: H) -> H:
    """Factorize a positive definite matrix.

    a: [*s, n, n], Hermitian   →   L: [*s, n, n], lower triangular with a positive diagonal

    Definition   a = L Lᴴ
    JVP          dL = L Φ(L⁻¹ da L⁻ᴴ), Φ the lower triangle with half of the diagonal
    Convention   the lower triangle is read; the tangent is symmetrised, (da + daᴴ)/2
    Raises       ShapeMismatchError, DTypeMismatchError; NotPositiveDefiniteError where a backend
                 can see it, nan elsewhere.
    Source       Murray (2016), arXiv:1602.07527, equations 8 and 10

    >>> from tenferro.primitives import cholesky, variable
    >>> cholesky(variable("a", (3, 3), "f64")).aval
    f64[3,3]
    """
    return bind(Cholesky(), a)
