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

    The class attributes below are what its author may state. A vocabulary's base class sets
    ``space`` and ``fixed_rules``.
    """

    #: Name with its namespace, such as ``"std::add"``.
    key: ClassVar[str] = ""
    #: Number of the definition; another meaning of the same key has another one.
    version: ClassVar[int] = 1
    #: Groups of input positions in which the operation is jointly linear: add ``((0, 1),)``,
    #: mul ``((0,), (1,))``, exp ``()``. A property where they depend on the parameters.
    linear: ClassVar[Any] = ()
    #: How tangents of this vocabulary are added, and what their zeros are.
    space: ClassVar[LinearSpace]
    #: Optional method: inputs → a simpler value, or None.
    simplify: ClassVar[Any] = None
    #: Names of operations: unless one of them or a literal made an input, ``simplify`` finds no
    #: more than the avals tell. None: it must always be asked.
    simplify_triggers: ClassVar[tuple[str, ...] | None] = None
    #: Rules look at nothing but avals, so that ``_rule_cache.py`` keeps what one emits.
    fixed_rules: ClassVar[bool] = False
    #: Optional: aval → the part of it that the rules look at, where all inputs have this aval.
    #: None: they look at all of it. It is not inherited: a rule of a subclass may look at more.
    rules_look_at: ClassVar[Any] = None
    #: Optional method: (rule, values or None) → results, written in other operations, for flow that
    #: is not kept.
    expand: ClassVar[Any] = None
    #: Optional method: inputs → (operation, inputs) that flow takes instead of this one.
    as_linear: ClassVar[Any] = None
    #: Positions of inputs that no output depends on; ``without_unread()`` returns the operation
    #: without them.
    unread: ClassVar[Any] = ()

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
