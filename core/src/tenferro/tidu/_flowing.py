"""What flows during a sweep: tangents and contributions to cotangents, by the values they are of.

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
    """How a sweep keeps what flows."""

    __slots__ = ("_cls", "_flow", "is_bare", "rule")

    def __init__(self, rule: RuleBuilder) -> None:
        self.rule = rule
        self.is_bare = takes_templates(rule)
        self._cls = rule.space.value
        self._flow = (rule.run,)

    def handle(self, value: Value) -> Handle:
        """What is kept for a value."""
        return value.key if self.is_bare else value

    def value(self, handle: Handle | None) -> Value | None:
        """The value that was kept, as rules see it."""
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
        """The tangent of a value; ``None`` where nothing flows."""
        return self.value(self.handles.get(key))

    def primals(self) -> Callable[[], dict[ValueKey, ValueKey]]:
        """What gives, when it is asked for, the value that each tangent belongs to."""
        handles, is_bare = self.handles, self.is_bare
        return lambda: {t if is_bare else t.key: key for key, t in handles.items()}


class Cotangents(Flowing):
    """Contributions to the cotangents of values, added up when they are taken."""

    __slots__ = ("_add", "terms")

    def __init__(self, rule: RuleBuilder) -> None:
        super().__init__(rule)
        self.terms: dict[ValueKey, list[Handle]] = {}
        self._add = adder(rule.run)

    def give(self, key: ValueKey, contribution: Value) -> None:
        """One more contribution."""
        self.terms.setdefault(key, []).append(self.handle(contribution))

    def take(self, key: ValueKey) -> Handle | None:
        """The sum of the contributions, which are then gone; ``None`` if nothing flows."""
        terms = self.terms.pop(key, None)
        if terms is None:
            return None
        if len(terms) == 1:
            return terms[0]
        return sum_of(terms, self._add, _depth_of_key) if self.is_bare else self.rule.add_all(terms)

    def taken(self, key: ValueKey) -> Value | None:
        """``take``, as rules see it."""
        return self.value(self.take(key))
