"""``Checkpoint``: a closed graph whose derivative computes its values again.

    outputs = body(inputs)

The linear part of the derivative is a checkpoint, too. It reads the inputs and the kept outputs,
and computes every other value of the body again. An equation of its own does this, because equal
values are one value: outside it, what is computed again would be the value that was to be freed.
Read next: ``scan.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from tenferro.computegraph import Fragment, ValueKey, new_leaf, other_leaves
from tenferro.primitives._aval import Aval
from tenferro.primitives._handle import Handle
from tenferro.primitives._primitive import TensorPrimitive, bind_all
from tenferro.primitives.control.higher_order import HigherOrder, read_among
from tenferro.primitives.control.scan import emitted
from tenferro.tidu import FlowInput, Residual, RuleBuilder, Value, is_pin, linear_map, pushforward

__all__ = ["Checkpoint", "checkpoint"]


class Checkpoint(HigherOrder):
    """inputs…   →   the outputs of the body

    body       a closed graph
    kept       outputs, by number, that the derivative reads instead of computing them again
    recompute  the body computes again what was computed before: it stays an equation of its own
    is_linear  for each input, whether the outputs are jointly linear in these inputs
    """

    key = "std::checkpoint"
    body: Fragment
    kept: tuple[int, ...] = ()
    recompute: bool = False
    is_linear: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        self.check_graph("body")
        self.check_outputs(self.kept, len(self.body.outputs))
        self.check_marks(len(self.body.input_avals))
        self.check_bool("recompute")

    @property
    def bodies(self) -> tuple[tuple[str, Fragment], ...]:
        """The closed graphs among the parameters, by name."""
        return (("body", self.body),)

    @property
    def output_count(self) -> int:
        """As many as the body has."""
        return len(self.body.outputs)

    def abstract_eval(self, *avals: Aval) -> tuple[Aval, ...]:
        self.check_inputs(avals, self.body.input_avals)
        return self.body.output_avals

    @property
    def unread(self) -> tuple[int, ...]:
        """The inputs that no output depends on, such as those that a barrier waits for."""
        read = {*self.body.outputs}.union(*[places for _, places in self.body.equations])
        return tuple([i for i in range(len(self.body.input_avals)) if i not in read])

    def without_unread(self) -> Checkpoint:
        """Return the same operation on the inputs that are read."""
        avals = self.body.input_avals
        leaves = [new_leaf(f"x{i}", aval) for i, aval in enumerate(avals)]
        unread = self.unread
        read = [i for i in range(len(avals)) if i not in unread]
        body = Fragment.of([leaves[i] for i in read], self.body.apply(leaves))
        marks = tuple([self.is_linear[i] for i in read]) if self.is_linear else ()
        return Checkpoint(body, self.kept, self.recompute, marks)

    def decompose(self, *xs: Handle) -> tuple[Handle, ...]:
        """Write the body out; a backend without checkpoints keeps what it likes."""
        return tuple(map(Handle, self.body.apply([x.key for x in xs])))

    def jvp(
        self,
        rule: RuleBuilder,
        primals_in: Sequence[Any],
        primals_out: Sequence[Any],
        tangents_in: Sequence[Value | None],
    ) -> Sequence[Value | None]:
        """Emit the tangents of the body as one equation over inputs, kept outputs and tangents.

        In forward mode nothing waits for a later sweep, so that nothing is computed again.
        """
        on = [i for i, t in enumerate(tangents_in) if t is not None]
        if {*on} <= {*self.linear_inputs}:
            return rule.apply_linear(self, self.linear_inputs, primals_in, tangents_in)
        on = [i for i in on if self.body.input_avals[i].dtype.is_inexact]
        inputs = [new_leaf(f"x{i}", aval) for i, aval in enumerate(self.body.input_avals)]
        seeds = [new_leaf(f"d{i}", inputs[i].aval) for i in on]
        outputs = self.body.apply(inputs)
        found = pushforward(
            outputs,
            [inputs[i] for i in on],
            [Handle(seed) for seed in seeds],
            space=TensorPrimitive.space,
            context=rule.context,
        )
        wanted = [i for i, t in enumerate(found) if t is not None]
        if not wanted:
            return [None] * self.output_count
        results = [t.key for t in found if t is not None]
        value_of = {key: primals_out[i] for i in self.kept if not _literal(key := outputs[i])}
        value_of.update(zip(inputs, primals_in, strict=True))
        fixed = read_among(results, [*value_of, *seeds], value_of)
        brought = other_leaves([*fixed, *seeds], results)
        linear = Checkpoint(
            Fragment.of([*brought, *fixed, *seeds], results, is_pin),
            recompute=self.recompute or rule.sweep.kept,
            is_linear=(False,) * (len(brought) + len(fixed)) + (True,) * len(seeds),
        )
        operands = [*map(rule.value, brought), *[value_of[key] for key in fixed]]
        tangents = emitted(rule, linear, [*operands, *[tangents_in[i] for i in on]])  # type: ignore[list-item]  # there are
        at = dict(zip(wanted, tangents, strict=True))
        return [at.get(i) for i in range(self.output_count)]

    def transpose(
        self,
        rule: RuleBuilder,
        cotangents_out: Sequence[Value | None],
        inputs: Sequence[Residual | FlowInput],
    ) -> Sequence[Value | None]:
        """Emit the transpose of the body as one equation, which computes the primals again."""
        rows = [i for i, ct in enumerate(cotangents_out) if ct is not None]
        leaves = [new_leaf(f"x{i}", aval) for i, aval in enumerate(self.body.input_avals)]
        outputs = self.body.apply(leaves)
        seeds = [new_leaf(f"ct{i}", outputs[i].aval) for i in rows]
        own = self.linear_inputs
        linear = linear_map(
            [outputs[i] for i in rows],
            [leaves[i] for i in own],
            space=TensorPrimitive.space,
            context=rule.context,
        )
        cotangents = linear.transpose([Handle(seed) for seed in seeds])
        found = {i: ct.key for i, ct in zip(own, cotangents, strict=True) if ct is not None}
        if not found:
            return [None] * len(inputs)
        results = [*found.values()]
        number = {leaf: i for i, leaf in enumerate(leaves)}
        fixed = read_among(results, [*leaves, *seeds], number)
        brought = other_leaves([*fixed, *seeds], results)
        transposed = Checkpoint(
            Fragment.of([*brought, *fixed, *seeds], results, is_pin),
            recompute=bool(fixed or brought),
            is_linear=(False,) * (len(brought) + len(fixed)) + (True,) * len(seeds),
        )
        operands = [*map(rule.value, brought), *[_fixed(inputs[number[key]]) for key in fixed]]
        values = emitted(rule, transposed, [*operands, *[cotangents_out[i] for i in rows]])  # type: ignore[list-item]  # there are
        at = dict(zip(found, values, strict=True))
        return [at.get(i) if isinstance(x, FlowInput) else None for i, x in enumerate(inputs)]

    def batch_bodies(
        self, batch: Callable[..., Any], size: int, batched: Sequence[bool], *xs: Handle
    ) -> Sequence[Handle]:
        """Batch the body; every output has the axis of examples in front."""
        batching = import_module("tenferro.primitives.control.batching")
        body = batching.every_example(self.body, batch, size, batched)
        return bind_all(self.replaced(body=body), *xs)


def _fixed(x: Residual | FlowInput) -> Value:
    assert isinstance(x, Residual)  # the body is not linear in it
    return x.value


def _literal(key: ValueKey) -> bool:
    return key.definition is not None and bool(key.definition[0].literal)


def checkpoint(body: Fragment, *operands: Handle, kept: Sequence[int] = ()) -> tuple[Handle, ...]:
    """Run a closed graph whose derivative computes its values again.

    operands: any   →   the outputs of the body

    Definition   outputs = body(operands)
    Transpose    the transpose of the body, which first computes again what it reads, except for
                 the operands and the outputs numbered in ``kept``
    Raises       InvalidParameterError: if ``kept`` names an output that does not exist.

    >>> from tenferro.computegraph import Fragment
    >>> from tenferro.primitives import checkpoint, variable
    >>> x = variable("x", (3,), "f64")
    >>> [y.aval for y in checkpoint(Fragment.of([x.key], [(x * x).key]), x)]
    [f64[3]]
    """
    return bind_all(Checkpoint(body, tuple(kept)), *operands)
