"""A traced function: its graph, what it captured, and how it is written into another graph.

Read next: ``jit.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tenferro._runtime import CollectorPaused
from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array, as_array, is_traced
from tenferro.arrays.evaluation.evaluate import leaked
from tenferro.arrays.handle.array import SCALARS, evaluable
from tenferro.arrays.handle.convert import aval_of_operand, operand_key, snapshot, weak_kind
from tenferro.arrays.handle.weak import NumberReads, WeakName, is_counter, value_of
from tenferro.computegraph import (
    UNKNOWN,
    MaterializedGraph,
    ValueKey,
    derive_again,
    flatten,
    postorder,
)
from tenferro.primitives._aval import Aval
from tenferro.tidu import Trace, pinned_leaf
from tenferro.transforms.compilation.signature import Call
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.arguments import Name
from tenferro.transforms.recording.decisions import note_decision
from tenferro.transforms.recording.effects import perform
from tenferro.transforms.recording.run_or_record import history, key_of
from tenferro.transforms.recording.unrolled import strong

if TYPE_CHECKING:
    from tenferro.passes.budget.schedule import MemoryPlan

_SCALARS = frozenset(SCALARS)


class Traced(NamedTuple):
    """A function recorded for one signature; ``captured`` are inputs that it closes over."""

    graph: MaterializedGraph
    inputs: tuple[ValueKey, ...]
    outputs: tuple[ValueKey, ...]
    captured: tuple[Any, ...]
    out_spec: Any
    avals: tuple[Aval, ...]
    is_open: bool  # it closes over values of an outer transform, so it is good for this call only
    effects: tuple[ValueKey, ...] = ()  # roots of the graph behind the outputs
    decisions: tuple[tuple[str, str], ...] = ()  # of transforms inside, as they are explained


class Closed(NamedTuple):
    """The graph from inputs to roots, and what it captures besides these inputs."""

    graph: MaterializedGraph
    captured: tuple[Any, ...]
    is_open: bool  # it reads values of an outer transform


def closed(inputs: Sequence[ValueKey], roots: Sequence[ValueKey]) -> Closed:
    """Return the graph of a function whose trace is over.

    Raises LeakedArrayError: if the graph reads a value of another trace that is over.
    """
    graph = flatten(inputs, roots, lambda key: None if is_constant(key) else key.definition)
    captured = graph.inputs[len(inputs) :]
    unknown = [key for key in captured if key.operand is UNKNOWN]
    for key in unknown:
        error = leaked(key, key, "a jitted function")
        if error is not None:
            raise error
    is_open = bool(unknown) or any([is_traced(key) for key in roots])
    return Closed(graph, tuple([captured_value(key) for key in captured]), is_open)


def abstract_leaves(
    call: Call, function: Callable[..., Any], trace: Trace, number_reads: NumberReads
) -> list[ValueKey]:
    """Make a fresh input without a value for each leaf of the arguments of a call."""
    pairs = zip(call.leaves, call.names(function), strict=True)
    return [abstract_leaf(leaf, name, trace, number_reads) for leaf, name in pairs]


def traced_results(
    call: Call, function: Callable[..., Any], inputs: Sequence[ValueKey], trace: Trace
) -> tuple[list[ValueKey], Any]:
    """Run a function on inputs in the places of its leaves, and end the trace.

    Return the keys of the leaves of its result, and the structure of the result.
    """
    args, kwargs = call.arguments([Array(key) for key in inputs])
    try:
        result = function(*args, **kwargs)
    finally:
        trace.open = False
    leaves, spec = _tree.flatten(result)
    return [key_of(leaf) for leaf in leaves], spec


def describe(
    traced: Traced, name: str, backend: str, program: str, passes: str, memory: MemoryPlan
) -> str:
    """Describe a program: its inputs and results, the values it has captured, its memory, and how
    it runs.
    """
    graph = traced.graph
    count = len(traced.inputs)
    given = zip(graph.input_names[:count], graph.avals, strict=False)
    sizes = zip(graph.input_names[count:], graph.avals[count:], strict=False)
    rows = {
        "backend": backend,
        "equations": str(len(graph)),
        "passes": passes,
        "inputs": ", ".join(f"{label}: {aval}" for label, aval in given),
        "results": ", ".join(map(str, traced.avals)),
        "captured": ", ".join(f"{label}: {a} ({_bytes(a):,} bytes)" for label, a in sizes),
    }
    lines = [f"  {label:<11}{text or 'none'}" for label, text in rows.items()]
    lines += [f"  {label:<11}{text}" for label, text in (*traced.decisions, *memory.rows())]
    return "\n".join([name, *lines, "", program.rstrip()])


def _bytes(aval: Aval) -> int:
    return aval.size * aval.dtype.itemsize


def abstract_leaf(leaf: Any, name: str, trace: Trace, number_reads: NumberReads) -> ValueKey:
    """Make a fresh input without a value."""
    weak = weak_kind(leaf) is not None
    aval = leaf if isinstance(leaf, Aval) else as_array(leaf).aval if weak else None
    if aval is None:
        aval = leaf.aval if isinstance(leaf, Array) else aval_of_operand(leaf)
    serial = trace.id.serial
    label: Any = Name(name, serial)
    if weak:
        label = WeakName(name, serial, value_of(leaf), (number_reads,))
    elif isinstance(leaf, Array) and is_counter(leaf):
        label = WeakName(name, serial, is_counter=True)
    return pinned_leaf(label, aval, trace)


def is_constant(key: ValueKey) -> bool:
    """Return True if a value enters as a captured input: it is known, and no transform is open
    on it.
    """
    return key.is_cut and not key.traces


def captured_value(key: ValueKey) -> Any:
    """Return the operand of a captured input; a copy if a transform borrows that argument."""
    return snapshot(key.operand) if isinstance(key.identity, Name) else key.operand


def is_known(array: Array) -> bool:
    """Return whether an array has a value, or one that can be computed outside of every trace."""
    if is_traced(array.key):
        return False
    return array.key.operand is not UNKNOWN or evaluable(array.key)


def inline(traced: Traced, leaves: Sequence[Any]) -> list[Array]:
    """Inline the traced graph on other inputs."""
    keys = [leaf.key if isinstance(leaf, Array) else operand_or_scalar(leaf) for leaf in leaves]
    found: dict[ValueKey, ValueKey] = dict(zip(traced.inputs, keys, strict=True))
    with CollectorPaused():
        roots = (*traced.outputs, *traced.effects)
        order, definitions, _ = postorder(roots, lambda k: None if k in found else history(k))
        for key, definition in zip(order, definitions, strict=True):
            y = derive_again(definition, found)
            if y is not None:
                found[key] = y
    perform([found.get(key, key) for key in traced.effects])
    for transform, text in traced.decisions:
        note_decision(transform, text)
    return [strong(Array(found.get(key, key))) for key in traced.outputs]


def operand_or_scalar(leaf: Any) -> ValueKey:
    """Return the key of an operand or scalar that enters an outer graph."""
    return as_array(leaf).key if type(leaf) in _SCALARS else operand_key(leaf)
