"""Singular value decomposition, thin, and the singular values alone.

With P = Uᴴ dA V, split into H = (P + Pᴴ)/2 and K = (P - Pᴴ)/2, the vectors turn by

    Ω_u = H/(s_j - s_i) + K/(s_j + s_i),   Ω_v = H/(s_j - s_i) - K/(s_j + s_i),

and leave their spaces by (I - UUᴴ) dA V/s and (I - VVᴴ) dAᴴ U/s. A quotient by (nearly) zero is
replaced by zero, see ``inverse_gaps``: first and second derivatives are right for what treats the
space of equal singular values, or that of zeros, as a whole: projectors, the polar factor (see
``splitting.py``); where the matrix is not square and has zeros, first ones alone. For others,
as U g(s) Vᴴ in a direction that splits equal values, ``vectors_used.py`` has further terms. In the
code ``even`` and ``odd`` are the terms of H and K, ``into_u`` is Ω_u and ``into_v`` is Ω_vᴴ.
Read next: ``pinv.py``.
"""

from __future__ import annotations

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import invalid
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind, bind_all, over_leading_axes
from tenferro.primitives.complex import complex, conj, real
from tenferro.primitives.constants import zeros_like
from tenferro.primitives.linalg._gauge import (
    angle_rates,
    check_epsilon,
    check_gauge,
)
from tenferro.primitives.linalg._matrices import (
    adjoint,
    columns,
    columns_by,
    default_epsilon,
    diagonal,
    differences,
    factorizable,
    inverse_gaps,
    joined_columns,
    joined_rows,
    matmul,
    matrix_sizes,
    rows,
    rows_by,
    sums,
)
from tenferro.primitives.linalg.splitting import svd_quotient, svd_turns, svd_values
from tenferro.primitives.linalg.vectors_used import vectors_vary
from tenferro.primitives.reduction import reduce_max, reduce_sum
from tenferro.primitives.structural import convert

__all__ = ["Svd", "Svdvals", "svd", "svdvals"]


class Svd(Mixed):
    """A = U diag(s) Vᴴ with orthonormal columns of U and V, s decreasing and at least 0"""

    key = "std::svd"
    batch = over_leading_axes
    output_count = 3
    prunable = True
    cheap_output = 1  # the values, which take no vectors
    linear = ()
    full: bool = False
    gauge: str = "raw"
    epsilon: float | None = None
    projectors_only: bool = False

    def __post_init__(self) -> None:
        check_gauge(self)
        self._set(projectors_only=bool(self.projectors_only))
        if self.full and self.gauge != "raw":
            need = "gauge='raw', since the vectors beyond min(m, n) come in no pairs"
            raise invalid(
                self, "gauge", "full vectors do not support a gauge", got=self.gauge, need=need
            )

    def abstract_eval(self, a: Aval) -> tuple[Aval, Aval, Aval]:
        m, n = matrix_sizes(self, factorizable(self, a))
        k, batch = min(m, n), a.shape[:-2]
        rows, columns = (m, n) if self.full else (k, k)
        values = Aval((*batch, k), a.dtype.real_dtype)
        return Aval((*batch, m, rows), a.dtype), values, Aval((*batch, columns, n), a.dtype)

    def jvp_a(
        self, da: Handle, a: Handle, u: Handle, s: Handle, vh: Handle
    ) -> tuple[Handle, Handle, Handle]:
        if not s.size:
            return zeros_like(u), zeros_like(s), zeros_like(vh)
        if self.full:
            return self._completed(da, a, u, s, vh)
        du, ds, dvh = self._in_raw_gauge(da, a, u, s, vh)
        if self.gauge == "raw" or not a.dtype.is_complex:
            return du, ds, dvh
        angles = angle_rates(dvh, vh, vh.ndim - 1)
        angles = complex(zeros_like(angles), angles)
        return du - columns_by(u, angles), ds, dvh + rows_by(angles, vh)

    def _completed(
        self, da: Handle, a: Handle, u: Handle, s: Handle, vh: Handle
    ) -> tuple[Handle, Handle, Handle]:
        """Return the thin derivative; vectors that complete a basis stay orthogonal to the others.

        dU₂ = -U₁ dU₁ᴴ U₂. As a frame of their space they do not turn within it.
        """
        k = s.shape[-1]
        u1, vh1 = columns(u, 0, k), rows(vh, 0, k)
        du1, ds, dvh1 = self._in_raw_gauge(da, a, u1, s, vh1)
        if u.shape[-1] > k:
            return joined_columns(du1, self._rest(du1, u1, columns(u, k))), ds, dvh1
        dv2 = self._rest(adjoint(dvh1), adjoint(vh1), adjoint(rows(vh, k)))
        return du1, ds, joined_rows(dvh1, adjoint(dv2))

    def _rest(self, du1: Handle, u1: Handle, u2: Handle) -> Handle:
        """Return the tangent of U₂, marked as that of the vectors of one value."""
        du2 = -matmul(u1, matmul(adjoint(du1), u2))
        if self.projectors_only:
            return du2
        turn = matmul(adjoint(u2), du2)  # 0 but for rounding
        w = zeros_like(real(diagonal(turn)))
        turn, _ = vectors_vary([turn], w, turn, w, epsilon=1.0)
        return du2 + matmul(u2, turn)

    def _in_raw_gauge(
        self, da: Handle, a: Handle, u: Handle, s: Handle, vh: Handle
    ) -> tuple[Handle, Handle, Handle]:
        """Differentiate in the raw gauge; a wide matrix through its adjoint."""
        if da.shape[-2] >= da.shape[-1]:
            return self._in_raw_gauge_tall(da, a, u, s, vh)
        dv, ds, duh = self._in_raw_gauge_tall(adjoint(da), adjoint(a), adjoint(vh), s, adjoint(u))
        return adjoint(duh), ds, adjoint(dv)

    def _in_raw_gauge_tall(
        self, da: Handle, a: Handle, u: Handle, s: Handle, vh: Handle
    ) -> tuple[Handle, Handle, Handle]:
        """Differentiate by four products of n³; the projector I - UUᴴ costs no further one."""
        epsilon = default_epsilon(s) if self.epsilon is None else self.epsilon
        s = svd_values(s, a, u, vh)
        factors = (u, s, vh)
        moved = matmul(da, adjoint(vh))
        p = matmul(adjoint(u), moved)
        even, odd, ds = self._turns(moved, p, a, factors, epsilon)
        into_u, into_v = even + odd, odd - even  # Ω_u, and the adjoint of Ω_v
        if da.shape[-2] == da.shape[-1]:
            return matmul(u, into_u), ds, matmul(into_v, vh)
        inverse = convert(inverse_gaps(s, reduce_max(s, (s.ndim - 1,)), epsilon), p.dtype)
        inside = svd_quotient(columns_by(p, inverse), a, factors, epsilon)
        outside = svd_quotient(columns_by(moved, inverse), a, factors, epsilon)
        du = matmul(u, into_u - inside) + outside
        return du, ds, matmul(into_v, vh)

    def _turns(
        self, moved: Handle, p: Handle, a: Handle, factors: tuple[Handle, ...], epsilon: float
    ) -> tuple[Handle, Handle, Handle]:
        """Return (Ω_u + Ω_v)/2, (Ω_u - Ω_v)/2 and ds, marked unless the vectors need no check."""
        u, s, _ = factors
        top = reduce_max(s, (s.ndim - 1,))
        even = (p + adjoint(p)) * _half(inverse_gaps(differences(s), top, epsilon), p)
        odd = (p - adjoint(p)) * _half(inverse_gaps(sums(s), top, epsilon), p)
        even, odd = svd_turns(even, odd, a, factors, epsilon)
        ds = real(reduce_sum(conj(u) * moved, (u.ndim - 2,)))  # alone it needs no product of n³
        if self.projectors_only:
            return even, odd, ds
        square = a.shape[-2] == a.shape[-1]
        even, odd, ds = vectors_vary([even, odd], ds, p, s, epsilon=epsilon, is_square=square)
        return even, odd, ds

    def values_tangent(self, da: Handle, a: Handle, u: Handle, s: Handle, vh: Handle) -> Handle:
        """Return ds as ``jvp_a`` does, with its mark, and without what only the vectors need."""
        if not s.size:
            return zeros_like(s)
        if da.shape[-2] < da.shape[-1]:
            da, a, u, vh = adjoint(da), adjoint(a), adjoint(vh), adjoint(u)
        epsilon = default_epsilon(s) if self.epsilon is None else self.epsilon
        s = svd_values(s, a, u, vh)
        moved = matmul(da, adjoint(vh))
        return self._turns(moved, matmul(adjoint(u), moved), a, (u, s, vh), epsilon)[2]


def _half(x: Handle, like: Handle) -> Handle:
    return convert(x * 0.5, like.dtype)


class Svdvals(Mixed):
    """s of A = U diag(s) Vᴴ, decreasing,   ds_k = Re u_kᴴ dA v_k"""

    key = "std::svdvals"
    batch = over_leading_axes
    linear = ()
    epsilon: float | None = None

    def __post_init__(self) -> None:
        check_epsilon(self)

    def abstract_eval(self, a: Aval) -> Aval:
        m, n = matrix_sizes(self, factorizable(self, a))
        return Aval((*a.shape[:-2], min(m, n)), a.dtype.real_dtype)

    def jvp_a(self, da: Handle, a: Handle, s: Handle) -> Handle:
        # Marked as in ``svd``: second derivatives of the values pass through the vectors.
        factorization = Svd(epsilon=self.epsilon)
        return factorization.values_tangent(da, a, *bind_all(factorization, a))


def svd(
    a: H,
    *,
    full: bool = False,
    gauge: str = "raw",
    epsilon: float | None = None,
    projectors_only: bool = False,
) -> tuple[H, H, H]:
    """Decompose matrices by their singular values.

    a: [*b, m, n]   →   U: [*b, m, k]   s: f[*b, k]   Vᴴ: [*b, k, n]   with k = min(m, n)

    Definition   a = U diag(s) Vᴴ, UᴴU = VᴴV = I, s₁ ≥ s₂ ≥ … ≥ 0; with full, U: [*b, m, m] and
                 Vᴴ: [*b, n, n] have vectors beyond k, a frame of the rest of the space
    JVP          see the head of this file; complex: of the phase that u_k and v_k share nothing is
                 known, and what Im P_kk turns is divided between them alike
    Convention   gaps below epsilon·s₁ count as none (1e-12, single precision 1e-5), which is right
                 for projectors on whole spaces of equal values, and not for U g(s) Vᴴ.
                 projectors_only: states that vectors of equal values, and those beyond k, are used
                 for the projector on their space alone; without it a backend that can warns.
                 gauge="canonical": the entry of largest modulus of v_k is real and positive
    Raises       ShapeMismatchError, DTypeMismatchError, InvalidParameterError.
    Source       Townsend (2016), Differentiating the singular value decomposition; complex: Wan &
                 Zhang (2019), arXiv:1909.02659

    >>> from tenferro.primitives import svd, variable
    >>> [x.aval for x in svd(variable("a", (3, 2), "c128"))]
    [c128[3,2], f64[2], c128[2,2]]
    """
    is_square = a.ndim > 1 and a.shape[-2] == a.shape[-1]
    u, s, vh = bind_all(Svd(full and not is_square, gauge, epsilon, projectors_only), a)
    return u, s, vh


def svdvals(a: H, *, epsilon: float | None = None) -> H:
    """Find the singular values of matrices, without vectors.

    a: [*b, m, n]   →   s: f[*b, min(m, n)], decreasing

    JVP          ds_k = Re u_kᴴ da v_k, with the vectors of ``svd``
    Convention   epsilon as in ``svd``. At s_k = 0 the derivative is that of a signed value; among
                 equal values only symmetric functions have one
    Raises       ShapeMismatchError, DTypeMismatchError, InvalidParameterError.

    >>> from tenferro.primitives import svdvals, variable
    >>> svdvals(variable("a", (3, 2), "c128")).aval
    f64[2]
    """
    return bind(Svdvals(epsilon), a)
