"""A bounded, thread-safe cache with one compile per key under concurrent misses.

Entries leave in the order of their last use when there are too many of them or when they are
estimated to be too large together. Holds programs and metadata, never operands.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Condition, RLock, get_ident
from typing import Any, TypeVar

from tenferro._runtime.fork import renew_in_children
from tenferro._runtime.records import NamedTuple

T = TypeVar("T")


class CacheStats(NamedTuple):
    """Counters of a cache since it was made or cleared."""

    hits: int
    misses: int
    evictions: int
    entries: int
    size_bytes: int


class CacheLimits(NamedTuple):
    """Bounds of a cache."""

    max_entries: int
    max_bytes: int


class _Entry(NamedTuple):
    value: Any
    size: int


_waiting_for: dict[int, int] = {}  # threads that wait, over all caches, and the makers


class ProgramCache:
    """Find a finished program by key, or make it once.

    >>> from tenferro.computegraph import ProgramCache
    >>> cache = ProgramCache(max_entries=2)
    >>> cache.get_or_make("a", lambda: 1), cache.get_or_make("a", lambda: 2)
    (1, 1)
    >>> cache.stats.hits, cache.stats.misses
    (1, 1)
    """

    def __init__(self, max_entries: int = 1024, max_bytes: int = 256 * 2**20) -> None:
        self._limits = CacheLimits(max_entries, max_bytes)
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._making: dict[Hashable, int] = {}  # the thread that makes each
        self._lock = RLock()
        self._changed = Condition(self._lock)
        renew_in_children(self)
        self._hits = self._misses = self._evictions = self._bytes = 0

    @property
    def limits(self) -> CacheLimits:
        """The bounds; assign a new ``CacheLimits`` to change them."""
        return self._limits

    @limits.setter
    def limits(self, limits: CacheLimits) -> None:
        with self._changed:
            self._limits = limits
            self._evict()

    @property
    def stats(self) -> CacheStats:
        """The counters now."""
        with self._changed:
            return CacheStats(
                self._hits, self._misses, self._evictions, len(self._entries), self._bytes
            )

    def get(self, key: Hashable) -> Any:
        """Return the entry, or ``None``; this counts as a use of it."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            self._hits += 1
            return entry.value

    def get_or_make(
        self, key: Hashable, make: Callable[[], T], size: Callable[[T], int] | None = None
    ) -> T:
        """Return the entry, made by ``make()`` if it is missing; other threads wait for its maker.

        A thread that cannot wait calls ``make()`` itself: a signal handler or a finalizer may ask
        for the entry that the code below it is making.
        """
        me = get_ident()
        with self._lock:
            while True:
                entry = self._entries.get(key)
                if entry is not None:
                    self._entries.move_to_end(key)
                    self._hits += 1
                    found: T = entry.value
                    return found
                maker = self._making.get(key)
                if maker is None or not self._waited_for(maker, me):
                    break
            self._making[key] = me
            self._misses += 1
        try:
            value = make()
            self._store(key, value, 0 if size is None else size(value))
            return value
        finally:
            with self._changed:
                self._making.pop(key, None)
                self._changed.notify_all()

    def _waited_for(self, maker: int, me: int) -> bool:
        """Wait for a change; return False, at once, if the maker waits for this thread."""
        _waiting_for[me] = maker
        try:
            waiting: int | None = maker
            while waiting is not None:
                if waiting == me:
                    return False
                waiting = _waiting_for.get(waiting)
            self._changed.wait()
            return True
        finally:
            del _waiting_for[me]

    def renew_after_fork(self) -> None:
        """Make new locks; forget what other threads were making."""
        self._lock = RLock()
        self._changed = Condition(self._lock)
        me = get_ident()
        _waiting_for.clear()
        for key in [key for key, maker in self._making.items() if maker != me]:
            del self._making[key]

    def values(self) -> list[Any]:
        """Return the entries, the least recently used first."""
        with self._lock:
            return [entry.value for entry in self._entries.values()]

    def clear(self) -> None:
        """Forget everything, counters too."""
        with self._changed:
            self._entries.clear()
            self._hits = self._misses = self._evictions = self._bytes = 0

    def __len__(self) -> int:
        return len(self._entries)

    def _store(self, key: Hashable, value: Any, size: int) -> None:
        with self._changed:
            before = self._entries.pop(key, None)  # made inside its own making, by a finalizer
            self._entries[key] = _Entry(value, size)
            self._bytes += size if before is None else size - before.size
            self._evict()

    def _evict(self) -> None:
        limits = self._limits
        while self._entries and (
            len(self._entries) > limits.max_entries or self._bytes > limits.max_bytes
        ):
            if len(self._entries) == 1 and limits.max_entries >= 1:
                break  # the newest entry stays, however large
            _, entry = self._entries.popitem(last=False)
            self._bytes -= entry.size
            self._evictions += 1
