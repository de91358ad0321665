"""QR decompositions of a changed matrix: ``qr_insert``, ``qr_delete``, ``qr_update``.

As in SciPy, for stacks of matrices too. The columns in front of the first change keep their
factors. Columns at the end cost O(m n) each: what is orthogonal to Q is appended to it. What stands
behind a change is made triangular again by a decomposition of that block alone.
"""

from __future__ import annotations

from operator import index
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.arithmetic import absolute, sqrt
from tenferro.arrays.functions.comparison import where
from tenferro.arrays.functions.complex import adjoint, conj, real
from tenferro.arrays.functions.contraction import matmul
from tenferro.arrays.functions.creation import zeros
from tenferro.arrays.functions.linalg.decomposing import QRResult, matrices, qr, unfit
from tenferro.arrays.functions.reduction import sum
from tenferro.arrays.functions.structural import concatenate
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import cast
from tenferro.primitives import InvalidParameterError, promote_dtypes


def qr_insert(Q: Any, R: Any, u: Any, k: int, which: str = "row") -> QRResult:
    """Compute the QR decomposition of a matrix A = Q R with rows or columns inserted.

    Q: [*b, m, c]   R: [*b, c, n]   with c = n (economic) or c = m (full)
    u: [n] or [*b, p, n] for rows, [m] or [*b, m, p] for columns
    →   Q, R of A with u in front of row or column k; k = m or n appends

    Convention   the diagonal of R may have other signs than that of ``qr``. An economic
                 decomposition stays one, so it has no room for more than m columns.
    JVP          that of the operations; a full one has no derivative when rows are inserted. As
                 for ``qr``, the leading columns must be independent.
    Raises       ShapeMismatchError; InvalidParameterError: for k or ``which``.
    Source       Daniel, Gragg, Kaufman & Stewart (1976), Reorthogonalization and stable algorithms
                 for updating the Gram-Schmidt QR factorization

    >>> import tenferro as tn
    >>> q, r = tn.linalg.qr([[2.0], [0.0]])
    >>> q1, r1 = tn.linalg.qr_insert(q, r, [1.0, 3.0], 1, which="col")
    >>> q1 @ r1
    array([[2., 1.],
           [0., 3.]])
    """
    q, r = _factors("qr_insert", Q, R)
    is_column = _is_column("qr_insert", which)
    m, n = q.shape[-2], r.shape[-1]
    new = as_array(u)
    if new.ndim == 1:
        new = new[:, None] if is_column else new[None]
    new = matrices(new, "qr_insert")
    fixed = (m if is_column else n), new.shape[-2 if is_column else -1]
    if fixed[0] != fixed[1] or new.shape[:-2] != q.shape[:-2]:
        raise unfit("qr_insert", f"u with {fixed[0]} entries in each {which}", q, r, new)
    dtype = promote_dtypes(q.dtype, new.dtype)
    q, r, new = cast(q, dtype), cast(r, dtype), cast(new, dtype)
    place = _place("qr_insert", k, n if is_column else m, 0)
    return _with_columns(q, r, new, place) if is_column else _with_rows(q, r, new, place)


def qr_delete(Q: Any, R: Any, k: int, p: int = 1, which: str = "row") -> QRResult:
    """Compute the QR decomposition of a matrix A = Q R without p of its rows or columns.

    Q: [*b, m, c]   R: [*b, c, n]   with c = n (economic) or c = m (full)
    →   Q, R of A without rows or columns k … k + p - 1

    Convention   as ``qr_insert``; a full decomposition has no derivative unless the last columns
                 are deleted.
    Raises       ShapeMismatchError; InvalidParameterError: for k, p or ``which``.

    >>> import tenferro as tn
    >>> q, r = tn.linalg.qr([[2.0, 1.0], [0.0, 3.0]])
    >>> q1, r1 = tn.linalg.qr_delete(q, r, 0, which="col")
    >>> abs(r1)
    array([[3.16227766],
           [0.        ]])
    """
    q, r = _factors("qr_delete", Q, R)
    is_column = _is_column("qr_delete", which)
    size = r.shape[-1] if is_column else q.shape[-2]
    if p < 1 or p > size:
        need = f"1 <= p <= {size}"
        raise _no_value("qr_delete", "p", "cannot delete so many", p, need)
    place = _place("qr_delete", k, size, p)
    return (_without_columns if is_column else _without_rows)(q, r, place, place + p)


def qr_update(
    Q: Any, R: Any, u: Any, v: Any, overwrite_qruv: bool = False, check_finite: bool = True
) -> QRResult:
    """Compute the QR decomposition of A + u vᴴ, given A = Q R.

    Q: [*b, m, c]   R: [*b, c, n]   with c = n (economic) or c = m (full)
    u: [m] or [*b, m, p]   v: [n] or [*b, n, p]   →   Q, R of A + u vᴴ

    Convention   as ``qr_insert``. A full decomposition is updated in m² (n + p) operations, an
                 economic one is computed anew, so that derivatives exist for a u in the range of
                 Q, too. The two flags change nothing
    JVP          that of ``qr``: there is none for a full decomposition of more rows than columns
    Raises       ShapeMismatchError.

    >>> import tenferro as tn
    >>> q, r = tn.linalg.qr([[2.0, 1.0], [0.0, 3.0]])
    >>> q1, r1 = tn.linalg.qr_update(q, r, [1.0, 0.0], [0.0, 2.0])
    >>> q1 @ r1
    array([[2., 3.],
           [0., 3.]])
    """
    q, r = _factors("qr_update", Q, R)
    left, right = (x[:, None] if x.ndim == 1 else x for x in (as_array(u), as_array(v)))
    left, right = matrices(left, "qr_update"), matrices(right, "qr_update")
    lead, p = q.shape[:-2], left.shape[-1]
    want = (*lead, q.shape[-2], p), (*lead, r.shape[-1], p)
    if (left.shape, right.shape) != want:
        raise unfit("qr_update", "u [m] or [*b, m, p], v [n] or [*b, n, p]", q, r, left, right)
    dtype = promote_dtypes(q.dtype, promote_dtypes(left.dtype, right.dtype))
    q, r, left, right = (cast(x, dtype) for x in (q, r, left, right))
    if q.shape[-1] < q.shape[-2]:
        return QRResult(*qr(matmul(q, r) + matmul(left, adjoint(right))))
    rotation, triangle = qr(r + matmul(matmul(adjoint(q), left), adjoint(right)), "complete")
    return QRResult(matmul(q, rotation), triangle)


# ---- columns -------------------------------------------------------------------------------------


def _with_columns(q: Array, r: Array, new: Array, k: int) -> QRResult:
    m, c = q.shape[-2:]
    n, p = r.shape[-1], new.shape[-1]
    if c == m:
        inside = matmul(adjoint(q), new)
        q, inside = _reflected(q, inside, n)
    elif n + p > m:
        raise unfit("qr_insert", f"at most {m} columns, or a full decomposition", q, r, new)
    else:
        inside = matmul(adjoint(q), new)
        rest = new - matmul(q, inside)
        again = matmul(adjoint(q), rest)  # of what rounding left: twice is enough
        outside, triangle = qr(rest - matmul(q, again))
        q = concatenate([q, outside], axis=-1)
        inside = concatenate([inside + again, triangle], axis=-2)
        r = concatenate([r, zeros((*r.shape[:-2], p, n), dtype=r.dtype)], axis=-2)
    whole = concatenate([r[..., :k], inside, r[..., k:]], axis=-1)
    return QRResult(q, whole) if k == n else _triangular_from(q, whole, k, min(m, n + p))


def _reflected(q: Array, inside: Array, start: int) -> tuple[Array, Array]:
    """Clear the columns below row ``start``, ``start + 1``, … by Householder's reflections."""
    m = q.shape[-1]
    for j in range(min(inside.shape[-1], m - 1 - start)):
        row = start + j
        x = inside[..., row:, j : j + 1]
        first = x[..., :1, :]
        size = absolute(first)
        phase = where(size == 0, 1, first / cast(where(size == 0, 1, size), first.dtype))
        length = sqrt(sum(real(x * conj(x)), axis=-2, keepdims=True))
        v = concatenate([first + phase * cast(length, x.dtype), x[..., 1:, :]], axis=-2)
        square = sum(real(v * conj(v)), axis=-2, keepdims=True)
        weight = cast(2 / where(square == 0, 1, square), x.dtype)
        below = inside[..., row:, :]
        below = below - matmul(v * weight, matmul(adjoint(v), below))
        last = q[..., row:]
        last = last - matmul(matmul(last, v * weight), adjoint(v))
        inside = concatenate([inside[..., :row, :], below], axis=-2)
        q = concatenate([q[..., :row], last], axis=-1)
    return q, inside


def _triangular_from(q: Array, whole: Array, k: int, stop: int, mode: str = "reduced") -> QRResult:
    """Decompose the block of rows k … stop, behind column k; rows from ``stop`` on are zero."""
    rotation, triangle = qr(whole[..., k:stop, k:], mode)
    parts = [q[..., :k], matmul(q[..., k:stop], rotation)]
    if q.shape[-1] == q.shape[-2] and stop < q.shape[-1]:
        parts.append(q[..., stop:])
    basis = concatenate(parts, axis=-1)
    lead, (rows, columns) = whole.shape[:-2], (basis.shape[-1], whole.shape[-1])
    left = zeros((*lead, rows - k, k), dtype=whole.dtype)
    missing = rows - k - triangle.shape[-2]
    nothing = zeros((*lead, missing, columns - k), dtype=whole.dtype)
    below = concatenate([left, concatenate([triangle, nothing], axis=-2)], axis=-1)
    return QRResult(basis, concatenate([whole[..., :k, :], below], axis=-2))


def _without_columns(q: Array, r: Array, k: int, stop: int) -> QRResult:
    m, c = q.shape[-2:]
    n = r.shape[-1]
    rest = concatenate([r[..., :k], r[..., stop:]], axis=-1)
    if stop == n:
        return QRResult(q, rest) if c == m else QRResult(q[..., :k], rest[..., :k, :])
    return _triangular_from(q, rest, k, min(c, n), "complete" if c == m else "reduced")


# ---- rows ----------------------------------------------------------------------------------------


def _with_rows(q: Array, r: Array, new: Array, k: int) -> QRResult:
    m, c = q.shape[-2:]
    rotation, triangle = qr(concatenate([r, new], axis=-2), "complete" if c == m else "reduced")
    old = matmul(q, rotation[..., :c, :])
    parts = [old[..., :k, :], rotation[..., c:, :], old[..., k:, :]]
    return QRResult(concatenate(parts, axis=-2), triangle)


def _without_rows(q: Array, r: Array, k: int, stop: int) -> QRResult:
    kept = concatenate([q[..., :k, :], q[..., stop:, :]], axis=-2)
    if q.shape[-1] == q.shape[-2]:
        return QRResult(*qr(matmul(kept, r), "complete"))
    basis, triangle = qr(kept)
    return QRResult(basis, matmul(triangle, r))


# ---- operands ------------------------------------------------------------------------------------


def _factors(function: str, q: Any, r: Any) -> tuple[Array, Array]:
    left, right = matrices(q, function), matrices(r, function)
    m, c = left.shape[-2:]
    rows, n = right.shape[-2:]
    if left.shape[:-2] != right.shape[:-2] or c != rows or c not in (m, min(m, n)):
        raise unfit(function, "Q [*b, m, c], R [*b, c, n] with c = m or c = n", left, right)
    dtype = promote_dtypes(left.dtype, right.dtype)
    return cast(left, dtype), cast(right, dtype)


def _is_column(function: str, which: str) -> bool:
    if which not in ("row", "col"):
        raise _no_value(function, "which", "neither rows nor columns", which, '"row" or "col"')
    return which == "col"


def _place(function: str, k: int, size: int, count: int) -> int:
    """Return k counted from the front."""
    found = index(k) + size if k < 0 else index(k)
    if not 0 <= found <= size - count:
        need = f"-{size} <= k <= {size - count}"
        raise _no_value(function, "k", "no such row or column", k, need)
    return found


def _no_value(function: str, name: str, fact: str, value: Any, need: str) -> Exception:
    return at_user_line(InvalidParameterError.of(
        function, fact, got=repr(value), need=need, parameter=name, value=value
    ))  # fmt: skip
