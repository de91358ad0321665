"""tn.spatial.distance: SciPy's values, derivatives, also where points coincide."""

import numpy as np
import pytest
from scipy.spatial import distance as theirs

import tenferro as tn

ours = tn.spatial.distance
rng = np.random.default_rng(0)
A, B, W = rng.normal(size=(5, 3)), rng.normal(size=(4, 3)), rng.uniform(0.5, 2, size=3)
NAMES = [
    "braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine", "euclidean",
    "mahalanobis", "minkowski", "seuclidean", "sqeuclidean",
]  # fmt: skip
WEIGHTED = [name for name in NAMES if name not in ("mahalanobis", "seuclidean")]
#: Metrics with a corner where points coincide.
CORNERS = [
    "canberra",
    "chebyshev",
    "cityblock",
    "euclidean",
    "mahalanobis",
    "minkowski",
    "seuclidean",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_metric_is_scipys(name):
    np.testing.assert_allclose(ours.cdist(A, B, name), theirs.cdist(A, B, name), atol=1e-13)
    np.testing.assert_allclose(ours.pdist(A, name), theirs.pdist(A, name), atol=1e-13)


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_are_scipys(name):
    found = ours.cdist(A, B, name, w=W)
    np.testing.assert_allclose(found, theirs.cdist(A, B, name, w=W), atol=1e-13)


@pytest.mark.parametrize("p", [0.5, 1, 1.5, 2, 3, np.inf])
def test_every_order_of_minkowski(p):
    for given in ({}, {"w": W}):
        want = theirs.cdist(A, B, "minkowski", p=p, **given)
        np.testing.assert_allclose(ours.cdist(A, B, "minkowski", p=p, **given), want, atol=1e-13)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0])
def test_derivatives_by_the_order_of_minkowski(p):
    """twice, against differences; also at orders whose distances need no powers"""
    for given in ({}, {"w": W}):
        tn.check_grads(lambda p, given=given: ours.cdist(A, B, "minkowski", p=p, **given), (p,))


def test_orders_of_minkowski_known_later():
    """jit and vmap take the order as an argument, the largest distance among them"""
    orders = np.array([1.0, 2.0, 3.5, np.inf])
    want = [theirs.pdist(A, "minkowski", p=p) for p in orders]
    found = tn.vmap(lambda p: ours.pdist(A, "minkowski", p=p))(orders)
    np.testing.assert_allclose(found, want, rtol=1e-13)
    at_inf = tn.value_and_grad(lambda p: np.sum(ours.pdist(A, "minkowski", p=p)))(np.inf)
    np.testing.assert_allclose(at_inf, (np.sum(want[-1]), 0), rtol=1e-13)


def test_the_covariance_of_one_coordinate_is_a_matrix():
    a, b = A[:, :1], B[:, :1]
    np.testing.assert_allclose(
        ours.cdist(a, b, "mahalanobis"), theirs.cdist(a, b, "mahalanobis"), rtol=1e-13
    )


@pytest.mark.parametrize("name", NAMES)
def test_derivatives_by_both_sets(name):
    """twice, against differences; where no two points coincide"""
    tn.check_grads(lambda a, b: ours.cdist(a, b, name), (A[:3], B[:2]), order=2)


@pytest.mark.parametrize("name", CORNERS)
def test_derivatives_are_0_where_points_coincide(name):
    """a subgradient of every order, in each mode"""
    given = {"V": W} if name == "seuclidean" else {"VI": np.eye(3)} if name == "mahalanobis" else {}

    def distance(a):
        return ours.cdist(a, A[:1], name, **given)[0, 0]

    np.testing.assert_array_equal(tn.grad(distance)(A[:1]), 0)
    np.testing.assert_array_equal(tn.jacfwd(distance)(A[:1]), 0)
    np.testing.assert_array_equal(tn.hessian(distance)(A[:1]), 0)


def test_a_matrix_of_all_pairs_has_a_finite_gradient():
    """the diagonal of a kernel: points with themselves"""
    found = tn.grad(lambda a: np.sum(np.exp(-ours.cdist(a, a))))(A)
    pairs = tn.grad(lambda a: 2 * np.sum(np.exp(-ours.pdist(a))))(A)
    np.testing.assert_allclose(found, pairs, atol=1e-13)


def test_a_function_is_a_metric():
    """of two points, recorded once; in jit and vmap"""

    def metric(u, v, scale=1.0):
        return scale * np.sum(np.abs(u - v))

    want = 2 * theirs.cdist(A, B, "cityblock")
    found = tn.jit(lambda a, b: ours.cdist(a, b, metric, scale=2.0))(A, B)
    np.testing.assert_allclose(found, want)
    np.testing.assert_allclose(ours.pdist(A, metric), theirs.pdist(A, "cityblock"))
    stacked = np.stack([A, 2 * A])
    found = tn.vmap(lambda a: ours.cdist(a, B))(stacked)
    np.testing.assert_allclose(found[1], theirs.cdist(2 * A, B))


def test_squareform_goes_there_and_back():
    pairs = theirs.pdist(A)
    np.testing.assert_array_equal(ours.squareform(pairs), theirs.squareform(pairs))
    np.testing.assert_array_equal(ours.squareform(theirs.squareform(pairs)), pairs)
    tn.check_grads(ours.squareform, (pairs,), order=1)


def test_no_points_and_one_point():
    assert ours.cdist(np.ones((0, 3)), B).shape == (0, 4)
    assert ours.pdist(A[:1]).shape == (0,)


def test_single_precision_stays():
    assert ours.cdist(A.astype("f"), B.astype("f")).dtype == "float32"


REFUSED = {
    "negative weights": (
        lambda: ours.cdist(A, B, "euclidean", w=-W),
        tn.InvalidParameterError,
    ),
    "one weight": (lambda: ours.pdist(A, "cosine", w=[1.0]), tn.InvalidParameterError),
    "a vector": (lambda: ours.cdist(np.ones(3), B), tn.ShapeMismatchError),
    "other spaces": (lambda: ours.cdist(A, B[:, :2]), tn.ShapeMismatchError),
    "complex points": (lambda: ours.pdist(A + 1j), tn.DTypeMismatchError),
    "a name": (lambda: ours.pdist(A, "far"), tn.InvalidParameterError),
    "an option": (lambda: ours.pdist(A, "cosine", p=2), tn.InvalidParameterError),
    "an order": (lambda: ours.pdist(A, "minkowski", p=0), tn.InvalidParameterError),
    "several orders": (lambda: ours.pdist(A, "minkowski", p=[1, 2]), tn.InvalidParameterError),
    "not of pairs": (lambda: ours.squareform(np.ones(4)), tn.ShapeMismatchError),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused(case):
    call, error = REFUSED[case]
    with pytest.raises(error):
        call()


def test_scipys_own_function_names_ours():
    with pytest.raises(tn.TracedConversionError, match=r"tenferro\.spatial\.distance\.cdist"):
        tn.grad(lambda a: np.sum(theirs.cdist(a, B)))(A)
