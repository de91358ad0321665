"""LU factorization as SciPy has it: ``lu``, ``lu_factor``, ``lu_solve``; for stacks too.

The factors have derivatives. Where a system is all that is wanted, ``solve`` costs less: it reads
derivatives off the solution. Read next: ``determinants.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro.arrays.functions.linalg.decomposing import matrices
from tenferro.arrays.functions.linalg.solving import system
from tenferro.arrays.functions.linalg.triangular import operator, solve_triangular
from tenferro.arrays.functions.structural import squeeze
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import broadcast_shapes, cast, stretch
from tenferro.primitives import argsort, eq, int32, iota
from tenferro.primitives.linalg import lu as p
from tenferro.primitives.linalg._matrices import (
    columns,
    joined_rows,
    rows,
    rows_in_order,
    unit_lower,
    upper,
)
from tenferro.primitives.structural import broadcast_in_dim


def lu(
    a: Any,
    permute_l: bool = False,
    overwrite_a: bool = False,
    check_finite: bool = True,
    p_indices: bool = False,
) -> tuple[Array, ...]:
    """Compute the pivoted LU decomposition a = P L U.

    With ``permute_l`` the result is (P L, U); with ``p_indices``, P is a vector of rows.
    P is real.

    a: [*s, m, n]   →   P: [*s, m, m]   L: [*s, m, k]   U: [*s, k, n]   with k = min(m, n)

    Convention   p_indices: a = L[p] U
    Source       see ``tenferro.primitives.lu``

    >>> import tenferro as tn
    >>> P, L, U = tn.linalg.lu([[0.0, 2.0], [1.0, 0.0]])
    >>> P
    array([[0., 1.],
           [1., 0.]])
    """
    x = matrices(a, "lu")
    factors, _, permutation = p.lu(x)
    below, above = _split(factors)
    if permute_l:
        return rows_in_order(below, _inverse(permutation)), above
    if p_indices:
        return cast(_inverse(permutation), int32), below, above
    return cast(_permutation_matrix(permutation), x.dtype.real_dtype), below, above


def _split(factors: Array) -> tuple[Array, Array]:
    """L and U, which stand in one matrix."""
    m, n = factors.shape[-2:]
    if m <= n:
        return unit_lower(columns(factors, 0, m)), upper(factors)
    square = rows(factors, 0, n)
    return joined_rows(unit_lower(square), rows(factors, n)), upper(square)


def _inverse(permutation: Array) -> Array:
    """Return the inverse permutation."""
    found: Any = argsort(permutation, permutation.ndim - 1)
    return found  # type: ignore[no-any-return]


def _permutation_matrix(permutation: Array) -> Array:
    """Return the matrix P with (P y)[permutation] = y."""
    shape = (*permutation.shape, permutation.shape[-1])
    lead = tuple(range(permutation.ndim - 1))
    spread = broadcast_in_dim(permutation, shape, (*lead, permutation.ndim))
    found: Any = eq(spread, iota(shape, permutation.ndim - 1, int32))
    return found  # type: ignore[no-any-return]


def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Array, Array]:
    """Compute both LU factors in one matrix, and the row exchanges, for ``lu_solve``.

    a: [*s, m, n]   →   factors: [*s, m, n]   pivots: i32[*s, min(m, n)]

    >>> import tenferro as tn
    >>> tn.linalg.lu_factor([[0.0, 2.0], [1.0, 0.0]])[1]
    array([1, 1], dtype=int32)
    """
    factors, pivots, _ = p.lu(matrices(a, "lu_factor"))
    return factors, pivots


def lu_solve(
    lu_and_piv: tuple[Any, Any],
    b: Any,
    trans: int | str = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """Solve a x = b, aᵀ x = b or aᴴ x = b, given ``lu_factor(a)``; see ``trans``.

    factors: [*s, n, n]   pivots: int[*s, n]   b: [n] or [*s, n, k]   →   x: as b

    >>> import tenferro as tn
    >>> tn.linalg.lu_solve(tn.linalg.lu_factor([[0.0, 2.0], [1.0, 0.0]]), [2.0, 3.0])
    array([3., 1.])
    """
    transpose, conjugate = operator("lu_solve", trans)
    factors, right, is_vector = system("lu_solve", lu_and_piv[0], b)
    n = factors.shape[-1]
    permutation = p.lu_permutation(cast(as_array(lu_and_piv[1]), int32), n)
    lead = broadcast_shapes(factors.shape[:-2], right.shape[:-2], function="lu_solve")
    order = stretch(permutation, (*lead, n))
    right = stretch(right, (*lead, *right.shape[-2:]))
    if not transpose:
        below = solve_triangular(factors, rows_in_order(right, order), 0, True, True)
        x = solve_triangular(factors, below)
    else:
        above = solve_triangular(factors, right, 2 if conjugate else 1)
        y = solve_triangular(factors, above, 2 if conjugate else 1, True, True)
        x = rows_in_order(y, _inverse(order))
    return squeeze(x, -1) if is_vector else x
