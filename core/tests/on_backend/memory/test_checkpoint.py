"""A checkpoint is the same function, and its reverse sweep reads what the policy keeps.

T(checkpoint(f)) = T(f)      for transforms T of order 0 to 3, eager and under `jit`
"""

import numpy as np
import pytest

import tenferro as tn

W = np.array([[0.5, -0.2, 0.1], [0.3, 0.8, -0.4], [-0.1, 0.2, 0.6]])
X = np.array([0.4, -0.3, 0.2])


def layers(w, x):
    h = tn.name(np.tanh(w @ x), "h")
    return np.sum(np.sin(np.exp(w @ h) * x))


@tn.custom_vjp
def doubled_slope(x):
    return np.sin(x)


doubled_slope.defvjp(lambda x: (np.sin(x), x), lambda x, ct: (2.0 * ct * np.cos(x),))


def with_a_rule(w, x):
    return np.sum(doubled_slope(w @ x) * x)


def with_a_loop(w, x):
    return np.sum(tn.scan(lambda c, _: (np.sin(w @ c), None), x, None, 3)[0])


def with_a_branch(w, x):
    return np.sum(tn.cond(x[0] > 0, np.sin, np.cos, w @ x))


def nested(w, x):
    inner = tn.checkpoint(lambda x: np.sin(np.exp(w @ x)))
    return np.sum(inner(inner(x)) ** 2)


def in_a_loop(w, x):
    step = tn.checkpoint(lambda c: np.tanh(w @ np.sin(c)))
    return np.sum(tn.scan(lambda c, _: (step(c), np.sum(c)), x, None, 4)[0])


FUNCTIONS = [layers, with_a_rule, with_a_loop, with_a_branch, nested, in_a_loop]
POLICIES = {
    "nothing": "nothing",
    "everything": "everything",
    "dots": "dots",
    "predicate": lambda operation: operation.name in ("exp", "sin"),
}
TRANSFORMS = {
    "value": lambda f: f,
    "jit": tn.jit,
    "jvp": lambda f: lambda *x: tn.jvp(f, x, (W.T, 0.5 * X)),
    "grad": lambda f: tn.grad(f, (0, 1)),
    "jit of grad": lambda f: tn.jit(tn.grad(f, (0, 1))),
    "vjp": lambda f: lambda *x: tn.vjp(f, *x)[1](1.0),
    "linearize": lambda f: lambda *x: tn.linearize(f, *x)[1](W.T, X),
    "hessian": lambda f: tn.hessian(f, 1),
    "grad of grad": lambda f: lambda w, x: tn.grad(lambda x: np.sum(tn.grad(f, 1)(w, x) ** 2))(x),
    "grad of jvp": lambda f: tn.jit(
        lambda w, x: tn.grad(lambda x: tn.jvp(lambda x: f(w, x), (x,), (X,))[1])(x)
    ),
    "vmap of grad": lambda f: (
        lambda w, x: tn.vmap(tn.grad(f, (0, 1)), (None, 0))(w, np.stack([x, -x]))
    ),
    "grad of vmap": lambda f: tn.grad(
        lambda w, x: np.sum(tn.vmap(f, (None, 0))(w, np.stack([X, 2 * X])) * x[:2]), (0, 1)
    ),
}


def agree(f, g, *x, rtol=1e-12):
    for a, b in zip(flat(f(*x)), flat(g(*x)), strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=rtol, atol=1e-13)


def flat(tree):
    return [y for part in tree for y in flat(part)] if isinstance(tree, (tuple, list)) else [tree]


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS.keys())
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_checkpoint_is_the_function(function, transform):
    """T(checkpoint(f)) = T(f)"""
    agree(transform(tn.checkpoint(function)), transform(function), W, X)


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS.keys())
@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES.keys())
def test_no_policy_changes_a_value(policy, transform):
    agree(transform(tn.checkpoint(layers, policy=policy)), transform(layers), W, X)


def test_a_name_is_kept():
    agree(tn.grad(tn.checkpoint(layers, policy=["h"])), tn.grad(layers), W, X)
    assert reads(tn.checkpoint(layers, policy=["h"])) == reads(tn.checkpoint(layers)) + 1


def reads(function):
    """Return how many values the equation that computes again reads, cotangents aside."""
    (operation,) = recomputations(tn.value_and_grad(function), W, X)
    return operation.is_linear.count(False)


def recomputations(function, *x):
    graph = tn.passes.optimized(tn.jit(function).lower(*x))[0]
    return [n.operation for n in graph.nodes if n.operation.name == "checkpoint"]


def equations(function, name, *x):
    """Count the equations of one name, those of bodies included."""
    graph = tn.passes.optimized(tn.jit(function).lower(*x))[0]
    found = [n.operation for n in graph.nodes]
    for operation in found:
        found += [op for _, body in getattr(operation, "bodies", ()) for op, _ in body.equations]
    return [operation.name for operation in found].count(name)


def test_what_is_computed_again_is_not_merged_with_the_first_evaluation():
    """exp occurs once in the value, and again in the reverse sweep"""
    assert equations(tn.value_and_grad(layers), "exp", W, X) == 1
    assert equations(tn.value_and_grad(tn.checkpoint(layers)), "exp", W, X) == 2


def test_forward_mode_computes_nothing_twice():
    forward = lambda *x: tn.jvp(tn.checkpoint(layers), x, (W, X))  # noqa: E731
    assert equations(forward, "exp", W, X) == 1
    assert recomputations(forward, W, X) == []


def test_everything_is_the_function_itself():
    assert recomputations(tn.grad(tn.checkpoint(layers, policy="everything")), W, X) == []


def test_what_depends_on_closures_alone_is_computed_again_too():
    function = lambda w: np.sum(tn.checkpoint(lambda: np.sin(np.exp(w)))())  # noqa: E731
    assert equations(tn.value_and_grad(function), "exp", W) == 2
    agree(tn.grad(function), tn.grad(lambda w: np.sum(np.sin(np.exp(w)))), W)


def test_trees_keywords_numbers_and_integers():
    def function(p, n, *, scale):
        return {"y": p["x"] * scale, "n": n + 1, "flag": p["x"][0] > 0}, None

    found, nothing = tn.checkpoint(function)({"x": X}, 2, scale=3.0)
    assert nothing is None
    np.testing.assert_array_equal(np.asarray(found["y"]), 3.0 * X)
    assert (int(found["n"]), bool(found["flag"])) == (3, True)
    loss = lambda p: np.sum(tn.checkpoint(function)(p, 2, scale=p["s"])[0]["y"])  # noqa: E731
    found = tn.grad(loss)({"x": X, "s": 2.0})
    np.testing.assert_allclose(np.asarray(found["x"]), 2.0)
    np.testing.assert_allclose(float(found["s"]), np.sum(X))


@pytest.mark.parametrize("x", [np.float64(0.3), np.zeros(0), np.float32([0.1, 0.2])])
def test_shapes_and_dtypes_at_the_edges(x):
    f = lambda x: np.sum(np.sin(np.exp(x)))  # noqa: E731
    agree(tn.grad(tn.checkpoint(f)), tn.grad(f), x, rtol=1e-6)
    assert np.asarray(tn.grad(tn.checkpoint(f))(x)).dtype == x.dtype


def test_complex_values():
    """grad of a checkpoint = grad of its function, at complex arguments"""
    f = lambda x: np.sum(abs(np.sin(np.exp(x) * 1j)) ** 2)  # noqa: E731
    agree(tn.grad(tn.checkpoint(f)), tn.grad(f), X + 0.5j)


def test_a_chain_computes_each_part_again_once():
    part = tn.checkpoint(lambda x: np.sin(np.exp(x)))
    chain = lambda x: np.sum(part(part(part(x))))  # noqa: E731
    assert equations(tn.value_and_grad(chain), "exp", X) == 6
    agree(tn.grad(chain), tn.grad(lambda x: np.sum(plain(plain(plain(x))))), X)


def plain(x):
    return np.sin(np.exp(x))


def test_a_barrier_is_the_identity_and_separates_equal_values():
    function = lambda x: np.sum(np.exp(tn.barrier(x)) + np.exp(x))  # noqa: E731
    agree(tn.grad(function), lambda x: 2.0 * np.exp(x), X)
    assert equations(function, "exp", X) == 2
    assert equations(lambda x: np.exp(x) + np.exp(x), "exp", X) == 1


def test_a_rule_computes_again_behind_a_barrier():
    """The rule stores x alone."""

    @tn.custom_vjp
    def f(x):
        return np.exp(np.sin(x))

    def backward(x, ct):
        again = tn.barrier(x, after=ct)
        return (ct * np.exp(np.sin(again)) * np.cos(again),)

    f.defvjp(lambda x: (f(x), x), backward)
    gradient = tn.value_and_grad(lambda x: np.sum(f(x)))
    assert equations(gradient, "exp", X) == 2
    agree(lambda x: gradient(x)[1], lambda x: np.exp(np.sin(x)) * np.cos(x), X)


def behind(rule_of):
    """Return sin with a rule that computes cos again once ``rule_of`` says so."""

    def cotangents(f):
        def backward(x, ct):
            return (ct * np.cos(tn.barrier(x, after=2.0 * ct)),)

        f.defvjp(lambda x: (f(x), x), backward)

    def tangents(f):
        @f.defjvp
        def rule(primals, given):
            (x,), (dx,) = primals, given
            return f(x), dx * np.cos(tn.barrier(x, after=2.0 * dx))

    register = {"custom_vjp": cotangents, "custom_jvp": tangents}[rule_of]
    f = getattr(tn, rule_of)(np.sin)
    register(f)
    return f


@pytest.mark.parametrize("rule_of", ["custom_vjp", "custom_jvp"])
@pytest.mark.parametrize(
    "program",
    [
        lambda f, x: np.sum(tn.scan(lambda y, _: (f(y) * x, None), x, None, 3)[0]),
        lambda f, x: np.sum(
            tn.while_loop(lambda y: y[0] > 0.1, lambda y: f(y) / 2, x, max_steps=9)
        ),
        lambda f, x: np.sum(tn.checkpoint(lambda y: f(y) * y)(x)),
        lambda f, x: np.sum(tn.vmap(lambda y: f(y) * y)(x)),
        lambda f, x: tn.jvp(lambda y: np.sum(f(y) ** 2), (x,), (x,))[1],
        lambda f, x: np.sum(tn.hvp(lambda y: np.sum(f(y) ** 2))(x, x)),
    ],
    ids=["scan", "while", "checkpoint", "vmap", "jvp", "hvp"],
)
def test_a_barrier_that_waits_for_a_tangent_or_cotangent_is_fixed_for_linear_maps(rule_of, program):
    x = np.array([0.3, 0.7])
    f = behind(rule_of)
    for derivative in (tn.grad, lambda g: tn.hessian(g), lambda g: tn.jit(tn.grad(g))):
        agree(derivative(lambda x: program(f, x)), derivative(lambda x: program(np.sin, x)), x)


def test_a_rule_that_is_no_linear_map_but_for_a_barrier_is_refused():
    f = tn.custom_vjp(np.sin)
    f.defvjp(lambda x: (f(x), x), lambda x, ct: (np.cos(tn.barrier(x, after=ct)),))
    with pytest.raises(tn.NotLinearError, match="does not depend on the one given"):
        tn.jvp(f, (X,), (X,))


def test_a_policy_that_says_nothing_is_refused():
    with pytest.raises(ValueError, match="unknown policy 'all'"):
        tn.checkpoint(layers, policy="all")
    with pytest.raises(ValueError, match="no value of the function is named 'q'"):
        tn.checkpoint(layers, policy=["q"])(W, X)
    with pytest.raises(TypeError, match="the name of a value is a string"):
        tn.name(X, 3)
    with pytest.raises(tn.BodyError, match="arguments"):
        tn.checkpoint(lambda x, mode: x)(X, "fast")
