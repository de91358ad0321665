"""Cholesky factors of banded matrices: ``cholesky_banded`` and ``cho_solve_banded``, as in SciPy.

A loop over columns holds what the last u ones still take from the next: n columns with u diagonals
below the main one need O(n u²) operations, in derivatives of every order too. Read next:
``tenferro/arrays/functions/linalg/structured.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro.arrays import Array, is_traced
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.arithmetic import sqrt
from tenferro.arrays.functions.complex import conj, real
from tenferro.arrays.functions.contraction import outer
from tenferro.arrays.functions.creation import zeros
from tenferro.arrays.functions.linalg.decomposing import unfit
from tenferro.arrays.functions.linalg.structured import solve_banded
from tenferro.arrays.functions.structural import concatenate, matrix_transpose
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import cast, floating
from tenferro.primitives import InvalidParameterError
from tenferro.primitives.linalg.banded_solve import adjoint_band
from tenferro.transforms.control.scan import scan


def cholesky_banded(
    ab: Any, overwrite_ab: bool = False, lower: bool = False, check_finite: bool = True
) -> Array:
    """Compute the Cholesky factor of a banded positive definite matrix, in the form of the band.

    ab: [u + 1, n]   →   c: [u + 1, n]

    Definition   A = Lᴴ L with an upper triangular L, or L Lᴴ with a lower one (``lower``). The
                 upper form has ab[u + i - j, j] = A[i, j] for i <= j, the lower one
                 ab[i - j, j] = A[i, j] for i >= j
    Convention   the real part of the main diagonal is read; entries outside of the matrix are not
                 read, and are 0 in the result. ``overwrite_ab`` and ``check_finite`` change nothing
    Raises       ShapeMismatchError; InvalidParameterError: if the matrix is not positive definite.
                 Inside of transforms the factor is nan from the first column on where that shows.
    Source       Golub & Van Loan (2013), Matrix Computations, 4.3.5

    >>> import tenferro as tn
    >>> tn.linalg.cholesky_banded([[0.0, 2.0], [4.0, 5.0]])
    array([[0., 1.],
           [2., 2.]])
    """
    band = floating(as_array(ab))
    if band.ndim != 2 or not band.shape[0]:
        raise unfit("cholesky_banded", "ab [u + 1, n]", band)
    u, n = band.shape[0] - 1, band.shape[1]
    if not n:
        return band
    half = adjoint_band(adjoint_band(band, 0) if lower else band, u)  # 0 outside of the matrix
    factor = matrix_transpose(_columns_of_factor(matrix_transpose(half), u))
    _check_positive(factor)
    return factor if lower else adjoint_band(factor, 0)


def cho_solve_banded(
    cb_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True
) -> Array:
    """Solve A x = b, given the Cholesky factor of a banded A and whether it is the lower one.

    cb: [u + 1, n]   b: [n] or [n, k]   →   x: as b

    Raises   ShapeMismatchError, InvalidParameterError; for a zero on the diagonal
             SingularMatrixError, on backends that see it.

    >>> import tenferro as tn
    >>> c = tn.linalg.cholesky_banded([[0.0, 2.0], [4.0, 5.0]])
    >>> tn.linalg.cho_solve_banded((c, False), [8.0, 12.0])
    array([1., 2.])
    """
    if not isinstance(cb_and_lower, tuple | list) or len(cb_and_lower) != 2:
        raise at_user_line(InvalidParameterError.of(
            "cho_solve_banded", "not a factor and its form", got=type(cb_and_lower).__name__,
            need="(cholesky_banded(ab, lower=lower), lower)", parameter="cb_and_lower",
            value=cb_and_lower,
        ))  # fmt: skip
    factor, lower = cb_and_lower
    band = as_array(factor)
    if band.ndim != 2 or not band.shape[0]:
        raise unfit("cho_solve_banded", "cb [u + 1, n], b [n] or [n, k]", band, as_array(b))
    u = band.shape[0] - 1
    below, above = (band, adjoint_band(band, 0)) if lower else (adjoint_band(band, u), band)
    return solve_banded((0, u), above, solve_banded((u, 0), below, b))


def _columns_of_factor(columns: Array, u: int) -> Array:
    """Return the columns of L, each from the diagonal on, for those of the lower half of A.

    The carry holds what columns before take from the next u ones: the product of their parts there.
    """
    lead = zeros((u, u), dtype=columns.dtype)

    def step(taken: Array, column: Array) -> tuple[Array, Array]:
        rest = column - concatenate([taken[:, 0], zeros((1,), dtype=column.dtype)]) if u else column
        pivot = cast(sqrt(real(rest[:1])), column.dtype)
        below = rest[1:] / pivot
        kept = zeros((u, u), dtype=column.dtype)
        if u > 1:
            kept = kept.at[:-1, :-1].set(taken[1:, 1:])
        return kept + outer(below, conj(below)), concatenate([pivot, below])

    found: Array = scan(step, lead, columns)[1]
    return found


def _check_positive(factor: Array) -> None:
    """Refuse a known factor whose diagonal is not positive."""
    if is_traced(factor.key):
        return
    main = [x.real for x in factor[0].tolist()]
    place = next((i for i, x in enumerate(main) if not x > 0), None)
    if place is not None:
        raise at_user_line(InvalidParameterError.of(
            "cholesky_banded", "the matrix is not positive definite",
            got=f"a pivot that is not positive in column {place}", need="positive eigenvalues",
            parameter="ab", value=place,
        ))  # fmt: skip
