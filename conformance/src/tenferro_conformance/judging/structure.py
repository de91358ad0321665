"""Laws of graphs alone, no backend: identity, printing, types, closure. Helpers of `suite/`.

A case is recorded, differentiated and materialized; nothing is run. Read
`running/programs.py` for the programs.
"""

from __future__ import annotations

import pickle
from functools import cache

from tenferro.computegraph import KeyView, MaterializedGraph, infer, materialize_merge
from tenferro_conformance.cases.case import Case
from tenferro_conformance.running import programs
from tenferro_conformance.running.recorder import Build, Recorder
from tenferro_conformance.samples import FAMILIES, tables

__all__ = [
    "require_closed",
    "require_core_closed",
    "require_one_object",
    "require_stable_text",
    "require_types",
]

#: The AD-closed core (`full` is `constant` here).
CORE = frozenset(
    f"std::{name}"
    for name in ("add", "mul", "neg", "conj", "constant", "dot_general", "reduce_sum", "transpose",
                 "reshape",
                 "broadcast_in_dim", "gather", "scatter_add")
)  # fmt: skip


def _recorded(case: Case, build: Build) -> Recorder:
    recorder = Recorder(case)
    build(recorder)
    return recorder


def _graph(recorder: Recorder) -> MaterializedGraph:
    outputs = [key for key in recorder.outputs.values() if key is not None]
    return materialize_merge(KeyView(), outputs, inputs=list(recorder.fed))


def _builds(case: Case) -> tuple[Build, ...]:
    return (
        (programs.value, programs.adjoint, programs.derivatives) if case.grad else (programs.value,)
    )


def require_one_object(case: Case) -> None:
    """Check that a program built twice has the same keys, and other keys under another name."""
    first, second = _recorded(case, programs.value), _recorded(case, programs.value)
    for name, key in first.outputs.items():
        assert key is second.outputs[name], f"{case.id} {name}: equal structure gave two keys"
    if _graph(first).nodes and materialize_merge(KeyView(), [first.outputs["y0"]]).inputs:  # type: ignore[list-item]
        xs = first.inputs("other")
        assert first.apply(xs)[0].key is not first.outputs["y0"], (
            f"{case.id}: other inputs gave the same key"
        )


def require_stable_text(case: Case) -> None:
    """Check that a program's text is stable, and that operations unpickle to themselves."""
    recorder = _recorded(case, programs.value)
    assert str(_graph(recorder)) == str(_graph(_recorded(case, programs.value))), case.id
    operation = recorder.operation
    assert pickle.loads(pickle.dumps(operation)) is operation, (
        f"{case.id}: a pickled operation is another object"
    )


def require_types(case: Case) -> None:
    """avals of every equation = abstract_eval of its inputs."""
    for build in _builds(case):
        graph = _graph(_recorded(case, build))
        for node in graph.nodes:
            want = infer(node.operation, tuple(graph.avals[i] for i in node.inputs))
            got = tuple(graph.avals[i] for i in node.outputs)
            assert got == tuple(want), (
                f"{case.id}: {node.operation} gives {want}, recorded as {got}"
            )


@cache
def _levels() -> dict[str, int]:
    return {table.primitive: table.level for family in FAMILIES for table in tables(family)}


def _emitted(case: Case) -> set[str]:
    """Return the keys of all primitives in the derivative programs of a case."""
    graphs = [_graph(_recorded(case, build)) for build in _builds(case)]
    return {
        str(getattr(node.operation, "key", node.operation.name))
        for graph in graphs
        for node in graph.nodes
    }


def require_closed(case: Case) -> None:
    """Check that derivatives of a primitive up to L2 use primitives up to its own level, or L1.

    Those of a third party may also use others of its own namespace, which are installed
    together.
    """
    if case.level > 2:
        return
    own = case.primitive.partition("::")[0]
    foreign = (key for key in _emitted(case) if own == "std" or not key.startswith(f"{own}::"))
    above = sorted(key for key in foreign if _levels().get(key, 99) > max(case.level, 1))
    assert not above, f"{case.id}: its derivatives need {above}"


def require_core_closed(case: Case) -> None:
    """Check that derivatives of the AD-closed core use the core alone."""
    if case.primitive not in CORE or case.params.get("preferred"):
        return
    outside = sorted(_emitted(case) - CORE)
    assert not outside, f"{case.id}: its derivatives leave the core by {outside}"
