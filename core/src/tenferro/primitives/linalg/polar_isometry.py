"""``polar_isometry``: the U of A = U P with P positive, right at equal singular values.

With G = Uᴴ dA, the isometry rotates by the Ω = -Ωᴴ of

    P Ω + Ω P = G - Gᴴ,   dU = U Ω + (dA - U G) P⁻¹.

The equation, ``positive_sylvester``, divides by sums of singular values alone. Its solution has
derivatives of the same form, so that no order divides by a difference of them. A wide matrix is
taken through its adjoint. Read next: ``pinv.py``.
"""

from __future__ import annotations

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import same_aval
from tenferro.primitives._errors import ShapeMismatchError
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind, over_leading_axes
from tenferro.primitives.constants import zeros_like
from tenferro.primitives.linalg._matrices import (
    adjoint,
    factorizable,
    hermitian,
    inverse_gaps,
    matmul,
    matrix_sizes,
    square_size,
    sums,
)
from tenferro.primitives.linalg.pinv import pinv
from tenferro.primitives.linalg.svd import svd
from tenferro.primitives.reduction import reduce_max
from tenferro.primitives.structural import convert, stop_gradient

__all__ = ["PolarIsometry", "PositiveSylvester", "polar_isometry", "positive_sylvester"]

_RCOND = 1e-15  # that of `numpy.linalg.pinv`


class PolarIsometry(Mixed):
    """U of A = U P;   dU = U Ω + (dA - U Uᴴ dA) P⁻¹"""

    key = "std::polar_isometry"
    batch = over_leading_axes
    linear = ()

    def abstract_eval(self, a: Aval) -> Aval:
        matrix_sizes(self, factorizable(self, a))
        return a

    def jvp_a(self, da: Handle, a: Handle, u: Handle) -> Handle:
        if not a.size:
            return zeros_like(u)
        if a.shape[-2] < a.shape[-1]:
            return adjoint(_tangent(adjoint(da), adjoint(a), adjoint(u)))
        return _tangent(da, a, u)

    def decompose(self, a: Handle) -> Handle:
        """U Vᴴ of the singular value decomposition."""
        u, _, vh = svd(a)
        return matmul(u, vh)


def _tangent(da: Handle, a: Handle, u: Handle) -> Handle:
    _, s, vh = svd(stop_gradient(a), projectors_only=True)
    p, g = hermitian(matmul(adjoint(u), a)), matmul(adjoint(u), da)
    du = matmul(u, positive_sylvester(p, s, vh, g - adjoint(g)))
    if a.shape[-2] == a.shape[-1]:
        return du
    return du + matmul(da - matmul(u, g), pinv(p, _RCOND))


class PositiveSylvester(Mixed):
    """P X + X P = Q for P = V diag(s) Vᴴ;   dX = solution for dQ - dP X - X dP"""

    key = "std::positive_sylvester"
    batch = over_leading_axes
    linear = ((3,),)

    def abstract_eval(self, p: Aval, s: Aval, vh: Aval, q: Aval) -> Aval:
        n = square_size(self, factorizable(self, same_aval(self, p, vh, q)))
        if s.shape != (*p.shape[:-2], n) or s.dtype is not p.dtype.real_dtype:
            raise ShapeMismatchError.of(
                self.name,
                "the singular values do not belong to the matrix",
                got=f"p {p},  s {s}",
                need=f"{p.dtype.real_dtype} of shape {(*p.shape[:-2], n)}",
                shapes=(p.shape, s.shape),
            )
        return q

    def transpose_q(self, ct: Handle, p: Handle, s: Handle, vh: Handle, q: Handle) -> Handle:
        """Apply the map itself, since P is Hermitian."""
        return positive_sylvester(p, s, vh, ct)

    def jvp_p(self, dp: Handle, p: Handle, s: Handle, vh: Handle, q: Handle, x: Handle) -> Handle:
        return positive_sylvester(p, s, vh, -matmul(dp, x) - matmul(x, dp))

    def decompose(self, p: Handle, s: Handle, vh: Handle, q: Handle) -> Handle:
        """Divide by sums of singular values in the basis of the vectors."""
        if not q.size:
            return q
        inverse = inverse_gaps(sums(s), reduce_max(s, (s.ndim - 1,)))
        inside = matmul(matmul(vh, q), adjoint(vh)) * convert(inverse, q.dtype)
        return matmul(matmul(adjoint(vh), inside), vh)


def polar_isometry(a: H) -> H:
    """Find the isometry U of the polar decomposition a = U P, which is the nearest to a.

    a: [*b, m, n]   →   U: [*b, m, n]

    Definition   U = W Vᴴ of the thin a = W s Vᴴ
    JVP          see the head of this file
    Convention   where the rank is below min(m, n), the derivative is right along directions that
                 keep the null spaces
    Raises       ShapeMismatchError, DTypeMismatchError.
    Source       Higham (2008), Functions of matrices, 8.1 and 8.2

    >>> from tenferro.primitives import polar_isometry, variable
    >>> polar_isometry(variable("a", (3, 2), "f64")).aval
    f64[3,2]
    """
    return bind(PolarIsometry(), a)


def positive_sylvester(p: H, s: H, vh: H, q: H) -> H:
    """Solve p x + x p = q for a positive matrix whose spectrum is known.

    p, q: [*b, n, n]   s: f[*b, n]   vh: [*b, n, n]   →   x: [*b, n, n]

    Definition   in the basis of the vectors x_ij = q_ij/(s_i + s_j), 0 where both are 0
    JVP          the solution for dq - dp x - x dp, by the same s and vh
    Convention   s and vh must carry no derivative
    Raises       ShapeMismatchError, DTypeMismatchError.

    >>> from tenferro.primitives import positive_sylvester, variable
    >>> p, s = variable("p", (2, 2), "f64"), variable("s", (2,), "f64")
    >>> positive_sylvester(p, s, p, p).aval
    f64[2,2]
    """
    return bind(PositiveSylvester(), p, s, vh, q)
