"""The Pfaffian of skew-symmetric matrices. Read next: ``determinants.py``."""

from __future__ import annotations

from typing import Any

from tenferro.arrays.functions.linalg.solving import square
from tenferro.arrays.handle.array import Array
from tenferro.primitives.linalg import pfaffian as p


def pfaffian(a: Any) -> Array:
    """Compute the Pfaffian of skew-symmetric matrices; its square is the determinant.

    a: [*b, n, n]   →   y: [*b]

    The skew-symmetric part (a - aᵀ)/2 is read. Complex matrices are transposed, not conjugated.
    No rows have the Pfaffian 1, and an odd number of them 0. First and second derivatives are right
    at matrices of any rank. Where a is singular, third ones raise SingularMatrixError on backends
    that see it, and are inf or nan elsewhere.

    Raises   ShapeMismatchError, DTypeMismatchError
    Source   see ``tenferro.primitives.pfaffian``

    >>> import tenferro as tn
    >>> tn.linalg.pfaffian([[0.0, 3.0], [-3.0, 0.0]])
    np.float64(3.0)
    """
    return p.pfaffian(square(a, "pfaffian"))
