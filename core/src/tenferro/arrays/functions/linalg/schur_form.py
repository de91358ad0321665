"""The Schur form of square matrices, as SciPy has it.

Eigenvalues come in the order of the backend, and columns of Z with any phase: a derivative has a
meaning for what depends on neither. Read next: ``structured.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.linalg.solving import square
from tenferro.arrays.handle.array import Array
from tenferro.primitives import InvalidParameterError
from tenferro.primitives.linalg import schur as p


class SchurResult(NamedTuple):
    """Result of ``schur``: a = Z T Zᴴ."""

    T: Array
    Z: Array


def schur(a: Any, output: str = "real") -> SchurResult:
    """Compute the Schur form a = Z T Zᴴ, with a unitary Z and an upper triangular T.

    a: [*b, n, n]   →   T: [*b, n, n]   Z: [*b, n, n]

    output: "complex", or "real" as in SciPy. The real form of a real matrix has blocks of two rows
    for pairs of conjugate eigenvalues; a complex matrix has the complex form in any case
    Convention   the complex form has derivatives of every order where eigenvalues are distinct; the
                 real one has none: a block [[a, b], [-b, a]], as normal matrices have it, may be
                 rotated by any angle, so Z is not a function of the matrix there. What does not
                 depend on the form is the same of the complex one. Without LAPACK (on GPUs), digits
                 are lost for matrices that have no basis of eigenvectors
    Raises       ShapeMismatchError, DTypeMismatchError, InvalidParameterError (output); when
                 differentiated MissingRuleError for the real form, and where eigenvalues are equal
                 SingularMatrixError on backends that see it.
    Source       see ``tenferro.primitives.schur``

    >>> import tenferro as tn
    >>> tn.linalg.schur([[1.0, 2.0], [0.0, 3.0]]).T
    array([[1., 2.],
           [0., 3.]])
    """
    x = square(a, "schur")
    if output not in ("real", "complex"):
        error = InvalidParameterError.of(
            "schur", "no such form", got=repr(output), need='"real" or "complex"',
            parameter="output", value=output,
        )  # fmt: skip
        raise at_user_line(error)
    return SchurResult(*p.schur(x, real=output == "real" and not x.dtype.is_complex))
