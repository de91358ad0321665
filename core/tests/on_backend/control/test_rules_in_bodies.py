"""Functions with rules of the user in the bodies of loops and branches.

Their rules run transforms, whose identities are gone where a body is closed: derivatives are those
of the plain function, and a second call of a derivative compiles nothing.
"""

import numpy as np
import pytest

import tenferro as tn
from tenferro.arrays import PROGRAMS

A = np.array([[0.5, -0.3], [0.2, 0.8]])
ROWS = np.array([0.4, -0.7, 1.1])


def by_tangents(f):
    g = tn.custom_jvp(f)
    g.defjvp(lambda primals, tangents: tn.jvp(f, primals, tangents))
    return g


def by_cotangents(f):
    g = tn.custom_vjp(f)
    g.defvjp(lambda x: (f(x), x), lambda x, ct: tn.vjp(f, x)[1](ct))
    return g


RULES = {"custom_jvp": by_tangents, "custom_vjp": by_cotangents}
BODIES = {
    "map": lambda f, a, xs: np.sum(np.sin(tn.map(lambda x: f(a) * x, xs))),
    "map of rows": lambda f, a, xs: np.sum(tn.map(lambda x: f(a * x), xs) ** 2),
    "map in parts": lambda f, a, xs: np.sum(tn.map(lambda x: f(a), xs, batch_size=2) ** 2),
    "scan": lambda f, a, xs: tn.scan(
        lambda c, x: (np.tanh(c + np.sum(f(a * c)) * x), None), 0.1, xs
    )[0],
    "while_loop": lambda f, a, xs: tn.while_loop(
        lambda c: (c[0] < 3) & (np.sum(f(a * c[1])) < 100.0),
        lambda c: (c[0] + 1, np.tanh(c[1] + np.sum(f(a * c[1])))),
        (0, 0.1),
        max_steps=4,
    )[1],
    "cond": lambda f, a, xs: tn.cond(xs[0] > 0, lambda a: np.sum(f(a)), lambda a: a[0, 0], a),
    "checkpoint": lambda f, a, xs: np.sum(tn.checkpoint(lambda a: f(2 * a) * xs[0])(a)),
}  # fmt: skip
DERIVATIVES = {"hessian": tn.hessian, "grad of jit": lambda f: tn.grad(tn.jit(f))}
OF_FIRST_ORDER = {
    "grad": tn.grad,
    "jvp": lambda f: lambda a, xs: tn.jvp(f, (a, xs), (a, xs))[1],
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("body", BODIES)
def test_derivatives_are_those_of_the_plain_function(rule, body):
    f = RULES[rule](np.sin)
    for name, derivative in DERIVATIVES.items():
        got = derivative(lambda a, xs: BODIES[body](f, a, xs))(A, ROWS)
        want = derivative(lambda a, xs: BODIES[body](np.sin, a, xs))(A, ROWS)
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("body", BODIES)
def test_the_second_call_compiles_nothing(rule, body):
    f = RULES[rule](np.sin)
    for name, transform in OF_FIRST_ORDER.items():
        derivative = transform(lambda a, xs: BODIES[body](f, a, xs))
        for _ in range(2):
            before = PROGRAMS.stats.misses
            np.asarray(derivative(A, ROWS))
        assert PROGRAMS.stats.misses == before, name


def test_a_name_in_a_loop_is_the_identity():
    named = tn.hessian(lambda a: np.sum(tn.map(lambda x: tn.name(np.sin(a), "y") * x, ROWS) ** 2))
    plain = tn.hessian(lambda a: np.sum(tn.map(lambda x: np.sin(a) * x, ROWS) ** 2))
    np.testing.assert_allclose(named(A), plain(A), rtol=1e-10, atol=1e-12)
