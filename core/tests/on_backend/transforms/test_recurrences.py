"""Derivatives of cumulative operations and of scatters that multiply: what flows where."""

import numpy as np
import pytest

import tenferro as tn
from tenferro import primitives as p

INF = np.inf
X = np.array([1.5, 0.0, -2.0, 0.5, 0.0, 3.0, 1.25])


def product_jacobian(x):
    """∂ Π_{j≤i} x_j / ∂x_k, factor by factor"""
    n = len(x)
    others = [
        [np.prod(np.delete(x[: i + 1], k)) if k <= i else 0 for k in range(n)] for i in range(n)
    ]
    return np.array(others)


def softmax_rows(x):
    """exp(x_k - ln Σ_{j≤i} exp x_j) for k ≤ i"""
    shares = np.tril(np.exp(x)[None, :] * np.ones((len(x), 1)))
    return shares / shares.sum(1, keepdims=True)


@pytest.mark.parametrize("mode", [tn.jacfwd, tn.jacrev])
@pytest.mark.parametrize(
    "function, formula", [(p.cumprod, product_jacobian), (p.cumlogsumexp, softmax_rows)]
)
@pytest.mark.parametrize("reverse", [False, True])
def test_jacobian_is_the_formula(mode, function, formula, reverse):
    found = mode(lambda x: function(x, 0, reverse=reverse))(X)
    flip = slice(None, None, -1 if reverse else 1)
    np.testing.assert_allclose(found, formula(X[flip])[flip, flip], rtol=1e-14, atol=1e-15)


def test_second_derivatives_of_a_product_with_zeros():
    """∂² Π x / ∂x_j ∂x_k = Π of the others, j ≠ k"""
    x = np.array([2.0, 0.0, 3.0, 0.0])
    found = tn.hessian(lambda x: p.cumprod(x, 0)[3])(x)
    expected = [
        [0 if j == k else np.prod(np.delete(x, [j, k])) for k in range(4)] for j in range(4)
    ]
    np.testing.assert_allclose(found, expected)


def multiplied(x, updates, *places):
    at = tn.asarray(np.array([[place] for place in places]))
    return p.scatter_mul(
        x,
        at,
        updates,
        update_window_dims=(),
        inserted_window_dims=(0,),
        scatter_dims_to_operand_dims=(0,),
        mode="drop",
    )


@pytest.mark.parametrize("mode", [tn.jacfwd, tn.jacrev])
def test_one_place_hears_nothing_of_another(mode):
    """inf in one product is not multiplied by the zeros of another's derivative"""
    x, updates = np.array([2.0, 3.0]), np.array([INF, 5.0, 1.0, INF])
    found = mode(lambda u: multiplied(tn.asarray(x), u, 0, 1, 5, 5)[1])(updates)
    np.testing.assert_array_equal(found, [0.0, 3.0, 0.0, 0.0])


@pytest.mark.parametrize("mode", [tn.jacfwd, tn.jacrev])
def test_factors_of_one_place(mode):
    """∂(x u_0 u_2)/∂u_0 = x u_2, also where u_0 = 0"""
    x, updates = np.array([2.0, 3.0]), np.array([0.0, 5.0, 7.0, 1.0])
    found = mode(lambda u: multiplied(tn.asarray(x), u, 0, 1, 0, 5))(updates)
    np.testing.assert_array_equal(found, [[14.0, 0, 0, 0], [0, 3.0, 0, 0]])


def test_mass_at_minus_infinity_has_no_share():
    x = np.array([-INF, -INF, 1.0, -INF, 2.0])
    found = tn.jacrev(lambda x: p.cumlogsumexp(x, 0))(x)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(1), [0, 0, 1, 1, 1])


def test_a_replaced_update_has_no_derivative():
    """Of several updates of one place the last remains, in value and derivative"""
    at = tn.asarray(np.array([[1], [0], [1]]))
    sizes = {
        "update_window_dims": (),
        "inserted_window_dims": (0,),
        "scatter_dims_to_operand_dims": (0,),
    }
    put = lambda x, u: p.scatter(x, at, u, mode="clip", **sizes)  # noqa: E731
    x, updates = np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 30.0])
    of_x, of_updates = tn.jacrev(lambda x, u: put(x, u), argnums=(0, 1))(x, updates)
    np.testing.assert_array_equal(np.asarray(put(tn.asarray(x), tn.asarray(updates))), [20, 30, 3])
    np.testing.assert_array_equal(of_x, np.diag([0.0, 0, 1]))
    np.testing.assert_array_equal(of_updates, [[0.0, 1, 0], [0, 0, 1], [0, 0, 0]])


@pytest.mark.parametrize("k", [1, 2, 4])
def test_derivatives_of_what_is_sorted_follow_the_elements(k):
    """∂ sort(x)_i / ∂x_j = 1 where x_j stands at i; the same of top_k"""
    x = np.array([3.0, -1.0, 2.0, 0.5])
    order = np.argsort(x)
    np.testing.assert_array_equal(tn.jacrev(lambda x: p.sort([x], 0)[0])(x), np.eye(4)[order])
    largest = tn.jacfwd(lambda x: p.top_k(x, k, axis=0)[0])(x)
    np.testing.assert_array_equal(largest, np.eye(4)[order[::-1][:k]])
