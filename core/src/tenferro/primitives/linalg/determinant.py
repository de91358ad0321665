"""``det`` and ``adjugate``: polynomials in the entries, with derivatives at every matrix.

The derivative of the determinant is the adjugate, transposed; those of the adjugate are its
polarised coefficients, which are ``adjugate`` again with directions. No rule divides by the
determinant, so derivatives of every order are right at singular matrices of any rank. Up to three
rows they are products of entries. Read next: ``slogdet.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import same_aval
from tenferro.primitives._dtype import float32
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind, over_leading_axes
from tenferro.primitives._recurrence import earlier
from tenferro.primitives.arithmetic import abs as absolute
from tenferro.primitives.comparison import ge, gt, select
from tenferro.primitives.complex import complex, conj, real
from tenferro.primitives.constants import full_like, iota, zeros_like
from tenferro.primitives.cumulative import cumprod
from tenferro.primitives.elementwise import exp
from tenferro.primitives.linalg._matrices import (
    adjoint,
    columns,
    columns_by,
    diagonal,
    diagonal_matrix,
    factorizable,
    identity,
    joined_columns,
    joined_rows,
    matmul,
    rows,
    rows_by,
    square_size,
    swapped,
)
from tenferro.primitives.linalg.lu import lu
from tenferro.primitives.linalg.svd import svd
from tenferro.primitives.reduction import reduce_max, reduce_min, reduce_prod, reduce_sum
from tenferro.primitives.structural import broadcast_in_dim, convert, reverse, stop_gradient
from tenferro.tidu import RuleBuilder, Value

__all__ = ["Adjugate", "Det", "adjugate", "det"]

_PI = 3.141592653589793
_MAX_ROWS_OF_ENTRIES = 3


class Det(Mixed):
    """y = det a;   dy = tr(adj(a) da)"""

    key = "std::det"
    batch = over_leading_axes
    linear = ()

    def abstract_eval(self, a: Aval) -> Aval:
        square_size(self, factorizable(self, a))
        return a.with_shape(a.shape[:-2])

    def jvp_a(self, da: Handle, a: Handle, y: Handle) -> Handle:
        return trace_of_product(adjugate(a), da)

    def decompose(self, a: Handle) -> Handle:
        """Multiply the pivots, with the sign of the permutation."""
        factors, pivots, _ = lu(stop_gradient(a))
        product = reduce_prod(diagonal(factors), (a.ndim - 2,))
        return product * convert(parity(pivots), a.dtype)


class Adjugate(Mixed):
    """y = Dᵏ adj(a)[d_1, …, d_k], linear in every d;   dy = Dᵏ⁺¹ adj(a)[d_1, …, d_k, da]"""

    key = "std::adjugate"
    batch = over_leading_axes

    def groups(self, count: int) -> tuple[tuple[int, ...], ...]:
        """Return one group per direction."""
        return tuple((i,) for i in range(1, count))

    def abstract_eval(self, a: Aval, *directions: Aval) -> Aval:
        square_size(self, factorizable(self, same_aval(self, a, *directions)))
        return a

    def jvp_input(
        self,
        rule: RuleBuilder,
        index: int,
        tangent: Value,
        primals_in: Sequence[Any],
        primals_out: Sequence[Any],
    ) -> Sequence[Value | None]:
        """Add one more direction."""
        direction: Any = tangent
        return (adjugate(*primals_in, direction),)

    def transpose_each(self, ct: Handle, index: int, a: Handle, *directions: Handle) -> Handle:
        """tr(x Dᵏ adj(a)[…, d]) is symmetric in x and d, being a derivative of det."""
        others = [d for i, d in enumerate(directions, 1) if i != index]
        return conj(swapped(adjugate(a, *others, swapped(conj(ct)))))

    def decompose(self, a: Handle, *directions: Handle) -> Handle:
        """Multiply entries of small matrices; of large ones use the singular values."""
        if a.shape[-1] <= _MAX_ROWS_OF_ENTRIES:
            return _of_entries(a, directions)
        return _by_svd(a, directions) if directions else bind(LargeAdjugate(), a)


class LargeAdjugate(Mixed):
    """y = adj(a), of more than three rows: what ``Adjugate`` decomposes into, without derivatives.

    A backend may have a faster lowering for matrices that are far from singular.
    """

    key = "std::large_adjugate"
    batch = over_leading_axes
    linear = ()

    def abstract_eval(self, a: Aval) -> Aval:
        return a

    def decompose(self, a: Handle) -> Handle:
        """Multiply singular values."""
        return _by_svd(a, ())


def _by_svd(a: Handle, directions: Sequence[Handle]) -> Handle:
    """Dᵏ adj(a)[d_1, …, d_k] in the frame of the singular vectors, where a is diagonal."""
    u, s, vh = svd(a)
    inner = [matmul(matmul(adjoint(u), d), adjoint(vh)) for d in directions]
    if len(directions) > 1:
        middle = _by_a_circle(s, inner)
    elif directions:
        middle = _first_derivative(convert(s, a.dtype), inner[0])
    else:
        middle = diagonal_matrix(convert(products_without_one(s), a.dtype))
    phase = det(matmul(u, vh))
    spread = broadcast_in_dim(phase, a.shape, tuple(range(phase.ndim)))
    return matmul(matmul(adjoint(vh), middle), adjoint(u)) * spread


def _of_entries(a: Handle, directions: Sequence[Handle]) -> Handle:
    """Dᵏ adj(a)[d_1, …, d_k] of matrices of up to three rows, by the formula for the entries.

    adj is a form of degree n - 1: where directions are missing, the matrix itself stands.
    """
    n, k = a.shape[-1], len(directions)
    if k >= n:
        return zeros_like(a)
    if n == 1:
        return full_like(a, 1)
    if n == 2:
        return _of_two_rows(directions[0] if k else a)
    return _of_three_rows(*directions) if k == 2 else _of_three_rows(a, *directions)


def _of_two_rows(x: Handle) -> Handle:
    """adj(x) = [[x_11, -x_01], [-x_10, x_00]]"""
    turned = swapped(reverse(x, (x.ndim - 2, x.ndim - 1)))
    return select(convert(identity(x), bool), turned, -turned)


def _of_three_rows(x: Handle, y: Handle | None = None) -> Handle:
    """adj(x), or D adj(x)[y], for three rows.

    A cofactor is made of the entries in the next two rows and columns, in turn.
    """
    of_x = [_entries_after(x, i, j) for i in (1, 2) for j in (1, 2)]
    if y is None:
        return swapped(of_x[0] * of_x[3] - of_x[1] * of_x[2])
    of_y = [_entries_after(y, i, j) for i in (1, 2) for j in (1, 2)]
    kept = of_x[0] * of_y[3] + of_y[0] * of_x[3]
    return swapped(kept - (of_x[1] * of_y[2] + of_y[1] * of_x[2]))


def _entries_after(x: Handle, i: int, j: int) -> Handle:
    """Return the matrix whose rows and columns begin i and j later, in turn."""
    x = joined_rows(rows(x, i), rows(x, 0, i))
    return joined_columns(columns(x, j), columns(x, 0, j))


def _first_derivative(s: Handle, b: Handle) -> Handle:
    """D adj(diag s)[b] = diag(Σ_k E_ik b_kk) - E∘b with E_ij = Π_{l≠i,j} s_l and E_ii = 0."""
    n = s.shape[-1]
    spread = broadcast_in_dim(s, b.shape, (*range(s.ndim - 1), s.ndim))
    here = convert(identity(b, n), bool)
    without: Any = products_without_one(select(here, full_like(b, 1), spread))
    e = select(here, zeros_like(b), without)
    along = broadcast_in_dim(diagonal(b), b.shape, (*range(s.ndim - 1), s.ndim))
    on_diagonal: Handle = reduce_sum(e * along, (b.ndim - 1,))
    return diagonal_matrix(on_diagonal) - e * b  # type: ignore[no-any-return]


def products_without_one(x: Handle) -> Handle:
    """Multiply, along the last axis, all elements but one's own, without a division."""
    axis = x.ndim - 1
    before = earlier(cumprod(x, axis), 1, axis, False, 1)
    behind = earlier(cumprod(x, axis, reverse=True), 1, axis, True, 1)
    return before * behind


def _by_a_circle(s: Handle, inner: Sequence[Handle]) -> Handle:
    """Dᵏ adj(diag s)[inner]: the mean over z on a circle of what s + z on its small part gives.

    It is a polynomial in z of a degree below the number of points, so the mean is its value at 0;
    and where it is evaluated, the matrix has a good inverse.
    """
    (*lead, n), dtype = s.shape, inner[0].dtype
    shape, points = (n + 1, *lead, n), n + 1
    largest = _spread(reduce_max(s, (s.ndim - 1,)), s)
    small = ge(largest * (1e-2 if s.dtype is float32 else 1e-4), s)
    radius = _radius(s, small, largest, inner)
    angle = convert(iota(shape, 0, "int32"), s.dtype) * (2 * _PI / points)
    circle = exp(complex(zeros_like(angle), angle)) * _repeated(radius, shape)
    values = _repeated(convert(s, circle.dtype), shape)
    moved = select(_mask(small, shape), values + circle, values)
    directions = [_repeated(convert(b, circle.dtype), (*shape, n)) for b in inner]
    found = _regular(moved, directions)
    mean = reduce_sum(found, (0,)) * (1 / points)
    return mean if dtype.is_complex else real(mean)


def _radius(s: Handle, small: Handle, largest: Handle, inner: Sequence[Handle]) -> Handle:
    """Return the least value that is not small; if all are 0, the size of the directions."""
    least = _spread(reduce_min(select(small, largest, s), (s.ndim - 1,)), s)
    sizes = sum(
        (reduce_max(absolute(b), (b.ndim - 2, b.ndim - 1)) for b in inner[1:]),
        start=reduce_max(absolute(inner[0]), (s.ndim - 1, s.ndim)),
    )
    some = gt(least, zeros_like(least))
    size = _spread(sizes, s)
    size = select(gt(size, zeros_like(size)), size, full_like(size, 1))
    return select(some, least, size)


def _regular(values: Handle, directions: Sequence[Handle]) -> Handle:
    """Dᵏ adj(m)[directions] for a diagonal m with an inverse: adj(1 + X) det(m) m⁻¹."""
    inverse = 1 / values
    expanded = expansion([rows_by(inverse, b) for b in directions])
    whole = _spread(reduce_prod(values, (values.ndim - 1,)), values)
    return columns_by(expanded, inverse * whole)


def expansion(xs: Sequence[Handle]) -> Handle:
    """Return the coefficient of t_1 … t_k in adj(1 + Σ t_i x_i), by adj(m) m = det(m)."""
    one = identity(xs[0])
    found = {frozenset[int](): one}
    for count in range(1, 1 << len(xs)):
        chosen = [i for i in range(len(xs)) if count >> i & 1]
        terms = [matmul(found[frozenset(chosen) - {i}], xs[i]) for i in chosen]
        coefficient = reduce_sum(diagonal(terms[0]), (one.ndim - 2,))
        spread = broadcast_in_dim(coefficient, one.shape, tuple(range(one.ndim - 2)))
        found[frozenset(chosen)] = spread * one - sum(terms[1:], start=terms[0])
    return found[frozenset(range(len(xs)))]


def _spread(x: Handle, like: Handle) -> Handle:
    """Repeat the number along the last axis."""
    return broadcast_in_dim(x, like.shape, tuple(range(x.ndim)))


def _repeated(x: Handle, shape: Sequence[int]) -> Handle:
    """Repeat the value for every point of the circle; real values become complex."""
    wide = complex(x, zeros_like(x)) if x.dtype.is_float else x
    return broadcast_in_dim(wide, shape, tuple(range(1, x.ndim + 1)))


def _mask(x: Handle, shape: Sequence[int]) -> Handle:
    return broadcast_in_dim(x, shape, tuple(range(1, x.ndim + 1)))


def trace_of_product(x: H, y: H) -> H:
    """tr(x y), without the product."""
    return reduce_sum(swapped(x) * y, (x.ndim - 2, x.ndim - 1))


def parity(pivots: Handle) -> Handle:
    """1 or -1: the sign of the exchanges of rows that an LU factorization did."""
    own = iota(pivots.shape, pivots.ndim - 1, pivots.dtype)
    exchanged = convert(gt(pivots, own), pivots.dtype)
    return reduce_prod(1 - 2 * exchanged, (pivots.ndim - 1,))


def det(a: H) -> H:
    """Take the determinant of matrices.

    a: [*s, n, n]   →   y: [*s]

    JVP          dy = tr(adj(a) da)
    Convention   the determinant of no rows is 1
    Raises       ShapeMismatchError, DTypeMismatchError.
    Source       Giles (2008), Collected matrix derivative results, 2.2.4; at singular matrices by
                 the adjugate instead of det(a) a⁻¹

    >>> from tenferro.primitives import det, variable
    >>> det(variable("a", (2, 3, 3), "f64")).aval
    f64[2]
    """
    return bind(Det(), a)


def adjugate(a: H, *directions: H) -> H:
    """Take the adjugate of matrices, or its derivative in some directions.

    a, directions: [*s, n, n]   →   y: [*s, n, n]

    Definition   adj(a) a = det(a) 1, continuously; with directions Dᵏ adj(a)[d_1, …, d_k], the
                 coefficient of t_1 … t_k in adj(a + Σ t_i d_i)
    JVP          one more direction
    Transpose    tr(x Dᵏ adj(a)[…, d]) is symmetric in x and d
    Convention   with more than one direction it costs n + 1 evaluations where nothing is known of
                 the rank
    Raises       ShapeMismatchError, DTypeMismatchError.
    Source       Magnus & Neudecker (2019), Matrix differential calculus, 8.5 and 8.6; with
                 a = U diag(s) Vᴴ, adj(a) = det(U) det(Vᴴ) V adj(diag s) Uᴴ

    >>> from tenferro.primitives import adjugate, variable
    >>> adjugate(variable("a", (2, 3, 3), "f64")).aval
    f64[2,3,3]
    """
    return bind(Adjugate(), a, *directions)
