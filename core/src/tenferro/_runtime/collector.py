"""Pause the cyclic garbage collector during whole-graph passes.

Graphs are made of many small objects and no cycles, so the collector only walks them again and
again: measured, it triples the time of a pass. It is restored whatever happens.

A large pass leaves its objects in the young generation, which the next collection would walk all at
once: measured, two seconds after a pass of a million operations. They are put among the old ones
instead, unwalked. So are keys while ever more of them are made, which is what the recording of a
large graph looks like: collections of young objects go on, but the walks over everything, which
take half of the time of recording a million operations, are left to times when they may find much.
"""

from __future__ import annotations

import gc
import sys
from threading import RLock, get_ident
from types import TracebackType
from typing import Any
from weakref import ref

from tenferro._runtime.fork import after_fork_in_child

STRIDE = 4096  # keys that are made from one look at their number to the next
_MIN_OBJECTS_TO_PROMOTE = 30_000  # objects of the young generation that a pass leaves
_WALK = 2_000_000  # promoted objects from one walk to the next, at least
_PER_KEY = 4  # objects that come with a key
_FROZEN_BY_PYTHON = 1000  # CPython 3.12 starts with 375 frozen objects; a program freezes thousands
_OF_KEY = 24  # blocks of memory that a key and what passes make of it take, generously
#: Objects promoted since the last walk, for each allocated block; above it a walk is cheap.
_PROMOTIONS_PER_BLOCK_BEFORE_WALK = 16
_promoted = 0  # since the last walk
_look_at = _WALK
_held = 0  # blocks of memory after the last walk
_modules = 0  # the most modules that were loaded at the end of a pause
_samples: list[ref[Any]] = []  # one of each ``STRIDE`` keys, while it is alive
_lock = RLock()  # a finalizer may run, and enter again, the moment the collector is back
_depths: dict[int, int] = {}  # of the threads that are inside
_was_enabled = False


class CollectorPaused:
    """A context in which the collector rests; nests, and may be entered from several threads."""

    __slots__ = ()

    def __enter__(self) -> None:
        global _was_enabled
        me = get_ident()
        with _lock:
            if not _depths:
                _was_enabled = gc.isenabled()
                gc.disable()
            _depths[me] = _depths.get(me, 0) + 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        global _was_enabled
        me = get_ident()
        with _lock:
            _depths[me] -= 1
            if not _depths[me]:
                del _depths[me]
            if not _depths and _was_enabled:
                young = gc.get_count()[0]
                if young > _MIN_OBJECTS_TO_PROMOTE or _has_loaded():
                    _promote(young)
                gc.enable()
                if not _depths:  # the first thing a finalizer did may have been to enter again
                    _was_enabled = False


def _has_loaded() -> bool:
    """Return True if modules were loaded since the last time that any were.

    Modules live as long as the process: the walk over those of a small program took a fifth of its
    first call (measured). This is True at most once per module, so little garbage becomes old.
    """
    global _modules
    count = len(sys.modules)
    if count <= _modules:
        return False
    _modules = count
    return True


def _renew() -> None:
    """Forget the other threads in a forked child, so that the collector may run again."""
    global _lock, _was_enabled
    _lock = RLock()
    me = get_ident()
    for thread in _depths.keys() - {me}:
        del _depths[thread]
    if not _depths and _was_enabled:
        gc.enable()
        _was_enabled = False


after_fork_in_child(_renew)


def watch_growth(sample: ref[Any]) -> None:
    """Promote what was recorded if keys stay: shown one of every ``STRIDE`` new keys."""
    global _samples
    before = _samples
    _samples = [each for each in before if _is_pending(each)]
    grows = bool(_samples) and _samples[-1] is before[-1]
    _samples.append(sample)
    if grows and gc.isenabled():
        with _lock:
            _promote(_PER_KEY * STRIDE)


def _is_pending(sample: ref[Any]) -> bool:
    """Return True if a key is alive and has a history; an evaluated one has none."""
    key = sample()
    return key is not None and key.definition is not None


def _promote(count: int) -> None:
    """Make all objects old; unless the program keeps frozen ones, which would thaw.

    So that garbage among the old is found too, all are walked when it may be much.
    """
    global _promoted, _look_at, _held
    if gc.get_freeze_count() > _FROZEN_BY_PYTHON:
        return
    _promoted += count
    if _promoted >= _look_at and _walk_is_due():
        gc.collect()
        _promoted, _look_at, _held = 0, _WALK, _blocks()
        return
    gc.freeze()
    gc.unfreeze()


def _blocks() -> int:
    """Return the number of allocated blocks; without CPython's allocator, of objects."""
    return sys.getallocatedblocks() or len(gc.get_objects())


def _walk_is_due() -> bool:
    """Return True if a full collection is due.

    It is due if memory grew more than live keys account for, or if its cost is small relative to
    what was promoted. Keys form no cycles, and a walk over those of a million operations takes over
    1 s.
    """
    global _look_at
    _look_at = _promoted + _WALK
    blocks = _blocks()
    of_keys = _OF_KEY * STRIDE * len(_samples)
    return (
        blocks > 2 * _held + _WALK + of_keys
        or _promoted > _PROMOTIONS_PER_BLOCK_BEFORE_WALK * blocks
    )
