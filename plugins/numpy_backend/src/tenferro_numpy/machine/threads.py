"""Threads that share the chunks of a region, and memory for what they write.

Read next: `kernels/region.py`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from math import prod
from threading import Lock, RLock, local
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tenferro.backend.extend import after_fork_in_child
from tenferro_numpy.machine.fp_errors import restore, silence

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

__all__ = [
    "MIN_KEPT_BYTES", "cut", "memory_for", "memory_of_thread", "new_array",
    "shared",
]  # fmt: skip

MIN_KEPT_BYTES = 32 << 20  # from which glibc maps every array anew

_LINE = 64  # bytes of a line of the cache: vectors written across two lines take twice as long
#: Bytes of an array from which that is worth three microseconds: as much as six passes save.
_MIN_BYTES_TO_ALIGN = 1 << 16

_held = local()


def new_array(
    shape: tuple[int, ...], dtype: np.dtype[Any], order: Literal["C", "F"] = "C"
) -> np.ndarray[Any, Any]:
    """Return an uninitialized array; a large one is aligned to a cache line."""
    size = prod(shape) * dtype.itemsize
    if size < _MIN_BYTES_TO_ALIGN:
        return np.empty(shape, dtype, order)
    size += _LINE
    memory = np.empty(size, np.uint8) if size < MIN_KEPT_BYTES else _kept_pages(size)
    start = -memory.__array_interface__["data"][0] % _LINE
    return np.ndarray(shape, dtype, memory, start, order=order)


def _kept_pages(size: int) -> Any:
    """Return memory of so many bytes in pages that are kept; their module loads with the first."""
    return import_module("tenferro_numpy.machine.kept_pages").large_memory(size)


def memory_of_thread() -> Any:
    """Return the memory that this thread has kept; None before its first region."""
    return getattr(_held, "memory", None)


def memory_for(dtypes: Sequence[np.dtype[Any]], elements: int) -> Any:
    """Return memory for scratch arrays, which the thread keeps for its next region."""
    size = sum(_padded(dtype, elements) for dtype in dtypes)
    memory = memory_of_thread()
    if memory is None or memory.nbytes < size:
        memory = _held.memory = new_array((size,), np.dtype(np.uint8))
    return memory


def cut(memory: Any, dtypes: Sequence[np.dtype[Any]], elements: int) -> list[Any]:
    """Cut flat scratch arrays out of this memory."""
    found, start = [], 0
    for dtype in dtypes:
        found.append(memory[start : start + elements * dtype.itemsize].view(dtype))
        start += _padded(dtype, elements)
    return found


def _padded(dtype: np.dtype[Any], elements: int) -> int:
    return -(-elements * dtype.itemsize // _LINE) * _LINE


_pool: list[tuple[int, int, ThreadPoolExecutor]] = []  # of this process: its id, threads, pool
_pool_lock = RLock()


def _renew_lock() -> None:
    global _pool_lock
    _pool_lock = RLock()


after_fork_in_child(_renew_lock)


def _threads(count: int) -> ThreadPoolExecutor:
    """Return the pool of this process; a forked child makes its own, since threads do not fork."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - only large regions need it

    with _pool_lock:
        if not _pool or _pool[0][0] != os.getpid() or _pool[0][1] < count:
            _pool[:] = [(os.getpid(), count, ThreadPoolExecutor(count, "tenferro-numpy"))]
        return _pool[0][2]


def shared(function: Callable[[Any], Any], chunks: Sequence[Any], threads: int) -> list[Any]:
    """`function` of every chunk, in order; the calling thread takes its share, or does all."""
    threads = min(threads, len(chunks))
    if threads < 2:
        return [function(chunk) for chunk in chunks]
    results: list[Any] = [None] * len(chunks)
    waiting = iter(range(len(chunks)))
    taking = Lock()

    def work() -> None:
        token = silence()
        try:
            while True:
                with taking:
                    i = next(waiting, None)
                if i is None:
                    return
                results[i] = function(chunks[i])
        finally:
            restore(token)

    others = [_threads(threads).submit(work) for _ in range(threads - 1)]
    try:
        work()
    finally:
        for other in others:
            other.result()
    return results
