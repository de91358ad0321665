"""Memory that XLA and NumPy share on the CPU: aligned copies of operands, views of results.

XLA reads an array of NumPy where it is only if that starts at a multiple of ``ALIGNMENT`` bytes,
which large arrays of NumPy do not. Otherwise it copies into memory fresh from the system, whose
pages cost more than the copy. So large operands are copied into aligned memory that is kept for
later calls. What XLA computed is not copied back: an array of NumPy takes over its memory.
Read next: ``_executable.py``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from math import prod
from threading import Lock
from typing import Any

import numpy as np

from tenferro_xla._operands import NumpyArray

#: XLA reads memory in place if its address is a multiple of these bytes.
ALIGNMENT = 64
#: Bytes from which on sharing memory costs less than what XLA and JAX copy otherwise.
MIN_BYTES_TO_SHARE = 128 * 1024
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


class _Bytes:
    """The memory of a jax array as NumPy asks for it; holds the jax array."""

    def __init__(self, operand: Any, size: int) -> None:
        self._operand = operand
        self.__array_interface__ = {
            "version": 3,
            "data": (operand.unsafe_buffer_pointer(), False),
            "shape": (size,),
            "typestr": "|u1",
        }


def taken_over(operand: Any, dtype: np.dtype[Any]) -> NumpyArray:
    """Return a writeable array on the memory of a jax array on one CPU, computed and not shared."""
    size = dtype.itemsize * prod(operand.shape)
    return np.asarray(_Bytes(operand, size)).view(dtype).reshape(operand.shape)
