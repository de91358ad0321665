"""Rules: what a pass says of one equation, by the class of its operation.

A rule looks at an equation whose operands are rewritten already, and gives the value that stands
for its result: an operand, or one that it emits; ``None`` where it has nothing to say. ``reads``
names the operations among whose results a rule looks for an operand, so that it is asked only
where there is one. Read next: ``_rewriter.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tenferro.passes._rewriter import Rewriter

#: (rewriter, operation, operands) → the value of the result, or None
Rule = Callable[["Rewriter", Any, tuple[int, ...]], int | None]
#: by what operands are made, if the rule asks for that; the pass; the rule
Entry = tuple[frozenset[type] | None, str, Rule]
#: what any of the rules asks for, None if one does not ask; the rules
Entries = tuple[frozenset[type] | None, list[Entry]]


class Rules:
    """The rules of one pass."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._by_class: dict[type, list[Entry]] = {}
        self._by_kind: list[tuple[Callable[[type], bool], Entry]] = []

    def of(self, *classes: type, reads: Sequence[type] | None = None) -> Callable[[Rule], Rule]:
        """Register a rule for these classes of operations."""

        def register(rule: Rule) -> Rule:
            for cls in classes:
                self._by_class.setdefault(cls, []).append(self._entry(rule, reads))
            return rule

        return register

    def where(
        self, kind: Callable[[type], bool], reads: Sequence[type] | None = None
    ) -> Callable[[Rule], Rule]:
        """Register a rule for the classes of operations that are of a kind."""

        def register(rule: Rule) -> Rule:
            self._by_kind.append((kind, self._entry(rule, reads)))
            return rule

        return register

    def _entry(self, rule: Rule, reads: Sequence[type] | None) -> Entry:
        return None if reads is None else frozenset(reads), self.name, rule

    def about(self, cls: type) -> list[Entry]:
        """The rules for a class."""
        return [*self._by_class.get(cls, ()), *[rule for kind, rule in self._by_kind if kind(cls)]]


class Table(dict[type, Entries]):
    """The rules of several passes by class, in the order of the passes."""

    def __init__(self, passes: Sequence[Rules]) -> None:
        super().__init__()
        self._passes = passes

    def __missing__(self, cls: type) -> Entries:
        entries = [entry for rules in self._passes for entry in rules.about(cls)]
        asked: set[type] = set()
        for reads, _, _ in entries:
            asked.update(reads or ())
        always = any([reads is None for reads, _, _ in entries])
        found = self[cls] = (None if always else frozenset(asked), entries)
        return found
