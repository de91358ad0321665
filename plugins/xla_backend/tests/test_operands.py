"""Values on their way in and out: what is copied, what is refused, what is never aliased."""

import jax
import numpy as np
import pytest

import tenferro as tn
from tenferro.computegraph import OperandError
from tenferro.primitives import Aval, add, sin
from tenferro_xla._backend import XlaBackend
from tenferro_xla.plugin import tenferro_backend_info

F64 = Aval((3,), "float64")


def aligned(size):
    """A NumPy array that jax would use in place."""
    raw = np.zeros(size * 8 + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size * 8].view(np.float64)


def pointer(array):
    return array.unsafe_buffer_pointer()


@pytest.mark.parametrize("dtype", sorted(tenferro_backend_info().dtypes))
@pytest.mark.parametrize("shape", [(), (0,), (2, 3)], ids=str)
def test_round_trip_is_exact_and_keeps_the_dtype(xla, dtype, shape):
    import ml_dtypes

    native = np.dtype(getattr(ml_dtypes, dtype, dtype))
    value = np.arange(int(np.prod(shape))).reshape(shape).astype(native)
    operand = xla.asoperand(value, Aval(shape, dtype))
    assert xla.owns(operand)
    assert xla.aval_of(operand) is Aval(shape, dtype)
    back = xla.to_numpy(operand)
    assert back.dtype == native
    assert back.tobytes() == value.tobytes()


def test_special_bits_survive(xla):
    value = np.array([-0.0, np.nan, np.inf, 5e-324, np.finfo(float).max])
    assert xla.to_numpy(xla.asoperand(value, Aval((5,), "float64"))).tobytes() == value.tobytes()


def test_own_arrays_are_returned_as_they_are(xla):
    operand = xla.asoperand(np.arange(3.0), F64)
    assert xla.asoperand(operand, F64) is operand


def test_host_values_are_copied_on_the_way_in(xla):
    value = aligned(1000)
    operand = xla.asoperand(value, Aval((1000,), "float64"))
    value[:] = 7
    assert not np.asarray(operand).any()


def test_results_are_copied_on_the_way_out_and_writeable(xla):
    operand = xla.asoperand(np.arange(3.0), F64)
    array = xla.to_numpy(operand)
    array[0] = 99
    assert xla.to_numpy(operand)[0] == 0


def test_a_numpy_operand_may_be_changed_after_the_call(programs):
    """XLA reads a large NumPy array in place and in its own time; the call waits for it."""
    size = 1 << 20

    def slow(x):
        y = x
        for _ in range(20):
            y = sin(y)
        return add(add(y, -y), x)

    executable = programs.compile(slow, Aval((size,), "float64"))
    for value in (aligned(size), np.zeros(size)):
        value[:] = 1
        (result,) = executable(value)
        value[:] = 7
        np.testing.assert_array_equal(np.asarray(result), 1)


@pytest.mark.parametrize("size", [3, 5000])
def test_results_alias_neither_operands_nor_each_other(programs, xla, size):
    executable = programs.compile(lambda x: [x, sin(x), sin(x), x], Aval((size,), "float64"))
    own = xla.asoperand(np.ones(size), Aval((size,), "float64"))
    results = executable(own)
    places = [pointer(array) for array in (own, *results)]
    assert len(set(places)) == 5
    host = aligned(size)
    assert host.ctypes.data not in [pointer(array) for array in executable(host)]


@pytest.mark.parametrize(
    "value, dtype",
    [
        (2, "float64"),
        (True, "int32"),
        (1.5, "complex64"),
        (np.float32(0.1), "float64"),
        (np.int64(3), "int32"),
        (255, "uint8"),
    ],
)
def test_scalars_take_the_dtype_of_the_aval(xla, programs, value, dtype):
    aval = Aval((), dtype)
    want = np.array(value, dtype)
    assert xla.to_numpy(xla.asoperand(value, aval)) == want
    (result,) = programs.compile(lambda x: add(x, x), aval)(value)
    assert result.dtype == dtype


@pytest.mark.parametrize(
    "value, aval",
    [
        (1.5, Aval((), "int64")),
        (1j, Aval((), "float64")),
        (300, Aval((), "uint8")),
        (-1, Aval((), "uint8")),
        (np.zeros(3, "float32"), F64),
        (np.zeros(3, "int64"), F64),
        (np.zeros(4), F64),
        (np.zeros((3, 1)), F64),
        (2.0, F64),
    ],
)
def test_what_does_not_fit_is_refused_with_the_input_named(xla, programs, value, aval):
    with pytest.raises(OperandError) as caught:
        xla.asoperand(value, aval)
    assert caught.value.need == str(aval)
    with pytest.raises(OperandError) as caught:
        programs.compile(lambda x: add(x, x), aval)(value)
    assert (caught.value.input, caught.value.need) == ("x0", str(aval))


def test_jax_arrays_that_do_not_fit_are_refused(xla, programs):
    narrow = jax.numpy.zeros(3, "float32")
    executable = programs.compile(add, F64, F64)
    with pytest.raises(OperandError) as caught:
        executable(np.zeros(3), narrow)
    assert (caught.value.input, caught.value.got) == ("x1", "float32[3]")
    with pytest.raises(OperandError):
        xla.asoperand(narrow, F64)


def test_surplus_and_missing_operands_name_the_input(programs):
    executable = programs.compile(add, F64, F64)
    with pytest.raises(OperandError) as caught:
        executable(np.zeros(3))
    assert caught.value.input == "x1"
    with pytest.raises(OperandError):
        executable(*[np.zeros(3)] * 3)


def test_foreign_byte_order_and_strides(programs):
    executable = programs.compile(add, Aval((2, 3), "float64"), Aval((2, 3), "float64"))
    want = np.arange(6.0).reshape(2, 3)
    swapped = want.astype(">f8")
    strided = np.repeat(want, 2, axis=1)[:, ::2]
    fortran = np.asfortranarray(want)
    for other in (swapped, strided, fortran, want.tolist()):
        np.testing.assert_array_equal(np.asarray(executable(want, other)[0]), 2 * want)


def test_what_jax_is_tracing_is_nobodys_and_refused(xla, programs):
    executable = programs.compile(add, F64, F64)
    owned = []

    @jax.jit
    def traced(x):
        owned.append(xla.owns(x))
        return executable(x, x)[0]

    with jax.enable_x64(True), pytest.raises(OperandError, match="jax is tracing it"):
        traced(np.zeros(3))
    assert owned == [False]


def test_synchronize_and_memory_stats(xla):
    xla.asoperand(np.zeros(3), F64)
    xla.synchronize()
    assert set(xla.memory_stats()) <= {"in_use", "peak", "limit"}


@pytest.mark.parametrize("number", [np.float64(2.0), np.array(2.0), 2.0])
def test_a_number_is_read_by_the_program_itself(number, monkeypatch):
    """No copy to the device is made for it on the way"""
    twice = tn.jit(lambda x: x + x, backend="xla")
    twice(number)

    def refused(*_):
        raise AssertionError("a number is moved")

    monkeypatch.setattr(XlaBackend, "asoperand", refused)
    assert float(twice(number)) == 4.0
