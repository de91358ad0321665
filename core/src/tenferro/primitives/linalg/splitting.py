"""``svd_turns``, ``svd_quotient``, ``svd_values``: what second derivatives of an SVD are made of.

The matrix of values M = UᴴAV is diagonal, but in a direction that splits equal values its
derivative R is not: it is full on their block. A turn Ω that solves Ω M - M Ω = … therefore changes
by -Ω R + R Ω in addition to the part of the values. The primitives here change nothing; they only
have that derivative, so that it costs no product before a second derivative is taken. Read next:
``svd.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import same_aval, same_dtype
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind, bind_all, over_leading_axes
from tenferro.primitives.arithmetic import abs as absolute
from tenferro.primitives.comparison import gt, select
from tenferro.primitives.complex import real
from tenferro.primitives.constants import zeros_like
from tenferro.primitives.linalg._matrices import (
    adjoint,
    columns_by,
    diagonal,
    diagonal_matrix,
    differences,
    inverse_gaps,
    matmul,
    sums,
)
from tenferro.primitives.reduction import reduce_max
from tenferro.primitives.structural import broadcast_in_dim, convert, stop_gradient

__all__ = ["SvdQuotient", "SvdTurns", "SvdValues", "svd_quotient", "svd_turns", "svd_values"]


class SvdTurns(Mixed):
    """(B, O) as they are, with the derivative of the solution of the equations for Ω = B ± O"""

    key = "std::svd_turns"
    batch = over_leading_axes
    output_count = 2
    linear = ((0, 1),)
    adjoint: bool
    epsilon: float

    def abstract_eval(
        self, b: Aval, o: Aval, a: Aval, u: Aval, s: Aval, vh: Aval
    ) -> tuple[Aval, Aval]:
        same_aval(self, b, o)
        same_dtype(self, b, a, u, vh)
        return b, o

    def decompose(self, b: Handle, o: Handle, *others: Handle) -> tuple[Handle, Handle]:
        return b, o

    def transpose_b(self, cts: Any, b: Handle, o: Handle, *others: Handle) -> Handle:
        return self._transposed(cts, b, o, *others)[0]

    def transpose_o(self, cts: Any, b: Handle, o: Handle, *others: Handle) -> Handle:
        return self._transposed(cts, b, o, *others)[1]

    def _transposed(self, cts: Any, b: Handle, o: Handle, *others: Handle) -> tuple[Handle, ...]:
        ct_b, ct_o = (
            zeros_like(x) if ct is None else ct for ct, x in zip(cts, (b, o), strict=True)
        )
        return bind_all(SvdTurns(not self.adjoint, self.epsilon), ct_b, ct_o, *others)

    def jvp_a(self, da: Handle, b: Handle, o: Handle, *others: Handle) -> tuple[Handle, Handle]:
        """-(B R - R B) - (O R + R O), solved like P; or the adjoint of that map."""
        _, u, s, vh = others[:4]
        r, top = splitting(da, u, s, vh, self.epsilon), reduce_max(s, (s.ndim - 1,))
        even = convert(inverse_gaps(differences(s), top, self.epsilon) * 0.5, b.dtype)
        odd = convert(inverse_gaps(sums(s), top, self.epsilon) * 0.5, b.dtype)
        if not self.adjoint:
            c = matmul(r, b - o) - matmul(b + o, r)
            return (c + adjoint(c)) * even, (c - adjoint(c)) * odd
        x, y, rh = b * even, o * odd, adjoint(r)
        c = x + adjoint(x) + y - adjoint(y)
        before, behind = matmul(rh, c), matmul(c, rh)
        return before - behind, -(before + behind)


class SvdQuotient(Mixed):
    """Y as it is, with the derivative of the solution of Y M = X"""

    key = "std::svd_quotient"
    batch = over_leading_axes
    linear = ((0,),)
    adjoint: bool
    epsilon: float

    def abstract_eval(self, y: Aval, a: Aval, u: Aval, s: Aval, vh: Aval) -> Aval:
        same_dtype(self, y, a, u, vh)
        return y

    def decompose(self, y: Handle, *others: Handle) -> Handle:
        return y

    def transpose_y(self, ct: Handle, y: Handle, *others: Handle) -> Handle:
        return bind(SvdQuotient(not self.adjoint, self.epsilon), ct, *others)

    def jvp_a(self, da: Handle, y: Handle, *others: Handle) -> Handle:
        """-Y R M⁻¹, or the adjoint of that map."""
        _, u, s, vh = others[:4]
        r, top = splitting(da, u, s, vh, self.epsilon), reduce_max(s, (s.ndim - 1,))
        inverse = convert(inverse_gaps(s, top, self.epsilon), y.dtype)
        if self.adjoint:
            return -matmul(columns_by(y, inverse), adjoint(r))
        return -columns_by(matmul(y, r), inverse)


class SvdValues(Mixed):
    """s as it is, with a derivative by the matrix alone:   ds = Re diag(Uᴴ dA V)"""

    key = "std::svd_values"
    batch = over_leading_axes
    linear = ()

    def abstract_eval(self, s: Aval, a: Aval, u: Aval, vh: Aval) -> Aval:
        same_dtype(self, a, u, vh)
        return s

    def decompose(self, s: Handle, a: Handle, u: Handle, vh: Handle) -> Handle:
        return s

    def jvp_s(self, ds: Handle, s: Handle, a: Handle, u: Handle, vh: Handle, y: Handle) -> None:
        """Return nothing: the values vary with the matrix, whose rule covers that."""

    def jvp_a(self, da: Handle, s: Handle, a: Handle, u: Handle, vh: Handle, y: Handle) -> Handle:
        return real(diagonal(matmul(adjoint(u), matmul(da, adjoint(vh)))))

    def jvp_u(self, du: Handle, s: Handle, a: Handle, u: Handle, vh: Handle, y: Handle) -> None:
        """Return nothing: the values do not change with the gauge."""

    def jvp_vh(self, dv: Handle, s: Handle, a: Handle, u: Handle, vh: Handle, y: Handle) -> None:
        """Return nothing, as for u."""


def svd_values(s: H, a: H, u: H, vh: H) -> H:
    """Give singular values in a derivative their own derivative, separate from the user's.

    s: f[*b, k]   a: [*b, m, n]   u: [*b, m, k]   vh: [*b, k, n]   →   s as it is

    Definition   (u, s, vh) is the decomposition of a
    JVP          ds = Re diag(uᴴ da v), through the matrix alone
    Convention   the result does not count as a use of the values, see ``vectors_used.py``
    Raises       DTypeMismatchError.
    Source       Kato (1966), Perturbation theory for linear operators, II §2

    >>> from tenferro.primitives import svd, svd_values, variable
    >>> a = variable("a", (3, 2), "f64")
    >>> u, s, vh = svd(a)
    >>> svd_values(s, a, u, vh).aval
    f64[2]
    """
    return bind(SvdValues(), s, a, u, vh)


def svd_turns(
    b: H, o: H, a: H, factors: Sequence[H], epsilon: float, *, adjoint: bool = False
) -> tuple[H, H]:
    """Give the halves of how singular vectors turn the derivative that their equations have.

    b, o: [*b, k, k]   a: [*b, m, n]   factors of a: U [*b, m, k], s [*b, k], Vᴴ [*b, k, n]
    →   b, o as they are

    Definition   Ω_u = b + o and Ω_v = b - o solve Ω_u M - M Ω_v = Uᴴ dA V for M = Uᴴ A V = diag(s)
    JVP          (b, o) solve the same equation for -(b + o) R + R (b - o), with R the part of
                 Uᴴ da V that stays within spaces of equal values and is not on the diagonal
    Convention   linear in (b, o); with adjoint, the derivative of the adjoint map
    Raises       ShapeMismatchError, DTypeMismatchError.
    Source       Kato (1966), Perturbation theory for linear operators, II §2, for M in place of A

    >>> from tenferro.primitives import svd_turns
    >>> from tenferro.primitives import svd, variable
    >>> a = variable("a", (2, 2), "f64")
    >>> [x.aval for x in svd_turns(a, a, a, svd(a), 1e-12)]
    [f64[2,2], f64[2,2]]
    """
    fixed = [stop_gradient(x) for x in factors]
    found_b, found_o = bind_all(SvdTurns(adjoint, epsilon), b, o, a, *fixed)
    return found_b, found_o


def svd_quotient(y: H, a: H, factors: Sequence[H], epsilon: float, *, adjoint: bool = False) -> H:
    """Give a quotient by singular values the derivative that its equation has.

    y: [*b, i, k]   a: [*b, m, n]   factors of a: U [*b, m, k], s [*b, k], Vᴴ [*b, k, n]
    →   y as it is

    Definition   y M = x, with M = Uᴴ A V = diag(s) and x given
    JVP          -y R M⁻¹, with R the part of Uᴴ da V that stays within spaces of equal values and
                 is not on the diagonal
    Convention   linear in y; with adjoint, the derivative of the adjoint map
    Raises       ShapeMismatchError, DTypeMismatchError.
    Source       Kato (1966), Perturbation theory for linear operators, II §2, for M in place of A

    >>> from tenferro.primitives import svd_quotient
    >>> from tenferro.primitives import svd, variable
    >>> a = variable("a", (2, 2), "f64")
    >>> svd_quotient(a, a, svd(a), 1e-12).aval
    f64[2,2]
    """
    fixed = [stop_gradient(x) for x in factors]
    return bind(SvdQuotient(adjoint, epsilon), y, a, *fixed)


def splitting(da: Handle, u: Handle, s: Handle, vh: Handle, epsilon: float) -> Handle:
    """R: of P = Uᴴ dA V what neither a turn nor a change of the values takes up."""
    p = matmul(adjoint(u), matmul(da, adjoint(vh)))
    p = p - diagonal_matrix(convert(real(diagonal(p)), p.dtype))
    bound = reduce_max(s, (s.ndim - 1,)) * epsilon
    even, odd = (p + adjoint(p)) * 0.5, (p - adjoint(p)) * 0.5
    return _near(differences(s), bound, even) + _near(sums(s), bound, odd)


def _near(gaps: Handle, bound: Handle, x: Handle) -> Handle:
    """x where the gap is none, zeros elsewhere."""
    limit = broadcast_in_dim(bound, gaps.shape, tuple(range(bound.ndim)))
    return select(gt(absolute(gaps), limit), zeros_like(x), x)
