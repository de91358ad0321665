"""Interning: equal structure is one object, so that equality is identity.

``WeakTable`` interns operations and inputs. Values that operations make are interned in *buckets*,
one per key: the newest input of a value holds the value weakly, among its users. Neighbours in a
graph are neighbours in memory, so buckets are faster for large graphs than one table. A bucket of
more than ``_MAX_USERS`` overflows into the table ``VALUES``. Threads may intern concurrently: all
get the object that was inserted first. Read next: ``_operation.py``.
"""

from __future__ import annotations

import sys
from _weakref import _remove_dead_weakref  # type: ignore[attr-defined]  # the atomic removal that `weakref` itself uses
from collections.abc import Callable, Hashable, Sequence
from threading import RLock
from typing import Any, Generic, Protocol, TypeVar
from weakref import ref

from tenferro._runtime.fork import after_fork_in_child

T = TypeVar("T")


class _Reference(ref[T]):
    """A weak reference that knows its place in the table."""

    __slots__ = ("entry",)
    entry: Hashable


class WeakTable(Generic[T]):
    """Intern table that holds its objects weakly."""

    __slots__ = ("_forget", "_references")

    def __init__(self) -> None:
        references: dict[Hashable, _Reference[T]] = {}
        self._references = references

        def forget(dead: Any, remove: Callable[..., None] = _remove_dead_weakref) -> None:
            remove(references, dead.entry)  # modules lose their names when the interpreter ends

        self._forget: Callable[[Any], None] = forget

    def get(self, entry: Hashable) -> T | None:
        """Return the object of an entry; ``None`` if there is none."""
        reference = self._references.get(entry)
        return None if reference is None else reference()

    def intern(self, entry: Hashable, value: T) -> T:
        """Intern `value`; if an equal object was inserted first, return that one."""
        reference = _Reference(value, self._forget)
        reference.entry = entry
        while True:
            there = self._references.setdefault(entry, reference)
            if there is reference:
                return value
            other = there()
            if other is not None:
                return other
            _remove_dead_weakref(self._references, entry)

    def discard(self, entry: Hashable, value: T) -> None:
        """Remove an entry if this object is interned under it."""
        if self.get(entry) is value:
            self._references.pop(entry, None)

    def entries(self) -> list[Any]:
        """Return the entries as they are now."""
        return [*self._references]


# Intern bucket of a key, for the values whose newest input it is: None, one weak reference, up to
# `_MAX_USERS` of them, or `IN_TABLE` once it has overflowed into the table.
Users = Any
IN_TABLE = object()
_MAX_USERS = 8


class Interned(Protocol):
    """A value key, as far as interning looks at it."""

    _users: Users
    definition: tuple[Any, ...] | None


K = TypeVar("K", bound=Interned)

VALUES: WeakTable[Any] = WeakTable()  # inputs by name and aval; values of buckets that overflowed

# With the lock of the interpreter, an expression without calls and the store of its value are one
# step; a lock of our own costs half as much as the key that is made.
HAS_GIL: bool = getattr(sys, "_is_gil_enabled", lambda: True)()
_entering = RLock()


def _renew_lock() -> None:
    global _entering
    _entering = RLock()


after_fork_in_child(_renew_lock)


def known(users: Users, definition: tuple[Any, ...]) -> Any:
    """Return the key of this definition among the users of its newest input, else ``None``."""
    if type(users) is ref:
        key = users()
        return key if key is not None and key.definition == definition else None
    if users is IN_TABLE:
        return VALUES.get(definition)
    for user in users:
        key = user()
        if key is not None and key.definition == definition:
            return key
    return None


def enter(key: K, definition: tuple[Any, ...], anchor: Interned, users: Users) -> K:
    """Intern `key` among the users of its newest input.

    If another thread inserted an equal key first, return that one.
    """
    if users is IN_TABLE:
        return VALUES.intern(definition, key)  # type: ignore[no-any-return]
    reference = ref(key)
    joined: Users = reference
    if type(users) is tuple:
        if len(users) >= _MAX_USERS:
            return _move_to_table(key, definition, anchor)
        joined = (*users, reference)
    elif users is not None and users() is not None:
        joined = (users, reference)
    if HAS_GIL:
        anchor._users = joined if anchor._users is users else anchor._users
    else:
        with _entering:
            anchor._users = joined if anchor._users is users else anchor._users
    if anchor._users is joined:
        return key
    users = anchor._users  # another thread has entered something, or a finalizer
    return known(users, definition) or enter(key, definition, anchor, users)


def _move_to_table(key: K, definition: tuple[Any, ...], anchor: Interned) -> K:
    """Intern `key` where the bucket is full: drop the dead users, or move all to the table.

    One thread does so at a time, so that no two enter different keys of one definition; a thread
    that has not got the lock cannot change so many users.
    """
    with _entering:
        users = anchor._users
        if type(users) is tuple and len(users) >= _MAX_USERS and known(users, definition) is None:
            alive = [user for user in users if user() is not None]
            if len(alive) < _MAX_USERS // 2:
                joined = (*alive, ref(key))
                anchor._users = joined if anchor._users is users else anchor._users
                if anchor._users is joined:
                    return key
            else:
                _intern_all(alive)
                found: K = VALUES.intern(definition, key)
                anchor._users = IN_TABLE
                return found
    users = anchor._users
    return known(users, definition) or enter(key, definition, anchor, users)


def _intern_all(users: Sequence[Callable[[], Interned | None]]) -> None:
    """Put users into the table."""
    for user in users:
        key = user()
        if key is not None and key.definition is not None:
            VALUES.intern(key.definition, key)
