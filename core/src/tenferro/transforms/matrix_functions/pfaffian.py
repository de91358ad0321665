"""The Pfaffian of skew-symmetric matrices, with derivatives at singular ones too.

M A Mᵀ = D is block diagonal with blocks [[0, d_k], [-d_k, 0]], found by elimination with complete
pivoting; det M is 1 or -1. Then pf A = det M Π d_k, and the matrix B = pf(A) A⁻¹ has entries that
are polynomials: B = det M Mᵀ J diag(Π_{l≠k} d_l) M for the blocks J = [[0, -1], [1, 0]]. So

    d pf = ½ tr(B dA),   dB = det M Mᵀ (J diag(Σ_l q_kl e_l) - q_kl J E_kl J) M,

with E = M dA Mᵀ, e_l its entries above the diagonals of the blocks, and q_kl the product of all d
but two, which is 0 for k = l. Neither divides by the Pfaffian. Read next: ``polar.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro.arrays import Array
from tenferro.arrays.functions.arithmetic import absolute
from tenferro.arrays.functions.broadcasting import broadcast_to
from tenferro.arrays.functions.comparison import where
from tenferro.arrays.functions.complex import conj
from tenferro.arrays.functions.contraction import matmul
from tenferro.arrays.functions.creation import full, ones
from tenferro.arrays.functions.elementwise import stop_gradient
from tenferro.arrays.functions.linalg.solving import inv, square
from tenferro.arrays.functions.ranges import arange
from tenferro.arrays.functions.rearranging import roll
from tenferro.arrays.functions.reduction import argmax, prod, sum
from tenferro.arrays.functions.structural import matrix_transpose, moveaxis, reshape
from tenferro.arrays.functions.triangles import eye
from tenferro.arrays.promotion.broadcast import cast
from tenferro.primitives.linalg._matrices import rows_in_order
from tenferro.primitives.linalg.determinant import products_without_one
from tenferro.transforms.control.scan import scan
from tenferro.transforms.custom_rules.jvp import custom_jvp
from tenferro.transforms.custom_rules.linear import custom_linear


def pfaffian(a: Any) -> Array:
    """Compute the Pfaffian of skew-symmetric matrices; its square is the determinant.

    a: [*b, n, n]   →   y: [*b]

    The skew-symmetric part (a - aᵀ)/2 is read. Complex matrices are transposed, not conjugated.
    No rows have the Pfaffian 1, and an odd number of them 0. First and second derivatives are right
    at matrices of any rank. Where a is singular, third ones raise SingularMatrixError on backends
    that see it, and are inf or nan elsewhere.

    Raises   ShapeMismatchError, DTypeMismatchError
    Source   Wimmer (2012), arXiv:1102.3440; the elimination: Bunch (1982), A note on the stable
             decomposition of skew-symmetric matrices

    >>> import tenferro as tn
    >>> tn.linalg.pfaffian([[0.0, 3.0], [-3.0, 0.0]])
    np.float64(3.0)
    """
    x = square(a, "pfaffian")
    *lead, n, _ = x.shape
    if n % 2 or not n:
        return full(tuple(lead), 0 if n else 1, dtype=x.dtype)
    found: Array = _pfaffian(_skew(x))
    return found


@custom_jvp
def _pfaffian(a: Array) -> Array:
    sign, d, _ = _eliminated(a)
    found: Array = sign * prod(d, axis=-1)
    return found


@_pfaffian.defjvp
def _pfaffian_rule(primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    return _pfaffian(a), _half_trace(_inverse_times_value(a), da)


@custom_jvp
def _inverse_times_value(a: Array) -> Array:
    """Return B = pf(A) A⁻¹."""
    sign, d, m = _eliminated(a)
    without: Any = products_without_one(d)
    return _back(sign, m, _paired(without)[..., None] * _blocks(a))


@_inverse_times_value.defjvp
def _inverse_rule(primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    return _inverse_times_value(a), _slope(a, da)


@custom_jvp
def _slope_value(a: Array, da: Array) -> Array:
    """Return dB."""
    sign, d, m = _eliminated(a)
    e = matmul(matmul(m, _skew(da)), matrix_transpose(m))
    same = eye(d.shape[-1], dtype=bool)
    others = products_without_one(
        where(same, 1, broadcast_to(d[..., None, :], (*d.shape, d.shape[-1])))
    )
    q = where(same, 0, others)
    j = _blocks(a)
    above = (e * cast(_pair_mask(a), e.dtype)).sum(axis=-1)[..., 0::2]
    along = sum(q * above[..., None, :], axis=-1)
    apart = _paired(matrix_transpose(_paired(q)))
    return _back(sign, m, _paired(along)[..., None] * j - apart * matmul(matmul(j, e), j))


@_slope_value.defjvp
def _slope_rule(primals: Any, tangents: Any) -> Any:
    """Differentiate dB = ½ tr(B E) A⁻¹ - B E A⁻¹ by A, which needs an inverse."""
    (a, e), (da, de) = primals, tangents
    e = _skew(e)
    inverse, b, db = inv(a), _inverse_times_value(a), _slope(a, da)
    moved = matmul(matmul(inverse, _skew(da)), inverse)
    spread = [_half_trace(x, e)[..., None, None] for x in (b, db)]
    first = spread[1] * inverse - spread[0] * moved
    second = matmul(matmul(b, e), moved) - matmul(matmul(db, e), inverse)
    return _slope_value(a, e), _slope(a, de) + first + second


def _apply(a: Array, da: Array) -> Array:
    found: Array = _slope_value(a, da)
    return found


def _transpose(a: Array, ct: Array) -> Array:
    """tr(X dB[E]) is symmetric in X and E, a second derivative of the Pfaffian."""
    return conj(matrix_transpose(_apply(a, conj(matrix_transpose(ct)))))


_slope = custom_linear(_apply, _transpose)


# ---- elimination ---------------------------------------------------------------------------------


def _eliminated(a: Array) -> tuple[Array, Array, Array]:
    """Return det M, d and M of M A Mᵀ = D; none of them is differentiated."""
    *lead, n, _ = a.shape
    a = stop_gradient(a)
    start = a, broadcast_to(eye(n, dtype=a.dtype), a.shape), ones(tuple(lead), dtype=a.dtype)
    (_, m, sign), d = scan(_step, start, None, length=n // 2)
    return stop_gradient(sign), stop_gradient(moveaxis(d, 0, -1)), stop_gradient(m)


def _step(carry: Any, _: Any) -> Any:
    """Move the largest entry to the first two rows, clear their columns, and move them to the end.

    What remains of the matrix stands in front of zeros.
    """
    a, m, sign = carry
    order, is_odd = _largest_first(a)
    a, m = rows_in_order(a, order), rows_in_order(m, order)
    a = matrix_transpose(rows_in_order(matrix_transpose(a), order))
    d = a[..., 0, 1]
    divisor = where(d == 0, 1, d)[..., None, None]
    rows = arange(a.shape[-1])[:, None]
    factors = where(rows < 2, 0, a[..., :, 1::-1] / divisor)
    factors = factors * cast(1 - 2 * arange(2), a.dtype)
    a = a - matmul(factors, a[..., :2, :])
    keep = (rows >= 2) & (matrix_transpose(rows) >= 2)
    a = roll(where(keep, _skew(a), 0), (-2, -2), axis=(-2, -1))
    m = roll(m - matmul(factors, m[..., :2, :]), -2, axis=-2)
    return (a, m, where(is_odd, -sign, sign)), d


def _largest_first(a: Array) -> tuple[Array, Array]:
    """Return an order of rows with those of the largest entry in front, and if it is odd."""
    n = a.shape[-1]
    place = arange(n)
    sizes = where(place[:, None] < place, absolute(a), -1)
    largest = argmax(reshape(sizes, (*a.shape[:-2], n * n)), axis=-1)[..., None]
    i, j = largest // n, largest % n
    order = where(place == 0, i, where(place == i, 0, place))
    order = where(place == 1, j, where(place == j, where(i == 1, 0, 1), order))
    return order, ((i != 0) != (j != 1))[..., 0]


# ---- blocks --------------------------------------------------------------------------------------


def _back(sign: Array, m: Array, inside: Array) -> Array:
    return sign[..., None, None] * matmul(matmul(matrix_transpose(m), inside), m)


def _blocks(a: Array) -> Array:
    """Return the matrix of blocks [[0, -1], [1, 0]]."""
    mask = _pair_mask(a)
    return cast(matrix_transpose(mask), a.dtype) - cast(mask, a.dtype)


def _pair_mask(a: Array) -> Array:
    """Return where row 2k meets column 2k + 1."""
    place = arange(a.shape[-1])
    return (place[:, None] % 2 == 0) & (place[:, None] + 1 == place)


def _paired(x: Array) -> Array:
    """Repeat each entry along the last axis for both rows of its block."""
    return reshape(broadcast_to(x[..., None], (*x.shape, 2)), (*x.shape[:-1], 2 * x.shape[-1]))


def _half_trace(x: Array, y: Array) -> Array:
    found: Array = sum(matrix_transpose(x) * y, axis=(-2, -1)) * 0.5
    return found


def _skew(x: Array) -> Array:
    return (x - matrix_transpose(x)) * 0.5
