"""Poisson and binomial numbers: inverses of their distribution functions, and what is refused."""

import numpy as np
import pytest
from random_reference import signed

import tenferro as tn
from tenferro import random

stats = pytest.importorskip("scipy.stats")
KEY, COUNT = (5, 0), 100
U = np.abs(np.array(signed(KEY, COUNT)))
MEANS = [0.0, 1e-3, 0.7, 9.5, 30.0, 900.0, 1e5]
TRIALS = [
    (0, 0.3),
    (1, 0.5),
    (10, 0.0),
    (10, 1.0),
    (10, 0.3),
    (100, 0.99),
    (5000, 1e-3),
    (900, 0.5),
]


def test_poisson_numbers_are_the_inverse_of_their_distribution_function():
    """k = min {k: F(k) >= u}, u of the words of the key"""
    for mean in MEANS:
        found = random.poisson(random.key(5), mean, COUNT)
        np.testing.assert_array_equal(found, stats.poisson.ppf(U, mean), err_msg=f"{mean}")


def test_binomial_numbers_are_the_inverse_of_their_distribution_function():
    for n, p in TRIALS:
        found = random.binomial(random.key(5), n, p, COUNT)
        np.testing.assert_array_equal(found, stats.binom.ppf(U, n, p), err_msg=f"{n}, {p}")


@pytest.mark.parametrize("name", ["poisson", "binomial"])
def test_samples_have_their_distribution(name):
    """Pearson's χ² over the counts 0…8; it has 8 degrees of freedom, and 40 once in 3e5 keys"""
    drawn = {
        "poisson": lambda k: random.poisson(k, 3.0, 20_000),
        "binomial": lambda k: random.binomial(k, 12, 0.25, 20_000),
    }[name](random.key(7))
    law = stats.poisson(3.0) if name == "poisson" else stats.binom(12, 0.25)
    seen = np.bincount(np.minimum(np.asarray(drawn), 8), minlength=9)
    expected = 20_000 * np.append(law.pmf(np.arange(8)), law.sf(7))
    assert np.sum((seen - expected) ** 2 / expected) < 40


def test_parameters_broadcast_and_dtypes_are_those_asked_for():
    found = random.poisson(random.key(0), np.array([1.0, 200.0]), (3, 2), "int32")
    assert (found.shape, found.dtype) == ((3, 2), "int32")
    found = random.binomial(random.key(0), np.array([[5], [10]]), np.array([0.1, 0.5, 0.9]))
    assert (found.shape, found.dtype) == ((2, 3), "int64")
    assert random.poisson(random.key(0), 2.0, (0, 3)).shape == (0, 3)


def test_counts_do_not_decrease_in_the_mean():
    """One key, one u for each element: F(k) falls with the mean"""
    counts = [np.asarray(random.poisson(random.key(1), mean, 50)) for mean in (1.0, 1.5, 40.0)]
    assert (counts[0] <= counts[1]).all()
    assert (counts[1] <= counts[2]).all()


@pytest.mark.parametrize(
    "draw, match",
    [
        (lambda k: random.poisson(k, -1.0), "means >= 0"),
        (lambda k: random.poisson(k, np.array([1.0, np.nan])), "means >= 0"),
        (lambda k: random.poisson(k, 2.0**31, dtype="int32"), "fit into int32"),
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
