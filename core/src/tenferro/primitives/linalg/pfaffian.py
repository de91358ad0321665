"""The Pfaffian of skew-symmetric matrices, with derivatives at singular ones too.

M A Mᵀ = D is block diagonal with blocks [[0, d_k], [-d_k, 0]], found by elimination with complete
pivoting; det M is 1 or -1. Then pf A = det M Π d_k, and the matrix B = pf(A) A⁻¹ has entries that
are polynomials: B = det M Mᵀ J diag(Π_{l≠k} d_l) M for the blocks J = [[0, -1], [1, 0]]. So

    d pf = ½ tr(B dA),   dB = det M Mᵀ (J diag(Σ_l q_kl e_l) - q_kl J E_kl J) M,

with E = M dA Mᵀ, e_l its entries above the diagonals of the blocks, and q_kl the product of all d
but two, which is 0 for k = l. Neither divides by the Pfaffian. Read next: ``slogdet.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro.computegraph import Fragment
from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import same_aval
from tenferro.primitives._handle import H, Handle, variable
from tenferro.primitives._primitive import Mixed, bind, over_leading_axes
from tenferro.primitives.arithmetic import abs as absolute
from tenferro.primitives.arithmetic import div
from tenferro.primitives.comparison import eq, gt, logical_xor, ne, select
from tenferro.primitives.complex import conj
from tenferro.primitives.constants import constant, full_like, iota, zeros_like
from tenferro.primitives.control.scan import scan
from tenferro.primitives.linalg._matrices import (
    columns,
    factorizable,
    identity,
    joined_columns,
    joined_rows,
    kept,
    matmul,
    rows,
    rows_by,
    rows_in_order,
    square_size,
    swapped,
)
from tenferro.primitives.linalg.determinant import products_without_one
from tenferro.primitives.linalg.linear_solve import inverse
from tenferro.primitives.reduction import argmax, reduce_prod, reduce_sum
from tenferro.primitives.structural import broadcast_in_dim, convert, pad, reshape, transpose

__all__ = [
    "Pfaffian", "PfaffianAdjugate", "PfaffianSlope", "pfaffian", "pfaffian_adjugate",
    "pfaffian_slope",
]  # fmt: skip


class Pfaffian(Mixed):
    """y = pf a of the skew-symmetric part of a;   dy = ½ tr(B da) with B = pf(a) a⁻¹"""

    key = "std::pfaffian"
    batch = over_leading_axes
    linear = ()

    def abstract_eval(self, a: Aval) -> Aval:
        square_size(self, factorizable(self, a))
        return a.with_shape(a.shape[:-2])

    def jvp_a(self, da: Handle, a: Handle, y: Handle) -> Handle:
        return _half_trace(pfaffian_adjugate(a), da)

    def decompose(self, a: Handle) -> Handle:
        """Multiply the entries d; no rows have the Pfaffian 1, an odd number of them 0."""
        if a.shape[-1] % 2 or not a.size:
            value = 0 if a.shape[-1] % 2 else 1
            return broadcast_in_dim(constant(value, a.dtype), a.shape[:-2], ())
        sign, d, _ = _eliminated(a)
        return sign * reduce_prod(d, (d.ndim - 1,))


class PfaffianAdjugate(Mixed):
    """B = pf(a) a⁻¹, whose entries are polynomials;   dB = the slope along da"""

    key = "std::pfaffian_adjugate"
    batch = over_leading_axes
    linear = ()

    def abstract_eval(self, a: Aval) -> Aval:
        square_size(self, factorizable(self, a))
        return a

    def jvp_a(self, da: Handle, a: Handle, b: Handle) -> Handle:
        return pfaffian_slope(a, da)

    def decompose(self, a: Handle) -> Handle:
        if a.shape[-1] % 2 or not a.size:
            return zeros_like(a)
        sign, d, m = _eliminated(a)
        without: Any = products_without_one(d)
        return _back(sign, m, rows_by(_paired(without), _blocks(a)))


class PfaffianSlope(Mixed):
    """dB along e;   its derivative by a is that of ½ tr(B e) a⁻¹ - B e a⁻¹, with an inverse"""

    key = "std::pfaffian_slope"
    batch = over_leading_axes
    linear = ((1,),)

    def abstract_eval(self, a: Aval, e: Aval) -> Aval:
        square_size(self, factorizable(self, same_aval(self, a, e)))
        return a

    def transpose_e(self, ct: Handle, a: Handle, e: Handle) -> Handle:
        """tr(X dB[E]) is symmetric in X and E, a second derivative of the Pfaffian."""
        return conj(swapped(bind(self, a, conj(swapped(ct)))))

    def jvp_a(self, da: Handle, a: Handle, e: Handle, y: Handle) -> Handle:
        if a.shape[-1] % 2 or not a.size:
            return zeros_like(y)
        e, inverted = _skew(e), inverse(_skew(a))
        b, db = pfaffian_adjugate(a), pfaffian_slope(a, da)
        moved = matmul(matmul(inverted, _skew(da)), inverted)
        spread = [
            broadcast_in_dim(_half_trace(x, e), a.shape, tuple(range(a.ndim - 2))) for x in (b, db)
        ]
        first = spread[1] * inverted - spread[0] * moved
        return first + matmul(matmul(b, e), moved) - matmul(matmul(db, e), inverted)

    def decompose(self, a: Handle, e: Handle) -> Handle:
        if a.shape[-1] % 2 or not a.size:
            return zeros_like(a)
        sign, d, m = _eliminated(a)
        inside = matmul(matmul(m, _skew(e)), swapped(m))
        half, lead = d.shape[-1], tuple(range(d.ndim - 1))
        along = broadcast_in_dim(d, (*d.shape, half), (*lead, d.ndim))
        same = convert(identity(along), bool)
        others: Any = products_without_one(select(same, full_like(along, 1), along))
        q = select(same, zeros_like(along), others)
        on_blocks = reduce_sum(kept(_pair_mask(a), inside), (a.ndim - 1,))
        above = reduce_sum(reshape(on_blocks, (*d.shape, 2)), (d.ndim,))
        along = reduce_sum(q * broadcast_in_dim(above, q.shape, (*lead, d.ndim)), (d.ndim,))
        apart = _paired(swapped(_paired(q)))
        j = _blocks(a)
        crossed = matmul(matmul(j, inside), j)
        return _back(sign, m, rows_by(_paired(along), j) - apart * crossed)


# ---- elimination ---------------------------------------------------------------------------------


def _eliminated(a: Handle) -> tuple[Handle, Handle, Handle]:
    """Return det M, d and M of M A Mᵀ = D."""
    lead, n = a.shape[:-2], a.shape[-1]
    sign = broadcast_in_dim(constant(1, a.dtype), lead, ())
    body = _step(a.aval, lead)
    _, m, sign, d = scan(body, (), (_skew(a), identity(a), sign), (), n // 2)
    return sign, transpose(d, (*range(1, d.ndim), 0)), m


def _step(aval: Aval, lead: tuple[int, ...]) -> Fragment:
    """Move the largest entry to the first two rows, clear their columns, and move them to the end.

    What remains of the matrix stands in front of zeros.
    """
    a, m = variable("a", aval.shape, aval.dtype), variable("m", aval.shape, aval.dtype)
    sign = variable("sign", lead, aval.dtype)
    order, is_odd = _largest_first(a)
    exchanged = swapped(rows_in_order(swapped(rows_in_order(a, order)), order))
    reordered = rows_in_order(m, order)
    d = reduce_sum(columns(rows(exchanged, 0, 1), 1, 2), (a.ndim - 2, a.ndim - 1))
    is_zero: Any = eq(d, zeros_like(d))
    divisor = select(is_zero, full_like(d, 1), d)
    pair = joined_columns(columns(exchanged, 1, 2), -columns(exchanged, 0, 1))
    quotient = pair / broadcast_in_dim(divisor, pair.shape, tuple(range(len(lead))))
    place = iota(pair.shape, a.ndim - 2, "int32")
    is_rest: Any = gt(place, full_like(place, 1))
    factors = kept(is_rest, quotient)
    rest = _skew(exchanged - matmul(factors, rows(exchanged, 0, 2)))
    steps = [0] * len(lead) + [2, 2]
    after = pad(rest, constant(0, a.dtype), [-s for s in steps], steps, [0] * a.ndim)
    moved = reordered - matmul(factors, rows(reordered, 0, 2))
    if aval.shape[-1] > 2:
        moved = joined_rows(rows(moved, 2), rows(moved, 0, 2))
    after_exchanges = select(is_odd, -sign, sign)
    return Fragment.of(
        [x.key for x in (a, m, sign)], [x.key for x in (after, moved, after_exchanges, d)]
    )


def _largest_first(a: Handle) -> tuple[Handle, Any]:
    """Return an order of rows with those of the largest entry in front, and if it is odd."""
    n, lead = a.shape[-1], a.shape[:-2]
    row, column = (iota(a.shape, a.ndim - 2 + i, "int32") for i in (0, 1))
    size = absolute(a)
    is_above: Any = gt(column, row)
    sizes = reshape(select(is_above, size, full_like(size, -1)), (*lead, n * n))
    largest = argmax(sizes, len(lead), "int32")
    first = div(largest, full_like(largest, n))
    second = largest - first * n
    shape, along = (*lead, n), tuple(range(len(lead)))
    i, j = (broadcast_in_dim(x, shape, along) for x in (first, second))
    place = iota(shape, len(lead), "int32")
    zero, one = zeros_like(place), full_like(place, 1)
    order = select(eq(place, zero), i, select(eq(place, i), zero, place))
    other = select(eq(place, j), select(eq(i, one), zero, one), order)
    order = select(eq(place, one), j, other)
    is_moved = ne(first, zeros_like(first)), ne(second, full_like(second, 1))
    return order, logical_xor(*is_moved)


# ---- blocks --------------------------------------------------------------------------------------


def _back(sign: Handle, m: Handle, inside: Handle) -> Handle:
    spread = broadcast_in_dim(sign, m.shape, tuple(range(sign.ndim)))
    return spread * matmul(matmul(swapped(m), inside), m)


def _blocks(a: Handle) -> Handle:
    """Return the matrix of blocks [[0, -1], [1, 0]]."""
    mask: Handle = convert(_pair_mask(a), a.dtype)
    return swapped(mask) - mask


def _pair_mask(a: Handle) -> Any:
    """Return where row 2k meets column 2k + 1."""
    row, column = (iota(a.shape, a.ndim - 2 + i, "int32") for i in (0, 1))
    half = div(row, full_like(row, 2))
    is_even: Any = eq(half * 2, row)
    return eq(select(is_even, row + 1, full_like(row, -1)), column)


def _paired(x: Handle) -> Handle:
    """Repeat each entry along the last axis for both rows of its block."""
    twice = broadcast_in_dim(x, (*x.shape, 2), tuple(range(x.ndim)))
    return reshape(twice, (*x.shape[:-1], 2 * x.shape[-1]))


def _half_trace(x: Handle, y: Handle) -> Handle:
    return reduce_sum(swapped(x) * y, (x.ndim - 2, x.ndim - 1)) * 0.5


def _skew(x: Handle) -> Handle:
    return (x - swapped(x)) * 0.5


def pfaffian(a: H) -> H:
    """Compute the Pfaffian of skew-symmetric matrices; its square is the determinant.

    a: [*b, n, n]   →   y: [*b]

    Definition   Π d_k det M of the head of this file; 1 of no rows, and 0 of an odd number of them
    JVP          dy = ½ tr(B da) with B = pf(a) a⁻¹
    Convention   the skew-symmetric part (a - aᵀ)/2 is read; complex matrices are transposed, not
                 conjugated. First and second derivatives are right at matrices of any rank; third
                 ones have an inverse, as ``linear_solve``
    Raises       ShapeMismatchError, DTypeMismatchError.
    Source       Wimmer (2012), arXiv:1102.3440; the elimination: Bunch (1982), A note on the stable
                 decomposition of skew-symmetric matrices

    >>> from tenferro.primitives import pfaffian, variable
    >>> pfaffian(variable("a", (4, 4), "f64")).aval
    f64[]
    """
    return bind(Pfaffian(), a)


def pfaffian_adjugate(a: H) -> H:
    """Compute B = pf(a) a⁻¹ of skew-symmetric matrices, at singular ones too.

    a: [*b, n, n]   →   B: [*b, n, n]

    JVP          the slope of B along da, by products of all d but two
    Raises       ShapeMismatchError, DTypeMismatchError.

    >>> from tenferro.primitives import pfaffian_adjugate, variable
    >>> pfaffian_adjugate(variable("a", (4, 4), "f64")).aval
    f64[4,4]
    """
    return bind(PfaffianAdjugate(), a)


def pfaffian_slope(a: H, e: H) -> H:
    """Compute the derivative of B = pf(a) a⁻¹ along e, for skew-symmetric matrices.

    a: [*b, n, n]   e: [*b, n, n]   →   dB: [*b, n, n]

    JVP          by e itself; by a with an inverse, so a must not be singular there
    Raises       ShapeMismatchError, DTypeMismatchError.

    >>> from tenferro.primitives import pfaffian_slope, variable
    >>> pfaffian_slope(variable("a", (4, 4), "f64"), variable("e", (4, 4), "f64")).aval
    f64[4,4]
    """
    return bind(PfaffianSlope(), a, e)
