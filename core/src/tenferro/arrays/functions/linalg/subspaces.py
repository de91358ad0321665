"""Orthonormal bases of the range and of the null space.

As in SciPy. How many vectors there are is decided by singular values, which must therefore be known
when the program is written. A basis is one of many: what depends on its space alone has a right
derivative.
"""

from __future__ import annotations

from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._known import found_of
from tenferro.arrays.functions.complex import conj
from tenferro.arrays.functions.contraction import matmul
from tenferro.arrays.functions.elementwise import stop_gradient
from tenferro.arrays.functions.linalg.decomposing import matrices, qr, svd
from tenferro.arrays.functions.linalg.least_squares import pinv, rounding
from tenferro.arrays.functions.structural import matrix_transpose
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.primitives import ShapeMismatchError


def orth(A: Any, rcond: float | None = None) -> Array:
    """Compute an orthonormal basis of the range of a matrix, in columns.

    Singular values up to rcond times the largest count as zero: max(m, n) times the spacing of
    numbers at 1 if it is None.

    >>> import tenferro as tn
    >>> tn.linalg.orth([[2.0, 0.0], [0.0, 0.0]]).shape
    (2, 1)
    """
    a = _matrix(A, "orth")
    u, s, _ = svd(a, full_matrices=False)
    found: Array = u[:, : _rank(a, s, rcond, "orth")]
    return found


def null_space(A: Any, rcond: float | None = None) -> Array:
    """Compute an orthonormal basis of the null space of a matrix, in columns.

    JVP          dN = -A⁺ dA N, orthonormal to every order, along directions that keep the rank

    >>> import tenferro as tn
    >>> tn.linalg.null_space([[2.0, 0.0], [0.0, 0.0]]).shape
    (2, 1)
    """
    a = _matrix(A, "null_space")
    _, s, vh = svd(stop_gradient(a))
    rank = _rank(a, s, rcond, "null_space")
    basis = matrix_transpose(conj(vh[rank:]))
    fraction = rounding(a) if rcond is None else rcond
    moved = basis - matmul(pinv(a, fraction), matmul(a, basis))
    found: Array = qr(moved, canonical=True).Q
    return found


def _rank(a: Array, s: Array, rcond: float | None, function: str) -> int:
    fraction = rounding(a) if rcond is None else rcond

    def find(values: Any) -> tuple[int]:
        return (int((values > fraction * values.max(initial=0.0)).sum()),)

    instead = "a basis of known size: `svd(a)` and a slice"
    (rank,) = found_of([stop_gradient(s)], find, function, instead)
    return int(rank)


def _matrix(x: Any, function: str) -> Array:
    found = matrices(as_array(x), function)
    if found.ndim != 2:
        error = ShapeMismatchError.of(
            function, "the operand is not a single matrix", got=found.aval, need="[rows, columns]",
            shapes=(found.shape,),
        )  # fmt: skip
        raise at_user_line(error)
    return found
