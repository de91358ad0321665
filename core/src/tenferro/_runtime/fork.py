"""Locks that a forked child can take.

A fork copies every lock in its state, but only the thread that forks: a lock that another thread
held stays locked in the child for ever. So modules renew their locks in the child, and
half-finished work of other threads is forgotten there. The import of a half-imported module would
wait in the child for a thread that does not exist. So the fork waits, for a bounded time, until
other threads have imported what tenferro imports on demand; the child imports the rest anew.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock, get_ident
from typing import Protocol
from weakref import WeakSet

_SECONDS_FOR_IMPORTS = 10.0  # then the fork goes on


class HoldsLocks(Protocol):
    """An object whose locks are renewed in forked children."""

    def renew_after_fork(self) -> None:
        """Make new locks, and forget the work of threads that are not there any more."""


_LIBRARIES = ("tenferro", "numpy", "scipy", "optree", "opt_einsum", "pluggy")  # loaded on demand

_holders: WeakSet[HoldsLocks] = WeakSet()
_importing: dict[int, int] = {}  # threads, with the number of imports inside each other
_imports_lock = RLock()


def renew_in_children(holder: HoldsLocks) -> None:
    """Call ``holder.renew_after_fork()`` in every forked child, while the holder is alive."""
    _holders.add(holder)


def after_fork_in_child(renew: Callable[[], None]) -> None:
    """Call a function in every forked child; do nothing on platforms that cannot fork."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=renew)


@contextmanager
def importing() -> Iterator[None]:
    """Mark the time in which this thread loads plugins; forks of other threads wait for its end."""
    me = get_ident()
    with _imports_lock:
        _importing[me] = _importing.get(me, 0) + 1
    try:
        yield
    finally:
        with _imports_lock:
            _importing[me] -= 1
            if not _importing[me]:
                del _importing[me]


def _wait_for_imports() -> None:
    """Wait until no other thread imports; let none begin to load plugins until the fork is done.

    The lock is taken before the last look: whoever waits for a lock lets other threads run, which
    may begin an import meanwhile.
    """
    me = get_ident()
    end = time.monotonic() + _SECONDS_FOR_IMPORTS
    _imports_lock.acquire()
    while _is_importing_elsewhere(me) and time.monotonic() < end:
        _imports_lock.release()
        time.sleep(0.001)
        _imports_lock.acquire()


def _is_importing_elsewhere(me: int) -> bool:
    """Return True if another thread loads plugins, or a module that tenferro loads on demand.

    Only CPython's importlib knows the latter; an interpreter without its table is not waited for.
    """
    if _importing.keys() - {me}:
        return True
    locks = getattr(importlib._bootstrap, "_module_locks", {})
    for name, reference in [*locks.items()]:
        if name.startswith(_LIBRARIES):
            owner = getattr(reference(), "owner", None)
            if owner is not None and owner != me:
                return True
    return False


def _renew() -> None:
    global _imports_lock
    _imports_lock = RLock()
    me = get_ident()
    for thread in _importing.keys() - {me}:
        del _importing[thread]
    _forget_half_imported(me)
    for holder in [*_holders]:
        holder.renew_after_fork()


def _forget_half_imported(me: int) -> None:
    """Forget modules that other threads of the parent were importing; the child imports them anew.

    The fork waits for imports that it sees; one may begin between its last look and the fork.
    """
    locks = getattr(importlib._bootstrap, "_module_locks", {})
    for name, reference in [*locks.items()]:
        owner = getattr(reference(), "owner", None)
        if name.startswith(_LIBRARIES) and owner is not None and owner != me:
            del locks[name]
            sys.modules.pop(name, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_wait_for_imports,
        after_in_parent=lambda: _imports_lock.release(),
        after_in_child=_renew,
    )
