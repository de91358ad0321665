"""Python integers beside integer arrays: right, or refused as NumPy does; they never wrap."""

import operator

import numpy as np
import pytest

import tenferro as tn

DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
NUMBERS = [0, 1, -1, 127, 128, -128, -129, 255, 256, 2**31, 2**32, -(2**63), 2**63, 2**64, -(2**70)]
COMPARISONS = "eq ne lt le gt ge".split()
UFUNCS = dict(
    zip(
        COMPARISONS,
        "equal not_equal less less_equal greater greater_equal".split(),
        strict=True,
    )
)


def extremes(dtype):
    """The ends of a dtype, and small numbers."""
    if dtype == "bool":
        return np.array([False, True])
    info = np.iinfo(dtype)
    return np.array([info.min, 0, 1, info.max], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_with_any_integer_are_right(dtype, name):
    """They are those of Python, in both orders, with operators and with NumPy's functions."""
    a, compare, ufunc = extremes(dtype), getattr(operator, name), getattr(np, UFUNCS[name])
    x = tn.asarray(a)
    for n in NUMBERS:
        right = [compare(int(v), n) for v in a]
        reflected = [compare(n, int(v)) for v in a]
        assert compare(x, n).tolist() == right == ufunc(x, n).tolist(), n
        assert compare(n, x).tolist() == reflected == ufunc(n, x).tolist(), n


def test_floats_compare_as_before():
    """Nothing changes where the dtype is no integer."""
    x = tn.asarray(np.array([1e30, 1.0]))
    assert (x > 2**63).tolist() == [True, False]


@pytest.mark.parametrize(
    "value",
    [np.int64(1000), [1000, 2], (1000, 2), [np.int64(1000), 2], 1000, [-129, 0], np.uint8(200)],
)
def test_numbers_that_do_not_fit_cannot_be_assigned(value):
    """Their values are known, so that nothing wraps; as in NumPy."""
    plain = np.array([1, 2, 3], "int8")
    y = tn.asarray(plain.copy())
    for target in (plain, y):
        with pytest.raises(OverflowError):
            target[:2] = value
    assert y.tolist() == [1, 2, 3]


@pytest.mark.parametrize("value", [np.array([1000, 2]), np.array(1000), [np.array(1000), 2]])
def test_arrays_wrap_as_in_numpy(value):
    """The values of a whole array are cast."""
    plain = np.array([1, 2, 3], "int8")
    y = tn.asarray(plain.copy())
    y[:2] = value
    plain[:2] = value
    assert y.tolist() == plain.tolist()


@pytest.mark.parametrize(
    "write",
    [
        lambda y: np.put(y, [0], [300]),
        lambda y: np.putmask(y, y > 0, [300]),
        lambda y: np.place(y, y > 0, [300]),
        lambda y: np.copyto(y, 300),
        lambda y: y.fill(np.int64(300)),
    ],
)
def test_functions_that_write_refuse_too(write):
    """They take numbers by the rule of assignment."""
    for y in (np.array([1, 2, 3], "int8"), tn.asarray(np.array([1, 2, 3], "int8"))):
        with pytest.raises(OverflowError):
            write(y)


@pytest.mark.parametrize(
    "function",
    [
        lambda b: b**2,
        lambda b: b**3,
        lambda b: b**b,
        lambda b: 2**b,
        lambda b: np.power(b, 2),
        np.angle,
        lambda b: np.angle(b, deg=True),
        np.square,
        lambda b: b // b[0],
        lambda b: b << b,
        lambda b: np.reciprocal(b | True),
    ],
)
def test_bools_in_arithmetic_have_the_dtype_of_numpy(function):
    """The square of bools is an int8, their angle a float64."""
    b = np.array([True, False])
    want, found = function(b), function(tn.asarray(b))
    assert found.dtype == want.dtype
    np.testing.assert_array_equal(np.asarray(found), want)


@pytest.mark.parametrize("function", [np.negative, np.positive, np.sign, lambda b: b - b])
def test_what_bools_lack_is_a_type_error(function):
    """As in NumPy."""
    b = np.array([True, False])
    for x in (b, tn.asarray(b)):
        with pytest.raises(TypeError):
            function(x)


@pytest.mark.parametrize(
    "function, need",
    [
        (lambda n, x: x + (n + 100), lambda n: n + 100),
        (lambda n, x: x * 0 + n * n, lambda n: n * n),
        (lambda n, x: x * 0 + (3 - n), lambda n: 3 - n),
    ],
)
def test_a_jitted_function_refuses_what_was_computed_of_a_number(function, need):
    """n is an argument, and f(n) is beside int8: each n is right or refused, in any order."""
    jitted = tn.jit(function)
    zeros = np.zeros(2, "int8")
    for n in (1, 2, 11, 12, 27, 28, 100, -100, -129, 5):
        if -128 <= need(n) < 128:
            assert jitted(n, zeros).tolist() == [need(n)] * 2
        else:
            with pytest.raises(OverflowError):
                jitted(n, zeros)
