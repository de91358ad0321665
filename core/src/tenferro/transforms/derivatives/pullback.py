"""Programs of ``vjp`` and ``linearize`` by the structure of what was recorded.

A function that is recorded as an earlier one was is not swept again: one program gives its values
and what the linear map reads of them, another applies the map. Both come from one sweep, because
they must agree on what lies between them. Read next: ``derivatives/jvp.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.evaluation.evaluate import executable
from tenferro.arrays.handle.traces import is_traced
from tenferro.backend import select_backend
from tenferro.computegraph import (
    UNKNOWN,
    ProgramCache,
    ValueKey,
    flatten,
    is_literal,
    new_leaf,
    signature,
)
from tenferro.primitives import Handle
from tenferro.primitives._aval import Aval
from tenferro.tidu import Linearization, in_rule
from tenferro.transforms.recording.run_or_record import ClosedOverError, deliverer, take_evaluated

if TYPE_CHECKING:
    from tenferro.backend.base import Backend, Executable

PULLBACKS = ProgramCache(max_entries=512)
_BYTES_PER_ITEM = 1000

Emit = Callable[[Linearization, list[Handle]], list[ValueKey]]


class _Pair(NamedTuple):
    """The program of the values and residuals, and that of the linear map."""

    forward: Executable
    linear: Executable | None
    shared: tuple[int, ...]  # arguments that the linear map reads as they are, by position
    results: tuple[Aval, ...]  # of the linear map


class Swept:
    """The values of a function at a point, and its linear map as a program."""

    def __init__(
        self,
        pair: _Pair,
        backend: Backend,
        leaves: Sequence[ValueKey],
        avals: Sequence[Aval],
    ) -> None:
        """``leaves`` are the arguments and captured values, ``avals`` those of the values."""
        take = backend.asoperand
        operands = [leaf.operand for leaf in leaves]
        pairs = zip(operands, leaves, strict=True)
        found = pair.forward(*[take(x, leaf.aval) for x, leaf in pairs])
        self._linear = pair.linear
        self._backend = backend
        self._shared = [leaves[i] for i in pair.shared]  # of whose operands a copy is made in time
        self._values = found[: len(avals)]
        self._residuals = found[len(avals) :]
        forms = (avals, pair.results)
        self._as_operands = [deliverer(a, backend, operands, plain=True) for a in forms]
        self._as_arrays = [deliverer(a, backend, operands, plain=False) for a in forms]

    def delivered(self, plain: bool) -> list[Any]:
        """Return the values in the form in which the arguments came."""
        return (self._as_operands if plain else self._as_arrays)[0](self._values)

    def apply(self, keys: Sequence[ValueKey], plain: bool) -> list[Any] | None:
        """Apply the linear map to values; ``None`` if they are unknown or must be followed."""
        if self._linear is None or in_rule():
            return None
        if any([key.operand is UNKNOWN or is_traced(key) for key in keys]):
            return None
        select_backend(self._backend, [key.operand for key in keys])  # refuses those of another
        take = self._backend.asoperand
        given = [take(key.operand, key.aval) for key in (*self._shared, *keys)]
        results = self._linear(*self._residuals, *given)
        return (self._as_operands if plain else self._as_arrays)[1](results)


def sweep_once(
    kind: tuple[Any, ...],
    inputs: Sequence[ValueKey],
    outputs: Sequence[ValueKey],
    places: Sequence[Aval],
    sweep: Callable[[], tuple[Sequence[ValueKey], Linearization]],
    emit: Emit,
) -> Swept | None:
    """Compute the outputs and compile the linear map, if all values are known.

    Return ``None`` otherwise, and if a rule closes over values that the recorded primal does not
    show. ``sweep`` gives the outputs as they were differentiated, and the derivative; ``places``
    are the avals of the map's inputs; ``emit`` applies it to handles.
    """
    take_evaluated(inputs)
    if in_rule() or any([is_traced(key) for key in outputs]):
        return None
    structure, leaves = signature(inputs, outputs)
    operands = [leaf.operand for leaf in leaves]
    if structure is None or any([operand is UNKNOWN for operand in operands]):
        return None
    backend = select_backend(None, operands)
    avals = tuple([leaf.aval for leaf in leaves])

    def make() -> _Pair:
        return _compile(leaves, places, *sweep(), emit, backend)

    name = kind, structure, avals, backend, backend.lowerings.generation
    try:
        pair = PULLBACKS.get_or_make(name, make, lambda _: _BYTES_PER_ITEM * len(structure))
    except ClosedOverError:
        return None
    return Swept(pair, backend, leaves, [key.aval for key in outputs])


def _compile(
    leaves: Sequence[ValueKey],
    places: Sequence[Aval],
    outputs: Sequence[ValueKey],
    linear: Linearization,
    emit: Emit,
    backend: Backend,
) -> _Pair:
    """Compile both programs from one sweep.

    Raises ClosedOverError: if values or residuals are computed from others than the leaves.
    """
    place = {key: i for i, key in enumerate(leaves)}
    shared = [key for key in linear.residuals if key in place]
    made = [key for key in linear.residuals if key not in place and not is_literal(key)]
    given = [new_leaf("given", aval) for aval in places]
    results = emit(linear, [Handle(key) for key in given])
    if any([is_traced(key) for key in (*made, *results)]):
        raise ClosedOverError
    forward = _program(leaves, [*outputs, *made], backend)
    if forward is None:
        raise ClosedOverError
    apply = _program([*made, *shared, *given], results, backend)
    avals = tuple([key.aval for key in results])
    return _Pair(forward, apply, tuple([place[key] for key in shared]), avals)


def _program(
    declared: Sequence[ValueKey], outputs: Sequence[ValueKey], backend: Backend
) -> Executable | None:
    """Compile from declared values to outputs; ``None`` if the program reads anything else."""
    stop = set(declared)
    graph = flatten(declared, outputs, lambda key: None if key in stop else key.definition)
    return None if len(graph.inputs) > len(declared) else executable(graph, backend)
