"""Matrices of a given shape, by SciPy's names: Toeplitz, Hankel, blocks, companions and their kin.

They move elements and compute next to nothing, so derivatives move back the same way. A constant
band is made by reading one row of values over and over in a longer stride: no table of positions.
"""

from __future__ import annotations

from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.arithmetic import absolute, divide, multiply, negative
from tenferro.arrays.functions.complex import conj
from tenferro.arrays.functions.creation import zeros, zeros_like
from tenferro.arrays.functions.padding import pad
from tenferro.arrays.functions.structural import concatenate, expand_dims, reshape
from tenferro.arrays.functions.triangles import diag, eye
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import broadcast_shapes, stretch
from tenferro.primitives import InvalidParameterError, ShapeMismatchError, float64


def toeplitz(c: Any, r: Any = None) -> Array:
    """Build the matrix with constant diagonals from its first column c and first row r.

    c: [*B,m]   r: [*B,n]   →   [*B,m,n]

    The first element of r is not read; without r it is conj(c).

    >>> import tenferro as tn
    >>> tn.linalg.toeplitz([1, 2, 3])
    array([[1, 2, 3],
           [2, 1, 2],
           [3, 2, 1]])
    """
    column = _vectors(c, "toeplitz")
    row = conj(column) if r is None else _vectors(r, "toeplitz")
    values = _joined(row[..., :0:-1], column)
    return _windows(values, column.shape[-1], row.shape[-1])[..., ::-1]


def hankel(c: Any, r: Any = None) -> Array:
    """Build the matrix with constant antidiagonals from its first column c and last row r.

    c: [*B,m]   r: [*B,n]   →   [*B,m,n]

    The first element of r is not read; without r the rest is zero.

    >>> import tenferro as tn
    >>> tn.linalg.hankel([1, 2, 3])
    array([[1, 2, 3],
           [2, 3, 0],
           [3, 0, 0]])
    """
    column = _vectors(c, "hankel")
    row = zeros_like(column) if r is None else _vectors(r, "hankel")
    return _windows(_joined(column, row[..., 1:]), column.shape[-1], row.shape[-1])


def circulant(c: Any) -> Array:
    """Build the square matrix whose columns are c, each rolled down by one more place.

    >>> import tenferro as tn
    >>> tn.linalg.circulant([1, 2, 3])
    array([[1, 3, 2],
           [2, 1, 3],
           [3, 2, 1]])
    """
    column = _vectors(c, "circulant")
    n = column.shape[-1]
    return _windows(_joined(column[..., 1:], column), n, n)[..., ::-1]


def convolution_matrix(a: Any, n: int, mode: str = "full") -> Array:
    """Build the matrix A for which A @ v is ``np.convolve(a, v, mode)`` for every v of n elements.

    a: [*B,m]   →   [*B,k,n]   with k = m + n - 1 for mode "full", max(m, n) for "same" and
    |m - n| + 1 for "valid"

    Raises ShapeMismatchError: if a is empty; InvalidParameterError: for an unknown mode.

    >>> import tenferro as tn
    >>> tn.linalg.convolution_matrix([1.0, 2.0], 2)
    array([[1., 0.],
           [2., 1.],
           [0., 2.]])
    """
    found = _vectors(a, "convolution_matrix")
    overlap = min(n, found.shape[-1]) - 1
    trims = {"full": 0, "same": overlap, "valid": 2 * overlap}
    if mode not in trims:
        need = f"one of {', '.join(trims)}"
        error = InvalidParameterError.of(
            "convolution_matrix", "unknown mode", got=mode, need=need, parameter="mode", value=mode
        )
        raise at_user_line(error)
    column = _padded(found, 0, n - 1)
    whole = toeplitz(column, zeros_like(column[..., :n]))
    first = trims[mode] // 2
    return whole[..., first : first + column.shape[-1] - trims[mode], :]


def companion(a: Any) -> Array:
    """Build the companion matrix of the polynomial with coefficients a, the highest power first.

    Its eigenvalues are the roots of the polynomial.

    a: [*B,n]   →   [*B,n-1,n-1]

    Raises ShapeMismatchError: for fewer than two coefficients.

    >>> import tenferro as tn
    >>> tn.linalg.companion([1.0, -3.0, 2.0])
    array([[ 3., -2.],
           [ 1.,  0.]])
    """
    found = _vectors(a, "companion", 2)
    row = expand_dims(divide(negative(found[..., 1:]), found[..., :1]), -2)
    n = row.shape[-1]
    below = stretch(eye(n - 1, n, dtype=row.dtype), (*row.shape[:-2], n - 1, n))
    return concatenate([row, below], axis=-2)


def leslie(f: Any, s: Any) -> Array:
    """Build a Leslie matrix: fertilities f in the first row, survival rates s below the diagonal.

    f: [*B,n]   s: [*B,n-1]   →   [*B,n,n]

    Raises ShapeMismatchError: for other sizes, or if s is empty.

    >>> import tenferro as tn
    >>> tn.linalg.leslie([0.1, 2.0], [0.5])
    array([[0.1, 2. ],
           [0.5, 0. ]])
    """
    births, survival = _vectors(f, "leslie"), _vectors(s, "leslie")
    if births.ndim != 1 or survival.shape != (births.shape[0] - 1,):
        raise _misshapen("leslie", "f of n elements, s of n - 1", births, survival)
    return _joined(expand_dims(births, 0), _padded(diag(survival), 0, 1), axis=-2)


def fiedler(a: Any) -> Array:
    """Build the symmetric matrix |a_i − a_j|.

    a: [*B,n]   →   [*B,n,n]

    Raises ShapeMismatchError: if a is empty.

    >>> import tenferro as tn
    >>> tn.linalg.fiedler([1.0, 4.0])
    array([[0., 3.],
           [3., 0.]])
    """
    found = _vectors(a, "fiedler")
    return absolute(expand_dims(found, -1) - expand_dims(found, -2))


def khatri_rao(a: Any, b: Any) -> Array:
    """Compute the Kronecker products of the columns of a with those of b.

    a: [*B,m,k]   b: [*B,n,k]   →   [*B,mn,k]

    Raises ShapeMismatchError: if the numbers of columns differ.

    >>> import tenferro as tn
    >>> tn.linalg.khatri_rao([[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]])
    array([[ 3.,  8.],
           [ 5., 12.]])
    """
    x, y = as_array(a), as_array(b)
    if x.ndim < 2 or y.ndim < 2 or x.shape[-1] != y.shape[-1]:
        raise _misshapen("khatri_rao", "two matrices with as many columns", x, y)
    product = multiply(expand_dims(x, -2), expand_dims(y, -3))
    return reshape(product, (*product.shape[:-3], x.shape[-2] * y.shape[-2], x.shape[-1]))


def block_diag(*arrays: Any) -> Array:
    """Build a block diagonal matrix from the given matrices; leading axes broadcast.

    A vector is a row, a number a matrix of one element.

    >>> import tenferro as tn
    >>> tn.linalg.block_diag(1.0, [[2.0, 3.0]])
    array([[1., 0., 0.],
           [0., 2., 3.]])
    """
    if not arrays:
        return zeros((1, 0), float64)
    blocks = [as_array(x) for x in arrays]
    blocks = [reshape(x, (1, x.size)) if x.ndim < 2 else x for x in blocks]
    lead = broadcast_shapes(*[x.shape[:-2] for x in blocks], function="block_diag")
    width, before = sum(x.shape[-1] for x in blocks), 0
    rows = []
    for x in blocks:
        wide = _padded(x, before, width - before - x.shape[-1])
        rows.append(stretch(wide, (*lead, *wide.shape[-2:])))
        before += x.shape[-1]
    return concatenate(rows, axis=-2)


# ---- words -----------------------------------------------------------------------------------


def _vectors(x: Any, name: str, least: int = 1) -> Array:
    """Return an array of vectors in its last axis."""
    found = as_array(x)
    if not found.ndim or found.shape[-1] < least:
        raise _misshapen(name, f"vectors of {least} elements or more", found)
    return found


def _joined(x: Array, y: Array, axis: int = -1) -> Array:
    """Concatenate two arrays along an axis, with their leading axes broadcast."""
    core = -1 if axis == -1 else -2
    lead = broadcast_shapes(x.shape[:core], y.shape[:core], function="toeplitz")
    pair = [stretch(v, lead + v.shape[core:]) for v in (x, y)]
    return concatenate(pair, axis=axis)


def _padded(x: Array, before: int, after: int) -> Array:
    """Pad the last axis with zeros."""
    return pad(x, [(0, 0)] * (x.ndim - 1) + [(before, after)])


def _windows(values: Array, rows: int, columns: int) -> Array:
    """Return the matrix whose row i starts at place i: [*B,m+n-1] → [*B,m,n].

    The values, repeated without end, are cut into rows that are one element longer.
    """
    *lead, size = values.shape
    length = rows * (size + 1)
    copies = -(-length // size)
    repeated = stretch(expand_dims(values, -2), (*lead, copies, size))
    line = reshape(repeated, (*lead, copies * size))[..., :length]
    return reshape(line, (*lead, rows, size + 1))[..., :columns]


def _misshapen(name: str, need: str, *xs: Array) -> ShapeMismatchError:
    error = ShapeMismatchError.of(
        name,
        "the operands do not have the required shapes",
        got=", ".join(str(x.aval) for x in xs),
        need=need,
        shapes=tuple(x.shape for x in xs),
    )
    return at_user_line(error)
