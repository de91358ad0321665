"""Stabilizing solutions of Riccati's algebraic equations, of continuous and of discrete time.

Both are reduced to three matrices: aᴴ x + x a - x g x + q = 0 and x = aᴴ x (1 + g x)⁻¹ a + q. An
iteration finds x. A derivative solves Lyapunov's equation of the closed loop, which is linear, so
there is one of every order:

    f = a - g x:             fᴴ dx + dx f  + (daᴴ x + x da - x dg x + dq) = 0
    f = (1 + g x)⁻¹ a:       fᴴ dx f - dx  + (daᴴ x f + fᴴ x da - fᴴ x dg x f + dq) = 0

Kao & Hennequin (2020), Automatic differentiation of Sylvester, Lyapunov, and algebraic Riccati
equations (arXiv:2011.11430). Read next: ``riccati_iterations.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array, is_traced
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.arithmetic import absolute
from tenferro.arrays.functions.comparison import where
from tenferro.arrays.functions.complex import adjoint
from tenferro.arrays.functions.contraction import matmul
from tenferro.arrays.functions.creation import zeros
from tenferro.arrays.functions.data_types import finfo
from tenferro.arrays.functions.linalg.decomposing import matrices, unfit
from tenferro.arrays.functions.linalg.eigenproblems import eigvalsh
from tenferro.arrays.functions.linalg.lyapunov import lyapunov, stein
from tenferro.arrays.functions.linalg.solving import solve, square
from tenferro.arrays.functions.reduction import any as some
from tenferro.arrays.functions.reduction import max as largest
from tenferro.arrays.functions.triangles import eye
from tenferro.arrays.promotion.broadcast import broadcast_shapes, cast, stretch
from tenferro.primitives import InvalidParameterError, promote_dtypes
from tenferro.transforms.custom_rules.jvp import custom_jvp
from tenferro.transforms.derivatives.stop_gradient import stop_gradient
from tenferro.transforms.matrix_functions.riccati_iterations import (
    all_elements,
    closed_loop,
    continuous_solution,
    discrete_solution,
    hermitian,
    identity_like,
    twice_hermitian,
)

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
    g = hermitian(matmul(b_, solve(r_, adjoint(b_))))
    closed, rest = a_ - matmul(b_, cross), hermitian(q_ - matmul(s_, cross))
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
        q and r are Hermitian. r may be singular if r + bᴴ x b is regular.
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
    r_ = hermitian(r_ + matmul(matmul(adjoint(b_), start), b_))
    s_ = s_ + matmul(matmul(adjoint(a_), start), b_)
    q_ = q_ + matmul(matmul(adjoint(a_), start), a_) - start
    cross = solve(r_, adjoint(s_))
    g = hermitian(matmul(b_, solve(r_, adjoint(b_))))
    closed, rest = a_ - matmul(b_, cross), hermitian(q_ - matmul(s_, cross))
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
    a, b, q, r = spread["a"], spread["b"], hermitian(spread["q"]), hermitian(spread["r"])
    s = spread["s"] if "s" in spread else zeros((*lead, n, m), dtype=dtype)
    if "e" in spread:
        dual = adjoint(spread["e"])
        a = adjoint(solve(dual, adjoint(a)))
        q = hermitian(solve(dual, adjoint(solve(dual, q))))
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
    """Return a constant z, so that x - z solves a problem with a regular r.

    For y = x - z, r becomes r + bᴴ z b, whichever Hermitian z is. It is 0, or q if r is singular: a
    step of dynamic programming. If r + bᴴ q b is singular, too, z is q and a multiple of 1.
    """
    q, r = stop_gradient(given.q), stop_gradient(given.r)
    if not r.size:
        return zeros(q.shape, dtype=q.dtype)
    other = stop_gradient(matmul(matmul(adjoint(given.b), q), given.b))
    scale = largest(absolute(r), axis=(-2, -1)) + largest(absolute(other), axis=(-2, -1))
    size = largest(absolute(q), axis=(-2, -1), keepdims=True)
    more = q + where(size > 0, size, 1) * eye(q.shape[-1], dtype=q.dtype)
    found = where(_is_singular(r + other, scale), more, q)
    found = where(_is_singular(r, scale), found, zeros((), dtype=q.dtype))
    return found  # type: ignore[no-any-return]


def _is_singular(r: Array, scale: Array) -> Array:
    """Return whether a Hermitian matrix is singular compared with numbers of a scale."""
    least = absolute(eigvalsh(r)).min(axis=-1)
    return (least <= MIN_SHARE_OF_R * scale)[..., None, None]


# ---- solutions with their derivatives ------------------------------------------------------------


@custom_jvp
def _continuous(a: Array, g: Array, q: Array) -> Array:
    """Solve aᴴ x + x a - x g x + q = 0."""
    return continuous_solution(a, g, q)


@_continuous.defjvp
def _rule_of_continuous(primals: Any, tangents: Any) -> Any:
    (a, g, q), (da, dg, dq) = primals, tangents
    x = _continuous(a, g, q)
    moved = matmul(x, da) - matmul(matmul(x, dg), x) * 0.5 + dq * 0.5
    is_found = all_elements(stop_gradient(x) == stop_gradient(x))
    loop = where(is_found, a - matmul(g, x), -identity_like(a))
    return x, _kept(is_found, lyapunov(adjoint(loop), -twice_hermitian(moved)))


@custom_jvp
def _discrete(a: Array, g: Array, q: Array) -> Array:
    """Solve x = aᴴ x (1 + g x)⁻¹ a + q."""
    return discrete_solution(a, g, q)


@_discrete.defjvp
def _rule_of_discrete(primals: Any, tangents: Any) -> Any:
    (a, g, q), (da, dg, dq) = primals, tangents
    x = _discrete(a, g, q)
    is_found = all_elements(stop_gradient(x) == stop_gradient(x))
    loop = where(
        is_found, closed_loop(a, g, where(is_found, x, 0 * identity_like(a))), 0 * identity_like(a)
    )
    seen = matmul(x, loop)
    moved = matmul(adjoint(seen), da - matmul(dg, seen) * 0.5) + dq * 0.5
    return x, _kept(is_found, stein(adjoint(loop), twice_hermitian(moved)))


def _kept(is_found: Array, x: Array) -> Array:
    """Return the derivative of a solution, nan where there is no solution."""
    return x * cast(where(is_found, 1.0, float("nan")), x.dtype)
