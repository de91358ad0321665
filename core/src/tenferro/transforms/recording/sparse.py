"""Sparse matrices as pytrees of one leaf, their entries.

So a transform needs no other care for them, as arguments or as results: where the entries are
known, the pytree is put together as a matrix of the backend's kind, and else as a ``SparseArray``.
A batch of entries makes no matrix, which is an error. Read next: ``tree.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.arrays import Array, is_traced
from tenferro.arrays.errors import SparseResultError, at_user_line
from tenferro.arrays.sparse.matrix import SparseArray
from tenferro.arrays.sparse.pattern import SparsePattern
from tenferro.arrays.sparse.scipy_parts import is_scipy_sparse, parts_of_scipy
from tenferro.computegraph import UNKNOWN


def is_sparse(x: Any) -> bool:
    """Return True for sparse matrices of SciPy and of programs."""
    return isinstance(x, SparseArray) or is_scipy_sparse(x)


def parts(x: Any) -> tuple[Any, Any, Any]:
    """Return the entries, the pattern and the name of the entries."""
    if isinstance(x, SparseArray):
        return (x.data,), x.pattern, ("data",)
    entries, pattern = parts_of_scipy(x)
    return (entries,), pattern, ("data",)


def put_together(pattern: SparsePattern, parts: Sequence[Any]) -> Any:
    """Return the matrix of known entries; of others the `SparseArray`.

    Raises SparseResultError: if the entries are those of a batch of matrices.
    """
    (entries,) = parts
    shape = getattr(entries, "shape", None)
    if shape is None:  # a stand-in, for a description of the structure
        return SparseArray(entries, pattern)
    if len(shape) == 1 and not isinstance(entries, Array):
        return pattern.matrix(entries)
    found = checked(entries, pattern)
    if is_traced(entries.key) or entries.key.operand is UNKNOWN:
        return found
    return pattern.matrix(entries.key.operand)


def checked(entries: Any, pattern: SparsePattern) -> SparseArray:
    """Return the `SparseArray`; refuse the entries of a batch of matrices."""
    shape = tuple(entries.shape)
    if len(shape) == 1:
        return SparseArray(entries, pattern)
    raise at_user_line(
        SparseResultError(
            "sparse=True makes one matrix, not an array of them\n"
            f"  got        entries of the shape {shape}, of a batch or of a derivative\n"
            "  hint       return the entries, `.data`, or use `compress=True`, for an array",
            elements=len(pattern.columns),
        )
    )


def _parts(x: SparseArray) -> tuple[Any, Any, Any]:
    return (x.data,), x.pattern, ("data",)
