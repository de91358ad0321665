"""``custom_root``: a solution of f(x) = 0 by a solver of the user, with its derivative.

    f(x, θ) = 0:   dx = -(∂f/∂x)⁻¹ (∂f/∂θ) dθ

Read next: ``inspection/look.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.arrays import Array
from tenferro.transforms.control.body import finished, given_arrays
from tenferro.transforms.control.closed import (
    ClosedFunction,
    leaves_like,
    replaced,
    varying,
)
from tenferro.transforms.custom_rules.jvp import custom_jvp
from tenferro.transforms.custom_rules.stopped import has_known_value
from tenferro.transforms.derivatives.jvp import jvp
from tenferro.transforms.derivatives.linear_map import linearize
from tenferro.transforms.derivatives.stop_gradient import stop_gradient
from tenferro.transforms.errors import check_function
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.record import split_aux

__all__ = ["custom_root"]


def custom_root(
    f: Callable[[Any], Any],
    x0: Any,
    solve: Callable[[Callable[[Any], Any], Any], Any],
    tangent_solve: Callable[[Callable[[Any], Any], Any], Any],
    has_aux: bool = False,
) -> Any:
    """Solve ``f(x) = 0`` by your own solver; the derivative is that of the implicit function.

    The solver is not differentiated, so it may be a ``while_loop``. What ``f`` closes over is
    differentiated, to any order. The first guess and what the solver closes over are constants.

    Parameters
    ----------
    f : callable
        Function of a pytree that is structured as ``x0``, with a result of the same structure.
    x0 : pytree of arrays
        The first guess.
    solve : callable
        ``solve(f, x0) -> x``.
    tangent_solve : callable
        ``tangent_solve(g, y) -> x`` solves the linear system g(x) = y, where g is the derivative of
        f at the solution. Reverse mode transposes it, so it is written in operations that are
        linear in y: ``y / g(1.0)`` for one number, ``np.linalg.solve(tn.jacobian(g)(y), y)`` for a
        short vector, or ``tn.custom_linear_solve``.
    has_aux : bool, default False
        If True, ``solve`` returns (x, aux), such as the number of steps, and aux is a second
        result, which is a constant for derivatives.

    Returns
    -------
    pytree of arrays
        The solution, structured as ``x0``; a pair (x, aux) with ``has_aux``.

    Raises
    ------
    BodyError
        If a function returns another structure, shape or dtype than that of ``x0``.
    NotLinearError
        If ``tangent_solve`` is not linear in y.

    Examples
    --------
    >>> import tenferro as tn
    >>> def root(a):
    ...     newton = lambda f, x: tn.fori_loop(0, 8, lambda _, x: x - f(x) / tn.grad(f)(x), x)
    ...     return tn.custom_root(lambda x: x**3 - a, 1.0, newton, lambda g, y: y / g(1.0))
    >>> float(root(8.0)), round(float(tn.grad(root)(8.0)), 9)
    (2.0, 0.083333333)
    """
    for function in (f, solve, tangent_solve):
        check_function(function, "custom_root")
    arrays, spec, paths, plain = given_arrays(x0, "x0")
    if not arrays:
        return x0
    closed = ClosedFunction("custom_root", f, leaves_like(arrays, paths), spec)
    guess = _tree.unflatten(spec, arrays)
    found = _solved(closed, guess, solve, tangent_solve, bool(has_aux))
    values, found_spec = _tree.flatten(found)
    results = finished(values, arrays, plain, closed.consts, "custom_root")
    x, aux = _tree.unflatten(found_spec, results)
    return (x, aux) if has_aux else x


def _solved(
    closed: ClosedFunction, guess: Any, solve: Any, tangent_solve: Any, has_aux: bool
) -> Any:
    """Return the solution and aux, as values that carry the derivative."""
    consts = closed.consts
    if all(map(has_known_value, consts)):
        return _run(closed, consts, guess, solve, has_aux)

    def change(consts: Sequence[Array], x: Any, b: Any) -> Any:
        derivative = linearize(lambda x: closed.call(consts, x), x)[1]
        return _negative(closed.solution(tangent_solve(derivative, b)))

    try:
        solver = closed.recorded_solver(change, 2)
    except Exception:  # an error of tangent_solve itself is raised again by the derivative
        return _root(closed, solve, tangent_solve, has_aux)(consts, guess)
    x, aux = _run(closed, stop_gradient(consts), stop_gradient(guess), solve, has_aux)
    return closed.implicit(x, solver), aux


def _run(
    closed: ClosedFunction, consts: Sequence[Array], guess: Any, solve: Any, has_aux: bool
) -> Any:
    """Return what the solver of the user gives, as constants."""
    found = solve(lambda x: closed.call(consts, x), guess)
    x, aux = split_aux(found, has_aux)
    return stop_gradient((closed.solution(x), aux))


def _negative(tree: Any) -> Any:
    return _tree.map_leaves(lambda y: -y, tree)


def _root(closed: ClosedFunction, solve: Any, tangent_solve: Any, has_aux: bool) -> custom_jvp:
    """Return the solution and aux as functions of what f reads and of the first guess.

    Its rule is code: this is for a ``tangent_solve`` that cannot be recorded beforehand, as one
    that looks at values.
    """

    @custom_jvp
    def root(consts: Sequence[Array], guess: Any) -> Any:
        return _run(closed, consts, guess, solve, has_aux)

    @root.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (consts, guess), (dconsts, _) = primals, tangents
        x, aux = root(consts, guess)
        no_change = _tree.map_leaves(lambda _: 0.0, aux)
        moving = [i for i in varying(consts) if dconsts[i] is not None]
        if not moving:
            return (x, aux), (_tree.map_leaves(lambda _: 0.0, x), no_change)
        change = jvp(
            lambda *some: closed.call(replaced(consts, moving, some), x),
            tuple([consts[i] for i in moving]),
            tuple([dconsts[i] for i in moving]),
        )[1]
        derivative = linearize(lambda y: closed.call(consts, y), x)[1]
        found = closed.solution(tangent_solve(derivative, change))
        return (x, aux), (_negative(found), no_change)

    return root
