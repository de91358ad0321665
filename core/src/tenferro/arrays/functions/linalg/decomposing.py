"""Decompositions by singular values and into orthonormal columns.

As in NumPy the factors of ``svd`` are full by default. Vectors that complete a basis have the
derivative of a frame, right for the projector on their space. Read next: ``least_squares.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.arithmetic import absolute
from tenferro.arrays.functions.comparison import where
from tenferro.arrays.functions.complex import conj
from tenferro.arrays.functions.linalg.splitting_values import eigh_of, svd_of
from tenferro.arrays.functions.rearranging import flip
from tenferro.arrays.functions.sorting import argsort
from tenferro.arrays.functions.structural import matrix_transpose
from tenferro.arrays.functions.taking import take_along_axis
from tenferro.arrays.functions.triangles import tril, triu
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import cast
from tenferro.arrays.registry import covers
from tenferro.primitives import InvalidParameterError, ShapeMismatchError, float64
from tenferro.primitives.linalg import eigh as eigh_primitives
from tenferro.primitives.linalg import pivoted_qr as pivoted
from tenferro.primitives.linalg import qr as qr_primitive
from tenferro.primitives.linalg import svd as svd_primitives


class SVDResult(NamedTuple):
    """Result of ``svd``: x = U diag(S) Vh."""

    U: Array
    S: Array
    Vh: Array


class QRResult(NamedTuple):
    """Result of ``qr``: x = Q R."""

    Q: Array
    R: Array


class PivotedQRResult(NamedTuple):
    """Result of ``qr`` with pivoting: x[..., P] = Q R."""

    Q: Array
    R: Array
    P: Array


@covers("linalg.svd")
def svd(
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
    *,
    gauge: str = "raw",
    epsilon: float | None = None,
    projectors_only: bool = False,
    split: bool | float = False,
) -> Any:
    """Compute the singular value decomposition x = U diag(S) Vh.

    Without ``compute_uv``, only the singular values are returned.

    a: [*b, m, n]   →   U: [*b, m, k]   S: f[*b, k]   Vh: [*b, k, n]   with k = min(m, n);
    U: [*b, m, m], Vh: [*b, n, n] if full

    Convention   vectors are defined up to a phase: gauge="canonical" makes the entry of largest
                 modulus of each v real and positive. Derivatives are right for what depends on
                 vectors of (relatively to epsilon) equal values, and on full vectors beyond k,
                 through the projector on their space alone. projectors_only states that it does;
                 without it a derivative on NumPy warns at run time where more is needed.
                 ``tn.linalg.low_rank`` and ``low_rank_factors`` are U S Vᴴ and factors of it
                 without that restriction. split: True, or a share of the largest value, separates
                 equal values by a constant, from the smallest up (√eps if True); first
                 derivatives are right up to about that share
    Raises       ShapeMismatchError, DTypeMismatchError, InvalidParameterError (gauge, epsilon,
                 split).
    Source       see ``tenferro.primitives.svd``

    >>> import tenferro as tn
    >>> U, S, Vh = tn.linalg.svd([[0.0, 2.0], [1.0, 0.0]])
    >>> S
    array([2., 1.])
    """
    x = matrices(a, "svd")
    if not compute_uv:
        return _hermitian_values(x) if hermitian else svdvals(x, epsilon=epsilon)
    if hermitian:
        return _hermitian_svd(x, gauge, epsilon, projectors_only, split)
    return SVDResult(*svd_of(x, bool(full_matrices), gauge, epsilon, projectors_only, split))


@covers("linalg.svdvals")
def svdvals(x: Any, /, *, epsilon: float | None = None) -> Array:
    """Compute singular values in descending order, without vectors.

    >>> import tenferro as tn
    >>> tn.linalg.svdvals([[0.0, 2.0], [1.0, 0.0]])
    array([2., 1.])
    """
    return svd_primitives.svdvals(matrices(x, "svdvals"), epsilon=epsilon)


def _hermitian_svd(
    x: Array, gauge: str, epsilon: float | None, projectors_only: bool, split: bool | float
) -> SVDResult:
    """Compute the svd of a Hermitian matrix from its eigenvalues; their signs go to v."""
    w, v = eigh_of(x, gauge, epsilon, projectors_only, split)
    order = argsort(-absolute(w), stable=True)
    w, v = take_along_axis(w, order, -1), take_along_axis(v, order[..., None, :], -1)
    sign = cast(where(w < 0, -1.0, 1.0), x.dtype)
    return SVDResult(v, absolute(w), matrix_transpose(conj(v * sign[..., None, :])))


def _hermitian_values(x: Array) -> Array:
    values = absolute(eigh_primitives.eigvalsh(x))
    return flip(take_along_axis(values, argsort(values), -1), -1)


@covers("linalg.qr")
def qr(a: Any, mode: str = "reduced", *, canonical: bool = False, pivoting: bool = False) -> Any:
    """Compute the QR decomposition x = Q R, with orthonormal columns and an upper triangle.

    With ``pivoting``, as in SciPy, columns are exchanged so that the diagonal of R decreases in
    modulus: x[..., P] = Q R, and P is returned, too.

    a: [*b, m, n]   →   Q: [*b, m, k]   R: [*b, k, n]   P: i32[*b, n]   with k = min(m, n), or m if
    complete

    mode: "reduced", "complete", or "r" for R alone (and P); "complete" of more rows than columns
    has no derivative. SciPy names these modes "economic", "full" and "r"
    Convention   canonical: the diagonal of R is at least 0. P is constant under derivatives
    Raises       ShapeMismatchError, DTypeMismatchError, InvalidParameterError: "raw" is not here.

    >>> import tenferro as tn
    >>> tn.linalg.qr([[0.0, 2.0], [1.0, 0.0]], canonical=True).R.diagonal()
    array([1., 2.])
    >>> tn.linalg.qr([[1.0, 2.0], [0.0, 2.0]], pivoting=True).P
    array([1, 0], dtype=int32)
    """
    x = matrices(a, "qr")
    if mode not in ("reduced", "complete", "r"):
        need = 'mode "reduced", "complete" or "r"'
        error = InvalidParameterError.of(
            "qr", "no such mode here", got=repr(mode), need=need, parameter="mode", value=mode
        )
        raise at_user_line(error)
    if pivoting:
        q, r, p = pivoted.pivoted_qr(x, full=mode == "complete", canonical=canonical)
        return (r, p) if mode == "r" else PivotedQRResult(q, r, p)
    q, r = qr_primitive.qr(x, full=mode == "complete", canonical=canonical)
    return r if mode == "r" else QRResult(q, r)


# ---- operands ------------------------------------------------------------------------------------


def matrices(x: Any, function: str) -> Array:
    """Return the operand as a stack of matrices; integers and bools become float64.

    Raises ShapeMismatchError: if its rank is below 2.
    """
    found = as_array(x)
    if found.ndim < 2:
        error = ShapeMismatchError.of(
            function, "the operand is not a matrix", got=found.aval, need="[*batch, rows, columns]",
            shapes=(found.shape,),
        )  # fmt: skip
        raise at_user_line(error)
    return found if found.dtype.is_inexact else cast(found, float64)


def unfit(function: str, need: str, *operands: Array) -> Exception:
    """Return the error for operands whose shapes do not fit together."""
    return at_user_line(ShapeMismatchError.of(
        function, "the operands do not fit together", need=need,
        got=", ".join([str(x.aval) for x in operands]), shapes=tuple([x.shape for x in operands]),
    ))  # fmt: skip


def from_lower(x: Array) -> Array:
    """Return the Hermitian matrix with the lower triangle of x and a real diagonal."""
    below, on = tril(x, -1), tril(triu(x))
    found: Array = below + (on + conj(on)) * 0.5 + matrix_transpose(conj(below))
    return found
