"""Programs that people wrote for JAX give JAX's values and gradients here."""

from functools import cache

import numpy as np
import pytest

jax = pytest.importorskip("jax")

from ported_programs import PROGRAMS  # noqa: E402
from two_libraries import Ours, Theirs  # noqa: E402

lib = Ours
TRANSFORMS = {
    "value": lambda f, x: f(x),
    "jit": lambda f, x: lib.jit(f)(x),
    "grad": lambda f, x: lib.grad(f)(x),
    "jit of grad": lambda f, x: lib.jit(lib.grad(f))(x),
    "vmap of grad": lambda f, x: lib.vmap(lib.grad(f))(np.stack([x, 0.9 * x])),
    "jvp": lambda f, x: lib.jvp(f, (x,), (np.cos(x),))[1],
    "jvp of grad": lambda f, x: lib.jvp(lib.grad(f), (x,), (np.cos(x),))[1],
}


@cache
def theirs(name, order):
    """JAX's value, gradient, or derivative of the gradient along cos x, as a jitted function."""
    f = lambda x: PROGRAMS[name].function(Theirs, x)  # noqa: E731
    grad = jax.grad(f)
    second = lambda x: jax.jvp(grad, (x,), (jax.numpy.cos(x),))[1]  # noqa: E731
    return jax.jit((f, grad, second)[order])


def expected(name, transform, x):
    if transform in ("value", "jit"):
        return theirs(name, 0)(x)
    if transform == "jvp of grad":
        return theirs(name, 2)(x)
    if transform == "vmap of grad":
        return np.stack([theirs(name, 1)(x), theirs(name, 1)(0.9 * x)])
    gradient = theirs(name, 1)(x)
    return gradient @ np.cos(x) if transform == "jvp" else gradient


CASES = [
    (name, transform)
    for name, row in PROGRAMS.items()
    for transform in TRANSFORMS
    if "custom_vjp" not in row.uses or "jvp" not in transform  # JAX has no forward mode there
]


@pytest.mark.parametrize("name, transform", CASES)
def test_a_ported_program_has_the_values_and_gradients_of_jax(name, transform):
    program = PROGRAMS[name]
    got = TRANSFORMS[transform](lambda x: program.function(Ours, x), program.point)
    need = expected(name, transform, program.point)
    np.testing.assert_allclose(np.asarray(got), np.asarray(need), rtol=1e-7, atol=1e-9)
