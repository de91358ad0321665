"""The second and every later call of a jitted function does what the first one does.

Later calls leave out what the first one has checked. Read next: `test_donated.py`, `test_fork.py`.
"""

import jax
import numpy as np
import pytest

import tenferro as tn
from tenferro.primitives import UnknownDTypeError

CALLS = 3


def device_array(values, dtype):
    with jax.enable_x64(True):
        return jax.numpy.asarray(np.asarray(values, dtype))


ARGUMENTS = {
    "arrays of JAX": lambda: (device_array([1, 2], "float64"), device_array(0.5, "float64")),
    "float32": lambda: (device_array([1, 2], "float32"), device_array(0.5, "float32")),
    "complex": lambda: (device_array([1, 2j], "complex128"), device_array(0.5, "float64")),
    "arrays of NumPy": lambda: (np.array([1.0, 2.0]), np.array(0.5)),
    "numbers of Python": lambda: (np.array([1.0, 2.0]), 0.5),
    "numbers of NumPy": lambda: (np.array([1.0, 2.0]), np.float64(0.5)),
    "integers": lambda: (np.array([1.0, 2.0]), 3),
    "both": lambda: (device_array([1, 2], "float64"), np.array(0.5)),
    "a number beside an array": lambda: (device_array([1, 2], "float64"), 0.5),
    "Arrays": lambda: (tn.asarray(np.array([1.0, 2.0])), tn.asarray(0.5)),
    "empty": lambda: (device_array(np.ones((0, 2)), "float64"), device_array(0.5, "float64")),
}


@pytest.fixture(params=[True, False], ids=["64 bits", "32 bits"])
def wide(request):
    """Set the user's own width of numbers, which has no effect on programs of ours."""
    with jax.enable_x64(request.param):
        yield


@pytest.mark.parametrize("arguments", ARGUMENTS.values(), ids=ARGUMENTS)
def test_later_calls_give_what_the_first_gives(arguments, wide):
    f = tn.jit(lambda x, y: {"product": x * y, "rest": [np.sum(x), y + 1]}, backend="xla")
    rows = [jax.tree.leaves(f(*arguments())) for _ in range(CALLS)]
    for row in rows[1:]:
        for first, later in zip(rows[0], row, strict=True):
            assert type(first) is type(later)
            assert first.dtype == later.dtype
            np.testing.assert_array_equal(np.asarray(first), np.asarray(later))
    x, y = (np.asarray(a) for a in arguments())
    np.testing.assert_array_equal(np.asarray(rows[-1][0]), x * y)


def test_the_width_may_change_between_calls():
    f = tn.jit(lambda x: x * 2, backend="xla")
    for x in (device_array([0.1], "float64"), np.array([0.1])):
        for is_wide in (True, False, False, True):
            with jax.enable_x64(is_wide):
                assert f(x).dtype == np.float64
                np.testing.assert_array_equal(np.asarray(f(x)), [0.2])


def test_numbers_that_a_function_closes_over_are_read_in_every_call():
    scale = device_array([2.0, 3.0], "float64")
    f = tn.jit(lambda x: x * scale, backend="xla")
    for value in (1.0, 2.0, 3.0):
        x = device_array([value, value], "float64")
        np.testing.assert_array_equal(f(x), [2 * value, 3 * value])


def test_large_literals_are_read_in_every_call():
    table = np.arange(100_000.0)
    f = tn.jit(lambda x: x + np.arange(100_000.0), backend="xla")
    for value in (1.0, 2.0, 3.0):
        np.testing.assert_array_equal(f(device_array(value, "float64")), table + value)


def test_a_callback_happens_in_every_call():
    seen = []

    def noted(x):
        seen.append(float(x))
        return x + 1

    f = tn.jit(lambda x: tn.host_callback(noted, x, results=x), backend="xla")
    for value in (1.0, 2.0, 3.0):
        assert float(f(device_array(value, "float64"))) == value + 1
    assert seen[-3:] == [1.0, 2.0, 3.0]


def test_an_array_on_another_device_runs_there_in_every_call():
    f = tn.jit(lambda x: x * 2, backend="xla")
    x = device_array([1.0], "float64")
    other = jax.device_put(x, jax.devices()[1])
    for given in (x, x, other, other, x):
        result = f(given)
        assert result.devices() == given.devices()
        np.testing.assert_array_equal(result, [2.0])


def test_a_program_that_was_released_is_compiled_again():
    f = tn.jit(lambda x: x * 2, backend="xla")
    x = device_array([1.0], "float64")
    f(x), f(x)
    (ready,) = f._kept._ready.values()
    ready._run.release()
    for _ in range(CALLS):
        np.testing.assert_array_equal(f(x), [2.0])
    assert ready._run._native is not None


def test_a_donated_array_is_refused_in_a_later_call():
    f = tn.jit(lambda x: x * 2, backend="xla", donate_argnums=0)
    for _ in range(CALLS):
        f(device_array([1.0, 2.0], "float64"))
    gone = device_array([1.0, 2.0], "float64")
    f(gone)
    with pytest.raises(tn.TenferroError, match="was donated to a program"):
        f(gone)


OTHERS = {
    "shape": lambda: (device_array([1, 2, 3], "float64"), device_array(0.5, "float64")),
    "rank": lambda: (device_array([[1, 2]], "float64"), device_array(0.5, "float64")),
    "dtype": lambda: (device_array([1, 2], "float32"), device_array(0.5, "float32")),
    "class": lambda: (np.array([1.0, 2.0]), np.array(0.5)),
    "number": lambda: (device_array([1, 2], "float64"), 0.5),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_calls_that_look_otherwise_have_a_program_of_their_own(other, wide):
    f = tn.jit(lambda x, y: x * y, backend="xla")
    own = ARGUMENTS["arrays of JAX"]
    for arguments in (own, own, own, other, own, other, other, own):
        result = f(*arguments())
        x, y = (np.asarray(a) for a in arguments())
        assert result.dtype == x.dtype
        np.testing.assert_array_equal(np.asarray(result), x * y)
    info = f.cache_info()
    assert info.misses <= 2
    assert info.hits == 8 - info.misses


def test_arrays_of_numpy_in_another_dtype_have_a_program_of_their_own(wide):
    f = tn.jit(lambda x: x / 3, backend="xla")
    for dtype in ("float64", "float64", "float64", "float32", "complex128", "float64"):
        x = np.array([1.0, 2.0], dtype)
        result = np.asarray(f(x))
        assert result.dtype == x.dtype
        np.testing.assert_array_equal(result, x / x.dtype.type(3))


LIKE_ARRAYS_OF_NUMPY = {
    "shape": lambda: (np.array([1.0, 2.0, 3.0]), np.array(0.5)),
    "rank": lambda: (np.array([[1.0, 2.0]]), np.array(0.5)),
    "dtype": lambda: (np.array([1, 2], "float32"), np.array(0.5, "float32")),
    "dtype of one": lambda: (np.array([1.0, 2.0]), np.array(0.5, "float32")),
    "integers": lambda: (np.array([1, 2]), np.array(2)),
    "object of a dtype": lambda: (np.array([1.0, 2.0], np.dtype("f8", metadata={"a": 1})),) * 2,
}


@pytest.mark.parametrize("other", LIKE_ARRAYS_OF_NUMPY.values(), ids=LIKE_ARRAYS_OF_NUMPY)
@pytest.mark.parametrize("large", [1, 100_000])  # which are copied, see `_host_memory.py`
def test_other_arrays_of_numpy_give_what_numpy_gives(other, large, wide):
    def of(make):
        return [np.tile(x, large) if x.ndim else x for x in make()]

    f = tn.jit(lambda x, y: x * y, backend="xla")
    own = ARGUMENTS["arrays of NumPy"]
    for make in (own, own, own, other, own, other, other, own):
        x, y = of(make)
        result = f(x, y)
        assert result.dtype == (x * y).dtype
        np.testing.assert_array_equal(result, x * y)
    info = f.cache_info()
    assert (info.misses, info.hits) in [(1, 7), (2, 6)]


def test_an_array_in_the_order_of_another_machine_is_refused_in_a_later_call():
    f = tn.jit(lambda x: x / 3, backend="xla")
    for _ in range(CALLS):
        f(np.array([1.0, 2.0]))
    with pytest.raises(UnknownDTypeError, match="order of another machine"):
        f(np.array([1.0, 2.0], np.dtype("f8").newbyteorder()))


def test_a_later_call_looks_for_numbers_that_are_not_finite():
    f = tn.jit(lambda x: np.log(x), backend="xla")
    x = device_array([-1.0], "float64")
    for _ in range(CALLS):
        f(x)
    with pytest.raises(tn.NonFiniteError), tn.debug_nans():
        f(x)


def test_an_error_of_a_callback_is_not_taken_for_other_operands():
    calls = []

    def refuses(x):
        calls.append(x)
        if len(calls) > CALLS:
            raise tn.computegraph.OperandError("of the user")
        return x

    f = tn.jit(lambda x: tn.host_callback(refuses, x, results=x), backend="xla")
    x = device_array([1.0], "float64")
    for _ in range(CALLS):
        f(x)
    before = len(calls)
    calls += [None] * CALLS
    with pytest.raises(tn.computegraph.OperandError, match="of the user"):
        f(x)
    assert len(calls) == before + CALLS + 1
