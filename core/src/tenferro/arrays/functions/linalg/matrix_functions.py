"""Functions of matrices: expm logm sqrtm, and what is made of them.

Their derivatives are Fréchet derivatives, right also where eigenvalues are equal and where there is
no basis of eigenvectors. NumPy has none of these names; they are in ``tenferro.linalg``, with those
of ``scipy.linalg``, which takes no Arrays.
"""

from __future__ import annotations

from typing import Any

from tenferro.arrays.functions.linalg.powers import matrix_power
from tenferro.arrays.handle.array import Array
from tenferro.arrays.promotion.broadcast import double_if_exact
from tenferro.arrays.registry import FUNCTIONS
from tenferro.primitives import real
from tenferro.primitives.linalg.matrix_function import matrix_function


def expm(A: Any) -> Array:
    """Compute the exponential of square matrices, Σ Aᵏ/k!.

    A: [*B,n,n]   →   [*B,n,n]

    >>> import tenferro as tn
    >>> tn.linalg.expm([[0.0]])
    array([[1.]])
    """
    return matrix_function("expm", double_if_exact(A))


def logm(A: Any) -> Array:
    """Compute the principal logarithm of square matrices.

    Its eigenvalues have imaginary parts in (-π, π).

    A: [*B,n,n]   →   [*B,n,n]

    Real matrices have real results, nan if an eigenvalue is below zero: give a complex matrix, as
    ``A + 0j``. A singular matrix has no logarithm: the result is nan.

    >>> import tenferro as tn
    >>> tn.linalg.logm([[1.0]])
    array([[0.]])
    """
    return matrix_function("logm", double_if_exact(A))


def sqrtm(A: Any) -> Array:
    """Compute the principal square root of square matrices.

    Its eigenvalues lie in the right half plane.

    A: [*B,n,n]   →   [*B,n,n]

    Real matrices have real results, nan if an eigenvalue is below zero: give a complex matrix, as
    ``A + 0j``. Where A is singular the root has no derivative, and may be nan.

    >>> import tenferro as tn
    >>> tn.linalg.sqrtm([[4.0]])
    array([[2.]])
    """
    return matrix_function("sqrtm", double_if_exact(A))


def fractional_matrix_power(A: Any, t: Any) -> Array:
    """Compute the power Aᵗ = exp(t log A) of square matrices, differentiable in t, too.

    A: [*B,n,n]   t: a number   →   [*B,n,n]

    An int is an exponent for ``matrix_power``, which A may be singular for; otherwise the result
    for a singular matrix is nan, as that of ``logm``.

    >>> import tenferro as tn
    >>> tn.linalg.fractional_matrix_power([[9.0]], 2)
    array([[81.]])
    """
    return matrix_power(A, t) if isinstance(t, int) else expm(logm(A) * t)


def cosm(A: Any) -> Array:
    """Compute the cosine of square matrices.

    >>> import tenferro as tn
    >>> tn.linalg.cosm([[0.0]])
    array([[1.]])
    """
    found = double_if_exact(A)
    exponential = expm(found * 1j)
    return (exponential + expm(found * -1j)) * 0.5 if found.dtype.is_complex else real(exponential)


def sinm(A: Any) -> Array:
    """Compute the sine of square matrices.

    >>> import tenferro as tn
    >>> tn.linalg.sinm([[0.0]])
    array([[0.]])
    """
    found = double_if_exact(A)
    exponential = expm(found * 1j)
    if found.dtype.is_complex:
        return (exponential - expm(found * -1j)) * -0.5j
    return real(exponential * -1j)


def tanm(A: Any) -> Array:
    """Compute the tangent of square matrices.

    >>> import tenferro as tn
    >>> tn.linalg.tanm([[0.0]])
    array([[0.]])
    """
    return FUNCTIONS["linalg.solve"](cosm(A), sinm(A))  # type: ignore[no-any-return]


def coshm(A: Any) -> Array:
    """Compute the hyperbolic cosine of square matrices.

    >>> import tenferro as tn
    >>> tn.linalg.coshm([[0.0]])
    array([[1.]])
    """
    found = double_if_exact(A)
    return (expm(found) + expm(-found)) * 0.5


def sinhm(A: Any) -> Array:
    """Compute the hyperbolic sine of square matrices.

    >>> import tenferro as tn
    >>> tn.linalg.sinhm([[0.0]])
    array([[0.]])
    """
    found = double_if_exact(A)
    return (expm(found) - expm(-found)) * 0.5


def tanhm(A: Any) -> Array:
    """Compute the hyperbolic tangent of square matrices.

    >>> import tenferro as tn
    >>> tn.linalg.tanhm([[0.0]])
    array([[0.]])
    """
    return FUNCTIONS["linalg.solve"](coshm(A), sinhm(A))  # type: ignore[no-any-return]
