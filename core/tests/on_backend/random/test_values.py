"""Numbers of distributions, computed again from the words of their key by the inverse of F."""

import math

import numpy as np
import pytest
from random_reference import signed, split, unit, words32, words64

import tenferro as tn
from tenferro import random

KEY, COUNT = (5, 0), 400
T = np.array(signed(KEY, COUNT))
U = np.abs(T)

ROWS = {  # name: (draw of a key and a count, the same from T or U)
    "uniform": (lambda key: random.uniform(key, COUNT), np.array(unit(KEY, COUNT))),
    "exponential": (lambda key: random.exponential(key, COUNT), -np.log1p(-U)),
    "exponential of a scale": (
        lambda key: random.exponential(key, COUNT, scale=2.5),
        -2.5 * np.log1p(-U),
    ),
    "laplace": (lambda key: random.laplace(key, COUNT), np.sign(T) * -np.log1p(-U)),
    "logistic": (lambda key: random.logistic(key, COUNT, loc=1.0), 1 + 2 * np.arctanh(T)),
    "gumbel": (lambda key: random.gumbel(key, COUNT), -np.log(-np.log1p(-U))),
    "cauchy": (
        lambda key: random.cauchy(key, COUNT),
        np.where(U > 0.5, np.sign(T) / np.tan(np.pi / 2 * (1 - U)), np.tan(np.pi / 2 * T)),
    ),
    "scaled uniform": (
        lambda key: random.uniform(key, COUNT, low=-1.0, high=3.0),
        -1 + 4 * np.array(unit(KEY, COUNT)),
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_numbers_are_the_formula_of_their_words(name):
    draw, expected = ROWS[name]
    np.testing.assert_allclose(np.asarray(draw(random.key(5))), expected, rtol=4e-14, atol=4e-16)


def test_unit_uniforms_are_the_same_bit_for_bit():
    assert np.asarray(random.uniform(random.key(5), COUNT)).tolist() == unit(KEY, COUNT)
    narrow = np.asarray(random.uniform(random.key(5), COUNT, "float32"))
    assert narrow.tolist() == [(word >> 8) * 2.0**-24 for word in words32(KEY, COUNT)]


def test_uniforms_of_half_floats_stay_below_1():
    found = np.asarray(random.uniform(random.key(5), COUNT, "float16")).astype(float)
    assert found.tolist() == [(word >> 21) * 2.0**-11 for word in words32(KEY, COUNT)]


def test_normal_numbers_are_the_inverse_of_the_error_function():
    """erf(z/√2) = t, to the rounding of z."""
    z = np.asarray(random.normal(random.key(5), COUNT))
    back = np.array([math.erf(value / math.sqrt(2)) for value in z])
    slope = np.sqrt(2 / np.pi) * np.exp(-z * z / 2)
    assert np.max(np.abs(back - T) / (slope * np.abs(z) + 1e-300)) < 1e-14 + 3e-16 / slope.min()
    moved = np.asarray(random.normal(random.key(5), COUNT, loc=1.0, scale=2.0))
    np.testing.assert_allclose(moved, 1 + 2 * z, rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(
        np.asarray(random.lognormal(random.key(5), COUNT)), np.exp(z), rtol=1e-14
    )


def test_float32_numbers_keep_their_dtype_and_use_words_of_32_bits():
    found = random.normal(random.key(5), 50, "float32")
    assert found.dtype == "float32"
    t = [(((w - 2**32 if w >> 31 else w) >> 7) | 1) * 2.0**-24 for w in words32(KEY, 50)]
    back = [math.erf(float(z) / math.sqrt(2)) for z in np.asarray(found)]
    np.testing.assert_allclose(back, t, atol=3e-7)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32"])
def test_integers_are_the_upper_part_of_a_product(dtype):
    low, high = (0, 200) if dtype.startswith("u") else (-100, 28)
    words = words64(KEY, COUNT)
    found = np.asarray(random.randint(random.key(5), COUNT, low, high, dtype))
    assert found.dtype == dtype
    assert found.tolist() == [low + (word * (high - low) >> 64) for word in words]


@pytest.mark.parametrize(
    "dtype, low, high",
    [("int64", -(2**63), 2**63), ("int64", -5, 2**62 + 3), ("uint64", 0, 2**64),
     ("uint64", 7, 2**64), ("int64", 3, 4)],
)  # fmt: skip
def test_integers_of_64_bits_use_words_of_128(dtype, low, high):
    words = words64(KEY, 2 * COUNT)
    found = np.asarray(random.randint(random.key(5), COUNT, low, high, dtype))
    whole = [(a << 64) + b for a, b in zip(words[:COUNT], words[COUNT:], strict=True)]
    assert found.tolist() == [low + (number * (high - low) >> 128) for number in whole]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint32", "int32"])
def test_integers_reach_both_ends_of_their_dtype(dtype):
    info = np.iinfo(dtype)
    found = np.asarray(random.randint(random.key(5), COUNT, info.min, info.max + 1, dtype))
    assert found.tolist() == [info.min + (w * 2**info.bits >> 64) for w in words64(KEY, COUNT)]


def test_bounds_of_integers_broadcast():
    low, high = np.array([[0], [5]]), np.array([10, 200, 300])
    found = np.asarray(random.randint(random.key(5), (2, 3), low, high))
    assert (found >= low).all()
    assert (found < high).all()
    jitted = tn.jit(lambda low, high: random.randint(random.key(5), (2, 3), low, high))(low, high)
    assert np.asarray(jitted).tolist() == found.tolist()


def test_uniforms_never_reach_their_upper_end():
    """low + (high - low) u is rounded to the neighbour of low half of the time."""
    low = np.float32(1.0)
    high = np.nextafter(low, np.float32(2))
    found = np.asarray(random.uniform(random.key(5), 4000, low=low, high=high))
    assert (found == low).all()
    assert np.asarray(random.uniform(random.key(5), 3, low=2.0, high=2.0)).tolist() == [2, 2, 2]


def test_bernoulli_compares_uniforms():
    p = np.linspace(0, 1, COUNT)
    expected = [u < chance for u, chance in zip(unit(KEY, COUNT), p, strict=True)]
    assert np.asarray(random.bernoulli(random.key(5), p)).tolist() == expected


def test_categorical_takes_the_largest_with_gumbel_noise():
    logits = np.linspace(-2, 3, 40).reshape(4, 10)
    noise = -np.log(-np.log1p(-U)).reshape(10, 4, 10)
    found = random.categorical(random.key(5), logits, shape=(10, 4))
    assert np.asarray(found).tolist() == np.argmax(logits + noise, -1).tolist()
    first = random.categorical(random.key(5), logits.T, axis=0)
    assert np.asarray(first).shape == (4,)


def test_orders_sort_their_words():
    expected = np.argsort(np.array(words64(KEY, 50), np.uint64))
    assert np.asarray(random.permutation(random.key(5), 50)).tolist() == expected.tolist()
    x = np.arange(100.0).reshape(2, 50)
    along = np.asarray(random.permutation(random.key(5), x, axis=1))
    assert along.tolist() == x[:, expected].tolist()
    apart = np.asarray(random.permutation(random.key(5), x, axis=1, independent=True))
    assert np.sort(apart, 1).tolist() == x.tolist()
    assert (apart[0] != apart[1] - 50).any()


def test_choice_is_a_search_among_sums():
    p = np.array([0.1, 0.0, 0.6, 0.3, 0.0])
    found = np.asarray(random.choice(random.key(5), 5, COUNT, p=p))
    sums = np.cumsum(p)
    at = np.array(unit(KEY, COUNT)) * sums[-1]
    assert found.tolist() == np.searchsorted(sums, at, "right").tolist()


def test_choice_without_replacement_takes_each_once():
    letters = np.array([10.0, 20.0, 30.0])
    for p in (None, [0.2, 0.5, 0.3]):
        taken = np.asarray(random.choice(random.key(5), letters, 3, replace=False, p=p))
        assert sorted(taken.tolist()) == letters.tolist()
    rows = np.asarray(random.choice(random.key(5), np.eye(3), (2, 2), axis=1))
    assert rows.shape == (3, 2, 2)


def test_beta_and_student_t_use_keys_of_their_own():
    first, second = (np.array(split(KEY, i), np.uint32) for i in (0, 1))
    x, y = (np.asarray(random.loggamma(k, a, COUNT)) for k, a in ((first, 0.5), (second, 2.0)))
    found = np.asarray(random.beta(random.key(5), 0.5, 2.0, COUNT))
    np.testing.assert_allclose(found, 1 / (1 + np.exp(y - x)), rtol=1e-13)
    z, g = np.asarray(random.normal(first, COUNT)), np.asarray(random.gamma(second, 2.0, COUNT))
    student = np.asarray(random.student_t(random.key(5), 4.0, COUNT))
    np.testing.assert_allclose(student, z / np.sqrt(g / 2), rtol=1e-13)


def test_vectors_have_the_factor_of_their_covariance():
    cov = np.array([[2.0, 0.6], [0.6, 1.0]])
    z = np.asarray(random.normal(random.key(5), (30, 2)))
    found = np.asarray(random.multivariate_normal(random.key(5), np.array([1.0, -1.0]), cov, 30))
    np.testing.assert_allclose(found, [1, -1] + z @ np.linalg.cholesky(cov).T, rtol=1e-12)


def test_parts_of_dirichlet_sum_to_1():
    alpha = np.array([[1e-3, 1e-3, 1e-3], [0.5, 2.0, 30.0]])
    found = np.asarray(random.dirichlet(random.key(5), alpha, (50, 2)))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(-1), 1, rtol=1e-14)


SHAPES = {
    "uniform": lambda key, s: random.uniform(key, s, low=np.zeros((3, 1)), high=np.ones(2)),
    "normal": lambda key, s: random.normal(key, s, loc=np.zeros((3, 1)), scale=np.ones(2)),
    "gamma": lambda key, s: random.gamma(key, np.ones((3, 1)), s, scale=np.ones(2)),
    "beta": lambda key, s: random.beta(key, np.ones((3, 1)), np.ones(2), s),
    "student_t": lambda key, s: random.student_t(key, np.ones((3, 1)), s, loc=np.ones(2)),
    "bernoulli": lambda key, s: random.bernoulli(key, np.full((3, 2), 0.5), s),
    "randint": lambda key, s: random.randint(key, s, np.zeros((3, 1), int), np.ones(2, int)),
}


@pytest.mark.parametrize("name", SHAPES)
def test_parameters_broadcast(name):
    """Parameters give the shape, or broadcast against the one that is asked for"""
    draw = SHAPES[name]
    assert np.asarray(draw(random.key(0), None)).shape == (3, 2)
    assert np.asarray(draw(random.key(0), (4, 3, 2))).shape == (4, 3, 2)
    for shape in ((2,), (3, 1), (4, 2, 2)):
        with pytest.raises(tn.ShapeMismatchError):
            draw(random.key(0), shape)


def test_dtypes_follow_the_parameters():
    single = np.ones(2, np.float32)
    assert random.normal(random.key(0), loc=single, scale=2.0).dtype == "float32"
    assert random.normal(random.key(0), loc=single, scale=np.ones(2)).dtype == "float64"
    assert random.gamma(random.key(0), 3, (2,)).dtype == "float64"
    assert random.gamma(random.key(0), np.array([1, 2])).dtype == "float64"
    assert random.gamma(random.key(0), 2.0, (2,), "float16").dtype == "float16"


REFUSED = {
    "an int dtype": (lambda key: random.normal(key, 3, int), tn.DTypeMismatchError),
    "bits of floats": (lambda key: random.bits(key, 3, float), tn.DTypeMismatchError),
    "integers of floats": (lambda key: random.randint(key, 3, 0, 9, float), tn.DTypeMismatchError),
    "an empty range": (lambda key: random.randint(key, 3, 5, 5), tn.InvalidParameterError),
    "an empty range in arrays": (
        lambda key: random.randint(key, 3, np.array([1, 2, 3]), np.array([2, 2, 4])),
        tn.InvalidParameterError,
    ),
    "a range beyond the dtype": (
        lambda key: random.randint(key, 3, 0, 257, "uint8"),
        tn.InvalidParameterError,
    ),
    "bounds that are no integers": (
        lambda key: random.randint(key, 3, 0, np.array(2.5)),
        tn.DTypeMismatchError,
    ),
    "more than there are": (
        lambda key: random.choice(key, 3, 4, replace=False),
        tn.InvalidParameterError,
    ),
    "not one probability each": (
        lambda key: random.choice(key, 3, 4, p=[0.5, 0.5]),
        tn.ShapeMismatchError,
    ),
    "alpha without an axis": (lambda key: random.dirichlet(key, 1.0), tn.ShapeMismatchError),
    "a covariance of another size": (
        lambda key: random.multivariate_normal(key, np.zeros(2), np.eye(3)),
        tn.ShapeMismatchError,
    ),
    "NumPy's order of arguments": (lambda key: random.normal(key, 0.0, 1.0, 3), TypeError),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    """A bad shape, dtype or parameter is a typed error"""
    draw, error = REFUSED[name]
    with pytest.raises(error):
        draw(random.key(0))
