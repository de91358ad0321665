"""Integer powers of matrices, and the name of the transpose in ``np.linalg``."""

from __future__ import annotations

from operator import index
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.broadcasting import broadcast_to
from tenferro.arrays.functions.contraction import matmul
from tenferro.arrays.functions.structural import matrix_transpose
from tenferro.arrays.functions.triangles import eye
from tenferro.arrays.handle.array import Array, another_handle
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.registry import FUNCTIONS, covers
from tenferro.primitives import ShapeMismatchError

covers("linalg.matrix_transpose")(matrix_transpose)


@covers("linalg.matrix_power")
def matrix_power(x: Any, n: int) -> Array:
    """Raise square matrices to an integer power; a negative power inverts them.

    x: [*B,k,k]   →   [*B,k,k]

    Definition   by repeated squaring, at most 2 log₂ n products, in the derivative too
    Raises       ShapeMismatchError: if the matrices are not square.

    >>> import tenferro as tn
    >>> tn.linalg.matrix_power(tn.eye(2) * 2, 3)
    Array([[8., 0.],
           [0., 8.]])
    """
    found, exponent = as_array(x), index(n)
    if found.ndim < 2 or found.shape[-1] != found.shape[-2]:
        error = ShapeMismatchError.of(
            "matrix_power", "the matrix is not square", got=found.aval,
            need="[*batch, n, n]", shapes=(found.shape,),
        )  # fmt: skip
        raise at_user_line(error)
    if exponent == 0:
        return broadcast_to(eye(found.shape[-1], dtype=found.dtype), found.shape)
    if exponent < 0:
        return _power(FUNCTIONS["linalg.inv"](found), -exponent)
    return _power(found, exponent)


def _power(x: Array, exponent: int) -> Array:
    """Compute a positive power from the squares that its binary form names."""
    product, square = None, another_handle(x)
    while True:
        exponent, is_factor = divmod(exponent, 2)
        if is_factor:
            product = square if product is None else matmul(product, square)
        if not exponent:
            return product  # type: ignore[return-value]  # the last digit is a 1
        square = matmul(square, square)
