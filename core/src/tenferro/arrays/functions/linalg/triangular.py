"""Triangular systems, and systems solved by a Cholesky factor.

``cholesky`` is NumPy's; ``cho_factor``, ``cho_solve`` and ``solve_triangular`` have the signatures
of SciPy, for stacks too, and ignore its hints on memory and checks. Read next:
``lu_factors.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.complex import adjoint
from tenferro.arrays.functions.linalg.solving import square, system
from tenferro.arrays.functions.structural import squeeze
from tenferro.arrays.handle.array import Array
from tenferro.arrays.promotion.broadcast import broadcast_shapes, stretch
from tenferro.arrays.registry import covers
from tenferro.primitives import InvalidParameterError
from tenferro.primitives.linalg import cholesky as cholesky_primitive
from tenferro.primitives.linalg import triangular_solve as p

_OPERATORS = {0: (False, False), 1: (True, False), 2: (True, True)}
_LETTERS = {"N": 0, "T": 1, "C": 2}


@covers("linalg.cholesky")
def cholesky(a: Any, /, *, upper: bool = False) -> Array:
    """Compute the Cholesky factor: lower L with a = L Lᴴ, or with ``upper`` Lᴴ.

    a: [*s, n, n], Hermitian   →   L: [*s, n, n]

    Convention   one triangle is read, the lower one unless ``upper``; a tangent is symmetrised, so
                 that gradients are Hermitian
    Raises       ShapeMismatchError, DTypeMismatchError; NotPositiveDefiniteError on backends that
                 see it, nan elsewhere.
    Source       see ``tenferro.primitives.cholesky``

    >>> import tenferro as tn
    >>> tn.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]])
    array([[2., 0.],
           [1., 2.]])
    """
    found = square(a, "cholesky")
    if upper:
        return adjoint(cholesky_primitive.cholesky(adjoint(found)))
    return cholesky_primitive.cholesky(found)


def cho_factor(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, bool]:
    """Compute a Cholesky factor, and whether it is the lower one, for ``cho_solve``.

    Convention   the other triangle of the factor's matrix is zero

    >>> import tenferro as tn
    >>> tn.linalg.cho_factor([[4.0, 2.0], [2.0, 5.0]], lower=True)[0]
    array([[2., 0.],
           [1., 2.]])
    """
    return cholesky(a, upper=not lower), bool(lower)


def cho_solve(
    c_and_lower: tuple[Any, bool], b: Any, overwrite_b: bool = False, check_finite: bool = True
) -> Array:
    """Solve a x = b, given ``cho_factor(a)``.

    >>> import tenferro as tn
    >>> tn.linalg.cho_solve(tn.linalg.cho_factor([[4.0, 2.0], [2.0, 5.0]]), [8.0, 12.0])
    array([1., 2.])
    """
    factor, lower = c_and_lower
    return cholesky_solve(factor, b, upper=not lower)


def cholesky_solve(factor: Any, b: Any, *, upper: bool = False) -> Array:
    """Solve a x = b, given ``cholesky(a, upper=upper)``.

    factor: [*s, n, n]   b: [n] or [*s, n, k]   →   x: as b

    >>> import tenferro as tn
    >>> tn.linalg.cholesky_solve(tn.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]]), [8.0, 12.0])
    array([1., 2.])
    """
    half = solve_triangular(factor, b, trans=2 if upper else 0, lower=not upper)
    return solve_triangular(factor, half, trans=0 if upper else 2, lower=not upper)


def solve_triangular(
    a: Any,
    b: Any,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """Solve a triangular system; leading axes broadcast, and a b of rank 1 is a vector.

    a: [*s, n, n]   b: [n] or [*s, n, k]   →   x: as b

    Definition   a x = b, aᵀ x = b or aᴴ x = b for trans 0, 1, 2 (or N, T, C)
    Convention   the other triangle is not read, nor the diagonal if it is said to be one

    >>> import tenferro as tn
    >>> tn.linalg.solve_triangular([[2.0, 0.0], [1.0, 4.0]], [2.0, 9.0], lower=True)
    array([1., 2.])
    """
    transpose, conjugate = operator("solve_triangular", trans)
    matrix, right, is_vector = system("solve_triangular", a, b)
    lead = broadcast_shapes(matrix.shape[:-2], right.shape[:-2], function="solve_triangular")
    x = p.triangular_solve(
        stretch(matrix, (*lead, *matrix.shape[-2:])),
        stretch(right, (*lead, *right.shape[-2:])),
        lower=lower,
        transpose=transpose,
        conjugate=conjugate,
        unit_diagonal=unit_diagonal,
    )
    return squeeze(x, -1) if is_vector else x


def operator(function: str, trans: int | str) -> tuple[bool, bool]:
    """Return whether ``trans`` transposes the matrix, and whether it conjugates it.

    Raises InvalidParameterError: if ``trans`` is none of SciPy's.
    """
    found = _OPERATORS.get(_LETTERS.get(trans, -1) if isinstance(trans, str) else trans)
    if found is None:
        error = InvalidParameterError.of(
            function, "no such operator", got=f"trans={trans!r}", need="0, 1, 2, 'N', 'T' or 'C'",
            parameter="trans", value=trans,
        )  # fmt: skip
        raise at_user_line(error)
    return found
