"""``SparseArray``: a sparse matrix of a program, a pattern with entries that are Arrays.

Operators have derivatives in the entries and in the other operand. What is not here is done with
the entries, or with the dense array. Read next: ``operators.py``.
"""

from __future__ import annotations

from array import array
from importlib import import_module
from typing import Any

from tenferro.arrays.errors import (
    UnknownOperandError,
    UnsupportedAttributeError,
    at_user_line,
)
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.sparse.operators import SparseOperators, added, chosen, refused
from tenferro.arrays.sparse.pattern import SparsePattern
from tenferro.arrays.sparse.scipy_parts import is_scipy_sparse
from tenferro.primitives import (
    ShapeMismatchError,
    constant,
)


class SparseArray(SparseOperators):
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
    T : SparseArray
        The transposed matrix.
    """

    __slots__ = ()
    ndim = 2

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
        return self.pattern.coordinates()[1]

    @property
    def indptr(self) -> Any:
        """Place of the first entry of each row, and the number of entries."""
        return self.pattern.integers(self.pattern.starts)

    @property
    def T(self) -> SparseArray:
        """The transposed matrix."""
        pattern, order = self.pattern.transposed()
        return SparseArray(chosen(self.data, order, pattern), pattern)

    def transpose(self) -> SparseArray:
        """Return the transposed matrix."""
        return self.T

    def todense(self) -> Any:
        """Return the dense matrix."""
        return self.toarray()

    def dot(self, x: Any) -> Any:
        """Multiply with a vector or a matrix."""
        return self.with_operator("matmul", x)

    def __array_function__(self, function: Any, *_: Any) -> Any:
        name = getattr(function, "__name__", "a function")
        raise refused(f"`np.{name}`", self.pattern)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        instead = "`.data`, `.indices`, `.indptr`, `.shape`, `.nnz`, `.T`, `.toarray()`, operators"
        raise at_user_line(
            UnsupportedAttributeError(
                f"a sparse matrix inside a program has no attribute {name!r}\n"
                f"  need       {instead}\n"
                "  hint       outside of transforms it is a matrix of SciPy or JAX; inside,\n"
                "             `tenferro.linalg.spsolve` solves systems, and functions of\n"
                "             `np.linalg` take `A.toarray()`",
                attribute=name,
                instead=instead,
            )
        )

    def __repr__(self) -> str:
        return f"SparseArray({self.data!r}, {self.pattern!r})"


def sparse_array(a: Any, shape: tuple[int, int] | None = None) -> SparseArray:
    """Make a sparse matrix of a program: of one of SciPy, or of entries and their places.

    ``a`` is a sparse matrix of SciPy, whose entries are constants, or ``(data, (row, column))``
    with ``shape``, as ``scipy.sparse.coo_array`` takes it. Data may be differentiated; rows and
    columns must be known. Entries of one place are added up.

    Raises   SparseResultError: if it has another rank than 2; UnknownOperandError: if it is not
             sparse; ShapeMismatchError: unless each entry has one place, in the matrix.

    >>> import tenferro as tn
    >>> A = tn.linalg.sparse_array(([1.0, 2.0, 3.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    >>> A @ [1.0, 1.0]
    Array([3., 3.])
    """
    if isinstance(a, SparseArray):
        return a
    if isinstance(a, tuple) and len(a) == 2 and shape is not None:
        return _of_coordinates(as_array(a[0]), a[1], shape)
    if not is_scipy_sparse(a):
        raise at_user_line(
            UnknownOperandError(
                "not a sparse matrix\n"
                f"  got        {type(a).__name__}\n"
                "  need       a sparse matrix of SciPy, a sparse derivative, or\n"
                "             (data, (row, column)) and a shape",
                value=a,
            )
        )
    return SparseArray.of_scipy(a)


def _of_coordinates(data: Array, coordinates: Any, shape: tuple[int, int]) -> SparseArray:
    """Make the matrix of entries with places in any order."""
    numpy = import_module("numpy")  # as for nested sequences
    height, width = (int(size) for size in shape)
    rows, columns = (numpy.asarray(x, "int64") for x in coordinates)
    fit = rows.shape == columns.shape == data.shape and data.ndim == 1
    if not fit or not _all_inside(rows, height) or not _all_inside(columns, width):
        raise at_user_line(
            ShapeMismatchError.of(
                "sparse_array",
                "each entry has one place in the matrix",
                got=f"data {data.aval},  rows {rows.shape},  columns {columns.shape}",
                need=f"vectors of one length, and places in {height} x {width}",
                shapes=(data.shape, rows.shape, columns.shape),
            )
        )
    places, targets = numpy.unique(rows * width + columns, return_inverse=True)
    pattern = SparsePattern.of_places(places.tolist(), (height, width), of_numpy=True)
    if not len(places):
        return SparseArray(data, pattern)
    targets = pattern.integers(array("q", targets.tobytes()))
    zeros: Any = constant(0, data.dtype, (len(places),))
    return SparseArray(added(zeros, targets, data), pattern)


def _all_inside(places: Any, size: int) -> bool:
    return not places.size or bool(places.min() >= 0 and places.max() < size)
