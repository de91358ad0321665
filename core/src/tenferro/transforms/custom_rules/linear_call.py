"""A linear map by rules of the user, as an operation: what a sweep emits before it is known
whether the map will be applied or transposed.

Nothing runs the operation: where its value is wanted at once, or its transpose, the user's rule is
recorded in its place. Read next: ``custom_rules/vjp.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.arrays import Array
from tenferro.primitives import Handle, TensorPrimitive, constant
from tenferro.primitives._aval import Aval
from tenferro.tidu import (
    FlowInput,
    Residual,
    RuleBuilder,
    Trace,
    Value,
    emit,
    is_kept,
    joint_flow,
    linear_map,
    pin,
    pushforward,
)
from tenferro.transforms.custom_rules.checks import is_constant_zero
from tenferro.transforms.custom_rules.stopped import pinned

Values = Sequence[Value | None]


class LinearCall(TensorPrimitive):
    """A linear map by a rule with ``push`` and ``pull``.   residuals…, x…   →   y…

    ``rule.push(residuals, xs)`` gives results, ``rule.pull(residuals, cts)`` cotangents of the xs,
    ``rule.transposed()`` the rule of the transpose if it has one; ``None`` among values is a zero,
    given to ``push`` only where not ``rule.wants_zeros``.
    """

    key = "std::linear_call"
    fixed_rules = False
    rule: Any
    residuals: int
    ins: tuple[Aval, ...]
    outs: tuple[Aval, ...]

    @property
    def volatile(self) -> bool:  # type: ignore[override]  # it depends on the rule
        """True unless the rule consists of graphs and says so."""
        return bool(getattr(self.rule, "volatile", True))

    @property
    def output_count(self) -> int:
        """One per aval."""
        return len(self.outs)

    def abstract_eval(self, *inputs: Aval) -> tuple[Aval, ...]:
        """Return the avals of the results."""
        return self.outs

    def groups(self, count: int) -> tuple[tuple[int, ...], ...]:
        """Return one group: linear in all inputs after the residuals."""
        return (tuple(range(self.residuals, count)),)

    def send(self, residuals: Sequence[Value], flowing: Values) -> Values:
        """Return the results in flow: recorded now, or as this operation if it will be
        differentiated.
        """
        if not is_kept([t for t in flowing if t is not None]):
            return self.expand(None, [*residuals, *flowing])
        pairs = zip(flowing, self.ins, strict=True)
        given = [constant(0, a.dtype, a.shape) if t is None else t for t, a in pairs]
        return emit(self, [*residuals, *given], Handle)

    def expand(self, rule: RuleBuilder | None, inputs: Values) -> Values:
        """Return the results of the user's rule."""
        r = self.residuals
        found, _ = self._run(
            self.rule.push, inputs[:r], inputs[r:], self.ins, self.rule.wants_zeros
        )
        return _in_flow_of(inputs[r:], found)

    def transpose(
        self,
        rule: RuleBuilder,
        cotangents_out: Values,
        inputs: Sequence[Residual | FlowInput],
    ) -> Values:
        """Return cotangents by the user's rule, which must be linear only if it is
        differentiated.
        """
        r = self.residuals
        fixed = [i.value for i in inputs[:r] if isinstance(i, Residual)]
        kept = is_kept([ct for ct in cotangents_out if ct is not None])
        transposed = self.rule.transposed() if kept else None
        if transposed is not None:
            found = LinearCall(transposed, r, self.outs, self.ins).send(fixed, cotangents_out)
        else:
            found = self._pull(rule, fixed, cotangents_out, kept)
        active = [isinstance(i, FlowInput) for i in inputs[r:]]
        return [None] * r + [ct if on else None for ct, on in zip(found, active, strict=True)]

    def _pull(
        self, rule: RuleBuilder, fixed: Sequence[Value], cotangents: Values, kept: bool
    ) -> Values:
        found, pins = self._run(self.rule.pull, fixed, cotangents, self.outs, True)
        if not kept:
            return _in_flow_of(cotangents, found)
        keys = [x.key for x in found if x is not None]
        places = [x.key for x in pins if x is not None]
        linear = linear_map(
            keys,
            places,
            space=rule.space,
            operation=self,
            context=rule.context,
            is_zero=is_constant_zero,
        )
        values = iter(linear.apply(cotangents))
        return [None if x is None else next(values) for x in found]

    def _run(
        self,
        rule: Callable[..., Sequence[Array | None]],
        residuals: Values,
        values: Values,
        avals: Sequence[Aval],
        zeros: bool,
    ) -> tuple[Sequence[Array | None], Sequence[Array | None]]:
        """Record a rule on fresh identities of the values; the results, and these identities."""
        trace = Trace()
        pairs = zip(values, avals, strict=True)
        pins = [pinned(v, a, trace) if zeros or v is not None else None for v, a in pairs]
        try:
            return rule([Array(x.key) for x in residuals if x is not None], pins), pins
        finally:
            trace.open = False

    def jvp(
        self,
        rule: RuleBuilder,
        primals_in: Sequence[Value],
        primals_out: Sequence[Value],
        tangents_in: Values,
    ) -> Values:
        """Return the derivative of the recorded results."""
        trace = Trace()
        keys = [pin(x.key, trace) for x in primals_in]
        results = self.expand(rule, [Handle(key) for key in keys])
        trace.open = False
        found = iter(
            pushforward(
                [y.key for y in results if y is not None],
                keys,
                tangents_in,
                space=rule.space,
                context=rule.context,
            )
        )
        return [None if y is None else next(found) for y in results]

    def decompose(self, *inputs: Handle) -> Sequence[Handle]:
        """Return the recorded results."""
        pairs = zip(self.expand(None, inputs), self.outs, strict=True)
        return [constant(0, a.dtype, a.shape) if y is None else Handle(y.key) for y, a in pairs]


def _in_flow_of(values: Values, results: Sequence[Array | None]) -> Values:
    """Return recorded results as values that carry the flow of the inputs."""
    flow = joint_flow(values)
    return [None if y is None else Handle(y.key, flow) for y in results]
