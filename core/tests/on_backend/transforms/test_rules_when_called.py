"""A rule of the user reads the program around it as it is when its function is called.

The derivative is taken later.
"""

import numpy as np
import pytest

import tenferro as tn

X = 2.0
COUNT = 3  # calls of one program, each with another k
ROW = np.array([1.0, 1.0])

TRANSFORMS = {
    "grad": tn.grad,
    "jvp": lambda f: lambda x: tn.jvp(f, (x,), (1.0,))[1],
    "linearize": lambda f: lambda x: tn.linearize(f, x)[1](1.0),
    "transposed": lambda f: lambda x: tn.linearize(f, x)[1].transpose(1.0)[0],
    "vjp": lambda f: lambda x: tn.vjp(f, x)[1](1.0)[0],
    "jit of grad": lambda f: tn.jit(tn.grad(f)),
    "grad of jit": lambda f: tn.grad(tn.jit(f)),
    "vmap of grad": lambda f: lambda x: tn.vmap(tn.grad(f))(x * ROW)[1],
    "grad of vmap": lambda f: tn.grad(lambda x: tn.vmap(f)(x * ROW)[1]),
}


def jvp_of(k):
    """K x², by a forward rule that reads k."""
    f = tn.custom_jvp(lambda x: k() * x * x)
    f.defjvp(lambda primals, tangents: (f(primals[0]), 2 * k() * primals[0] * tangents[0]))
    return f


def residual_of(k):
    """K x², by a reverse rule whose forward part reads k."""
    f = tn.custom_vjp(lambda x: k() * x * x)
    f.defvjp(lambda x: (f(x), (k(), x)), lambda r, ct: (2 * r[0] * r[1] * ct,))
    return f


def pullback_of(k):
    """K x², by a reverse rule whose backward part reads k."""
    f = tn.custom_vjp(lambda x: k() * x * x)
    f.defvjp(lambda x: (f(x), x), lambda x, ct: (2 * k() * x * ct,))
    return f


def linear_of(k):
    """K x², by a linear function that reads k in both directions."""
    f = tn.custom_linear(lambda x, y: k() * x * y, lambda x, ct: k() * x * ct)
    return lambda x: f(x, x)


FAMILIES = {"jvp": jvp_of, "fwd": residual_of, "bwd": pullback_of, "linear": linear_of}


def by_variable(make, x):
    """The functions close over the variable of a loop."""
    total = 0.0
    for k in range(1, COUNT + 1):
        total = total + make(lambda: k)(x)  # noqa: B023 - that it is read late is the point
    return total


def by_attribute(make, x):
    """One function reads a dictionary that the program writes to."""
    state = {"k": 0}
    f, total = make(lambda: state["k"]), 0.0
    for _ in range(COUNT):
        state["k"] += 1
        total = total + f(x)
    return total


def by_array(make, x):
    """One function reads a NumPy array that the program writes to."""
    k = np.zeros(())
    f, total = make(lambda: k), 0.0
    for _ in range(COUNT):
        k += 1
        total = total + f(x)
    return total


@pytest.mark.parametrize("program", [by_variable, by_attribute, by_array])
@pytest.mark.parametrize("rule", FAMILIES)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_derivatives_are_those_of_the_calls(transform, rule, program):
    """(Σₖ k x²)′ = Σ 2 k x, and its derivative Σ 2 k, for k = 1, 2, 3."""
    derivative = TRANSFORMS[transform](lambda x: program(FAMILIES[rule], x))
    assert float(derivative(X)) == pytest.approx(24)
    for outer in (tn.grad, tn.jacfwd, TRANSFORMS["jit of grad"]):
        assert float(outer(derivative)(X)) == pytest.approx(12)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_rule_that_uses_the_value_is_right_at_every_order(transform):
    """(Σₖ e^{kx})″ = Σ k² e^{kx}, where each rule calls its function for the value."""

    def program(x):
        total = 0.0
        for k in (1.0, 2.0, 3.0):
            f = tn.custom_jvp(lambda x: np.exp(k * x))  # noqa: B023
            f.defjvp(lambda xs, dxs: (f(*xs), k * f(*xs) * dxs[0]))  # noqa: B023
            total = total + f(x)
        return total

    terms = np.arange(1, 4) ** np.arange(4)[:, None] * np.exp(np.arange(1, 4) * 0.5)
    derivative = TRANSFORMS[transform](program)
    assert float(derivative(0.5)) == pytest.approx(terms[1].sum())
    assert float(tn.grad(derivative)(0.5)) == pytest.approx(terms[2].sum())
    assert float(tn.grad(tn.jacfwd(derivative))(0.5)) == pytest.approx(terms[3].sum())


SLOPES = {name: lambda a, make=make: make(lambda: a) for name, make in FAMILIES.items()}


@pytest.mark.parametrize("rule", SLOPES)
def test_a_rule_may_close_over_an_argument_of_a_transform_inside(rule):
    """d/dx a x² = 2 a x and d²/dx da = 2 x, where a belongs to a jit or vmap that has returned."""
    jitted = tn.jit(lambda a, x: SLOPES[rule](a)(x))
    assert tn.grad(jitted, 1)(5.0, 2.0) == 20
    assert tn.grad(tn.grad(jitted, 1), 0)(5.0, 2.0) == 4
    mapped = lambda a, x: tn.vmap(lambda a: SLOPES[rule](a)(x))(a).sum()  # noqa: E731
    assert tn.grad(mapped, 1)(np.array([5.0, 7.0]), 2.0) == 48
    assert tn.jacfwd(tn.grad(mapped, 1), 0)(np.array([5.0, 7.0]), 2.0).tolist() == [4, 4]
    assert tn.vmap(tn.grad(mapped, 1), (0, None))(np.ones((3, 2)), 2.0).tolist() == [8, 8, 8]
    both = lambda a, x: tn.vmap(jitted)(a, x).sum()  # noqa: E731
    assert tn.grad(both, 1)(np.array([5.0, 7.0]), np.array([1.0, 2.0])).tolist() == [10, 28]


def test_a_jitted_function_keeps_the_rule_of_its_trace():
    """Its value is that of the trace; so is its derivative."""
    state = {"k": 2.0}
    f = tn.jit(jvp_of(lambda: state["k"]))
    assert (f(3.0), tn.grad(f)(3.0)) == (18, 12)
    state["k"] = 5.0
    assert (f(3.0), tn.grad(f)(3.0)) == (18, 12)


def test_a_rule_is_recorded_once_per_call():
    """In a program that is differentiated twice, too."""
    runs = []
    f = tn.custom_jvp(lambda x: x**3)
    f.defjvp(lambda xs, dxs: (runs.append(1) or f(*xs), 3 * xs[0] ** 2 * dxs[0]))
    assert tn.grad(lambda x: f(x) + f(2 * x))(1.0) == 27
    assert len(runs) == 2
    assert tn.grad(tn.grad(f))(1.0) == 6
    assert len(runs) == 3


def chain(n):
    """J_n by a rule that calls J_{n−1} and J_{n+1}; here the derivatives of sin in turn."""
    functions = (np.sin, np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x))
    f = tn.custom_jvp(functions[n % 4])
    f.defjvps(lambda dx, y, x: chain(n + 1)(x) * dx)
    return f


@tn.custom_jvp
def power(x, n):
    """Xⁿ, with n in the rule of the rule."""
    return x**n


@power.defjvp
def _power_rule(primals, tangents):
    (x, n), dx = primals, tangents[0]
    return power(x, n), n * power(x, n - 1) * dx


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_rules_may_call_functions_of_their_own_kind_without_end(transform):
    derivative = TRANSFORMS[transform]
    assert float(derivative(derivative(chain(0)))(0.5)) == pytest.approx(-np.sin(0.5))
    cube = lambda x: power(x, 3)  # noqa: E731
    assert float(derivative(derivative(cube))(2.0)) == pytest.approx(12)


def test_a_rule_that_asks_for_the_value_of_a_tangent_is_run_by_the_sweep():
    """Halving a known cotangent until it is at most 1 is no equation."""

    def halved(_, ct):
        while ct > 1:
            ct = ct / 2
        return (ct,)

    f = tn.custom_vjp(lambda x: x)
    f.defvjp(lambda x: (x, None), halved)
    assert tn.vjp(f, 1.0)[1](8.0) == (1,)
    with pytest.raises(tn.ConcretizationError):
        tn.jit(tn.grad(lambda x: np.exp(f(x))))(1.0)


def test_an_error_of_a_rule_is_raised_where_a_derivative_is_taken():
    f = tn.custom_jvp(lambda x: 2 * x)

    @f.defjvp
    def rule(primals, tangents):
        raise KeyError("a rule without a result")

    assert tn.jit(f)(1.0) == 2
    assert tn.vmap(f)(ROW).tolist() == [2, 2]
    assert tn.grad(lambda x: tn.stop_gradient(f(x)) * x)(3.0) == 6
    with pytest.raises(KeyError, match="a rule without a result"):
        tn.grad(f)(1.0)


def test_what_a_rule_prints_is_printed_where_a_derivative_is_taken(capsys):
    f = tn.custom_jvp(lambda x: 2 * x)
    f.defjvps(lambda dx, y, x: (tn.debug.print("x = {}", x), 2 * dx)[1])
    tn.jit(f)(1.0)
    assert capsys.readouterr().out == ""
    tn.jit(tn.grad(f))(1.0)
    assert capsys.readouterr().out == "x = 1.0\n"
    tn.jit(lambda x: tn.jvp(f, (x,), (1.0,)))(3.0)
    assert capsys.readouterr().out == "x = 3.0\n"


@pytest.mark.parametrize("dtype", ["float32", "complex128", "complex64"])
@pytest.mark.parametrize("rule", ["jvp", "fwd", "bwd", "linear"])
def test_recorded_rules_keep_dtypes(rule, dtype):
    """⟨ct, f′ v⟩ = ⟨f′ᵀ ct, v⟩ on vectors, in the dtype of the argument."""
    rng = np.random.default_rng(3)
    imaginary = 1j if dtype[0] == "c" else 0
    real, other = rng.normal(size=(2, 3, 3))
    x, v, ct = (real + other * imaginary).astype(dtype)
    conj = np.conj if rule in ("fwd", "bwd", "linear") else lambda z: z
    f = lambda x: by_variable(lambda k: SLOPES_OF_VECTORS[rule](k, conj), x)  # noqa: E731
    moved, (pulled,) = tn.jvp(f, (x,), (v,))[1], tn.vjp(f, x)[1](ct)
    assert moved.dtype == pulled.dtype == dtype
    left, right = np.vdot(ct, moved).real, np.vdot(pulled, v).real
    assert abs(left - right) < (1e-4 if dtype in ("float32", "complex64") else 1e-12)
    np.testing.assert_allclose(moved, 12 * x * v, rtol=1e-5)


SLOPES_OF_VECTORS = {
    "jvp": lambda k, conj: jvp_of(k),
    "fwd": lambda k, conj: with_pullback(lambda x: (k(), x), k, conj, lambda r: r[0] * r[1]),
    "bwd": lambda k, conj: with_pullback(lambda x: x, k, conj, lambda r: k() * r),
    "linear": lambda k, conj: holomorphic_linear(k, conj),
}


def with_pullback(residuals, k, conj, slope):
    """K x² for complex x, whose pullback is conj(2 k x) ct."""
    f = tn.custom_vjp(lambda x: k() * x * x)
    f.defvjp(lambda x: (f(x), residuals(x)), lambda r, ct: (2 * conj(slope(r)) * ct,))
    return f


def holomorphic_linear(k, conj):
    """K x² for complex x, by (x, y) ↦ k x y."""
    f = tn.custom_linear(lambda x, y: k() * x * y, lambda x, ct: k() * conj(x) * ct)
    return lambda x: f(x, x)
