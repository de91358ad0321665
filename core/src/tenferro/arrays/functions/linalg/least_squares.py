"""Functions of singular values: pseudoinverse, least squares, rank, condition.

Derivatives of the pseudoinverse, and of least squares through it, are those of matrices of the same
rank; they are right at repeated singular values and at rank deficiency. Read next: ``norms.py``.
"""

from __future__ import annotations

from math import inf
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._known import parameter
from tenferro.arrays.functions.arithmetic import sqrt
from tenferro.arrays.functions.comparison import where
from tenferro.arrays.functions.contraction import matmul
from tenferro.arrays.functions.creation import zeros
from tenferro.arrays.functions.data_types import finfo
from tenferro.arrays.functions.linalg.decomposing import from_lower, matrices, svd, svdvals
from tenferro.arrays.functions.linalg.norms import matrix_norm
from tenferro.arrays.functions.moments import squared_modulus
from tenferro.arrays.functions.reduction import all, any, max, min, sum
from tenferro.arrays.functions.structural import ravel, reshape, stack
from tenferro.arrays.handle.array import Array, evaluable
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import broadcast_shapes, cast, stretch
from tenferro.arrays.registry import covers
from tenferro.primitives import (
    InvalidParameterError,
    ShapeMismatchError,
    int32,
    int64,
    promote_dtypes,
)
from tenferro.primitives.linalg import pinv as pinv_primitive

_NOT_SAID: Any = object()


@covers("linalg.pinv")
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = _NOT_SAID) -> Array:
    """Compute the Moore-Penrose pseudoinverse of matrices.

    a: [*b, m, n]   →   [*b, n, m]

    Singular values up to rcond (or rtol) times the largest count as zero: 1e-15 if nothing is
    said, max(m, n) times the spacing of numbers at 1 if rtol is None.
    Convention   the derivative is that of matrices of the same rank; hermitian reads the lower
                 triangle. An inverse without elements has the dtype of a, integers and bools too
    Raises       ShapeMismatchError, DTypeMismatchError; InvalidParameterError: if both are given.

    >>> import tenferro as tn
    >>> tn.linalg.pinv([[2.0, 0.0], [0.0, 0.0]])
    array([[0.5, 0. ],
           [0. , 0. ]])
    """
    x = matrices(a, "pinv")
    if 0 in x.shape[-2:]:  # in the dtype that came, as in NumPy
        return zeros((*x.shape[:-2], x.shape[-1], x.shape[-2]), as_array(a).dtype)
    if rcond is None:
        rcond = 1e-15 if rtol is _NOT_SAID else rtol
        rcond = rounding(x) if rcond is None else rcond
    elif rtol is not _NOT_SAID:
        raise _refuse("pinv", "rtol", "both fractions are given", "rcond or rtol")
    x, fractions = from_lower(x) if hermitian else x, as_array(rcond)
    if fractions.size != 1 or fractions.ndim > x.ndim - 2:
        return _pinv_each(x, fractions)
    return pinv_primitive.pinv(x, _rcond("pinv", fractions))


def _pinv_each(x: Array, fractions: Array) -> Array:
    """Compute the pseudoinverse of every matrix with its own cutoff; cutoffs broadcast."""
    lead = broadcast_shapes(x.shape[:-2], fractions.shape, function="pinv")
    rows, columns = x.shape[-2:]
    known = ravel(stretch(fractions, lead))
    result = (*lead, columns, rows)
    if not known.size:
        return zeros(result, x.dtype)
    stacked = reshape(stretch(x, (*lead, rows, columns)), (known.size, rows, columns))
    found = [pinv_primitive.pinv(stacked[i], float(known[i])) for i in range(known.size)]
    return reshape(stack(found), result)


@covers("linalg.lstsq")
def lstsq(a: Any, b: Any, rcond: float | None = None) -> tuple[Array, Array, Array, Array]:
    """Return the least-squares solution x of a x = b, residuals, rank and singular values.

    If there are several solutions, x is the shortest.

    a: [*b, m, n]   b: [m], or [*b, m, k]   →   x: [n], or [*b, n, k]   residuals: f[k]
    rank: i32[*b]   s: f[*b, min(m, n)]

    Singular values up to rcond times the largest count as zero: max(m, n) times the spacing of
    numbers at 1 if rcond is None or negative.
    Convention   as in NumPy residuals are empty unless m > n and the rank is n. Where values are
                 only traced, under `jit` and `vmap`, it is taken to be n; in a stack, always. The
                 derivative is that of matrices of the same rank
    Raises       ShapeMismatchError, DTypeMismatchError.
    Source       the derivative: see ``pinv``

    >>> import tenferro as tn
    >>> x, residuals, rank, s = tn.linalg.lstsq([[1.0], [1.0]], [1.0, 3.0])
    >>> x, residuals
    (array([2.]), array([2.]))
    """
    left, right = _system(a, b)
    fraction = rounding(left) if rcond is None else _rcond("lstsq", rcond)
    fraction = rounding(left) if fraction < 0 else fraction
    s = svdvals(left)
    rank = cast(_count(s, _largest(s) * fraction), int32)
    x = matmul(pinv_primitive.pinv(left, fraction), right)
    m, n = left.shape[-2:]
    if m > n and _may_be_full(rank, n):
        residuals = sum(squared_modulus(right - matmul(left, x)), -2)
    else:
        residuals = zeros((0,), s.dtype)
    return (x[..., 0] if as_array(b).ndim == 1 else x), residuals, rank, s


def _system(a: Any, b: Any) -> tuple[Array, Array]:
    """Return matrices and right-hand sides of one dtype and one batch shape."""
    left, right = matrices(a, "lstsq"), as_array(b)
    if right.ndim == 1:
        right = right[:, None]
    right = matrices(right, "lstsq")
    if left.shape[-2] != right.shape[-2]:
        error = ShapeMismatchError.of(
            "lstsq", "the right-hand side does not match the matrix",
            got=f"a {left.aval}, b {as_array(b).aval}",
            need="the same number of rows in both", shapes=(left.shape, right.shape),
        )  # fmt: skip
        raise at_user_line(error)
    dtype = promote_dtypes(left.dtype, right.dtype)
    return cast(left, dtype), cast(right, dtype)


def _may_be_full(rank: Array, n: int) -> bool:
    """Return False if a known rank is not n; a stack is taken to have the rank n."""
    if rank.ndim or not evaluable(rank.key):
        return True
    return int(rank) == n


@covers("linalg.matrix_rank")
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Array:
    """Return the rank: the number of singular values above tol, or above rtol times the largest.

    rtol is max(m, n) times the spacing of numbers at 1 if neither is given. Of a number or vector:
    whether it is not zero.

    >>> import tenferro as tn
    >>> tn.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]])
    np.int64(1)
    """
    if tol is not None and rtol is not None:
        raise _refuse("matrix_rank", "rtol", "tol and rtol are both given", "one of them")
    x = as_array(A)
    if x.ndim < 2:
        return cast(any(x != 0), int64)
    x = matrices(x, "matrix_rank")
    s = svd(x, compute_uv=False, hermitian=hermitian)
    if tol is None:
        bound = _largest(s) * (rounding(x) if rtol is None else as_array(rtol)[..., None])
    else:
        bound = as_array(tol)[..., None]
    return _count(s, bound)


@covers("linalg.cond")
def cond(x: Any, p: Any = None) -> Array:
    """Compute the condition number |x|·|x⁻¹| in the norm p; inf if x is singular.

    p: None and 2 the largest over the smallest singular value, -2 the inverse of that, "fro",
    "nuc", 1, -1, inf and -inf as in ``norm``, of square matrices
    Convention   ties of singular values share the derivative
    Raises       ShapeMismatchError: if a matrix is empty, or not square where it must be.

    >>> import tenferro as tn
    >>> tn.linalg.cond([[4.0, 0.0], [0.0, 2.0]])
    np.float64(2.0)
    """
    a, p = matrices(x, "cond"), parameter(p, "cond")
    if p not in (None, 2, -2) and a.shape[-1] != a.shape[-2]:
        raise _shape("the matrix is not square", a, "[*batch, n, n]")
    if not a.shape[-1] or not a.shape[-2]:
        raise _shape("the matrix is empty", a, "a row and a column at least")
    s = svdvals(a)
    if p in (None, 2, -2):
        top, low = max(s, -1), min(s, -1)
        found = low / top if p == -2 else top / low
    elif p == "fro":
        found = sqrt(sum(s * s, -1) * sum(1 / (s * s), -1))
    elif p == "nuc":
        found = sum(s, -1) * sum(1 / s, -1)
    else:
        found = matrix_norm(a, ord=p) * matrix_norm(pinv_primitive.pinv(a, 0.0), ord=p)
        found = where(min(s, -1) == 0, inf, found)
    condition: Array = where((found != found) & all(a == a, (-2, -1)), inf, found)
    return condition


# ---- words ---------------------------------------------------------------------------------------


def _count(s: Array, bound: Any) -> Array:
    """Count the values of each row that exceed a bound."""
    found: Array = sum(cast(s > bound, int64), -1)
    return found


def _largest(s: Array) -> Array:
    return max(s, -1, keepdims=True, initial=0.0)


def rounding(x: Array) -> float:
    """Return the rounding error of a zero singular value, relative to the largest one."""
    rows, columns = x.shape[-2:]
    size: int = rows if rows > columns else columns
    return size * finfo(x.dtype).eps


def _rcond(function: str, value: Any) -> float:
    """Return ``rcond``, one number whose value must be known while tracing."""
    found = as_array(value)
    if found.size != 1:
        raise _refuse(function, "rcond", f"rcond has shape {found.shape}", "one number")
    return float(found.reshape(()))


def _refuse(function: str, parameter: str, fact: str, need: str) -> InvalidParameterError:
    error = InvalidParameterError.of(
        function, fact, got=parameter, need=need, parameter=parameter, value=None
    )
    return at_user_line(error)


def _shape(fact: str, a: Array, need: str) -> ShapeMismatchError:
    error = ShapeMismatchError.of("cond", fact, got=a.aval, need=need, shapes=(a.shape,))
    return at_user_line(error)
