"""Systems of linear equations: ``solve``, ``inv`` and their forms for tensors.

The matrix is factorized once, for the value and for derivatives of every order. Read next:
``triangular.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.linalg.decomposing import matrices
from tenferro.arrays.functions.structural import expand_dims, moveaxis, reshape, squeeze
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import broadcast_shapes, cast, stretch
from tenferro.arrays.registry import covers
from tenferro.primitives import InvalidParameterError, ShapeMismatchError, promote_dtypes
from tenferro.primitives.linalg import linear_solve as p


@covers("linalg.solve")
def solve(a: Any, b: Any) -> Array:
    """Solve a x = b for square a; leading axes broadcast, and b is a vector only if its rank is 1.

    a: [*s, n, n]   b: [n] or [*s, n, k]   →   x: as b

    Raises   ShapeMismatchError, DTypeMismatchError; for a singular matrix SingularMatrixError, on
             backends that see it.

    >>> import tenferro as tn
    >>> tn.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [1.0, 1.0])
    array([0.5 , 0.25])
    """
    matrix, right, is_vector = system("solve", a, b)
    factors, permutation = p.factorized(matrix)
    lead = broadcast_shapes(matrix.shape[:-2], right.shape[:-2], function="solve")
    n = matrix.shape[-1]
    x = p.linear_solve(
        stretch(matrix, (*lead, n, n)),
        stretch(factors, (*lead, n, n)),
        stretch(permutation, (*lead, n)),
        stretch(right, (*lead, *right.shape[-2:])),
    )
    return squeeze(x, -1) if is_vector else x


def system(function: str, a: Any, b: Any) -> tuple[Array, Array, bool]:
    """Return a square matrix and right-hand sides of one dtype, and True if the latter were a
    vector.

    Raises ShapeMismatchError: if they do not fit.
    """
    matrix, right = square(a, function), as_array(b)
    is_vector = right.ndim == 1
    right = matrices(expand_dims(right, -1) if is_vector else right, function)
    if right.shape[-2] != matrix.shape[-1]:
        error = ShapeMismatchError.of(
            function, "the right-hand side does not match the matrix",
            got=f"a {matrix.aval},  b {as_array(b).aval}",
            need=f"b with {matrix.shape[-1]} rows", shapes=(matrix.shape, right.shape),
        )  # fmt: skip
        raise at_user_line(error)
    dtype = promote_dtypes(matrix.dtype, right.dtype)
    return cast(matrix, dtype), cast(right, dtype), is_vector


def square(a: Any, function: str) -> Array:
    """Return the operand as a stack of square matrices; integers and bools become float64.

    Raises ShapeMismatchError: if they are not square.
    """
    found = matrices(a, function)
    if found.shape[-1] != found.shape[-2]:
        error = ShapeMismatchError.of(
            function, "the matrix is not square", got=found.aval, need="[*batch, n, n]",
            shapes=(found.shape,),
        )  # fmt: skip
        raise at_user_line(error)
    return found


@covers("linalg.inv")
def inv(a: Any) -> Array:
    """Compute the inverse of square matrices.

    a: [*s, n, n]   →   y: [*s, n, n]

    Raises   as ``solve``, with which ``inv(a) @ b`` is said better.

    >>> import tenferro as tn
    >>> tn.linalg.inv([[2.0, 0.0], [0.0, 4.0]])
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    return p.inverse(square(a, "inv"))


@covers("linalg.tensorsolve")
def tensorsolve(a: Any, b: Any, axes: Sequence[int] | None = None) -> Array:
    """Solve ``tensordot(a, x, x.ndim) == b`` for x; the given axes of a are moved to its end first.

    >>> import tenferro as tn
    >>> tn.linalg.tensorsolve([[2.0, 0.0], [0.0, 4.0]], [1.0, 1.0])
    array([0.5 , 0.25])
    """
    whole, right = as_array(a), as_array(b)
    if axes is not None:
        last = range(whole.ndim - len(axes), whole.ndim)
        order = [axis for axis in range(whole.ndim) if axis not in axes]
        whole = moveaxis(whole, [*order, *axes], [*range(len(order)), *last])
    shape = whole.shape[right.ndim :]
    matrix = _flattened(whole, right.size, prod(shape), "tensorsolve")
    return reshape(solve(matrix, reshape(right, (right.size,))), shape)


@covers("linalg.tensorinv")
def tensorinv(a: Any, ind: int = 2) -> Array:
    """Compute the inverse of ``tensordot`` with a; its first ``ind`` axes are those of the result.

    >>> import tenferro as tn
    >>> tn.linalg.tensorinv([[2.0, 0.0], [0.0, 4.0]], ind=1)
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    whole = as_array(a)
    if ind <= 0:
        error = InvalidParameterError.of(
            "tensorinv", "no axes to invert over", got=f"ind={ind}", need="ind >= 1",
            parameter="ind", value=ind,
        )  # fmt: skip
        raise at_user_line(error)
    rows, columns = whole.shape[:ind], whole.shape[ind:]
    matrix = _flattened(whole, prod(rows), prod(columns), "tensorinv")
    return reshape(inv(matrix), (*columns, *rows))


def _flattened(x: Array, rows: int, columns: int, function: str) -> Array:
    """Return the tensor as a square matrix.

    Raises ShapeMismatchError: if it has not as many rows as columns.
    """
    if rows != columns or rows * columns != x.size:
        error = ShapeMismatchError.of(
            function, "the axes do not form a square matrix", got=f"{x.aval}: {rows} by {columns}",
            need="as many elements in the first axes as in the others", shapes=(x.shape,),
        )  # fmt: skip
        raise at_user_line(error)
    return reshape(x, (rows, columns))
