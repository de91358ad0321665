"""Pages of large arrays, kept for the next one: who gets them, and when they go back."""

import mmap
import os
import tracemalloc

import numpy as np
import pytest

from tenferro_numpy.machine import kept_pages
from tenferro_numpy.machine.kept_pages import PagePool, large_memory
from tenferro_numpy.machine.threads import MIN_KEPT_BYTES, new_array

pytestmark = pytest.mark.skipif(not hasattr(mmap, "MADV_FREE"), reason="no pages are kept")
F64 = np.dtype(np.float64)
MIB = 1 << 20


@pytest.fixture
def pool():
    return PagePool()


def address(x: np.ndarray) -> int:
    return x.__array_interface__["data"][0]


def kept(pool: PagePool) -> list[int]:
    return [len(pages) // MIB for pages in pool.kept]


def test_a_large_array_takes_the_pages_of_one_that_is_gone():
    x = new_array((MIN_KEPT_BYTES // 8,), F64)
    before = address(x)
    del x
    assert address(new_array((MIN_KEPT_BYTES // 16, 2), F64)) == before


def test_arrays_that_libc_keeps_take_no_pages_of_their_own(monkeypatch):
    monkeypatch.delattr("tenferro_numpy.machine.kept_pages.large_memory")
    new_array((MIN_KEPT_BYTES // 8 - 64,), F64)
    with pytest.raises(AttributeError):
        new_array((MIN_KEPT_BYTES // 8,), F64)


def test_pages_belong_to_an_array_while_a_view_of_it_is_alive(pool):
    x = large_memory(MIB, pool)
    x[-1] = 3
    view = x[-1:]
    del x
    y = large_memory(MIB, pool)
    y[:] = 0
    assert not np.shares_memory(view, y)
    assert view[0] == 3


@pytest.mark.parametrize("mib, left", [(6, [8]), (7, []), (8, []), (9, [8])])
def test_pages_serve_a_request_for_little_less(pool, mib, left):
    held = [large_memory(64 * MIB, pool)]  # so that much may be kept
    held.clear()
    pool.kept.clear()
    large_memory(8 * MIB, pool)
    held.append(large_memory(mib * MIB, pool))
    assert kept(pool) == left
    assert len(held[0]) == mib * MIB


def test_the_tightest_pages_are_taken(pool):
    held = [large_memory(n * MIB, pool) for n in (10, 8, 9)]
    while held:
        held.pop(0)
    held.append(large_memory(8 * MIB, pool))
    assert kept(pool) == [10, 9]


def test_little_more_is_kept_than_arrays_have_taken_at_once(pool):
    """At most 16 MiB of arrays, so at most 18 MiB of pages; the smallest go back first."""
    large_memory(16 * MIB, pool)
    large_memory(2 * MIB, pool)
    assert kept(pool) == [16, 2]
    held = [large_memory(4 * MIB, pool)]
    assert kept(pool) == []
    held.clear()
    assert kept(pool) == [4]
    assert pool.used == 0


def test_no_pages_are_kept_where_that_is_asked_for(pool, monkeypatch):
    monkeypatch.setenv("TENFERRO_NUMPY_KEEP_MEMORY", "0")
    kept_pages._are_pages_kept.cache_clear()
    large_memory(MIB, pool)
    kept_pages._are_pages_kept.cache_clear()
    assert kept(pool) == []


def test_tracemalloc_counts_large_arrays(pool):
    large_memory(MIB, pool)
    tracemalloc.start()
    try:
        held = large_memory(MIB, pool)
        assert tracemalloc.get_traced_memory()[0] >= held.nbytes
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_writes_into_pages_of_its_own(pool):
    held = [large_memory(MIB, pool), large_memory(MIB, pool)]
    held.pop()[0] = 5
    held[0][0] = 1
    child = os.fork()
    if not child:
        held[0][0] = 2
        os._exit(len(pool.kept))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert held[0][0] == 1
    assert kept(pool) == [1]
