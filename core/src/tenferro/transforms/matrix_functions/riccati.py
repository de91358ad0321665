"""Stabilizing solutions of Riccati's algebraic equations, of continuous and of discrete time.

Both are reduced to three matrices: aᴴ x + x a - x g x + q = 0 and x = aᴴ x (1 + g x)⁻¹ a + q. An
iteration of quadratic convergence finds x, and two steps of Newton's method refine it. A derivative
solves Lyapunov's equation of the closed loop, which is linear, so there is one of every order:

    f = a - g x:             fᴴ dx + dx f  + (daᴴ x + x da - x dg x + dq) = 0
    f = (1 + g x)⁻¹ a:       fᴴ dx f - dx  + (daᴴ x f + fᴴ x da - fᴴ x dg x f + dq) = 0

Kao & Hennequin (2020), Automatic differentiation of Sylvester, Lyapunov, and algebraic Riccati
equations (arXiv:2011.11430). Read next: ``tenferro/arrays/functions/linalg/lyapunov.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array, is_traced
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.arithmetic import absolute, sqrt
from tenferro.arrays.functions.comparison import where
from tenferro.arrays.functions.complex import adjoint, imag, real
from tenferro.arrays.functions.contraction import linalg_diagonal as diagonal
from tenferro.arrays.functions.contraction import matmul
from tenferro.arrays.functions.creation import full, zeros
from tenferro.arrays.functions.data_types import finfo
from tenferro.arrays.functions.joining import block
from tenferro.arrays.functions.linalg.decomposing import matrices, qr, unfit
from tenferro.arrays.functions.linalg.eigenproblems import eigvalsh
from tenferro.arrays.functions.linalg.lyapunov import lyapunov, stein
from tenferro.arrays.functions.linalg.solving import inv, solve, square
from tenferro.arrays.functions.linalg.triangular import solve_triangular
from tenferro.arrays.functions.reduction import all as every
from tenferro.arrays.functions.reduction import any as some
from tenferro.arrays.functions.reduction import max as largest
from tenferro.arrays.functions.reduction import sum as total
from tenferro.arrays.functions.triangles import eye
from tenferro.arrays.promotion.broadcast import broadcast_shapes, cast, stretch
from tenferro.primitives import InvalidParameterError, promote_dtypes
from tenferro.primitives.linalg.schur import schur
from tenferro.transforms.control.while_loop import while_loop
from tenferro.transforms.custom_rules.jvp import custom_jvp
from tenferro.transforms.derivatives.stop_gradient import stop_gradient

MAX_DOUBLINGS = 60
NEWTON_STEPS = 2
MIN_SHARE_OF_R = 0.01  # of r and bᴴ q b; a smaller r is replaced by r + bᴴ q b


class _Problem(NamedTuple):
    """The operands of a public function in one dtype and batch; e is None for the identity."""

    a: Array
    b: Array
    q: Array
    r: Array
    s: Array


def solve_continuous_are(
    a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: bool = True
) -> Array:
    """Solve aᴴ x e + eᴴ x a - (eᴴ x b + s) r⁻¹ (bᴴ x e + sᴴ) + q = 0 for the stabilizing x.

    a, e, q: [*l, n, n]   b, s: [*l, n, m]   r: [*l, m, m]   →   x: [*l, n, n]; leading axes
    broadcast

    The best control of dx/dt = a x + b u under the costs ∫ xᴴ q x + uᴴ r u is u = -r⁻¹ bᴴ X x, for
    the solution X. The covariance of the Kalman-Bucy filter of a measurement c x is the solution
    for aᴴ, cᴴ and the intensities of both noises.

    Parameters
    ----------
    a, b, q, r : arrays
        q and r are Hermitian, r and e are regular.
    e, s : arrays, optional
        The identity and 0 by default.
    balanced : bool, default True
        As in SciPy; it changes nothing here, since a residual is refined.

    Returns
    -------
    array
        The Hermitian solution for which all eigenvalues of the closed loop have a negative real
        part. Its derivatives of every order by all operands solve Lyapunov's equation.

    Raises
    ------
    ShapeMismatchError
        If the operands do not fit together.
    InvalidParameterError
        If q or r is not Hermitian, or there is no stabilizing solution. Inside of transforms their
        Hermitian parts are read, and the solution is nan where there is none.

    Examples
    --------
    >>> import tenferro as tn
    >>> tn.linalg.solve_continuous_are([[1.0]], [[1.0]], [[3.0]], [[1.0]])
    array([[3.]])
    >>> def cost(a):
    ...     return tn.linalg.solve_continuous_are(a, [[1.0]], [[3.0]], [[1.0]])[0, 0]
    >>> tn.grad(cost)(tn.asarray([[1.0]]))  # x = a + √(a² + 3)
    Array([[1.5]])
    """
    given = _problem("solve_continuous_are", a, b, q, r, e, s)
    a_, b_, q_, r_, s_ = given
    cross = solve(r_, adjoint(s_))
    g = _hermitian(matmul(b_, solve(r_, adjoint(b_))))
    closed, rest = a_ - matmul(b_, cross), _hermitian(q_ - matmul(s_, cross))
    return _checked("solve_continuous_are", _continuous(closed, g, rest), given)


def solve_discrete_are(
    a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: bool = True
) -> Array:
    """Solve aᴴ x a - eᴴ x e - (aᴴ x b + s) (r + bᴴ x b)⁻¹ (bᴴ x a + sᴴ) + q = 0 for the
    stabilizing x.

    a, e, q: [*l, n, n]   b, s: [*l, n, m]   r: [*l, m, m]   →   x: [*l, n, n]; leading axes
    broadcast

    The best control of x' = a x + b u under the costs Σ xᴴ q x + uᴴ r u is
    u = -(r + bᴴ X b)⁻¹ bᴴ X a x, for the solution X. The predicted covariance of the stationary
    Kalman filter of a measurement c x is the solution for aᴴ, cᴴ and the covariances of both
    noises.

    Parameters
    ----------
    a, b, q, r : arrays
        q and r are Hermitian. r may be singular if r + bᴴ q b is regular.
    e, s : arrays, optional
        The identity and 0 by default; e is regular.
    balanced : bool, default True
        As in SciPy; it changes nothing here, since a residual is refined.

    Returns
    -------
    array
        The Hermitian solution for which all eigenvalues of the closed loop are below 1 in modulus.
        Its derivatives of every order by all operands solve Lyapunov's equation.

    Raises
    ------
    ShapeMismatchError
        If the operands do not fit together.
    InvalidParameterError
        If q or r is not Hermitian, or there is no stabilizing solution. Inside of transforms their
        Hermitian parts are read, and the solution is nan where there is none.

    Examples
    --------
    >>> import tenferro as tn
    >>> tn.linalg.solve_discrete_are([[2.0]], [[1.0]], [[0.0]], [[1.0]])
    array([[3.]])
    """
    given = _problem("solve_discrete_are", a, b, q, r, e, s)
    a_, b_, q_, r_, s_ = given
    start = _start(given)
    r_ = _hermitian(r_ + matmul(matmul(adjoint(b_), start), b_))
    s_ = s_ + matmul(matmul(adjoint(a_), start), b_)
    q_ = q_ + matmul(matmul(adjoint(a_), start), a_) - start
    cross = solve(r_, adjoint(s_))
    g = _hermitian(matmul(b_, solve(r_, adjoint(b_))))
    closed, rest = a_ - matmul(b_, cross), _hermitian(q_ - matmul(s_, cross))
    return _checked("solve_discrete_are", start + _discrete(closed, g, rest), given)


# ---- operands ------------------------------------------------------------------------------------


def _problem(function: str, a: Any, b: Any, q: Any, r: Any, e: Any, s: Any) -> _Problem:
    """Return the operands of the problem with e = 1, in one dtype and batch.

    With a e⁻¹, e⁻ᴴ q e⁻¹ and e⁻ᴴ s it has the same solution.
    """
    found = [square(a, function), matrices(b, function), square(q, function), square(r, function)]
    n, m = found[1].shape[-2:]
    named = {"a": (n, n), "b": (n, m), "q": (n, n), "r": (m, m)}
    for x, name, shape in ((e, "e", (n, n)), (s, "s", (n, m))):
        if x is not None:
            found.append(matrices(x, function))
            named[name] = shape
    if any([x.shape[-2:] != shape for x, shape in zip(found, named.values(), strict=True)]):
        raise unfit(function, "a, e, q [*l, n, n], b, s [*l, n, m], r [*l, m, m]", *found)
    dtype = found[0].dtype
    for x in found:
        dtype = promote_dtypes(dtype, x.dtype)
    lead = broadcast_shapes(*[x.shape[:-2] for x in found], function=function)
    spread = {
        name: stretch(cast(x, dtype), (*lead, *shape))
        for (name, shape), x in zip(named.items(), found, strict=True)
    }
    for name in ("q", "r"):
        _check_hermitian(function, name, spread[name])
    a, b, q, r = spread["a"], spread["b"], _hermitian(spread["q"]), _hermitian(spread["r"])
    s = spread["s"] if "s" in spread else zeros((*lead, n, m), dtype=dtype)
    if "e" in spread:
        dual = adjoint(spread["e"])
        a = adjoint(solve(dual, adjoint(a)))
        q = _hermitian(solve(dual, adjoint(solve(dual, q))))
        s = solve(dual, s)
    return _Problem(a, b, q, r, s)


def _check_hermitian(function: str, name: str, x: Array) -> None:
    """Refuse a known matrix that differs from its adjoint by more than rounding."""
    if is_traced(x.key) or not x.size:
        return
    difference = largest(absolute(x - adjoint(x)))
    if bool(difference > 100 * finfo(x.dtype).eps * largest(absolute(x))):
        raise at_user_line(InvalidParameterError.of(
            function, f"{name} is not Hermitian",
            got=f"entries that differ by {float(difference):.3g}",
            need=f"({name} + {name}.conj().T) / 2", parameter=name, value=x,
        ))  # fmt: skip


def _checked(function: str, x: Array, given: _Problem) -> Array:
    """Refuse a known solution that is nan although no operand is."""
    if is_traced(x.key) or not x.size or not _has_nan(x) or any([_has_nan(y) for y in given]):
        return x
    raise at_user_line(InvalidParameterError.of(
        function, "there is no stabilizing solution", got=f"a {given.a.aval}, b {given.b.aval}",
        need="every unstable mode controlled by b, none on the edge of stability unseen by q",
        parameter="a", value=given.a,
    ))  # fmt: skip


def _has_nan(x: Array) -> bool:
    return bool(some(x != x))


def _start(given: _Problem) -> Array:
    """Return a constant z, so that x - z solves a problem with a regular r: 0, or q if r is small.

    For y = x - z, r becomes r + bᴴ z b. With z = q this is a step of dynamic programming.
    """
    q, r = stop_gradient(given.q), stop_gradient(given.r)
    if not r.size:
        return zeros(q.shape, dtype=q.dtype)
    other = absolute(matmul(matmul(adjoint(given.b), q), given.b))
    scale = largest(absolute(r), axis=(-2, -1)) + largest(stop_gradient(other), axis=(-2, -1))
    least = absolute(eigvalsh(r)).min(axis=-1)
    is_small = least <= MIN_SHARE_OF_R * scale
    found: Array = where(is_small[..., None, None], q, zeros((), dtype=q.dtype))
    return found


# ---- solutions with their derivatives ------------------------------------------------------------


@custom_jvp
def _continuous(a: Array, g: Array, q: Array) -> Array:
    """Solve aᴴ x + x a - x g x + q = 0."""
    return _scaled(a, g, q, _by_sign, _newton_continuous)


@_continuous.defjvp
def _rule_of_continuous(primals: Any, tangents: Any) -> Any:
    (a, g, q), (da, dg, dq) = primals, tangents
    x = _continuous(a, g, q)
    moved = matmul(x, da) - matmul(matmul(x, dg), x) * 0.5 + dq * 0.5
    is_found = _all_of(stop_gradient(x) == stop_gradient(x))
    loop = where(is_found, a - matmul(g, x), -_one(a))
    return x, _kept(is_found, lyapunov(adjoint(loop), -_twice_hermitian(moved)))


@custom_jvp
def _discrete(a: Array, g: Array, q: Array) -> Array:
    """Solve x = aᴴ x (1 + g x)⁻¹ a + q."""
    return _scaled(a, g, q, _by_doubling, _newton_discrete)


@_discrete.defjvp
def _rule_of_discrete(primals: Any, tangents: Any) -> Any:
    (a, g, q), (da, dg, dq) = primals, tangents
    x = _discrete(a, g, q)
    is_found = _all_of(stop_gradient(x) == stop_gradient(x))
    loop = where(is_found, _loop(a, g, where(is_found, x, 0 * _one(a))), 0 * _one(a))
    seen = matmul(x, loop)
    moved = matmul(adjoint(seen), da - matmul(dg, seen) * 0.5) + dq * 0.5
    return x, _kept(is_found, stein(adjoint(loop), _twice_hermitian(moved)))


def _kept(is_found: Array, x: Array) -> Array:
    """Return the derivative of a solution, nan where there is no solution."""
    return x * cast(where(is_found, 1.0, float("nan")), x.dtype)


def _loop(a: Array, g: Array, x: Array) -> Array:
    """Return (1 + g x)⁻¹ a."""
    return solve(_one(a) + matmul(g, x), a)


# ---- solutions without derivatives ---------------------------------------------------------------

Solver = Callable[[Array, Array, Array], Array]
Newton = Callable[[Array, Array, Array, Array], tuple[Array, Array]]


def _scaled(a: Array, g: Array, q: Array, solver: Solver, newton: Newton) -> Array:
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
        x = _hermitian(x + change)
    tolerance = finfo(a.dtype).eps ** 0.25
    is_settled = _norm(change) <= tolerance * _norm(x)
    is_settled = is_settled | (_norm(matmul(g, change)) <= tolerance * _norm(a - matmul(g, x)))
    is_found = is_finite & is_stable & is_settled
    found: Array = where(is_found, x * c, full((), float("nan"), dtype=x.dtype))
    return found


def _newton_continuous(a: Array, g: Array, q: Array, x: Array) -> tuple[Array, Array]:
    """Return the step of Newton's method, and whether the closed loop is stable."""
    loop, is_finite = _finite(a - matmul(g, x))
    rest = _twice_hermitian(matmul(adjoint(a), x)) - matmul(matmul(x, g), x) + q
    is_stable = is_finite & _all(real(_values(loop)) < 0)
    return lyapunov(adjoint(where(is_stable, loop, -_one(a))), -rest), is_stable


def _newton_discrete(a: Array, g: Array, q: Array, x: Array) -> tuple[Array, Array]:
    """Return the step of Newton's method, and whether the closed loop is stable."""
    loop, is_finite = _finite(_loop(a, g, x))
    rest = _hermitian(matmul(matmul(adjoint(a), x), loop)) + q - x
    values = _values(loop)
    is_stable = is_finite & _all(real(values) ** 2 + imag(values) ** 2 < 1)
    return stein(adjoint(where(is_stable, loop, 0 * _one(a))), rest), is_stable


def _finite(loop: Array) -> tuple[Array, Array]:
    """Return each matrix, 0 where it is not finite, and whether it is."""
    is_finite = _all_of(absolute(loop) < float("inf"))
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
    h = h + _one(h) * shift  # so that none is exactly singular

    def step(state: Any) -> Any:
        h, _, count = state
        inverse = inv(h)
        scale = cast(sqrt(_norm(inverse) / _norm(h)), h.dtype)
        after = (h * scale + inverse / scale) * 0.5
        return after, _is_moving(after, h), count + 1

    h = while_loop(_goes_on, step, (h, True, 0))[0]
    left = h[..., n:] + block([[zeros(a.shape, dtype=a.dtype)], [_one(a)]])
    right = h[..., :n] + block([[_one(a)], [zeros(a.shape, dtype=a.dtype)]])
    basis, triangle = qr(left)
    is_zero = diagonal(triangle)[..., None] == 0
    triangle = triangle + where(is_zero, _one(a), zeros((), dtype=a.dtype))
    return _hermitian(solve_triangular(triangle, -matmul(adjoint(basis), right)))


def _by_doubling(a: Array, g: Array, q: Array) -> Array:
    """Find x by doubling the number of steps of dynamic programming, from a positive x.

    From x = 0, an unstable mode without a cost would never be controlled. With x = y + z, y solves
    the equation for (1 + g z)⁻¹ a, (1 + g z)⁻¹ g and aᴴ z (1 + g z)⁻¹ a + q - z, and starts at 0.
    Chu, Fan, Lin & Wang (2004), Structure-preserving algorithms for periodic discrete-time
    algebraic Riccati equations, Int. J. Control 77.
    """
    sizes = _norm(q), _norm(g)
    least = where(sizes[0] > 0, sizes[0], where(sizes[1] > 0, 1 / sizes[1], 1.0))
    z = _one(a) * cast(0.1 * least, a.dtype)
    both = solve(_one(a) + matmul(g, z), block([[a, g]]))
    n = a.shape[-1]
    q = _hermitian(matmul(matmul(adjoint(a), z), both[..., :n])) + q - z
    a, g = both[..., :n], _hermitian(both[..., n:])

    def step(state: Any) -> Any:
        a, g, h, _, count = state
        both = solve(_one(a) + matmul(g, h), block([[a, matmul(g, adjoint(a))]]))
        seen, reached = both[..., :n], both[..., n:]
        after = _hermitian(h + matmul(matmul(adjoint(a), h), seen))
        g = _hermitian(g + matmul(a, reached))
        return matmul(a, seen), g, after, _is_moving(after, h), count + 1

    found: Array = z + while_loop(_goes_on, step, (a, g, q, True, 0))[2]
    return found


def _goes_on(state: Any) -> Any:
    *_, is_moving, count = state
    return is_moving & (count < MAX_DOUBLINGS)


def _is_moving(x: Array, before: Array) -> Array:
    """Return True if the last step of quadratic convergence was too long to be the last one."""
    return some(_norm(x - before) > finfo(x.dtype).eps ** 0.6 * _norm(x))


# ---- words ---------------------------------------------------------------------------------------


def _one(a: Array) -> Array:
    return eye(a.shape[-1], dtype=a.dtype) + zeros(a.shape, dtype=a.dtype)


def _norm(x: Array) -> Array:
    """Return the Frobenius norm of each matrix, with axes of size 1."""
    square = real(x) ** 2 + imag(x) ** 2 if x.dtype.is_complex else x**2
    return sqrt(total(square, axis=(-2, -1), keepdims=True))


def _all(condition: Array) -> Array:
    return every(condition, axis=-1)[..., None, None]


def _all_of(condition: Array) -> Array:
    return every(condition, axis=(-2, -1), keepdims=True)


def _twice_hermitian(x: Array) -> Array:
    return x + adjoint(x)


def _hermitian(x: Array) -> Array:
    return _twice_hermitian(x) * 0.5
