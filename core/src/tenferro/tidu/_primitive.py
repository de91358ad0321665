"""Primitives: operations with derivative rules.

For every input there is exactly one rule: ``transpose`` where the operation is linear in it,
``jvp`` where it is not. Linearity is stated as groups of inputs in which the operation is jointly
linear. Everything else (JVP of linear inputs, product rule, VJP, higher order) is derived here and
in the two transforms. Read next: ``_emit.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from tenferro.computegraph import Operation
from tenferro.tidu._errors import MissingRuleError
from tenferro.tidu._linear_space import NO_TANGENT, LinearSpace
from tenferro.tidu._value import FlowInput, Residual, Value

if TYPE_CHECKING:
    from tenferro.tidu._emit import RuleBuilder

Groups = tuple[tuple[int, ...], ...]


class Primitive(Operation):
    """An operation that can be differentiated.

    ``linear`` lists groups of input positions: add ``((0, 1),)``, mul ``((0,), (1,))``, exp ``()``.
    A vocabulary's base class sets ``space``, and ``fixed_rules`` where rules look at nothing but
    avals, so that what one emits is kept (``_rule_cache.py``). ``simplified_beside`` names the
    operations that must have made an input so that ``simplify`` finds more than avals tell;
    literals are always among them, and ``None`` says that nothing is known. ``rules_look_at`` takes
    an aval and returns what the rules look at where all inputs have that aval; ``None``: all of it.
    It is not inherited, because a subclass may have a rule that looks at more.
    """

    key: ClassVar[str] = ""
    version: ClassVar[int] = 1
    linear: ClassVar[Any] = ()  # Groups; a property where it depends on the parameters
    space: ClassVar[LinearSpace]
    simplify: ClassVar[Any] = None  # optional method: a simpler value for these inputs, or None
    simplified_beside: ClassVar[tuple[str, ...] | None] = None
    fixed_rules: ClassVar[bool] = False
    rules_look_at: ClassVar[Any] = None
    expand: ClassVar[Any] = None  # optional: (rule, values or None) → results wanted at once
    as_linear: ClassVar[Any] = None  # optional: (operation, inputs) that flow takes in its place
    unread: ClassVar[Any] = ()  # inputs that no output depends on; ``without_unread()`` lacks them

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if "rules_look_at" not in cls.__dict__:
            cls.rules_look_at = None

    def groups(self, count: int) -> Groups:
        """Return the linearity groups of an application to ``count`` inputs."""
        found: Groups = self.linear
        return found

    def carries(self, aval: Any) -> bool:
        """Return True if an output of this aval can have a tangent."""
        return self.space.tangent_aval(aval) is not NO_TANGENT

    def jvp(
        self,
        rule: RuleBuilder,
        primals_in: Sequence[Value],
        primals_out: Sequence[Value],
        tangents_in: Sequence[Value | None],
    ) -> Sequence[Value | None]:
        """Emit tangents of the outputs; called only when some tangent flows.

        Derived from the groups: each active group contributes the operation itself with tangents
        in the places of the group, each other active input what ``jvp_input`` says.
        """
        flowing = {i: None for i, tangent in enumerate(tangents_in) if tangent is not None}
        terms = []
        for group in self.groups(len(primals_in)):
            if not flowing.keys().isdisjoint(group):
                terms.append(rule.apply_linear(self, group, primals_in, tangents_in))
                for i in group:
                    flowing.pop(i, None)
        for i in flowing:
            tangent = tangents_in[i]
            assert tangent is not None
            terms.append(self.jvp_input(rule, i, tangent, primals_in, primals_out))
        return rule.sum_terms(terms)

    def jvp_input(
        self,
        rule: RuleBuilder,
        index: int,
        tangent: Value,
        primals_in: Sequence[Value],
        primals_out: Sequence[Value],
    ) -> Sequence[Value | None]:
        """Emit tangents of the outputs for the tangent of one input outside every group."""
        raise missing_rule(self, "jvp", index)

    def transpose(
        self,
        rule: RuleBuilder,
        cotangents_out: Sequence[Value | None],
        inputs: Sequence[Residual | FlowInput],
    ) -> Sequence[Value | None]:
        """Emit cotangents of the ``FlowInput`` inputs, ``None`` in the places of the others."""
        raise missing_rule(self, "transpose")


def missing_rule(operation: Operation, rule: str, index: int | None = None) -> MissingRuleError:
    """Make the error for a rule that does not exist."""
    cls = type(operation)
    key = getattr(operation, "key", "") or operation.name
    which = "" if index is None else f" for input {index}"
    return MissingRuleError(
        f"{key}: no {rule} rule{which}\n"
        f"  provider   {cls.__module__}.{cls.__qualname__}\n"
        f"  hint       define `{rule}` on the class, or pass one in an ADContext",
        primitive=key,
        rule=rule,
        provider=cls.__module__,
        input=index,
    )
