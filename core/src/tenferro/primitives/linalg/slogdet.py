"""``slogdet``: sign and logarithm of the modulus of a determinant, from one LU factorization.

Read next: ``cholesky.py``.
"""

from __future__ import annotations

from tenferro.primitives._aval import Aval
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind_all, over_leading_axes
from tenferro.primitives.arithmetic import abs as absolute
from tenferro.primitives.arithmetic import sign as sign_of
from tenferro.primitives.comparison import eq, select
from tenferro.primitives.complex import complex, imag, real
from tenferro.primitives.constants import zeros_like
from tenferro.primitives.elementwise import log
from tenferro.primitives.linalg._matrices import diagonal, factorizable, square_size
from tenferro.primitives.linalg.determinant import parity, trace_of_product
from tenferro.primitives.linalg.linear_solve import inverse
from tenferro.primitives.linalg.lu import lu
from tenferro.primitives.reduction import reduce_prod, reduce_sum
from tenferro.primitives.structural import convert, stop_gradient

__all__ = ["Slogdet", "slogdet"]


class Slogdet(Mixed):
    """det a = σ exp(l);   dl = Re tr(a⁻¹ da),  dσ = i σ Im tr(a⁻¹ da)"""

    key = "std::slogdet"
    batch = over_leading_axes
    output_count = 2
    linear = ()

    def abstract_eval(self, a: Aval) -> tuple[Aval, Aval]:
        square_size(self, factorizable(self, a))
        sign = a.with_shape(a.shape[:-2])
        return sign, sign.with_dtype(a.dtype.real_dtype)

    def jvp_a(
        self, da: Handle, a: Handle, sign: Handle, logarithm: Handle
    ) -> tuple[Handle | None, Handle]:
        rate = trace_of_product(inverse(a), da)
        if not a.dtype.is_complex:
            return None, rate
        turn = imag(rate)
        return sign * complex(zeros_like(turn), turn), real(rate)

    def decompose(self, a: Handle) -> tuple[Handle, Handle]:
        """Multiply the pivots one by one; the factors are those that the derivative uses."""
        factors, pivots, _ = lu(stop_gradient(a))
        found, last = diagonal(factors), (a.ndim - 2,)
        sign = reduce_prod(sign_of(found), last) * convert(parity(pivots), a.dtype)
        none = zeros_like(sign)
        sign = select(eq(sign, none), none, sign)  # not -0
        return sign, reduce_sum(log(absolute(found)), last)


def slogdet(a: H) -> tuple[H, H]:
    """Take the sign and the logarithm of the modulus of determinants.

    a: [*s, n, n]   →   sign: [*s]   logabsdet: f[*s]

    Definition   det a = sign · exp(logabsdet)
    JVP          dlogabsdet = Re tr(a⁻¹ da),  dsign = i sign Im tr(a⁻¹ da), so 0 for real a
    Convention   a singular matrix has sign 0 and logabsdet -inf; its derivative does not exist:
                 SingularMatrixError where a backend can see it, inf or nan elsewhere
    Raises       ShapeMismatchError, DTypeMismatchError.
    Source       Giles (2008), Collected matrix derivative results, 2.2.4

    >>> from tenferro.primitives import slogdet, variable
    >>> [y.aval for y in slogdet(variable("a", (2, 3, 3), "c128"))]
    [c128[2], f64[2]]
    """
    sign, logarithm = bind_all(Slogdet(), a)
    return sign, logarithm
