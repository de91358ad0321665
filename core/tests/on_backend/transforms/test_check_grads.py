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


def test_tolerances_and_steps_are_the_callers():
    f = lambda x: x + 1e-3 * tn.stop_gradient(x)  # noqa: E731
    tn.check_grads(f, (X,), atol=1e-2, rtol=1e-2)
    with pytest.raises(tn.GradientCheckError):
        tn.check_grads(f, (X,), eps=1e-4)


def test_modes_are_named_right():
    with pytest.raises(ValueError, match="fwd"):
        tn.check_grads(np.sin, (X,), modes=("forward",))
