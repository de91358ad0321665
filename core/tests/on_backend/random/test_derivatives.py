"""Derivatives with respect to parameters: of single numbers, and of means in closed form."""

import math

import numpy as np
import pytest

import tenferro as tn
from tenferro import random
from tenferro.arrays import as_array
from tenferro.primitives import gamma_moment

mp = pytest.importorskip("mpmath").mp.clone()
mp.dps = 60


def _moved(draw):
    """The change of numbers along each parameter, by differences of the same draw."""
    step = 1e-6

    def difference(i, x):
        ends = [
            np.asarray(draw(*[p + s * step * (i == k) for k, p in enumerate(x)])) for s in (1, -1)
        ]
        return (ends[0] - ends[1]) / (2 * step)

    return difference


REPARAMETERIZED = {
    "uniform": (lambda a, b: random.uniform(random.key(1), 9, low=a, high=b), (0.3, 2.0)),
    "normal": (lambda a, b: random.normal(random.key(1), 9, loc=a, scale=b), (0.3, 2.0)),
    "lognormal": (lambda a, b: random.lognormal(random.key(1), 9, loc=a, scale=b), (0.3, 0.5)),
    "exponential": (lambda a: random.exponential(random.key(1), 9, scale=a), (0.3,)),
    "laplace": (lambda a, b: random.laplace(random.key(1), 9, loc=a, scale=b), (0.3, 2.0)),
    "logistic": (lambda a, b: random.logistic(random.key(1), 9, loc=a, scale=b), (0.3, 2.0)),
    "gumbel": (lambda a, b: random.gumbel(random.key(1), 9, loc=a, scale=b), (0.3, 2.0)),
    "cauchy": (lambda a, b: random.cauchy(random.key(1), 9, loc=a, scale=b), (0.3, 2.0)),
    "truncated_normal": (
        lambda a, b: random.truncated_normal(random.key(1), a, b, 9),
        (0.3, 2.0),
    ),
    "gamma's scale": (lambda b: random.gamma(random.key(1), 0.7, 9, scale=b), (2.0,)),
}


@pytest.mark.parametrize("name", REPARAMETERIZED)
def test_numbers_follow_their_parameters(name):
    draw, at = REPARAMETERIZED[name]
    for i in range(len(at)):
        tangents = tuple(float(i == k) for k in range(len(at)))
        found = np.asarray(tn.jvp(draw, at, tangents)[1])
        np.testing.assert_allclose(found, _moved(draw)(i, at), rtol=1e-7, atol=1e-8)


def test_vectors_follow_mean_and_covariance():
    def draw(mean, factor):
        cov = factor @ factor.T  # symmetric, as the derivative takes it to be
        return random.multivariate_normal(random.key(3), mean, cov, (4,))

    mean, factor = np.array([1.0, 2.0]), np.array([[2.0, 0.3], [0.4, 1.0]])
    tn.check_grads(draw, (mean, factor), order=2)


# --- gamma: the implicit derivative --------------------------------------------------------------


def implicit(a, y):
    """-(∂F/∂a)/(x f) at x = e^y by central differences of 60 digits."""
    a, y = mp.mpf(float(a)), mp.mpf(float(y))
    x, step = mp.exp(y), mp.mpf(10) ** -20

    def lower(shape):
        return mp.gammainc(shape, 0, x, regularized=True)

    def upper(shape):
        return -mp.gammainc(shape, x, regularized=True)

    side = lower if x < a + 1 else upper
    change = (side(a + step) - side(a - step)) / (2 * step)
    return -change * mp.gamma(a) * mp.exp(x - a * y)


SHAPES = np.array([1e-3, 0.02, 0.3, 0.9, 1.0, 1.7, 5.0, 40.0, 300.0])


def test_gamma_variates_have_the_implicit_derivative():
    a = np.repeat(SHAPES, 6)
    y, dy = tn.jvp(lambda a: random.loggamma(random.key(2), a), (a,), (np.ones_like(a),))
    expected = [float(implicit(*pair)) for pair in zip(a, np.asarray(y), strict=True)]
    np.testing.assert_allclose(np.asarray(dy), expected, rtol=2e-12)


def test_gamma_itself_too_where_it_is_too_small_for_a_float():
    a = np.array([1e-4, 1e-4, 1e-4, 2.0])
    x, dx = tn.jvp(lambda a: random.gamma(random.key(2), a), (a,), (np.ones_like(a),))
    x, dx = np.asarray(x), np.asarray(dx)
    assert (x == 0).any()
    assert np.isfinite(dx).all()
    assert (dx[x == 0] == 0).all()
    assert dx[-1] == pytest.approx(float(x[-1] * implicit(2.0, math.log(x[-1]))), rel=1e-11)


@pytest.mark.parametrize("a", [0.05, 0.8, 1.0, 4.0, 60.0])
def test_derivatives_of_gamma_variates_to_second_order(a):
    """d²y/da² = ∂R/∂a + R ∂R/∂y with R(a, y) = dy/da."""

    def draw(a):
        return random.loggamma(random.key(7), a)

    y = float(draw(a))
    step = mp.mpf(10) ** -12
    slope = implicit(a, y)
    change = [implicit_at(a + s * step, y + s * step * slope) for s in (1, -1)]
    expected = float((change[0] - change[1]) / (2 * step))
    assert tn.grad(tn.grad(draw))(a) == pytest.approx(expected, rel=1e-9)


def implicit_at(a, y):
    """``implicit`` of mpmath's numbers."""
    x, step = mp.exp(y), mp.mpf(10) ** -24

    def upper(shape):
        return -mp.gammainc(shape, x, regularized=True)

    change = (upper(a + step) - upper(a - step)) / (2 * step)
    return -change * mp.gamma(a) * mp.exp(x - a * y)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_moments_are_their_integrals(order):
    rows = [(a, math.log(a) + z / math.sqrt(a)) for a in (1.0, 8.0, 900.0) for z in (-5, -1, 1, 5)]
    rows += [(a, y) for a in (1e-3, 0.2) for y in (-40.0, -1.0, 0.5, 2.5)]
    a, y = np.array(rows).T
    found = np.asarray(gamma_moment(order, as_array(a), as_array(y)))
    np.testing.assert_allclose(found, [_moment(order, *row) for row in rows], rtol=1e-13)


def _moment(k, a, y):
    a, y = mp.mpf(float(a)), mp.mpf(float(y))
    x = mp.exp(y)
    s = -1 if y > mp.log(max(a, 1)) else 1
    width = 1 / (x - a + mp.sqrt(x)) if s < 0 else 1 / (max(a - x, 0) + min(a, mp.sqrt(a)))
    parts = sorted({width * c for c in (0, 0.01, 0.1, 0.5, 1, 2, 4, 8, 16, 40, 90)} | {1, 4} - {0})
    parts = [0, *[p for p in parts if p > 0]]
    with mp.workdps(22):
        return float(mp.quad(lambda v: v**k * mp.exp(-s * a * v - x * mp.expm1(-s * v)), parts))


@pytest.mark.parametrize("order", [0, 1, 2])
def test_moments_are_closed_under_differentiation(order):
    def moment(a, y):
        return gamma_moment(order, as_array(a), as_array(y))

    a, y = np.array([0.3, 2.0, 2.0, 30.0]), np.array([-1.0, 0.2, 1.9, 3.6])
    tn.check_grads(moment, (a, y), order=2)


# --- means ---------------------------------------------------------------------------------------

MEANS = {  # name: (function of keyless parameters, at, gradient of the mean)
    "variance of normal": (lambda s: random.normal(KEY, N, scale=s) ** 2, 1.5, 3.0),
    "mean of exp of normal": (
        lambda m: tn.exp(random.normal(KEY, N, loc=m, scale=0.5)),
        0.2,
        math.exp(0.2 + 0.125),
    ),
    "square of uniform": (lambda b: random.uniform(KEY, N, high=b) ** 2, 2.0, 4 / 3),
    "mean of gamma": (lambda a: random.gamma(KEY, a, N), 0.6, 1.0),
    "second moment of gamma": (lambda a: random.gamma(KEY, a, N) ** 2, 2.0, 5.0),
    "mean of the logarithm of gamma": (
        lambda a: random.loggamma(KEY, a, N),
        0.6,
        float(mp.polygamma(1, 0.6)),
    ),
    "mean of beta": (lambda a: random.beta(KEY, a, 2.0, N), 1.5, 2 / 3.5**2),
    "mean of dirichlet": (
        lambda a: random.dirichlet(KEY, tn.stack([a, 1.0, 2.0]), N)[:, 0],
        1.0,
        3 / 16,
    ),
    "square of Student's t": (lambda d: random.student_t(KEY, d, N) ** 2, 9.0, -2 / 49),
    "square of chi-squared": (lambda d: random.chisquare(KEY, d, N) ** 2, 3.0, 8.0),
}
N = 20_000
KEY = random.key(77)


@pytest.mark.parametrize("name", MEANS)
def test_gradients_of_means(name):
    """Within four standard errors of the closed form."""
    draw, at, expected = MEANS[name]
    slopes = np.asarray(tn.jvp(draw, (at,), (1.0,))[1])
    error = np.std(slopes) / math.sqrt(N)
    assert abs(np.mean(slopes) - expected) < 4 * error
    assert tn.grad(lambda p: draw(p).mean())(at) == pytest.approx(np.mean(slopes), rel=1e-9)


# --- what carries none ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "draw",
    [
        lambda p: random.bernoulli(random.key(0), p, 5).astype(float).sum(),
        lambda p: random.poisson(random.key(0), p, 5).astype(float).sum(),
        lambda p: random.binomial(random.key(0), 7, p, 5).astype(float).sum(),
        lambda p: random.categorical(random.key(0), tn.stack([p, 1.0])).astype(float),
        lambda p: random.choice(random.key(0), 3, 4, p=tn.stack([p, p, 1.0])).astype(float).sum(),
    ],
)
def test_nothing_flows_through_discrete_numbers(draw):
    assert tn.grad(draw)(0.3) == 0


def test_elements_that_are_moved_keep_their_derivative():
    weights = np.arange(5.0)
    order = np.asarray(random.permutation(random.key(3), 5))
    found = tn.grad(lambda x: (random.permutation(random.key(3), x) * weights).sum())(np.ones(5))
    assert found[order].tolist() == weights.tolist()
