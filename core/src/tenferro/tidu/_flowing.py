"""Tables of what flows during a sweep: tangents and contributions to cotangents, by value.

In a sweep whose rules are replayed from templates nothing flows but the sweep itself: the flow of
every tangent is known, and bare keys are kept. In other sweeps they are values, each with its
flow. Read next: ``_linearize.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from tenferro.computegraph import ValueKey
from tenferro.tidu._emit import RuleBuilder, sum_of
from tenferro.tidu._template import adder, takes_templates
from tenferro.tidu._value import Value

Handle = Any  # a key in a sweep of templates, a value in others

_depth_of_key = attrgetter("depth")


class Flowing:
    """Table of what flows in a sweep, as bare keys or as values."""

    __slots__ = ("_cls", "_flow", "is_bare", "rule")

    def __init__(self, rule: RuleBuilder) -> None:
        self.rule = rule
        self.is_bare = takes_templates(rule)
        self._cls = rule.space.value
        self._flow = (rule.run,)

    def handle(self, value: Value) -> Handle:
        """Return what the table stores for a value."""
        return value.key if self.is_bare else value

    def value(self, handle: Handle | None) -> Value | None:
        """Return the stored value, as rules see it."""
        return self._cls(handle, self._flow) if self.is_bare and handle is not None else handle


class Tangents(Flowing):
    """The tangents of values, where any flows."""

    __slots__ = ("handles",)

    def __init__(
        self, rule: RuleBuilder, wrt: Sequence[ValueKey], seeds: Sequence[Value | None]
    ) -> None:
        super().__init__(rule)
        pairs = zip(wrt, seeds, strict=True)
        self.handles: dict[ValueKey, Handle] = {
            key: self.handle(seed) for key, seed in pairs if seed is not None
        }

    def of(self, key: ValueKey) -> Value | None:
        """Return the tangent of a value; ``None`` where nothing flows."""
        return self.value(self.handles.get(key))

    def primals(self) -> Callable[[], dict[ValueKey, ValueKey]]:
        """Return a function that returns the value to which each tangent belongs."""
        handles, is_bare = self.handles, self.is_bare
        return lambda: {t if is_bare else t.key: key for key, t in handles.items()}


class Cotangents(Flowing):
    """Contributions to the cotangents of values, added up when they are taken."""

    __slots__ = ("_add", "terms")

    def __init__(self, rule: RuleBuilder) -> None:
        super().__init__(rule)
        self.terms: dict[ValueKey, Handle | list[Handle]] = {}  # a list where there are several
        self._add = adder(rule.run)

    def give(self, key: ValueKey, contribution: Value) -> None:
        """Add one more contribution."""
        term, found = self.handle(contribution), self.terms.get(key)
        self.terms[key] = term if found is None else with_another(found, term)

    def take(self, key: ValueKey) -> Handle | None:
        """Remove the contributions and return their sum; ``None`` if nothing flows."""
        terms = self.terms.pop(key, None)
        if type(terms) is not list:
            return terms
        return sum_of(terms, self._add, _depth_of_key) if self.is_bare else self.rule.add_all(terms)

    def taken(self, key: ValueKey) -> Value | None:
        """``take``, as rules see it."""
        return self.value(self.take(key))


def with_another(terms: Handle | list[Handle], term: Handle) -> list[Handle]:
    """Append one contribution to the first, or to a list of them."""
    if type(terms) is not list:
        return [terms, term]
    terms.append(term)
    return terms
