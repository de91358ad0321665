"""``spsolve``: systems of equations with a sparse matrix.

Read next: ``tenferro/primitives/linalg/sparse_solve.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.linalg.decomposing import matrices
from tenferro.arrays.functions.structural import reshape
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import cast, floating
from tenferro.arrays.sparse.matrix import sparse_array
from tenferro.primitives import ShapeMismatchError, promote_dtypes, sparse_solve


def spsolve(A: Any, b: Any) -> Array:
    """Solve A x = b for a sparse square A and a dense b.

    A: sparse [n, n]   b: [n] or [n, k]   →   x: as b

    The derivative solves with A again, or with its adjoint. On NumPy by SuperLU, which keeps the
    last four factorizations; on other backends the dense system is solved.

    Raises   ShapeMismatchError, SparseResultError, UnknownOperandError (A is not sparse); for a
             singular matrix SingularMatrixError, on backends that see it.

    >>> import tenferro as tn
    >>> A = tn.linalg.sparse_array(([2.0, 4.0], ([0, 1], [0, 1])), shape=(2, 2))
    >>> tn.linalg.spsolve(A, [1.0, 1.0])
    Array([0.5 , 0.25])
    """
    matrix, right = sparse_array(A), as_array(b)
    n = matrix.shape[0]
    if matrix.shape != (n, n) or right.ndim not in (1, 2) or right.shape[0] != n:
        error = ShapeMismatchError.of(
            "spsolve", "the operands do not fit together",
            got=f"{matrix.pattern!r},  b {right.aval}", need="A [n, n], b [n] or [n, k]",
            shapes=(matrix.shape, right.shape),
        )  # fmt: skip
        raise at_user_line(error)
    entries = floating(as_array(matrix.data))
    wide = matrices(reshape(right, (n, 1)) if right.ndim == 1 else right, "spsolve")
    dtype = promote_dtypes(entries.dtype, wide.dtype)
    rows, columns = matrix.pattern.coordinates()
    found: Any = sparse_solve(cast(entries, dtype), rows, columns, cast(wide, dtype))
    return reshape(found, right.shape)
