"""``SparseArray``: a sparse matrix of a program, a pattern with entries that are Arrays.

Products are the primitive ``sparse_product``, so they have derivatives in the entries and in what
is multiplied. What is not here is done with the entries, or with the dense array. Read next:
``solving.py``.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from importlib import import_module
from typing import Any

from tenferro.arrays.errors import (
    SparseResultError,
    UnknownOperandError,
    UnsupportedAttributeError,
    at_user_line,
)
from tenferro.arrays.functions.arithmetic import divide, multiply, negative
from tenferro.arrays.functions.indexing import take
from tenferro.arrays.functions.structural import reshape
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import cast
from tenferro.arrays.sparse.pattern import SparsePattern
from tenferro.arrays.sparse.scipy_parts import is_scipy_sparse, parts_of_scipy
from tenferro.primitives import (
    ShapeMismatchError,
    constant,
    promote_dtypes,
    scatter_add,
    sparse_product,
)


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
    T : SparseArray
        The transposed matrix.
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
        return self.pattern.coordinates()[1]

    @property
    def indptr(self) -> Any:
        """Place of the first entry of each row, and the number of entries."""
        return self.pattern.integers(self.pattern.starts)

    @property
    def T(self) -> SparseArray:
        """The transposed matrix."""
        pattern, order = self.pattern.transposed()
        return SparseArray(_chosen(self.data, order, pattern), pattern)

    def transpose(self) -> SparseArray:
        """Return the transposed matrix."""
        return self.T

    def toarray(self) -> Any:
        """Return the dense matrix."""
        rows, width = self.shape
        if not self.nnz:  # an array without elements has no place for a window
            return Array(constant(0, self.data.dtype, self.shape).key)
        places = self.pattern.integers(array("q", self.pattern.places()))
        whole = _added(constant(0, self.data.dtype, (rows * width,)), places, self.data)
        return reshape(whole, self.shape)

    todense = toarray

    def dot(self, x: Any) -> Any:
        """Multiply with a vector or a matrix."""
        return self @ x

    def __matmul__(self, x: Any) -> Any:
        """Multiply with a vector or a matrix."""
        rows, columns = self.pattern.coordinates()
        return self._product(x, rows, columns, self.shape)

    def __rmatmul__(self, x: Any) -> Any:
        """Multiply a vector or a matrix with the matrix."""
        rows, columns = self.pattern.coordinates()
        found = as_array(_dense_only(x, self))
        product = self._product(found.T, columns, rows, self.shape[::-1])
        return product.T

    def _product(self, x: Any, rows: Array, columns: Array, shape: tuple[int, int]) -> Any:
        x = as_array(_dense_only(x, self))
        if x.ndim not in (1, 2) or x.shape[0] != shape[1]:
            raise at_user_line(
                ShapeMismatchError.of(
                    "matmul",
                    "a sparse matrix multiplies vectors and matrices of its size",
                    got=f"{self.pattern!r},  {x.aval}",
                    need=f"the shape ({shape[1]},) or ({shape[1]}, k)",
                    shapes=(self.shape, x.shape),
                )
            )
        dtype = promote_dtypes(self.data.dtype, x.dtype)
        matrix = x if x.ndim == 2 else reshape(x, (x.shape[0], 1))
        found: Any = sparse_product(
            cast(as_array(self.data), dtype), rows, columns, cast(matrix, dtype), size=shape[0]
        )
        return found if x.ndim == 2 else reshape(found, (shape[0],))

    def __mul__(self, factor: Any) -> SparseArray:
        """Multiply every entry with a number."""
        return self._by_number("*", multiply, factor)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> SparseArray:
        """Divide every entry by a number."""
        return self._by_number("/", divide, divisor)

    def _by_number(self, sign: str, function: Callable[..., Any], number: Any) -> SparseArray:
        given = number if type(number) in (int, float, complex) else _dense_only(number, self)
        if type(given) not in (int, float, complex) and as_array(given).ndim:
            raise at_user_line(_refused(f"`{sign}` with an array", self))
        return SparseArray(function(self.data, given), self.pattern)

    def __neg__(self) -> SparseArray:
        """Change the sign of every entry."""
        return SparseArray(negative(self.data), self.pattern)

    def __add__(self, other: Any) -> SparseArray:
        """Add a sparse matrix."""
        return self._sum(other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> SparseArray:
        """Subtract a sparse matrix."""
        return self._sum(-_sparse_only("-", other, self))

    def __rsub__(self, other: Any) -> SparseArray:
        """Subtract the matrix from a sparse one."""
        return (-self)._sum(other)

    def _sum(self, other: Any) -> SparseArray:
        there = _sparse_only("+", other, self)
        if there.shape != self.shape:
            raise at_user_line(
                ShapeMismatchError.of(
                    "add",
                    "sparse matrices of different shapes",
                    got=f"{self.pattern!r},  {there.pattern!r}",
                    need="equal shapes: nothing broadcasts here",
                    shapes=(self.shape, there.shape),
                )
            )
        if there.pattern == self.pattern:
            return SparseArray(self.data + there.data, self.pattern)
        own, others = self.pattern.places(), there.pattern.places()
        places = sorted({*own, *others})
        pattern = SparsePattern.of_places(
            places, self.shape, self.pattern.of_numpy or there.pattern.of_numpy
        )
        at = {place: i for i, place in enumerate(places)}
        dtype = promote_dtypes(self.data.dtype, there.data.dtype)
        data: Any = constant(0, dtype, (len(places),))
        for matrix, known in ((self, own), (there, others)):
            if known:
                targets = pattern.integers(array("q", [at[place] for place in known]))
                data = _added(data, targets, cast(as_array(matrix.data), dtype))
        return SparseArray(Array(data.key, data.flow), pattern)

    def with_operator(self, name: str, other: Any, *, reflected: bool) -> Any:
        """Return what an operator of an Array and a matrix of SciPy means, by its NumPy name.

        ``reflected``: the Array stands on the left. `*` of an old matrix class is a product.
        """
        if name == "multiply" and hasattr(self.pattern.owner, "getH") and as_array(other).ndim:
            name = "matmul"
        if name == "matmul":
            return self.__rmatmul__(other) if reflected else self @ other
        if name == "multiply":
            return self * other
        if name == "divide" and not reflected:
            return self / other
        raise at_user_line(_refused(f"`{name}`", self))

    def __array_function__(self, function: Any, *_: Any) -> Any:
        name = getattr(function, "__name__", "a function")
        raise at_user_line(_refused(f"`np.{name}`", self))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        instead = (
            "`.data`, `.indices`, `.indptr`, `.shape`, `.nnz`, `.T`, `.toarray()`, `J @ v`, `v @ J`"
        )
        raise at_user_line(
            UnsupportedAttributeError(
                f"a sparse matrix inside a program has no attribute {name!r}\n"
                f"  need       {instead}\n"
                "  hint       outside of transforms it is a matrix of SciPy or JAX",
                attribute=name,
                instead=instead,
            )
        )

    def __repr__(self) -> str:
        return f"SparseArray({self.data!r}, {self.pattern!r})"


def _chosen(data: Any, order: array[int], pattern: SparsePattern) -> Any:
    """Return entries in another order."""
    return take(as_array(data), pattern.integers(order)) if order else data


def _added(x: Any, places: Any, values: Any) -> Any:
    """Add values to elements of a vector."""
    return scatter_add(
        x,
        reshape(places, (*places.shape, 1)),
        values,
        update_window_dims=(),
        inserted_window_dims=(0,),
        scatter_dims_to_operand_dims=(0,),
        mode="promise_in_bounds",
    )


def _is_sparse(x: Any) -> bool:
    return isinstance(x, SparseArray) or is_scipy_sparse(x)


def _dense_only(x: Any, matrix: SparseArray) -> Any:
    if _is_sparse(x):
        raise at_user_line(_refused("a product with a sparse matrix", matrix))
    return x


def _sparse_only(sign: str, x: Any, matrix: SparseArray) -> SparseArray:
    if _is_sparse(x):
        return sparse_array(x)
    raise at_user_line(_refused(f"`{sign}` with a dense array or a number", matrix))


def _refused(asked: str, found: SparseArray) -> SparseResultError:
    return SparseResultError(
        f"{asked} of a sparse matrix inside a program\n"
        f"  got        {found.pattern!r}\n"
        "  hint       use its entries, `.data`, or an array of the program, `.toarray()`;\n"
        "             outside of transforms it is a matrix of SciPy or JAX",
        elements=found.nnz,
    )


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
    entries, pattern = parts_of_scipy(a)
    return SparseArray(as_array(entries), pattern)


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
    return SparseArray(_added(zeros, targets, data), pattern)


def _all_inside(places: Any, size: int) -> bool:
    return not places.size or bool(places.min() >= 0 and places.max() < size)
