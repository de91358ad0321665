"""Eigenvalues and eigenvectors of Hermitian matrices, and the eigenvalues alone.

With P = Vᴴ dA V the values change by the diagonal of P and the vectors turn by P_ij/(w_j - w_i).
Vectors of (nearly) equal values turn together, see ``spectrum.py``: derivatives of every order are
right for what depends on such a space through its projector and the sum of its values. Nonlinear
symmetric functions of equal values have right first derivatives; their second ones, and V g(w) Vᴴ,
are right only in directions that do not split the space. ``vectors_used.py`` marks where that
matters. Read next: ``eig.py``.
"""

from __future__ import annotations

from tenferro.primitives._aval import Aval
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind, bind_all, over_leading_axes
from tenferro.primitives.complex import complex, conj, real
from tenferro.primitives.constants import zeros_like
from tenferro.primitives.linalg._gauge import angle_rates, check_gauge
from tenferro.primitives.linalg._matrices import (
    adjoint,
    columns_by,
    default_epsilon,
    factorizable,
    matmul,
    of_lower,
    square_size,
)
from tenferro.primitives.linalg.spectrum import turn
from tenferro.primitives.linalg.vectors_used import vectors_vary
from tenferro.primitives.reduction import reduce_sum

__all__ = ["Eigh", "Eigvalsh", "eigh", "eigvalsh"]


class Eigh(Mixed):
    """A = V diag(w) Vᴴ with w increasing and V unitary, of the lower triangle of A"""

    key = "std::eigh"
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
        return Aval(a.shape[:-1], a.dtype.real_dtype), a

    def jvp_a(self, da: Handle, a: Handle, w: Handle, v: Handle) -> tuple[Handle, Handle]:
        if not w.size:
            return zeros_like(w), zeros_like(v)
        moved = matmul(of_lower(da), v)
        p = matmul(adjoint(v), moved)
        x = turn(a, w, v, p, is_hermitian=True, epsilon=self.epsilon)
        dw = column_products(v, moved)
        if not self.projectors_only:
            epsilon = default_epsilon(w) if self.epsilon is None else self.epsilon
            x, dw = vectors_vary([x], dw, p, w, epsilon=epsilon)
        dv = matmul(v, x)
        if self.gauge == "canonical" and a.dtype.is_complex:
            theta = angle_rates(dv, v, v.ndim - 2)
            dv = dv + columns_by(v, complex(zeros_like(theta), theta))
        return dw, dv


class Eigvalsh(Mixed):
    """The eigenvalues of a Hermitian matrix, increasing;   dw = diag(Vᴴ dA V)"""

    key = "std::eigvalsh"
    batch = over_leading_axes
    linear = ()

    def abstract_eval(self, a: Aval) -> Aval:
        square_size(self, factorizable(self, a))
        return Aval(a.shape[:-1], a.dtype.real_dtype)

    def jvp_a(self, da: Handle, a: Handle, w: Handle) -> Handle:
        if not w.size:
            return zeros_like(w)
        # The tangent that ``eigh`` gives, with its mark: second derivatives pass through vectors.
        factorization = Eigh()
        dw, _ = factorization.jvp_a(da, a, *bind_all(factorization, a))
        return dw


def column_products(x: H, y: H) -> H:
    """Re xⱼᴴ yⱼ of each pair of columns: the real diagonal of xᴴ y, without the rest of it."""
    return real(reduce_sum(conj(x) * y, (x.ndim - 2,)))


def eigh(
    a: H,
    *,
    gauge: str = "raw",
    epsilon: float | None = None,
    projectors_only: bool = False,
) -> tuple[H, H]:
    """Find the eigenvalues and eigenvectors of Hermitian matrices.

    a: [*b,n,n]   →   w: f[*b,n]   v: [*b,n,n]

    Definition   A = V diag(w) Vᴴ, w increasing, VᴴV = 1
    JVP          P = Vᴴ dA V,  dw = diag P,  dV = V (F∘P) with F_ij = 1/(w_j - w_i)
    Convention   value and tangent read the lower triangle: dA stands for tril(dA) + tril(dA, -1)ᴴ
                 with a real diagonal, so a gradient is lower triangular.
                 gauge: "raw", phases as they come; "canonical", the entry of largest modulus of
                 each column is real and positive, and stays so under derivatives.
                 epsilon: pairs with |w_j - w_i| at most epsilon·max|w| get F_ij = 0, which is
                 right for projectors on whole spaces of equal values, and not for V g(w) Vᴴ.
                 projectors_only: states that vectors of equal values are used for the projector on
                 their space alone; without it a backend that can warns of other uses
    Raises       ShapeMismatchError, DTypeMismatchError, InvalidParameterError (gauge, epsilon).
    Source       Giles (2008), An extended collection of matrix derivative results, 3.1

    >>> from tenferro.primitives import variable
    >>> from tenferro.primitives.linalg.eigh import eigh
    >>> [y.aval for y in eigh(variable("a", (2, 3, 3), "c128"))]
    [f64[2,3], c128[2,3,3]]
    """
    w, v = bind_all(Eigh(gauge, epsilon, projectors_only), a)
    return w, v


def eigvalsh(a: H) -> H:
    """Find the eigenvalues of Hermitian matrices; vectors are computed for derivatives alone.

    a: [*b,n,n]   →   w: f[*b,n]

    Definition   w increasing with A v = w v for some v
    JVP          dw = diag(Vᴴ dA V)
    Convention   value and tangent read the lower triangle: dA stands for tril(dA) + tril(dA, -1)ᴴ
                 with a real diagonal, so a gradient is lower triangular
    Raises       ShapeMismatchError, DTypeMismatchError.
    Source       Giles (2008), An extended collection of matrix derivative results, 3.1

    >>> from tenferro.primitives import variable
    >>> from tenferro.primitives.linalg.eigh import eigvalsh
    >>> eigvalsh(variable("a", (3, 3), "c64")).aval
    f32[3]
    """
    return bind(Eigvalsh(), a)
