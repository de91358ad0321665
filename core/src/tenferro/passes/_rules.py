"""Rules: what a pass says of one equation, by the class of its operation.

A rule looks at an equation whose operands are rewritten already, and gives the value that stands
for its result: an operand, or one that it emits; ``None`` where it has nothing to say. ``reads``
names the operations among whose results a rule looks for an operand, so that it is asked only
where there is one, or with ``every`` only where all operands are such results.
Read next: ``_rewriter.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tenferro.passes._rewriter import Rewriter

#: (rewriter, operation, operands) → the value of the result, or None
Rule = Callable[["Rewriter", Any, tuple[int, ...]], int | None]
#: the classes of operations among whose results a rule looks for operands, if it says so; whether
#: each operand must be such a result; the pass; the rule
Entry = tuple[frozenset[type] | None, bool, str, Rule]
#: the class of an operation and of what makes its operands, see ``kinds_of``
Kinds = tuple[Any, ...]
Found = Sequence[tuple[str, Rule]]
_NO_ENTRIES: list[Entry] = []
#: passes in their order, the entries of their rules by class of operation, and the keys of the
#: operations with which more rules load
_Known = tuple[list["PassRules | LazyRules"], dict[type, list[Entry]], frozenset[str]]


class PassRules:
    """The rules of one pass."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.by_class: dict[type, list[Entry]] = {}
        self.by_kind: list[tuple[Callable[[type], bool], Entry]] = []

    def of(
        self, *classes: type, reads: Sequence[type] | None = None, every: bool = False
    ) -> Callable[[Rule], Rule]:
        """Register a rule for these classes of operations."""

        def register(rule: Rule) -> Rule:
            for cls in classes:
                self.by_class.setdefault(cls, []).append(self._entry(rule, reads, every))
            return rule

        return register

    def where(
        self,
        kind: Callable[[type], bool],
        reads: Sequence[type] | None = None,
        every: bool = False,
    ) -> Callable[[Rule], Rule]:
        """Register a rule for the classes of operations that are of a kind."""

        def register(rule: Rule) -> Rule:
            self.by_kind.append((kind, self._entry(rule, reads, every)))
            return rule

        return register

    def _entry(self, rule: Rule, reads: Sequence[type] | None, every: bool) -> Entry:
        return None if reads is None else frozenset(reads), every, self.name, rule

    def about(self, cls: type) -> list[Entry]:
        """Return the rules for a class."""
        found = self.by_class.get(cls, _NO_ENTRIES)
        if self.by_kind:
            found = found + [entry for kind, entry in self.by_kind if kind(cls)]
        return found


def kinds_of(operation: Any, operations: Sequence[Any], operands: tuple[int, ...]) -> Kinds:
    """Return what decides which rules look at an equation; ``Rewriter.sweep`` does so in place."""
    if len(operands) == 2:
        x, y = operands
        return type(operation), type(operations[x]), type(operations[y])
    if len(operands) == 1:
        return type(operation), type(operations[operands[0]])
    return type(operation), frozenset([type(operations[i]) for i in operands])


class LazyRules:
    """The rules of a pass, which load when an operation with one of some keys is met.

    Each rule of the pass looks at such operations, or at what reads their results.
    """

    def __init__(self, keys: Iterable[str], load: Callable[[], PassRules]) -> None:
        self.keys = frozenset(keys)
        self.load = load


class RuleTable(dict[Kinds, Found]):
    """The rules of several passes that look at equations of a kind, in the order of the passes."""

    def __init__(self, passes: Sequence[PassRules | LazyRules]) -> None:
        super().__init__()
        self._known = known_of([*passes])  # replaced as a whole: threads may share a table

    def __missing__(self, kinds: Kinds) -> Found:
        cls = kinds[0]
        makers = kinds[1] if type(kinds[1]) is frozenset else kinds[1:]
        entries = self._entries_about(cls)
        for maker in makers:
            if maker not in self._known[1]:
                self._entries_about(maker)
                entries = self._entries_about(cls)  # more rules may have loaded
        found = self[kinds] = tuple(
            [
                (name, rule)
                for reads, every, name, rule in entries
                if reads is None
                or (reads.issuperset(makers) if every and makers else not reads.isdisjoint(makers))
            ]
        )
        return found

    def _entries_about(self, cls: type) -> list[Entry]:
        """Return the rules for a class; load those of passes that wait for its operations."""
        passes, by_class, waiting = self._known
        entries = by_class.get(cls)
        if entries is not None:
            return entries
        key = getattr(cls, "key", "")
        if key in waiting:
            loaded = [
                rules.load() if type(rules) is LazyRules and key in rules.keys else rules
                for rules in passes
            ]
            self._known = passes, by_class, _ = known_of(loaded)
        entries = []
        for rules in passes:
            if type(rules) is PassRules and (cls in rules.by_class or rules.by_kind):
                entries += rules.about(cls)
        by_class[cls] = entries
        return entries


def known_of(passes: list[PassRules | LazyRules]) -> _Known:
    """Return what a table knows of these passes before it meets an operation."""
    lazy = [rules.keys for rules in passes if type(rules) is LazyRules]
    return passes, {}, frozenset().union(*lazy)
