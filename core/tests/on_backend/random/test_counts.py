"""Poisson and binomial numbers: inverses of their distribution functions up to a mean of 10,
transformed rejection above; and what is refused.
"""

from math import sqrt

import numpy as np
import pytest
from random_reference import attempt, signed

import tenferro as tn
from tenferro import random
from tenferro.arrays.functions.random._rejection import binet
from tenferro.arrays.functions.random.counts import _binomial_density, _poisson_density

stats = pytest.importorskip("scipy.stats")
special = pytest.importorskip("scipy.special")
KEY, COUNT = (5, 0), 100
U = np.abs(np.array(signed(KEY, COUNT)))
MEANS = [0.0, 1e-3, 0.7, 9.5, 10.0]
TRIALS = [
    (0, 0.3),
    (1, 0.5),
    (10, 0.0),
    (10, 1.0),
    (10, 0.3),
    (100, 0.99),
    (5000, 1e-3),
    (20, 0.5),
]
SAMPLES = {
    "poisson": (random.poisson, stats.poisson),
    "binomial": (random.binomial, stats.binom),
}
PARAMETERS = [
    *(("poisson", (mean,)) for mean in (0.1, 3.0, 9.9, 10.0, 11.0, 50.0, 1e4, 1e8)),
    *(("binomial", (n, 0.5)) for n in (7, 21, 10**9)),
    *(("binomial", (n, p)) for n, p in ((12, 0.25), (40, 0.3), (10**6, 0.9999), (10**7, 2e-6))),
]


def test_small_poisson_numbers_are_the_inverse_of_their_distribution_function():
    """k = min {k: F(k) >= u}, u of the words of the key"""
    for mean in MEANS:
        found = random.poisson(random.key(5), mean, COUNT)
        np.testing.assert_array_equal(found, stats.poisson.ppf(U, mean), err_msg=f"{mean}")


def test_small_numbers_of_the_rarer_outcome_are_the_inverse_of_their_distribution_function():
    for n, p in TRIALS:
        found = np.asarray(random.binomial(random.key(5), n, p, COUNT))
        rarer = n - found if p > 0.5 else found
        expected = stats.binom.ppf(U, n, min(p, 1 - p))
        np.testing.assert_array_equal(rarer, expected, err_msg=f"{n}, {p}")


def first_accepted(a, b, c, alpha, density):
    """Hörmann's step 1 and 3 for ``COUNT`` elements, of the words that each attempt has"""
    found, is_open, number = np.zeros(COUNT), np.ones(COUNT, bool), 0
    while is_open.any():
        u, v = attempt(KEY, number, COUNT)
        us = 0.5 - np.abs(u)
        k = np.floor((2 * a / us + b) * u + c)
        accepted = is_open & (v * alpha / (a / us**2 + b) <= density(k))
        found[accepted] = k[accepted]
        is_open, number = is_open & ~accepted, number + 1
    return found


@pytest.mark.parametrize("mean", [10.5, 300.0, 1e6])
def test_large_poisson_numbers_are_those_of_transformed_rejection(mean):
    """PTRS: Hörmann, Insurance: Mathematics and Economics 12 (1993) 39, section 4"""
    b = 0.931 + 2.53 * sqrt(mean)
    hat = (-0.059 + 0.02483 * b, b, mean + 0.43, 1.1239 + 1.1328 / (b - 3.4))
    expected = first_accepted(*hat, stats.poisson(mean).pmf)
    np.testing.assert_array_equal(random.poisson(random.key(5), mean, COUNT), expected)


@pytest.mark.parametrize("n, p", [(21, 0.5), (400, 0.2), (10**6, 0.01)])
def test_large_binomial_numbers_are_those_of_transformed_rejection(n, p):
    """BTRS: Hörmann, J. Stat. Comput. Simul. 46 (1993) 101, section 3"""
    law, spread = stats.binom(n, p), sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * spread
    alpha = (2.83 + 5.1 / b) * spread * law.pmf(np.floor((n + 1) * p))
    hat = (-0.0873 + 0.0248 * b + 0.01 * p, b, n * p + 0.5, alpha)
    found = random.binomial(random.key(5), n, p, COUNT)
    np.testing.assert_array_equal(found, first_accepted(*hat, law.pmf))


def test_of_two_outcomes_the_rarer_one_is_drawn():
    for n in (8, 400):
        rare, common = (np.asarray(random.binomial(random.key(5), n, p, 9)) for p in (0.25, 0.75))
        np.testing.assert_array_equal(rare, n - common)


def test_the_rest_of_stirlings_formula_is_that_of_the_gamma_function():
    x = np.array([1.0, 2.0, 4.0, 10.0, 30.0])
    expected = special.gammaln(x) - (x - 0.5) * np.log(x) + x - 0.5 * np.log(2 * np.pi)
    error = np.abs(np.asarray(binet(tn.asarray(x))) - expected)
    assert (error < [6e-6, 8e-9, 2e-12, 2e-14, 2e-14]).all()


@pytest.mark.parametrize(
    "found, expected",
    [
        (lambda k: _poisson_density(k, tn.full(22, 11.0)), stats.poisson(11).pmf),
        (
            lambda k: _binomial_density(k, tn.full(22, 21.0), tn.full(22, 0.5)),
            stats.binom(21, 0.5).pmf,
        ),
    ],
)
def test_densities_are_multiples_of_the_probabilities(found, expected):
    """As far as ``binet`` is right at 1"""
    ratio = np.asarray(found(tn.arange(22.0))) / expected(np.arange(22))
    np.testing.assert_allclose(ratio, ratio[10], rtol=8e-6)


@pytest.mark.parametrize("name, parameters", PARAMETERS)
def test_samples_have_their_distribution(name, parameters):
    """Pearson's χ² over up to 30 parts; with 29 degrees of freedom it is 100 once in 1e9 keys"""
    draw, family = SAMPLES[name]
    law = family(*parameters)
    sample = np.asarray(draw(random.key(7), *parameters, 20_000))
    ends = np.unique(law.ppf(np.linspace(0, 1, 31)[1:-1]))
    seen = np.bincount(np.searchsorted(ends, sample), minlength=len(ends) + 1)
    expected = 20_000 * np.diff([0.0, *law.cdf(ends), 1.0])
    assert np.sum((seen - expected) ** 2 / expected) < 100


@pytest.mark.parametrize(
    "draw, mean, variance",
    [
        (lambda k: random.poisson(k, 1e17, 20_000), 1e17, 1e17),
        (lambda k: random.binomial(k, 10**17, 0.25, 20_000), 0.25e17, 0.1875e17),
        (lambda k: random.binomial(k, 10**17, 1 - 1e-9, 20_000), 1e17 - 1e8, 1e8),
    ],
)
def test_huge_counts_have_mean_and_variance(draw, mean, variance):
    """Within six standard errors"""
    z = (np.asarray(draw(random.key(3))) - mean) / sqrt(variance)
    assert abs(z.mean()) < 6 / sqrt(20_000)
    assert abs(z.var() - 1) < 6 * sqrt(2 / 20_000)


def test_elements_do_not_depend_on_their_neighbours():
    """Small and large means in one array, as each alone"""
    means = np.array([0.5, 1e6, 10.0, 30.0, 0.0, 10.5])
    mixed = np.asarray(random.poisson(random.key(4), means))
    for i, mean in enumerate(means):
        assert np.asarray(random.poisson(random.key(4), mean, 6))[i] == mixed[i]


def test_parameters_broadcast_and_dtypes_are_those_asked_for():
    found = random.poisson(random.key(0), np.array([1.0, 200.0]), (3, 2), "int32")
    assert (found.shape, found.dtype) == ((3, 2), "int32")
    found = random.binomial(random.key(0), np.array([[5], [10]]), np.array([0.1, 0.5, 0.9]))
    assert (found.shape, found.dtype) == ((2, 3), "int64")
    assert random.poisson(random.key(0), 2.0, (0, 3)).shape == (0, 3)


def test_small_counts_do_not_decrease_in_the_mean():
    """One key, one u for each element: F(k) falls with the mean"""
    counts = [np.asarray(random.poisson(random.key(1), mean, 50)) for mean in (1.0, 1.5, 9.0)]
    assert (counts[0] <= counts[1]).all()
    assert (counts[1] <= counts[2]).all()


@pytest.mark.parametrize(
    "draw, match",
    [
        (lambda k: random.poisson(k, -1.0), "means >= 0"),
        (lambda k: random.poisson(k, np.array([1.0, np.nan])), "means >= 0"),
        (lambda k: random.poisson(k, 2.0**31, dtype="int32"), "fit into int32"),
        (lambda k: random.poisson(k, 2.0**31 - 9 * 2.0**15.5, dtype="int32"), "fit into int32"),
        (lambda k: random.binomial(k, 2**63 - 1, 1.0), "fit into int64"),
        (lambda k: random.binomial(k, -1, 0.5), "integers >= 0"),
        (lambda k: random.binomial(k, 1.5, 0.5), "integers >= 0"),
        (lambda k: random.binomial(k, 3, 1.5), "between 0 and 1"),
    ],
)
def test_parameters_out_of_range_are_refused(draw, match):
    with pytest.raises(tn.InvalidParameterError, match=match):
        draw(random.key(0))


@pytest.mark.parametrize("dtype", ["uint8", "float64", "bool"])
def test_another_dtype_is_refused(dtype):
    with pytest.raises(tn.TenferroError, match="int32 or int64"):
        random.poisson(random.key(0), 1.0, dtype=dtype)


def test_traced_parameters_out_of_range_give_minus_one():
    assert int(tn.jit(lambda mean: random.poisson(random.key(0), mean))(-1.0)) == -1
    assert int(tn.jit(lambda p: random.binomial(random.key(0), 5, p))(np.nan)) == -1
