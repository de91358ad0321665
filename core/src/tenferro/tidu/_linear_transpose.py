"""The backward sweep: turn linear flow around.

``pull`` is the one algorithm: walk linear nodes backwards, ask each for the cotangents of its
active inputs, gather contributions by the global identity of the value they belong to, add them
once. ``linear_transpose`` runs it on a linear graph with fresh seeds and gives a linear graph
again, so that transposing twice gives the same map. Read next: ``_derive.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from tenferro._runtime import CollectorPaused
from tenferro.computegraph import Graph, Local, ValueKey, inputs_of, outputs_of, resolve
from tenferro.tidu._context import ADContext
from tenferro.tidu._emit import RuleBuilder, sweeping
from tenferro.tidu._errors import MixedFlowError
from tenferro.tidu._flowing import Cotangents, with_another
from tenferro.tidu._linear_space import LinearSpace
from tenferro.tidu._linearize import (
    NODES,
    LinearInput,
    LinearizedGraph,
    assemble,
    check_emitted,
    wrong_result,
)
from tenferro.tidu._seed import cotangent_leaf
from tenferro.tidu._template import (
    MISSING,
    replay,
    transpose_template,
    transpose_templates,
)
from tenferro.tidu._value import Linear, LinearNode, LinearNodes, Pass, Residual, Value

_aval_of = attrgetter("aval")


def pull(
    nodes: LinearNodes,
    flowing: Cotangents,
    rule: RuleBuilder,
    primals: Callable[[], Mapping[ValueKey, ValueKey]] = dict,
) -> None:
    """Emit cotangents for the nodes, last to first; ``flowing`` holds the seeds and the results."""
    take, run, replayed = flowing.take, rule.run, _replaying(flowing)
    primal_of: Mapping[ValueKey, ValueKey] | None = None
    columns = reversed(nodes.keys), reversed(nodes.definitions), reversed(nodes.masks)
    for key, definition, mask in zip(*columns, strict=True):
        operation = definition[0]
        if operation.output_count == 1:
            inputs = definition[3:]
            ct = take(key)
            if ct is None:
                continue
            cotangents = [ct]
        else:
            inputs = inputs_of(definition)
            cotangents = [*map(take, outputs_of(key, definition))]
            if not any([ct is not None for ct in cotangents]):
                continue
        run.source = key.source
        if replayed is not None and replayed(operation, inputs, mask, cotangents):
            continue
        if primal_of is None:
            primal_of = primals()
        given = [
            Linear(key.aval, primal_of.get(key)) if active else Residual(rule.value(key))
            for key, active in zip(inputs, mask, strict=True)
        ]
        run.operation = operation
        cts = [flowing.value(ct) for ct in cotangents]
        node = LinearNode(key, definition, mask)
        _scatter(node, rule.context.transpose(operation)(rule, cts, given), flowing)


def _replaying(flowing: Cotangents) -> Callable[..., bool] | None:
    """Return a function that emits cotangents by templates; ``None`` if none may be used.

    A template is for an operation, the avals of its inputs, those of them that are active, and
    the outputs that have a cotangent.
    """
    if not flowing.is_bare:
        return None
    run, space, terms = flowing.rule.run, flowing.rule.space, flowing.terms
    known, there = transpose_templates.get, terms.get

    def replayed(
        operation: Any,
        inputs: tuple[ValueKey, ...],
        mask: tuple[bool, ...],
        cotangents: list[ValueKey | None],
    ) -> bool:
        which: Any = len(cotangents) == 1 or tuple([ct is None for ct in cotangents])
        entry = (operation, space, mask, which, *map(_aval_of, inputs))
        template = known(entry, MISSING)
        if template is MISSING:
            template = transpose_template(entry, inputs, cotangents, mask)
        if template is None:
            return False
        values: list[Any] = [*cotangents, *inputs]
        if template.steps:
            replay(template, values, run)
        for i, place in template.results:
            found, term = there(inputs[i]), values[place]
            terms[inputs[i]] = term if found is None else with_another(found, term)
        return True

    return replayed


def _scatter(node: LinearNode, results: Sequence[Value | None], flowing: Cotangents) -> None:
    """Put what a rule emitted where it belongs, after a check of its form."""
    rule = flowing.rule
    if len(results) != len(node.inputs):
        got = f"{len(results)} cotangents"
        raise wrong_result(node.operation, rule, got, str(len(node.inputs)))
    for key, active, ct in zip(node.inputs, node.active_mask, results, strict=True):
        if ct is None:
            continue
        if not active:
            raise wrong_result(node.operation, rule, "a cotangent of a fixed input", "None")
        check_emitted(ct, key.aval, node.operation, rule)
        if rule.run in ct.flow:
            flowing.give(key, ct)


def linear_transpose(
    linear: LinearizedGraph,
    *,
    inputs: Sequence[int] | None = None,
    outputs: Sequence[int] | None = None,
    context: ADContext | None = None,
) -> LinearizedGraph:
    """Turn a linear graph around: cotangents of its inputs from fresh cotangents of its outputs.

    With ``inputs`` and ``outputs`` (positions), only the flow between these is transposed; the
    other inputs and outputs stay forward and follow the transposed ones in both lists.

    Raises MixedFlowError: if an output that stays forward depends on a transposed input.
    """
    with CollectorPaused():
        graph = linear.linear
        chosen = _positions(inputs, len(linear.tangent_inputs))
        turned = _positions(outputs, len(linear.tangent_outputs))
        targets = [linear.tangent_inputs[i] for i in chosen]
        sources = [linear.tangent_outputs[i] for i in turned]
        space = linear.space or _space_of(graph)
        if space is None:
            return _transpose_wires(linear, chosen, turned)
        flowing, nodes = _flow(linear, targets, inputs is None)
        forward = _forward_part(linear, chosen, turned, flowing)
        run = Pass(space, transposed=True, kept=True)
        seeds = _fresh_cotangents(graph, sources, run)
        with sweeping(run, context) as rule:
            cotangents = Cotangents(rule)
            for source, seed in zip(sources, seeds, strict=True):
                if source is not None and seed is not None and source in flowing:
                    cotangents.give(graph.keys[source], seed)
            pull(nodes, cotangents, rule)
            results = [
                None if t is None else cotangents.taken(graph.keys[t.local]) for t in targets
            ]
        return _assemble_transposed(run, linear, seeds, results, forward)


def _positions(chosen: Sequence[int] | None, count: int) -> list[int]:
    return list(range(count)) if chosen is None else list(chosen)


def _space_of(graph: Graph) -> LinearSpace | None:
    for node in graph.nodes:
        space: LinearSpace | None = getattr(node.operation, "space", None)
        if space is not None:
            return space
    return None


def _flow(
    linear: LinearizedGraph, targets: Sequence[LinearInput | None], from_all: bool
) -> tuple[set[Local], LinearNodes]:
    """``_flow_from`` the targets; from all inputs of a graph that was assembled here, all flows."""
    nodes = NODES.get(linear.linear) if from_all else None
    if nodes is None:
        return _flow_from(linear.linear, {t.local for t in targets if t is not None})
    return {local for local in linear.tangent_outputs if local is not None}, nodes


def _flow_from(graph: Graph, start: set[Local]) -> tuple[set[Local], LinearNodes]:
    """Return the local values that depend on the given inputs, and the nodes that make them."""
    flowing: set[Any] = set(start)
    found = LinearNodes([], [], [])
    for _, inputs, outputs, _ in graph.nodes:
        mask = tuple([i in flowing for i in inputs])
        if True in mask:
            flowing.update(outputs)
            key: Any = graph.keys[outputs[0]]
            found.keys.append(key)
            found.definitions.append(key.definition)
            found.masks.append(mask)
    return flowing, found


def _fresh_cotangents(
    graph: Graph, sources: Sequence[Local | None], run: Pass
) -> list[Value | None]:
    """Make one fresh seed per output through which something flows, also for repeated outputs."""
    seeds: list[Value | None] = []
    for index, source in enumerate(sources):
        if source is None:
            seeds.append(None)
        else:
            key = graph.keys[source]
            leaf = cotangent_leaf(key, key.aval, run.id, index)
            run.seeds.add(leaf)
            seeds.append(run.space.value(leaf, (run,)))
    return seeds


class _Forward:
    """The part of a linear graph that a partial transposition leaves as it is."""

    def __init__(self, inputs: list[Any], outputs: list[Local | None], nodes: LinearNodes) -> None:
        self.inputs = inputs
        self.outputs = outputs
        self.nodes = nodes


def _forward_part(
    linear: LinearizedGraph, chosen: Sequence[int], turned: Sequence[int], flowing: set[Local]
) -> _Forward:
    """Return the part that stays forward; raise if its outputs depend on transposed inputs."""
    graph = linear.linear
    inputs = [t for i, t in enumerate(linear.tangent_inputs) if i not in chosen]
    outputs = [t for i, t in enumerate(linear.tangent_outputs) if i not in turned]
    for position, local in enumerate(linear.tangent_outputs):
        if position not in turned and local is not None and local in flowing:
            raise MixedFlowError(
                f"output {position} stays forward but depends on a transposed input\n"
                "  hint       transpose this output too, or leave that input forward",
                output=position,
            )
    if not inputs:
        return _Forward(inputs, outputs, LinearNodes([], [], []))
    _, ahead = _flow_from(graph, {t.local for t in inputs if t is not None})
    return _Forward(inputs, outputs, ahead)


def _assemble_transposed(
    run: Pass,
    linear: LinearizedGraph,
    seeds: Sequence[Value | None],
    results: Sequence[Value | None],
    forward: _Forward,
) -> LinearizedGraph:
    """Assemble the graph of the backward sweep, together with the forward part."""
    graph = linear.linear
    wrap = run.space.value
    for node in forward.nodes.each():
        run.nodes.setdefault(node.key, node.active_mask)
    all_seeds = [*seeds, *(t and wrap(graph.keys[t.local], (run,)) for t in forward.inputs)]
    all_keys = [*(None for _ in seeds), *(t and t.key for t in forward.inputs)]
    all_results = [
        *results,
        *(None if o is None else wrap(graph.keys[o], (run,)) for o in forward.outputs),
    ]
    view = resolve([linear.residual, *linear.linear.parents])
    return assemble(run, view, all_keys, all_seeds, all_results)


def _transpose_wires(
    linear: LinearizedGraph, chosen: Sequence[int], turned: Sequence[int]
) -> LinearizedGraph:
    """Transpose a graph without operations, whose vocabulary is unknown.

    Each input is wired straight to outputs; repeated wires need a sum and so a vocabulary.
    """
    graph = linear.linear
    wires: dict[Local, list[int]] = {}
    for i in turned:
        local = linear.tangent_outputs[i]
        if local is not None:
            wires.setdefault(local, []).append(i)
    for targets in wires.values():
        if len(targets) > 1:
            raise MixedFlowError(
                "an input is wired to several outputs and no operation names a linear space\n"
                "  hint       pass the outputs through an operation of the vocabulary",
                outputs=tuple(targets),
            )
    inputs = [linear.tangent_inputs[i] for i in chosen]
    from_seed = {local: targets[0] for local, targets in wires.items()}
    run = Pass(None, transposed=True)  # type: ignore[arg-type]
    leaves = {
        i: cotangent_leaf(graph.keys[local], graph.keys[local].aval, run.id, i)
        for i in turned
        if (local := linear.tangent_outputs[i]) is not None
    }
    seeds = [Value(leaves[i], (run,)) if i in leaves else None for i in turned]
    results = [
        Value(leaves[from_seed[t.local]], (run,))
        if t is not None and t.local in from_seed
        else None
        for t in inputs
    ]
    return assemble(run, resolve([linear.residual]), [None] * len(seeds), seeds, results)
