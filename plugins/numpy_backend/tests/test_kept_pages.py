"""Pages of large arrays, kept for the next one: who gets them, and when they go back."""

import mmap
import os
import tracemalloc

import numpy as np
import pytest

from tenferro_numpy.machine import kept_pages
from tenferro_numpy.machine.kept_pages import MIN_KEPT_BYTES, large_memory
from tenferro_numpy.machine.threads import new_array

pytestmark = pytest.mark.skipif(not hasattr(mmap, "MADV_FREE"), reason="no pages are kept")
F64 = np.dtype(np.float64)


@pytest.fixture(autouse=True)
def nothing_kept():
    kept_pages._kept.clear()
    yield
    kept_pages._kept.clear()
    kept_pages._max_kept_bytes.cache_clear()


def address(x: np.ndarray) -> int:
    return x.__array_interface__["data"][0]


def kept_bytes() -> list[int]:
    return [len(pages) for pages in kept_pages._kept]


def test_a_large_array_takes_the_pages_of_one_that_is_gone():
    x = new_array((MIN_KEPT_BYTES // 8,), F64)
    before = address(x)
    del x
    assert address(new_array((MIN_KEPT_BYTES // 16, 2), F64)) == before


def test_pages_belong_to_an_array_while_a_view_of_it_is_alive():
    x = new_array((MIN_KEPT_BYTES // 8,), F64)
    x[-1] = 3.0
    view = x[-1:]
    del x
    y = new_array((MIN_KEPT_BYTES // 8,), F64)
    y[:] = 0.0
    assert not np.shares_memory(view, y)
    assert view[0] == 3.0


def test_arrays_that_libc_keeps_take_no_pages_of_their_own():
    new_array((MIN_KEPT_BYTES // 8 - 64,), F64)
    assert kept_bytes() == []


@pytest.mark.parametrize("times", [0.5, 0.75, 1.5, 2.0])
def test_pages_that_fit_badly_go_back_before_new_ones_are_taken(times):
    size = 2 * MIN_KEPT_BYTES
    large_memory(size)
    assert kept_bytes() == [size]
    held = large_memory(int(times * size))
    assert kept_bytes() == []
    assert len(held) == int(times * size)


def test_the_oldest_pages_go_back_where_more_is_kept_than_the_limit(monkeypatch):
    monkeypatch.setattr(kept_pages, "_max_kept_bytes", lambda: 2 * MIN_KEPT_BYTES)
    held = [large_memory(MIN_KEPT_BYTES + i) for i in range(3)]
    while held:
        held.pop(0)
    assert kept_bytes() == [MIN_KEPT_BYTES + 2]


def test_no_pages_are_kept_where_that_is_asked_for(monkeypatch):
    monkeypatch.setenv("TENFERRO_NUMPY_KEEP_MEMORY", "0")
    kept_pages._max_kept_bytes.cache_clear()
    large_memory(MIN_KEPT_BYTES)
    assert kept_bytes() == []


def test_tracemalloc_counts_large_arrays():
    large_memory(MIN_KEPT_BYTES)
    tracemalloc.start()
    try:
        held = large_memory(MIN_KEPT_BYTES)
        assert tracemalloc.get_traced_memory()[0] >= held.nbytes
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_writes_into_pages_of_its_own():
    held = large_memory(MIN_KEPT_BYTES)
    held[0] = 1
    large_memory(MIN_KEPT_BYTES)
    child = os.fork()
    if not child:
        held[0] = 2
        os._exit(len(kept_pages._kept))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert held[0] == 1
    assert kept_bytes() == [MIN_KEPT_BYTES]
