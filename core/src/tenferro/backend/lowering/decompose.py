"""Decompositions: a primitive written in other primitives, traced once per (operation, avals).

Tracing gives a flat graph, which is independent of backends. A *sample* is a trace of a class
without parameters on small operands of one dtype; it serves to find cycles when a plugin is
loaded and to say in tables whether a decomposition leads to lowerings. Read next: ``splice.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tenferro.backend._errors import DecompositionCycleError, LoweringError
from tenferro.computegraph import MaterializedGraph, Operation, flatten, infer, new_leaf
from tenferro.primitives._aval import Aval
from tenferro.primitives._handle import Handle

_MAX_KEPT_TRACES = 4096
_FAILURES = (Exception, SystemExit)  # of a plugin's code, which runs while plugins are loaded
_SAMPLE_SHAPES = ((), (2,), (2, 2))
_SAMPLE_DTYPES = ("float64", "complex128", "bool", "int64")
_traced: dict[tuple[Operation, tuple[Any, ...]], MaterializedGraph] = {}
_samples: dict[type, tuple[Operation, ...] | None] = {}


def has_decomposition(cls: type) -> bool:
    """Return True if a class of operations has a decomposition."""
    return callable(getattr(cls, "decompose", None))


def decomposition(operation: Any, avals: tuple[Any, ...]) -> MaterializedGraph:
    """Return an operation's decomposition for operands of these avals; traced once.

    Raises LoweringError: if the outputs are not those of the operation, or it reads other values.
    """
    found = _traced.get((operation, avals))
    if found is None:
        found = _trace(operation, avals)
        if len(_traced) >= _MAX_KEPT_TRACES:
            _traced.clear()
        _traced[operation, avals] = found
    return found


def _trace(operation: Any, avals: tuple[Any, ...]) -> MaterializedGraph:
    inputs = [new_leaf(("operand", i), aval) for i, aval in enumerate(avals)]
    results = operation.decompose(*[Handle(key) for key in inputs])
    outputs = results if isinstance(results, (tuple, list)) else (results,)
    given = tuple(getattr(output, "aval", None) for output in outputs)
    need = infer(operation, avals)
    if given != need:
        raise _faulty(operation, f"its decomposition gives {_text(given)}, need {_text(need)}")
    declared = set(inputs)
    graph = flatten(
        inputs,
        [output.key for output in outputs],
        lambda key: None if key in declared else key.definition,
    )
    if len(graph.inputs) > len(inputs):
        raise _faulty(operation, f"its decomposition reads {graph.inputs[len(inputs)]!r}")
    return graph


def _text(avals: Iterable[object]) -> str:
    return ", ".join(map(str, avals))


def _faulty(operation: Any, fact: str) -> LoweringError:
    cls = type(operation)
    return LoweringError(
        f"{operation.key}: {fact}\n  provider   {cls.__module__}.{cls.__qualname__}",
        primitive=operation.key,
        backend="",
        provider=cls.__module__,
    )


def sample(cls: type) -> tuple[Operation, ...] | None:
    """Return the operations in the decomposition of a class, or ``None`` if no sample fits."""
    if cls not in _samples:
        _samples[cls] = _sample(cls)
    return _samples[cls]


def _sample(cls: Any) -> tuple[Operation, ...] | None:
    try:
        operation = cls()
    except _FAILURES:
        return None  # it needs parameters; they are not ours to invent
    count = 2 if operation.input_count is None else operation.input_count
    for dtype in _SAMPLE_DTYPES:
        for shape in _SAMPLE_SHAPES:
            try:
                graph = decomposition(operation, (Aval(shape, dtype),) * count)
            except _FAILURES:
                continue  # these operands do not suit it; the next may
            return tuple(node.operation for node in graph.nodes)
    return None


def check_cycles(classes: Iterable[type], key_of: Callable[[Operation | type], str]) -> None:
    """Raise DecompositionCycleError if decompositions of these classes lead back to themselves.

    Judged by samples, so a cycle through classes with parameters is found at first use instead.
    Core's own classes lead to nothing but each other, which a test judges, not each process.
    """
    edges: dict[type, tuple[type, ...]] = {}
    pending = [cls for cls in classes if _is_judged(cls)]
    for cls in pending:  # it grows
        if cls not in edges:
            edges[cls] = tuple(dict.fromkeys(type(o) for o in sample(cls) or ()))
            pending += [below for below in edges[cls] if _is_judged(below)]
    cycle = find_cycle(edges)
    if cycle is not None:
        raise cycle_error(tuple(key_of(cls) for cls in cycle))


def _is_judged(cls: type) -> bool:
    return has_decomposition(cls) and not cls.__module__.startswith("tenferro.primitives.")


def find_cycle(edges: Mapping[type, tuple[type, ...]]) -> tuple[type, ...] | None:
    """Find a path in the graph that ends where it begins; depth first, without recursion."""
    done: set[type] = set()
    for start in edges:
        path: list[type] = []
        stack: list[tuple[type, int]] = [(start, 0)]
        while stack:
            node, depth = stack.pop()
            del path[depth:]
            if node in path:
                return (*path[path.index(node) :], node)
            if node in done:
                continue
            path.append(node)
            done.add(node)
            stack += [(below, depth + 1) for below in edges.get(node, ())]
    return None


def cycle_error(cycle: tuple[str, ...]) -> DecompositionCycleError:
    """Make the error for decompositions that lead back to themselves."""
    return DecompositionCycleError(
        f"decompositions form a cycle: {' → '.join(cycle)}\n"
        "  hint       give one of them a lowering and remove its `decompose`",
        cycle=cycle,
    )
