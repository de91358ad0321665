"""``pivoted_qr``: QR decomposition with columns exchanged, so that the diagonal of R decreases.

The order of columns is a vector of integers and constant, so the derivative is that of ``qr`` of
the reordered matrix. Read next: ``svd.py``.
"""

from __future__ import annotations

from tenferro.primitives._aval import Aval
from tenferro.primitives._dtype import int32
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind_all, over_leading_axes
from tenferro.primitives.linalg._gauge import thin_only
from tenferro.primitives.linalg._matrices import (
    factorizable,
    matrix_sizes,
    rows_in_order,
    swapped,
)
from tenferro.primitives.linalg.qr import factor_tangents

__all__ = ["PivotedQr", "pivoted_qr"]


class PivotedQr(Mixed):
    """A[:, p] = Q R with |R₁₁| ≥ |R₂₂| ≥ …"""

    key = "std::pivoted_qr"
    batch = over_leading_axes
    output_count = 3
    linear = ()
    full: bool = False
    canonical: bool = False

    def abstract_eval(self, a: Aval) -> tuple[Aval, Aval, Aval]:
        m, n = matrix_sizes(self, factorizable(self, a))
        k, batch = (m if self.full else min(m, n)), a.shape[:-2]
        q, r = Aval((*batch, m, k), a.dtype), Aval((*batch, k, n), a.dtype)
        return q, r, Aval((*batch, n), int32)

    def jvp_a(
        self, da: Handle, a: Handle, q: Handle, r: Handle, order: Handle
    ) -> tuple[Handle, Handle, None]:
        if self.full and a.shape[-2] > a.shape[-1]:
            raise thin_only(self, a.aval)
        exchanged = swapped(rows_in_order(swapped(da), order))
        dq, dr = factor_tangents(exchanged, q, r)
        return dq, dr, None


def pivoted_qr(a: H, *, full: bool = False, canonical: bool = False) -> tuple[H, H, H]:
    """Decompose matrices with their columns exchanged into orthonormal columns and a triangle.

    a: [*b, m, n]   →   Q: [*b, m, k]   R: [*b, k, n]   p: i32[*b, n]   with k = min(m, n), or m
    with full

    Definition   a[:, p] = Q R, QᴴQ = I; p moves the column whose rest, orthogonal to the columns
                 before it, is longest to each place in turn
    JVP          that of ``qr`` for da[:, p]; p is constant
    Convention   see ``qr``. Where columns are equally long, their order is that of the backend, and
                 a change of the order is a jump of Q and R
    Raises       ShapeMismatchError, DTypeMismatchError; when differentiated MissingRuleError: if
                 full and m > n. No derivative exists where the rank is below min(m, n).
    Source       Businger & Golub (1965), Linear least squares solutions by Householder
                 transformations; the derivative as in ``qr``

    >>> from tenferro.primitives import pivoted_qr, variable
    >>> [x.aval for x in pivoted_qr(variable("a", (3, 2), "f64"))]
    [f64[3,2], f64[2,2], i32[2]]
    """
    full = full and a.ndim > 1 and a.shape[-2] > a.shape[-1]
    q, r, order = bind_all(PivotedQr(bool(full), bool(canonical)), a)
    return q, r, order
