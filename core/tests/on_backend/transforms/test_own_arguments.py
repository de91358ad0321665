"""A function owns its arguments: what it assigns into them stays inside, whatever calls it.

An Array that the caller holds has the same value after the call as before. The result is that of
the function on a copy, and does not depend on whether the Array was computed before.
"""

import warnings

import numpy as np
import pytest

import tenferro as tn


def doubled(x):
    """Assign into the argument."""
    x *= 2.0
    return x


def total(x):
    return np.sum(doubled(x))


def with_jvp(x):
    f = tn.custom_jvp(doubled)
    f.defjvp(lambda primals, tangents: (f(primals[0]), 2 * tangents[0]))
    return f(x)


def with_vjp(x):
    f = tn.custom_vjp(doubled)
    f.defvjp(lambda x: (2 * x, None), lambda _, ct: (doubled(ct),))
    return f(x)


def solved(x):
    half = lambda _, b: b.__imul__(0.5)  # noqa: E731
    return 4 * tn.custom_linear_solve(lambda y: 2 * y, x, half, symmetric=True)


def root(x):
    solve = lambda f, guess: guess.__imul__(2.0)  # noqa: E731
    return tn.custom_root(lambda y: y - 2 * x, x, solve, lambda g, y: y)


WAYS = {
    "jit": lambda x: tn.jit(doubled)(x),
    "custom_jvp": with_jvp,
    "custom_vjp": with_vjp,
    "custom_linear": lambda x: tn.custom_linear(lambda _, x: doubled(x), lambda _, ct: doubled(ct))(
        (), x
    ),
    "custom_linear_solve": solved,
    "custom_root": root,
    "vectorize": lambda x: tn.vectorize(doubled, signature="(n)->(n)")(x),
    "cond": lambda x: tn.cond(True, doubled, doubled, x),
    "switch": lambda x: tn.switch(0, [doubled], x),
    "scan": lambda x: tn.scan(lambda c, _: (doubled(c), None), x, None, length=1)[0],
    "fori_loop": lambda x: tn.fori_loop(0, 1, lambda _, c: doubled(c), x),
    "while_loop": lambda x: tn.while_loop(
        lambda c: c[0] < 1, lambda c: (c[0] + 1, doubled(c[1])), (0, x), max_steps=2
    )[1],
    "map": lambda x: tn.map(doubled, x),
    "checkpoint": lambda x: tn.checkpoint(doubled)(x),
    "checkpoint of everything": lambda x: tn.checkpoint(doubled, policy="everything")(x),
    "vmap": lambda x: tn.vmap(doubled)(x),
}
GIVEN = {
    "known": lambda x: tn.asarray(x),
    "pending": lambda x: tn.asarray(x) * 1.0,
    "looked at": lambda x: (lambda y: (str(y), y)[1])(tn.asarray(x) * 1.0),
}
X = np.array([1.0, 2.0])


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("way", WAYS)
def test_the_array_of_the_caller_stays(way, given):
    """y = f(x) with f: x ↦ 2 x in place gives y = 2 x, and x is x"""
    x = GIVEN[given](X)
    y = WAYS[way](x)
    np.testing.assert_array_equal(np.asarray(y), 2 * X)
    np.testing.assert_array_equal(np.asarray(x), X)


@pytest.mark.parametrize("way", WAYS)
def test_it_stays_where_loops_are_unrolled(way):
    x = tn.asarray(X)
    with tn.debug.unrolled():
        y = WAYS[way](x)
    np.testing.assert_array_equal(np.asarray(y), 2 * X)
    np.testing.assert_array_equal(np.asarray(x), X)


@pytest.mark.parametrize("way", WAYS)
def test_a_result_that_is_written_to_leaves_the_argument(way):
    """A function that returns its argument returns another handle"""
    x = tn.asarray(X)
    y = WAYS[way](x)
    y[0] = 7.0
    np.testing.assert_array_equal(np.asarray(x), X)


@pytest.mark.parametrize("way", WAYS)
def test_derivatives_are_those_of_the_function(way):
    """f(x)·x = 2 x·x and its gradient 4 x, with and without a value that is looked at"""
    for given in (lambda x: x, lambda x: (str(x), x)[1]):
        value, gradient = tn.value_and_grad(
            lambda x, given=given: (lambda y: WAYS[way](y) @ y)(given(x * 1.0))
        )(X)
        np.testing.assert_allclose(value, 2 * X @ X)
        np.testing.assert_allclose(gradient, 4 * X)


@pytest.mark.parametrize("make", [np.array, tn.asarray])
def test_check_grads_checks_the_function_of_copies(make):
    x = make(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error", tn.GaugeWarning)
        tn.check_grads(total, (x,), order=2)
    np.testing.assert_array_equal(np.asarray(x), X)


@pytest.mark.parametrize("unrolled", [False, True])
def test_a_checkpoint_of_everything_takes_arrays_of_numpy_as_others_do(unrolled):
    """The function gets Arrays, and results come as NumPy's"""
    f = tn.checkpoint(lambda x: x.at[0].set(7.0), policy="everything")
    if unrolled:
        with tn.debug.unrolled():
            found = f(X)
    else:
        found = f(X)
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, [7.0, 2.0])


def rule_of_jvp():
    """A rule for x² that assigns into both."""
    f = tn.custom_jvp(lambda x: x * x)

    @f.defjvp
    def rule(primals, tangents):
        (x,), (dx,) = primals, tangents
        y = x * x
        x *= 2.0
        dx *= x
        return y, dx

    return f


def rules_of_jvp():
    f = tn.custom_jvp(lambda x, z: x * z)
    f.defjvps(lambda dx, y, x, z: dx.__imul__(z), lambda dz, y, x, z: doubled(dz) * x.__imul__(0.5))
    return lambda x: f(x, x)


def rule_of_vjp():
    f = tn.custom_vjp(lambda x: x * x)

    def bwd(x, ct):
        x *= 2.0
        ct *= x
        return (ct,)

    f.defvjp(lambda x: (x * x, x), bwd)
    return f


def forward_of_vjp():
    f = tn.custom_vjp(lambda x: x * x)

    def fwd(x):
        y = x * x
        x *= 2.0
        return y, x

    f.defvjp(fwd, lambda x, ct: (ct.__imul__(x),))
    return f


def rule_of_linear():
    f = tn.custom_linear(lambda r, x: r * x, lambda r, ct: ct.__imul__(r))
    return lambda x: f(tn.stop_gradient(2 * x), x) - f(tn.stop_gradient(x), tn.stop_gradient(x))


def map_of_linear():
    f = tn.custom_linear(lambda r, x: x.__imul__(doubled(r)), lambda r, ct: ct * doubled(r))
    y = lambda x: tn.stop_gradient(x)  # noqa: E731
    return lambda x: f(y(x), x) - f(y(x) / 2, y(x))


SQUARES = {
    "rule of custom_jvp": rule_of_jvp,
    "rules of custom_jvp": rules_of_jvp,
    "bwd of custom_vjp": rule_of_vjp,
    "fwd of custom_vjp": forward_of_vjp,
    "transpose of custom_linear": rule_of_linear,
    "custom_linear": map_of_linear,
}
DERIVATIVES = {
    "gradient": lambda f: tn.grad(lambda x: np.sum(f(x)))(X),
    "jvp": lambda f: tn.jvp(f, (X,), (np.ones(2),))[1],
    "jitted": lambda f: tn.jit(tn.grad(lambda x: np.sum(f(x))))(X),
    "linearize": lambda f: tn.linearize(f, X)[1](np.ones(2)),
    "vmap": lambda f: tn.vmap(tn.grad(lambda x: np.sum(f(x))))(X[:, None])[:, 0],
    "in a scan": lambda f: tn.grad(
        lambda x: np.sum(tn.scan(lambda c, _: (f(c), None), x, None, length=1)[0])
    )(X),
}


@pytest.mark.parametrize("derivative", DERIVATIVES)
@pytest.mark.parametrize("rule", SQUARES)
def test_a_rule_may_assign_into_its_arguments(rule, derivative):
    """(x²)′ = 2 x by a rule that writes into x, dx or ct"""
    f = SQUARES[rule]()
    np.testing.assert_allclose(np.asarray(DERIVATIVES[derivative](f)), 2 * X, rtol=1e-12)


@pytest.mark.parametrize("rule", SQUARES)
def test_cotangents_and_pullbacks_stay(rule):
    """A pullback gives the same at every call, and leaves its argument"""
    pullback = tn.vjp(SQUARES[rule](), X)[1]
    ct = tn.asarray(np.ones(2))
    for _ in range(2):
        np.testing.assert_allclose(np.asarray(pullback(ct)[0]), 2 * X, rtol=1e-12)
    np.testing.assert_array_equal(np.asarray(ct), np.ones(2))
