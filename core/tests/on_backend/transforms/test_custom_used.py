"""A rule that differs from the native derivative is really used; and what rules may do."""

import gc
import weakref

import numpy as np
import pytest

import tenferro as tn

X, W = np.array([0.1, 0.5, 1.2]), np.array([1.0, -2.0, 3.0])

clip_gradient = tn.custom_vjp(lambda x: x)
clip_gradient.defvjp(lambda x: (x, None), lambda _, ct: (np.clip(ct, -1, 1),))
straight_through = tn.custom_jvp(lambda x: np.round(x))
straight_through.defjvps(lambda dx, y, x: dx)


@tn.custom_jvp
def log1pexp(x):
    return np.log(1 + np.exp(x))


@log1pexp.defjvp
def log1pexp_rule(primals, tangents):
    (x,), (dx,) = primals, tangents
    return log1pexp(x), (1 - 1 / (1 + np.exp(x))) * dx


CLIPPED = np.clip(2 * X * W, -1, 1)


@pytest.mark.parametrize(
    "found, need",
    [
        (lambda f: tn.grad(f)(X), CLIPPED),
        (lambda f: tn.jit(tn.grad(f))(X), CLIPPED),
        (lambda f: tn.vjp(f, X)[1](0.1)[0], np.clip(0.2 * X * W, -1, 1)),
        (lambda f: tn.jacrev(lambda x: clip_gradient(x) * 5)(X), np.eye(3)),
        (lambda f: tn.jacobian(lambda x: clip_gradient(x) * 5)(X), np.eye(3)),
        (lambda f: tn.vmap(tn.grad(lambda x: clip_gradient(x) ** 3))(3 * X), [0.27, 1, 1]),
        (lambda f: tn.grad(lambda x: np.sum(tn.vmap(clip_gradient)(x) ** 2 * W))(X), CLIPPED),
    ],
)
def test_a_pullback_need_not_be_linear_in_reverse_mode(found, need):
    f = lambda x: np.sum(clip_gradient(x) ** 2 * W)  # noqa: E731
    np.testing.assert_allclose(found(f), need)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: tn.jvp(clip_gradient, (X,), (X,)),
        lambda: tn.jacfwd(clip_gradient)(X),
        lambda: tn.linearize(clip_gradient, X)[1](X),
        lambda: tn.jit(lambda x: tn.jvp(clip_gradient, (x,), (x,)))(X),
        lambda: tn.vmap(lambda x: tn.jvp(clip_gradient, (x,), (x,))[1])(X),
    ],
)
def test_forward_mode_of_a_pullback_that_is_not_linear_is_an_error_that_says_what_to_write(ask):
    with pytest.raises(tn.NotLinearError, match="custom_jvp") as raised:
        ask()
    assert raised.value.rule == "vjp"


def test_the_derivative_of_the_clipped_gradient_is_that_of_the_clip():
    """w ↦ bwd(w) is clip(w), whose derivative is 1 inside and 0 outside."""
    pull = lambda w: tn.vjp(clip_gradient, X)[1](w)[0]  # noqa: E731
    value, tangent = tn.jvp(pull, (W * 0.4,), (np.ones(3),))
    np.testing.assert_allclose([value, tangent], [[0.4, -0.8, 1], [1, 1, 0]])


def test_a_straight_through_estimator_in_every_mode():
    np.testing.assert_allclose(tn.grad(lambda x: np.sum(straight_through(x) * W))(X), W)
    np.testing.assert_allclose(tn.jacfwd(straight_through)(X), np.eye(3))
    np.testing.assert_allclose(tn.jacrev(straight_through)(X), np.eye(3))
    np.testing.assert_allclose(tn.vmap(tn.grad(straight_through))(X), np.ones(3))


def test_a_stable_rule_is_finite_where_the_native_one_is_not():
    assert tn.grad(log1pexp)(100.0) == 1
    assert tn.grad(tn.grad(log1pexp))(100.0) == pytest.approx(np.exp(-100.0), 1e-12, 0)
    np.testing.assert_allclose(tn.vmap(tn.jit(tn.grad(log1pexp)))(X * 1000), [1, 1, 1])


def fixed_point(function, a, x):
    for _ in range(100):
        x = function(a, x)
    return x


@tn.custom_vjp(nondiff_argnums=(0,))
def solve(function, a, guess):
    return fixed_point(function, a, guess)


def solve_fwd(function, a, guess):
    x = solve(function, a, guess)
    return x, (a, x)


def solve_bwd(function, residuals, ct):
    """x̄ = ct + (∂f/∂x)ᵀ x̄, ā = (∂f/∂a)ᵀ x̄: the implicit function theorem."""
    a, x = residuals
    _, pull_x = tn.vjp(lambda x: function(a, x), x)
    _, pull_a = tn.vjp(lambda a: function(a, x), a)
    bar = fixed_point(lambda ct, b: ct + pull_x(b)[0], ct, ct)
    return pull_a(bar)[0], None


solve.defvjp(solve_fwd, solve_bwd)


@pytest.mark.parametrize("inside", [lambda f: f, tn.jit], ids=["plain", "jit"])
def test_the_implicit_derivative_of_a_fixed_point(inside):
    """Newton's iteration for √a: d√a/da = 1 / (2 √a), whatever the iteration does."""
    newton = lambda a, x: 0.5 * (x + a / x)  # noqa: E731
    root = inside(lambda a: solve(newton, a, 1.0))
    assert root(2.0) == pytest.approx(2**0.5)
    assert tn.grad(root)(2.0) == pytest.approx(0.5 / 2**0.5)
    assert tn.grad(tn.grad(root))(2.0) == pytest.approx(-0.25 * 2**-1.5)
    assert tn.jvp(root, (2.0,), (1.0,))[1] == pytest.approx(0.5 / 2**0.5)
    np.testing.assert_allclose(tn.vmap(tn.grad(root))(np.array([2.0, 9.0])), [0.5 / 2**0.5, 1 / 6])


def test_the_function_may_leave_tenferro_and_the_rules_may_look_at_primals():
    outside = tn.custom_jvp(lambda x: np.asarray(x) ** 2)
    outside.defjvps(lambda dx, y, x: 2 * x * dx)
    np.testing.assert_allclose(tn.grad(lambda x: np.sum(outside(x)))(X), 2 * X)

    @tn.custom_jvp
    def halved(x):
        return x if x < 0.1 else halved(x / 2)

    @halved.defjvp
    def rule(primals, tangents):
        (x,), (dx,) = primals, tangents
        while x >= 0.1:
            x, dx = x / 2, dx / 2
        return x, dx

    points = (1.0, 0.3, 0.05)
    assert [tn.grad(halved)(x) for x in points] == [1 / 16, 1 / 4, 1]
    assert [tn.jvp(halved, (x,), (1.0,))[1] for x in points] == [1 / 16, 1 / 4, 1]


WITH_ZEROS = {
    "where": lambda x, dx: np.where(x > 0, dx, 0),
    "where of an array": lambda x, dx: np.where(x > 0, dx, np.zeros(3)),
    "sum": lambda x, dx: np.where(x > 0, sum([dx, dx]) / 2, 0.0),
    "difference": lambda x, dx: (x > 0) * (dx - 0.0),
    "concatenate": lambda x, dx: np.concatenate([[0.0], dx[1:]]),
}
TRANSFORMS_OF_RELU = {
    "jvp": lambda f: tn.jvp(f, (SIGNED,), (ALONG,))[1],
    "grad": lambda f: tn.grad(lambda x: np.sum(f(x) * ALONG))(SIGNED),
    "jit of grad": lambda f: tn.jit(tn.grad(lambda x: np.sum(f(x) * ALONG)))(SIGNED),
    "vmap of jvp": lambda f: tn.vmap(lambda x: tn.jvp(f, (x,), (ALONG,))[1])(SIGNED[None])[0],
    "jvp of vmap": lambda f: tn.jvp(tn.vmap(f), (SIGNED[None],), (ALONG[None],))[1][0],
    "jacfwd": lambda f: tn.jacfwd(f)(SIGNED) @ ALONG,
}
SIGNED, ALONG = np.array([-1.0, 2.0, 3.0]), np.array([5.0, 7.0, 11.0])


@pytest.mark.parametrize("transform", TRANSFORMS_OF_RELU.values(), ids=TRANSFORMS_OF_RELU)
@pytest.mark.parametrize("rule", WITH_ZEROS.values(), ids=WITH_ZEROS)
def test_a_rule_may_add_a_constant_zero(rule, transform):
    """dx + 0 is linear in dx: a rule may select between dx and 0."""
    by_jvp = tn.custom_jvp(lambda x: np.maximum(x, 0))
    by_jvp.defjvps(lambda dx, y, x: rule(x, dx))
    by_vjp = tn.custom_vjp(lambda x: np.maximum(x, 0))
    by_vjp.defvjp(lambda x: (np.maximum(x, 0), x), lambda x, ct: (rule(x, ct),))
    for f in (by_jvp, by_vjp):
        assert transform(f).tolist() == [0, 7, 11]


@pytest.mark.parametrize("fixed", [lambda x: 0 * x, lambda x: 1.0, lambda x: np.array([0, 0, 1.0])])
def test_a_rule_may_not_add_what_is_not_a_constant_zero(fixed):
    f = tn.custom_jvp(np.sin)
    f.defjvps(lambda dx, y, x: dx + fixed(x))
    with pytest.raises(tn.NotLinearError):
        tn.jvp(f, (SIGNED,), (ALONG,))


def test_a_rule_is_run_anew_at_each_call():
    """What it reads of the program around it may have changed."""
    factor = 2.0
    f = tn.custom_jvp(lambda x: x)
    f.defjvps(lambda dx, y, x: factor * dx)
    g = tn.grad(f)
    assert g(1.0) == 2
    factor = 3.0
    assert g(1.0) == 3


def test_nothing_of_the_user_is_kept_alive():
    class Model:
        @tn.custom_jvp
        def f(self, x):
            return x * 2

        @f.defjvp
        def rule(primals, tangents):
            return primals[0].f(primals[1]), 3 * tangents[1]

    model = Model()
    assert tn.grad(model.f)(1.0) == 3
    alive = weakref.ref(model)
    del model
    gc.collect()
    assert alive() is None


# ---- linear functions with a transpose ----------------------------------------------------------

A = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 5.0]])
INVERSE = np.linalg.inv(A)


def conjugate_gradients(a, b):
    """Hestenes and Stiefel (1952); three steps are exact in three dimensions."""
    x, r = np.zeros_like(b), b
    p = r
    for _ in range(3):
        step = (r @ r) / (p @ (a @ p))
        x, rest = x + step * p, r - step * (a @ p)
        if np.sum(rest * rest) < 1e-25:  # looks at a value
            break
        p, r = rest + (rest @ rest) / (r @ r) * p, rest
    return x


cg = tn.custom_linear(conjugate_gradients, transpose=lambda a, ct: conjugate_gradients(a.T, ct))


def half_norm(b):
    return 0.5 * np.sum(cg(A, b) ** 2)


@pytest.mark.parametrize(
    "found, need",
    [
        (lambda: cg(A, X), INVERSE @ X),
        (lambda: tn.grad(lambda b: W @ cg(A, b))(X), INVERSE @ W),
        (lambda: tn.jvp(lambda b: cg(A, b), (X,), (W,))[1], INVERSE @ W),
        (lambda: tn.linearize(lambda b: cg(A, b), X)[1](W), INVERSE @ W),
        (lambda: tn.vjp(lambda b: cg(A, b), X)[1](W)[0], INVERSE @ W),
        (lambda: tn.grad(half_norm)(X), INVERSE @ INVERSE @ X),
        (lambda: tn.hvp(half_norm)(X, W), INVERSE @ INVERSE @ W),
        (lambda: tn.grad(lambda b: W @ tn.grad(half_norm)(b))(X), INVERSE @ INVERSE @ W),
        (lambda: tn.grad(lambda b: tn.jvp(half_norm, (b,), (W,))[1])(X), INVERSE @ INVERSE @ W),
    ],
)
def test_a_solver_is_transposed_by_another_run(found, need):
    np.testing.assert_allclose(found(), need, rtol=1e-9)


def test_a_linear_function_under_vmap_shares_or_adds():
    divide = tn.custom_linear(lambda d, b: b / d, lambda d, ct: ct / d)
    f = lambda d, b: np.sum(divide(d, b) ** 2)  # noqa: E731
    rows = np.stack([X, W])
    both = tn.vmap(f, (None, 0))
    np.testing.assert_allclose(tn.vmap(tn.grad(f, 1), (None, 0))(W, rows), 2 * rows / W**2)
    np.testing.assert_allclose(tn.grad(lambda b: np.sum(both(W, b)))(rows), 2 * rows / W**2)
    shared = tn.grad(lambda d: np.sum(both(d, rows)))(W)
    np.testing.assert_allclose(shared, -2 * np.sum(rows**2, 0) / W**3)
    np.testing.assert_allclose(tn.jit(tn.hessian(f))(W, X), np.diag(6 * X**2 / W**4), atol=1e-12)
