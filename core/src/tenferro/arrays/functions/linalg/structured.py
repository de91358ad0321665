"""Equations whose matrix has a structure: Sylvester's, and those of a banded matrix.

Sylvester's is solved by Bartels and Stewart's method. A banded system takes O(n w²) operations and
O(n w) numbers for a band of w diagonals, with all derivatives. Read next: ``solving.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.complex import real
from tenferro.arrays.functions.linalg.decomposing import matrices, unfit
from tenferro.arrays.functions.linalg.solving import square
from tenferro.arrays.functions.structural import concatenate
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import cast
from tenferro.primitives import (
    InvalidParameterError,
    float64,
    promote_dtypes,
)
from tenferro.primitives.linalg.banded_solve import adjoint_band, banded_solve
from tenferro.primitives.linalg.sylvester_solve import solve_sylvester_equation


def solve_sylvester(a: Any, b: Any, q: Any) -> Array:
    """Solve a x + x b = q.

    a: [*s, m, m]   b: [*s, n, n]   q: [*s, m, n]   →   x: [*s, m, n]

    Both matrices are brought to complex Schur forms, once for the value and derivatives of every
    order, in m³ + n³ operations. Derivatives exist for equal eigenvalues of a, or of b, too.

    Raises   ShapeMismatchError; for eigenvalues of a and -b in common SingularMatrixError, on
             backends that see it.

    >>> import tenferro as tn
    >>> tn.linalg.solve_sylvester([[2.0]], [[3.0]], [[10.0]])
    array([[2.]])
    """
    left, right = square(a, "solve_sylvester"), square(b, "solve_sylvester")
    known = matrices(q, "solve_sylvester")
    lead, m, n = left.shape[:-2], left.shape[-1], right.shape[-1]
    if right.shape[:-2] != lead or known.shape != (*lead, m, n):
        need = "a [*s, m, m], b [*s, n, n], q [*s, m, n]"
        raise unfit("solve_sylvester", need, left, right, known)
    dtype = promote_dtypes(left.dtype, promote_dtypes(right.dtype, known.dtype))
    return solve_sylvester_equation(cast(left, dtype), cast(right, dtype), cast(known, dtype))


def solve_banded(
    l_and_u: Sequence[int],
    ab: Any,
    b: Any,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """Solve A x = b for a banded A, given by its diagonals: ab[u + i - j, j] = A[i, j].

    ab: [l + u + 1, n]   b: [n] or [n, k]   →   x: as b

    Raises   ShapeMismatchError; InvalidParameterError: if l or u is negative.

    >>> import tenferro as tn
    >>> tn.linalg.solve_banded((0, 1), [[0.0, 1.0], [2.0, 4.0]], [3.0, 4.0])
    array([1., 1.])
    """
    lower, upper = (index(count) for count in l_and_u)
    if min(lower, upper) < 0:
        error = InvalidParameterError.of(
            "solve_banded", "the matrix has a diagonal", got=l_and_u, need="l >= 0, u >= 0",
            parameter="l_and_u", value=l_and_u,
        )  # fmt: skip
        raise at_user_line(error)
    band, right = as_array(ab), as_array(b)
    n = band.shape[-1] if band.ndim == 2 else -1
    if band.shape != (lower + upper + 1, n) or right.ndim not in (1, 2) or right.shape[0] != n:
        raise unfit("solve_banded", "ab [l + u + 1, n], b [n] or [n, k]", band, right)
    dtype = promote_dtypes(band.dtype, right.dtype)
    dtype = dtype if dtype.is_inexact else float64
    known = cast(right[:, None] if right.ndim == 1 else right, dtype)
    x = banded_solve(cast(band, dtype), known, lower, upper)
    return x[:, 0] if right.ndim == 1 else x


def solveh_banded(
    ab: Any,
    b: Any,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    lower: bool = False,
    check_finite: bool = True,
) -> Array:
    """Solve A x = b for a banded Hermitian A, given by half of its diagonals.

    ab: [u + 1, n]   b: [n] or [n, k]   →   x: as b

    The upper form has ab[u + i - j, j] = A[i, j] for i <= j, the lower one ab[i - j, j] = A[i, j]
    for i >= j. The real part of the main diagonal is read. SciPy refuses a matrix that is not
    positive definite; here any regular one is solved.

    Raises   ShapeMismatchError; for a singular matrix SingularMatrixError, on backends that see it.

    >>> import tenferro as tn
    >>> tn.linalg.solveh_banded([[0.0, 1.0], [2.0, 2.0]], [3.0, 3.0])
    array([1., 1.])
    """
    band = as_array(ab)
    if band.ndim != 2 or not band.shape[0]:
        raise unfit("solveh_banded", "ab [u + 1, n], b [n] or [n, k]", band, as_array(b))
    u = band.shape[0] - 1
    half = band if lower else adjoint_band(band, u)
    main = cast(real(half[:1]), half.dtype)
    below = half[1:]
    above = adjoint_band(concatenate([main, below]), 0)[:u]
    whole = concatenate([above, main, below])
    return solve_banded((u, u), whole, b)
