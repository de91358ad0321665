"""Functions with rules of their own that close over a value, and the same with the value as an
argument. Data of `suite/test_closures.py`.

A rule states 3 cos(xy) instead of the derivative, which shows whether it was used, and only the
rule reads y.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tenferro as tn

__all__ = ["RULES", "TRANSFORMS", "closure_and_argument"]

Function = Callable[..., Any]
POINTS = np.array([0.3, 0.7])


def _value_and_grad(f: Function) -> Function:
    def both(x: Any) -> Any:
        value, slope = tn.value_and_grad(f)(x)
        return value + 3 * slope

    return both


TRANSFORMS: dict[str, Callable[[Function], Function]] = {
    "grad": lambda f: tn.grad(f),
    "value_and_grad": _value_and_grad,
    "jvp": lambda f: lambda x: tn.jvp(f, (x,), (1.0,))[1],
    "vjp": lambda f: lambda x: tn.vjp(f, x)[1](2.0)[0],
    "linearize": lambda f: lambda x: tn.linearize(f, x)[1](2.0),
    "jacfwd": lambda f: tn.jacfwd(f),
    "jacrev": lambda f: tn.jacrev(f),
    "hvp": lambda f: lambda x: tn.hvp(f)(x, 2.0),
    "vmap": lambda f: lambda x: np.sum(tn.vmap(f)(x * POINTS)),
    "jit": lambda f: lambda x: tn.jit(f)(x),
}


def _slope(x: Any, y: Any) -> Any:
    return 3 * np.cos(x * y)


def _jvp() -> tuple[Function, Callable[[Any], Function]]:
    given = tn.custom_jvp(lambda x, y: np.sin(x))
    given.defjvps(lambda dx, _, x, y: _slope(x, y) * dx, None)

    def closed(y: Any) -> Function:
        f = tn.custom_jvp(lambda x: np.sin(x))
        f.defjvps(lambda dx, _, x: _slope(x, y) * dx)
        return f

    return given, closed


def _vjp_of_both() -> Function:
    f = tn.custom_vjp(lambda x, y: np.sin(x))
    f.defvjp(lambda x, y: (np.sin(x), (x, y)), lambda r, ct: (_slope(*r) * ct, None))
    return f


def _vjp() -> tuple[Function, Callable[[Any], Function]]:
    def closed(y: Any) -> Function:
        f = tn.custom_vjp(lambda x: np.sin(x))
        f.defvjp(lambda x: (np.sin(x), x), lambda x, ct: (_slope(x, y) * ct,))
        return f

    return _vjp_of_both(), closed


def _residual() -> tuple[Function, Callable[[Any], Function]]:
    def closed(y: Any) -> Function:
        f = tn.custom_vjp(lambda x: np.sin(x))
        f.defvjp(lambda x: (np.sin(x), (x, y)), lambda r, ct: (_slope(*r) * ct,))
        return f

    return _vjp_of_both(), closed


def _transpose() -> tuple[Function, Callable[[Any], Function]]:
    given = tn.custom_linear(lambda _, x: 2 * x, lambda y, ct: y**2 * ct)

    def closed(y: Any) -> Function:
        f = tn.custom_linear(lambda _, x: 2 * x, lambda _, ct: y**2 * ct)
        return lambda x: f((), np.sin(x))

    return lambda x, y: given(y, np.sin(x)), closed


RULES = {"jvp": _jvp, "vjp": _vjp, "residual": _residual, "transpose": _transpose}


def closure_and_argument(
    rule: str, outer: Callable[[Function], Function], inner: Callable[[Function], Function]
) -> tuple[Function, Function]:
    """y ↦ T(y ↦ S(x ↦ f(x, y))(0.4))(y): where f closes over y, and where y is its argument."""
    given, closed = RULES[rule]()
    return (
        outer(lambda y: inner(closed(y))(0.4)),
        outer(lambda y: inner(lambda x: given(x, y))(0.4)),
    )
