"""Application of rules in a sweep: call the rule of an operation and check what it returned.

The tangents and cotangents of a sweep are values, each with its flow. ``RuleCache``
(``_rule_cache.py``) is a faster way to the same graphs, which ``rules_of`` chooses where it can.
Read next: ``_push.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from tenferro.computegraph import Operation, ValueKey
from tenferro.tidu._emit import RuleBuilder
from tenferro.tidu._errors import RuleResultError
from tenferro.tidu._value import FlowInput, Mask, Residual, Value

Flowing = Any  # a tangent or cotangent in a sweep: a value if rules are called, a key if replayed
_flow_input = partial(tuple.__new__, FlowInput)  # in C
_residual = partial(tuple.__new__, Residual)
Primals = Callable[[], Mapping[ValueKey, ValueKey]]  # by tangent, the value to which it belongs


class CalledRules:
    """The rules of one sweep, called for each operation."""

    __slots__ = ("_fixed", "_primal_of", "_primals", "rule", "sweep")

    def __init__(self, rule: RuleBuilder, primals: Primals = dict) -> None:
        self.rule = rule
        self.sweep = rule.sweep
        self._fixed = rule.reader()
        self._primals = primals
        self._primal_of: Mapping[ValueKey, ValueKey] | None = None

    def enter(self, value: Value) -> Flowing:
        """Return a value as the sweep keeps it."""
        return value

    def leave(self, flowing: Flowing | None) -> Value | None:
        """Return what the sweep keeps as a value."""
        found: Value | None = flowing
        return found

    def jvp(
        self,
        operation: Operation,
        inputs: Sequence[ValueKey],
        outputs: Sequence[ValueKey],
        tangents: Sequence[Flowing | None],
    ) -> Iterable[Flowing | None]:
        """Return the tangents of the outputs, given those of the inputs."""
        if not any([operation.carries(key.aval) for key in outputs]):
            return [None] * len(outputs)
        rule, fixed = self.rule, self._fixed
        self.sweep.operation = operation
        emitted = rule.context.jvp(operation)(
            rule, [*map(fixed, inputs)], [*map(fixed, outputs)], [*map(self.leave, tangents)]
        )
        if len(emitted) != len(outputs):
            raise _wrong_result(operation, rule, f"{len(emitted)} tangents", f"{len(outputs)}")
        tangent_aval = rule.space.tangent_aval
        needs = [tangent_aval(key.aval) for key in outputs]
        return [
            self._checked(value, need, operation)
            for value, need in zip(emitted, needs, strict=True)
        ]

    def transpose(
        self,
        operation: Operation,
        inputs: Sequence[ValueKey],
        active: Mask,
        cotangents: Sequence[Flowing | None],
    ) -> Iterable[Flowing | None]:
        """Return the cotangents of the active inputs, given those of the outputs."""
        rule, primal_of = self.rule, self.primal_of(operation)
        seen = [
            _flow_input((key.aval, primal_of.get(key))) if flows else _residual((self._fixed(key),))
            for key, flows in zip(inputs, active, strict=True)
        ]
        self.sweep.operation = operation
        emitted = rule.context.transpose(operation)(rule, [*map(self.leave, cotangents)], seen)
        if len(emitted) != len(inputs):
            raise _wrong_result(operation, rule, f"{len(emitted)} cotangents", str(len(inputs)))
        if any([ct is not None for ct, flows in zip(emitted, active, strict=True) if not flows]):
            raise _wrong_result(operation, rule, "a cotangent of a fixed input", "None")
        return [
            self._checked(value, key.aval, operation)
            for value, key in zip(emitted, inputs, strict=True)
        ]

    def primal_of(self, operation: Operation) -> Mapping[ValueKey, ValueKey]:
        """Return the values to which tangents belong, for rules that ask."""
        found = self._primal_of
        if found is None:
            found = self._primal_of = self._primals()
        return found

    def add(self, terms: list[Flowing]) -> Flowing:
        """Return the sum of two or more contributions, as a balanced tree."""
        return self.rule.add_all(terms)

    def _checked(self, value: Value | None, need: Any, operation: Operation) -> Flowing | None:
        """Return what flows in a result of a rule; ``None`` if it is a structural zero.

        Raises RuleResultError: unless the result has the aval and the flow that it must have.
        """
        if value is None:
            return None
        rule = self.rule
        if not isinstance(value, Value):
            raise _wrong_result(operation, rule, repr(value), "a value or None")
        if value.key.aval != need:
            raise _wrong_result(operation, rule, str(value.key.aval), str(need))
        if rule.sweep in value.flow:
            return self.enter(value)
        if not rule.space.is_zero(value.key):
            got = f"a constant {value.key.aval}"
            raise _wrong_result(operation, rule, got, "a value that carries flow")
        return None


def _wrong_result(operation: Operation, rule: RuleBuilder, got: str, need: str) -> RuleResultError:
    """Make the error for a rule that returned a wrong result."""
    key = getattr(operation, "key", "") or operation.name
    return RuleResultError(
        f"{key}: its {rule.sweep.rule} rule returned a wrong result\n"
        f"  got        {got}\n  need       {need}",
        primitive=key,
        rule=rule.sweep.rule,
        got=got,
        need=need,
    )
