"""Transforms of scalar functions as functions of scalars, and functions that close over a scalar.

``close_over`` makes the two sides of a law: a transform of a transform of f(x, y), where f closes
over y, and where f takes y as an argument.
"""

import numpy as np

import tenferro as tn

POINTS = np.array([0.3, 0.7])


def _weighted(pair):
    """One number that depends on both members of a pair."""
    return pair[0] + 3 * pair[1]


TRANSFORMS = {
    "grad": lambda f: tn.grad(f),
    "value_and_grad": lambda f: lambda x: _weighted(tn.value_and_grad(f)(x)),
    "jvp": lambda f: lambda x: _weighted(tn.jvp(f, (x,), (1.0,))),
    "jvp along 2": lambda f: lambda x: tn.jvp(f, (x,), (2.0,))[1],
    "vjp": lambda f: lambda x: tn.vjp(f, x)[1](2.0)[0],
    "linearize": lambda f: lambda x: tn.linearize(f, x)[1](2.0),
    "transposed": lambda f: lambda x: tn.linearize(f, x)[1].transpose(2.0)[0],
    "jacfwd": lambda f: tn.jacfwd(f),
    "jacrev": lambda f: tn.jacrev(f),
    "hessian": lambda f: tn.hessian(f),
    "hvp": lambda f: lambda x: tn.hvp(f)(x, 2.0),
    "vmap": lambda f: lambda x: np.sum(tn.vmap(f)(x * POINTS)),
    "jit": lambda f: lambda x: tn.jit(f)(x),
    "vmap of grad": lambda f: lambda x: np.sum(tn.vmap(tn.grad(f))(x * POINTS)),
    "grad of vmap": lambda f: (
        lambda x: np.sum(tn.grad(lambda xs: np.sum(tn.vmap(f)(xs)))(x * POINTS))
    ),
    "jit of grad": lambda f: lambda x: tn.jit(tn.grad(f))(x),
    "grad of jit": lambda f: lambda x: tn.grad(tn.jit(f))(x),
}


def _value(x, y):
    return np.sin(x) * y**2


def _slope_in_y(x, y):
    return 2 * np.sin(x) * y


def _stated_slope(x, y):
    """What rules state instead of ∂f/∂x: it shows whether the rule was used."""
    return 3 * np.cos(x * y)


def _plain():
    return _value, lambda y: lambda x: _value(x, y)


def _function_and_jvp():
    given = tn.custom_jvp(_value)
    given.defjvps(
        lambda dx, _, x, y: _stated_slope(x, y) * dx, lambda dy, _, x, y: _slope_in_y(x, y) * dy
    )

    def closed(y):
        f = tn.custom_jvp(lambda x: _value(x, y))
        f.defjvps(lambda dx, _, x: _stated_slope(x, y) * dx)
        return f

    return given, closed


def _jvp():
    given = tn.custom_jvp(lambda x, y: np.sin(x))
    given.defjvps(lambda dx, _, x, y: _stated_slope(x, y) * dx, None)

    def closed(y):
        f = tn.custom_jvp(np.sin)
        f.defjvps(lambda dx, _, x: _stated_slope(x, y) * dx)
        return f

    return given, closed


def _vjp_given():
    given = tn.custom_vjp(lambda x, y: np.sin(x))
    given.defvjp(lambda x, y: (np.sin(x), (x, y)), lambda r, ct: (_stated_slope(*r) * ct, None))
    return given


def _vjp():
    def closed(y):
        f = tn.custom_vjp(np.sin)
        f.defvjp(lambda x: (np.sin(x), x), lambda x, ct: (_stated_slope(x, y) * ct,))
        return f

    return _vjp_given(), closed


def _residual():
    def closed(y):
        f = tn.custom_vjp(np.sin)
        f.defvjp(lambda x: (np.sin(x), {"x": x, "y": y}),
                 lambda r, ct: (_stated_slope(r["x"], r["y"]) * ct,))  # fmt: skip
        return f

    return _vjp_given(), closed


def _transpose():
    given = tn.custom_linear(lambda _, x: 2 * x, lambda y, ct: y**2 * ct)

    def closed(y):
        f = tn.custom_linear(lambda _, x: 2 * x, lambda _, ct: y**2 * ct)
        return lambda x: f((), np.sin(x))

    return lambda x, y: given(y, np.sin(x)), closed


FAMILIES = {
    "a plain function": _plain,
    "a function and its jvp": _function_and_jvp,
    "a jvp alone": _jvp,
    "a vjp alone": _vjp,
    "a vjp by its residual": _residual,
    "a transpose alone": _transpose,
}  # by what reads y


def close_over(family, outer, inner, x):
    """y ↦ T(y ↦ S(x ↦ f(x, y))(x))(y): where f closes over y, and where y is an argument of f."""
    given, closed = FAMILIES[family]()
    return (
        outer(lambda y: inner(closed(y))(x)),
        outer(lambda y: inner(lambda x: given(x, y))(x)),
    )
