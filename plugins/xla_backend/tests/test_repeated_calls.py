"""The second and every later call of a jitted function does what the first one does.

Later calls leave out what the first one has checked. Read next: `test_donated.py`, `test_fork.py`.
"""

import jax
import numpy as np
import pytest

import tenferro as tn

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
