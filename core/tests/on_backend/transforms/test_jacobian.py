"""Jacobians and Hessians against closed forms, in every mode and structure."""

import re

import numpy as np
import pytest

import tenferro as tn

P = np.array([0.3, -0.4, 0.5])
A = np.random.default_rng(2).normal(size=(4, 3))
MODES = ("forward", "reverse", "auto")


@pytest.mark.parametrize("mode", MODES)
def test_of_a_linear_map(mode):
    """J (A x) = A"""
    np.testing.assert_allclose(tn.jacobian(lambda x: A @ x, mode=mode)(P), A, rtol=1e-14)


@pytest.mark.parametrize("mode", MODES)
def test_of_elementwise_functions(mode):
    """J sin(x) = diag cos(x)"""
    np.testing.assert_allclose(tn.jacobian(np.sin, mode=mode)(P), np.diag(np.cos(P)), rtol=1e-14)


@pytest.mark.parametrize("mode", MODES)
def test_shape_is_output_then_argument(mode):
    """∂(a_i b_j)/∂a_k = δ_ik b_j"""
    got = tn.jacobian(lambda a: np.outer(a, P), mode=mode)(P)
    np.testing.assert_allclose(got, np.einsum("ik,j->ijk", np.eye(3), P), rtol=1e-14)


@pytest.mark.parametrize("mode", MODES)
def test_pytrees_and_argnums(mode):
    """The structure of the output, with that of the arguments inside"""
    f = lambda t, c: {"s": t["a"] * c, "n": (t["b"] ** 2).sum()}  # noqa: E731
    args = {"a": 2.0, "b": P}, 3.0
    found = tn.jacobian(f, (0, 1), mode=mode)(*args)
    assert found["s"][0]["a"] == 3.0
    np.testing.assert_allclose(found["s"][0]["b"], np.zeros(3))
    assert found["s"][1] == 2.0
    np.testing.assert_allclose(found["n"][0]["b"], 2 * P)
    assert found["n"][1] == 0.0


@pytest.mark.parametrize("mode", MODES)
def test_has_aux(mode):
    """(jacobian, aux) in every mode"""
    found, aux = tn.jacobian(lambda x: (x * x, x.sum()), mode=mode, has_aux=True)(P)
    np.testing.assert_allclose(found, np.diag(2 * P))
    np.testing.assert_allclose(aux, P.sum())


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def rosenbrock_hessian(x):
    """The closed form: three diagonals."""
    diagonal = np.zeros(x.size)
    diagonal[:-1] = 1200 * x[:-1] ** 2 - 400 * x[1:] + 2
    diagonal[1:] += 200
    beside = -400 * x[:-1]
    return np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)


@pytest.mark.parametrize("wrap", [lambda f: f, tn.jit], ids=["eager", "jit"])
def test_hessian_of_rosenbrock(wrap):
    x = np.linspace(-1, 1.5, 7)
    np.testing.assert_allclose(wrap(tn.hessian(rosenbrock))(x), rosenbrock_hessian(x), rtol=1e-12)


@pytest.mark.parametrize("inner", MODES)
@pytest.mark.parametrize("outer", MODES)
def test_hessian_by_every_pair_of_modes(outer, inner):
    """H (x₀ sin x₁ + x₂³)"""
    f = lambda x: x[0] * np.sin(x[1]) + x[2] ** 3  # noqa: E731
    c, s = np.cos(P[1]), np.sin(P[1])
    want = [[0, c, 0], [c, -P[0] * s, 0], [0, 0, 6 * P[2]]]
    found = tn.jacobian(tn.jacobian(f, mode=inner), mode=outer)(P)
    np.testing.assert_allclose(found, want, rtol=1e-13, atol=1e-15)


def test_third_derivative():
    """∂³ Σ x³ = 6 on the diagonal"""
    found = tn.jacfwd(tn.hessian(lambda x: (x**3).sum()))(P)
    want = np.zeros((3, 3, 3))
    want[range(3), range(3), range(3)] = 6
    np.testing.assert_allclose(found, want)


def test_hessian_is_the_matrix_of_hvp():
    f = lambda x: np.exp(x @ x) * x[0]  # noqa: E731
    columns = [tn.hvp(f)(P, e) for e in np.eye(3)]
    np.testing.assert_allclose(tn.hessian(f)(P), np.stack(columns), rtol=1e-12)


def test_hessian_of_two_arguments():
    """H (a b²) = [[0, 2b], [2b, 2a]]"""
    found = tn.hessian(lambda a, b: a * b * b, (0, 1))(2.0, 3.0)
    np.testing.assert_allclose(np.array(found), [[0, 6], [6, 4]])


@pytest.mark.parametrize("mode", MODES)
class TestComplex:
    z = np.array([0.3 + 0.4j, -1 + 0.5j])

    def test_holomorphic(self, mode):
        """J exp(z) = diag exp(z)"""
        got = tn.jacobian(np.exp, holomorphic=True, mode=mode)(self.z)
        np.testing.assert_allclose(got, np.diag(np.exp(self.z)), rtol=1e-14)

    def test_real_output_has_gradients_as_rows(self, mode):
        """∇|z|² = 2z, as grad has it"""
        got = tn.jacobian(lambda z: abs(z) ** 2, mode=mode)(self.z)
        np.testing.assert_allclose(got, np.diag(2 * self.z), rtol=1e-14)

    def test_complex_output_of_real_arguments(self, mode):
        """J exp(ix) = diag i exp(ix)"""
        got = tn.jacobian(lambda x: np.exp(1j * x), mode=mode)(P)
        np.testing.assert_allclose(got, np.diag(1j * np.exp(1j * P)), rtol=1e-14)

    def test_complex_in_complex_is_refused(self, mode):
        with pytest.raises(tn.DifferentiationInputError, match="holomorphic"):
            tn.jacobian(lambda z: z * z, mode=mode)(self.z)


def test_auto_takes_the_cheaper_mode():
    """Many inputs to few outputs: reverse; few to many: forward"""
    wide, tall = np.ones((2, 40)), np.ones((40, 2))
    assert _directions(lambda x: np.tanh(wide @ x), np.ones(40)) == 2
    assert _directions(lambda x: np.tanh(tall @ x), np.ones(2)) == 2


def _directions(f, x):
    """How many directions the Jacobian in mode auto is batched over."""
    graph = tn.trace(tn.jacobian(f), x).graph
    return min(a.shape[0] for a in graph.avals if a.ndim == 2)


def test_vmap_of_a_jacobian():
    xs = np.stack([P, 2 * P])
    got = tn.vmap(tn.jacobian(np.sin))(xs)
    np.testing.assert_allclose(got, np.stack([np.diag(np.cos(x)) for x in xs]))


def test_jacobian_of_vmap():
    xs = np.stack([P, 2 * P])
    got = tn.jacobian(tn.vmap(lambda r: (r * r).sum()))(xs)
    want = np.zeros((2, 2, 3))
    want[0, 0], want[1, 1] = 2 * xs
    np.testing.assert_allclose(got, want)


def test_empty_arguments():
    """A Jacobian by an argument without elements has shape (0, 0)"""
    assert tn.jacfwd(lambda x: x * 2)(np.zeros(0)).shape == (0, 0)
    assert tn.jacrev(lambda x: x * 2)(np.zeros(0)).shape == (0, 0)


def test_no_dependence_gives_zeros():
    for mode in MODES:
        found = tn.jacobian(lambda x: np.ones(2), mode=mode)(P)
        np.testing.assert_array_equal(found, np.zeros((2, 3)))


def test_refusals():
    """An unknown mode, and an argument of integers, are typed errors"""
    with pytest.raises(ValueError, match="mode is one of"):
        tn.jacobian(np.sin, mode="sideways")
    with pytest.raises(tn.DifferentiationInputError):
        tn.jacfwd(np.sin)(np.arange(3))


@pytest.mark.parametrize("name", ["jacfwd", "jacrev"])
def test_a_transform_of_one_mode_takes_no_other(name):
    with pytest.raises(tn.ArgumentTypeError, match=f"{name}: .* keyword argument 'mode'"):
        getattr(tn, name)(np.sin, mode="auto")


@pytest.mark.parametrize("name", ["jacobian", "jacfwd", "jacrev"])
@pytest.mark.parametrize(
    "call",
    [
        lambda make: make(3.0),
        lambda make: make(np.sin, sparse="yes"),
        lambda make: make(np.sin, convention="mine"),
        lambda make: make(np.sin, backend=3.5),
        lambda make: make(np.sin)(3),
        lambda make: make(np.sin)(1j * np.ones(2)),
        lambda make: make(np.sin, no_such_option=1),
    ],
)
def test_an_error_names_the_function_that_was_called(name, call):
    with pytest.raises(Exception) as raised:
        call(getattr(tn, name))
    text = "\n".join([str(raised.value), *getattr(raised.value, "__notes__", [])])
    assert name in text
    for other in {"jacobian", "jacfwd", "jacrev"} - {name}:
        line = rf"^(?!  from ).*\b{other}\b"
        assert not re.search(line, text, re.MULTILINE), text


WIDER = {
    "float64": lambda x: x.astype("f8") * 2,
    "a constant of float64": lambda x: np.ones(3),
    "float16": lambda x: x.astype("f2"),
    "few of float64": lambda x: np.sum(x.astype("f8") * 2, keepdims=True),
    "many of float16": lambda x: np.outer(x, x).astype("f2"),
}
MODES = {"auto": lambda y: np.promote_types(y, "f4"), "forward": lambda y: y, "reverse": "f4"}


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("function", WIDER)
def test_the_dtype_of_a_jacobian_does_not_depend_on_shapes(function, mode, jitted):
    """Output in forward mode, argument in reverse mode, the wider of both elsewhere"""
    f, x = WIDER[function], np.ones(3, "f4")
    wanted = MODES[mode]
    jacobian = tn.jacobian(f, mode=mode)
    found = (tn.jit(jacobian) if jitted else jacobian)(x)
    assert found.dtype == (wanted(f(x).dtype) if callable(wanted) else wanted)


@pytest.mark.parametrize("mode", MODES)
def test_blocks_of_an_integer_output_are_zeros_of_the_dtype_of_the_argument(mode):
    """It does not vary"""
    found = tn.jacobian(lambda x: (x * 2, np.arange(2)), mode=mode)(np.ones(3, "f4"))[1]
    assert found.dtype == "float32"
    np.testing.assert_array_equal(found, np.zeros((2, 3)))


def test_what_an_argument_is_made_of_does_not_count():
    """A Jacobian in a step of a loop costs the same after any number of such steps."""
    weights = np.arange(12.0).reshape(3, 4) / 10
    jacobian = tn.jacobian(lambda x: np.tanh(weights @ np.sin(x)))

    def counted(steps):
        def loss(x):
            for _ in range(steps):
                x = weights.T @ (jacobian(x) @ x)
            return np.sum(jacobian(x))

        return tn.explain(tn.grad(loss), np.ones(4)).decisions

    assert "counted operations" in counted(0)[0][1]
    assert counted(2) == counted(0)
