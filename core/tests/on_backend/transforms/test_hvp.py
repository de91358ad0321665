"""Products of the Hessian with a vector, at plain arguments and wherever else they are taken.

Each row is a function, its point and a vector. What plain arguments give is compared with the
difference of gradients, with the same product under ``jit``, and with ``jvp`` of ``grad``.
"""

import numpy as np
import pytest

import tenferro as tn

X = np.linspace(0.5, 1.6, 5)
V = np.array([0.3, -1.0, 0.7, 0.2, -0.4])


def _leaves(tree):
    return [tree[name] for name in sorted(tree)] if isinstance(tree, dict) else [tree]


def _moved(x, v, step):
    if isinstance(x, dict):
        return {name: x[name] + step * v[name] for name in x}
    return x + step * v


@tn.custom_jvp
def cube(x):
    return x**3


@cube.defjvp
def _cube_tangent(primals, tangents):
    (x,), (dx,) = primals, tangents
    return cube(x), 3 * x**2 * dx


def unrolled(x):
    for k in range(30):
        x = np.sin(x) + x * (0.01 * k)
        x = x / (1 + x * x)
    return np.sum(x)


def by_value(x):
    return np.sum(x**3) if x[0] > 0 else np.sum(x**4)


def in_a_buffer(x):
    y = tn.zeros(5)
    y[1:] = x[1:] ** 3
    y[0] = x[0] * x[4]
    return np.sum(y * x)


FUNCTIONS = {
    "elementwise": (lambda x: np.sum(np.sin(x) * np.exp(x)), X, V),
    "products": (lambda x: x @ np.outer(V, V) @ x * np.sum(x), X, V),
    "slices": (lambda x: np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2), X, V),
    "number": (lambda x: x * x * x, 1.5, 0.3),
    "one": (lambda x: x * x * x, 1.5, 1.0),
    "rank 0": (lambda x: np.exp(x) * x, np.array(0.4), np.array(-2.0)),
    "float32": (lambda x: np.sum(np.tanh(x) ** 2), X.astype("float32"), V.astype("float32")),
    "matrix": (lambda x: np.linalg.slogdet(x)[1], np.diag(X) + 0.1, np.outer(V, X)),
    "tree": (
        lambda p: np.sum(p["a"] ** 2 * np.sin(p["b"])),
        {"a": X, "b": 0.7},
        {"a": V, "b": -0.5},
    ),
    "constant": (lambda x: np.sum(np.ones(3)), X, V),
    "linear": (lambda x: np.sum(2 * x), X, V),
    "by value": (by_value, X, V),
    "buffer": (in_a_buffer, X, V),
    "rule of the user": (lambda x: np.sum(cube(x) * x), X, V),
    "unrolled loop": (unrolled, X, V),
    "scan": (lambda x: tn.scan(lambda c, r: (np.sin(c) * r + c, None), 1.0, x)[0], X, V),
    "gradient inside": (lambda x: np.sum(tn.grad(lambda y: np.sum(y**3 * x))(x) * x), X, V),
    "checkpoint": (lambda x: tn.checkpoint(lambda x: np.sum(np.sin(x) ** 3))(x), X, V),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_product_is_the_difference_of_gradients(name):
    """H v ≈ (∇f(x + εv) − ∇f(x − εv)) / 2ε, at each of several calls"""
    function, x, v = FUNCTIONS[name]
    single = "float32" in name
    step = 1e-2 if single else 1e-5
    for i in range(5):
        here = _moved(x, v, 0.01 * i)
        found = tn.hvp(function)(here, v)
        up, down = (tn.grad(function)(_moved(here, v, s)) for s in (step, -step))
        for h, a, b, part in zip(*map(_leaves, (found, up, down, here)), strict=True):
            assert isinstance(h, (np.ndarray, np.generic))
            assert h.dtype == np.asarray(part).dtype
            assert h.shape == np.shape(part)
            np.testing.assert_allclose(
                h,
                (a - b) / (2 * step),
                rtol=2e-2 if single else 1e-5,
                atol=1e-3 if single else 1e-6,
            )


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "by value"])
def test_a_product_of_plain_arguments_is_that_under_jit(name):
    function, x, v = FUNCTIONS[name]
    found, expected = tn.hvp(function)(x, v), tn.jit(tn.hvp(function))(x, v)
    composed = tn.jvp(tn.grad(function), (x,), (v,))[1]
    rtol = 1e-5 if name == "float32" else 1e-12
    for h, e, c in zip(*map(_leaves, (found, expected, composed)), strict=True):
        np.testing.assert_allclose(h, e, rtol=rtol, atol=1e-13)
        np.testing.assert_allclose(h, c, rtol=rtol, atol=1e-13)


def test_complex_arguments():
    """f = Σ |z|⁴ has the gradient 4 |z|² z, and along v this changes by 4 (2 |z|² v + z² v̄)."""
    z, v = X * np.exp(1j * X), V + 1j * X
    found = tn.hvp(lambda z: np.sum(np.abs(z) ** 4))(z, v)
    np.testing.assert_allclose(found, 4 * (2 * np.abs(z) ** 2 * v + z**2 * v.conj()), rtol=1e-12)


def test_more_arguments_are_passed_on():
    """∂²/∂x² Σ a sin(b x) = -a b² sin(b x)"""
    found = tn.hvp(lambda x, a, *, b: np.sum(a * np.sin(b * x)))(X, V, X + 1, b=2.0)
    np.testing.assert_allclose(found, -(X + 1) * 4 * np.sin(2 * X) * V, rtol=1e-12)


def test_no_elements():
    """H v has the shape of an x without elements"""
    found = tn.hvp(lambda x: np.sum(x**3))(np.zeros((0, 2)), np.zeros((0, 2)))
    assert found.shape == (0, 2)


def test_a_leaf_that_does_not_move():
    """∂/∂a of Σ a² sin b along da alone: 2 sin b da; of b: 2 Σ a cos b da"""
    found = tn.hvp(lambda p: np.sum(p["a"] ** 2 * np.sin(p["b"])))(
        {"a": X, "b": 0.7}, {"a": V, "b": 0.0}
    )
    np.testing.assert_allclose(found["a"], 2 * np.sin(0.7) * V, rtol=1e-12)
    np.testing.assert_allclose(found["b"], np.sum(2 * X * np.cos(0.7) * V), rtol=1e-12)


OUTER = {
    "grad": lambda f: tn.grad(lambda a: np.sum(f(a)))(1.3),
    "jvp": lambda f: tn.jvp(lambda a: np.sum(f(a)), (1.3,), (1.0,))[1],
    "grad under jit": lambda f: tn.jit(tn.grad(lambda a: np.sum(f(a))))(1.3),
    "vmap": lambda f: tn.vmap(tn.grad(lambda a: np.sum(f(a))))(np.array([1.3, 2.0]))[0],
}


@pytest.mark.parametrize("name", OUTER)
def test_a_product_closes_over_a_value_of_the_transform_outside(name):
    """d/da Σ a³ · 6 x v = Σ 18 a² x v, at plain x and v"""
    found = OUTER[name](lambda a: tn.hvp(lambda x: np.sum((a * x) ** 3))(X, V))
    np.testing.assert_allclose(found, np.sum(18 * 1.3**2 * X * V), rtol=1e-12)


def test_a_product_inside_the_function_of_a_product():
    """g(x) = Σ x · H v of Σ y³ at y = x gives 6 Σ x² v, whose own product with w is 12 v w."""
    inner = lambda x: np.sum(tn.hvp(lambda y: np.sum(y**3))(x, V) * x)  # noqa: E731
    np.testing.assert_allclose(tn.hvp(inner)(X, X + 1), 12 * V * (X + 1), rtol=1e-12)


def test_the_arguments_are_those_of_the_call():
    """A function may write into its arguments; the caller's stay as they are."""
    x = X.copy()

    def function(x):
        y = x * 1
        y[0] = 2.0
        x[1] = 3.0
        return np.sum(y**3) + x[1] * x[2] ** 2

    found = tn.hvp(function)(x, V)
    expected = 6 * X * V
    expected[0] = 0
    expected[2] += 6 * V[2]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_array_equal(x, X)


def ruled(factor):
    """x³, whose rule has a factor of its own."""

    @tn.custom_jvp
    def power(x):
        return x**3

    @power.defjvp
    def _tangent(primals, tangents):
        (x,), (dx,) = primals, tangents
        return power(x), factor(x) * x * dx

    return lambda x: np.sum(power(x))


def test_a_rule_of_the_user_that_branches_on_a_value_runs_at_each_call():
    """The rule says dy = 3 x² dx or 5 x dx, so the second derivative is 6 x or 5."""
    function = ruled(lambda x: 3 * x if x[0] > 0 else 5.0)
    for sign in (1.0, -1.0, 1.0):
        expected = 6 * X * V if sign > 0 else 5 * V
        np.testing.assert_allclose(tn.hvp(function)(sign * X, V), expected, rtol=1e-12)


def test_a_rule_of_the_user_that_makes_a_number_of_a_value_is_refused():
    """Its derivative would be lost: float(x) is a number in the gradient that is differentiated."""
    with pytest.raises(tn.TracedConversionError):
        tn.hvp(ruled(lambda x: 3 * float(x[0])))(X, V)


def test_a_unit_may_be_another_leaf_at_the_next_call():
    """a² b³ has the Hessian [[2 b³, 6 a b²], [6 a b², 6 a² b]]; a 1 is part of the program."""
    a, b = 0.5, 0.7
    product = tn.hvp(lambda p: p["a"] ** 2 * p["b"] ** 3)
    for da, db in [(1.0, 0.3), (0.3, 1.0), (1.0, 1.0), (0.3, 0.2)]:
        found = product({"a": a, "b": b}, {"a": da, "b": db})
        np.testing.assert_allclose(found["a"], 2 * b**3 * da + 6 * a * b**2 * db, rtol=1e-12)
        np.testing.assert_allclose(found["b"], 6 * a * b**2 * da + 6 * a**2 * b * db, rtol=1e-12)
