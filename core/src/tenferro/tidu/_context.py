"""Rules that a caller brings: overrides and rules of extension families.

A context is passed down explicitly to every rule; there is no process-global registry.
Read next: ``_emit.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import Operation
from tenferro.tidu._errors import NotRulesError
from tenferro.tidu._primitive import missing_rule
from tenferro.tidu._value import FlowInput, Residual, Value

if TYPE_CHECKING:
    from tenferro.tidu._emit import RuleBuilder

Jvp = Callable[
    [Any, "RuleBuilder", Sequence[Value], Sequence[Value], Sequence[Value | None]],
    Sequence[Value | None],
]
Transpose = Callable[
    [Any, "RuleBuilder", Sequence[Value | None], Sequence[Residual | FlowInput]],
    Sequence[Value | None],
]


class Rules(NamedTuple):
    """Rules for one operation class; they take the operation first, as methods do."""

    jvp: Jvp | None = None
    transpose: Transpose | None = None


class ADContext:
    """Overrides by operation class, and whatever else the caller's rules want to find.

    >>> from tenferro.tidu import ADContext
    >>> ADContext({}, note="reaches every rule").extras["note"]
    'reaches every rule'
    """

    __slots__ = ("_rules", "extras")

    def __init__(self, rules: Mapping[type[Operation], Rules] | None = None, **extras: Any) -> None:
        self._rules = {} if rules is None else _checked(rules)
        self.extras = extras

    def jvp(self, operation: Operation) -> Callable[..., Sequence[Value | None]]:
        """Return the JVP rule of an operation, bound to it.

        Raises MissingRuleError: if neither the context nor the operation has one.
        """
        return self._find(operation, "jvp")

    def transpose(self, operation: Operation) -> Callable[..., Sequence[Value | None]]:
        """Return the transpose rule of an operation, bound to it."""
        return self._find(operation, "transpose")

    def _find(self, operation: Operation, rule: str) -> Callable[..., Sequence[Value | None]]:
        if self._rules:
            override = getattr(self._rules.get(type(operation)), rule, None)
            if override is not None:
                return lambda *args: override(operation, *args)
        method: Callable[..., Sequence[Value | None]] | None = getattr(operation, rule, None)
        if method is None:
            raise missing_rule(operation, rule)
        return method


def _checked(rules: object) -> dict[type[Operation], Rules]:
    """Return a copy of the rules.

    Raises NotRulesError: if they are not a mapping from classes to ``Rules``.
    """
    if isinstance(rules, Mapping):
        pairs = rules.items()
        if all([isinstance(cls, type) and isinstance(own, Rules) for cls, own in pairs]):
            return dict(rules)
    raise NotRulesError(
        "ADContext: rules are a mapping from classes of operations to Rules\n"
        f"  got        {rules!r:.60}\n"
        "  need       such as {Sin: Rules(jvp=..., transpose=...)}",
        rules=rules,
    )


EMPTY_CONTEXT = ADContext()
