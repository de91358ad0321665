"""Large arrays between NumPy and XLA: where they are copied, and that nothing shares memory."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tenferro as tn
from tenferro_xla._host_memory import (
    ALIGNMENT,
    MIN_BYTES_TO_SHARE,
    MIN_BYTES_TO_TAKE_OVER,
    AlignedCopies,
    address_of,
    is_readable_in_place,
)
from tenferro_xla._host_memory import COPIES as SHARED

SIZE = MIN_BYTES_TO_SHARE // 8
TABLE = np.arange(float(SIZE))


def at(offset, value):
    """A copy of an array that starts so many bytes behind an aligned address."""
    raw = np.empty(value.nbytes + 2 * ALIGNMENT, np.uint8)
    start = -address_of(raw) % ALIGNMENT + offset
    found = raw[start : start + value.nbytes].view(value.dtype).reshape(value.shape)
    found[...] = value
    return found


OFFSETS = {"in place": 0, "copied": 16}


@pytest.fixture(scope="module")
def several():
    """Results that XLA could make without computing anything: operands, constants, equal ones."""

    def function(x):
        return x, x, np.reshape(x, (2, -1)), np.sin(x), np.sin(x), TABLE, np.zeros(SIZE) + 2

    return tn.jit(function, backend="xla")


@pytest.mark.parametrize("offset", OFFSETS.values(), ids=OFFSETS)
def test_results_can_be_written_to_and_share_no_memory(several, offset):
    value = np.linspace(-1, 1, SIZE)
    x = at(offset, value)
    assert is_readable_in_place(x) is (offset == 0)
    first = several(x)
    want = [y.copy() for y in first]
    arrays = [x, *first]
    for i, array in enumerate(arrays):
        assert array.flags.writeable
        assert not any(np.shares_memory(array, other) for other in arrays[:i])
    for y in first:
        y[...] = 99
    np.testing.assert_array_equal(x, value)
    for y, w in zip(several(x), want, strict=True):
        np.testing.assert_array_equal(y, w)


SIZES = {"copied": MIN_BYTES_TO_TAKE_OVER // 8 - 1, "taken over": MIN_BYTES_TO_TAKE_OVER // 8}


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_small_results_share_no_memory(size):
    """Operands, equal results and constants are different arrays, which outlive the program."""
    table = np.arange(float(size))
    f = tn.jit(lambda x: (x, x, x + 1, x + 1, table, x[:1], x[:0]), backend="xla")
    x = table[::-1].copy()
    first, second = f(x), f(x)
    arrays = [x, *first, *second]
    for i, array in enumerate(arrays):
        assert array.flags.writeable
        assert not any(np.shares_memory(array, other) for other in arrays[:i])
    for y in first:
        y[...] = 99
    del f, first
    want = x, x, x + 1, x + 1, np.arange(float(size)), x[:1], x[:0]
    for y, w in zip(second, want, strict=True):
        np.testing.assert_array_equal(y, w)


def test_results_keep_their_values_while_the_program_runs_again(several):
    inputs = [at(16, np.full(SIZE, float(i))) for i in range(3)]
    results = [several(x) for x in inputs]
    for i, (x, *_, sine, _, table, _) in enumerate(results):
        np.testing.assert_array_equal(x, i)
        np.testing.assert_allclose(sine, np.sin(i), rtol=1e-15)
        np.testing.assert_array_equal(table, np.arange(SIZE))


def test_threads_share_a_program_but_no_copies(several):
    inputs = [at(16, np.full(SIZE, float(i))) for i in range(8)]
    with ThreadPoolExecutor(4) as pool:
        for i, (x, *_) in enumerate(pool.map(several, inputs * 4)):
            np.testing.assert_array_equal(x, i % 8)


STRIDED = {
    "every second": lambda x: np.repeat(x, 2)[::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
}


@pytest.mark.parametrize("form", STRIDED.values(), ids=STRIDED)
def test_operands_of_other_layouts(several, form):
    value = np.linspace(-1, 1, SIZE)
    np.testing.assert_array_equal(several(form(value))[0], value)


def test_matrices_in_fortran_order():
    x = np.asfortranarray(np.arange(2.0 * SIZE).reshape(2, SIZE))
    np.testing.assert_array_equal(tn.jit(lambda x: x + 0.5, backend="xla")(x), x + 0.5)


@pytest.mark.parametrize("dtype", ["float32", "complex128", "bfloat16", "bool"])
def test_dtypes(dtype):
    """Results in host memory are writable and of their dtype"""
    import ml_dtypes

    native = np.dtype(getattr(ml_dtypes, dtype, dtype))
    x = at(16, (np.arange(MIN_BYTES_TO_SHARE) % 2).astype(native))
    y = tn.jit(lambda x: np.reshape(x, (2, -1)), backend="xla")(x)
    assert (y.dtype, y.flags.writeable) == (native, True)
    np.testing.assert_array_equal(y.ravel(), x)


def test_gradients_without_jit_and_special_values():
    x = at(16, np.linspace(-1, 1, SIZE))
    x[:3] = -0.0, np.nan, np.inf
    want = 2 * x
    with tn.use("xla"):
        gradient = tn.grad(lambda x: np.sum(x * x))(x)
    assert gradient.tobytes() == want.tobytes()
    assert gradient.flags.writeable


def test_a_callback_may_keep_what_it_got_and_may_raise():
    kept = []

    def keep(x):
        kept.append(x)
        if x[0] < 0:
            raise KeyError("negative")

    f = tn.jit(lambda x: tn.debug.callback(keep, x) or x + 1, backend="xla")
    for number in (1.0, 2.0):
        np.testing.assert_array_equal(f(at(16, np.full(SIZE, number))), number + 1)
    with pytest.raises(KeyError):
        f(at(16, np.full(SIZE, -1.0)))
    np.testing.assert_array_equal(f(at(16, np.full(SIZE, 3.0))), 4)
    assert [float(x[-1]) for x in kept] == [1, 2, -1, 3]


def test_copies_are_aligned_used_again_and_bounded():
    copies = AlignedCopies(max_bytes=3 * 8 * SIZE)
    kinds = [np.ones(SIZE), np.ones((2, SIZE // 2)), np.ones(2 * SIZE, "float32")]
    made = [copies.copy(at(16, x)) for x in (*kinds, kinds[0])]
    assert all(map(is_readable_in_place, made))
    assert len(set(map(address_of, made))) == 4
    copies.give_back(made[:3])
    assert copies.copy(np.zeros(SIZE)) is made[0]
    copies.give_back([made[0], made[3]])  # the matrix was used least recently
    assert copies.copy(kinds[1]) is not made[1]
    assert copies.copy(kinds[2]) is made[2]


def test_small_operands_and_jax_arrays_are_not_copied(several, monkeypatch):
    import jax

    monkeypatch.setattr(SHARED, "copy", lambda array: pytest.fail("it is copied"))
    with jax.enable_x64(True):
        several(jax.numpy.ones(SIZE))
    several(at(0, np.ones(SIZE)))
    tn.jit(lambda x: x + 1, backend="xla")(at(16, np.ones(3)))
