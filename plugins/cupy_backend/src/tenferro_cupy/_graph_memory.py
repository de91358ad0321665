"""Memory that only the graphs of one program use.

A graph writes to the addresses that its capture saw, also to those of values that were freed in it.
So nothing of it may go back to the device while it can be launched. CuPy's pool gives free blocks
back when the device has no memory left, and tries again; the blocks of this pool are never given
back in a capture, because its allocator raises an error at which the pool does not try again.
Read next: `_graph.py`.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

__all__ = ["GraphMemory"]


class GraphMemory:
    """A pool of CuPy for captures; it lives as long as the graphs."""

    def __init__(self, cupy: Any) -> None:
        self.cupy = cupy
        self._blocks = _Blocks(cupy)
        self._pool = cupy.cuda.MemoryPool(self._blocks)
        self._pool.set_limit(size=0)  # at a limit the pool frees blocks, too; `_Blocks` checks it

    def in_use(self) -> AbstractContextManager[Any]:
        """Return a context in which this thread's new arrays lie in this memory."""
        context: AbstractContextManager[Any] = self.cupy.cuda.using_allocator(self._pool.malloc)
        return context

    def free(self) -> None:
        """Give all free blocks back to the device, and those of CuPy's own pool.

        Nothing may be in capture, and no graph that uses the memory may be launched again.
        """
        self._pool.free_all_blocks()
        self.cupy.get_default_memory_pool().free_all_blocks()
        self._blocks.total = self._pool.total_bytes()


class _Blocks:
    """Allocates blocks of the device for a pool; the limit of CuPy's own pool holds for both.

    total   bytes of the blocks
    """

    def __init__(self, cupy: Any) -> None:
        self.cupy = cupy
        self.total = 0

    def __call__(self, size: int) -> Any:
        """Return the pointer to a new block, or raise CuPy's OutOfMemoryError."""
        cuda, default = self.cupy.cuda, self.cupy.get_default_memory_pool()
        limit, used = default.get_limit(), default.total_bytes() + self.total
        if limit and used + size > limit:
            raise cuda.memory.OutOfMemoryError(size, used, limit)
        try:
            block = cuda.Memory(size)
        except cuda.runtime.CUDARuntimeError as error:
            if error.status != cuda.runtime.errorMemoryAllocation:
                raise
            raise cuda.memory.OutOfMemoryError(size, used) from None
        self.total += size
        return cuda.MemoryPointer(block, 0)
