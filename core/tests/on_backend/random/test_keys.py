"""Keys and words against threefry in Python's integers; streams that never meet."""

import math
import pickle

import numpy as np
import pytest
from random_reference import FOLD, SPLIT, fold_in, split, threefry, unit, words32, words64

import tenferro as tn
from tenferro import random
from tenferro.arrays import as_array
from tenferro.primitives import threefry2x32

KNOWN = [  # kat_vectors of Random123: key, counter, result of threefry 2x32 with 20 rounds
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((2**32 - 1,) * 2, (2**32 - 1,) * 2, (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
]


def _key(seed):
    return tuple(int(word) for word in np.asarray(random.key(seed)))


@pytest.mark.parametrize("key, counter, expected", KNOWN)
def test_published_vectors(key, counter, expected):
    """Words of Threefry-2x32 are those that Random123 publishes"""
    words = [as_array(np.array([word], np.uint32)) for word in (*key, *counter)]
    assert tuple(int(np.asarray(word)[0]) for word in threefry2x32(*words)) == expected
    assert threefry(key, counter) == expected


@pytest.mark.parametrize("count", [0, 1, 2, 7, 8])
def test_words_of_32_bits(count):
    assert np.asarray(random.bits(random.key(9), count)).tolist() == words32((9, 0), count)


@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3)])
def test_words_of_64_bits(shape):
    found = np.asarray(random.bits(random.key(9), shape, "uint64"))
    assert found.shape == shape
    assert found.ravel().tolist() == words64((9, 0), math.prod(shape))


@pytest.mark.parametrize("count", [2**15 + 3, 2**16 + 5])
def test_words_do_not_depend_on_how_many_are_drawn_together(count):
    found = np.asarray(random.bits(random.key(4), count, "uint64"))
    places = [0, 2**15 - 1, 2**15, count - 1]
    expected = [threefry((4, 0), (place, 0)) for place in places]
    assert found[places].tolist() == [low + (high << 32) for low, high in expected]


def test_narrow_words_are_the_low_bits():
    found = np.asarray(random.bits(random.key(1), 5, "uint8"))
    assert found.tolist() == [word % 256 for word in words32((1, 0), 5)]


@pytest.mark.parametrize("seed", [0, 1, 2**32, 2**64 - 1])
def test_seeds_are_the_words_of_keys(seed):
    assert _key(seed) == (seed % 2**32, seed // 2**32)


@pytest.mark.parametrize(
    "seed, expected",
    [
        (-5, fold_in((5, 0), -1)),
        (2**64 + 7, fold_in((7, 0), 1)),
        (-(2**64) - 7, fold_in(fold_in((7, 0), 1), -1)),
        (3 * 2**128 + 2**127 + 1, fold_in(fold_in((1, 0), 2**63), 3)),
    ],
)
def test_other_seeds_fold_in_what_is_left(seed, expected):
    assert _key(seed) == expected


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "uint64"])
def test_seeds_in_arrays_are_those_of_integers(dtype):
    for seed in (0, 7, 200) if dtype.startswith("u") else (0, 7, -7):
        assert np.asarray(random.key(np.array(seed, dtype))).tolist() == list(_key(seed))
        assert tn.jit(random.key)(np.array(seed, dtype)).tolist() == list(_key(seed))


def test_seeds_may_be_mapped_over():
    keys = tn.vmap(random.key)(np.arange(-2, 3))
    assert keys.tolist() == [list(_key(seed)) for seed in range(-2, 3)]


def test_split_and_fold_in_follow_their_definition():
    key = random.key(3)
    assert np.asarray(random.split(key, 3)).tolist() == [list(split((3, 0), i)) for i in range(3)]
    assert np.asarray(random.split(key, (2, 2))).shape == (2, 2, 2)
    for data in (0, 5, -1, 2**40, 2**64 - 1):
        assert np.asarray(random.fold_in(key, data)).tolist() == list(fold_in((3, 0), data))
    traced = tn.jit(lambda data: random.fold_in(random.key(3), data))(np.int32(-1))
    assert np.asarray(traced).tolist() == list(fold_in((3, 0), -1))


def test_streams_never_meet():
    """Words of a key, of its parts, of what is folded in: no two keys and no two blocks equal."""
    key = random.key(0)
    parts = np.asarray(random.split(key, 500))
    folded = [np.asarray(random.fold_in(key, i)) for i in range(50)]
    words = np.asarray(random.bits(key, 4000)).reshape(-1, 2)
    found = {tuple(row) for row in np.concatenate([parts, folded, words]).tolist()}
    assert len(found) == 500 + 50 + 2000
    assert len({0, FOLD, FOLD + 1, SPLIT}) == 4


def test_numbers_of_two_keys_are_not_correlated():
    a, b = (np.asarray(random.normal(k, 20_000)) for k in random.split(random.key(1)))
    assert abs(np.mean(a * b)) < 3 / math.sqrt(20_000)
    assert abs(np.mean(a[1:] * a[:-1])) < 3 / math.sqrt(20_000)


def test_keys_are_plain_arrays():
    key = random.key(11)
    assert str(key) == "[11  0]"
    assert np.asarray(pickle.loads(pickle.dumps(key))).tolist() == [11, 0]
    assert np.asarray(random.uniform(np.asarray(key), 3)).tolist() == unit((11, 0), 3)


def test_the_global_state_of_numpy_is_never_touched():
    before = np.random.get_state()
    keys = random.split(random.key(0), 4)
    np.asarray(random.gamma(keys[0], 0.5, 100)), np.asarray(random.permutation(keys[1], 10))
    np.asarray(random.choice(keys[2], 5, 3)), np.asarray(random.normal(keys[3], 5))
    after = np.random.get_state()
    assert before[0] == after[0]
    assert (before[1] == after[1]).all()
    assert before[2:] == after[2:]


@pytest.mark.parametrize(
    "given, hint",
    [
        (7, "tenferro.random.key(7)"),
        (np.random.default_rng(0), "tenferro.random.key(seed)"),
        (np.zeros(2), "tenferro.random.key(seed)"),
        (np.zeros((3, 2), np.uint32), "tenferro.vmap"),
        (None, "tenferro.random.key(seed)"),
    ],
)
def test_what_is_no_key_is_refused(given, hint):
    with pytest.raises(random.NotAKeyError, match="is not a key") as caught:
        random.normal(given, (3,))
    assert caught.value.operation == "random.normal"
    assert caught.value.need == "a key u32[2]"
    assert hint in str(caught.value)


@pytest.mark.parametrize("seed", [1.5, "seed", None, np.zeros(2, int), np.float64(3)])
def test_what_is_no_seed_is_refused(seed):
    with pytest.raises(random.NotAKeyError, match="the seed is not an integer"):
        random.key(seed)


def test_what_cannot_be_folded_in_is_refused():
    with pytest.raises(random.NotAKeyError, match="the data is not an integer"):
        random.fold_in(random.key(0), 1.5)
    with pytest.raises(tn.InvalidParameterError, match="more than 64 bits"):
        random.fold_in(random.key(0), 2**64)
