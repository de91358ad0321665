"""Samples of fixed keys against distribution functions: Kolmogorov's distance, moments, χ².

Keys are fixed, so the tests are deterministic. For a right sampler √n·D exceeds 1.63 for one key
in a hundred; every wrong sampler of the last table exceeds it.
"""

import math

import numpy as np
import pytest

import tenferro as tn
from tenferro import random

stats = pytest.importorskip("scipy.stats")
COUNT, LIMIT = 50_000, 1.63


def distance(sample, function):
    """√n times the largest distance between the distribution of a sample and a function."""
    x = np.sort(np.asarray(sample, float).ravel())
    expected = function(x)
    steps = np.arange(x.size + 1) / x.size
    return math.sqrt(x.size) * max(
        np.max(expected - steps[:-1]), np.max(steps[1:] - expected)
    )  # fmt: skip


def log_gamma_cdf(a):
    """F of the logarithm of a gamma variate; far below, where x is no float, x^a/Γ(a + 1)."""

    def function(y):
        small = np.exp(np.minimum(a * y - math.lgamma(a + 1), 0))
        return np.where(y < -600, small, stats.gamma.cdf(np.exp(y), a))

    return function


def truncated_cdf(low, high):
    """F of a normal number between two ends, from the upper tail."""
    sf = stats.norm.sf
    return lambda x: (sf(low) - sf(x)) / (sf(low) - sf(high))


def _beta_parts(key):
    return random.dirichlet(key, np.array([0.5, 1.5, 3.0]), COUNT)[:, 0]


def _first_of_pair(key):
    cov = np.array([[4.0, 1.0], [1.0, 1.0]])
    return random.multivariate_normal(key, np.zeros(2), cov, COUNT) @ np.array([1.0, -1.0])


CONTINUOUS = {
    "uniform": (lambda k: random.uniform(k, COUNT), stats.uniform.cdf),
    "uniform float32": (lambda k: random.uniform(k, COUNT, "float32"), stats.uniform.cdf),
    "uniform between": (
        lambda k: random.uniform(k, COUNT, low=-2.0, high=5.0),
        stats.uniform(-2, 7).cdf,
    ),
    "normal": (lambda k: random.normal(k, COUNT), stats.norm.cdf),
    "normal float32": (lambda k: random.normal(k, COUNT, "float32"), stats.norm.cdf),
    "lognormal": (lambda k: random.lognormal(k, COUNT), stats.lognorm(1).cdf),
    "exponential": (lambda k: random.exponential(k, COUNT, scale=3.0), stats.expon(0, 3).cdf),
    "laplace": (lambda k: random.laplace(k, COUNT), stats.laplace.cdf),
    "logistic": (lambda k: random.logistic(k, COUNT), stats.logistic.cdf),
    "gumbel": (lambda k: random.gumbel(k, COUNT), stats.gumbel_r.cdf),
    "cauchy": (lambda k: random.cauchy(k, COUNT), stats.cauchy.cdf),
    "student_t": (lambda k: random.student_t(k, 3.5, COUNT), stats.t(3.5).cdf),
    "chisquare": (lambda k: random.chisquare(k, 5.0, COUNT), stats.chi2(5).cdf),
    "beta": (lambda k: random.beta(k, 0.4, 2.5, COUNT), stats.beta(0.4, 2.5).cdf),
    "truncated_normal": (
        lambda k: random.truncated_normal(k, -0.5, 2.0, COUNT),
        truncated_cdf(-0.5, 2),
    ),
    "truncated_normal far out": (
        lambda k: random.truncated_normal(k, 12.0, 13.0, COUNT),
        truncated_cdf(12, 13),
    ),
    "dirichlet": (_beta_parts, stats.beta(0.5, 4.5).cdf),
    "multivariate_normal": (_first_of_pair, stats.norm(0, math.sqrt(3)).cdf),
    "gamma of a scale": (
        lambda k: random.gamma(k, 2.0, COUNT, scale=3.0),
        stats.gamma(2, 0, 3).cdf,
    ),
    "gamma float32": (lambda k: random.gamma(k, 0.7, COUNT, "float32"), stats.gamma(0.7).cdf),
} | {
    f"loggamma of {a}": (
        lambda k, a=a: random.loggamma(k, a, COUNT),
        log_gamma_cdf(a),
    )
    for a in (1e-3, 1e-2, 0.1, 0.5, 0.999, 1.0, 1.5, 3.0, 10.0, 100.0, 1e4)
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_samples_have_their_distribution(name):
    draw, function = CONTINUOUS[name]
    assert distance(draw(random.key(2024)), function) < LIMIT


WRONG = {
    "uniform on a shorter interval": ("uniform", lambda x: 0.98 * x),
    "normal of another scale": ("normal", lambda x: 1.03 * x),
    "normal that is shifted": ("normal", lambda x: x + 0.02),
    "normal whose sign is lost": ("normal", np.abs),
    "exponential of another scale": ("exponential", lambda x: 1.03 * x),
    "gamma of a small shape": ("loggamma of 0.1", lambda x: 1.03 * x),
    "gamma of a large shape": ("loggamma of 10000.0", lambda x: x + 2e-4),
    "Student's t of another scale": ("student_t", lambda x: 1.04 * x),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_distance_sees_a_wrong_sampler(name):
    row, spoiled = WRONG[name]
    draw, function = CONTINUOUS[row]
    assert distance(spoiled(np.asarray(draw(random.key(2024)))), function) > LIMIT


def test_moments_of_normal_numbers():
    """Means of z, z², z³ and z⁴ within three standard errors."""
    z = np.asarray(random.normal(random.key(1), 200_000))
    for power, mean, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs(np.mean(z**power) - mean) < 3 * math.sqrt(variance / z.size)


def test_tails_of_normal_numbers():
    """As many beyond 3, 4 as there should be, on each side, and some beyond 4.5."""
    z = np.asarray(random.normal(random.key(8), 1_000_000))
    for limit in (3.0, 4.0):
        expected = z.size * stats.norm.sf(limit)
        for tail in (z, -z):
            assert abs(np.sum(tail > limit) - expected) < 3 * math.sqrt(expected)
    assert 4.5 < np.max(np.abs(z)) < 8.3


def test_uniforms_fill_their_interval():
    for dtype in ("float32", "float64"):
        u = np.asarray(random.uniform(random.key(3), 1_000_000, dtype))
        assert 0 <= u.min() < 2e-5
        assert 1 - 2e-5 < u.max() < 1


def chi2(counts, expected):
    """Pearson's sum, divided by its degrees of freedom."""
    return np.sum((counts - expected) ** 2 / expected) / (len(counts) - 1)


@pytest.mark.parametrize("low, high, dtype", [(0, 7, "int64"), (-3, 100, "int8"), (0, 6, "uint16")])
def test_integers_are_equally_likely(low, high, dtype):
    n = np.asarray(random.randint(random.key(5), 100_000, low, high, dtype)).astype(int)
    counts = np.bincount(n - low, minlength=high - low)
    assert len(counts) == high - low
    assert chi2(counts, n.size / (high - low)) < 2


def test_all_orders_of_four_are_equally_likely():
    rows = np.broadcast_to(np.arange(4), (48_000, 4))
    orders = np.asarray(random.permutation(random.key(6), rows, axis=1, independent=True))
    assert (np.sort(orders, 1) == rows).all()
    counts = np.bincount(np.unique(orders @ [64, 16, 4, 1], return_inverse=True)[1])
    assert len(counts) == 24
    assert chi2(counts, 2000) < 2


def test_probabilities_of_choices():
    p = np.array([0.05, 0.15, 0.3, 0.5])
    drawn = {
        "choice": random.choice(random.key(1), 4, 40_000, p=p),
        "categorical": random.categorical(random.key(2), np.log(p), shape=(40_000,)),
    }
    for found in drawn.values():
        assert chi2(np.bincount(np.asarray(found), minlength=4), 40_000 * p) < 2.5
    assert abs(np.mean(np.asarray(random.bernoulli(random.key(3), 0.2, 40_000))) - 0.2) < 0.006


def test_draws_without_replacement_follow_what_is_left():
    """P(first a, then b) = p_a p_b/(1 - p_a)."""
    p = np.array([0.2, 0.3, 0.5])
    keys = random.split(random.key(4), 30_000)
    pairs = np.asarray(tn.vmap(lambda k: random.choice(k, 3, 2, replace=False, p=p))(keys))
    counts = np.bincount(pairs @ [3, 1], minlength=9)
    expected = np.array([p[a] * p[b] / (1 - p[a]) for a in range(3) for b in range(3)])
    off = [i for i in range(9) if i % 4]
    assert counts[[0, 4, 8]].tolist() == [0, 0, 0]
    assert chi2(counts[off], 30_000 * expected[off]) < 2.5
