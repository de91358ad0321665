"""From a recorded primal to results: evaluated at once where nothing is open, lazy otherwise.

A transform that is not nested finds its finished program by the structure of the recorded primal,
so a second call costs recording and running only. The cache holds programs, never operands.
Inside another transform, or where a value is only traced, the derivative is emitted as a graph.
The same is done where a rule of the user closes over a value of an outer transform: the recorded
primal does not show that value, so the derivative depends on it and is not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from tenferro._runtime import CollectorPaused
from tenferro.arrays import Array, as_array, is_traced
from tenferro.arrays.errors import UnknownOperandError
from tenferro.arrays.evaluation.evaluate import convert, executable, store, to_numpy
from tenferro.arrays.handle.convert import is_operand
from tenferro.arrays.handle.memo import held_by, is_constant
from tenferro.backend import select_backend
from tenferro.backend._options import compiled
from tenferro.backend.kept import kept_or_made
from tenferro.computegraph import (
    UNKNOWN,
    Definition,
    ProgramCache,
    ValueKey,
    flatten,
    new_leaf,
    signature,
)
from tenferro.primitives._aval import Aval
from tenferro.tidu import flow_of, in_rule
from tenferro.transforms.recording.positions import Reads, identity_of
from tenferro.transforms.recording.rolling import is_rolling, with_loops

if TYPE_CHECKING:
    from tenferro.backend import Backend, Executable

TRANSFORMS = ProgramCache(max_entries=1024)
_BYTES_PER_ITEM = 500
_VARIANTS = 8  # programs that differ by the values they rely on alone


def run_or_record(
    kind: Hashable,
    primal: Sequence[ValueKey],
    inputs: Sequence[ValueKey],
    emit: Callable[[Sequence[ValueKey]], Sequence[ValueKey]],
    plain: bool,
    backend: Any = None,
    stand_ins: Sequence[ValueKey] | None = None,
    reads: Reads | None = None,
    rolls: bool = True,
    notes: list[Any] | None = None,
) -> list[Any]:
    """Compute what ``emit`` makes of the primal now, or record it if a transform is open.

    The result is operands if ``plain`` and no transform is open, else Arrays. ``inputs`` are the
    fresh keys of the transform, in order; the other leaves of the primal are found. ``kind`` names
    the transform and everything that changes its program. If the inputs are examples of a batch,
    ``stand_ins`` are the batches, which the program reads instead. ``reads`` notes the leaves whose
    values the program relies on while ``emit`` runs. Without ``rolls``, loops of the primal stay
    as Python unrolled them. ``notes`` receives what ``emit`` appends to it, also where a program of
    an earlier call is found.
    """
    if in_rule():
        return pending(emit(primal))

    def emitted(chosen: Backend | None = None) -> Sequence[ValueKey]:
        return emit(with_loops(primal, inputs, chosen) if rolls else primal)

    looked_at = _looked_at(inputs, stand_ins, reads)
    known = _known(primal, inputs, stand_ins, looked_at)
    if known is None:
        return pending(emitted_again(kind, primal, inputs, emitted, stand_ins, notes))
    structure, leaves, operands = known
    if structure is None:
        return _run_anew(leaves, len(inputs), emit(primal), plain, backend)
    chosen = select_backend(backend, operands)
    avals = tuple([leaf.aval for leaf in leaves])
    parts = kind, len(looked_at), structure, avals
    key = (*parts, chosen, chosen.lowerings.generation)
    program: Finished | None = TRANSFORMS.get(key)
    if program is None or program.reads:
        make = partial(finish, leaves, avals, partial(emitted, chosen), chosen, reads, notes)
        if notes is None:  # they end with the process
            make = partial(_kept_or_finished, parts, rolls, reads, chosen, make)
        try:
            program = _program(key, make, _BYTES_PER_ITEM * len(structure), reads, operands)
        except ClosedOverError as closed:
            return _run_anew(leaves, len(inputs), closed.outputs, plain, backend)
    _tell(notes, program)
    take = chosen.asoperand
    pairs = zip(operands, avals, strict=True)
    results = program.executable(*[take(x, aval) for x, aval in pairs])
    given = operands[: len(operands) - len(looked_at)]
    return program.deliverer(chosen, given, plain)(results)


def _kept_or_finished(
    parts: tuple[Hashable, ...],
    rolls: bool,
    reads: Reads | None,
    backend: Backend,
    make: Callable[[], Finished],
) -> Finished:
    """Return the program among those of other processes, or finish it.

    What decides it besides its parts is asked now: values may be ignored since an earlier call.
    """
    ignored = reads is None or reads.ignores_values
    name = "transform", *parts, rolls and is_rolling(), ignored
    return kept_or_made(name, backend, make)


def _looked_at(
    inputs: Sequence[ValueKey], stand_ins: Sequence[ValueKey] | None, reads: Reads | None
) -> list[ValueKey]:
    """Return the results of factorizations that were computed while the primal was recorded.

    Programs of batches, and those that rely on values of their leaves, compute them again.
    """
    found = take_evaluated(inputs)
    return found if stand_ins is None and reads is None else []


def store_looks(inputs: Sequence[ValueKey]) -> None:
    """Make leaves of values that were looked at, for transforms that read positions in leaves.

    This ends the memo of the inputs.
    """
    memo = inputs[0].memo if inputs else None
    for key in () if memo is None else tuple(memo.cut):
        store(key, held_by(key))


def take_evaluated(inputs: Sequence[ValueKey]) -> list[ValueKey]:
    """Return what the traces of the inputs noted; those that have closed let go of it.

    Keys hold their traces, so that values would stay until a collection of cycles otherwise.
    """
    traces = {trace for key in inputs for trace in key.traces if trace.evaluated}
    if not traces:
        return []
    found = [key for trace in traces for key in trace.evaluated]
    for trace in traces:
        if not trace.open:
            trace.evaluated = ()
    living = [key for key in dict.fromkeys(found) if key.definition is not None]
    return sorted(living, key=lambda key: key.serial)


def _known(
    primal: Sequence[ValueKey],
    inputs: Sequence[ValueKey],
    stand_ins: Sequence[ValueKey] | None,
    looked_at: Sequence[ValueKey],
) -> tuple[tuple[Any, ...] | None, list[ValueKey], list[Any]] | None:
    """Return the cache key of a primal, its leaves and their operands; ``None`` if a value is not
    known, or a transform is open.
    """
    if any([is_traced(key) for key in (*primal, *(stand_ins or ()))]):
        return None
    structure, leaves = _signature(inputs, primal, looked_at)
    leaves += looked_at
    if stand_ins is not None:
        leaves[: len(inputs)] = stand_ins
    operands = [held_by(leaf) for leaf in leaves]
    if any([operand is UNKNOWN for operand in operands]):
        return None
    return structure, leaves, operands


def _signature(
    inputs: Sequence[ValueKey], primal: Sequence[ValueKey], looked_at: Sequence[ValueKey]
) -> tuple[Any, list[ValueKey]]:
    """Return the signature of a primal; a memo keeps that of the results that it remembers."""
    memo = inputs[0].memo if inputs else None
    cut = () if memo is None else memo.cut
    if memo is None or memo.is_spoiled or looked_at:
        return signature(inputs, [*primal, *looked_at], cut)
    entry = (*inputs, *primal, len(cut), *cut)  # a value that is cut is not a result
    found = memo.recordings.get(entry)
    if found is None:
        if any([key.memo is not memo for key in (*inputs, *primal, *cut)]):
            return signature(inputs, primal, cut)
        structure, leaves = signature(inputs, primal, cut)
        found = memo.recordings[entry] = structure and Hashed(structure), tuple(leaves)
    return found[0], [*found[1]]


def emitted_again(
    kind: Hashable,
    primal: Sequence[ValueKey],
    inputs: Sequence[ValueKey],
    emitted: Callable[[], Sequence[ValueKey]],
    stand_ins: Sequence[ValueKey] | None = None,
    notes: list[Any] | None = None,
) -> Sequence[ValueKey]:
    """Emit the derivative that a remembered function asks for, or find that of an earlier call.

    What rules of the user read is not found again (see the head of this file), nor what was emitted
    while an operand was looked at, such as positions, or with ``notes``.
    """
    memo = inputs[0].memo if inputs else None
    if memo is None or memo.is_spoiled or notes is not None:
        return emitted()
    return found_again(kind, (*primal, *inputs, *(stand_ins or ())), emitted)


def found_again(
    kind: Hashable, read: Sequence[ValueKey], made: Callable[[], Sequence[ValueKey]]
) -> Sequence[ValueKey]:
    """Return what a remembered function makes of values, or what an earlier call made of them.

    As in `emitted_again`, what rules of the user read is made anew, and so is what is made while an
    operand is looked at.
    """
    memo = next((key.memo for key in read if key.memo is not None), None)
    if memo is None or memo.is_spoiled or in_rule():
        return made()
    if not all([memo.owns(key) or is_constant(key) for key in read]):
        return made()
    entry = (kind, *read)
    found: Sequence[ValueKey] | None = memo.derivatives.get(entry)
    if found is None:
        looks = memo.looks
        found = made()
        structure, leaves = signature((), read)
        if structure and looks == memo.looks and not memo.is_spoiled:
            if set(leaves).issuperset(signature((), found)[1]):
                memo.derivatives[entry] = found
    return found


class Hashed(tuple[Any, ...]):
    """A tuple that computes its hash once."""

    _hash: int

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            self._hash = super().__hash__()
            return self._hash


def _program(
    key: Hashable,
    make: Callable[[], Finished],
    size: int,
    reads: Reads | None,
    operands: Sequence[Any],
) -> Finished:
    """Return the program of that key; if it relies on values, the one for these operands."""
    program = TRANSFORMS.get_or_make(key, make, lambda _: size)
    while reads and program.reads and (values := _values(program, operands)) != program.reads:
        reads.ignores_values = not program.admits(values)
        key = (key, None if reads.ignores_values else values)
        program = TRANSFORMS.get_or_make(key, make, lambda _: size)
    return program


def _tell(notes: list[Any] | None, program: Finished) -> None:
    """Give the notes of a program to the caller who asked for them."""
    if notes is not None:
        notes[:] = program.notes


def _run_anew(
    leaves: Sequence[ValueKey], count: int, outputs: Sequence[ValueKey], plain: bool, backend: Any
) -> list[Any]:
    """Run what was emitted by rules of the user, which may differ from call to call.

    The first ``count`` leaves are arguments; others may be what a rule has evaluated. If a rule
    closes over a value that an outer transform follows, the results stay in the graph.
    """
    if any([is_traced(key) for key in outputs]):
        return pending(outputs)
    given = set(leaves)
    graph = flatten(leaves, outputs, lambda key: None if key in given else key.definition)
    operands = [held_by(leaf) for leaf in graph.inputs]
    if any([operand is UNKNOWN for operand in operands]):
        return pending(outputs)
    chosen = select_backend(backend, operands)
    results = executable(graph, chosen)(*convert(graph, operands, chosen))
    return deliver(results, [key.aval for key in outputs], chosen, operands[:count], plain)


def pending(keys: Sequence[ValueKey]) -> list[Any]:
    """Return Arrays on values that stay in the graph; inside a rule, with the flow that they
    carry.
    """
    return [Array(key, flow_of(key)) for key in keys]


def history(key: ValueKey) -> Definition | None:
    """Return the definition of a key, known or not."""
    return key.definition


class ClosedOverError(Exception):
    """Signal, never shown: a rule closes over values, so that its program cannot be kept.

    ``outputs`` are the keys of the results, as the rules emitted them.
    """

    def __init__(self, outputs: Sequence[ValueKey] = ()) -> None:
        super().__init__()
        self.outputs = outputs


class Finished:
    """An executable with the avals of its results, and the operands on whose values it relies.

    ``notes`` are what was appended while it was emitted.
    """

    __slots__ = (
        "__weakref__", "_deliverer", "_others", "executable", "notes", "output_avals", "reads"
    )  # fmt: skip

    def __init__(
        self,
        executable: Executable,
        output_avals: tuple[Aval, ...],
        reads: tuple[tuple[int, Any], ...] = (),
        notes: tuple[Any, ...] = (),
    ) -> None:
        self.executable = executable
        self.output_avals = output_avals
        self.reads = reads
        self.notes = notes
        self._others: set[Hashable] = set()
        self._deliverer: Callable[[Sequence[Any]], list[Any]] | None = None

    def deliverer(
        self, backend: Backend, operands: Sequence[Any], plain: bool
    ) -> Callable[[Sequence[Any]], list[Any]]:
        """Return ``deliverer`` of the results; made once where operands are NumPy arrays."""
        if not plain or not backend.operands_are_numpy:
            return deliverer(self.output_avals, backend, operands, plain, fresh=True)
        if self._deliverer is None:
            self._deliverer = deliverer(self.output_avals, backend, operands, plain, fresh=True)
        return self._deliverer

    def __reduce__(self) -> tuple[object, ...]:
        if self.reads or self.notes:
            raise TypeError("a program that relies on values is for one process")
        return Finished, (self.executable, self.output_avals)

    def admits(self, values: Hashable) -> bool:
        """Return True if other values may have their own program; False if they always change."""
        if len(self._others) < _VARIANTS:
            self._others.add(values)
        return values in self._others


def _values(program: Finished, operands: Sequence[Any]) -> tuple[Any, ...]:
    """Return the values of the operands that a program relies on, to compare with its own."""
    return tuple([(place, identity_of(operands[place])) for place, _ in program.reads])


def finish(
    leaves: Sequence[ValueKey],
    avals: Sequence[Aval],
    emit: Callable[[], Sequence[ValueKey]],
    backend: Backend,
    reads: Reads | None = None,
    notes: list[Any] | None = None,
) -> Finished:
    """Emit, flatten and compile the program of a transform.

    Raises ClosedOverError: if the derivative reads other values than the leaves.
    """
    given = set(leaves)  # a pin among them has a history that ends in another leaf
    with CollectorPaused():  # once for all: each end of a pause walks what was made in it
        before = len(notes or ())
        outputs = emit()
        graph = flatten(leaves, outputs, lambda key: None if key in given else key.definition)
        if len(graph.inputs) > len(leaves) or any([is_traced(key) for key in outputs]):
            raise ClosedOverError(outputs)
        results = tuple([graph.avals[i] for i in graph.outputs])
        relies = () if reads is None else reads.among(leaves)
        noted = tuple((notes or ())[before:])
        return Finished(compiled(graph, avals, backend), results, relies, noted)


def deliver(
    results: Sequence[Any],
    avals: Sequence[Aval],
    backend: Backend,
    operands: Sequence[Any],
    plain: bool,
) -> list[Any]:
    """Return results in the form in which the arguments came."""
    return deliverer(avals, backend, operands, plain)(results)


def deliverer(
    avals: Sequence[Aval],
    backend: Backend,
    operands: Sequence[Any],
    plain: bool,
    fresh: bool = False,
) -> Callable[[Sequence[Any]], list[Any]]:
    """``deliver`` for all calls whose operands are of these classes.

    No other code refers to results that are ``fresh``: their memory may be given away.
    """
    if not plain:
        return lambda results: [known_array(x, a) for x, a in zip(results, avals, strict=True)]
    if _stay_operands(backend, operands):
        return list
    takes = [backend.result_to_numpy(aval) if fresh else backend.to_numpy for aval in avals]
    if len(set(takes)) > 1:
        of_rank = [(take, bool(aval.shape)) for take, aval in zip(takes, avals, strict=True)]
        return lambda results: [
            take(x) if has_axes else take(x)[()]
            for (take, has_axes), x in zip(of_rank, results, strict=True)
        ]
    take = takes[0] if takes else backend.to_numpy
    if all([aval.shape for aval in avals]):
        return lambda results: [take(x) for x in results]
    return lambda results: [
        take(x) if aval.shape else take(x)[()] for x, aval in zip(results, avals, strict=True)
    ]


def deliverer_of_one(
    aval: Aval, backend: Backend, operands: Sequence[Any], plain: bool
) -> Callable[[Sequence[Any]], Any]:
    """``deliverer`` for a program with one fresh result, which leaves without a list.

    Small programs cost little more than their call, so that a list and its loop count.
    """
    if not plain:
        return lambda results: known_array(results[0], aval)
    if _stay_operands(backend, operands):
        return itemgetter(0)
    take = backend.result_to_numpy(aval)
    if aval.shape:
        return lambda results: take(results[0])
    return lambda results: take(results[0])[()]


def _stay_operands(backend: Backend, operands: Sequence[Any]) -> bool:
    """Return True if results leave as the backend's own arrays, because an argument came so."""
    return not backend.operands_are_numpy and any(
        [is_operand(x) and backend.owns(x) for x in operands]
    )


def known_array(operand: Any, aval: Aval) -> Array:
    """Make an array whose value is known."""
    key = new_leaf("value", aval)
    key.operand = operand
    return Array(key)


def as_user(x: Any, plain: bool) -> Any:
    """Return an evaluated array as the operand that leaves a transform."""
    if not plain or not isinstance(x, Array) or is_traced(x.key):
        return x
    if x.key.operand is UNKNOWN:
        return x
    return to_numpy(x.key.operand, x.aval)


def key_of(x: Any) -> ValueKey:
    """Return the key of a result, which may be an operand that the function returned unchanged."""
    try:
        return as_array(x).key
    except UnknownOperandError as error:
        error.add_note("  where      in the result of the function")
        raise
