"""Functions with a forward rule of their own: ``custom_jvp``.

The rule is recorded on tangents like any other function, so higher orders follow; what it does
with them must be linear, and is turned around for the reverse mode. Read next: ``_custom_vjp.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tenferro.array import Array
from tenferro.array._array import is_weak
from tenferro.primitives import Handle, Primitive
from tenferro.primitives._aval import Aval
from tenferro.primitives._primitive import bind_all
from tenferro.tidu import MissingRuleError, NotLinearError, RuleBuilder, Trace, Value, linear_map
from tenferro.transforms import _tree
from tenferro.transforms._custom_batch import BatchedJvp, values_in_front
from tenferro.transforms._custom_call import (
    Arguments,
    CustomFunction,
    defined,
    fit,
    is_known_zero,
    pinned,
    run_rule,
)

Tangents = Sequence[Value | None]


class custom_jvp(CustomFunction):
    """Make a function whose derivative is what you say, by a rule for tangents.

    ``@f.defjvp`` registers ``rule(primals, tangents) -> (y, dy)``: two tuples with one entry per
    argument, and the value with its tangent. ``f.defjvps(rule, …)`` takes one rule per argument,
    ``rule(dx, y, *primals)``, or ``None`` where there is no contribution. Arguments named by
    ``nondiff_argnums`` come first in the call of the rule, keyword-only arguments by keyword.
    Integers and other things that cannot vary have the tangent ``None``. The rule must be linear
    in the tangents; it serves every mode and order, ``jit`` and ``vmap``. The value is always that
    of the function itself, whose closure is differentiated as ever.

    Raises MissingRuleError: at differentiation, if no rule was registered.
    Raises NotLinearError: if the rule is not linear in the tangents.
    Raises RuleResultError: if it returns another structure, shape or dtype than the function.

    >>> import tenferro as tn
    >>> @tn.custom_jvp
    ... def log1pexp(x):
    ...     return tn.log(1 + tn.exp(x))
    >>> @log1pexp.defjvp
    ... def rule(primals, tangents):
    ...     (x,), (dx,) = primals, tangents
    ...     return log1pexp(x), (1 - 1 / (1 + tn.exp(x))) * dx
    >>> log1pexp.name
    'log1pexp'
    """

    def __init__(self, function: Any = None, nondiff_argnums: int | Sequence[int] = ()) -> None:
        super().__init__(function, nondiff_argnums)
        self.rule: Callable[..., Any] | None = None

    def defjvp(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Register the rule ``(primals, tangents) -> (y, dy)``; returns it."""
        self.rule = rule
        return rule

    def defjvps(self, *rules: Callable[..., Any] | None) -> None:
        """Register a rule ``(dx, y, *primals) -> dy`` per argument; contributions are added."""
        if self.nondiff_argnums:
            raise TypeError("defjvps has no place for nondiff_argnums; use defjvp")

        def rule(primals: tuple[Any, ...], tangents: tuple[Any, ...], **named: Any) -> Any:
            y = self(*primals, **named)
            if len(rules) != len(primals):
                raise self.wrong("defjvps", f"{len(rules)} rules", f"{len(primals)}, one each")
            given = [(r, t) for r, t in zip(rules, tangents, strict=True) if r and t is not None]
            return y, _sum([r(t, y, *primals) for r, t in given], y)

        self.rule = rule

    def _operation(self, arguments: Arguments, out_spec: Any, count: int) -> Primitive:
        return CustomJvp(JvpCall(self, arguments, out_spec), count)


def _sum(terms: Sequence[Any], like: Any) -> Any:
    """The sum of pytrees; zeros if there are none."""
    leaves, spec = _tree.flatten(like)
    total: list[Any] = [0.0] * len(leaves)
    for term in terms:
        parts = _tree.flatten_up_to(spec, term)
        total = [p if type(t) is float else t + p for t, p in zip(total, parts, strict=True)]
    return _tree.unflatten(spec, total)


class JvpCall(NamedTuple):
    """One call of a function with a forward rule, on the level of arrays."""

    custom: custom_jvp
    arguments: Arguments
    out_spec: Any

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.custom.name

    def tangents(
        self, primals: Sequence[Array], tangents: Sequence[Array | None], outputs: Sequence[Array]
    ) -> list[Array | None]:
        """Tangents of the outputs by the user's rule; ``None`` for a zero."""
        custom, arguments = self.custom, self.arguments
        rule = custom.rule
        if rule is None:
            raise missing(custom, "jvp", "@f.defjvp", "(primals, tangents) -> (y, dy)")
        given = arguments.places.fill(primals), arguments.places.fill(tangents, _no_tangent)
        result = run_rule(rule, *arguments.leading, *given, **arguments.named)
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            need = "a pair: the value and its tangent"
            raise custom.wrong("the jvp rule", type(result).__name__, need, rule)
        self._up_to(result[0], "the value that the jvp rule returns")
        found = self._up_to(result[1], "the tangent that the jvp rule returns")
        pairs = zip(found, outputs, strict=True)
        return [self._fitting(value, y) for value, y in pairs]

    def _up_to(self, tree: Any, what: str) -> list[Any]:
        try:
            return _tree.flatten_up_to(self.out_spec, tree)
        except ValueError:
            got = str(_tree.flatten(tree)[1])
            raise self.custom.wrong(what, got, str(self.out_spec), self.custom.rule) from None

    def _fitting(self, value: Any, y: Array) -> Array | None:
        if not y.dtype.is_inexact:
            return None
        what = "the tangent that the jvp rule returns"
        return fit(self.custom, what, self.custom.rule, value, y.aval, is_weak(y))

    def not_linear(self, why: str, active: tuple[int, ...]) -> NotLinearError:
        """The error about a rule that is not linear."""
        name = self.custom.name
        text = f"{name}: its jvp rule is not linear in the tangents\n  got        {why}"
        text += "\n  need       sums of products with what does not depend on tangents"
        text += defined(self.custom.rule)
        return NotLinearError(text, primitive=name, rule="jvp", active=active)


def _no_tangent(value: Any) -> Any:
    """What stands for the tangent of something that is no array."""
    return 0.0 if type(value) in (float, complex) else None


def missing(custom: CustomFunction, rule: str, write: str, signature: str) -> MissingRuleError:
    """The error about a rule that was not registered."""
    function = custom.function
    provider = getattr(function, "__module__", None) or ""
    return MissingRuleError(
        f"{custom.name}: no {rule} rule was registered\n"
        f"  provider   {provider}.{getattr(function, '__qualname__', custom.name)}\n"
        f"  hint       write `{write.replace('@f', '@' + custom.name)}` above a function\n"
        f"             {signature}",
        primitive=custom.name,
        rule=rule,
        provider=provider,
        input=None,
    )


class Custom(Primitive):
    """Base of the operations around results of a custom function: inputs (y…, x…), outputs y…

    They are gone where values are computed. Flow that enters by y comes from what the function
    closes over, and passes.
    """

    transparent = True
    volatile = True
    rule: Any
    count: int

    @property
    def output_count(self) -> int:  # type: ignore[override]
        """As many as there are values."""
        return self.count

    def abstract_eval(self, *avals: Aval) -> tuple[Aval, ...]:
        """The avals of the values."""
        return avals[: self.count]

    def groups(self, count: int) -> tuple[tuple[int, ...], ...]:
        """Where flow is sent through the function itself, it is linear in all."""
        return (tuple(range(count)),)

    def transpose_each(self, cts: Any, index: int, *inputs: Handle) -> Handle | None:
        """Flow leaves as it came, through the function itself."""
        found = cts if isinstance(cts, (tuple, list)) else (cts,)
        return found[index] if index < self.count else None

    def jvp(
        self, rule: RuleBuilder, primals_in: Sequence[Value], primals_out: Sequence[Value],
        tangents_in: Tangents,
    ) -> Tangents:  # fmt: skip
        """What comes through the function itself, and what the rule says of the arguments."""
        n = self.count
        terms = []
        if any([t is not None for t in tangents_in[:n]]):
            terms.append(tangents_in[:n])
        if any([t is not None for t in tangents_in[n:]]):
            terms.append(self.own(rule, primals_in[n:], primals_out, tangents_in[n:]))
        return rule.sum_terms(terms)

    def own(
        self, rule: RuleBuilder, primals: Sequence[Value], outputs: Sequence[Value],
        tangents: Tangents,
    ) -> Tangents:  # fmt: skip
        """Tangents of the outputs for tangents of the arguments."""
        raise NotImplementedError


class CustomJvp(Custom):
    """The values of a function with a forward rule.   y…, x…   →   y…"""

    key = "std::custom_jvp"

    def own(
        self, rule: RuleBuilder, primals: Sequence[Value], outputs: Sequence[Value],
        tangents: Tangents,
    ) -> Tangents:  # fmt: skip
        """Record the user's rule on fresh tangents, and send the flow through what it did."""
        call = self.rule
        arrays, ys = plain_arrays(primals), plain_arrays(outputs)
        trace = Trace()
        pairs = zip(tangents, arrays, strict=True)
        pins = [pinned(t, x.aval, trace) if x.dtype.is_inexact else None for t, x in pairs]
        try:
            found = call.tangents(arrays, pins, ys)
        finally:
            trace.open = False
        return self._send(rule, found, pins, tangents)

    def _send(
        self, rule: RuleBuilder, found: Sequence[Array | None], pins: Sequence[Array | None],
        tangents: Tangents,
    ) -> Tangents:  # fmt: skip
        places = [x.key for x in pins if x is not None]
        flowing = [t for t, x in zip(tangents, pins, strict=True) if x is not None]
        chosen = [i for i, y in enumerate(found) if y is not None]
        keys = [y.key for y in found if y is not None]
        try:
            linear = linear_map(
                keys, places, space=rule.space, operation=self, context=rule.context
            )
        except NotLinearError as error:
            why = str(error).partition("\n")[0]
            raise self.rule.not_linear(why, error.fields["active"]) from error
        for i, is_reached in zip(chosen, linear.reached, strict=True):
            value = found[i]
            if not is_reached and value is not None and not is_known_zero(value):
                raise self.rule.not_linear("a tangent that does not depend on tangents", ())
        results: list[Value | None] = [None] * self.count
        for i, value in zip(chosen, linear.apply(flowing), strict=True):
            results[i] = value
        return results

    def batch(self, size: int, batched: Sequence[bool], *inputs: Handle) -> Sequence[Handle]:
        """The same values, under the rule for all examples."""
        call = BatchedJvp(self.rule, size, tuple(batched[self.count :]))
        return bind_all(CustomJvp(call, self.count), *values_in_front(self, size, batched, inputs))


def plain_arrays(values: Sequence[Value]) -> list[Array]:
    """Values as rules of the user see them."""
    return [Array(value.key) for value in values]
