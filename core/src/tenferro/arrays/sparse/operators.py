"""Operators of sparse matrices in programs, with numbers, arrays and sparse matrices.

They mean what SciPy's mean. A product by entries and a quotient have the pattern of the matrix, so
they are sparse; sums with arrays and all comparisons are dense arrays. Results without a meaning,
or dense ones that SciPy refuses, are a ``SparseResultError``. Read next: ``products.py``.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any, Self

from tenferro.arrays.errors import SparseResultError, UnknownOperandError, at_user_line
from tenferro.arrays.functions import comparison
from tenferro.arrays.functions.arithmetic import absolute, add, divide, multiply, negative, subtract
from tenferro.arrays.functions.arithmetic import power as to_power
from tenferro.arrays.functions.indexing import take
from tenferro.arrays.functions.structural import reshape
from tenferro.arrays.handle.array import SCALARS, Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import cast
from tenferro.arrays.sparse.pattern import SparsePattern
from tenferro.arrays.sparse.products import common_places, dense_product, product_pattern
from tenferro.arrays.sparse.scipy_parts import is_scipy_sparse, parts_of_scipy
from tenferro.primitives import ShapeMismatchError, constant, promote_dtypes, scatter_add

_COMPARISONS: dict[str, Callable[..., Any]] = {
    name: getattr(comparison, name)
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
}
_MIRRORED = {
    "less": "greater", "greater": "less", "less_equal": "greater_equal",
    "greater_equal": "less_equal",
}  # fmt: skip
_OPERATORS = {
    "matmul": "matmul", "mul": "multiply", "truediv": "divide", "add": "add", "sub": "subtract",
    "pow": "__power__", "floordiv": "floor_divide", "mod": "remainder", "divmod": "divmod",
    "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift",
    "rshift": "right_shift",
}  # fmt: skip
_COMPARED = {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
    "ge": "greater_equal",
}  # fmt: skip


class SparseOperators:
    """Operators of a matrix with entries and a pattern; ``SparseArray`` has the rest of it."""

    __array_ufunc__ = None  # operators of arrays leave the operation to this class
    __slots__ = ("data", "pattern")

    def __init__(self, data: Any, pattern: SparsePattern) -> None:
        self.data = data
        self.pattern = pattern

    @property
    def is_matrix(self) -> bool:
        """True for SciPy's old classes, such as ``csr_matrix``, whose `*` is a product."""
        classes = getattr(self.pattern.owner, "__mro__", ())
        return any([cls.__name__ == "spmatrix" for cls in classes])

    def toarray(self) -> Any:
        """Return the dense matrix."""
        rows, width = self.pattern.shape
        if not self.pattern.columns:  # an array without elements has no place for a window
            return Array(constant(0, self.data.dtype, self.pattern.shape).key)
        whole = constant(0, self.data.dtype, (rows * width,))
        return reshape(added(whole, self.pattern.flat_places(), self.data), self.pattern.shape)

    def with_operator(self, name: str, other: Any, *, reflected: bool = False) -> Any:
        """Apply an operator by its NumPy name; ``reflected``: the other operand stands on the left.

        Returns NotImplemented for operands of another kind than numbers, arrays, sparse matrices.
        Raises SparseResultError, ShapeMismatchError.
        """
        there = self._operand(other)
        if there is None:
            return NotImplemented
        if isinstance(there, SparseOperators):
            return _of_two(name, *((there, self) if reflected else (self, there)))
        if name in _COMPARISONS:
            name = _MIRRORED.get(name, name) if reflected else name
            return _COMPARISONS[name](self.toarray(), self._fitting(name, there))
        rule = _REFLECTED.get(name) if reflected else _RULES.get(name)
        if rule is None:
            raise refused(f"`{name}`", self.pattern)
        return rule(self, there)

    def _operand(self, other: Any) -> Any:
        """Return a number of Python, an Array or a matrix like this one; None: of another kind."""
        if isinstance(other, SparseOperators) or type(other) in SCALARS:
            return other
        if is_scipy_sparse(other):
            return type(self).of_scipy(other)
        try:
            return as_array(other)
        except UnknownOperandError:
            return None

    @classmethod
    def of_scipy(cls, matrix: Any) -> Self:
        """Make the matrix of the program of one of SciPy."""
        entries, pattern = parts_of_scipy(matrix)
        return cls(as_array(entries), pattern)

    def _fitting(self, name: str, x: Any) -> Any:
        """Return an operand that broadcasts to the shape of the matrix, of rank 2 or a number."""
        shape = tuple(getattr(x, "shape", ()))
        if not shape:
            return x
        rows, columns = self.pattern.shape
        wide = shape if len(shape) == 2 else (1, *shape)
        if len(wide) != 2 or wide[0] not in (1, rows) or wide[1] not in (1, columns):
            raise unfit(name, self.pattern, x.aval, f"a shape that broadcasts to {(rows, columns)}")
        return reshape(x, wide)

    def _at_entries(self, name: str, x: Any) -> Any:
        """Return the elements of an array at the places of the entries, or a number."""
        found = self._fitting(name, x)
        shape = tuple(getattr(found, "shape", ()))
        if shape in ((), (1, 1)):
            return reshape(found, ()) if shape else found
        if not self.pattern.columns:
            return Array(constant(0, found.dtype, (0,)).key)
        rows, columns = self.pattern.coordinates()
        if shape == self.pattern.shape:
            return take(reshape(found, (shape[0] * shape[1],)), self.pattern.flat_places())
        line = rows if shape[1] == 1 else columns
        return take(reshape(found, (shape[0] * shape[1],)), line)

    # ---- rules: the matrix on the left -----------------------------------------------------------

    def _matmul(self, x: Any) -> Any:
        rows, columns = self.pattern.coordinates()
        return dense_product(self.data, rows, columns, as_array(x), self.pattern)

    def _multiply(self, x: Any) -> Any:
        if self.is_matrix and as_array(x).ndim:
            return self._matmul(x)
        return type(self)(multiply(self.data, self._at_entries("multiply", x)), self.pattern)

    def _divide(self, x: Any) -> Any:
        return type(self)(divide(self.data, self._at_entries("divide", x)), self.pattern)

    def _add(self, x: Any) -> Any:
        if _is_zero(x):  # where `sum` starts
            return self
        return add(self.toarray(), self._array("add", x))

    def _subtract(self, x: Any) -> Any:
        if _is_zero(x):
            return self
        return subtract(self.toarray(), self._array("subtract", x))

    def _power(self, exponent: Any) -> Any:
        """Raise entries to a power; that of an old class is a power of the matrix, and refused."""
        if self.is_matrix or type(exponent) not in (int, float) or exponent <= 0:
            raise refused(f"`** {exponent}`", self.pattern)
        return type(self)(to_power(self.data, exponent), self.pattern)

    # ---- rules: the matrix on the right ----------------------------------------------------------

    def _left_matmul(self, x: Any) -> Any:
        rows, columns = self.pattern.coordinates()
        left = as_array(x)
        product = dense_product(self.data, columns, rows, left.T, self.pattern, reflected=True)
        return product.T

    def _left_multiply(self, x: Any) -> Any:
        return self._left_matmul(x) if self.is_matrix and as_array(x).ndim else self._multiply(x)

    def _left_subtract(self, x: Any) -> Any:
        return -self if _is_zero(x) else subtract(self._array("subtract", x), self.toarray())

    def _array(self, name: str, x: Any) -> Any:
        """Return an array that broadcasts to the shape of the matrix; refuse numbers, as SciPy."""
        if not getattr(x, "shape", ()):
            raise refused(f"`{name}` of a number and", self.pattern)
        return self._fitting(name, x)

    def __neg__(self) -> Self:
        """Change the sign of every entry."""
        return type(self)(negative(self.data), self.pattern)

    def __pos__(self) -> Self:
        return type(self)(self.data, self.pattern)

    def __abs__(self) -> Self:
        return type(self)(absolute(self.data), self.pattern)

    def __bool__(self) -> bool:
        raise refused("`bool`", self.pattern)

    __hash__ = object.__hash__  # comparisons are by element


# the rules by NumPy's names; `x + A` is `A + x`
_RULES: dict[str, Callable[[SparseOperators, Any], Any]] = {
    "matmul": SparseOperators._matmul,
    "multiply": SparseOperators._multiply,
    "divide": SparseOperators._divide,
    "add": SparseOperators._add,
    "subtract": SparseOperators._subtract,
    "__power__": SparseOperators._power,
}
_REFLECTED: dict[str, Callable[[SparseOperators, Any], Any]] = {
    "matmul": SparseOperators._left_matmul,
    "multiply": SparseOperators._left_multiply,
    "add": SparseOperators._add,
    "subtract": SparseOperators._left_subtract,
}


def _is_zero(x: Any) -> bool:
    return type(x) in (int, float) and x == 0


def _operator(name: str, *, reflected: bool = False) -> Callable[[Any, Any], Any]:
    def operator(self: SparseOperators, other: Any) -> Any:
        return self.with_operator(name, other, reflected=reflected)

    return operator


for _dunder, _name in (*_OPERATORS.items(), *_COMPARED.items()):
    setattr(SparseOperators, f"__{_dunder}__", _operator(_name))
for _dunder, _name in _OPERATORS.items():
    setattr(SparseOperators, f"__r{_dunder}__", _operator(_name, reflected=True))


# ---- two sparse matrices -------------------------------------------------------------------------


def _of_two(name: str, a: SparseOperators, b: SparseOperators) -> Any:
    """Apply an operator to two sparse matrices; the result has the class of the left one."""
    if name == "matmul" or (name == "multiply" and a.is_matrix):
        return _matrix_product(a, b)
    rule = _OF_TWO.get(name)
    if rule is None:
        raise refused(f"`{name}` of two sparse matrices,", a.pattern)
    if a.pattern.shape != b.pattern.shape:
        raise unfit(name, a.pattern, b.pattern, "equal shapes: nothing broadcasts here")
    return rule(a, b)


def _matrix_product(a: SparseOperators, b: SparseOperators) -> Any:
    """Multiply: each entry is the sum of the products of pairs of entries that meet in it."""
    if a.pattern.shape[1] != b.pattern.shape[0]:
        raise unfit("matmul", a.pattern, b.pattern, "as many rows as the left one has columns")
    found = product_pattern(a.pattern, b.pattern)
    pairs = multiply(chosen(a.data, found.left, a.pattern), chosen(b.data, found.right, b.pattern))
    zeros: Any = constant(0, pairs.dtype, (len(found.pattern.columns),))
    if not found.pattern.columns:
        return type(a)(Array(zeros.key), found.pattern)
    targets = found.pattern.integers(found.targets)
    return type(a)(added(zeros, targets, pairs), found.pattern)


def _product_of_entries(a: SparseOperators, b: SparseOperators) -> Any:
    if a.pattern.columns == b.pattern.columns and a.pattern.starts == b.pattern.starts:
        return type(a)(multiply(a.data, b.data), a.pattern)
    found = common_places(a.pattern, b.pattern)
    left, right = chosen(a.data, found.left, a.pattern), chosen(b.data, found.right, b.pattern)
    return type(a)(multiply(left, right), found.pattern)


def _sum(a: SparseOperators, b: SparseOperators) -> Any:
    if a.pattern.columns == b.pattern.columns and a.pattern.starts == b.pattern.starts:
        return type(a)(add(a.data, b.data), a.pattern)
    own, others = a.pattern.places(), b.pattern.places()
    places = sorted({*own, *others})
    pattern = SparsePattern.of_places(places, a.pattern.shape, like=(a.pattern, b.pattern))
    at = {place: i for i, place in enumerate(places)}
    dtype = promote_dtypes(a.data.dtype, b.data.dtype)
    data: Any = constant(0, dtype, (len(places),))
    for matrix, known in ((a, own), (b, others)):
        if known:
            targets = pattern.integers(array("q", [at[place] for place in known]))
            data = added(data, targets, cast(as_array(matrix.data), dtype))
    return type(a)(Array(data.key, data.flow), pattern)


def _difference(a: SparseOperators, b: SparseOperators) -> Any:
    return _sum(a, -b)


def _of_dense(function: Callable[..., Any]) -> Callable[[SparseOperators, SparseOperators], Any]:
    def rule(a: SparseOperators, b: SparseOperators) -> Any:
        return function(a.toarray(), b.toarray())

    return rule


_OF_TWO: dict[str, Callable[[SparseOperators, SparseOperators], Any]] = {
    "multiply": _product_of_entries,
    "add": _sum,
    "subtract": _difference,
    "divide": _of_dense(divide),  # 0 / 0 is nan, as in SciPy
    **{name: _of_dense(function) for name, function in _COMPARISONS.items()},
}


def chosen(data: Any, order: array[int], pattern: SparsePattern) -> Any:
    """Return entries in another order."""
    if order:
        return take(as_array(data), pattern.integers(order))
    return Array(constant(0, as_array(data).dtype, (0,)).key)


def added(x: Any, places: Any, values: Any) -> Any:
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


def refused(asked: str, pattern: SparsePattern) -> Exception:
    """Return the error for what a sparse matrix does not have."""
    error = SparseResultError(
        f"{asked} of a sparse matrix inside a program\n"
        f"  got        {pattern!r}\n"
        "  hint       use its entries, `.data`, or an array of the program, `.toarray()`;\n"
        "             outside of transforms it is a matrix of SciPy or JAX",
        elements=len(pattern.columns),
    )
    return at_user_line(error)


def unfit(function: str, pattern: SparsePattern, other: Any, need: str) -> Exception:
    """Return the error for operands whose shapes do not fit together."""
    error = ShapeMismatchError.of(
        function, "the operands do not fit together", got=f"{pattern!r},  {other}", need=need,
        shapes=(pattern.shape, tuple(other.shape)),
    )  # fmt: skip
    return at_user_line(error)
