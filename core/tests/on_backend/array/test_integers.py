"""Arrays of rank 0 where a count, a shape or a shift is one integer."""

import numpy as np
import pytest

import tenferro as tn

LINE = np.arange(6.0)
TABLE = LINE.reshape(2, 3)
CALLS = {
    "reshape": lambda x, n: np.reshape(x, n + 5),
    "roll": lambda x, n: np.roll(x, n),
    "tile": lambda x, n: np.tile(x, n + 1),
    "split": lambda x, n: np.split(x, n + 1)[0],
    "array_split": lambda x, n: np.array_split(x, n + 3)[0],
    "partition": lambda x, n: np.partition(x, n + 1),
    "resize": lambda x, n: np.resize(x, n + 7),
    "broadcast_to": lambda x, n: np.broadcast_to(x[:1], n + 3),
    "pad": lambda x, n: np.pad(x, n),
    "unravel_index": lambda x, n: np.unravel_index(x.astype(int), n + 5)[0],
    "apply_over_axes": lambda x, n: np.apply_over_axes(np.sum, x, n - 1),
}


@pytest.mark.parametrize("kind", [np.array, tn.array], ids=["numpy", "tenferro"])
@pytest.mark.parametrize("name", CALLS)
def test_an_array_of_rank_0_is_one_integer(name, kind):
    """f(x, array(n)) = f(x, n), and NumPy's"""
    expected = CALLS[name](LINE, 1)
    np.testing.assert_array_equal(CALLS[name](tn.array(LINE), kind(1)), expected)


@pytest.mark.parametrize("kind", [np.array, tn.array], ids=["numpy", "tenferro"])
def test_an_array_of_rank_0_is_a_shape(kind):
    assert tn.zeros(kind(3)).shape == tn.full(kind(3), 2.0).shape == (3,)
    assert tn.random.normal(tn.random.key(0), kind(3)).shape == (3,)


def test_a_result_of_a_search_is_a_shift():
    x = tn.array([1.0, 5.0, 2.0])
    np.testing.assert_array_equal(np.roll(x, -np.argmax(x)), [5.0, 2.0, 1.0])


@pytest.mark.parametrize("call", [tn.zeros, lambda n: np.tile(tn.array(TABLE), n)])
def test_a_traced_count_is_refused_as_unknown(call):
    """A size is part of a program"""
    with pytest.raises(tn.ConcretizationError, match="static_argnums"):
        tn.jit(call)(3)
