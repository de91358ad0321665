"""Bases of spaces and the unitary factor of a matrix, by SciPy's names.

They are made of a singular value decomposition and depend on its vectors only through the spaces
that these span, so their derivatives exist where singular values coincide. A rank is a number of
columns: outside of ``jit`` it is read off the values.
"""

from __future__ import annotations

from typing import Any

from tenferro.array._array import Array
from tenferro.array._convert import as_array
from tenferro.array._errors import at_user_line
from tenferro.array.functions.complex import conj
from tenferro.array.functions.contraction import matmul
from tenferro.array.functions.elementwise import stop_gradient
from tenferro.array.functions.linalg.decomposing import matrices, svd
from tenferro.array.functions.linalg.least_squares import matrix_rank, pinv
from tenferro.array.functions.reduction import sum
from tenferro.array.functions.structural import matrix_transpose
from tenferro.primitives import InvalidParameterError

_EPS = {32: 2.0**-23, 64: 2.0**-52}


def polar(a: Any, side: str = "right") -> tuple[Array, Array]:
    """The unitary factor u and the positive factor p of a = u p, or of a = p u on the left.

    a: [*B,m,n]   →   u: [*B,m,n]   p: [*B,n,n], or [*B,m,m] on the left

    The derivative exists where the rank is full, at equal singular values too; the second one only
    where they differ, since it sees how they split.

    >>> u, p = polar([[0.0, -2.0], [3.0, 0.0]])
    >>> u
    Array([[ 0., -1.],
           [ 1.,  0.]])
    """
    if side not in ("right", "left"):
        error = InvalidParameterError.of(
            "polar", "unknown side", got=side, need="right or left", parameter="side", value=side
        )
        raise at_user_line(error)
    found = matrices(a, "polar")
    u = _unitary(found)
    p = matmul(_adjoint(u), found) if side == "right" else matmul(found, _adjoint(u))
    return u, (p + _adjoint(p)) / 2


def orth(A: Any, rcond: float | None = None) -> Array:
    """An orthonormal basis of the space that the columns of a matrix span, as columns.

    Singular values up to rcond times the largest are taken for 0; by default that is rounding.
    """
    found = matrices(A, "orth")
    return svd(found, full_matrices=False)[0][:, : _rank(found, rcond)]  # type: ignore[no-any-return]


def null_space(A: Any, rcond: float | None = None) -> Array:
    """An orthonormal basis of the vectors that a matrix takes to 0, as columns.

    Singular values up to rcond times the largest are taken for 0; by default that is rounding.
    The derivative is that of a basis which turns no more than the space: its columns stay as near
    to where they are as they can.
    """
    found = matrices(A, "null_space")
    here = _adjoint(svd(stop_gradient(found))[2][_rank(found, rcond) :])
    if not here.shape[-1]:
        return here
    left = matmul(pinv(found, rtol=_tolerance(found, rcond)), matmul(found, here))
    return _unitary(here - left)


def orthogonal_procrustes(A: Any, B: Any) -> tuple[Array, Array]:
    """The unitary R for which A R is nearest to B, and the sum of the singular values of Aᴴ B."""
    u, s, vh = svd(matmul(_adjoint(as_array(A)), B), full_matrices=False)
    return matmul(u, vh), sum(s, -1)


def _unitary(x: Array) -> Array:
    """U Vᴴ of x = U diag(s) Vᴴ."""
    u, _, vh = svd(x, full_matrices=False)
    return matmul(u, vh)


def _rank(x: Array, rcond: float | None) -> int:
    return int(matrix_rank(stop_gradient(x), rtol=_tolerance(x, rcond)))


def _tolerance(x: Array, rcond: float | None) -> float:
    return max(x.shape[-2:]) * _EPS[x.dtype.real_dtype.bits] if rcond is None else rcond


def _adjoint(x: Array) -> Array:
    turned = matrix_transpose(x)
    return conj(turned) if x.dtype.is_complex else turned
