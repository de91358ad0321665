"""Values with the derivative of another value: an operation that is gone where values run."""

import numpy as np
import pytest

import tenferro as tn
from tenferro.arrays import as_array
from tenferro.primitives import DTypeMismatchError, ShapeMismatchError
from tenferro.transforms.custom_rules.with_derivative_of import with_derivative_of

X = np.array([0.3, -1.2, 2.0])


def swapped(x):
    """The value of sin x with the derivatives of x³."""
    return with_derivative_of(tn.stop_gradient(np.sin(x)), x**3)


#: what is taken, of the function above or of x³
DERIVATIVES = {
    "forward": lambda f: tn.jvp(f, (X,), (np.ones(3),))[1],
    "reverse": lambda f: tn.grad(lambda x: np.sum(f(x)))(X),
    "second order": lambda f: tn.hessian(lambda x: np.sum(f(x)))(X),
    "mapped": lambda f: tn.vmap(tn.grad(f))(X),
    "jit": lambda f: tn.jit(tn.jacrev(f))(X),
    "in a loop": lambda f: tn.grad(
        lambda x: np.sum(tn.scan(lambda s, y: (s + f(y), None), 0.0, x)[0])
    )(X),
}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives_are_those_of_the_other_value(name):
    np.testing.assert_allclose(DERIVATIVES[name](swapped), DERIVATIVES[name](lambda x: x**3))


def test_the_value_is_its_own():
    np.testing.assert_array_equal(swapped(tn.array(X)), np.sin(X))


def test_programs_of_derivatives_do_not_confuse_the_two():
    """The value is computed alike; without the operation, its derivative is another one"""
    plain = lambda x: np.sum(np.sin(x))  # noqa: E731
    both = lambda x: np.sum(with_derivative_of(np.sin(x), x**3))  # noqa: E731
    for _ in range(3):
        np.testing.assert_allclose(tn.grad(plain)(X), np.cos(X))
        np.testing.assert_allclose(tn.grad(both)(X), 3 * X**2)


def test_a_program_with_it_is_not_saved(tmp_path):
    """What is loaded would have the derivatives of the value"""
    looped = lambda x: tn.fori_loop(0, 2, lambda i, y: swapped(y), x)  # noqa: E731
    for f in (swapped, looped):
        with pytest.raises(tn.SerializationError, match="derivative rule"):
            tn.save_graph(tmp_path / "refused", f, X)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    "other, error", [(np.ones(2), ShapeMismatchError), (X.astype("f"), DTypeMismatchError)]
)
def test_both_have_one_aval(other, error):
    with pytest.raises(error):
        with_derivative_of(as_array(X), as_array(other))
