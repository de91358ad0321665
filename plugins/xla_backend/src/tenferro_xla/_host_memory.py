"""Memory that XLA and NumPy share on the CPU: aligned copies of operands, views of results.

XLA reads an array of NumPy where it is only if that starts at a multiple of ``ALIGNMENT`` bytes,
which large arrays of NumPy do not. Otherwise it copies into memory fresh from the system, whose
pages cost more than the copy. So large operands are copied into aligned memory that is kept for
later calls. What XLA computed is not copied back: an array of NumPy takes over its memory.
Read next: ``_executable.py``.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Hashable, Iterable
from math import prod
from threading import Lock
from typing import Any

import numpy as np

from tenferro_xla._operands import NumpyArray

#: XLA reads memory in place if its address is a multiple of these bytes.
ALIGNMENT = 64
#: Bytes of an operand from which on an aligned copy costs less than that of XLA.
MIN_BYTES_TO_SHARE = 128 * 1024
#: Bytes of a result from which on it is not copied. The jax array that is held costs 2.5 KiB.
MIN_BYTES_TO_TAKE_OVER = 8 * 1024
#: Bytes of unused copies that all programs together keep for later calls.
MAX_BYTES_KEPT = 256 * 1024 * 1024


class AlignedCopies:
    """Pool of aligned arrays; a call that takes one has it alone until it gives it back."""

    def __init__(self, max_bytes: int = MAX_BYTES_KEPT) -> None:
        self.max_bytes = max_bytes
        self._bytes = 0
        self._free: dict[Hashable, list[NumpyArray]] = {}  # the kind used last stands last
        self._lock = Lock()

    def copy(self, array: NumpyArray) -> NumpyArray:
        """Return an aligned copy, in C order."""
        found = self._taken((array.shape, array.dtype))
        if found is None:
            found = aligned_empty(array.shape, array.dtype)
        np.copyto(found, array)
        return found

    def _taken(self, kind: Hashable) -> NumpyArray | None:
        with self._lock:
            free = self._free.get(kind)
            if not free:
                return None
            found = free.pop()
            self._bytes -= found.nbytes
            return found

    def give_back(self, copies: Iterable[NumpyArray]) -> None:
        """Keep copies that no call reads any more; of too many bytes drop the oldest kinds."""
        with self._lock:
            for array in copies:
                kind = array.shape, array.dtype
                free = self._free.pop(kind, [])
                self._free[kind] = [*free, array]
                self._bytes += array.nbytes
            while self._bytes > self.max_bytes:
                oldest = next(iter(self._free))
                self._bytes -= sum([array.nbytes for array in self._free.pop(oldest)])


COPIES = AlignedCopies()


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NumpyArray:
    """Return an array whose memory XLA can read where it is."""
    size = dtype.itemsize * prod(shape)
    raw = np.empty(size + ALIGNMENT, np.uint8)
    start = -address_of(raw) % ALIGNMENT
    return raw[start : start + size].view(dtype).reshape(shape)


def address_of(array: NumpyArray) -> int:
    """Return the address of the first element."""
    found: int = array.__array_interface__["data"][0]
    return found


def is_readable_in_place(array: NumpyArray) -> bool:
    """Return True if XLA need not copy an array."""
    return array.flags.c_contiguous and address_of(array) % ALIGNMENT == 0


def taker(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Callable[[Any], NumpyArray]:
    """Return a function that makes a writeable array on the memory of a jax array.

    The jax array is of this shape and dtype, computed, in the memory of one CPU, and of no other
    use. A ctypes array is the buffer, because NumPy reads one in 1 µs, and
    ``__array_interface__`` in 5 µs.

    The function raises JaxRuntimeError if the array is split or copied over devices.
    """
    length = dtype.itemsize * prod(shape)
    memory: Any = type("XlaMemory", (ctypes.Array,), {"_type_": ctypes.c_char, "_length_": length})
    at_address, array = memory.from_address, np.ndarray

    def take(operand: Any) -> NumpyArray:
        buffer: Any = at_address(operand.unsafe_buffer_pointer())
        buffer.operand = operand  # holds the memory as long as NumPy holds the buffer
        return array(shape, dtype, buffer)

    return take
