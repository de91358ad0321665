"""Lyapunov's equations, of continuous and of discrete time: a x + x aᴴ = q and a x aᴴ - x + q = 0.

The first is Sylvester's equation for a and aᴴ, which have one Schur form. The second becomes one of
the first kind by a Cayley transform. Derivatives of every order are those of Sylvester's equation.
Read next: ``tenferro/transforms/matrix_functions/riccati.py``.
"""

from __future__ import annotations

from math import cos, pi, sin
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.arithmetic import absolute
from tenferro.arrays.functions.comparison import where
from tenferro.arrays.functions.complex import adjoint, conj, real
from tenferro.arrays.functions.contraction import linalg_diagonal as diagonal
from tenferro.arrays.functions.data_types import finfo
from tenferro.arrays.functions.elementwise import stop_gradient
from tenferro.arrays.functions.linalg.decomposing import matrices, unfit
from tenferro.arrays.functions.linalg.solving import solve, square
from tenferro.arrays.functions.rearranging import flip
from tenferro.arrays.functions.reduction import all as every
from tenferro.arrays.functions.reduction import argmax
from tenferro.arrays.functions.reduction import min as smallest
from tenferro.arrays.functions.triangles import eye
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.handle.traces import is_traced
from tenferro.arrays.promotion.broadcast import broadcast_shapes, cast, stretch
from tenferro.primitives import InvalidParameterError, promote_dtypes
from tenferro.primitives.linalg.schur import schur
from tenferro.primitives.linalg.sylvester_solve import sylvester_solve
from tenferro.primitives.linalg.triangular_solve import triangular_solve

METHODS = (None, "direct", "bilinear")


def solve_continuous_lyapunov(a: Any, q: Any) -> Array:
    """Solve a x + x aᴴ = q.

    a: [*s, n, n]   q: [*s, n, n]   →   x: [*s, n, n]; leading axes broadcast

    The matrix is brought to its complex Schur form, once for the value and derivatives of every
    order. They exist for equal eigenvalues of a, too. The covariance of dx = a x dt + noise of
    intensity w solves the equation for q = -w.

    Raises   ShapeMismatchError; where two eigenvalues of a have λᵢ + conj(λⱼ) = 0
             SingularMatrixError, on backends that see it.
    Source   Bartels & Stewart (1972), Solution of the matrix equation AX + XB = C

    >>> import tenferro as tn
    >>> tn.linalg.solve_continuous_lyapunov([[-2.0]], [[-8.0]])
    array([[2.]])
    """
    return lyapunov(*_operands("solve_continuous_lyapunov", a, q))


def solve_discrete_lyapunov(a: Any, q: Any, method: str | None = None) -> Array:
    """Solve a x aᴴ - x + q = 0.

    a: [*s, n, n]   q: [*s, n, n]   →   x: [*s, n, n]; leading axes broadcast

    The matrix is brought to its complex Schur form, once for the value and derivatives of every
    order, in O(n³) operations. The covariance of x' = a x + noise of covariance q is the solution.

    method: None, or SciPy's "direct" or "bilinear"; they give the same result here. SciPy's
    "bilinear" loses digits for eigenvalues near -1; here the point of the unit circle with the
    largest distance from all eigenvalues has the role of -1.

    Raises   ShapeMismatchError; InvalidParameterError: for another method, and where two
             eigenvalues have λᵢ conj(λⱼ) = 1; inside of transforms the solution is nan there.
    Source   Golub & Van Loan (2013), Matrix Computations, 7.6.3; Cayley transform: Barraud (1977),
             A numerical algorithm to solve AᵀXA - X = Q

    >>> import tenferro as tn
    >>> tn.linalg.solve_discrete_lyapunov([[0.5]], [[3.0]])
    array([[4.]])
    """
    if method not in METHODS:
        raise at_user_line(InvalidParameterError.of(
            "solve_discrete_lyapunov", "no such method", got=repr(method),
            need='None, "direct" or "bilinear"', parameter="method", value=method,
        ))  # fmt: skip
    matrix, known = _operands("solve_discrete_lyapunov", a, q)
    found = stein(matrix, known)
    if not is_traced(found.key) and found.size and _has_nan_of_its_own(found, matrix, known):
        raise at_user_line(InvalidParameterError.of(
            "solve_discrete_lyapunov", "the equation has no unique solution",
            got="two eigenvalues of a whose product λᵢ conj(λⱼ) is 1",
            need="none of modulus 1, as a stable matrix has none", parameter="a", value=a,
        ))  # fmt: skip
    return found


def lyapunov(a: Array, q: Array) -> Array:
    """Solve a x + x aᴴ = q for operands of one dtype and batch."""
    t, z = schur(stop_gradient(a))
    found: Array = sylvester_solve(a, adjoint(a), t, z, _reversed_adjoint(t), flip(z, -1), q)
    return found


def stein(a: Array, q: Array) -> Array:
    """Solve a x aᴴ - x + q = 0 for operands of one dtype and batch; nan if it is singular.

    With F = (a + c)⁻¹ (a - c) for a number c of modulus 1, F x + x Fᴴ = -2 (a + c)⁻¹ q (a + c)⁻ᴴ.
    """
    if not q.size:
        return q
    t, z = schur(stop_gradient(a))
    one = eye(a.shape[-1], dtype=t.dtype)
    values = diagonal(t)
    c = _far_from(-values)[..., None, None] * one
    triangle = triangular_solve(t + c, t - c, lower=False)
    matrix = cast(a, t.dtype)
    shifted = matrix + c
    transformed = solve(shifted, matrix - c)
    half = solve(shifted, adjoint(solve(shifted, adjoint(cast(q, t.dtype)))))
    x = sylvester_solve(
        transformed,
        adjoint(transformed),
        triangle,
        z,
        _reversed_adjoint(triangle),
        flip(z, -1),
        -2 * half,
    )
    x = x if q.dtype.is_complex else real(x)
    return x * cast(_one_or_nan(values), q.dtype)[..., None, None]


def _operands(function: str, a: Any, q: Any) -> tuple[Array, Array]:
    """Return both operands in one dtype and batch.

    Raises ShapeMismatchError: if they do not fit.
    """
    matrix, known = square(a, function), matrices(q, function)
    if known.shape[-2:] != matrix.shape[-2:]:
        raise unfit(function, "a [*s, n, n], q [*s, n, n]", matrix, known)
    dtype = promote_dtypes(matrix.dtype, known.dtype)
    lead = broadcast_shapes(matrix.shape[:-2], known.shape[:-2], function=function)
    shape = (*lead, *matrix.shape[-2:])
    return stretch(cast(matrix, dtype), shape), stretch(cast(known, dtype), shape)


def _reversed_adjoint(t: Array) -> Array:
    """Return P tᴴ P, an upper triangle if t is one; P reverses the order of the rows."""
    return flip(adjoint(t), (-2, -1))


def _far_from(values: Array) -> Array:
    """Return the one of some points of the unit circle that is farthest from all the values."""
    count = 2 * values.shape[-1] + 6
    angles = [2 * pi * (k + 0.5) / count for k in range(count)]
    points = cast(as_array([complex(cos(x), sin(x)) for x in angles]), values.dtype)
    nearest = smallest(absolute(values[..., None, :] - points[:, None]), axis=-1)
    return points[argmax(nearest, axis=-1)]


def _one_or_nan(values: Array) -> Array:
    """Return 1, or nan where the product of a value and a conjugate one is 1 up to rounding."""
    size = values.shape[-1]
    product = values[..., :, None] * conj(values)[..., None, :]
    gaps = absolute(1 - product) - 2 * size * finfo(values.dtype).eps * absolute(product)
    found: Array = where(every(gaps > 0, axis=(-2, -1)), 1.0, float("nan"))
    return found


def _has_nan_of_its_own(found: Array, *operands: Array) -> bool:
    """Return True if a known result has nan although no operand has."""
    return _has_nan(found) and not any([_has_nan(x) for x in operands])


def _has_nan(x: Array) -> bool:
    return bool((x != x).any())
