"""Avals: equality is identity, and they print as house style has it."""

import copy
import gc
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

from tenferro.primitives import Aval, InvalidParameterError, _aval, float32, float64


def test_equal_avals_are_one_object():
    assert Aval((2, 3), float64) is Aval([2, 3], "float64")
    assert Aval((2, 3), float64) is not Aval((2, 3), float32)
    assert Aval((), float64) is not Aval((1,), float64)


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))]
)
def test_copies_are_the_same_object(again):
    aval = Aval((2, 3), float64)
    assert again(aval) is aval


@pytest.mark.parametrize(
    "shape, dtype, text",
    [((3, 4), "float64", "f64[3,4]"), ((), "complex128", "c128[]"), ((0,), "bool", "bool[0]")],
)
def test_prints(shape, dtype, text):
    """Avals print as f64[3,4]"""
    assert repr(Aval(shape, dtype)) == str(Aval(shape, dtype)) == text


def test_facts():
    """Rank, size, and avals with another shape or dtype"""
    aval = Aval((2, 0, 3), float64)
    assert (aval.ndim, aval.size, Aval((), float64).size) == (3, 0, 1)
    assert aval.with_shape([4]) is Aval((4,), float64)
    assert aval.with_dtype("f32") is Aval((2, 0, 3), float32)
    assert aval.without((0, 2)) is Aval((0,), float64)


def test_is_immutable():
    """An attribute of an aval cannot be set"""
    with pytest.raises(AttributeError):
        Aval((2,), float64).shape = (3,)


def test_unused_avals_are_forgotten():
    before = len(_aval._table)
    for n in range(1000):
        Aval((n, 12345), float64)
    gc.collect()
    assert len(_aval._table) <= before + 1


def test_threads_get_the_same_object():
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda n: Aval((n // 8, 54321), float64), range(800)))
    assert all(found[n] is found[n // 8 * 8] for n in range(800))


@pytest.mark.parametrize(
    "shape",
    [
        *[(2.9,), (2.0,), (-1,), ("3",), "34", (None,), (1j,), (float("nan"),), 5, None],
        *[(1,) * 65, (2**63,), (0, 2**63), (2**32, 2**32)],
    ],
    ids=lambda shape: repr(shape)[:20],
)
def test_a_shape_that_no_array_has_is_refused(shape):
    kept = Aval((2,), "float64"), Aval((1,), "float64")  # a look-up of 2.0 would find 2
    with pytest.raises(InvalidParameterError) as caught:
        Aval(shape, "float64")
    assert caught.value.parameter == "shape"
    assert len(kept) == 2


def test_whatever_is_an_integer_is_a_size():
    class Two:
        def __index__(self):
            return 2

    assert Aval([Two(), True], "float64") is Aval((2, 1), "float64")
