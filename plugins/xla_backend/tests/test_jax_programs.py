"""``as_jax`` and ``from_jax``: functions of one library in programs of the other, both ways."""

import copy
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tenferro as tn
from tenferro_xla import as_jax, from_jax

A = np.array([[1.0, -0.5, 0.3], [0.2, 0.9, -0.4], [-0.7, 0.1, 1.3]])
X, V = np.array([0.3, -0.2, 0.5]), np.array([1.0, 0.5, -2.0])
RULE_FACTOR = 7.0


@pytest.fixture(autouse=True)
def wide():
    """JAX in its 64-bit mode, as its users choose it for tenferro."""
    with jax.enable_x64(True):
        yield


# ---- as_jax --------------------------------------------------------------------------------------


def ruled(x):
    @tn.custom_vjp
    def sine(x):
        return np.sin(x)

    sine.defvjp(lambda x: (np.sin(x), x), lambda x, ct: (RULE_FACTOR * ct,))
    return np.sum(sine(x))


FUNCTIONS = {
    "elements": lambda x: np.sum(np.exp(x) * np.where(x > 0, x, 2 * x)),
    "closure": lambda x: np.sum(np.tanh(A @ x)),
    "solve": lambda x: np.sum(np.linalg.solve(np.outer(x, x) + 2 * np.eye(3), x)),
    "cholesky": lambda x: np.sum(np.linalg.cholesky(np.outer(x, x) + 2 * np.eye(3))[2]),
    "determinant": lambda x: np.linalg.slogdet(np.outer(x, x) + A @ A.T)[1],
    "singular values": lambda x: np.sum(np.linalg.svd(np.outer(x, x) + A)[1]),
    "eigenvectors": lambda x: np.sum(np.linalg.eigh(np.outer(x, x) + A @ A.T)[1][:, 0] ** 2 * V),
    "loop": lambda x: np.sum(tn.scan(lambda c, r: (np.sin(c) * x + r, None), x, V)[0]),
    "while": lambda x: np.sum(
        tn.while_loop(lambda c: np.sum(c) < 9, lambda c: c * 2 + 1, x, max_steps=9)
    ),
    "branch": lambda x: np.sum(tn.cond(x[0] > 0, lambda: np.sin(x), lambda: x)),
    "sort": lambda x: np.sum(np.sort(x) * V),
    "indices": lambda x: np.sum(x[np.array([0, 0, 2])] ** 2),
    "fourier": lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2 * V),
    "special": lambda x: np.sum(tn.special.gammaln(np.abs(x) + 1)),
    "random": lambda x: np.sum(tn.random.normal(tn.random.key(1), (3,)) * x**2),
    "gradient": lambda x: np.sum(tn.grad(lambda y: np.sum(np.sin(y) ** 3))(x) ** 2),
}


JAX = tuple(map(int, jax.__version__.split(".")[:2]))


def by_version(name):
    """Skip what a version of JAX cannot transpose; `reverse_only` needs no transposition."""
    cannot = (name == "loop" and JAX < (0, 10)) or (name in ("loop", "while") and JAX >= (0, 12))
    why = "JAX 0.10 and 0.11 alone transpose loops over primals and tangents"
    return pytest.param(name, marks=[pytest.mark.skipif(cannot, reason=why)])


@pytest.mark.parametrize("name", [by_version(name) for name in FUNCTIONS])
def test_values_and_derivatives_in_jax_are_those_of_tenferro(name):
    """f, ∇f in both modes, the Hessian in two orders, batched and compiled by JAX

    JAX compiles every equation of a derivative that it does not compile as a whole: one of each
    kind runs that way.
    """
    function = FUNCTIONS[name]
    inside, gradient, hessian = as_jax(function), tn.grad(function)(X), tn.hessian(function)(X)
    close = lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)  # noqa: E731
    close(jax.jit(inside)(X), function(X))
    close(jax.grad(inside)(X), gradient)
    close(jax.jit(jax.grad(inside))(X), gradient)
    close(jax.jvp(inside, (X,), (V,))[1], gradient @ V)
    close(jax.jit(jax.vmap(jax.grad(inside)))(np.stack([V, X]))[1], gradient)
    close(jax.jit(jax.hessian(inside))(X), hessian)
    close(jax.jit(jax.jacrev(jax.grad(inside)))(X), hessian)


def test_a_rule_of_the_user_is_the_derivative_in_jax():
    np.testing.assert_allclose(jax.grad(as_jax(ruled))(X), [RULE_FACTOR] * 3)
    np.testing.assert_allclose(jax.jit(jax.grad(as_jax(ruled)))(X), [RULE_FACTOR] * 3)


REVERSED = {
    **{name: FUNCTIONS[name] for name in ("closure", "solve", "loop", "random")},
    "matrix exponential": lambda x: np.sum(tn.linalg.expm(np.outer(x, x)) * A),
    "rule": ruled,
}


@pytest.mark.parametrize("name", REVERSED)
def test_reverse_mode_alone(name):
    """∇f, batched, and the Hessian by reverse mode twice"""
    function = REVERSED[name]
    inside, gradient = as_jax(function, reverse_only=True), tn.grad(function)(X)
    np.testing.assert_allclose(jax.grad(inside)(X), gradient, rtol=1e-10)
    np.testing.assert_allclose(
        jax.jit(jax.vmap(jax.grad(inside)))(np.stack([V, X]))[1], gradient, rtol=1e-10
    )
    found = jax.jit(jax.jacrev(jax.grad(inside)))(X)
    np.testing.assert_allclose(found, tn.hessian(function)(X), rtol=1e-9, atol=1e-12)
    with pytest.raises(TypeError, match="custom_vjp"):
        jax.jvp(inside, (X,), (V,))


def test_reverse_mode_alone_of_a_complex_function():
    function = lambda z: np.abs(np.sum(np.exp(z) * A[0])) ** 2  # noqa: E731
    z = X + 0.4j * V
    found = jax.jit(jax.grad(as_jax(function, reverse_only=True)))(z)
    np.testing.assert_allclose(found, np.conj(tn.grad(function)(z)))


def test_a_rule_that_is_not_linear_needs_reverse_mode_alone():
    @tn.custom_vjp
    def clipped(x):
        return x * x

    clipped.defvjp(lambda x: (x * x, x), lambda x, ct: (np.clip(2 * x * ct, -1, 1),))
    gradient = jax.grad(as_jax(lambda x: np.sum(clipped(x)), reverse_only=True))
    np.testing.assert_allclose(gradient(np.array([0.1, 3.0])), [0.2, 1.0])


def test_ties_are_shared_as_in_tenferro():
    """∂max of equal elements"""
    function, x = (lambda x: np.max(np.maximum(x, x[::-1]))), np.array([1.0, 2.0, 1.0])
    np.testing.assert_allclose(jax.grad(as_jax(function))(x), tn.grad(function)(x))


def test_structures_and_integers():
    def model(p, n, *, scale):
        return {"loss": np.sum(p["w"] * scale) * n, "count": (n, [p["b"]])}

    p = {"w": X, "b": np.arange(3)}
    found = jax.jit(as_jax(model))(p, 3, scale=2.0)
    np.testing.assert_allclose(found["loss"], np.sum(X) * 6)
    np.testing.assert_array_equal(found["count"][1][0], [0, 1, 2])
    loss = lambda w: as_jax(model)({**p, "w": w}, 3, scale=2.0)["loss"]  # noqa: E731
    np.testing.assert_allclose(jax.grad(loss)(X), [6.0] * 3)


def test_complex_gradients_are_conjugated_as_jax_writes_them():
    """tenferro's gradient of a real function is conj of JAX's"""
    function = lambda z: np.abs(np.sum(np.exp(z) * A[0])) ** 2  # noqa: E731
    z = X + 0.4j * V
    np.testing.assert_allclose(jax.grad(as_jax(function))(z), np.conj(tn.grad(function)(z)))


def test_dtypes_are_kept():
    x = X.astype("float32")
    found = jax.grad(as_jax(lambda x: np.sum(x * x)))(x)
    assert found.dtype == np.float32


@pytest.mark.parametrize("n", [0, 1])
def test_no_elements_and_one(n):
    np.testing.assert_allclose(jax.grad(as_jax(lambda x: np.sum(x**2)))(np.ones(n)), 2 * np.ones(n))


def test_the_32_bit_mode_of_jax_is_refused():
    with jax.enable_x64(False), pytest.raises(tn.UnsupportedError, match="jax_enable_x64"):
        as_jax(FUNCTIONS["closure"])(X)


def test_a_value_that_is_asked_for_is_refused():
    with pytest.raises(tn.ConcretizationError):
        jax.jit(as_jax(lambda x: x if x[0] > 0 else -x))(X)


# ---- from_jax ------------------------------------------------------------------------------------


def softplus_loss(x):
    return jnp.sum(jax.nn.softplus(x) * x)


def solved(x):
    return jnp.sum(jnp.linalg.solve(jnp.outer(x, x) + 2 * jnp.eye(3), x) * V)


def scanned(x):
    return jnp.sum(jax.lax.scan(lambda c, r: (jnp.sin(c) * x + r, c), x, V)[0])


OF_JAX = {"elements": softplus_loss, "linear algebra": solved, "loop": scanned}


@pytest.mark.parametrize("name", OF_JAX)
def test_values_and_derivatives_in_tenferro_are_those_of_jax(name):
    function = OF_JAX[name]
    outside, gradient = from_jax(function), jax.jit(jax.grad(function))(X)
    hessian = jax.jit(jax.hessian(function))(X)
    close = lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)  # noqa: E731
    with tn.use("xla"):
        close(tn.jit(outside)(X), function(X))
        close(tn.grad(outside)(X), gradient)
        close(tn.jit(tn.grad(outside))(X), gradient)
        close(tn.jvp(outside, (X,), (V,))[1], gradient @ V)
        close(tn.vmap(tn.grad(outside))(np.stack([V, X]))[1], gradient)
        close(tn.hessian(outside)(X), hessian)
        close(tn.grad(lambda x: tn.grad(outside)(x) @ V)(X), hessian @ V)
        close(tn.hvp(outside)(X, V), hessian @ V)


def test_it_composes_with_functions_of_tenferro():
    """∇ Σ softplus(A sin x)², by a closed form"""
    softplus = from_jax(jax.nn.softplus)
    y = A @ np.sin(X)
    expected = (A.T @ (2 * np.log1p(np.exp(y)) / (1 + np.exp(-y)))) * np.cos(X)
    with tn.use("xla"):
        found = tn.grad(lambda x: np.sum(softplus(A @ np.sin(x)) ** 2))(X)
        total = tn.grad(lambda x: np.sum(tn.scan(lambda c, _: (softplus(c), None), x, None, 4)[0]))(
            X
        )
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    loop = lambda x: jnp.sum(jax.lax.fori_loop(0, 4, lambda _, c: jax.nn.softplus(c), x))  # noqa: E731
    np.testing.assert_allclose(total, jax.jit(jax.grad(loop))(X), rtol=1e-12)


def test_several_results_containers_and_integers():
    function = from_jax(lambda p, k=1.0: {"a": jnp.sin(p["x"]) * k, "n": (jnp.argmax(p["x"]), [k])})
    with tn.use("xla"):
        found = function({"x": X}, k=2.0)
        gradient = tn.grad(lambda x: np.sum(function({"x": x}, k=3.0)["a"]))(X)
        np.testing.assert_allclose(found["a"], 2 * np.sin(X))
        assert int(found["n"][0]) == 2
    np.testing.assert_allclose(gradient, 3 * np.cos(X))


@pytest.mark.parametrize(
    "function, same",
    [
        (lambda z: jnp.exp(z) * jnp.conj(z), lambda z: np.exp(z) * np.conj(z)),
        (lambda z: jnp.real(z) * z, lambda z: np.real(z) * z),
    ],
)
def test_adjoints_of_complex_functions(function, same):
    """Re⟨ct, J dz⟩ = Re⟨Jᴴ ct, dz⟩ in the convention of tenferro"""
    z, ct = X + 0.4j * V, V - 0.3j * X
    with tn.use("xla"):
        _, pull = tn.vjp(from_jax(function), z)
        _, pushed = tn.jvp(from_jax(function), (z,), (ct * 1j,))
        pulled = pull(ct)[0]
    np.testing.assert_allclose(pulled, tn.vjp(same, z)[1](ct)[0], rtol=1e-12)
    np.testing.assert_allclose(
        np.real(np.vdot(ct, pushed)), np.real(np.vdot(pulled, ct * 1j)), rtol=1e-12
    )


def test_linear_functions_are_linear():
    """The gradient of a linear function does not depend on where it is taken"""
    with tn.use("xla"):
        _, linear = tn.linearize(from_jax(lambda x: A @ x), X)
        np.testing.assert_allclose(linear(V), A @ V)
        np.testing.assert_allclose(linear.transpose(V)[0], A.T @ V)


def test_equal_calls_are_one_program():
    function = tn.jit(from_jax(softplus_loss), backend="xla")
    function(X), function(V)
    assert function.cache_info().misses == 1


# ---- there and back ------------------------------------------------------------------------------


def test_there_and_back():
    own, jaxs = FUNCTIONS["closure"], OF_JAX["elements"]
    again = as_jax(from_jax(jaxs), reverse_only=JAX >= (0, 12))  # else it transposes a jit within
    np.testing.assert_allclose(jax.grad(again)(X), jax.jit(jax.grad(jaxs))(X), rtol=1e-12)
    found = jax.jit(jax.jacrev(jax.grad(again)))(X)
    np.testing.assert_allclose(found, jax.jit(jax.hessian(jaxs))(X), rtol=1e-12)
    with tn.use("xla"):
        back = from_jax(as_jax(own))
        np.testing.assert_allclose(tn.grad(back)(X), tn.grad(own)(X), rtol=1e-12)
        np.testing.assert_allclose(tn.hessian(back)(X), tn.hessian(own)(X), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    "function",
    [lambda x: np.zeros(3), lambda x: x, lambda x: (x, x, np.ones(2)), lambda x: np.sum(x * 0.0)],
)
def test_results_that_are_arguments_or_constants(function):
    for reverse_only in (False, True):
        found = as_jax(function, reverse_only=reverse_only)(X)
        for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(function(X)), strict=True):
            np.testing.assert_array_equal(a, b)
        inside = as_jax(
            lambda x: np.sum(jax.tree.leaves(function(x))[0]), reverse_only=reverse_only
        )
        np.testing.assert_allclose(
            jax.grad(inside)(X), tn.grad(lambda x: np.sum(jax.tree.leaves(function(x))[0]))(X)
        )


# ---- both: pickles, and arguments that are no arrays ---------------------------------------------


@as_jax
def decorated(x):
    return np.sum(np.sin(x))


def own_sum(x):
    return np.sum(np.sin(x))


@jax.jit
def compiled_by_jax(x):
    return jnp.sum(jnp.sin(x))


class Model:
    """A model whose parameter is part of it."""

    def __init__(self):
        self.factor = 3.0

    def __call__(self, x):
        return self.factor * np.sum(np.sin(x))


PICKLED = {
    "as_jax, a decorated function": (decorated, 1),
    "as_jax, a function": (as_jax(own_sum), 1),
    "as_jax, an option": (as_jax(own_sum, reverse_only=True), 1),
    "as_jax, a gradient": (as_jax(tn.vmap(own_sum)), None),
    "as_jax, an object": (as_jax(Model()), 3),
    "from_jax, of jax.numpy": (from_jax(jnp.sin), None),
    "from_jax, compiled by JAX": (from_jax(compiled_by_jax), 1),
    "there and back": (from_jax(as_jax(own_sum)), 1),
}


@pytest.mark.parametrize("name", PICKLED)
def test_they_pickle_and_mean_the_same(name):
    function, factor = PICKLED[name]
    again = pickle.loads(pickle.dumps(function))
    assert copy.deepcopy(function) is function
    assert repr(again) == repr(function) or factor == 3
    x = X if factor is not None else X[:, None]
    expected = factor * np.sum(np.sin(X)) if factor is not None else np.sin(X)
    with tn.use("xla"):
        np.testing.assert_allclose(np.ravel(again(x)), np.ravel(expected), rtol=1e-14)


def test_an_option_is_pickled_with_the_function():
    """Forward mode is what ``reverse_only`` gives up, so its error shows the option."""
    again = pickle.loads(pickle.dumps(as_jax(own_sum, reverse_only=True)))
    with pytest.raises(TypeError, match="forward-mode"):
        jax.jvp(again, (X,), (V,))
    np.testing.assert_allclose(jax.grad(again)(X), np.cos(X), rtol=1e-14)


def test_a_decorated_function_is_pickled_by_its_name():
    assert pickle.loads(pickle.dumps(decorated)) is decorated


@pytest.mark.parametrize("bridge", [as_jax, from_jax])
def test_a_function_without_a_name_is_refused(bridge):
    with pytest.raises(tn.SerializationError, match=bridge.__name__):
        pickle.dumps(bridge(lambda x: x))


@pytest.mark.parametrize("bridge", [as_jax, from_jax])
@pytest.mark.parametrize("value", ["abc", "float32", b"f8", object(), float, ["x", 1.0]])
def test_an_argument_that_is_no_array_is_refused(bridge, value):
    """The name of a dtype, too, whose dtype JAX would take."""
    with pytest.raises(tn.UnknownOperandError, match="cannot make an array of"):
        bridge(lambda x: x)(value)


@pytest.mark.parametrize("bridge", [as_jax, from_jax])
def test_an_array_of_strings_is_refused(bridge):
    with pytest.raises(tn.TenferroError):
        bridge(lambda x: x)(np.array(["a"]))


def test_a_bridged_function_is_a_method():
    class Owner:
        @as_jax
        def scaled(self, x):
            return 2.0 * x

    with pytest.raises(tn.UnknownOperandError, match="Owner"):
        Owner().scaled(X)  # the instance is an argument
    np.testing.assert_array_equal(Owner.scaled(0.0, X), 2 * X)
