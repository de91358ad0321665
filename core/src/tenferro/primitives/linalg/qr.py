"""QR decomposition of square, tall and wide matrices.

With D = Qᴴ dA and C = D R⁻¹ (of the leading square parts) the columns of Q turn by the Ω = -Ωᴴ
that leaves dR = D - Ω R upper triangular with a real diagonal: what stands below the diagonal of C,
minus its adjoint, plus i Im of the diagonal. Read next: ``pivoted_qr.py``.
"""

from __future__ import annotations

from tenferro.primitives._aval import Aval
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind_all, over_leading_axes
from tenferro.primitives.complex import complex, imag
from tenferro.primitives.constants import zeros_like
from tenferro.primitives.linalg._gauge import thin_only
from tenferro.primitives.linalg._matrices import (
    adjoint,
    diagonal,
    diagonal_matrix,
    factorizable,
    lower,
    matmul,
    matrix_sizes,
    upper,
)
from tenferro.primitives.linalg.triangular_solve import triangular_solve
from tenferro.primitives.structural import slice

__all__ = ["Qr", "qr"]


class Qr(Mixed):
    """A = Q R with orthonormal columns of Q and R upper triangular"""

    key = "std::qr"
    batch = over_leading_axes
    output_count = 2
    linear = ()
    full: bool = False
    canonical: bool = False

    def abstract_eval(self, a: Aval) -> tuple[Aval, Aval]:
        m, n = matrix_sizes(self, factorizable(self, a))
        k, batch = (m if self.full else min(m, n)), a.shape[:-2]
        return Aval((*batch, m, k), a.dtype), Aval((*batch, k, n), a.dtype)

    def jvp_a(self, da: Handle, a: Handle, q: Handle, r: Handle) -> tuple[Handle, Handle]:
        if self.full:
            raise thin_only(self, a.aval)
        return factor_tangents(da, q, r)


def factor_tangents(da: Handle, q: Handle, r: Handle) -> tuple[Handle, Handle]:
    """Return dQ and dR of a thin factorization."""
    if not da.size:
        return zeros_like(q), zeros_like(r)
    if da.shape[-2] > da.shape[-1]:
        return _tall(da, q, r)
    d = matmul(adjoint(q), da)
    c = triangular_solve(_square(r), _square(d), left=False, lower=False)
    turn = _turn(c)
    return matmul(q, turn), upper(d - matmul(turn, r))


def _tall(da: Handle, q: Handle, r: Handle) -> tuple[Handle, Handle]:
    """dR = M R and dQ = dA R⁻¹ - Q M with M = C - Ω; the projector I - QQᴴ costs no product."""
    solved = triangular_solve(r, da, left=False, lower=False)
    c = matmul(adjoint(q), solved)
    moved = upper(c - _turn(c))
    return solved - matmul(q, moved), matmul(moved, r)


def _turn(c: Handle) -> Handle:
    """Return the antihermitian Ω for which C - Ω is upper triangular with a real diagonal."""
    below = lower(c, strict=True)
    turn = below - adjoint(below)
    if not c.dtype.is_complex:
        return turn
    angles = imag(diagonal(c))
    return turn + diagonal_matrix(complex(zeros_like(angles), angles))


def _square(x: Handle) -> Handle:
    """Return the leading columns, as many as there are rows."""
    stop = (*x.shape[:-1], x.shape[-2])
    return slice(x, (0,) * x.ndim, stop)


def qr(a: H, *, full: bool = False, canonical: bool = False) -> tuple[H, H]:
    """Decompose matrices into orthonormal columns and an upper triangle.

    a: [*b, m, n]   →   Q: [*b, m, k]   R: [*b, k, n]   with k = min(m, n), or m with full

    Definition   a = Q R, QᴴQ = I
    JVP          dQ = Q Ω + (I - QQᴴ) da R⁻¹,  dR = Qᴴ da - Ω R; see the head of this file
    Convention   canonical: the diagonal of R is real and at least 0; otherwise it is as the
                 backend gives it, real. The derivative exists where the leading min(m, n) columns
                 are independent; elsewhere it is a SingularMatrixError where a backend can see
                 it, inf or nan elsewhere
    Raises       ShapeMismatchError, DTypeMismatchError; when differentiated MissingRuleError: if
                 full and m > n.
    Source       Walter & Lehmann (2018), arXiv:1001.1654; wide matrices: Liao, Liu, Wang & Xiang
                 (2019), arXiv:1903.09650

    >>> from tenferro.primitives import qr, variable
    >>> [x.aval for x in qr(variable("a", (3, 2), "f64"))]
    [f64[3,2], f64[2,2]]
    """
    full = full and a.ndim > 1 and a.shape[-2] > a.shape[-1]
    q, r = bind_all(Qr(bool(full), bool(canonical)), a)
    return q, r
