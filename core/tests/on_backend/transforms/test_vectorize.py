"""tn.vectorize: NumPy's broadcasting of functions of parts, inside of every transform."""

import numpy as np
import pytest

import tenferro as tn

rng = np.random.default_rng(0)
A, B = rng.normal(size=(5, 1, 2, 3)), rng.normal(size=(4, 3))
SIGNATURE = "(m,n),(n)->(m)"
product = tn.vectorize(lambda a, b: a @ b, signature=SIGNATURE)


def test_parts_and_leading_axes_are_numpys():
    theirs = np.vectorize(lambda a, b: a @ b, signature=SIGNATURE)
    np.testing.assert_allclose(product(A, B), theirs(A, B))


def test_numbers_broadcast():
    """a function with a branch, of numbers"""
    smaller = tn.vectorize(lambda a, b: tn.cond(a < b, lambda _: a, lambda _: b, 0.0))
    x, y = A[:, 0, 0], B[:1]
    np.testing.assert_array_equal(smaller(x, y), np.minimum(x, y))


def test_derivatives_jit_and_vmap():
    tn.check_grads(product, (A[:2], B[:2]), order=2)
    found = tn.jit(tn.vmap(product, in_axes=(0, None)))(A, B)
    np.testing.assert_allclose(found, product(A, B))


def test_arguments_that_are_left_whole():
    """by position and by name; a keyword is an argument like others"""
    power = tn.vectorize(lambda x, c: sum(c[k] * x**k for k in range(3)), excluded={1, "c"})
    x, c = np.arange(4.0), np.array([1.0, 0.0, 2.0])
    np.testing.assert_allclose(power(x, c), 1 + 2 * x**2)
    np.testing.assert_allclose(power(x, c=c), 1 + 2 * x**2)
    scaled = tn.vectorize(lambda x, k: k * x)
    np.testing.assert_allclose(scaled(x, k=x), x**2)


def test_results_of_several_parts():
    found = tn.vectorize(lambda x: (x, {"twice": 2 * x}))(np.ones((2, 3)))
    assert found[0].shape == found[1]["twice"].shape == (2, 3)
    assert isinstance(found[1]["twice"], np.ndarray)


def test_nothing_and_numbers():
    assert tn.vectorize(lambda x: x + 1)(np.ones((0, 3))).shape == (0, 3)
    assert tn.vectorize(lambda x: x + 1)(2.0) == 3


REFUSED = {
    "an axis is missing": (lambda: product(B[0], B[0]), tn.ShapeMismatchError),
    "other sizes": (lambda: product(A, B[:, :2]), tn.ShapeMismatchError),
    "no broadcast": (lambda: product(A[:, 0], B), tn.ShapeMismatchError),
    "an argument more": (lambda: product(A, B, B), tn.InvalidParameterError),
    "no arrow": (lambda: tn.vectorize(np.sin, signature="(n)"), tn.InvalidParameterError),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused(case):
    call, error = REFUSED[case]
    with pytest.raises(error):
        call()
