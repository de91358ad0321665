"""Iterations for Riccati's equations in three matrices, which have no derivatives of their own.

Both converge quadratically, on the matrix sign function or by doubling the number of steps, and two
steps of Newton's method refine what they find. Read next: ``riccati.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.arrays import Array
from tenferro.arrays.functions.arithmetic import absolute, sqrt
from tenferro.arrays.functions.comparison import where
from tenferro.arrays.functions.complex import adjoint, imag, real
from tenferro.arrays.functions.contraction import linalg_diagonal as diagonal
from tenferro.arrays.functions.contraction import matmul
from tenferro.arrays.functions.creation import full, zeros
from tenferro.arrays.functions.data_types import finfo
from tenferro.arrays.functions.joining import block
from tenferro.arrays.functions.linalg.decomposing import qr
from tenferro.arrays.functions.linalg.lyapunov import lyapunov, stein
from tenferro.arrays.functions.linalg.solving import inv, solve
from tenferro.arrays.functions.linalg.triangular import solve_triangular
from tenferro.arrays.functions.reduction import all as every
from tenferro.arrays.functions.reduction import any as some
from tenferro.arrays.functions.reduction import sum as total
from tenferro.arrays.functions.triangles import eye
from tenferro.arrays.promotion.broadcast import cast
from tenferro.primitives.linalg.schur import schur
from tenferro.transforms.control.while_loop import while_loop
from tenferro.transforms.derivatives.stop_gradient import stop_gradient

MAX_DOUBLINGS = 60
NEWTON_STEPS = 2

_Solver = Callable[[Array, Array, Array], Array]
_Newton = Callable[[Array, Array, Array, Array], tuple[Array, Array]]


def continuous_solution(a: Array, g: Array, q: Array) -> Array:
    """Return the stabilizing x of aᴴ x + x a - x g x + q = 0, nan if there is none."""
    return _refined(a, g, q, _by_sign, _newton_continuous)


def discrete_solution(a: Array, g: Array, q: Array) -> Array:
    """Return the stabilizing x of x = aᴴ x (1 + g x)⁻¹ a + q, nan if there is none."""
    return _refined(a, g, q, _by_doubling, _newton_discrete)


def _refined(a: Array, g: Array, q: Array, solver: _Solver, newton: _Newton) -> Array:
    """Solve with g and q of equal norms, and refine; nan where the result is not stabilizing.

    x / c solves the equation for c g and q / c.
    """
    a, g, q = (stop_gradient(x) for x in (a, g, q))
    if not a.size:
        return q
    sizes = _norm(q), _norm(g)
    is_trivial = (sizes[0] == 0) | (sizes[1] == 0)
    c = where(is_trivial, 1.0, sqrt(sizes[0] / where(is_trivial, 1.0, sizes[1])))
    c = cast(c, a.dtype)
    g, q = g * c, q / c
    x = solver(a, g, q)
    x, is_finite = _finite(x)
    is_stable, change = is_finite, x
    for _ in range(NEWTON_STEPS):
        change, is_stable = newton(a, g, q, x)
        x = hermitian(x + change)
    tolerance = finfo(a.dtype).eps ** 0.25
    is_settled = _norm(change) <= tolerance * _norm(x)
    is_settled = is_settled | (_norm(matmul(g, change)) <= tolerance * _norm(a - matmul(g, x)))
    is_found = is_finite & is_stable & is_settled
    found: Array = where(is_found, x * c, full((), float("nan"), dtype=x.dtype))
    return found


def _newton_continuous(a: Array, g: Array, q: Array, x: Array) -> tuple[Array, Array]:
    """Return the step of Newton's method, and whether the closed loop is stable."""
    loop, is_finite = _finite(a - matmul(g, x))
    rest = twice_hermitian(matmul(adjoint(a), x)) - matmul(matmul(x, g), x) + q
    is_stable = is_finite & _all(real(_values(loop)) < 0)
    return lyapunov(adjoint(where(is_stable, loop, -identity_like(a))), -rest), is_stable


def _newton_discrete(a: Array, g: Array, q: Array, x: Array) -> tuple[Array, Array]:
    """Return the step of Newton's method, and whether the closed loop is stable."""
    loop, is_finite = _finite(closed_loop(a, g, x))
    rest = hermitian(matmul(matmul(adjoint(a), x), loop)) + q - x
    values = _values(loop)
    is_stable = is_finite & _all(real(values) ** 2 + imag(values) ** 2 < 1)
    return stein(adjoint(where(is_stable, loop, 0 * identity_like(a))), rest), is_stable


def _finite(loop: Array) -> tuple[Array, Array]:
    """Return each matrix, 0 where it is not finite, and whether it is."""
    is_finite = all_elements(absolute(loop) < float("inf"))
    return where(is_finite, loop, zeros((), dtype=loop.dtype)), is_finite


def _values(loop: Array) -> Array:
    """Return the conjugate eigenvalues, by the Schur form that Lyapunov's equation needs."""
    return diagonal(schur(adjoint(loop))[0])


def _by_sign(a: Array, g: Array, q: Array) -> Array:
    """Find x by the sign s of the matrix h = [[a, -g], [-q, -aᴴ]]: (s + 1) [1, x]ᵀ = 0.

    Roberts (1980), Linear model reduction and solution of the algebraic Riccati equation by use of
    the sign function; scaled as in Higham (2008), Functions of matrices, 5.5.
    """
    n = a.shape[-1]
    h = block([[a, -g], [-q, -adjoint(a)]])
    shift = cast(_norm(h) * finfo(h.dtype).eps, h.dtype)
    h = h + identity_like(h) * shift  # so that none is exactly singular

    def step(state: Any) -> Any:
        h, _, count = state
        inverse = inv(h)
        scale = cast(sqrt(_norm(inverse) / _norm(h)), h.dtype)
        after = (h * scale + inverse / scale) * 0.5
        return after, _is_moving(after, h), count + 1

    h = while_loop(_goes_on, step, (h, True, 0))[0]
    left = h[..., n:] + block([[zeros(a.shape, dtype=a.dtype)], [identity_like(a)]])
    right = h[..., :n] + block([[identity_like(a)], [zeros(a.shape, dtype=a.dtype)]])
    basis, triangle = qr(left)
    is_zero = diagonal(triangle)[..., None] == 0
    triangle = triangle + where(is_zero, identity_like(a), zeros((), dtype=a.dtype))
    return hermitian(solve_triangular(triangle, -matmul(adjoint(basis), right)))


def _by_doubling(a: Array, g: Array, q: Array) -> Array:
    """Find x by doubling the number of steps of dynamic programming, from a positive x.

    From x = 0, an unstable mode without a cost would never be controlled. With x = y + z, y solves
    the equation for (1 + g z)⁻¹ a, (1 + g z)⁻¹ g and aᴴ z (1 + g z)⁻¹ a + q - z, and starts at 0.
    Chu, Fan, Lin & Wang (2004), Structure-preserving algorithms for periodic discrete-time
    algebraic Riccati equations, Int. J. Control 77.
    """
    sizes = _norm(q), _norm(g)
    least = where(sizes[0] > 0, sizes[0], where(sizes[1] > 0, 1 / sizes[1], 1.0))
    z = identity_like(a) * cast(0.1 * least, a.dtype)
    both = solve(identity_like(a) + matmul(g, z), block([[a, g]]))
    n = a.shape[-1]
    q = hermitian(matmul(matmul(adjoint(a), z), both[..., :n])) + q - z
    a, g = both[..., :n], hermitian(both[..., n:])

    def step(state: Any) -> Any:
        a, g, h, _, count = state
        both = solve(identity_like(a) + matmul(g, h), block([[a, matmul(g, adjoint(a))]]))
        seen, reached = both[..., :n], both[..., n:]
        after = hermitian(h + matmul(matmul(adjoint(a), h), seen))
        g = hermitian(g + matmul(a, reached))
        return matmul(a, seen), g, after, _is_moving(after, h), count + 1

    found: Array = z + while_loop(_goes_on, step, (a, g, q, True, 0))[2]
    return found


def _goes_on(state: Any) -> Any:
    *_, is_moving, count = state
    return is_moving & (count < MAX_DOUBLINGS)


def _is_moving(x: Array, before: Array) -> Array:
    """Return True if the last step of quadratic convergence was too long to be the last one."""
    return some(_norm(x - before) > finfo(x.dtype).eps ** 0.6 * _norm(x))


def identity_like(a: Array) -> Array:
    """Return the identity for each matrix of a stack."""
    return eye(a.shape[-1], dtype=a.dtype) + zeros(a.shape, dtype=a.dtype)


def _norm(x: Array) -> Array:
    """Return the Frobenius norm of each matrix, with axes of size 1."""
    square = real(x) ** 2 + imag(x) ** 2 if x.dtype.is_complex else x**2
    return sqrt(total(square, axis=(-2, -1), keepdims=True))


def _all(condition: Array) -> Array:
    """Return whether a condition holds for all values of each matrix, with axes of size 1."""
    return every(condition, axis=-1)[..., None, None]


def all_elements(condition: Array) -> Array:
    """Return whether a condition holds in all of each matrix, with axes of size 1."""
    return every(condition, axis=(-2, -1), keepdims=True)


def twice_hermitian(x: Array) -> Array:
    """Return x + xᴴ."""
    return x + adjoint(x)


def hermitian(x: Array) -> Array:
    """Return the Hermitian part."""
    return twice_hermitian(x) * 0.5


def closed_loop(a: Array, g: Array, x: Array) -> Array:
    """Return (1 + g x)⁻¹ a."""
    return solve(identity_like(a) + matmul(g, x), a)
