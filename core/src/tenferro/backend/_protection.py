"""Write protection of NumPy arrays while a function is recorded.

An array is protected by clearing its flag ``writeable``. Several threads, and transforms inside
each other, may protect one array, so a registry counts them and the last one sets the flag again.
The flag belongs to one array object: writes through its base, or through another view of the same
memory, still succeed. Read next: ``_snapshots.py``.
"""

from __future__ import annotations

import os
from threading import RLock, get_ident
from typing import Any

from tenferro._runtime.records import NamedTuple


class _Entry(NamedTuple):
    array: Any  # held, so that its id stays its own
    threads: list[int]  # one item per use


_lock = RLock()
_protected: dict[int, _Entry] = {}


def is_protected(x: Any) -> bool:
    """Return whether the flag of this array was cleared here, so that it will be set again."""
    return id(x) in _protected


def protect(x: Any) -> bool:
    """Refuse writes through a NumPy array until `release`; say whether that was possible.

    It is not for an array that is read-only already, nor where NumPy would not let us set the flag
    again: memory of another library, or an array made by ``as_strided``.
    """
    with _lock:
        entry = _protected.get(id(x))
        if entry is None:
            if not x.flags.writeable or not _can_be_set_again(x):
                return False
            entry = _protected[id(x)] = _Entry(x, [])
            x.flags.writeable = False
        entry.threads.append(get_ident())
        return True


def release(x: Any) -> None:
    """End one use of `protect`; the last one makes the array writeable again."""
    with _lock:
        entry = _protected[id(x)]
        entry.threads.remove(get_ident())
        if not entry.threads:
            del _protected[id(x)]
            _set_writeable(x)


def _bases(x: Any) -> list[Any]:
    """Return the NumPy arrays below a view, from the owner of the memory up; then its own base."""
    found: list[Any] = []
    base = x.base
    while hasattr(getattr(base, "flags", None), "owndata"):
        found.append(base)
        base = base.base
    return found[::-1]


def _can_be_set_again(x: Any) -> bool:
    owner = x if x.base is None else (*_bases(x), x)[0]
    if owner.flags.owndata:
        return True
    try:
        return not memoryview(owner.base).readonly
    except TypeError:
        return False


def _set_writeable(x: Any) -> None:
    """Set the flag, also while a base is read-only: NumPy refuses that, so bases go first."""
    if x.base is None:
        x.flags.writeable = True
        return
    closed = [base for base in _bases(x) if not base.flags.writeable]
    try:
        for base in closed:
            base.flags.writeable = True
        x.flags.writeable = True
    finally:
        for base in reversed(closed):
            base.flags.writeable = False


def _forget_other_threads() -> None:
    """End, in a forked child, the uses by threads that exist in the parent alone."""
    mine = get_ident()
    for name, entry in list(_protected.items()):
        entry.threads[:] = [thread for thread in entry.threads if thread == mine]
        if not entry.threads:
            del _protected[name]
            _set_writeable(entry.array)
    _lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_lock.acquire,
        after_in_parent=_lock.release,
        after_in_child=_forget_other_threads,
    )
