"""Sparse matrices inside a program: ``SparseArray``, a pattern with entries that are traced.

It is a pytree of one leaf, its entries, so that what a traced function returns needs no other
care: where the entries are known, the pytree is put together as a matrix of the backend's kind.
A batch of entries makes no matrix, which is an error. Read next: ``derivatives/jacobian.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from tenferro.arrays import Array, as_array, is_traced
from tenferro.arrays.errors import UnsupportedAttributeError, at_user_line
from tenferro.computegraph import UNKNOWN, ValueKey
from tenferro.primitives import table
from tenferro.transforms.errors import SparseResultError
from tenferro.transforms.patterns.compressed import spread_out
from tenferro.transforms.patterns.matrices import SparsePattern
from tenferro.transforms.patterns.parts import taken
from tenferro.transforms.recording import tree as _tree


class SparseArray:
    """Sparse matrix of a program that is being recorded.

    Attributes
    ----------
    data : Array
        The entries in row-major order, which can be computed with and differentiated.
    indices, indptr : Array
        Their columns, and the place of the first entry of each row.
    shape : tuple of int
    nnz : int
        Number of entries.
    """

    __array_ufunc__ = None  # operators of arrays leave the operation to this class
    __slots__ = ("data", "pattern")
    ndim = 2

    def __init__(self, data: Any, pattern: SparsePattern) -> None:
        self.data = data
        self.pattern = pattern

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.pattern.shape

    @property
    def nnz(self) -> int:
        """Number of entries."""
        return len(self.pattern.columns)

    @property
    def indices(self) -> Any:
        """Column of each entry."""
        return Array(table(self.pattern.columns, "int32", (self.nnz,)).key)

    @property
    def indptr(self) -> Any:
        """Place of the first entry of each row, and the number of entries."""
        starts = self.pattern.starts
        return Array(table(starts, "int32", (len(starts),)).key)

    def toarray(self) -> Any:
        """Return the dense matrix."""
        return Array(spread_out(self.data, self.pattern.places(), self.shape).key)

    todense = toarray

    def __matmul__(self, x: Any) -> Any:
        """Multiply with a vector."""
        return self._product(x, self.pattern.columns, self.pattern.rows(), self.shape)

    def __rmatmul__(self, x: Any) -> Any:
        """Multiply a vector with the matrix."""
        return self._product(x, self.pattern.rows(), self.pattern.columns, self.shape[::-1])

    def _product(
        self, x: Any, read: Sequence[int], summed: Sequence[int], shape: tuple[int, int]
    ) -> Any:
        x = as_array(x)
        if x.shape != shape[1:]:
            raise at_user_line(
                SparseResultError(
                    "a sparse derivative inside a program multiplies vectors of its size\n"
                    f"  got        {x.aval}\n"
                    f"  need       the shape ({shape[1]},)\n"
                    "  hint       `.toarray()` is an array of the program, for other products",
                    elements=self.nnz,
                )
            )
        products: Any = self.data * Array(taken(x, read).key)
        return Array(spread_out(products, summed, shape[:1]).key)

    def __array_function__(self, function: Any, *_: Any) -> Any:
        name = getattr(function, "__name__", "a function")
        raise at_user_line(_refused(f"`np.{name}`", self))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        instead = "`.data`, `.indices`, `.indptr`, `.shape`, `.nnz`, `.toarray()`, `J @ v`, `v @ J`"
        raise at_user_line(
            UnsupportedAttributeError(
                f"a sparse derivative inside a program has no attribute {name!r}\n"
                f"  need       {instead}\n"
                "  hint       outside of transforms it is a matrix of SciPy or JAX",
                attribute=name,
                instead=instead,
            )
        )

    def __repr__(self) -> str:
        return f"SparseArray({self.data!r}, {self.pattern!r})"


def _refused(asked: str, found: SparseArray) -> SparseResultError:
    return SparseResultError(
        f"{asked} of a sparse derivative inside a program\n"
        f"  got        {found.pattern!r}\n"
        "  hint       use its entries, `.data`, or an array of the program, `.toarray()`;\n"
        "             outside of transforms it is a matrix of SciPy or JAX",
        elements=found.nnz,
    )


def put_together(pattern: SparsePattern, parts: Sequence[Any]) -> Any:
    """Return the matrix of known entries; of others the `SparseArray`.

    Raises SparseResultError: if the entries are those of a batch of matrices.
    """
    (entries,) = parts
    if not hasattr(entries, "shape"):  # a stand-in, for a description of the structure
        return SparseArray(entries, pattern)
    found = _checked(entries, pattern)
    if not isinstance(entries, Array):
        return pattern.matrix(entries)
    if is_traced(entries.key) or entries.key.operand is UNKNOWN:
        _register()
        return found
    return pattern.matrix(entries.key.operand)


def _checked(entries: Any, pattern: SparsePattern) -> SparseArray:
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


@cache
def _register() -> None:
    """Make `SparseArray` known as a pytree, when the first is made: it imports optree."""
    _tree.register(SparseArray, _parts, put_together)


def matrices(
    patterns: Sequence[SparsePattern], entries: Sequence[Any], wrt: Sequence[ValueKey]
) -> list[Any]:
    """Return one matrix per pattern; a `SparseArray` where a program is recorded.

    Entries that are constants may be known there, too; the arguments ``wrt`` have an open trace
    besides their own.
    """
    if any([len(key.traces) > 1 for key in wrt]):
        _register()
        return [_checked(x, p) for p, x in zip(patterns, entries, strict=True)]
    return [put_together(p, (x,)) for p, x in zip(patterns, entries, strict=True)]
