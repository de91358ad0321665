"""Snapshots: operands, or copies of those whose memory somebody may still write to.

A read-only array may be a view of writeable memory (``np.broadcast_to``, ``np.diagonal``,
``sliding_window_view``), so the whole chain of bases is followed. NumPy itself is not imported: an
array here is an object with NumPy's attributes. Operands of other libraries are the business of
their backends (`Backend.snapshot`), which may use `copied`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from tenferro.backend._protection import is_protected
from tenferro.primitives._handle import Handle

_LONGEST_CHAIN = 64  # bases; a longer chain is taken for writeable
_ALIGNMENT = 16  # bytes, of the memory that NumPy allocates


def is_numpy(x: Any) -> bool:
    """Return whether a value has the flags of a NumPy array.

    A handle is not asked for flags: its answer is an error that reads the user's source file. Nor
    is an array of NumPy's own class, which makes an object for each answer.
    """
    kind = type(x)
    if kind.__name__ == "ndarray" and kind.__module__ == "numpy":
        return True
    return not isinstance(x, Handle) and hasattr(getattr(x, "flags", None), "writeable")


def is_immutable(x: Any) -> bool:
    """Return whether nothing can write to the memory of a NumPy array.

    True only if every array in the chain of bases is read-only, and the last owner is an array that
    owns its memory, or ``bytes``. Whoever made an array read-only after taking a writeable view of
    it promises not to write through that view.
    """
    for _ in range(_LONGEST_CHAIN):
        if type(x) is bytes:
            return True
        base = x.obj if type(x) is memoryview else getattr(x, "base", None)
        if is_numpy(x):
            if x.flags.writeable or is_protected(x):
                return False
            if base is None:
                return bool(x.flags.owndata)
        elif base is None:
            return False
        x = base
    return False


def copied(value: Any) -> Any:
    """Return a copy of a value of any class, by its method ``copy`` or ``clone`` if it has one.

    ``copy.copy`` of a tensor of PyTorch, which has the second only, would share its memory.
    """
    method = getattr(value, "copy", None) or getattr(value, "clone", None)
    return method() if callable(method) else import_module("copy").copy(value)


def snapshot(x: Any) -> Any:
    """Return a NumPy array itself if it is immutable, else a copy with its memory order."""
    if x.flags.writeable and x.base is None:  # most arrays: nothing overlaps in what one owns
        return x.copy("K")
    return x if is_immutable(x) else snapshots([x])[0]


def snapshots(arrays: Sequence[Any]) -> list[Any]:
    """Return a snapshot of each array; memory that several of them share is copied once.

    Where elements of an array overlap, the memory that they span is copied, and the view is rebuilt
    with its strides: a window of 10⁶ × 1,000 elements copies 8 MB, not 8 GB.
    """
    found = list(arrays)
    spanned: list[tuple[int, int, int]] = []  # first byte, last byte + 1, position
    for i, x in enumerate(arrays):
        if is_immutable(x):
            continue
        low, high = _span(x)
        if high - low <= x.nbytes:
            spanned.append((low, high, i))
        else:
            found[i] = _read_only(_numpy().array(x, copy=True, order="K"))
    for start, stop, group in _merged(spanned):
        if len(group) == 1 and stop - start == found[group[0]].nbytes:
            found[group[0]] = _read_only(_numpy().array(found[group[0]], copy=True, order="K"))
            continue
        first = start - start % _ALIGNMENT  # the copy is aligned as the memory is
        memory = _numpy().empty(stop - first, "u1")
        memory[start - first :] = _bytes_at(start, stop - start, found[group[0]])
        memory.flags.writeable = False
        for i in group:
            x = found[i]
            place = _address(x) - first
            found[i] = _numpy().ndarray(x.shape, x.dtype, memory, place, x.strides)
    return found


def _numpy() -> Any:
    return sys.modules["numpy"]  # there is an array, so it was imported


def _read_only(x: Any) -> Any:
    x.flags.writeable = False
    return x


def _address(x: Any) -> int:
    found: int = x.__array_interface__["data"][0]
    return found


def _span(x: Any) -> tuple[int, int]:
    """Return the addresses of the first byte of an array and of the byte after its last one."""
    low = high = _address(x)
    if not x.size:
        return low, low
    for stride, extent in zip(x.strides, x.shape, strict=True):
        if stride < 0:
            low += stride * (extent - 1)
        else:
            high += stride * (extent - 1)
    return low, high + x.itemsize


def _merged(spans: list[tuple[int, int, int]]) -> list[tuple[int, int, list[int]]]:
    """Return the unions of overlapping spans, each with the positions of its members."""
    found: list[tuple[int, int, list[int]]] = []
    for low, high, i in sorted(spans):
        if found and low < found[-1][1]:
            start, stop, group = found[-1]
            found[-1] = start, max(stop, high), [*group, i]
        else:
            found.append((low, high, [i]))
    return found


class _Memory:
    """Some bytes of the process, by NumPy's protocol; ``base`` keeps them alive."""

    def __init__(self, address: int, size: int, base: Any) -> None:
        self.base = base
        self.__array_interface__ = {
            "data": (address, True),
            "shape": (size,),
            "typestr": "|u1",
            "version": 3,
        }


def _bytes_at(address: int, size: int, base: Any) -> Any:
    return _numpy().asarray(_Memory(address, size, base))
