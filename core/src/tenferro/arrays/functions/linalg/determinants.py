"""Determinants: ``det``, and ``slogdet`` where it would overflow. Read next: ``norms.py``."""

from __future__ import annotations

from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.functions.linalg.solving import square
from tenferro.arrays.handle.array import Array
from tenferro.arrays.registry import covers
from tenferro.primitives.linalg import determinant
from tenferro.primitives.linalg import slogdet as slogdet_primitive


class SlogdetResult(NamedTuple):
    """Result of ``slogdet``: det x = sign exp(logabsdet)."""

    sign: Array
    logabsdet: Array


@covers("linalg.det")
def det(a: Any) -> Array:
    """Compute the determinant of square matrices. Its derivatives are right at singular ones too.

    a: [*s, n, n]   →   y: [*s]

    >>> import tenferro as tn
    >>> tn.linalg.det([[1.0, 2.0], [3.0, 4.0]]).round(12)
    np.float64(-2.0)
    """
    return determinant.det(square(a, "det"))


@covers("linalg.slogdet")
def slogdet(a: Any) -> SlogdetResult:
    """Compute the sign of the determinant and the logarithm of its absolute value.

    a: [*s, n, n]   →   sign: [*s]   logabsdet: f[*s]

    Convention   the sign of a complex determinant has modulus 1 and a derivative; a singular
                 matrix gives 0 and -inf, and has no derivative: on backends that see it,
                 SingularMatrixError, inf or nan elsewhere

    >>> import tenferro as tn
    >>> tn.linalg.slogdet([[1.0, 2.0], [2.0, 4.0]])
    SlogdetResult(sign=np.float64(0.0), logabsdet=np.float64(-inf))
    """
    return SlogdetResult(*slogdet_primitive.slogdet(square(a, "slogdet")))
