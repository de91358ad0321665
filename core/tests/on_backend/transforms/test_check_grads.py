"""check_grads passes for right derivatives and catches wrong ones, in every mode and order."""

import numpy as np
import pytest
from against_numpy import sample

import tenferro as tn

X, M = sample("float64"), sample("float64", (2, 3))
FUNCTIONS = {
    "sin x²": (lambda x: np.sin(x * x), (X,)),
    "of rank 0": (lambda x: np.exp(x) * x, (0.3,)),
    "matrix": (lambda a, b: np.tanh(a @ b), (M, X)),
    "reduction": (lambda x: np.mean(x, axis=0) * np.std(x), (M,)),
    "product": (lambda x: np.prod(x, axis=1), (M,)),
    "maximum": (lambda x: np.maximum(x, x[::-1] * 0.9).max(axis=1), (M,)),
    "tree": (lambda p: {"y": p["a"] * p["b"][0]}, ({"a": X, "b": (2.0,)},)),
    "tuple": (lambda x: (x * x, np.sum(x)), (X,)),
    "shapes": (lambda x: np.concatenate([x.T, x.T[::-1]], 1).reshape(2, -1) ** 2, (M,)),
    "logistic": (lambda x: tn.logistic(x) * tn.erf(x), (X,)),
    "power": (lambda x, y: np.abs(x) ** y, (X, X)),
    "float32": (lambda x: np.sum(np.sin(x)), (sample("float32"),)),
    "constant": (lambda x: np.ones(3), (X,)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_right_derivatives_pass(name):
    function, args = FUNCTIONS[name]
    tn.check_grads(function, args, order=1 if name == "float32" else 2)


def test_jitted_functions_pass():
    tn.check_grads(tn.jit(FUNCTIONS["matrix"][0]), (M, X))


WRONG = {
    "a factor is forgotten": lambda x: x * tn.stop_gradient(x),
    "a term is forgotten": lambda x: np.sin(x) + tn.stop_gradient(x * x),
    "only the second order": lambda x: x**3 + tn.stop_gradient(x) * (x - tn.stop_gradient(x)) ** 2,
}


@pytest.mark.parametrize("mode", ["fwd", "rev"])
@pytest.mark.parametrize("name", WRONG)
def test_wrong_derivatives_are_caught_and_named(name, mode):
    with pytest.raises(tn.GradientCheckError, match="disagrees") as raised:
        tn.check_grads(WRONG[name], (X,), order=3, modes=(mode,))
    found = raised.value
    assert found.mode == mode
    assert found.order == (1 if "forgotten" in name else 2)
    assert isinstance(found, AssertionError)
    assert found.got != found.need


DEMANDING = {
    "steep": (lambda x: np.exp(1000 * x), 1e-3),
    "quick": (lambda x: np.sin(1e4 * x), 0.3),
    "near a pole": (lambda x: np.log(x), np.array([1e-8, 1e-3, 1.0])),
    "near an edge": (np.arctanh, 0.99999999),
    "near a kink": (lambda x: np.abs(x - 1e-3) + 3 * np.abs(x + 2e-5), 0.0),
    "under a large constant": (lambda x: 1e10 + np.sin(x), 1.0),
    "of large numbers": (np.sqrt, np.array([1e12, 3e12])),
    "large": (lambda x: x**20, np.array([10.0, 3.0])),
    "many turns": (lambda x: np.sum(np.sin(x) * np.sin(x * x / np.pi) ** 20), X),
    "of a mask": (lambda x: x[x > 0.04] ** 2, np.array([0.05, -1.0, 2.0])),
    "float16": (np.sin, np.array([0.3, 0.5], "float16")),
}


@pytest.mark.parametrize("mode", ["fwd", "rev"])
@pytest.mark.parametrize("name", DEMANDING)
def test_the_step_follows_the_function(name, mode):
    """f′ passes, 1.0001 f′ does not (1.5 f′ in float16)"""
    function, x = DEMANDING[name]
    tn.check_grads(function, (x,), modes=(mode,))
    excess = 0.5 if name == "float16" else 1e-4

    def wrong(x):
        y = function(x)
        return y + excess * (y - tn.stop_gradient(y))

    with pytest.raises(tn.GradientCheckError):
        tn.check_grads(wrong, (x,), modes=(mode,))


KINKS = {
    "relu": (lambda x: np.where(x > 0, x, 0.0), 0.0, r"the function has a kink"),
    "clip": (lambda x: np.clip(x, 0, 1), 1.0, r"the function has a kink"),
    "one of many": (lambda x: np.where(x > 0, x, 0.0), np.array([1, 0.0, -1]), r"has a kink"),
    "floor": (lambda x: x * np.floor(x), 2.0, r"the function jumps"),
    "order 2": (lambda x: np.maximum(x, 0.0) ** 2, 0.0, r"the derivative of order 1 has a kink"),
    "sides that cancel": (np.abs, 0.0, r"the function has a kink"),
    "float32": (np.abs, np.float32(0.0), r"the function has a kink"),
    "a tie of max": (np.max, np.array([1.0, 1.0, 0.0]), r"the function has a kink"),
    "a small kink": (lambda x: np.sin(x) + 1e-3 * np.abs(x), 0.0, r"the function has a kink"),
    "norm": (np.linalg.norm, np.zeros(2), r"the function has a kink"),
    "complex": (np.abs, 0j, r"the function has a kink"),
    "one point": (lambda x: np.where(x == 0, 1.0, x), 0.0, r"the function jumps"),
}


@pytest.mark.parametrize("name", KINKS)
def test_a_kink_is_called_a_kink(name):
    function, x, text = KINKS[name]
    with pytest.raises(tn.GradientCheckError, match=text) as raised:
        tn.check_grads(function, (x,), order=2)
    assert raised.value.order == (2 if name == "order 2" else 1)
    assert (raised.value.kink is None) == ("jumps" in text)


C1 = {  # continuous derivatives, of which the second one jumps or does not exist
    "square of relu": (lambda x: np.maximum(x, 0.0) ** 2, 0.0, 1),
    "cube of relu": (lambda x: np.maximum(x, 0.0) ** 3, 0.0, 2),
    "x |x|": (lambda x: x * np.abs(x), np.array([0.0, 1.0, -2.0]), 1),
    "Huber": (lambda x: np.where(np.abs(x) < 1, x * x / 2, np.abs(x) - 0.5), 1.0, 1),
    "a kink nearby": (lambda x: np.abs(x - 1e-5), 0.0, 1),
    "a rounded kink": (lambda x: np.sqrt(x * x + 1e-8), 1e-5, 1),
    "float32": (lambda x: np.maximum(x, 0) ** 2, np.zeros(2, np.float32), 1),
}


@pytest.mark.parametrize("name", C1)
def test_a_jump_of_the_second_derivative_is_no_fault_of_the_first(name):
    function, x, order = C1[name]
    tn.check_grads(function, (x,), order=order)


@pytest.mark.parametrize("name", ["square of relu", "x |x|", "Huber"])
def test_a_wrong_derivative_is_found_where_the_second_one_jumps(name):
    function, x, _ = C1[name]

    def wrong(x):
        return function(x) + 1e-3 * (x - tn.stop_gradient(x))

    with pytest.raises(tn.GradientCheckError, match="disagrees"):
        tn.check_grads(wrong, (x,))


def test_the_derivatives_at_a_kink_are_told():
    """f = 3x to the left, 5x to the right"""
    with pytest.raises(tn.GradientCheckError) as raised:
        tn.check_grads(lambda x: np.where(x > 0, 5 * x, 3 * x), (0.0,))
    left, right = raised.value.kink
    assert left / right == pytest.approx(0.6)


def test_values_that_show_no_derivative_are_not_called_wrong():
    noisy = lambda x: tn.stop_gradient(np.floor(x * 1e8) % 7) * 1e-3 + x  # noqa: E731
    with pytest.raises(tn.GradientCheckError, match="differences do not show"):
        tn.check_grads(noisy, (0.123456785,))


def test_tolerances_and_steps_are_the_callers():
    f = lambda x: x + 1e-3 * tn.stop_gradient(x)  # noqa: E731
    tn.check_grads(f, (X,), atol=1e-2, rtol=1e-2)
    with pytest.raises(tn.GradientCheckError):
        tn.check_grads(f, (X,), eps=1e-4)


def test_modes_are_named_right():
    with pytest.raises(ValueError, match="fwd"):
        tn.check_grads(np.sin, (X,), modes=("forward",))
