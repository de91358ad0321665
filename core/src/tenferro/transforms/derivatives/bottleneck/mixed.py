"""Jacobians in mixed mode: whether a cut is taken, and the blocks as products over it.

A cut is taken unasked if the counted operations are at most ``MOST_OF_PURE`` times those of the
better pure mode. The factors are Jacobians of parts of the linear graph, by the same sweeps that
make whole ones. Read next: ``derivatives/blocks.py``, which asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.computegraph import ValueKey
from tenferro.primitives import Handle
from tenferro.tidu import Linearization, NotLinearError
from tenferro.transforms.derivatives.bottleneck.flow import Flow, Operations, flow_of
from tenferro.transforms.derivatives.bottleneck.plan import Plan, best_plan, pure_costs
from tenferro.transforms.derivatives.bottleneck.product import product_of
from tenferro.transforms.recording.decisions import note_decision

MOST_OF_PURE = 0.7
"""Share of the operations of the better pure mode up to which a cut is taken unasked."""

_MIN_ELEMENTS = 16  # of arguments and of outputs, from which on a cut is looked for unasked
_COMPLEX_LINEAR = frozenset(
    [
        f"std::{name}"
        for name in (
            "add sub mul neg div dot_general reshape transpose broadcast_in_dim slice reverse "
            "concatenate pad reduce_sum cumsum gather scatter_add dynamic_slice "
            "dynamic_update_slice optimization_barrier"
        ).split()
    ]
)

Blocks = list[list[Handle]]
Pure = Callable[[Any, Sequence[ValueKey], Sequence[ValueKey], str], Blocks]
Counts = Callable[[], tuple[Sequence[int], Sequence[int]]]


class Bypass:
    """A linear map whose last inputs are 0: what flows past the values of a cut."""

    def __init__(self, whole: Linearization, count: int) -> None:
        self._whole = whole
        self._count = count

    def apply(self, tangents: Sequence[Any]) -> list[Any]:
        """Return the tangents of the outputs."""
        return self._whole.apply([*tangents, *[None] * self._count])

    def transpose(self, cotangents: Sequence[Any]) -> list[Any]:
        """Return the cotangents of the other inputs."""
        return self._whole.transpose(cotangents)[: -self._count]


def over_a_cut(
    linear: Linearization,
    outputs: Sequence[ValueKey],
    wrt: Sequence[ValueKey],
    *,
    forced: bool,
    holomorphic: bool,
    counts: Counts,
    operations: Operations,
    pure: Pure,
) -> Blocks | None:
    """Return one block per pair of leaves, over a cut; ``None`` if none is worth it.

    ``counts`` gives the directions of each argument and of each output in a pure mode,
    ``operations`` counts the arithmetic of an equation, and ``pure`` makes the blocks of a factor
    in a mode. If ``forced``, any cut narrower than arguments and outputs is taken.
    """
    narrow = min([sum([key.aval.size for key in keys]) for keys in (wrt, outputs)])
    limit = narrow if forced else int(MOST_OF_PURE * narrow)
    too_small = not forced and narrow < _MIN_ELEMENTS
    if too_small or not _has_narrow_value(linear, limit):
        return None
    flow = flow_of(linear, operations, holomorphic)
    forbidden = _forbidden(linear, flow, outputs, wrt)
    plan = None if forbidden is None else best_plan(flow, limit, forbidden)
    if plan is None:
        return None
    costs = pure_costs(flow)
    if not forced:
        if plan.cost > MOST_OF_PURE * costs.best:
            return None
        costs = pure_costs(flow, *_directions(linear, flow, counts))
        if plan.cost > MOST_OF_PURE * costs.best:
            return None
    try:
        blocks = _blocks(linear, flow, plan, outputs, wrt, pure)
    except NotLinearError:  # a pullback of the user that cannot be converted to forward mode
        return None
    note_decision(
        "jacobian",
        f"mixed over a cut of {flow.size(plan.cut)} elements; counted {plan.cost:.2g} operations, "
        f"forward {costs.forward:.2g}, reverse {costs.reverse:.2g}",
    )
    return blocks


def _has_narrow_value(linear: Linearization, limit: int) -> bool:
    """Return True if a value is narrow enough to stand in a cut, and every argument has flow."""
    if any([seed is None for seed in linear.seeds]):
        return False
    made = (key for node in linear.nodes.each() for key in node.outputs)
    return any(0 < key.aval.size < limit for key in made)


def _directions(linear: Linearization, flow: Flow, counts: Counts) -> tuple[list[int], list[int]]:
    """Return how many directions the pure modes take for each start and each end of the flow."""
    into, out = counts()
    ends = [None if end is None else end.key for end in linear.ends]
    last = {key: count for key, count in zip(ends, out, strict=True) if key is not None}
    found = [*into], [last[flow.keys[i]] for i in flow.ends]
    for values, directions in zip((flow.starts, flow.ends), found, strict=True):
        for place, i in enumerate(values):
            directions[place] *= flow.sizes[i] // max(flow.keys[i].aval.size, 1)
    return found


def _forbidden(
    linear: Linearization, flow: Flow, outputs: Sequence[ValueKey], wrt: Sequence[ValueKey]
) -> frozenset[int] | None:
    """Return the values that a cut must not hold; ``None`` if no matrices over a cut multiply.

    All dtypes have one precision, since the dtype of an entry would depend on the cut otherwise.
    A complex value stands in a cut where all is linear in complex numbers, or if arguments and
    outputs are real: a product of two blocks of gradients is not a gradient.
    """
    outside = [key.aval.dtype for key in (*outputs, *wrt)]
    precisions = {_precision(dtype) for dtype in (*outside, *[key.aval.dtype for key in flow.keys])}
    if len(precisions) != 1:
        return None
    complex_values = [i for i, key in enumerate(flow.keys) if key.aval.dtype.is_complex]
    if flow.holomorphic:
        names = {getattr(node.operation, "key", "") for node in linear.nodes.each()}
        linear_throughout = len(complex_values) == len(flow.keys) and names <= _COMPLEX_LINEAR
        return frozenset() if linear_throughout else None
    real = not any([dtype.is_complex for dtype in outside])
    return frozenset() if real else frozenset(complex_values)


def _precision(dtype: Any) -> int:
    """Return the bytes of a real part."""
    size: int = dtype.itemsize
    return size // 2 if dtype.is_complex else size


def _blocks(
    linear: Linearization,
    flow: Flow,
    plan: Plan,
    outputs: Sequence[ValueKey],
    wrt: Sequence[ValueKey],
    pure: Pure,
) -> Blocks:
    """Return J(out/cut) J(cut/in) and what bypasses the cut, block by block."""
    cut = [flow.keys[i] for i in plan.cut]
    seeds = [None if seed is None else seed.key for seed in linear.seeds]
    ends = [None if end is None else end.key for end in linear.ends]
    into = pure(linear.between(seeds, cut), cut, wrt, plan.into.mode)
    out = pure(linear.between(cut, ends), outputs, cut, plan.out.mode)
    past: Blocks | None = None
    if any(plan.around):
        around = Bypass(linear.between([*seeds, *cut], ends), len(cut))
        past = pure(around, outputs, wrt, plan.bypass.mode)
    places = {flow.keys[value]: bit for bit, value in enumerate(flow.ends)}
    blocks = []
    for i, (output, end) in enumerate(zip(outputs, ends, strict=True)):
        bit = None if end is None else places[end]
        row = []
        for j, argument in enumerate(wrt):
            through = plan.through(j, bit)
            terms = [(out[i][k], into[k][j], cut[k].aval.size) for k in through]
            beside = past[i][j] if past is not None and plan.bypasses(j, bit) else None
            row.append(product_of(terms, beside, output.aval, argument.aval))
        blocks.append(row)
    return blocks
