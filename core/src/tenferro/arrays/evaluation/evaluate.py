"""Evaluation on demand: flatten what is pending, find or compile its program, run it, keep results.

A value that something else still holds and that shares the pending work is computed along with
what was asked for, so that nothing is computed twice. A value on which no transform is open drops
its history once it is known. A value of a memo that is only looked at is noted there instead, since
its key serves other calls, too. Read next: ``functions/``.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping, Sequence
from threading import local
from typing import TYPE_CHECKING, Any

from tenferro._runtime.collector import CollectorPaused
from tenferro.arrays.errors import ConcretizationError, LeakedArrayError
from tenferro.arrays.evaluation.form import form_of, graph_of
from tenferro.arrays.handle.array import Array, refusals
from tenferro.arrays.handle.evaluator import EVALUATOR
from tenferro.arrays.handle.memo import held_by, looked_at
from tenferro.arrays.handle.traces import is_traced, tracing
from tenferro.backend import select_backend
from tenferro.backend._options import Options, compiled, identity_of
from tenferro.backend.kept import kept_or_made
from tenferro.backend.select import backend_of
from tenferro.computegraph import (
    UNKNOWN,
    Application,
    Definition,
    MaterializedGraph,
    ProgramCache,
    ValueKey,
    flatten,
    inputs_of,
    narrowed,
    postorder,
    retire,
)
from tenferro.computegraph._keys import SHARED_SERIAL
from tenferro.computegraph._materialize import Walk, flatten_walk
from tenferro.primitives._aval import Aval
from tenferro.primitives._source import caller, source_text

if TYPE_CHECKING:
    from tenferro.backend import Backend, Executable

PROGRAMS = ProgramCache(max_entries=2048)
_BYTES_PER_INSTRUCTION = 1500  # of a compiled program, measured on the NumPy executor


def evaluate_keys(keys: Sequence[ValueKey], asked: str = "the value") -> None:
    """Compute the values of keys and store them there.

    Raises ConcretizationError: if a leaf is an argument that is only traced.
    """
    wanted = [key for key in dict.fromkeys(keys) if key.operand is UNKNOWN]
    if wanted:
        _evaluate(wanted, _known_walk(wanted, asked), is_look=False)


def look_at(key: ValueKey, asked: str) -> Any:
    """Compute the value of a key and return it; its memo, if it has one, serves later calls.

    Raises ConcretizationError: if a leaf is an argument that is only traced.
    """
    if held_by(key) is UNKNOWN and not _look_again(key):
        _evaluate([key], _known_walk([key], asked), is_look=True)
    return looked_at(key)


def _look_again(key: ValueKey) -> bool:
    """Run the graph by which an earlier call of a remembered function looked at a value, if any."""
    memo = key.memo
    entry = None if memo is None or memo.is_spoiled else memo.entry_of_look(key)
    found = None if entry is None else memo.programs.get(entry)
    if found is None:
        return False
    graph, outputs = found
    operands = [looked_at(leaf) for leaf in graph.inputs]
    if any([operand is UNKNOWN for operand in operands]):
        return False
    for output, result in zip(outputs, _run(graph, operands), strict=True):
        memo.look(output, result, is_cut=not is_traced(output))
    return True


def _known_walk(wanted: Sequence[ValueKey], asked: str) -> Walk:
    """Walk over pending values; raise the error for a leaf that is not known."""
    walk = postorder(wanted, pending)
    unknown = [leaf for leaf in walk[2] if held_by(leaf) is UNKNOWN]
    if unknown:
        error = leaked(unknown[0], wanted[0], asked)
        raise error or _abstract(wanted[0], asked, unknown)
    return walk


def evaluate_if_known(*keys: ValueKey) -> bool:
    """Look at the values of pending keys; return False if a leaf is not known."""
    walk = postorder(keys, pending)
    if any([held_by(leaf) is UNKNOWN for leaf in walk[2]]):
        return False
    wanted = [key for key in dict.fromkeys(keys) if held_by(key) is UNKNOWN]
    if wanted:
        _evaluate(wanted, walk, is_look=True)
    return True


class _Read(local):
    """The serial of the newest leaf that this thread has read to store other values in keys."""

    newest = 0


_read = _Read()


def newest_leaf_read() -> int:
    """Return the serial of the newest leaf that this thread has read to store values in keys.

    Values that are only looked at do not count, since a memo would note them. Numbers that code
    spells out do not count either, nor do arrays that graphs share.
    """
    return _read.newest


def _evaluate(wanted: list[ValueKey], walk: Walk, is_look: bool) -> None:
    """Compute what was walked over, and store what was wanted and what others share."""
    shared, beside = _shared(wanted, walk)
    outputs = [*wanted, *shared, *beside]
    if not is_look or any(map(_is_followed_factorization, outputs)):
        is_look = False
        _note_reads(walk[2])
    if beside:
        graph = flatten((), outputs, pending)
    else:
        with CollectorPaused():
            graph = flatten_walk((), outputs, walk)
    results = _run(graph, [looked_at(leaf) for leaf in graph.inputs])
    memo = wanted[0].memo if is_look and len(wanted) == 1 else None
    if memo is not None and not memo.is_spoiled:
        memo.keep_program(wanted[0], graph, outputs)
    for key, result in zip(outputs, results, strict=True):
        if is_look and key.memo is not None and not key.memo.is_spoiled:
            key.memo.look(key, result, is_cut=not is_traced(key))
        else:
            store(key, result)


def evaluate_graph(graph: MaterializedGraph, leaves: Sequence[ValueKey]) -> Sequence[Any]:
    """Run a closed graph on values that are known now, and return its results as operands."""
    _note_reads(leaves)
    return _run(graph, [leaf.operand for leaf in leaves])


def _note_reads(leaves: Sequence[ValueKey]) -> None:
    """Note the newest leaf whose value is read."""
    for leaf in leaves:
        if (leaf.traces or leaf.aval.shape) and _read.newest < leaf.serial < SHARED_SERIAL:
            _read.newest = leaf.serial


def store(key: ValueKey, operand: Any) -> None:
    """Keep the operand on the key, and drop its history if no transform needs it."""
    key.operand = operand
    key.depth = 0
    if key.memo is not None:
        key.memo.is_spoiled = True  # the key belongs to the values of this call from now on
    if not is_traced(key):
        retire(key)
    elif _is_followed_factorization(key):
        _note_factorization(key)


def _is_followed_factorization(key: ValueKey) -> bool:
    """Return True for a result of a factorization that an open derivative reads."""
    definition = key.definition
    return definition is not None and definition[0].cheap_output is not None and is_traced(key)


def _note_factorization(key: ValueKey) -> None:
    """Tell the open derivatives of a result that their programs need not compute again."""
    for trace in key.traces:
        if trace.open:
            trace.evaluated = (*trace.evaluated, key)


def pending(key: ValueKey) -> Definition | None:
    """Return the definition of a value that is not known yet."""
    if key.is_cut or (key.memo is not None and key in key.memo.seen_values):
        return None
    return narrowed(key.definition)


def _shared(wanted: Sequence[ValueKey], walk: Walk) -> tuple[list[ValueKey], Sequence[ValueKey]]:
    """Return the pending values under ``wanted`` that something outside this evaluation holds.

    Returns those that the walk has met, and other outputs of operations that it has met. A handle
    or another pending computation shows as a reference that the consumers found here do not
    explain. Too many references only cost an extra output, never a wrong result. What is made of a
    number alone is cheaper made again.
    """
    order, definitions, _ = walk
    uses: dict[ValueKey, int] = {}
    applied: dict[Application, bool] = {}  # whether all its outputs cost no more than these
    for definition in definitions:
        inputs = definition[3:]
        if inputs and type(inputs[0]) is Application:
            application = inputs[0]
            if application in applied:
                applied[application] = applied[application] or _takes_all(definition)
                continue
            applied[application] = _takes_all(definition)
            inputs = inputs_of(definition)
        for key in inputs:
            uses[key] = uses.get(key, 0) + 1
    skip = set(wanted)
    memo = wanted[0].memo
    if memo is not None:  # its entries hold keys, too
        times_held = memo.times_held()
        for key in uses:
            uses[key] += times_held.get(id(key), 0)
    held = map(sys.getrefcount, order)
    found = [
        key
        for count, key in zip(held, order, strict=True)
        if key not in skip and count - uses.get(key, 0) > _INTERNAL and key.serial < SHARED_SERIAL
    ]
    return found, _siblings(applied, skip.union(order)) if applied else ()


def _takes_all(definition: Definition) -> bool:
    """Return True if one output of an operation costs about as much as all of them.

    An open derivative reads the vectors that belong to values, whichever of them is asked for.
    """
    operation, _, slot, application = definition[:4]
    if not operation.prunable:
        return True
    cheap = operation.cheap_output
    return cheap is not None and (slot != cheap or is_traced(application))


def _siblings(applied: Mapping[Application, bool], known: set[ValueKey]) -> list[ValueKey]:
    """Return the outputs that something holds of those operations that compute all of them."""
    return [
        key
        for application, takes_all in applied.items()
        if takes_all
        for key in application.living_outputs
        if key not in known and key.operand is UNKNOWN
    ]


# References to a key inside `_shared` beyond its consumers: its entry in `order` and in `uses`, and
# the argument of `getrefcount`. Keys in `wanted` are skipped, so theirs do not count.
_INTERNAL = 3


def _run(graph: MaterializedGraph, operands: Sequence[Any]) -> Sequence[Any]:
    """Run a graph on operands with the selected backend, by the program of its form."""
    backend = select_backend(None, operands)
    form = form_of(graph)
    given = convert(graph, operands, backend)
    program = PROGRAMS.get(_name(form.structure, form.avals, backend))
    if program is None:
        program = executable(graph_of(graph, form), backend)
    results = program(*[given[i] for i in form.places])
    return [results[i] for i in form.results]


def convert(graph: MaterializedGraph, operands: Sequence[Any], backend: Backend) -> list[Any]:
    """Convert the operands to the backend's own."""
    take = backend.asoperand
    return [take(x, aval) for x, aval in zip(operands, graph.avals, strict=False)]


def executable(
    graph: MaterializedGraph, backend: Backend, options: Options | None = None
) -> Executable:
    """Return the compiled program of a graph on a backend, from the cache or newly compiled."""
    avals = graph.avals[: len(graph.inputs)]
    return PROGRAMS.get_or_make(
        _name(graph.structure, avals, backend, options),
        lambda: _made(graph, avals, backend, options),
        lambda _: _BYTES_PER_INSTRUCTION * len(graph),
    )


def _made(
    graph: MaterializedGraph, avals: Sequence[Any], backend: Backend, options: Options | None
) -> Executable:
    """Find the program of a graph among those that are kept, or compile it."""
    name = "program", graph.structure, avals, identity_of(options) if options else None
    return kept_or_made(name, backend, lambda: compiled(graph, avals, backend, options))


def _name(
    structure: Hashable, avals: Sequence[Any], backend: Backend, options: Options | None = None
) -> Hashable:
    """Return the name of a program in the cache."""
    name = structure, avals, backend, backend.lowerings.generation
    return (*name, identity_of(options)) if options else name


ABSTRACT = -(10**9)  # depth: values that depend on it are never evaluated early


def flush(key: ValueKey) -> None:
    """Evaluate a value whose pending history has become long, if all its leaves are known."""
    if is_evaluable(key):
        evaluate_keys([key])
    else:
        key.depth = ABSTRACT


def is_evaluable(key: ValueKey) -> bool:
    """Return True if every leaf under the value is known."""
    *_, leaves = postorder([key], pending)
    return all([held_by(leaf) is not UNKNOWN for leaf in leaves])


def _abstract(key: ValueKey, asked: str, unknown: Sequence[ValueKey]) -> ConcretizationError:
    """Make the error for a value that needs these leaves, which have no value yet."""
    recorded, transforms = source_text(key.source), tracing(unknown)
    by = refusals().traced_by(transforms)
    error = ConcretizationError(
        f"{asked} needs the value of an array that is only traced\n"
        f"  got        {key.aval}, whose value is unknown while a function is traced{by}\n"
        "  need       a program that does the same whatever the value is\n"
        f"  from       {source_text(caller())}\n"
        + (f"  recorded   {recorded}\n" if recorded else "")
        + f"  hint       {refusals().cure_where_traced(asked, transforms)}",
        aval=key.aval,
        asked=asked,
    )
    return refusals().note_refusal(error)  # type: ignore[no-any-return]


def leaked(leaf: ValueKey, key: ValueKey, asked: str) -> LeakedArrayError | None:
    """Make the error for a value of a traced function that has returned; ``None`` for others."""
    if not leaf.traces or is_traced(leaf):
        return None
    recorded = source_text(key.source)
    return LeakedArrayError(
        f"{asked} needs the value of an array that left the function in which it was traced\n"
        f"  got        {key.aval}, made of an argument of a call that is over\n"
        "  need       values that the function returns\n"
        f"  from       {source_text(caller())}\n"
        + (f"  recorded   {recorded}\n" if recorded else "")
        + "  hint       return the array from the function instead of keeping it elsewhere",
        aval=key.aval,
        asked=asked,
        argument=str(leaf.identity),
    )


def to_numpy(operand: Any, aval: Aval) -> Any:
    """Return a copy of an operand as a NumPy array, or as a NumPy scalar for rank 0."""
    backend = backend_of(operand)
    found = backend.to_numpy(backend.asoperand(operand, aval))
    if found is operand or getattr(found, "base", None) is not None:  # other code could write to it
        found = found.copy()
    return found if aval.shape else found[()]


def evaluate(*arrays: Any) -> None:
    """Compute arrays now, all in one program.

    Parameters
    ----------
    *arrays
        Arrays that are recorded and not evaluated yet. Their values are stored in them.

    Raises
    ------
    ConcretizationError
        Inside a function that is being traced.

    Examples
    --------
    >>> import tenferro as tn
    >>> from tenferro import asarray
    >>> x = asarray(2.0) * 3.0
    >>> tn.evaluate(x)
    >>> float(x)
    6.0
    """
    for array in arrays:
        if not isinstance(array, Array):
            kind = type(array).__name__
            raise TypeError(f"evaluate takes Arrays, each as an argument; got {kind}")
    evaluate_keys([array.key for array in arrays])


EVALUATOR.evaluate_keys = evaluate_keys
EVALUATOR.flush = flush
EVALUATOR.look_at = look_at
EVALUATOR.is_evaluable = is_evaluable
EVALUATOR.evaluate_if_known = evaluate_if_known
EVALUATOR.to_numpy = to_numpy
