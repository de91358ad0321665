"""``spectrum`` and ``turn``: what derivatives of eigenvectors are made of, right at every order.

Vectors of equal values are one frame, V, of a space, and what A does in it is a matrix W = VᴴAV,
which at a point is diagonal and need not stay so. Frames turn by X with X W - W X = P, where
P = Vᴴ dA V without what stays within a space. Seen this way nothing is singular, so projectors
have their derivatives of every order: the values alone would not know how a space is split.
Read next: ``eigh.py``.
"""

from __future__ import annotations

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import same_aval
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind, over_leading_axes
from tenferro.primitives.arithmetic import abs as absolute
from tenferro.primitives.comparison import eq
from tenferro.primitives.linalg._gauge import check_epsilon
from tenferro.primitives.linalg._matrices import (
    adjoint,
    diagonal,
    diagonal_matrix,
    differences,
    inverse_gaps,
    kept,
    matmul,
    of_lower,
    square_size,
)
from tenferro.primitives.linalg.linear_solve import factorized, linear_solve
from tenferro.primitives.reduction import reduce_max
from tenferro.primitives.structural import convert

__all__ = ["Spectrum", "Turn", "spectrum", "turn"]


class Spectrum(Mixed):
    """W = diag(w) of eigenvalues;   dW = V⁻¹ dA V where values are equal, 0 elsewhere"""

    key = "std::spectrum"
    batch = over_leading_axes
    linear = ()
    is_hermitian: bool
    epsilon: float | None = None

    def abstract_eval(self, a: Aval, w: Aval, v: Aval) -> Aval:
        square_size(self, same_aval(self, v, a.with_dtype(v.dtype)))
        same_aval(self, w, v.without((v.ndim - 1,)).with_dtype(w.dtype))
        return v

    def jvp_a(self, da: Handle, a: Handle, w: Handle, v: Handle, y: Handle) -> Handle:
        inverse = _inverse_gaps(w, self.epsilon)
        return kept(eq(inverse, inverse * 0), in_basis(v, da, self.is_hermitian))

    def jvp_w(self, dw: Handle, a: Handle, w: Handle, v: Handle, y: Handle) -> None:
        """Return nothing: the values vary with the matrix, whose rule covers that."""

    def jvp_v(self, dv: Handle, a: Handle, w: Handle, v: Handle, y: Handle) -> None:
        """Return nothing: in a space of equal values W commutes with every rotation."""

    def decompose(self, a: Handle, w: Handle, v: Handle) -> Handle:
        return convert(diagonal_matrix(w), v.dtype)


class Turn(Mixed):
    """X with X W - W X = P between spaces and 0 within;   W dX - dX W = X dW - dW X"""

    key = "std::turn"
    batch = over_leading_axes
    linear = ((1,),)
    epsilon: float | None = None

    def __post_init__(self) -> None:
        check_epsilon(self)

    def abstract_eval(self, w: Aval, p: Aval) -> Aval:
        square_size(self, w)
        return same_aval(self, p, w)

    def jvp_w(self, dw: Handle, w: Handle, p: Handle, x: Handle) -> Handle:
        return bind(self, w, matmul(dw, x) - matmul(x, dw))

    def transpose_p(self, ct: Handle, w: Handle, p: Handle) -> Handle:
        return bind(self, adjoint(w), ct)

    def decompose(self, w: Handle, p: Handle) -> Handle:
        if not p.size:
            return p
        return p * convert(_inverse_gaps(diagonal(w), self.epsilon), p.dtype)


def in_basis(v: H, da: H, is_hermitian: bool) -> H:
    """Vᴴ dA V of a Hermitian dA, which its lower triangle says, or V⁻¹ dA V."""
    if is_hermitian:
        return matmul(adjoint(v), matmul(of_lower(da), v))
    return linear_solve(v, *factorized(v), matmul(convert(da, v.dtype), v))


def _inverse_gaps(w: H, epsilon: float | None) -> H:
    top = reduce_max(absolute(w), (w.ndim - 1,))
    return inverse_gaps(differences(w), top, epsilon)


def spectrum(a: H, w: H, v: H, *, is_hermitian: bool = False, epsilon: float | None = None) -> H:
    """Write eigenvalues as the matrix that they are in the basis of their vectors.

    a: [*b,n,n]   w: [*b,n]   v: [*b,n,n]   →   W: [*b,n,n]

    Definition   W = V⁻¹ A V = diag(w)
    JVP          dW = V⁻¹ da V where values are equal: at a distance of at most epsilon·max|w|; 0
    elsewhere
    Convention   (w, v) is the eigendecomposition of a, through which alone they vary
    Raises       ShapeMismatchError, DTypeMismatchError.
    Source       Kato (1966), Perturbation theory for linear operators, II §2

    >>> from tenferro.primitives import variable
    >>> from tenferro.primitives.linalg.spectrum import spectrum
    >>> a, w = variable("a", (3, 3), "f64"), variable("w", (3,), "f64")
    >>> spectrum(a, w, a, is_hermitian=True).aval
    f64[3,3]
    """
    return bind(Spectrum(is_hermitian, epsilon), a, w, v)


def turn(a: H, w: H, v: H, p: H, *, is_hermitian: bool = False, epsilon: float | None = None) -> H:
    """Find how the frames of eigenspaces turn.

    a: [*b,n,n]   w: [*b,n]   v, p: [*b,n,n]   →   x: [*b,n,n]

    Definition   x_ij = p_ij/(w_j - w_i), and 0 where the values are equal: at a distance of at
                 most epsilon·max|w|
    JVP          W dx - dx W = x dW - dW x - dp between spaces, with dW = V⁻¹ da V within each
    Convention   (w, v) is the eigendecomposition of a, through which alone they vary
    Raises       ShapeMismatchError, DTypeMismatchError.
    Source       Kato (1966), Perturbation theory for linear operators, II §2: the sum over a space
                 of equal values is analytic where its single terms are not

    >>> from tenferro.primitives import variable
    >>> from tenferro.primitives.linalg.spectrum import turn
    >>> a, w = variable("a", (3, 3), "f64"), variable("w", (3,), "f64")
    >>> turn(a, w, a, a, is_hermitian=True).aval
    f64[3,3]
    """
    return bind(Turn(epsilon), spectrum(a, w, v, is_hermitian=is_hermitian, epsilon=epsilon), p)
