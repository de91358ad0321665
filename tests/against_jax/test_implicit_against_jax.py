"""Solutions by a solver of the user: values and derivatives are JAX's.

Each program is written once and takes the library; JAX's `custom_linear_solve` and `custom_root`
stand beside ours with the same functions. For complex systems the adjoint of ours is the
conjugate of JAX's transpose, and gradients are JAX's conjugated.
"""

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

import tenferro as tn  # noqa: E402

jax.config.update("jax_enable_x64", True)


class Ours:
    """The names that the programs use, from tenferro and NumPy."""

    np = np
    grad, jvp, hessian, jit, vmap = tn.grad, tn.jvp, tn.hessian, tn.jit, tn.vmap
    jacobian = tn.jacobian
    custom_linear_solve, custom_root = tn.custom_linear_solve, tn.custom_root
    while_loop, fori_loop = tn.while_loop, tn.fori_loop


class Theirs:
    """The same names from JAX."""

    np = jnp
    grad, jvp, hessian, jit, vmap = jax.grad, jax.jvp, jax.hessian, jax.jit, jax.vmap
    jacobian = jax.jacobian
    custom_linear_solve, custom_root = lax.custom_linear_solve, lax.custom_root
    while_loop, fori_loop = lax.while_loop, lax.fori_loop


BASE = np.array([[4.0, 1.0, 0.0], [-1.0, 5.0, 0.5], [0.3, 0.0, 3.0]])
RIGHT = np.array([0.4, -0.3, 0.2])


def conjugate_gradients(xp):
    """Return a solver for symmetric positive definite maps, with a bound of the residual."""

    def solve(matvec, b):
        def unfinished(state):
            return xp.np.sum(xp.np.square(state[1])) > 1e-28

        def step(state):
            x, r, p = state
            q = matvec(p)
            rate = r @ r / (p @ q)
            new = r - rate * q
            return x + rate * p, new, new + (new @ new) / (r @ r) * p

        return xp.while_loop(unfinished, step, (0.0 * b, b, b))[0]

    return solve


def richardson(xp):
    """Return a solver of a fixed number of steps."""
    return lambda matvec, b: xp.fori_loop(0, 150, lambda _, x: x + (b - matvec(x)) / 5.0, b)


def spd(xp, p):
    a = BASE.T @ BASE + xp.np.eye(3) * p[0] ** 2
    x = xp.custom_linear_solve(
        lambda x: a @ x, RIGHT * p[1], conjugate_gradients(xp), symmetric=True
    )
    return xp.np.sum(xp.np.sin(x) * p[1])


def general(xp, p):
    a = BASE + xp.np.eye(3) * xp.np.sin(p[0])
    solver = richardson(xp)
    x = xp.custom_linear_solve(lambda x: a @ x, xp.np.cos(p[1]) * RIGHT, solver, solver)
    return xp.np.sum(x**3) + x[0]


def of_a_tree(xp, p):
    def matvec(x):
        return {"a": 4.0 * x["a"] + p[0] * x["b"], "b": 5.0 * x["b"] - x["a"]}

    def solve(matvec, b):
        def step(_, x):
            r = matvec(x)
            return {k: x[k] + (b[k] - r[k]) / 5.0 for k in x}

        return xp.fori_loop(0, 150, step, b)

    right = {"a": RIGHT * p[1], "b": RIGHT**2 * p[1]}  # JAX wants no constant among them
    x = xp.custom_linear_solve(matvec, right, solve, solve)
    return xp.np.sum(x["a"] * x["b"])


def cube_root(xp, p):
    def newton(f, x):
        return xp.while_loop(
            lambda x: xp.np.abs(f(x)) > 1e-13, lambda x: x - f(x) / xp.grad(f)(x), x
        )

    f = lambda x: x**3 + p[1] * x - p[0]  # noqa: E731
    return xp.np.sin(xp.custom_root(f, 1.0, newton, lambda g, y: y / g(1.0)))


def vector_root(xp, p):
    f = lambda x: BASE @ x + p[0] * xp.np.tanh(x) - p[1] * RIGHT  # noqa: E731
    newton = lambda f, x: xp.fori_loop(  # noqa: E731
        0, 12, lambda _, x: x - xp.np.linalg.solve(xp.jacobian(f)(x), f(x)), x
    )
    x = xp.custom_root(
        f, xp.np.zeros(3), newton, lambda g, y: xp.np.linalg.solve(xp.jacobian(g)(y), y)
    )
    return xp.np.sum(x * x) + x[1]


def fixed_point(xp, p):
    """An equilibrium z = tanh(W z + b); the tangent is solved without a matrix"""
    w = BASE / 20 * p[0]
    step = lambda z: xp.np.tanh(w @ z + p[1] * RIGHT)  # noqa: E731

    def iterate(f, z):
        return xp.fori_loop(0, 80, lambda _, z: z + f(z), z)

    def tangent(g, y):
        neumann = lambda g, y: xp.fori_loop(0, 80, lambda _, x: x + g(x) - y, -y)  # noqa: E731
        return xp.custom_linear_solve(g, y, neumann, neumann)

    z = xp.custom_root(lambda z: step(z) - z, xp.np.zeros(3), iterate, tangent)
    return xp.np.sum(z * RIGHT) + z[0] ** 2


PROGRAMS = (spd, general, of_a_tree, cube_root, vector_root, fixed_point)
POINT, DIRECTION = np.array([0.7, 0.9]), np.array([1.0, -0.5])
TRANSFORMS = {
    "value": lambda xp, f: f(POINT),
    "jit": lambda xp, f: xp.jit(f)(POINT),
    "jvp": lambda xp, f: xp.jvp(f, (POINT,), (DIRECTION,))[1],
    "grad": lambda xp, f: xp.grad(f)(POINT),
    "hessian": lambda xp, f: xp.hessian(f)(POINT),
    "third": lambda xp, f: xp.jvp(xp.hessian(f), (POINT,), (DIRECTION,))[1],
    "vmap of grad": lambda xp, f: xp.vmap(xp.grad(f))(np.stack([POINT, 0.5 * POINT])),
    "jit of vmap of grad": lambda xp, f: xp.jit(xp.vmap(xp.grad(f)))(np.stack([POINT, 2 * POINT])),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_solutions_and_their_derivatives_are_those_of_jax(program, transform):
    make = TRANSFORMS[transform]
    got = make(Ours, lambda p: program(Ours, p))
    need = make(Theirs, lambda p: program(Theirs, p))
    np.testing.assert_allclose(np.asarray(got), np.asarray(need), rtol=1e-8, atol=1e-10)


def test_complex_systems():
    """The gradient of a real function of complex A and b is the conjugate of JAX's"""
    a = BASE + 1j * np.eye(3)
    b = RIGHT * (1 + 2j)

    def loss(xp):
        def function(a, b):
            solver = richardson(xp)
            x = xp.custom_linear_solve(lambda x: a @ x, b, solver, solver)
            return xp.np.sum(xp.np.abs(x) ** 2) + xp.np.real(x[0])

        return function

    got, need = tn.grad(loss(Ours), (0, 1))(a, b), jax.grad(loss(Theirs), (0, 1))(a, b)
    for x, y in zip(got, need, strict=True):
        np.testing.assert_allclose(x, np.conj(y), rtol=1e-8, atol=1e-10)
