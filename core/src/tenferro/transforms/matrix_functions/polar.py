"""The polar decomposition and the nearest isometry, right at equal singular values at every order.

For A = U P with P positive and G = Uᴴ dA, the isometry turns by the Ω = -Ωᴴ of

    P Ω + Ω P = G - Gᴴ,   dU = U Ω + (dA - U G) P⁻¹.

The equation divides by sums of singular values alone. Its solution has derivatives of the same
form, so that no order divides by a difference of them. A wide matrix is taken through its adjoint.
Read next: ``low_rank.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.complex import conj, real
from tenferro.arrays.functions.contraction import linalg_trace, matmul
from tenferro.arrays.functions.elementwise import stop_gradient
from tenferro.arrays.functions.linalg.decomposing import matrices
from tenferro.arrays.functions.linalg.least_squares import pinv
from tenferro.arrays.functions.structural import matrix_transpose
from tenferro.arrays.promotion.broadcast import cast
from tenferro.primitives import InvalidParameterError, ShapeMismatchError
from tenferro.primitives.linalg import svd as svd_primitives
from tenferro.primitives.linalg._matrices import inverse_gaps, sums
from tenferro.primitives.reduction import reduce_max
from tenferro.transforms.custom_rules.jvp import custom_jvp
from tenferro.transforms.custom_rules.linear import custom_linear


class PolarResult(NamedTuple):
    """Result of ``polar``: a = u p, or p u."""

    u: Array
    p: Array


def polar(a: Any, side: str = "right") -> PolarResult:
    """Compute the polar decomposition: an isometry u and a positive p with a = u p (right) or p u.

    a: [*b, m, n]   →   u: [*b, m, n]   p: [*b, n, n], or [*b, m, m] for the left side

    Derivatives of every order divide by sums of singular values, not by their differences.
    Where the rank is below min(m, n), u has no derivative. The one given there is right along
    directions that keep the null spaces of a and of its adjoint.

    Raises   ShapeMismatchError, DTypeMismatchError; InvalidParameterError: if there is no such side

    >>> import tenferro as tn
    >>> tn.linalg.polar([[0.0, -2.0], [1.0, 0.0]]).p
    array([[1., 0.],
           [0., 2.]])
    """
    x = matrices(a, "polar")
    if side not in ("right", "left"):
        error = InvalidParameterError.of(
            "polar", "no such side", got=repr(side), need='"right" or "left"', parameter="side",
            value=side,
        )  # fmt: skip
        raise at_user_line(error)
    u = _isometry(x)
    p = matmul(_adjoint(u), x) if side == "right" else matmul(x, _adjoint(u))
    return PolarResult(u, _hermitian(p))


def orthogonal_procrustes(A: Any, B: Any) -> tuple[Array, Array]:
    """Find the isometry R for which A R is nearest to B, and the sum of the singular values of Aᴴ
    B.

    >>> import tenferro as tn
    >>> a, b = [[0.0, 1.0], [2.0, 0.0]], [[1.0, 0.0], [0.0, 2.0]]
    >>> R, scale = tn.linalg.orthogonal_procrustes(a, b)
    >>> R
    array([[0., 1.],
           [1., 0.]])
    """
    left, right = (matrices(x, "orthogonal_procrustes") for x in (A, B))
    for x in (left, right):
        if x.ndim != 2:
            raise at_user_line(ShapeMismatchError.of(
                "orthogonal_procrustes", "the operand is not a single matrix", got=x.aval,
                need="[rows, columns]", shapes=(x.shape,),
            ))  # fmt: skip
    product = matmul(_adjoint(left), right)
    u = _isometry(product)
    return u, real(linalg_trace(matmul(_adjoint(u), product)))


def _isometry(a: Array) -> Array:
    """Return U Vᴴ of the singular value decomposition of matrices."""
    if a.shape[-2] < a.shape[-1]:
        return _adjoint(_of_tall(_adjoint(a)))
    found: Array = _of_tall(a)
    return found


@custom_jvp
def _of_tall(a: Array) -> Array:
    u, _, vh = _fixed_svd(a)
    return matmul(u, vh)


@_of_tall.defjvp
def _of_tall_rule(primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    u = _of_tall(a)
    if not a.size:
        return u, da
    _, s, vh = _fixed_svd(a)
    p = _hermitian(matmul(_adjoint(u), a))
    g = matmul(_adjoint(u), da)
    du = matmul(u, _solve((p, s, vh), g - _adjoint(g)))
    if a.shape[-2] > a.shape[-1]:
        du = du + matmul(da - matmul(u, g), pinv(p))
    return u, du


def _fixed_svd(a: Array) -> tuple[Array, Array, Array]:
    u, s, vh = svd_primitives.svd(stop_gradient(a), projectors_only=True)
    return stop_gradient(u), stop_gradient(s), stop_gradient(vh)


@custom_jvp
def _solution(p: Array, s: Array, vh: Array, q: Array) -> Array:
    """Solve P X + X P = Q in the basis of the vectors of P = V diag(s) Vᴴ."""
    v = _adjoint(vh)
    inverse = inverse_gaps(sums(s), reduce_max(s, (s.ndim - 1,)))
    inside = matmul(matmul(vh, q), v) * cast(inverse, q.dtype)
    return matmul(matmul(v, inside), vh)


@_solution.defjvp
def _solution_rule(primals: Any, tangents: Any) -> Any:
    """P dX + dX P = dQ - dP X - X dP; the basis stays fixed."""
    (p, s, vh, q), (dp, _, _, dq) = primals, tangents
    x = _solution(p, s, vh, q)
    return x, _solve((p, s, vh), dq - matmul(dp, x) - matmul(x, dp))


def _apply(equation: Any, q: Array) -> Array:
    found: Array = _solution(*equation, q)
    return found


#: The map Q → X is its own adjoint, since P is Hermitian.
_solve = custom_linear(_apply, _apply)


def _hermitian(x: Array) -> Array:
    return (x + _adjoint(x)) * 0.5


def _adjoint(x: Array) -> Array:
    return conj(matrix_transpose(x))
