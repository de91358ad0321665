"""The cost of a whole derivative: its operations, counted in the recorded linear graph.

Read next: ``derivatives/blocks.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tenferro.computegraph import Linearized, ValueKey, flatten, new_leaf
from tenferro.primitives import Handle
from tenferro.primitives._aval import Aval
from tenferro.tidu import NotLinearError
from tenferro.transforms.derivatives.sweeps import Send, Sweeps
from tenferro.transforms.patterns.compressed import MIN_DIRECTIONS_TO_COMPRESS, Directions
from tenferro.transforms.recording.decisions import note_decision
from tenferro.transforms.recording.run_or_record import history

_MAX_LEAVES_TO_FIND_PATTERNS = 8  # with more, patterns do not decide between the modes


def cheaper_mode(sweeps: Sweeps) -> str:
    """Return "forward" or "reverse", whichever takes fewer operations for all its directions."""
    into, out = counts_of(sweeps)
    linear = sweeps.linear
    try:
        forward = _all_directions(linear.apply, sweeps.columns, sweeps.wrt, into, sweeps.wrt)
    except NotLinearError:  # a pullback of the user that cannot be converted to forward mode
        note_decision("jacobian", "reverse: a rule has no forward mode")
        return "reverse"
    reverse = _all_directions(linear.transpose, sweeps.rows, sweeps.outputs, out, sweeps.wrt)
    mode = "forward" if forward <= reverse else "reverse"
    costs = f"forward {forward:.2g}, reverse {reverse:.2g}"
    note_decision("jacobian", f"{mode}; counted operations: {costs}; no cheaper narrow waist")
    return mode


def _all_directions(
    send: Send,
    each: Sequence[Directions],
    keys: Sequence[ValueKey],
    counts: Sequence[int],
    wrt: Sequence[ValueKey],
) -> int:
    """Return the operations of all directions; of many leaves, as if each reached everything."""
    if len(keys) <= _MAX_LEAVES_TO_FIND_PATTERNS:
        last = dict(zip(keys, zip(counts, each, strict=True), strict=True))  # repeated ones share
        return sum([n * cost_of(one.one, wrt) for n, one in last.values()])
    sent = send([Handle(new_leaf("direction", key.aval)) for key in keys])
    return sum(counts) * cost_of(sent, wrt)


def counts_of(sweeps: Sweeps) -> tuple[list[int], list[int]]:
    """Return the number of directions of each argument, and of each output."""
    wrt, outputs = sweeps.wrt, sweeps.outputs
    sizes = [[key.aval.size for key in keys] for keys in (wrt, outputs)]
    few = max(len(wrt), len(outputs)) <= _MAX_LEAVES_TO_FIND_PATTERNS
    if few and min(map(sum, sizes)) >= MIN_DIRECTIONS_TO_COMPRESS:
        sizes = [[one.count for one in each] for each in (sweeps.columns, sweeps.rows)]
    return sizes[0], sizes[1]


def cost_of(ends: Sequence[Any], wrt: Sequence[ValueKey]) -> int:
    """Count multiplications and additions in the linear part of a graph, about one per element.

    What the arguments are made of does not count: it is not part of this derivative. In a loop with
    a Jacobian in each step it holds all earlier steps, with their Jacobians.
    """
    known = frozenset(wrt)

    def within(key: ValueKey) -> Any:
        return None if key in known else history(key)

    graph = flatten((), [end.key for end in ends if end is not None], within)
    total = 1
    for node in graph.nodes:
        if isinstance(node.role, Linearized):
            total += operations(node.operation, [graph.avals[i] for i in node.inputs],
                                graph.avals[node.outputs[0]])  # fmt: skip
    return total


def operations(operation: Any, inputs: Sequence[Aval], output: Aval) -> int:
    """Count the arithmetic of one equation: the elements it touches, times the contracted ones."""
    contracted = getattr(operation, "lhs_contract", None)
    if contracted is None:
        return max([output.size, *[aval.size for aval in inputs]])
    terms: int = prod(inputs[0].shape[axis] for axis in contracted)
    return 2 * output.size * terms
