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


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


GIVEN = {
    "numpy": lambda x: x.copy(),
    "view of numpy": lambda x: np.stack([x, x], axis=1)[:, 0],
    "read-only": read_only,
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


def fixed_by_jvp():
    f = tn.custom_jvp(lambda a, x: doubled(a) * x, nondiff_argnums=0)
    f.defjvp(lambda a, primals, tangents: (2 * a * primals[0], doubled(a) * tangents[0]))
    return f


def fixed_by_vjp():
    f = tn.custom_vjp(lambda a, x: doubled(a) * x, nondiff_argnums=0)
    f.defvjp(lambda a, x: (doubled(a) * x, None), lambda a, _, ct: (doubled(a) * ct,))
    return f


def named_of_jvp():
    f = tn.custom_jvp(lambda x, *, a: doubled(a) * x)
    f.defjvp(lambda primals, tangents, a: (2 * a * primals[0], doubled(a) * tangents[0]))
    return lambda a, x: f(x, a=a)


def nested_in_a_tree():
    f = tn.custom_vjp(lambda a, x: doubled(a["a"][0]) * x, nondiff_argnums=0)
    f.defvjp(lambda a, x: (2 * a["a"][0] * x, None), lambda a, _, ct: (doubled(a["a"][0]) * ct,))
    return lambda a, x: f({"a": [a]}, x)


FIXED = {
    "custom_jvp": fixed_by_jvp,
    "custom_vjp": fixed_by_vjp,
    "by keyword": named_of_jvp,
    "in a tree": nested_in_a_tree,
    "vectorize": lambda: (
        lambda a, x: (
            tn.vectorize(lambda x, a: np.sum(doubled(a)) / 3 * x, excluded={1})(x, a)
            * np.array([1.0, 2.0])
        )
    ),
}
ONE = np.ones(2)
CALLS = {
    "call": lambda f, a: f(a, ONE),
    "gradient": lambda f, a: tn.grad(lambda x: np.sum(f(a, x)))(ONE),
    "jvp": lambda f, a: tn.jvp(lambda x: f(a, x), (ONE,), (ONE,))[1],
    "jitted": lambda f, a: tn.jit(tn.grad(lambda x: np.sum(f(a, x))))(ONE),
    "second pullback": lambda f, a: (lambda p: (p(ONE), p(ONE))[1][0])(
        tn.vjp(lambda x: f(a, x), ONE)[1]
    ),
    "vmap": lambda f, a: tn.vmap(lambda x: f(a, x))(np.ones((3, 2)))[2],
}


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("function", FIXED)
def test_an_argument_that_no_rule_is_about_stays(function, call, given):
    """y = 2 a x and dy = 2 a dx, however often the function and its rules run"""
    a = GIVEN[given](X)
    found = CALLS[call](FIXED[function](), a)
    np.testing.assert_allclose(np.asarray(found), 2 * X, rtol=1e-15)
    np.testing.assert_array_equal(np.asarray(a), X)


def test_a_rule_that_runs_late_reads_an_argument_as_it_was():
    f = tn.custom_vjp(lambda a, x: a * x, nondiff_argnums=0)
    f.defvjp(lambda a, x: (a * x, None), lambda a, _, ct: (a * ct if ct.sum() > 0 else ct,))
    a = X.copy()
    pullback = tn.vjp(lambda x: f(a, x), ONE)[1]
    a[:] = 0.0
    np.testing.assert_array_equal(pullback(ONE)[0], X)


LARGE = np.ones(10_000)


def test_a_large_array_is_not_copied_and_not_written_to():
    """More than 64 KiB: an error at the user's line, and results that share no memory"""
    f = tn.custom_jvp(doubled)
    with pytest.raises(tn.BorrowedWriteError, match="read-only"):
        f(LARGE)
    assert LARGE[0] == 1.0
    same = tn.custom_jvp(lambda x: (x, x[1:]))(LARGE)
    assert all(not np.shares_memory(y, LARGE) and y.flags.writeable for y in same)


@pytest.mark.parametrize("a", [X, LARGE, {"a": [X]}, tn.asarray(X)])
def test_a_rule_that_calls_its_function_on_a_fixed_argument_has_its_results(a):
    """The value is recorded once"""
    calls = []
    f = tn.custom_jvp(lambda a, x: (calls.append(x), 2 * x)[1], nondiff_argnums=0)
    f.defjvp(lambda a, primals, tangents: (f(a, primals[0]), 2 * tangents[0]))
    np.testing.assert_array_equal(tn.grad(lambda x: np.sum(f(a, x)))(ONE), 2 * ONE)
    assert len(calls) == 1
