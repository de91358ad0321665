"""Sparse matrices of SciPy as entries in row-major order, and a pattern.

SciPy is not imported: what it made is known by its class. Read next: ``matrix.py``.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from typing import Any

from tenferro.arrays.errors import SparseResultError, at_user_line
from tenferro.arrays.sparse.pattern import SparsePattern


def is_scipy_sparse(x: Any) -> bool:
    """Return True for sparse matrices and arrays of SciPy."""
    kind = type(x)
    if not hasattr(kind, "tocsr"):
        return False
    return any([cls.__module__.startswith("scipy.sparse") for cls in kind.__mro__])


def parts_of_scipy(x: Any) -> tuple[Any, SparsePattern]:
    """Return the entries of a matrix in row-major order, an operand, and its pattern.

    Entries of one place are added up. Entries that are stored and zero belong to the pattern, if
    the format can say so.

    Raises SparseResultError: if it has another rank than 2.
    """
    if x.ndim != 2:
        raise at_user_line(
            SparseResultError(
                f"a sparse array of rank {x.ndim} is not a matrix\n"
                f"  got        {type(x).__name__} of shape {x.shape}\n"
                "  hint       `x.toarray()` is a dense array",
                elements=x.nnz,
            )
        )
    csr = x.tocsr()
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    code = "i" if csr.indices.dtype.itemsize == 4 else "q"
    columns: array[int] = array(code)
    starts: array[int] = array(code)
    columns.frombytes(csr.indices.tobytes())
    starts.frombytes(csr.indptr.astype(csr.indices.dtype).tobytes())
    pattern = SparsePattern(columns, starts, x.shape, owner=type(x), of_numpy=True)
    return csr.data, _met_before(pattern)


@lru_cache(maxsize=32)
def _met_before(pattern: SparsePattern) -> SparsePattern:
    """Return an equal pattern, whose places may be Arrays already."""
    return pattern
