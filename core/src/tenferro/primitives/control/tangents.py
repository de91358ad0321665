"""The derivative of a loop, forward: one loop over primals and tangents.

A carry has a tangent if its start has one, or if a step gives it one; the latter is found by going
through the body until nothing is added. Read next: ``residuals.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from tenferro.computegraph import Fragment, ValueKey, new_leaf, other_leaves
from tenferro.primitives._handle import Handle
from tenferro.primitives._primitive import TensorPrimitive
from tenferro.primitives.control.scan import Scan
from tenferro.primitives.control.while_loop import WhileLoop
from tenferro.tidu import ADContext, RuleBuilder, Value, is_pin, pushforward
from tenferro.tidu._context import EMPTY_CONTEXT

#: a loop, its operands, and the outputs of the first loop whose tangents it gives
Joint = tuple[Scan, list[Any], list[int]]


def joint_loop(
    loop: Scan, primals: Sequence[Any], tangents: Sequence[Value | None], rule: RuleBuilder
) -> Joint | None:
    """Return the loop that gives the tangents of the outputs; ``None`` if there are none.

    Its inputs are those of ``loop``, and behind consts, carry and xs the tangents of these.
    """
    active = {i for i, t in enumerate(tangents) if t is not None}
    inputs, seeds, outputs, found = _tangents_of(loop.body, loop.consts, loop.carried, active, rule)
    carries = range(loop.carried)
    wanted = [place for place, i in enumerate(loop.outputs) if found[i] is not None]
    if not wanted:
        return None
    moving = [i for i in carries if loop.consts + i in seeds]
    row_tangents = [loop.outputs[place] for place in wanted if loop.outputs[place] >= loop.carried]
    results: list[ValueKey] = [outputs[i] for i in carries]
    results += [_or_zeros(found[i], outputs[i], rule) for i in moving]
    first_row = len(results)
    results += [found[i].key for i in row_tangents]  # type: ignore[union-attr]  # it is wanted
    leaves: list[ValueKey] = []
    operands: list[Any] = []
    linear: list[bool] = []
    counts = []
    for start, stop in (
        (0, loop.consts),
        (loop.consts, loop.rows),
        (loop.rows, len(inputs)),
    ):
        own = [i for i in range(start, stop) if i in seeds]
        leaves += [*inputs[start:stop], *[seeds[i] for i in own]]
        operands += [*primals[start:stop], *[_given(tangents[i], primals[i], rule) for i in own]]
        linear += [False] * (stop - start) + [True] * len(own)
        counts.append(stop - start + len(own))
    brought = other_leaves(leaves, results)
    place_of = {i: loop.carried + k for k, i in enumerate(moving)}
    place_of.update({i: first_row + k for k, i in enumerate(row_tangents)})
    joint = Scan(
        body=Fragment.of([*brought, *leaves], results, is_pin),
        consts=len(brought) + counts[0],
        carried=counts[1],
        length=loop.length,
        outputs=tuple([place_of[loop.outputs[place]] for place in wanted]),
        reverse=loop.reverse,
        is_linear=(*[False] * len(brought), *linear),
        offload=loop.offload,
        offloaded=tuple([place_of[i] for i in loop.offloaded if i in place_of]),
        stores_all=loop.stores_all,
        derivatives=(*loop.derivatives, *range(loop.carried, loop.carried + len(moving))),
    )
    return joint, [*map(rule.value, brought), *operands], wanted


def joint_while(
    loop: WhileLoop, primals: Sequence[Any], tangents: Sequence[Value | None], rule: RuleBuilder
) -> tuple[WhileLoop, list[Any], list[int]] | None:
    """Return the loop that gives the tangents of the outputs; ``None`` if there are none.

    It ends when ``loop`` does. Its inputs are those of ``loop``, and behind consts and carry the
    tangents of these.
    """
    active = {i for i, t in enumerate(tangents) if t is not None}
    inputs, seeds, outputs, found = _tangents_of(loop.body, loop.consts, loop.carried, active, rule)
    moving = [i for i in range(loop.carried) if loop.consts + i in seeds]
    place_of = {i: loop.carried + k for k, i in enumerate(moving)}
    wanted = [place for place, i in enumerate(loop.outputs) if i in place_of]
    if not wanted:
        return None
    leaves: list[ValueKey] = []
    operands: list[Any] = []
    linear: list[bool] = []
    for start, stop in ((0, loop.consts), (loop.consts, len(inputs))):
        own = [i for i in range(start, stop) if i in seeds]
        leaves += [*inputs[start:stop], *[seeds[i] for i in own]]
        operands += [*primals[start:stop], *[_given(tangents[i], primals[i], rule) for i in own]]
        linear += [False] * (stop - start) + [True] * len(own)
    results = [*outputs, *[_or_zeros(found[i], outputs[i], rule) for i in moving]]
    brought = other_leaves(leaves, results)
    leaves = [*brought, *leaves]
    joint = WhileLoop(
        Fragment.of(leaves, loop.condition.apply(inputs), is_pin),
        Fragment.of(leaves, results, is_pin),
        len(brought) + len([i for i in seeds if i < loop.consts]) + loop.consts,
        tuple([place_of[loop.outputs[place]] for place in wanted]),
        (*[False] * len(brought), *linear),
    )
    return joint, [*map(rule.value, brought), *operands], wanted


Pushed = tuple[list[ValueKey], dict[int, ValueKey], list[ValueKey], list[Value | None]]


def _tangents_of(
    body: Fragment, consts: int, carried: int, active: set[int], rule: RuleBuilder
) -> Pushed:
    """Push tangents through the body once for each carry that turns out to have one, at most.

    Returns fresh inputs of the body, a fresh tangent for each that has one, outputs, tangents.
    Loops that differ in their length share them.
    """
    on = frozenset([i for i in active if body.input_avals[i].dtype.is_inexact])
    if body.volatile or rule.context is not EMPTY_CONTEXT:
        return _pushed(body, consts, carried, on, rule.context)
    return _pushed_once(body, consts, carried, on)


@lru_cache(maxsize=128)
def _pushed_once(body: Fragment, consts: int, carried: int, on: frozenset[int]) -> Pushed:
    """Push tangents through a body by the rules of its primitives."""
    return _pushed(body, consts, carried, on, EMPTY_CONTEXT)


def _pushed(
    body: Fragment, consts: int, carried: int, on: frozenset[int], context: ADContext
) -> Pushed:
    avals = body.input_avals
    while True:
        inputs = [new_leaf(f"x{i}", aval) for i, aval in enumerate(avals)]
        seeds = {i: new_leaf(f"d{i}", avals[i]) for i in sorted(on)}
        outputs = body.apply(inputs)
        found = pushforward(
            outputs,
            [inputs[i] for i in seeds],
            [Handle(seed) for seed in seeds.values()],
            space=TensorPrimitive.space,
            context=context,
        )
        more = {consts + i for i in range(carried) if found[i] is not None} - on
        if not more:
            return inputs, seeds, outputs, found
        on |= more


def _or_zeros(tangent: Value | None, like: ValueKey, rule: RuleBuilder) -> ValueKey:
    return rule.zeros(like.aval).key if tangent is None else tangent.key


def _given(tangent: Value | None, primal: Any, rule: RuleBuilder) -> Value:
    return rule.zeros(primal.aval) if tangent is None else tangent
