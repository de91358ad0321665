"""Derivatives of a choice among branches: the choice among their derivatives.

Read next: ``switch.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.computegraph import Fragment, ValueKey, new_leaf, other_leaves
from tenferro.primitives._handle import Handle
from tenferro.primitives._primitive import TensorPrimitive
from tenferro.primitives.control.higher_order import read_among
from tenferro.primitives.control.scan import emitted
from tenferro.primitives.control.switch import Switch
from tenferro.tidu import FlowInput, Residual, RuleBuilder, Value, is_pin, linear_map, pushforward


def tangents(
    switch: Switch, primals: Sequence[Any], tangents_in: Sequence[Value | None], rule: RuleBuilder
) -> list[Value | None]:
    """Return the tangents of the outputs; ``None`` for those that have none in any branch."""
    avals = switch.branches[0].input_avals
    given = tangents_in[1:]
    on = [i for i, t in enumerate(given) if t is not None and avals[i].dtype.is_inexact]
    pushed = [_pushed(branch, on, rule) for branch in switch.branches]
    wanted = [
        i for i in range(switch.output_count) if any([found[i] is not None for *_, found in pushed])
    ]
    if not wanted:
        return [None] * switch.output_count
    branches = []
    for inputs, seeds, outputs, found in pushed:
        results = [
            rule.zeros(outputs[i].aval).key if (t := found[i]) is None else t.key for i in wanted
        ]
        branches.append((inputs, seeds, results))
    closed, brought, read = _closed(branches)
    marks = (False,) * (len(brought) + len(read)) + (True,) * len(on)
    operands = [
        primals[0],
        *map(rule.value, brought),
        *[primals[i + 1] for i in read],
        *[given[i] for i in on],
    ]
    values = emitted(rule, Switch(closed, marks), operands)
    at = dict(zip(wanted, values, strict=True))
    return [at.get(i) for i in range(switch.output_count)]


def _pushed(
    branch: Fragment, on: Sequence[int], rule: RuleBuilder
) -> tuple[list[ValueKey], list[ValueKey], list[ValueKey], list[Value | None]]:
    """Push fresh tangents of some inputs through a branch."""
    inputs = [new_leaf(f"x{i}", aval) for i, aval in enumerate(branch.input_avals)]
    seeds = [new_leaf(f"d{i}", inputs[i].aval) for i in on]
    outputs = branch.apply(inputs)
    found = pushforward(
        outputs,
        [inputs[i] for i in on],
        [Handle(seed) for seed in seeds],
        space=TensorPrimitive.space,
        context=rule.context,
    )
    return inputs, seeds, outputs, found


def cotangents(
    switch: Switch,
    cotangents_out: Sequence[Value | None],
    inputs: Sequence[Residual | FlowInput],
    rule: RuleBuilder,
) -> list[Value | None]:
    """Return the cotangents of the linear operands; ``None`` in the places of the others."""
    first = switch.branches[0]
    rows = [i for i, ct in enumerate(cotangents_out) if ct is not None]
    own = [i for i, on in enumerate(switch.is_linear) if on]
    fixed = [i for i, on in enumerate(switch.is_linear) if not on]
    branches = []
    for branch in switch.branches:
        leaves = [new_leaf(f"x{i}", aval) for i, aval in enumerate(first.input_avals)]
        outputs = branch.apply(leaves)
        seeds = [new_leaf(f"ct{i}", outputs[i].aval) for i in rows]
        linear = linear_map(
            [outputs[i] for i in rows],
            [leaves[i] for i in own],
            space=TensorPrimitive.space,
            context=rule.context,
        )
        found = linear.transpose([Handle(seed) for seed in seeds])
        results = [
            rule.zeros(leaves[i].aval).key if ct is None else ct.key
            for i, ct in zip(own, found, strict=True)
        ]
        branches.append(([leaves[i] for i in fixed], seeds, results))
    closed, brought, read = _closed(branches)
    marks = (False,) * (len(brought) + len(read)) + (True,) * len(rows)
    operands = [
        _fixed(inputs[0]),
        *map(rule.value, brought),
        *[_fixed(inputs[fixed[k] + 1]) for k in read],
        *[cotangents_out[i] for i in rows],
    ]
    values = emitted(rule, Switch(closed, marks), operands)  # type: ignore[arg-type]  # there are
    at = {i + 1: ct for i, ct in zip(own, values, strict=True)}
    return [at.get(i) if isinstance(x, FlowInput) else None for i, x in enumerate(inputs)]


def _closed(
    branches: Sequence[tuple[Sequence[ValueKey], Sequence[ValueKey], Sequence[ValueKey]]],
) -> tuple[tuple[Fragment, ...], list[ValueKey], list[int]]:
    """Return branches as graphs of the same inputs, what rules brought along, and what is read.

    A branch is given as its primals, its seeds and its results. The graphs share what rules brought
    along: these values are their first inputs. Then come the primals with the numbers that are
    returned, those that a branch reads: a loop around the choice keeps no others for reverse mode.
    """
    ends = [([*primals, *seeds], results) for primals, seeds, results in branches]
    brought = [*dict.fromkeys([k for pair in ends for k in other_leaves(*pair)])]
    read = set()
    for (primals, _, results), (stop, _) in zip(branches, ends, strict=True):
        number = {key: i for i, key in enumerate(primals)}
        read.update([number[key] for key in read_among(results, stop, primals)])
    kept = sorted(read)
    closed = [
        Fragment.of([*brought, *[primals[i] for i in kept], *seeds], results, is_pin)
        for primals, seeds, results in branches
    ]
    return tuple(closed), brought, kept


def _fixed(x: Residual | FlowInput) -> Value:
    assert isinstance(x, Residual)  # the choice is not linear in it
    return x.value
