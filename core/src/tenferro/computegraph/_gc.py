"""Pause the cyclic garbage collector during whole-graph passes.

Graphs are made of many small objects and no cycles, so the collector only walks them again and
again: measured, it triples the time of a pass. It is restored whatever happens.

A large pass leaves its objects in the young generation, which the next collection would walk all at
once: measured, two seconds after a pass of a million operations. They are put among the old ones
instead, unwalked, and so that garbage among these is found too, all are walked at times.
"""

from __future__ import annotations

import gc
from threading import RLock
from types import TracebackType

_LARGE = 100_000  # young objects
_PROMOTIONS = 16  # from one walk over all objects to the next
_promoted = 0
_lock = RLock()  # a finalizer may run, and enter again, the moment the collector is back
_depth = 0
_was_enabled = False


class CollectorPaused:
    """A context in which the collector rests; nests, and may be entered from several threads."""

    __slots__ = ()

    def __enter__(self) -> None:
        global _depth, _was_enabled
        with _lock:
            if _depth == 0:
                _was_enabled = gc.isenabled()
                gc.disable()
            _depth += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        global _depth
        with _lock:
            _depth -= 1
            if _depth == 0 and _was_enabled:
                if gc.get_count()[0] > _LARGE:
                    _promote()
                gc.enable()


def _promote() -> None:
    """Make all objects old; unless the program keeps frozen ones, which would thaw."""
    global _promoted
    if gc.get_freeze_count():
        return
    _promoted += 1
    if _promoted % _PROMOTIONS:
        gc.freeze()
        gc.unfreeze()
    else:
        gc.collect()
