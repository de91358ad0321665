"""Schur forms: the definition, derivatives of what depends on no phase, refusals."""

from functools import partial

import numpy as np
import pytest
from random_numbers import drawn

import tenferro as tn

RNG = np.random.default_rng(41)
numbers = partial(drawn, RNG)
ours = tn.linalg


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("output", ["real", "complex"])
@pytest.mark.parametrize("shape", [(4, 4), (2, 3, 3), (0, 0)])
def test_the_form_makes_the_matrix(kind, output, shape):
    """a = Z T Zᴴ, Zᴴ Z = 1; below the diagonal T has zeros, or the blocks of a real form"""
    a = numbers(kind, *shape)
    t, z = map(np.asarray, ours.schur(a, output))
    is_real = kind == output == "real"
    assert t.dtype == z.dtype == ("float64" if is_real else "complex128")
    np.testing.assert_allclose(z @ t @ adjoint(z), a, atol=1e-13)
    np.testing.assert_allclose(adjoint(z) @ z, np.eye(shape[-1]) + 0 * a, atol=1e-13)
    below = np.tril(t, -1)
    assert not np.tril(below @ below, -2).any() if is_real else not below.any()


@pytest.mark.parametrize("kind", ["real", "complex"])
def test_derivatives_to_second_order(kind):
    """of |T|² and |Z|², and of the eigenvalues on the diagonal"""

    def observed(a):
        t, z = ours.schur(a, "complex")
        return abs(t) ** 2, abs(z) ** 2, np.diagonal(t)

    a = numbers(kind, 3, 3) + np.diag([3.0, 0.0, -3.0])
    tn.check_grads(observed, (a,), order=2)


def test_a_jordan_block_has_a_form():
    """The columns of Z span invariant subspaces, where eigenvectors are no basis."""
    a = np.array([[3.0, 1.0], [-1.0, 1.0]])
    t, z = map(np.asarray, ours.schur(a, "complex"))
    np.testing.assert_allclose(z @ t @ adjoint(z), a, atol=1e-7)


def test_the_real_form_has_no_derivative():
    a = numbers("real", 3, 3)
    with pytest.raises(tn.MissingRuleError, match='output="complex"') as caught:
        tn.grad(lambda a: np.sum(ours.schur(a).T))(a)
    assert caught.value.primitive == "std::schur"


def test_an_unknown_form_is_refused():
    with pytest.raises(tn.InvalidParameterError) as caught:
        ours.schur(np.eye(2), "r")
    assert (caught.value.parameter, caught.value.value) == ("output", "r")
