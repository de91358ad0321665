"""The transforms as graphs: ``linearize`` and ``linear_transpose``.

They run the sweeps that ``tn.grad`` runs (``linearize_keys``, then the backward sweep) and show
the result as graphs: a linear graph on fresh seeds and the residual graph that it reads from.
Use them to look at a derivative, to print it, or to resolve and transform it again.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro._runtime import CollectorPaused
from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import (
    Graph,
    Local,
    ResolvedView,
    Resolver,
    ValueKey,
    inputs_of,
    outputs_of,
    resolve,
)
from tenferro.tidu._context import ADContext
from tenferro.tidu._errors import MixedFlowError
from tenferro.tidu._linear_space import LinearSpace
from tenferro.tidu._linearization import Linearization, linearize_keys
from tenferro.tidu._pull import fresh_cotangents
from tenferro.tidu._value import LinearNodes, Sweep, Value


class LinearInput(NamedTuple):
    """An input of a linear graph: the value whose tangent it is, and where it is.

    A cotangent has no ``key``: holding the value it belongs to would keep the tangent sweep alive.
    """

    key: ValueKey | None
    local: Local


class LinearizedGraph(NamedTuple):
    """A strictly linear graph and the residual graph that it reads from.

    ``tangent_inputs`` stand in the order of ``wrt`` (``None``: no tangent exists),
    ``tangent_outputs`` in the order of the outputs (``None``: nothing flows). ``swept`` is the
    linearization that the graphs show.
    """

    linear: Graph
    residual: Graph
    tangent_inputs: tuple[LinearInput | None, ...]
    tangent_outputs: tuple[Local | None, ...]
    swept: Linearization

    @property
    def space(self) -> LinearSpace:
        """The linear space of tangents and cotangents."""
        return self.swept.space

    def __str__(self) -> str:
        return f"linear {self.linear}\nresidual {self.residual}"


def linearize(
    view: Resolver,
    outputs: Sequence[ValueKey],
    wrt: Sequence[ValueKey],
    *,
    context: ADContext | None = None,
) -> LinearizedGraph:
    """Return the derivative of outputs with respect to ``wrt``, as a linear graph on fresh seeds.

    Raises DuplicateWrtError: if a value is named twice in ``wrt``.
    Raises MissingRuleError, NotLinearError, RuleResultError: if a rule is missing or wrong.
    """
    with CollectorPaused():
        swept = linearize_keys(outputs, wrt, view=view, context=context)
        return _graphs_of(swept, wrt, view.graphs if isinstance(view, ResolvedView) else ())


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
        swept = linear.swept
        seeds, seeds_ahead = _split(swept.seeds, inputs)
        ends, ends_ahead = _split(swept.ends, outputs)
        nodes = swept.nodes
        if inputs is not None or outputs is not None:
            nodes, flowing = _nodes_from(swept.nodes, [seed for _, seed in seeds])
            _check_forward(ends_ahead, flowing)
        sweep = Sweep(swept.space, transposed=True, kept=True)
        cotangents = fresh_cotangents([end for _, end in ends], sweep)
        given: list[Value | None] = [None] * len(swept.ends)
        for (position, _), ct in zip(ends, cotangents, strict=True):
            given[position] = ct
        found = swept.swept_back(given, sweep, context, nodes)
        if seeds_ahead:
            _record_forward(swept.nodes, [seed for _, seed in seeds_ahead], sweep)
        back = Linearization(
            sweep,
            [*cotangents, *[_within(sweep, seed) for _, seed in seeds_ahead]],
            [*[found[i] for i, _ in seeds], *[_within(sweep, end) for _, end in ends_ahead]],
        )
        keys_ahead = [t and t.key for t in [linear.tangent_inputs[i] for i, _ in seeds_ahead]]
        keys = [*[None for _ in cotangents], *keys_ahead]
        return _graphs_of(back, keys, resolve(linear.linear.parents).graphs)


Chosen = list[tuple[int, Value | None]]  # with their positions


def _split(
    values: Sequence[Value | None], positions: Sequence[int] | None
) -> tuple[Chosen, Chosen]:
    """Return the values at some positions, in the order of these, and the others."""
    if positions is None:
        return list(enumerate(values)), []
    chosen = {*positions}
    others = [(i, value) for i, value in enumerate(values) if i not in chosen]
    return [(i, values[i]) for i in positions], others


def _nodes_from(
    nodes: LinearNodes, starts: Sequence[Value | None]
) -> tuple[LinearNodes, set[ValueKey]]:
    """Return the nodes through which something flows from some seeds, and where it flows."""
    flowing = {start.key for start in starts if start is not None}
    found = LinearNodes([], [], [])
    for key, definition, active in zip(*nodes, strict=True):
        pairs = zip(inputs_of(definition), active, strict=True)
        mask = tuple([flows and value in flowing for value, flows in pairs])
        if any(mask):
            flowing.update(outputs_of(key, definition))
            found.keys.append(key)
            found.definitions.append(definition)
            found.masks.append(mask)
    return found, flowing


def _check_forward(ends_ahead: Chosen, flowing: set[ValueKey]) -> None:
    """Raise MixedFlowError if an output that stays forward depends on a transposed input."""
    for position, end in ends_ahead:
        if end is not None and end.key in flowing:
            raise MixedFlowError(
                f"output {position} stays forward but depends on a transposed input\n"
                "  hint       transpose this output too, or leave that input forward",
                output=position,
            )


def _record_forward(nodes: LinearNodes, seeds: Sequence[Value | None], sweep: Sweep) -> None:
    """Add the nodes that a partial transposition leaves as they are."""
    ahead, _ = _nodes_from(nodes, seeds)
    for node in ahead.each():
        sweep.nodes.setdefault(node.key, node.active_mask)


def _within(sweep: Sweep, value: Value | None) -> Value | None:
    return None if value is None else sweep.space.value(value.key, (sweep,))


def _graphs_of(
    swept: Linearization, wrt: Sequence[ValueKey | None], parents: Sequence[Graph]
) -> LinearizedGraph:
    """Show a linearization as a linear graph and the residual graph that it reads from."""
    seeds, ends, nodes = swept.seeds, swept.ends, swept.nodes
    keys = [seed.key for seed in seeds if seed is not None]
    made, reads = nodes.keys, [definition[3:] for definition in nodes.definitions]
    if any([definition[0].output_count != 1 for definition in nodes.definitions]):
        made = [key for node in nodes.each() for key in node.outputs]
        reads = [*map(inputs_of, nodes.definitions)]
    own = {*keys, *made}
    external = [key for inputs in reads for key in inputs if key not in own]
    residual = Graph.of((), [*dict.fromkeys(external)], parents)
    reached = [end.key for end in ends if end is not None]
    linear = Graph.over(keys, made, nodes.definitions, reached, (residual, *parents))
    places = _places(linear, reached)
    given = iter(linear.inputs)
    pairs = zip(wrt, seeds, strict=True)
    tangent_inputs = [None if t is None else LinearInput(key, next(given)) for key, t in pairs]
    tangent_outputs = [None if end is None else places[end.key] for end in ends]
    return LinearizedGraph(linear, residual, (*tangent_inputs,), (*tangent_outputs,), swept)


def _places(graph: Graph, wanted: Sequence[ValueKey]) -> dict[ValueKey, Local]:
    """Return the positions of some values, without numbering all of a large graph."""
    chosen = {*wanted}
    return {key: Local(i) for i, key in enumerate(graph.keys) if key in chosen}
