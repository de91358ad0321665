"""Eigenvalues and eigenvectors of general matrices, and the eigenvalues alone; always complex.

With P = V⁻¹ dA V the values change by the diagonal of P and the vectors by V X, where
X_ij = P_ij/(w_j - w_i) off the diagonal; the diagonal of X keeps each vector at length 1 and moves
it along no phase. A matrix without a basis of eigenvectors has no derivative. Vectors of (nearly)
equal values turn together, and are marked where that matters, as in ``eigh.py``. Read next:
``matrix_function.py``.
"""

from __future__ import annotations

from tenferro.primitives._aval import Aval
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind, bind_all, over_leading_axes
from tenferro.primitives.complex import complex, conj, imag, real
from tenferro.primitives.constants import zeros_like
from tenferro.primitives.indexing import take_along_axis
from tenferro.primitives.linalg._gauge import angle_rates, check_gauge
from tenferro.primitives.linalg._matrices import (
    columns_by,
    default_epsilon,
    diagonal,
    factorizable,
    matmul,
    square_size,
)
from tenferro.primitives.linalg.spectrum import in_basis, turn
from tenferro.primitives.linalg.vectors_used import vectors_vary
from tenferro.primitives.reduction import reduce_sum
from tenferro.primitives.sorting import argsort
from tenferro.primitives.structural import stop_gradient

__all__ = ["Eig", "Eigvals", "eig", "eigvals"]

_DIRECTION = 0.8191725133961645, 0.5735498588131236  # of an angle that nothing else has


class Eig(Mixed):
    """A V = V diag(w) with columns of V of length 1"""

    key = "std::eig"
    batch = over_leading_axes
    output_count = 2
    prunable = True
    cheap_output = 0  # the values, which take no vectors
    linear = ()
    gauge: str = "raw"
    epsilon: float | None = None
    projectors_only: bool = False

    def __post_init__(self) -> None:
        check_gauge(self)
        self._set(projectors_only=bool(self.projectors_only))

    def abstract_eval(self, a: Aval) -> tuple[Aval, Aval]:
        square_size(self, factorizable(self, a))
        dtype = a.dtype.complex_dtype
        return Aval(a.shape[:-1], dtype), a.with_dtype(dtype)

    def jvp_a(self, da: Handle, a: Handle, w: Handle, v: Handle) -> tuple[Handle, Handle]:
        if not w.size:
            return zeros_like(w), zeros_like(v)
        p = in_basis(v, da, is_hermitian=False)
        x, dw = turn(a, w, v, p, epsilon=self.epsilon), diagonal(p)
        if not self.projectors_only:
            epsilon = default_epsilon(w) if self.epsilon is None else self.epsilon
            x, dw = vectors_vary([x], dw, p, w, epsilon=epsilon)
        dv = matmul(v, x)
        dv = dv - columns_by(v, reduce_sum(conj(v) * dv, (v.ndim - 2,)))
        if self.gauge == "canonical":
            theta = angle_rates(dv, v, v.ndim - 2)
            dv = dv + columns_by(v, complex(zeros_like(theta), theta))
        return dw, dv


class Eigvals(Mixed):
    """The eigenvalues of a matrix;   dw = diag(V⁻¹ dA V)"""

    key = "std::eigvals"
    batch = over_leading_axes
    linear = ()

    def abstract_eval(self, a: Aval) -> Aval:
        square_size(self, factorizable(self, a))
        return Aval(a.shape[:-1], a.dtype.complex_dtype)

    def jvp_a(self, da: Handle, a: Handle, w: Handle) -> Handle:
        """Differentiate; values with vectors come in another order than values alone, from n =
        75 on.
        """
        if not w.size:
            return zeros_like(w)
        # The tangent that ``eig`` gives, with its mark: second derivatives pass through vectors.
        factorization = Eig()
        values, v = bind_all(factorization, a)
        dw, _ = factorization.jvp_a(da, a, values, v)
        return take_along_axis(dw, _pairing(w, values), w.ndim - 1)


def _pairing(w: H, values: H) -> H:
    """Return, for each of w, its place among the values, which are w in another order up to
    rounding.

    Both are ranked along a direction of the plane in which different values are distinct.
    """
    axis = w.ndim - 1
    rank = argsort(argsort(_along(w), axis), axis)
    return take_along_axis(argsort(_along(values), axis), rank, axis)  # type: ignore[return-value]


def _along(w: H) -> H:
    fixed = stop_gradient(w)
    return real(fixed) * _DIRECTION[0] + imag(fixed) * _DIRECTION[1]


def eig(
    a: H,
    *,
    gauge: str = "raw",
    epsilon: float | None = None,
    projectors_only: bool = False,
) -> tuple[H, H]:
    """Find the eigenvalues and eigenvectors of square matrices.

    a: [*b,n,n]   →   w: c[*b,n]   v: c[*b,n,n]

    Definition   A V = V diag(w), |v_j| = 1; complex whatever the dtype of A
    JVP          P = V⁻¹ dA V,  dw = diag P,  dV = V X - V diag(Vᴴ V X)
                 with X_ij = P_ij/(w_j - w_i) and X_ii = 0
    Convention   the values come in no order.
                 gauge: "raw", phases as they come; "canonical", the entry of largest modulus of
                 each column is real and positive, and stays so under derivatives.
                 epsilon: pairs with |w_j - w_i| at most epsilon·max|w| get X_ij = 0, which is
                 right for projectors on whole spaces of equal values, and not for V g(w) V⁻¹.
                 projectors_only: states that vectors of equal values are used for the projector on
                 their space alone; without it a backend that can warns of other uses
    Raises       ShapeMismatchError, DTypeMismatchError, InvalidParameterError (gauge, epsilon).
    Source       Giles (2008), An extended collection of matrix derivative results, 3.1; the
                 normalization: Boeddeker et al. (2017), arXiv:1701.00392, 4.4

    >>> from tenferro.primitives import variable
    >>> from tenferro.primitives.linalg.eig import eig
    >>> [y.aval for y in eig(variable("a", (2, 3, 3), "f64"))]
    [c128[2,3], c128[2,3,3]]
    """
    w, v = bind_all(Eig(gauge, epsilon, projectors_only), a)
    return w, v


def eigvals(a: H) -> H:
    """Find the eigenvalues of square matrices; vectors are computed for derivatives alone.

    a: [*b,n,n]   →   w: c[*b,n]

    Definition   w with A v = w v for some v, in no order; complex whatever the dtype of A
    JVP          dw = diag(V⁻¹ dA V)
    Raises       ShapeMismatchError, DTypeMismatchError.
    Source       Giles (2008), An extended collection of matrix derivative results, 3.1

    >>> from tenferro.primitives import variable
    >>> from tenferro.primitives.linalg.eig import eigvals
    >>> eigvals(variable("a", (3, 3), "f32")).aval
    c64[3]
    """
    return bind(Eigvals(), a)
