"""Buffers that a program fills part by part, as Python's users do with ``buffer[k] = …``.

Assignments at known places that lie side by side become one concatenation of what is assigned.
So no step of the loop around them waits for the step before it, and neither does its derivative.
Read next: ``loops.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import ValueKey, derive, derive_one
from tenferro.passes.roll.steps import Program, operation_of, results_of
from tenferro.primitives.constants import Constant
from tenferro.primitives.indexing import DynamicUpdateSlice
from tenferro.primitives.structural import Concatenate

_LEAST_UPDATES = 4  # of a buffer


class Update(NamedTuple):
    """An assignment: the place of its equation, the assigned part, and where that begins."""

    place: int
    part: ValueKey
    starts: tuple[int, ...]


class Joined(NamedTuple):
    """Updates side by side along an axis, in this order; ``first`` was made first."""

    axis: int
    updates: tuple[Update, ...]
    first: int  # place of its equation


def with_joined_updates(
    program: Program, outputs: Sequence[ValueKey]
) -> tuple[Sequence[ValueKey], int]:
    """Return the outputs with concatenations for updates side by side, and how many there are."""
    places = [i for i, m in enumerate(program.makers) if type(m.operation) is DynamicUpdateSlice]
    if len(places) < _LEAST_UPDATES:
        return outputs, 0
    chains = _chains(program, outputs, places)
    found = {program.makers[chain[-1].place]: _side_by_side(chain) for chain in chains}
    joined = {key: each for key, each in found.items() if each is not None}
    return (_rewritten(program, outputs, joined), len(joined)) if joined else (outputs, 0)


def _chains(
    program: Program, outputs: Sequence[ValueKey], places: Sequence[int]
) -> list[list[Update]]:
    """Return chains: each update reads the buffer of the one before, and nothing else does."""
    readers = Counter([key for given in program.inputs for key in given])
    readers.update(map(program.value, outputs))
    chain_of: dict[ValueKey, list[Update]] = {}  # by its last buffer
    for place in places:
        buffer, part, *at = program.inputs[place]
        starts = [_number(key) for key in at]
        if None in starts:
            continue
        shapes = zip(starts, part.aval.shape, buffer.aval.shape, strict=True)
        clamped = tuple([min(max(start, 0), n - size) for start, size, n in shapes])
        chain = chain_of.pop(buffer, []) if readers[buffer] == 1 else []
        chain_of[program.makers[place]] = [*chain, Update(place, part, clamped)]
    return [chain for chain in chain_of.values() if len(chain) >= _LEAST_UPDATES]


def _number(key: ValueKey) -> Any:
    """Return the number that a key stands for; ``None`` if it is not part of the program."""
    definition = key.definition
    if definition is None or type(definition[0]) is not Constant or key.aval.shape:
        return None
    return definition[0].value


def _side_by_side(chain: Sequence[Update]) -> Joined | None:
    """Return the updates in the order of their places; ``None`` if these leave gaps or overlap."""
    columns = zip(*[update.starts for update in chain], strict=True)
    axes = [axis for axis, starts in enumerate(columns) if len(set(starts)) > 1]
    if len(axes) != 1:
        return None
    (axis,) = axes
    ordered = sorted(chain, key=lambda update: update.starts[axis])
    rest = {(*u.part.aval.shape[:axis], *u.part.aval.shape[axis + 1 :]) for u in chain}
    ends = [u.starts[axis] + u.part.aval.shape[axis] for u in ordered]
    if len(rest) > 1 or ends[:-1] != [u.starts[axis] for u in ordered[1:]]:
        return None
    return Joined(axis, tuple(ordered), chain[0].place)


def _rewritten(
    program: Program, outputs: Sequence[ValueKey], joined: Mapping[ValueKey, Joined]
) -> list[ValueKey]:
    """Write what follows from the buffers again, in the order of recording."""
    new: dict[ValueKey, ValueKey] = {}
    for maker, given in zip(program.makers, program.inputs, strict=True):
        if maker in joined:
            new[maker] = _buffer(program, joined[maker], new)
            continue
        inputs = [new.get(key, key) for key in given]
        if all([x is y for x, y in zip(inputs, given, strict=True)]):
            continue
        made = derive(operation_of(maker), inputs, maker.role)
        for key, old in zip(made, results_of(maker), strict=True):
            key.source = key.source or old.source
            new[old] = key
    return [new.get(program.value(key), key) for key in outputs]


def _buffer(program: Program, joined: Joined, new: Mapping[ValueKey, ValueKey]) -> ValueKey:
    """Write the buffer behind updates side by side."""
    parts = [new.get(update.part, update.part) for update in joined.updates]
    whole = derive_one(Concatenate(joined.axis), parts)
    before = program.inputs[joined.first][0]
    maker = program.makers[joined.first]
    if whole.aval.shape != maker.aval.shape:
        starts = program.inputs[joined.updates[0].place][2:]
        whole = derive_one(operation_of(maker), [new.get(before, before), whole, *starts])
    whole.source = whole.source or maker.source
    return whole
