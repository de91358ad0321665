"""Structures of dictionaries whose keys Python finds equal though they differ: 1, True and 1.0.

optree compares keys by ``==``. A function reads them, so what was recorded for ``{1: x}`` must not
run for ``{1.0: x}``. Read next: ``tree.py``.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from typing import Any

from tenferro.computegraph._canonical import canonical

_DICTIONARIES = frozenset((dict, OrderedDict, defaultdict))
_UNIQUE = frozenset((int, str))  # no two keys of these classes are equal and differ


class KeyedSpec:
    """A structure of optree, and its keys by class and value."""

    __slots__ = ("_keys", "_spec", "num_leaves")

    def __init__(self, spec: Any, keys: object) -> None:
        self._spec = spec
        self._keys = keys
        self.num_leaves = spec.num_leaves

    def __eq__(self, other: object) -> bool:
        if type(other) is not KeyedSpec:
            return False
        return bool(self._spec == other._spec) and self._keys == other._keys

    def __hash__(self) -> int:
        return hash(self._spec)

    def __repr__(self) -> str:
        return repr(self._spec)

    def unflatten(self, leaves: Sequence[Any]) -> Any:
        """Return the tree with these leaves."""
        return self._spec.unflatten(leaves)

    def of_optree(self) -> Any:
        """Return the structure that optree gives to such a tree."""
        return self._spec


def keyed(spec: Any) -> Any:
    """Return a structure of optree, with its keys where other classes than int and str occur."""
    keys: list[object] = []  # of each dictionary, None if all are integers and strings
    is_plain = True

    def note(cls: type, data: Any, _: object) -> None:
        nonlocal is_plain
        if cls in _DICTIONARIES:
            own = data[1] if cls is defaultdict else data
            if _UNIQUE.issuperset(map(type, own)):
                keys.append(None)
            else:
                keys.append(canonical(tuple(own)))
                is_plain = False

    spec.walk(range(spec.num_leaves), note)
    return spec if is_plain else KeyedSpec(spec, tuple(keys))
