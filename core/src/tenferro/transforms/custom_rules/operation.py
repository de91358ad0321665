"""The operations around results of functions that bring their own derivative.

Their inputs are the values y…, the arguments x…, and what the function closes over, c…; their
outputs are the values. They are gone where values are computed. A rule says what comes from the
arguments; what comes from the closure is the native derivative. Read next: ``custom_rules/jvp.py``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self, TypeVar

from tenferro.arrays import Array
from tenferro.arrays.errors import TracedConversionError, at_user_line
from tenferro.computegraph import Definition, ValueKey, derive_again, postorder
from tenferro.primitives import Handle, Mixed, TensorPrimitive
from tenferro.primitives._aval import Aval
from tenferro.primitives._primitive import bind, pointwise
from tenferro.tidu import RuleBuilder, SweepId, Trace, Value, pin, pushforward
from tenferro.transforms.custom_rules.stopped import Stopped

Tangents = Sequence[Value | None]
_T = TypeVar("_T")


class Custom(TensorPrimitive):
    """Base of these operations.   y…, x…, c…   →   y…"""

    transparent = True
    volatile = True
    fixed_rules = False
    rule: Any
    count: int
    arguments: int
    call: SweepId
    converted: str  # the user's line inside the function that made numbers of arguments, or ""

    @property
    def output_count(self) -> int:
        """As many as there are values."""
        return self.count

    def abstract_eval(self, *avals: Aval) -> tuple[Aval, ...]:
        """Return the avals of the values."""
        return avals[: self.count]

    def groups(self, count: int) -> tuple[tuple[int, ...], ...]:
        """Return one group of all inputs: flow that is sent through the function is linear in
        all.
        """
        return (tuple(range(count)),)

    def of_arguments(self, xs: Sequence[_T]) -> tuple[_T, ...]:
        """Select the entries of the arguments from one entry per input."""
        return tuple(xs[self.count : self.count + self.arguments])

    def stopped(self, xs: Sequence[_T]) -> tuple[_T, ...]:
        """Return the entries of arguments through which no derivative flows, of one per input."""
        return self.of_arguments(xs)

    def of_closure(self, xs: Sequence[_T]) -> tuple[_T, ...]:
        """Select the entries of the values that the function or its rule closes over."""
        return tuple(xs[self.count + self.arguments :])

    def with_rule(self, rule: Any) -> Self:
        """Return the same operation with another rule."""
        parameters = {**self.parameters, "rule": rule}
        return type(self)(**parameters)

    def transpose_together(
        self, cts: Any, active: Sequence[bool], *inputs: Handle
    ) -> list[Handle | None]:
        """Flow leaves as it came, through the function itself."""
        found = cts if isinstance(cts, (tuple, list)) else (cts,)
        nothing = [None] * (len(inputs) - self.count)
        return [ct if own else None for ct, own in zip([*found, *nothing], active, strict=True)]

    def jvp(
        self, rule: RuleBuilder, primals_in: Sequence[Value], primals_out: Sequence[Value],
        tangents_in: Tangents,
    ) -> Tangents:  # fmt: skip
        """Add the tangents that the rule gives for the arguments and those that come from the
        closure.
        """
        terms = []
        tangents = self.of_arguments(tangents_in)
        if any([t is not None for t in tangents]):
            terms.append(self.own(rule, primals_in, primals_out, tangents))
        if any([t is not None for t in self.of_closure(tangents_in)]):
            terms.append(self._closure(rule, primals_in, tangents_in))
        return rule.sum_terms(terms)

    @abstractmethod
    def own(
        self, rule: RuleBuilder, primals: Sequence[Value], outputs: Sequence[Value],
        tangents: Tangents,
    ) -> Tangents:  # fmt: skip
        """Compute the tangents of the outputs for tangents of the arguments.

        ``primals`` are all inputs.
        """

    def _closure(
        self, rule: RuleBuilder, primals: Sequence[Value], tangents_in: Tangents
    ) -> Tangents:
        """Record the function itself again, with what it closes over under fresh identities.

        Where it calls functions with a rule of their own, derivatives still stop at their arguments
        and results: what these rules say is not added to native derivatives. Two values of the
        closure may have become one, as those of two arguments of ``vmap`` do where both are the
        same array: it is then followed once.
        """
        trace = Trace()
        begin, end = Stopped(self.call, False), Stopped(self.call, True)
        n, m = self.count, self.count + self.arguments
        pairs = zip(self.of_closure(primals), self.of_closure(tangents_in), strict=True)
        closed_over = {x.key: t for x, t in pairs}
        wrt = {key: pin(key, trace) for key in closed_over}
        arguments = {x.key: pin(x.key, trace) for x in primals[n:m]}
        found: dict[ValueKey, ValueKey] = dict(wrt)

        def definition_of(key: ValueKey) -> Definition | None:
            definition = None if key in found else key.definition
            if definition is None or definition[0] is not begin:
                return definition
            found[key] = arguments[definition[3]]
            return None

        values = [y.key for y in primals[:n]]
        order, definitions, _ = postorder(values, definition_of)
        for key, definition in zip(order, definitions, strict=True):
            if definition[0] is end and definition[3] in found:
                found[key] = found[definition[3]]
                continue
            y = derive_again(definition, found)
            if y is not None:
                found[key] = y
        trace.open = False
        outputs = [found.get(key, key) for key in values]
        pins, tangents = list(wrt.values()), list(closed_over.values())
        flowing = pushforward(outputs, pins, tangents, space=rule.space, context=rule.context)
        if not self.converted:
            return flowing
        lost = [x for x in self.stopped(primals) if x.aval.dtype.is_inexact]
        guard = WithoutArguments(self.converted)
        return [None if t is None else rule.emit(guard, t, *lost) for t in flowing]


class WithoutArguments(Mixed):
    """A derivative that was computed from numbers instead of from the arguments.   dy, x…   →   dy

    Its derivative in dy is the identity; its derivatives in x… are unknown.
    """

    key = "std::without_arguments"
    linear = ((0,),)
    transparent = True
    volatile = True
    fixed_rules = False
    batch = pointwise
    converted: str

    def abstract_eval(self, dy: Aval, *xs: Aval) -> Aval:
        """Return the aval of the derivative."""
        return dy

    def jvp_input(self, *_: Any) -> Any:
        """Refuse the derivative in an argument."""
        text = (
            "a second derivative is lost: a function with a derivative rule of its own converts\n"
            "an argument to numbers and closes over a value that varies\n"
            "  got        the derivative, by an argument, of the derivative by that value\n"
            "  need       operations that stay in the graph; or pass the value as an argument,\n"
            "             so that the rule states its derivative\n"
            f"  converted  {self.converted}"
        )
        asked = "a second derivative"
        raise at_user_line(TracedConversionError(text, aval=None, asked=asked, function=None))

    def transpose_together(
        self, ct: Handle, active: Sequence[bool], *inputs: Handle
    ) -> list[Handle | None]:
        """Pass the cotangent on, which depends on the arguments in the same unknown way."""
        return [bind(self, ct, *inputs[1:]), *[None] * (len(inputs) - 1)]


def plain_arrays(values: Sequence[Value]) -> list[Array]:
    """Return values as the user's rules see them."""
    return [Array(value.key) for value in values]
