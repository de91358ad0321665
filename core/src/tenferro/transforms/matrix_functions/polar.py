"""The polar decomposition and the nearest isometry, right at equal singular values at every order.

Read next: ``low_rank.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.complex import adjoint, real
from tenferro.arrays.functions.contraction import linalg_trace, matmul
from tenferro.arrays.functions.linalg.decomposing import matrices
from tenferro.primitives import InvalidParameterError, ShapeMismatchError
from tenferro.primitives.linalg.polar_isometry import polar_isometry


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
    u = polar_isometry(x)
    p = matmul(adjoint(u), x) if side == "right" else matmul(x, adjoint(u))
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
    product = matmul(adjoint(left), right)
    u = polar_isometry(product)
    return u, real(linalg_trace(matmul(adjoint(u), product)))


def _hermitian(x: Array) -> Array:
    return (x + adjoint(x)) * 0.5
