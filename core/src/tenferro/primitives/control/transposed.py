"""The transpose of a linear loop: a linear loop that runs the other way.

Cotangents of the carry go from step to step, those of consts are added up on the way, those of xs
are the rows that it gives. Read next: ``batching.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from tenferro.computegraph import Fragment, ValueKey, new_leaf, other_leaves
from tenferro.primitives._handle import Handle
from tenferro.primitives._primitive import TensorPrimitive
from tenferro.primitives.control.residuals import split
from tenferro.primitives.control.scan import Scan, emitted
from tenferro.tidu import ADContext, FlowInput, Residual, RuleBuilder, Value, is_pin, linear_map
from tenferro.tidu._context import EMPTY_CONTEXT


def cotangents(
    loop: Scan,
    cotangents_out: Sequence[Value | None],
    inputs: Sequence[Residual | FlowInput],
    rule: RuleBuilder,
) -> list[Value | None]:
    """Return the cotangents of the linear inputs; ``None`` in the places of the others."""
    marks = loop.is_linear[loop.consts : loop.rows]
    if not all(marks):
        return _behind_primals(loop, cotangents_out, inputs, rule)
    backward = _Backward(loop, cotangents_out, rule)
    return backward.cotangents(inputs)


def _behind_primals(
    loop: Scan,
    cotangents_out: Sequence[Value | None],
    inputs: Sequence[Residual | FlowInput],
    rule: RuleBuilder,
) -> list[Value | None]:
    """Transpose a loop that carries primals as well: these run first."""
    operands = [_Place(i, x.aval) if isinstance(x, FlowInput) else x.value
                for i, x in enumerate(inputs)]  # fmt: skip
    linear, given = split(loop, operands, rule)
    again = [FlowInput(x.aval) if isinstance(x, _Place) else Residual(x) for x in given]
    found = cotangents(linear, cotangents_out, again, rule)
    results: list[Value | None] = [None] * len(inputs)
    for x, ct in zip(given, found, strict=True):
        if isinstance(x, _Place):
            results[x.number] = ct
    return results


class _Place:
    """The place of an input that carries flow: only its aval may be read."""

    def __init__(self, number: int, aval: Any) -> None:
        self.number = number
        self.aval = aval


class _Backward:
    """The transposed loop: what its body reads, and what its results are cotangents of."""

    def __init__(
        self, loop: Scan, cotangents_out: Sequence[Value | None], rule: RuleBuilder
    ) -> None:
        self.loop = loop
        self.rule = rule
        self.of_output: dict[int, Value] = {
            i: ct for i, ct in zip(loop.outputs, cotangents_out, strict=True) if ct is not None
        }

    def cotangents(self, inputs: Sequence[Residual | FlowInput]) -> list[Value | None]:
        """Emit the transposed loop and return the cotangents of the linear inputs.

        Its carry is the cotangent of each carry and, for each const that the loop is linear in, the
        sum of the cotangents of the steps so far. Its ys are the cotangents of the rows of xs. It
        reads the consts and xs that the loop is not linear in, and the cotangents of ys by row.
        """
        loop, rule = self.loop, self.rule
        body = loop.body
        carries = range(loop.carried)
        rows = sorted([i for i in self.of_output if i >= loop.carried])
        own = loop.linear_inputs
        leaves, seeds, found = _cotangents_of(body, (*carries, *rows), own, rule)
        whole = [i for i in own if i < loop.consts and found[i] is not None]
        sums = [new_leaf(f"sum{i}", body.input_avals[i]) for i in whole]
        of_rows = [i for i in own if i >= loop.rows and found[i] is not None]
        results = [self._or_zeros(found[loop.consts + i], leaves[loop.consts + i]) for i in carries]
        results += [self._added(total, found[i]) for total, i in zip(sums, whole, strict=True)]
        results += [found[i].key for i in of_rows]  # type: ignore[union-attr]  # there is one
        fixed = [i for i in range(len(leaves)) if not loop.is_linear[i]]
        fixed_whole = [i for i in fixed if i < loop.consts]
        fixed_rows = [i for i in fixed if i >= loop.rows]
        given: list[ValueKey] = [
            *[leaves[i] for i in fixed_whole], *seeds[: loop.carried], *sums,
            *[leaves[i] for i in fixed_rows], *seeds[loop.carried :],
        ]  # fmt: skip
        brought = other_leaves(given, results)
        moving = loop.carried + len(sums)
        backward = Scan(
            body=Fragment.of([*brought, *given], results, is_pin),
            consts=len(brought) + len(fixed_whole),
            carried=moving,
            length=loop.length,
            outputs=tuple(range(len(results))),
            reverse=not loop.reverse,
            is_linear=(
                *[False] * (len(brought) + len(fixed_whole)), *[True] * moving,
                *[False] * len(fixed_rows), *[True] * len(rows),
            ),
            offload=loop.offload,
            stores_all=loop.stores_all,
            derivatives=tuple(range(moving)),
        )  # fmt: skip
        operands = [
            *map(rule.value, brought),
            *[self._fixed(inputs[i]) for i in fixed_whole],
            *[self._start(i, body.output_avals[i]) for i in carries],
            *[rule.zeros(body.input_avals[i]) for i in whole],
            *[self._fixed(inputs[i]) for i in fixed_rows],
            *[self.of_output[i] for i in rows],
        ]
        if not backward.output_count:
            return [None] * len(inputs)
        values = emitted(rule, backward, operands)
        places = [*[loop.consts + i for i in carries], *whole, *of_rows]
        at = dict(zip(places, values, strict=True))
        return [at.get(i) if isinstance(x, FlowInput) else None for i, x in enumerate(inputs)]

    def _fixed(self, x: Residual | FlowInput) -> Value:
        assert isinstance(x, Residual)  # the loop is not linear in it
        return x.value

    def _start(self, i: int, aval: Any) -> Value:
        """Return the cotangent of the last carry."""
        ct = self.of_output.get(i)
        return self.rule.zeros(aval) if ct is None else ct

    def _or_zeros(self, ct: Value | None, like: ValueKey) -> ValueKey:
        return self.rule.zeros(like.aval).key if ct is None else ct.key

    def _added(self, total: ValueKey, ct: Value | None) -> ValueKey:
        assert ct is not None  # only these are added up
        return self.rule.space.add(Handle(total), Handle(ct.key)).key


#: fresh inputs of the body, fresh cotangents of its outputs, and the cotangents by number of input
Pulled = tuple[list[ValueKey], list[ValueKey], dict[int, Value | None]]


def _cotangents_of(
    body: Fragment, through: tuple[int, ...], own: tuple[int, ...], rule: RuleBuilder
) -> Pulled:
    """Pull cotangents of these outputs back through the body, to its linear inputs.

    Returns fresh inputs of the body, fresh cotangents, and what they become, by input. Loops that
    differ in their length share them.
    """
    if body.volatile or rule.context is not EMPTY_CONTEXT:
        return _pulled(body, through, own, rule.context)
    return _pulled_once(body, through, own)


@lru_cache(maxsize=128)
def _pulled_once(body: Fragment, through: tuple[int, ...], own: tuple[int, ...]) -> Pulled:
    """Pull cotangents back through a body by the rules of its primitives."""
    return _pulled(body, through, own, EMPTY_CONTEXT)


def _pulled(
    body: Fragment, through: tuple[int, ...], own: tuple[int, ...], context: ADContext
) -> Pulled:
    leaves = [new_leaf(f"x{i}", aval) for i, aval in enumerate(body.input_avals)]
    outputs = body.apply(leaves)
    seeds = [new_leaf(f"ct{i}", body.output_avals[i]) for i in through]
    linear = linear_map(
        [outputs[i] for i in through],
        [leaves[i] for i in own],
        space=TensorPrimitive.space,
        context=context,
    )
    found = linear.transpose([Handle(seed) for seed in seeds])
    return leaves, seeds, dict(zip(own, found, strict=True))
