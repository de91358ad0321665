"""Densities of several variables: SciPy's values, derivatives, shapes, refusals."""

import mpmath as mp
import numpy as np
import pytest
from scipy import stats as theirs

import tenferro as tn
from tenferro.tidu import MissingRuleError

normal, dirichlet = tn.stats.multivariate_normal, tn.stats.dirichlet
student = tn.stats.multivariate_t
MEAN = np.array([0.5, -1.0, 0.25])
COV = np.array([[2.0, 0.3, -0.5], [0.3, 1.0, 0.2], [-0.5, 0.2, 1.5]])
X = np.array([[0.0, 0.5, 1.0], [2.0, -1.0, 0.5]])
ALPHA = np.array([1.5, 0.5, 3.0])
POINTS = np.array([[0.2, 0.1], [0.3, 0.6], [0.5, 0.3]])


@pytest.mark.parametrize("form", ["logpdf", "pdf"])
@pytest.mark.parametrize(
    "x, mean, cov",
    [
        (X, MEAN, COV), (X[0], MEAN, COV), (X[:, None], MEAN, COV), (X, MEAN, np.diag(COV)),
        (X, MEAN, 2.0), (X, None, COV), (1.5, 0.5, 2.0), (np.arange(4.0), None, 2.0),
        (np.arange(4.0), None, 1), (X[:, :1], MEAN[:1], COV[:1, :1]),
    ],
)  # fmt: skip
def test_a_normal_density_is_scipys(x, mean, cov, form):
    got = getattr(normal, form)(x, mean, cov)
    want = getattr(theirs.multivariate_normal, form)(x, mean, cov)
    np.testing.assert_allclose(np.squeeze(got), want, rtol=1e-12)


def test_stacks_of_means_and_covariances():
    """each point with its own, and all pairs"""
    means, covs = np.stack([MEAN, -MEAN]), np.stack([COV, 2 * COV])
    want = [theirs.multivariate_normal.logpdf(*each) for each in zip(X, means, covs, strict=True)]
    np.testing.assert_allclose(normal.logpdf(X, means, covs), want, rtol=1e-12)
    pairs = normal.logpdf(X[:, None], means, covs)
    assert pairs.shape == (2, 2)
    np.testing.assert_allclose(np.diag(pairs), want, rtol=1e-12)


def test_derivatives_of_a_normal_density():
    """by point, mean and covariance, twice; that by the covariance is symmetric"""
    tn.check_grads(lambda x, m, c: normal.logpdf(x, m, c @ c.T), (X, MEAN, COV), order=2)
    slope = tn.grad(lambda c: np.sum(normal.logpdf(X, MEAN, c)))(COV)
    away, inverse = X - MEAN, np.linalg.inv(COV)
    want = sum((inverse @ np.outer(a, a) @ inverse - inverse) / 2 for a in away)
    np.testing.assert_allclose(slope, want, rtol=1e-10)


def test_entropy():
    """½ ln det(2πe Σ)"""
    want = theirs.multivariate_normal.entropy(MEAN, COV)
    assert normal.entropy(MEAN, COV) == pytest.approx(want, rel=1e-13)
    assert normal.entropy(cov=4.0) == pytest.approx(theirs.norm.entropy(scale=2), rel=1e-13)


@pytest.mark.parametrize(
    "x, mean, cov",
    [
        (X, MEAN, COV[:2]),
        (X, MEAN, COV[:2, :2]),
        (X, MEAN[:2], COV),
        (X[:, :2], MEAN, COV),
        (1.0, MEAN, COV),
    ],
)
def test_operands_that_do_not_fit_are_refused(x, mean, cov):
    with pytest.raises(tn.ShapeMismatchError, match="fit together") as caught:
        normal.logpdf(x, mean, cov)
    assert len(caught.value.shapes) == 3


def test_a_singular_covariance():
    """on its image as in SciPy, 0 beside it; no derivative by it, those by point and mean"""
    root = np.array([[1.0, 0.5], [0.5, -1.0], [2.0, 1.0]])
    cov = root @ root.T
    x = MEAN + np.array([[0.5, 1.0], [-1.0, 0.25]]) @ root.T
    x = np.concatenate([x, x + np.array([0.5, 0.0, 0.0])])
    want = theirs.multivariate_normal.logpdf(x, MEAN, cov, allow_singular=True)
    got = normal.logpdf(x, MEAN, cov, allow_singular=True)
    assert np.isneginf(got[2:]).all()
    np.testing.assert_allclose(got, want, rtol=1e-10)
    slope = tn.grad(lambda x: normal.logpdf(x, MEAN, cov, allow_singular=True))(x[0])
    np.testing.assert_allclose(slope, -np.linalg.pinv(cov) @ (x[0] - MEAN), rtol=1e-9)
    with pytest.raises(tn.MissingRuleError, match="rank"):
        tn.grad(lambda c: normal.logpdf(x[0], MEAN, c, allow_singular=True))(cov)


@pytest.mark.parametrize("form", ["logpdf", "pdf"])
@pytest.mark.parametrize(
    "x, loc, shape, df",
    [
        (X, MEAN, COV, 2.5), (X[0], MEAN, COV, 1), (X, None, np.diag(COV), 30.0),
        (X, MEAN, 2.0, np.inf), (1.5, 0.5, 2.0, 3.0), (np.arange(4.0), None, 2.0, 0.25),
    ],
)  # fmt: skip
def test_a_density_of_t_is_scipys(x, loc, shape, df, form):
    got = getattr(student, form)(x, loc, shape, df)
    matrix = np.diag(shape) if np.ndim(shape) == 1 else shape  # SciPy takes no diagonal with df
    matrix = matrix * np.eye(3) if np.ndim(x) == 2 and np.ndim(matrix) == 0 else matrix
    if df == np.inf:  # SciPy's own t has bugs there: its pdf, and in SciPy 1.15 its logarithm, too
        want = theirs.multivariate_normal.logpdf(x, loc, matrix)
    else:
        want = theirs.multivariate_t.logpdf(x, loc, matrix, df)
    want = np.exp(want) if form == "pdf" else want
    np.testing.assert_allclose(np.squeeze(got), want, rtol=1e-12)


@pytest.mark.parametrize("df", [0.5, 40.0, 1e6, 1e12])
def test_a_density_of_t_and_its_derivative_by_the_degrees_of_freedom(df):
    """ln f to 1e-13 of what mpmath computes, d/d(df) to 1e-16 in absolute terms"""
    with mp.workdps(60):
        away = mp.matrix([mp.mpf(each) for each in (X[0] - MEAN).tolist()])
        cov = mp.matrix(COV.tolist())
        distance = (away.T * mp.inverse(cov) * away)[0]

        def log_density(df):
            growth = (df + 3) / 2 * mp.log1p(distance / df)
            gammas = mp.loggamma((df + 3) / 2) - mp.loggamma(df / 2)
            return gammas - 3 * mp.log(df * mp.pi) / 2 - mp.log(mp.det(cov)) / 2 - growth

        want = float(log_density(mp.mpf(df))), float(mp.diff(log_density, df, h=mp.mpf(df) / 1e20))
    assert student.logpdf(X[0], MEAN, COV, df) == pytest.approx(want[0], rel=1e-13)
    slope = tn.grad(lambda df: student.logpdf(X[0], MEAN, COV, df))(df)
    assert slope == pytest.approx(want[1], rel=1e-12, abs=1e-16)


def test_derivatives_of_a_density_of_t():
    """by point, place, shape and degrees of freedom, twice; of stacks of them"""

    def density(x, loc, root, df):
        return student.logpdf(x, loc, root @ root.T, df)

    tn.check_grads(density, (X, MEAN, COV, np.array([2.5, 7.0])), order=2)
    assert np.isnan(student.logpdf(X, MEAN, COV, -1.0)).all()
    single = student.logpdf(X.astype("float32"), MEAN.astype("float32"), df=np.float32(2))
    assert single.dtype == "float32"
    with pytest.raises(tn.ShapeMismatchError, match="fit together"):
        student.logpdf(X, MEAN, COV[:2])


@pytest.mark.parametrize("form", ["logpdf", "pdf"])
def test_a_dirichlet_density_is_scipys(form):
    """of one point, of columns of points, and without the last component"""
    f, other = getattr(dirichlet, form), getattr(theirs.dirichlet, form)
    np.testing.assert_allclose(f(POINTS[:, 0], ALPHA), other(POINTS[:, 0], ALPHA), rtol=1e-12)
    np.testing.assert_allclose(f(POINTS, ALPHA), other(POINTS, ALPHA), rtol=1e-12)
    np.testing.assert_allclose(f(POINTS[:2], ALPHA), other(POINTS[:2], ALPHA), rtol=1e-12)


def test_derivatives_of_a_dirichlet_density():
    """by shapes, and by points that are kept on the simplex, twice"""
    tn.check_grads(
        lambda p, a: dirichlet.logpdf(p / np.sum(p, axis=0), a), (POINTS, ALPHA), order=2
    )


@pytest.mark.parametrize("x, want", [([0.5, 0.6], 0), ([-0.5, 1.5], 0), ([0, 1], 2), ([1, 0], 0)])
def test_edges_of_the_simplex(x, want):
    """0 outside of it; at its corners what the shapes say: Beta(1, 2) has the density 2 at 0"""
    assert dirichlet.pdf(np.array(x, float), np.array([1.0, 2.0])) == want


def test_shapes_without_a_meaning_give_nan():
    for x in ([0.5, 0.5], [0.5, 0.75]):
        assert np.isnan(dirichlet.logpdf(np.array(x), np.array([1.0, -2.0])))


def test_single_precision_stays():
    """in a sum of many numbers of single precision, too"""
    point = np.full(1000, 0.001, "float32")
    found = dirichlet.logpdf(point, np.ones(1000, "float32"))
    assert found.dtype == "float32"
    assert np.isfinite(found)
    assert normal.logpdf(X.astype("float32"), MEAN.astype("float32")).dtype == "float32"


@pytest.mark.parametrize("x", [np.ones(5) / 5, np.array(1.0), np.ones((2, 3)) / 3])
def test_points_that_do_not_fit_the_shapes_are_refused(x):
    with pytest.raises(tn.ShapeMismatchError, match="fit together"):
        dirichlet.pdf(x, np.ones(7))


def test_in_jit_and_vmap():
    """over points, means and covariances; of nothing there is nothing"""
    f = tn.jit(tn.vmap(normal.logpdf))
    means, covs = np.stack([MEAN, -MEAN]), np.stack([COV, 2 * COV])
    np.testing.assert_allclose(f(X, means, covs), normal.logpdf(X, means, covs), rtol=1e-13)
    over = tn.jit(tn.vmap(dirichlet.logpdf, in_axes=(1, None)))
    np.testing.assert_allclose(over(POINTS, ALPHA), dirichlet.logpdf(POINTS, ALPHA), rtol=1e-13)
    assert normal.logpdf(np.zeros((0, 3)), MEAN, COV).shape == (0,)
    assert dirichlet.pdf(np.zeros((3, 0)), ALPHA).shape == (0,)


COUNTS = np.array([[3.0, 1, 2], [0, 0, 6], [6, 0, 0], [1, 1, 1], [1.5, 1.5, 3], [-1, 3, 4]])
SHARES = np.array([0.25, 0.25, 0.5])


@pytest.mark.parametrize("form", ["logpmf", "pmf"])
def test_probabilities_of_counts_by_outcome_are_scipys(form):
    """0 unless x are counts that add up to n; also with a share of 0, and n and p of each row"""
    f, other = getattr(tn.stats.multinomial, form), getattr(theirs.multinomial, form)
    shares, sums = np.stack([SHARES, [0.5, 0.5, 0.0]]), np.array([6, 3])
    rows = ((COUNTS, 6, SHARES), (COUNTS[0], 6, shares), (COUNTS[[0, 3]], sums, shares))
    for x, n, p in rows:
        np.testing.assert_allclose(f(x, n, p), other(x, n, p), rtol=1e-13)


def test_derivatives_of_a_multinomial_probability():
    """∂ ln P/∂pᵢ = xᵢ/pᵢ; by p = softmax twice"""
    got = tn.grad(tn.stats.multinomial.logpmf, 2)(COUNTS[0], 6, SHARES)
    np.testing.assert_allclose(got, COUNTS[0] / SHARES, rtol=1e-15)
    tn.check_grads(
        lambda z: tn.stats.multinomial.logpmf(COUNTS[0], 6, tn.special.softmax(z)),
        (SHARES,),
        order=2,
    )


@pytest.mark.parametrize("place", [0, 1])
def test_no_derivative_by_counts(place):
    given = [COUNTS[0], 6.0, SHARES]
    with pytest.raises(MissingRuleError):
        tn.grad(tn.stats.multinomial.logpmf, place)(*given)


@pytest.mark.parametrize(
    "n, p", [(6.5, SHARES), (-1, SHARES), (6, SHARES * 1.1), (6, SHARES - 0.5)]
)
def test_trials_and_shares_without_a_meaning_give_nan(n, p):
    for x in COUNTS[[0, 4]]:
        assert np.isnan(tn.stats.multinomial.logpmf(x, n, p))


def test_counts_and_shares_of_other_outcomes_are_refused():
    with pytest.raises(tn.ShapeMismatchError, match="fit together"):
        tn.stats.multinomial.pmf(COUNTS[0], 6, SHARES[:2])


@pytest.mark.parametrize("n, a, b", [(6, 1.5, 2.5), (40, 0.25, 8.0), (0, 2.0, 3.0)])
def test_probabilities_of_a_count_of_a_random_share(n, a, b):
    """C(n, k) B(k + a, n - k + b) / B(a, b) against SciPy, their sum, and two derivatives"""
    k = np.arange(-1.0, n + 2)
    betabinom = tn.stats.betabinom
    np.testing.assert_allclose(
        betabinom.pmf(k, n, a, b), theirs.betabinom.pmf(k, n, a, b), rtol=1e-11
    )
    log_probabilities = betabinom.logpmf(k, n, a, b)
    np.testing.assert_allclose(log_probabilities, theirs.betabinom.logpmf(k, n, a, b), rtol=1e-11)
    assert float(np.sum(betabinom.pmf(k, n, a, b))) == pytest.approx(1, rel=1e-12)
    tn.check_grads(lambda a, b: betabinom.logpmf(k[1:-1], n, a, b), (a, b), order=2)


def test_a_count_of_a_random_share_has_no_derivative_and_its_parameters_a_meaning():
    betabinom = tn.stats.betabinom
    assert np.isnan(betabinom.pmf(2, 6, -1.0, 2.0))
    assert np.isnan(betabinom.logpmf(2, 6.5, 1.0, 2.0))
    assert float(betabinom.pmf(2.5, 6, 1.0, 2.0)) == 0
    for place in (0, 1):
        with pytest.raises(MissingRuleError):
            tn.grad(betabinom.logpmf, place)(2.0, 6.0, 1.0, 2.0)
