"""Names of programs, equal in every process: digests of the keys of the caches in memory.

The key of a cache is made of Python's values, abstract values, operations and closed graphs. It is
spelled out with every class by its name, so that equal texts mean equal keys. What else may be in
a key (functions of the user, arrays, objects of other libraries) has no name.
"""

from __future__ import annotations

from collections.abc import Callable
from marshal import dumps
from typing import Any

try:
    from _blake2 import blake2b  # itself: hashlib loads OpenSSL, too
except ImportError:
    from hashlib import blake2b

from tenferro.computegraph import Fragment, Operation, Structure
from tenferro.primitives._aval import Aval
from tenferro.primitives._dtype import DType
from tenferro.tidu import Primitive

_PLAIN = frozenset((int, float, complex, str, bytes, bool, type(None)))
WITHOUT_REFERENCES = 2  # version of marshal's format: equal values have equal bytes


class Nameless(Exception):
    """Signal, never shown: a key has a part that means nothing in another process."""


def name_of(key: object, is_known: Callable[[str], bool]) -> str:
    """Return the digest of a key; ``is_known`` tells the packages whose source is known.

    Raises Nameless: if the key has a part that means nothing in another process, or is nested too
    deeply to be spelled out.
    """
    try:
        return digest(dumps(_Speller(is_known)(key), WITHOUT_REFERENCES))
    except (RecursionError, ValueError) as error:  # the latter is what marshal raises
        raise Nameless from error


def digest(content: bytes) -> str:
    """Return the digest of bytes."""
    return blake2b(content, digest_size=20).hexdigest()


class _Speller:
    """Spells values out as tuples of Python's own; an operation is written once, then numbered.

    What stands for another object is a list, which no key contains, so that no tuple of a key can
    be spelled like it.
    """

    def __init__(self, is_known: Callable[[str], bool]) -> None:
        self._is_known = is_known
        self._numbers: dict[Any, int] = {}  # of operations, avals and closed graphs

    def __call__(self, value: Any) -> Any:
        cls = type(value)
        if cls in _PLAIN:
            return value
        if isinstance(value, tuple):
            items = tuple([x if type(x) is int else self(x) for x in value])
            return items if cls is tuple else ["tuple", self._class(cls), items]
        if cls is frozenset:
            # each item with numbers of its own: the order of a set is not that of another process
            spelled = [dumps(_Speller(self._is_known)(x), WITHOUT_REFERENCES) for x in value]
            return ["frozenset", *sorted(spelled)]
        if isinstance(value, type):
            return ["class", self._class(value)]
        return self._interned(value)

    def _interned(self, value: Any) -> object:
        number = self._numbers.get(value) if isinstance(value, _INTERNED) else None
        if number is not None:
            return ["again", number]
        parts = self._parts(value)
        self._numbers[value] = len(self._numbers)
        return parts

    def _parts(self, value: Any) -> object:
        if isinstance(value, Operation):
            if value.volatile or value.unique:
                raise Nameless
            version = value.version if isinstance(value, Primitive) else 0
            parameters = tuple([self(x) for x in value.parameters.values()])
            return ["operation", self._class(type(value)), version, parameters]
        if isinstance(value, Aval):
            return ["aval", value.dtype.name, value.shape]
        if isinstance(value, DType):
            return ["dtype", value.name]
        if isinstance(value, Fragment):
            parts = value.input_avals, value.equations, value.outputs
            return ["closed graph", *[self(part) for part in parts]]
        if isinstance(value, Structure):
            return ["structure", self(value.items)]
        raise Nameless

    def _class(self, cls: type) -> str:
        if not self._is_known(cls.__module__.partition(".")[0]) or "<" in cls.__qualname__:
            raise Nameless
        return f"{cls.__module__}:{cls.__qualname__}"


_INTERNED = (Operation, Aval, DType, Fragment, Structure)
