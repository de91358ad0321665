"""Counts of the references by which a memo itself holds keys.

Evaluation also computes a pending value that a handle holds, which it tells by references to the
key that no operation explains. A memo holds keys for later calls: these references are counted
here, so that they are not taken for handles. Read next: ``memo.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import islice
from typing import Any

from tenferro.computegraph import ValueKey


class HeldKeys:
    """Counts of the references to keys in entries, in forms, and in the list of a memo's values.

    Counts are by id, since a table of keys would hold each once more. An id stays that of one key,
    and what was counted stays true: until a memo ends, nothing is dropped from it.
    """

    __slots__ = ("_counts", "_entries", "_forms", "_listed")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget the counts; the memo holds nothing any more."""
        self._counts: dict[int, int] = {}
        self._entries = self._forms = 0  # how many of them were counted
        self._listed: set[int] = set()

    def counts(
        self,
        entries: Mapping[tuple[Any, ...], tuple[ValueKey, Any]],
        forms: Collection[tuple[Any, ...]],
    ) -> Mapping[int, int]:
        """Count the entries and forms that are new; return all counts."""
        if len(entries) > self._entries:
            for entry, (result, _) in islice(entries.items(), self._entries, None):
                self._add(keys_in(entry))
                self._add([result])
            self._entries = len(entries)
        if len(forms) > self._forms:
            for form in islice(forms, self._forms, None):
                self._add(keys_in(form))
            self._forms = len(forms)
        return self._counts

    def list_values(self, values: Iterable[ValueKey]) -> None:
        """Count those values that the list of values did not hold before."""
        new = {id(key): key for key in values if id(key) not in self._listed}
        self._listed.update(new)
        self._add(new.values())

    def _add(self, keys: Iterable[ValueKey]) -> None:
        """Count one more reference to each of the keys."""
        counts = self._counts
        for key in keys:
            counts[id(key)] = counts.get(id(key), 0) + 1


def keys_in(entry: tuple[Any, ...]) -> list[ValueKey]:
    """Return the keys in an entry."""
    return [item for item in entry if isinstance(item, ValueKey)]
