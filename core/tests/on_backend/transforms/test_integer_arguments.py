"""Python integers as arguments of transforms: as eagerly, they never wrap beside a small dtype."""

import operator

import numpy as np
import pytest

import tenferro as tn

NUMBERS = [0, 1, 127, 128, 255, 256, 300, -1, -128, -129, 2**31, -(2**63), 2**63, 2**63 + 5]
DTYPES = ["bool", "int8", "uint8", "int32", "int64", "uint64"]
FUNCTIONS = {
    "sum": lambda a, c: a + c,
    "reflected": lambda a, c: c - a,
    "maximum": np.maximum,
    "derived": lambda a, c: a + (c * 2 - 200),
    "negated": lambda a, c: a * -c,
    "twice": lambda a, c: tn.jit(lambda b, d: b + d)(a, c),
    "twice, derived": lambda a, c: tn.jit(lambda b, d: b + d)(a, c // 2),
    "where": lambda a, c: np.where(a > 0, a, c),
}


def outcome(function, *args):
    """The result and its dtype, or that there is none."""
    try:
        found = function(*args)
    except OverflowError:
        return "OverflowError"
    return str(found.dtype), np.asarray(found).tolist()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparisons_under_jit_are_right(dtype, name):
    """One jitted function compares with any integer, in both orders."""
    a = np.array([0, 1]) if dtype == "bool" else np.array([0, 1, np.iinfo(dtype).max], dtype)
    a = a.astype(dtype)
    compare = getattr(operator, name)
    jitted = tn.jit(lambda x, c: (compare(x, c), compare(c, x)))
    for n in NUMBERS + NUMBERS:
        found, reflected = jitted(a, n)
        assert found.tolist() == [compare(int(v), n) for v in a], n
        assert reflected.tolist() == [compare(n, int(v)) for v in a], n


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_arithmetic_under_jit_is_that_without(name, dtype):
    """The same value, dtype and error, whatever number the function was traced with."""
    function = FUNCTIONS[name]
    jitted = tn.jit(function)
    x = tn.asarray(np.array([0, 1], dtype))
    for n in [5, 300, -3, 120, 150, 227, 100, 300, 5]:
        assert outcome(jitted, x, n) == outcome(function, x, n), n


def test_assignment_under_jit_refuses_what_does_not_fit():
    """As eagerly, into an array and into an element."""

    @tn.jit
    def set_first(x, c):
        y = tn.asarray(x).copy()
        y[0] = c
        return y

    x = np.array([1, 2], "uint8")
    assert set_first(x, 200).tolist() == [200, 2]
    for n in (256, -1):
        with pytest.raises(OverflowError):
            set_first(x, n)


def test_a_cast_that_is_asked_for_wraps():
    """As that of an array."""
    assert int(tn.jit(lambda c: tn.asarray(c).astype("int8"))(300)) == 44


def test_large_integers_are_uint64():
    """An integer beyond int64 is what `asarray` makes of it, whatever came before."""
    jitted = tn.jit(lambda c: tn.asarray(c) + np.uint64(1))
    assert int(jitted(2**63)) == 2**63 + 1
    same = tn.jit(lambda c: c)
    for n in (1, 2**63, -1, 2**64 - 1):
        assert int(same(n)) == n
        assert same(n).dtype == tn.asarray(n).dtype


def test_integers_beside_floats_need_no_new_trace():
    """Only a trace that looked at the range of a number depends on it."""
    jitted = tn.jit(lambda x, c: x * c + c**2)
    for n in (1, 200, -5, 70000, 2**40):
        jitted(np.ones(2), n)
    assert jitted.cache_info().misses == 1


def test_traces_are_few():
    """Numbers of one range share a trace, also beside a small dtype."""
    calls = []
    jitted = tn.jit(lambda x, c: calls.append(c) or x + c)
    for n in range(100):
        assert jitted(np.zeros(1, "int8"), n).tolist() == [n]
    assert len(calls) <= 2


def test_arguments_of_a_gradient_and_of_vmap_do_not_wrap():
    """They stay numbers, whose value is known."""
    small = np.array([1, 2], "int8")
    with pytest.raises(OverflowError):
        tn.grad(lambda x, c: np.sum(x * (small + c)))(2.0, 300)
    with pytest.raises(OverflowError):
        tn.grad(tn.jit(lambda x, c: np.sum(x * (small + c))))(2.0, 300)
    with pytest.raises(OverflowError):
        tn.vmap(lambda x, c: x + c, in_axes=(0, None))(small, 300)
    with pytest.raises(OverflowError):
        tn.eval_shape(lambda x, c: x + c, small, 300)
