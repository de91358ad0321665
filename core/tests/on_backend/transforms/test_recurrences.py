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


def product_gradient(x, w):
    """Σ_i w_i Π_{j≤i} x_j: with a_i = w_i + x_{i+1} a_{i+1} the slope in x_i is Π_{j<i} x_j a_i"""
    before = np.concatenate([[1.0], np.cumprod(x)[:-1]])
    a = w.copy()
    for i in reversed(range(len(x) - 1)):
        a[i] += x[i + 1] * a[i + 1]
    return before * a


def mass_gradient(x, w):
    """Σ_i w_i ln Σ_{j≤i} exp x_j: the slope in x_k is exp(x_k) Σ_{i≥k} w_i / Σ_{j≤i} exp x_j"""
    return np.exp(x) * np.cumsum((w / np.cumsum(np.exp(x)))[::-1])[::-1]


def largest_gradient(x, w):
    """Σ_i w_i max_{j≤i} x_j: w_i is divided among the elements that are the largest so far"""
    found = np.zeros_like(x)
    best = []
    for i in range(len(x)):
        if not best or x[i] > x[best[0]]:
            best = []
        if not best or x[i] == x[best[0]]:
            best.append(i)
        found[best] += w[i] / len(best)
    return found


#: The first is solved by steps that double the distance, the others in pairs, an odd one left over.
LENGTHS = [33, 4096, 5001]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    "function, formula, digits",
    [
        (p.cumprod, product_gradient, None),
        (p.cumlogsumexp, mass_gradient, None),
        (p.cummax, largest_gradient, 2),
        (p.cummin, lambda x, w: largest_gradient(-x, w), 2),
    ],
)
def test_gradient_of_long_arrays(function, formula, digits, reverse, length):
    """d(Σ w_i y_i)/dx, element by element; rounded x have ties, and a product has a zero"""
    generator = np.random.default_rng(length)
    x, w = 1 + 0.01 * generator.normal(size=length), generator.normal(size=length)
    if digits is not None:
        x = np.round(x, digits)
    elif function is p.cumprod:
        x[length // 2] = 0.0
    found = tn.grad(lambda x: np.sum(w * function(x, 0, reverse=reverse)))(x)
    flip = slice(None, None, -1 if reverse else 1)
    np.testing.assert_allclose(found, formula(x[flip], w[flip])[flip], rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("length", LENGTHS)
def test_no_nan_crosses_a_new_maximum(length):
    """dy_i = dx_i where x_i is larger than all before, whatever their tangents are"""
    x, dx = np.arange(float(length)), np.ones(length)
    dx[::3] = np.nan
    found = tn.jvp(lambda x: p.cummax(x, 0), (x,), (dx,))[1]
    np.testing.assert_array_equal(found, dx)


@pytest.mark.parametrize("function", [p.cumprod, p.cummax, p.cumlogsumexp])
def test_work_of_a_gradient_grows_like_the_length(function):
    """16 times the elements take at most 17 times the operations"""

    def work(length):
        gradient = tn.grad(lambda x: p.reduce_sum(function(x, 0), (0,)))
        return tn.explain(gradient, tn.Aval((length,), "float64")).cost.flops

    assert work(2**17) <= 17 * work(2**13)
