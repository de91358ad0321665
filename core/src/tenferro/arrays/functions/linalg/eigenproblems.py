"""Eigenvalues and eigenvectors: eigh eigvalsh eig eigvals.

Vectors are defined up to phases, and up to rotations where values are equal: a derivative has a
meaning only for what does not depend on these, or in the canonical gauge. ``check_grads`` warns.
"""

from __future__ import annotations

from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.linalg.definite_pairs import of_unit_length, one_matrix
from tenferro.arrays.functions.linalg.splitting_values import eigh_of
from tenferro.arrays.functions.structural import matrix_transpose
from tenferro.arrays.handle.array import Array
from tenferro.arrays.promotion.broadcast import double_if_exact
from tenferro.arrays.registry import covers
from tenferro.primitives import InvalidParameterError, conj
from tenferro.primitives.linalg import eig as general
from tenferro.primitives.linalg import eigh as of_hermitian


class EighResult(NamedTuple):
    """Result of ``eigh``."""

    eigenvalues: Array
    eigenvectors: Array


class EigResult(NamedTuple):
    """Result of ``eig``."""

    eigenvalues: Array
    eigenvectors: Array


def _lower(a: Any, triangle: Any) -> Array:
    """Return a matrix whose lower triangle is the wanted triangle of the operand, or its
    adjoint.
    """
    found = double_if_exact(a)
    if not isinstance(triangle, str) or triangle not in ("L", "l", "U", "u"):
        is_name = isinstance(triangle, str)
        error = InvalidParameterError.of(
            "eigh",
            "no such triangle",
            got=f"UPLO={triangle!r}" if is_name else f"UPLO: {type(triangle).__name__}",
            need="'L' or 'U'",
            hint="" if is_name else "the matrix b of a x = w b x has a name: `eigh(a, b=b)`",
            parameter="UPLO",
            value=triangle,
        )
        raise at_user_line(error)
    return found if triangle in "Ll" or found.ndim < 2 else conj(matrix_transpose(found))


@covers("linalg.eigh")
def eigh(
    a: Any,
    UPLO: str = "L",
    *,
    b: Any = None,
    gauge: str = "raw",
    epsilon: float | None = None,
    projectors_only: bool = False,
    split: bool | float = False,
) -> EighResult:
    """Compute eigenvalues, increasing, and eigenvectors of Hermitian matrices.

    One triangle is read.

    a: [*B,n,n]   →   w: [*B,n]   V: [*B,n,n]

    b: a positive definite matrix, for the problem a x = w b x as in ``scipy.linalg.eigh(a, b)``;
    then Vᴴ b V = 1, and the gauge is "raw"
    gauge: "raw", or "canonical", where the entry of largest modulus of each vector is real and
    positive, with the derivative that this choice has
    epsilon: values closer than epsilon·max|w| count as equal in derivatives, 1e-12 if None (1e-5 in
    single precision); losses may then depend on such vectors through the projector on their common
    space alone. ``tn.linalg.spectral_function`` is V g(w) Vᴴ without that restriction
    projectors_only: states that the loss keeps to that; without it a derivative on NumPy warns at
    run time (GaugeWarning) where values are equal and the loss needs more
    split: True, or a share of max|w|, separates equal values by a constant: w′ₖ is the larger of
    wₖ and w′ₖ₋₁ + split·max|w| (√eps if True). First derivatives are right up to about that share

    Derivatives read the same triangle as values, so a gradient is triangular: an entry outside the
    diagonal has twice its share of the gradient on the manifold of Hermitian matrices. With g the
    gradient, that one is (g + gᴴ)/2, which is also what ``eigh((a + a.conj().T) / 2)`` has.

    Raises       ShapeMismatchError, DTypeMismatchError, InvalidParameterError (UPLO, gauge,
                 epsilon, split); of b, NotPositiveDefiniteError on backends that see it, nan
                 elsewhere.
    Source       of b: Golub & Van Loan, Matrix Computations, algorithm 8.7.1

    >>> import tenferro as tn
    >>> tn.linalg.eigh([[2.0]]).eigenvalues
    array([2.])
    >>> tn.linalg.eigh([[2.0]], b=[[4.0]])
    EighResult(eigenvalues=array([0.5]), eigenvectors=array([[0.5]]))
    """
    if b is None:
        return EighResult(*eigh_of(_lower(a, UPLO), gauge, epsilon, projectors_only, split))
    _refuse_gauge(gauge)
    c, factor = one_matrix(_lower(a, UPLO), _lower(b, UPLO), "eigh")
    w, v = eigh_of(c, gauge, epsilon, projectors_only, split)
    return EighResult(w, of_unit_length(factor, v))


def _refuse_gauge(gauge: str) -> None:
    """Refuse a choice of phases for vectors of a pair: it is made for those of one matrix."""
    if gauge != "raw":
        error = InvalidParameterError.of(
            "eigh", "no such gauge of a pair of matrices", got=f"gauge={gauge!r} and b",
            need="gauge='raw', and a loss that does not depend on phases", parameter="gauge",
            value=gauge,
        )  # fmt: skip
        raise at_user_line(error)


@covers("linalg.eigvalsh")
def eigvalsh(a: Any, UPLO: str = "L", *, b: Any = None) -> Array:
    """Compute the eigenvalues of Hermitian matrices, increasing.

    Vectors are computed only for derivatives.

    a: [*B,n,n]   →   w: [*B,n]

    b: a positive definite matrix, for the problem a x = w b x as in ``scipy.linalg.eigvalsh(a, b)``

    >>> import tenferro as tn
    >>> tn.linalg.eigvalsh([[2.0]])
    array([2.])
    """
    if b is None:
        return of_hermitian.eigvalsh(_lower(a, UPLO))
    return of_hermitian.eigvalsh(one_matrix(_lower(a, UPLO), _lower(b, UPLO), "eigvalsh")[0])


@covers("linalg.eig")
def eig(
    a: Any, *, gauge: str = "raw", epsilon: float | None = None, projectors_only: bool = False
) -> EigResult:
    """Compute eigenvalues and unit eigenvectors of square matrices.

    a: [*B,n,n]   →   w: [*B,n]   V: [*B,n,n]

    The results are always complex, in eager code and under ``jit`` alike. NumPy's are real where
    a and all of its eigenvalues are real, so that their dtype depends on values; take ``np.real``
    where you know that they are, or ``eigh`` of a symmetric matrix.

    gauge, epsilon, projectors_only: see ``eigh``

    Raises       ShapeMismatchError, DTypeMismatchError, InvalidParameterError (gauge, epsilon).

    >>> import tenferro as tn
    >>> tn.linalg.eig([[2.0]]).eigenvalues
    array([2.+0.j])
    """
    a = double_if_exact(a)
    return EigResult(*general.eig(a, gauge=gauge, epsilon=epsilon, projectors_only=projectors_only))


@covers("linalg.eigvals")
def eigvals(a: Any) -> Array:
    """Compute the eigenvalues of square matrices; they are always complex, as those of ``eig``.

    a: [*B,n,n]   →   w: [*B,n]

    >>> import tenferro as tn
    >>> tn.linalg.eigvals([[2.0]])
    array([2.+0.j])
    """
    return general.eigvals(double_if_exact(a))
