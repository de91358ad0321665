"""Programs of ours around functions of the user, recorded once for each graph of these functions.

A solver calls the user's function in a loop, where it records hundreds of equations of its own.
``record_function`` runs the user's function once, at each call of the solver, so that a changed
global or attribute is seen; ``program_around`` finds the recorded program by the graph of the
function, and applies it to what the function reads. Read next: ``body.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array, evaluate_keys, is_traced
from tenferro.arrays.evaluation.evaluate import evaluate_graph
from tenferro.arrays.functions.elementwise import stop_gradient
from tenferro.arrays.handle.array import evaluable
from tenferro.computegraph import Fragment, ProgramCache, ValueKey, new_leaf
from tenferro.primitives import Aval, constant
from tenferro.tidu import in_rule, is_pin
from tenferro.transforms.control.body import (
    Leaf,
    Recorded,
    closed,
    outer_array,
    read_from_outside,
    record_body,
)
from tenferro.transforms.control.unrolled import is_unrolling
from tenferro.transforms.recording.run_or_record import found_again, known_array

__all__ = ["BoundFunction", "RecordedFunction", "program_around", "record_function"]

_PROGRAMS = ProgramCache(max_entries=256)
_BYTES_PER_EQUATION = 2000  # a loop of the program holds many more

Function = Callable[..., Sequence[Array]]


class RecordedFunction(NamedTuple):
    """A function of the user as a graph, with the values that it reads from outside.

    Without a graph, in ``debug.unrolled``, ``function`` itself is called.
    """

    function: Function
    avals: list[Aval]
    """Those of its results."""
    body: Fragment | None
    consts: list[Array]

    def bound(self, consts: Sequence[Array]) -> BoundFunction:
        """Return the function of its own arguments alone, for these values from outside."""
        return BoundFunction(self, consts)


class BoundFunction:
    """A recorded function of its own arguments alone."""

    def __init__(self, recorded: RecordedFunction, consts: Sequence[Array]) -> None:
        self._recorded = recorded
        self._consts = consts

    def __call__(self, *given: Array) -> Sequence[Array]:
        """Return the results for these arguments."""
        body = self._recorded.body
        if body is None:
            return self._recorded.function(*given)
        keys = body.apply([x.key for x in (*self._consts, *given)])
        return [outer_array(key) for key in keys]

    def constant(self) -> BoundFunction:
        """Return the function whose values from outside are constants for derivatives.

        In ``debug.unrolled`` that is the function itself.
        """
        return BoundFunction(self._recorded, [stop_gradient(x) for x in self._consts])


def record_function(name: str, function: Function, leaves: Sequence[Leaf]) -> RecordedFunction:
    """Record a function of arrays that returns a sequence of Arrays.

    Raises BodyError: if it has effects; a solver may call it more often than once a step.
    """
    unrolls = is_unrolling()
    recorded = record_body(name, lambda xs: function(*xs), leaves, unrolls, is_remembered=True)
    keys = [y.key for y in recorded.outputs]
    avals = [key.aval for key in keys]
    if unrolls:
        return RecordedFunction(function, avals, None, [])
    return RecordedFunction(function, avals, *closed(recorded, keys))


def program_around(
    name: str,
    functions: Sequence[RecordedFunction],
    make: Callable[..., Sequence[Array]],
    options: Hashable,
    given: Sequence[Array],
) -> Sequence[Array]:
    """Return ``make(functions, *given)``, recorded once for graphs, options and avals.

    ``make`` receives functions of their own arguments alone. It is decided by ``name`` and
    ``options``, and reads nothing else from outside.
    """
    bodies = [f.body for f in functions]
    if any([body is None for body in bodies]):
        return make([f.bound(f.consts) for f in functions], *given)
    inputs = [*[x for f in functions for x in f.consts], *given]

    def recorded() -> _Program:
        leaves = [Leaf(f"x{i}", x.aval) for i, x in enumerate(inputs)]
        found = record_body(name, lambda values: make(*_split(functions, values)), leaves)
        return _closed(found, [y.key for y in found.outputs])

    if any([body.volatile for body in bodies if body is not None]):
        program = recorded()  # rules of the user may differ from call to call
    else:
        key = (name, options, *bodies, *[x.aval for x in inputs])
        size = lambda program: _BYTES_PER_EQUATION * len(program.body)  # noqa: E731
        program = _PROGRAMS.get_or_make(key, recorded, size)
    given = [*program.constants, *inputs]
    keys = [x.key for x in given]
    body = program.body
    if all(map(_is_value, given)) and not in_rule():
        evaluate_keys(keys)
        results = evaluate_graph(body.flat, keys)
        return [known_array(y, aval) for y, aval in zip(results, body.output_avals, strict=True)]
    found = found_again((name, body), keys, lambda: body.apply(keys))
    return [outer_array(key) for key in found]


class _Program(NamedTuple):
    """A recorded program, whose first inputs are arrays that its code makes of nothing."""

    body: Fragment
    constants: list[Array]


def _closed(recorded: Recorded, outputs: Sequence[ValueKey]) -> _Program:
    """Return a program in which the numbers of its code are literals.

    An array that its code makes, such as a unit matrix, is a value from outside where it was
    evaluated before: equal constants are one key.
    """
    outside = read_from_outside(recorded, outputs, hoists=False)
    values = [Array(key)._concrete("a constant") for key in outside]
    arrays, keys = [], []
    for key, value in zip(outside, values, strict=True):
        if key.aval.shape:
            arrays.append(known_array(value, key.aval))
            keys.append(new_leaf("constant", key.aval))
        else:
            keys.append(constant(value.item(), key.aval.dtype, ()).key)
    body = Fragment.of([*outside, *recorded.inputs], outputs, is_pin)
    inputs = [new_leaf(f"x{i}", key.aval) for i, key in enumerate(recorded.inputs)]
    first = [key for key in keys if key.aval.shape]
    return _Program(Fragment.of([*first, *inputs], body.apply([*keys, *inputs])), arrays)


def _is_value(x: Array) -> bool:
    """Return True if a value can be computed and no transform follows it or looks for it again."""
    key = x.key
    if key.memo is not None or x.flow or is_traced(key):
        return False
    return evaluable(key)


def _split(functions: Sequence[RecordedFunction], values: Sequence[Array]) -> list[Any]:
    """Return the functions, bound to their values, and the other values."""
    bound, place = [], 0
    for f in functions:
        end = place + len(f.consts)
        bound.append(f.bound(values[place:end]))
        place = end
    return [bound, *values[place:]]
