"""The Moore-Penrose inverse, whose derivatives are written in itself.

They need no gaps between singular values, so they are right where values are equal, and at rank
deficiency along directions that keep the rank; in others the inverse itself jumps. A value counts
as zero up to a fraction of the largest. Read next: ``determinant.py``.
"""

from __future__ import annotations

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import at_least_zero
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind, over_leading_axes
from tenferro.primitives.comparison import gt, select
from tenferro.primitives.constants import full_like, zeros_like
from tenferro.primitives.linalg._matrices import (
    adjoint,
    columns_by,
    factorizable,
    kept,
    largest,
    matmul,
    matrix_sizes,
)
from tenferro.primitives.linalg.svd import svd
from tenferro.primitives.structural import broadcast_in_dim, convert

__all__ = ["Pinv", "pinv"]


class Pinv(Mixed):
    """P of A:   dP = -P dA P + P Pᴴ dAᴴ (I - A P) + (I - P A) dAᴴ Pᴴ P"""

    key = "std::pinv"
    batch = over_leading_axes
    linear = ()
    rcond: float

    def __post_init__(self) -> None:
        self._set(rcond=at_least_zero(self, "rcond", "no fraction"))

    def abstract_eval(self, a: Aval) -> Aval:
        m, n = matrix_sizes(self, factorizable(self, a))
        return Aval((*a.shape[:-2], n, m), a.dtype)

    def jvp_a(self, da: Handle, a: Handle, p: Handle) -> Handle:
        """Differentiate in the cheapest order of products: eight, none larger than needed."""
        left, right = matmul(da, p), matmul(p, da)
        left_h, right_h = adjoint(left), adjoint(right)
        behind = left_h - left - matmul(matmul(left_h, a), p)
        before = right_h - matmul(p, matmul(a, right_h))
        return matmul(p, behind) + matmul(before, p)

    def decompose(self, a: Handle) -> Handle:
        """V s⁻¹ Uᴴ over the values that do not count as zero."""
        u, s, vh = svd(a)
        if not s.size:
            return adjoint(zeros_like(a))
        cutoff = broadcast_in_dim(largest(s) * self.rcond, s.shape, tuple(range(s.ndim)))
        counts = gt(s, cutoff)
        inverse = kept(counts, 1 / select(counts, s, full_like(s, 1)))
        return matmul(columns_by(adjoint(vh), convert(inverse, a.dtype)), adjoint(u))


def pinv(a: H, rcond: float) -> H:
    """Find the Moore-Penrose inverse of matrices.

    a: [*b, m, n]   →   P: [*b, n, m]

    Definition   P = V s⁻¹ Uᴴ of the thin a = U s Vᴴ, over the values s_k > rcond·max(s)
    JVP          dP = -P da P + P Pᴴ daᴴ (I - a P) + (I - P a) daᴴ Pᴴ P
    Convention   the derivative is that of matrices of the same rank
    Raises       ShapeMismatchError, DTypeMismatchError; InvalidParameterError: if rcond < 0.
    Source       Golub & Pereyra (1973), SIAM J. on Numerical Analysis 10, 413, theorem 4.3

    >>> from tenferro.primitives import pinv, variable
    >>> pinv(variable("a", (3, 2), "f64"), 1e-15).aval
    f64[2,3]
    """
    return bind(Pinv(rcond), a)
