"""Detection of functions that depend on the gauge of a factorization, for ``check_grads``.

Vectors of svd, eigh, eig and qr are defined up to phases, and up to rotations where values are
equal. A function that sees the difference has no derivative there; any number for it would depend
on the backend. So value and derivative are recorded, replayed with vectors in another gauge, and
compared. Factorizations inside ``scan`` and other loops are not examined. Read next:
``checking/check.py``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from typing import Any

from tenferro.arrays import Array, as_array, evaluate_keys
from tenferro.arrays.handle.array import evaluable
from tenferro.computegraph import MaterializedGraph, ValueKey, flatten
from tenferro.primitives import Handle, bind_all
from tenferro.primitives._source import source_text, stack_level
from tenferro.primitives.linalg._turns import SEEDS, in_another_gauge, is_free
from tenferro.transforms.derivatives.jvp import jvp
from tenferro.transforms.errors import GaugeWarning
from tenferro.transforms.recording.loans import Loans
from tenferro.transforms.recording.record import record
from tenferro.transforms.recording.run_or_record import history, key_of

_TOLERANCE = {"float64": 1e-6, "float32": 5e-3}


def warn_of_gauge(
    function: Callable[..., Any], args: Sequence[Any], tangents: Sequence[Any], level: int
) -> bool:
    """Warn, at the line that called ``check_grads``, of each factorization whose gauge is seen."""
    with Loans(keeps=True) as loans:
        graph = _value_and_derivative(function, args, tangents, loans)
        free = [i for i, node in enumerate(graph.nodes) if is_free(node.operation)]
        if not free or not all(evaluable(key) for key in graph.inputs):
            return False
        want = _played(graph, (), 0)
        if not _is_seen(graph, want, free):
            return False
        for place in [i for i in free if _is_seen(graph, want, (i,))] or free:
            warnings.warn(_text(graph, place, level), GaugeWarning, stacklevel=stack_level())
    return True


def _value_and_derivative(
    function: Callable[..., Any], args: Sequence[Any], tangents: Sequence[Any], loans: Loans
) -> MaterializedGraph:
    """Record the value and the derivative along the tangents."""

    def both(*xs: Any) -> Any:
        return jvp(function, xs, tuple(tangents))

    recording = record(both, args, {}, range(len(args)), loans)
    given = set(recording.wrt)  # a pin among them has a history that ends in another leaf
    outputs = [key_of(x) for x in recording.outputs]
    return flatten(recording.wrt, outputs, lambda key: None if key in given else history(key))


def _played(graph: MaterializedGraph, places: Collection[int], seed: int) -> list[Any]:
    """Compute the outputs with the factorizations at these places in another gauge."""
    values = [Handle(key) for key in graph.inputs]
    for place, node in enumerate(graph.nodes):
        operation: Any = node.operation
        results = bind_all(operation, *[values[i] for i in node.inputs])
        if place in places:
            results = in_another_gauge(operation, results, seed)
        values += results
    keys: list[ValueKey] = [values[i].key for i in graph.outputs]
    evaluate_keys(keys)
    return [Array(key)._concrete("a value") for key in keys]


def _is_seen(graph: MaterializedGraph, want: Sequence[Any], places: Collection[int]) -> bool:
    """Return True if an output changes with the gauge at these places."""
    return any(_differ(want, _played(graph, places, seed)) for seed in SEEDS)


def _differ(want: Sequence[Any], got: Sequence[Any]) -> bool:
    """Return True if a pair of arrays differs by more than rounding errors explain."""
    largest = max([_largest(x) for x in want], default=0.0)
    for x, y in zip(want, got, strict=True):
        tolerance = _TOLERANCE.get(as_array(x).dtype.real_dtype.name, 1e-6)
        bound = tolerance * max(_largest(x), 1e-6 * largest)
        if not _largest(y - x) <= bound:  # nan differs
            return True
    return False


def _largest(x: Any) -> float:
    return float(abs(x).max()) if x.size else 0.0


def _text(graph: MaterializedGraph, place: int, level: int) -> str:
    node = graph.nodes[place]
    name = node.operation.name
    line = _line(graph, place)
    what = "the value or its derivative" if level == 1 else f"a derivative of order {level}"
    return (
        f"{what} depends on the gauge of {name}\n"
        "  got        another result with other vectors, of other phases or, where values are\n"
        "             equal, rotated, which belong to the matrix as much\n"
        + (f"  from       {line}\n" if line else "")
        + "  need       a function of what is unique: values, projectors, and, where\n"
        "             values are distinct, U f(S) Vᴴ\n" + _HINTS.get(name, _CANONICAL)
    )


def _line(graph: MaterializedGraph, place: int) -> str | None:
    """Return the user's line of a factorization; in a derivative, that of the primal equation."""
    node = graph.nodes[place]
    kin = [other.source for other in graph.nodes if other.inputs == node.inputs and other.source]
    return source_text(node.source or (kin[0] if kin else None))


_CANONICAL = (
    '  hint       gauge="canonical" makes the vectors of distinct values unique; where values are\n'
    "             equal, tn.linalg.spectral_function is V f(w) Vᴴ, and tn.linalg.low_rank and\n"
    "             low_rank_factors are the truncated U S Vᴴ"
)
_HINTS = {
    "qr": "  hint       canonical=True makes the factors unique: the diagonal of R is positive"
}
