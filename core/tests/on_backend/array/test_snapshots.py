"""A value that was recorded keeps what it read, whatever is written to the memory it came from."""

import mmap

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided, sliding_window_view

import tenferro as tn

LENGTHS = [5, 2000, 20_000]  # elements: shared by content, copied, borrowed by transforms


def read_only(x):
    view = x.view()
    view.flags.writeable = False
    return view


def wrapped(x):
    class Holder:
        base = x
        __array_interface__ = x.__array_interface__ | {"data": (x.ctypes.data, True)}

    return np.asarray(Holder())


READ_ONLY_VIEWS = {
    "broadcast": lambda x: np.broadcast_to(x, (2, *x.shape)),
    "windows": lambda x: sliding_window_view(x, 4),
    "diagonal": lambda x: np.diagonal(x.reshape(1, 1, -1)),
    "reversed": lambda x: read_only(x[::-1]),
    "strided": lambda x: read_only(x[::2]),
    "as_strided": lambda x: as_strided(x, (3, x.size // 2), (x.itemsize, x.itemsize), False, False),
    "memoryview": lambda x: np.asarray(memoryview(x).toreadonly()),
    "interface": wrapped,
    "view of a view": lambda x: read_only(read_only(x)[1:]),
    "itself": lambda x: x,
}


@pytest.fixture(params=READ_ONLY_VIEWS)
def view(request):
    return READ_ONLY_VIEWS[request.param]


def owned(length):
    return np.arange(1.0, length + 1)


def loss(w, x):
    return np.sum(np.sin(x) * w)


@pytest.mark.parametrize("length", LENGTHS)
def test_a_lazy_value_keeps_what_a_view_showed(view, length):
    """y = w x, x overwritten, then y evaluated: y = w x as it was"""
    memory = owned(length)
    want = 2.0 * view(memory)
    y = tn.asarray(2.0) * view(memory)
    memory[:] = -1.0
    np.testing.assert_array_equal(np.asarray(y), want)


@pytest.mark.parametrize("length", LENGTHS)
def test_a_jitted_function_keeps_what_it_captured(view, length):
    """f(w) before and after the captured memory is overwritten"""
    memory = owned(length)
    captured = view(memory)
    f = tn.jit(lambda w: loss(w, captured))
    want = f(2.0)
    memory[:] = -1.0
    assert f(2.0) == want


@pytest.mark.parametrize("length", LENGTHS)
def test_a_pullback_keeps_the_point_it_was_made_at(view, length):
    """Jᵀ 1 = w cos x at the x of the call"""
    memory = owned(length)
    x = view(memory)
    want = 2.0 * np.cos(x)
    _, pull = tn.vjp(lambda x: loss(2.0, x), x)
    _, pull_w = tn.vjp(lambda w: loss(w, x), 2.0)
    (wanted_w,) = pull_w(1.0)
    memory[:] = -1.0
    np.testing.assert_allclose(pull(1.0)[0], want, atol=1e-15)
    assert pull_w(1.0)[0] == wanted_w


@pytest.mark.parametrize("length", LENGTHS)
def test_what_a_transform_leaves_behind_keeps_its_arguments(view, length):
    """A value recorded inside a transform and evaluated after it reads the argument of the call"""
    memory = owned(length)
    want = 3.0 * view(memory)
    kept = []

    def f(w, x):
        kept.append(tn.asarray(3.0) * x)
        return w * 1.0

    tn.grad(f)(2.0, view(memory))
    memory[:] = -1.0
    np.testing.assert_array_equal(np.asarray(kept[0]), want)


@pytest.mark.parametrize("length", LENGTHS)
def test_a_jitted_function_inside_a_transform_keeps_what_it_captured(length):
    """An outer transform lends its argument; the inner program outlives the loan"""
    memory, w = owned(length), np.array([2.0])
    want = np.sum(memory * w)
    inner = tn.jit(lambda w: np.sum(memory * w))
    tn.grad(lambda w, x: inner(w))(w, memory)
    memory[:] = -1.0
    assert inner(tn.asarray(w)) == want
    assert inner.cache_info().misses == 1


@pytest.mark.parametrize("length", LENGTHS)
def test_donated_memory_is_not_that_of_a_captured_view(length):
    """A program that overwrites its donated argument leaves views of it alone"""
    memory = owned(length)
    view = np.broadcast_to(memory, (2, length))
    want = 2.0 * view
    pending = tn.asarray(2.0) * view
    tn.jit(lambda x: x.at[:].set(0.0), donate_argnums=0)(memory)
    np.testing.assert_array_equal(np.asarray(pending), want)


def test_windows_in_a_loop_are_means_of_their_own_time():
    """mean(window(ring) · 2) with ring = 1, 2, 3"""
    ring, losses = np.zeros(2000), []
    w = tn.asarray(2.0)
    for step in range(3):
        ring[:] = step + 1
        losses.append(np.mean(sliding_window_view(ring, 4) * w))
    assert [float(value) for value in losses] == [2.0, 4.0, 6.0]


def test_a_mapped_file_and_a_buffer_are_copied():
    """Memory that is no array's may be written by others, even where the array is read-only"""
    for buffer in (bytearray(owned(2000).tobytes()), mmap.mmap(-1, 16_000)):
        x = np.frombuffer(buffer)
        x.flags.writeable = False
        y = tn.asarray(x) + 0.0
        want = x.copy()
        buffer[:8] = b"\1" * 8
        np.testing.assert_array_equal(np.asarray(y), want)


def test_immutable_memory_is_not_copied():
    """The operand of asarray(x) is x where nobody can write to x, and to `bytes`"""
    constant = owned(2000)
    constant.flags.writeable = False
    for x in (constant, np.broadcast_to(constant, (2, 2000)), np.frombuffer(bytes(16_000))):
        assert tn.asarray(x).key.operand is x


def test_a_snapshot_is_no_larger_than_the_view_and_what_it_spans():
    """bytes copied = min(bytes of the view, bytes spanned)"""
    x = owned(4000)
    windows = tn.asarray(sliding_window_view(x, 1000)).key.operand
    assert windows.base.nbytes < x.nbytes + 64
    sparse = tn.asarray(x[::2]).key.operand
    assert (sparse if sparse.base is None else sparse.base).nbytes == x.nbytes // 2


def test_views_that_a_transform_borrowed_share_one_copy():
    """Two windows over one ring, kept by one pullback: one block of memory"""
    ring = owned(20_000)
    one, two = sliding_window_view(ring, 3), sliding_window_view(ring, 5)[::2]
    kept = []

    def f(w, x, y):
        kept[:] = [tn.asarray(x), tn.asarray(y)]
        return w * 1.0

    tn.grad(f)(1.0, one, two)
    x, y = (array.key.operand for array in kept)
    assert np.shares_memory(x, y)
    assert not np.shares_memory(x, ring)
    np.testing.assert_array_equal(x, one)
    np.testing.assert_array_equal(y, two)


def test_an_array_of_a_subclass_leaves_as_a_copy():
    class Sub(np.ndarray):
        pass

    memory = owned(2000).view(Sub)
    x = tn.asarray(memory)
    np.asarray(x)[:] = -1.0
    np.testing.assert_array_equal(np.asarray(x), owned(2000))


def test_backends_keep_the_value_of_their_operands():
    """snapshot(x) = x after x was written to, or x refuses to be written to"""
    backend = tn.backend.select_backend()
    aval = tn.Aval((3,), "float64")
    operand = backend.asoperand(np.ones(3), aval)
    kept = backend.snapshot(operand)
    try:
        operand[0] = 5.0
    except TypeError:
        assert kept is operand
    np.testing.assert_array_equal(backend.to_numpy(kept), np.ones(3))


def test_a_captured_array_may_die_while_the_interpreter_ends(monkeypatch):
    """modules have lost their names by then"""
    x = np.ones(10_000)
    total = tn.asarray(1.0) * x
    monkeypatch.setattr("tenferro.arrays.handle.convert._captured", None)
    del x  # an error in the callback of a weak reference would be a warning, hence an error
    monkeypatch.undo()
    assert total.shape == (10_000,)
