"""Sparse Jacobians by accumulation: each linear equation acts on the parts of its operands.

The coefficients of a value are those that one would write by hand: a slice moves a diagonal, a
product multiplies it, a sum of the same diagonals adds them. No directions are pushed, so that no
zeros are computed (the sparse vector mode of Bischof, Khademi, Bouaricha, Carle, "Efficient
computation of gradients and Jacobians by dynamic exploitation of sparsity in automatic
differentiation", Optimization Methods and Software 7 (1996) 1, with patterns known from the graph).
If an equation has no rule, or there would be too many parts, no entries are accumulated; directions
of one colour are pushed together instead. Read next: ``patterns/parts.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations
from math import prod
from operator import eq
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import Definition, ValueKey, inputs_of, postorder
from tenferro.primitives import (
    Handle,
    concatenate,
    constant,
    reshape,
    scatter_add,
    table,
)
from tenferro.primitives._aval import Aval
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.indexing import Gather
from tenferro.primitives.structural import BroadcastInDim, OptimizationBarrier
from tenferro.transforms.patterns.part_rules import AT_POSITIONS, RULES, pointwise
from tenferro.transforms.patterns.parts import Part, Parts, normal, taken
from tenferro.transforms.patterns.pattern import is_elementwise, numbers_of_key
from tenferro.transforms.recording.positions import Reads

_MAX_COEFFICIENTS = 1 << 20  # of one value
_MAX_PARTS = 64  # of one value
_MAX_PARTS_TO_COMPARE = 6  # by pairs, which costs less than a set of all places


class Entries(NamedTuple):
    """Entries of a sparse matrix, in row-major order, and their places in the flat dense one."""

    values: Handle
    targets: tuple[int, ...]


def accumulated(
    results: Sequence[Any], direction: Handle, factor: complex, reads: Reads
) -> list[Parts] | None:
    """Return the derivative of each result in units of the direction, times a factor.

    ``results`` are handles that are linear in the direction, ``None`` where nothing flows. Return
    ``None`` if an equation has no rule, or needs too many coefficients.
    """
    seed, oldest = direction.key, direction.key.serial
    size, shape = direction.aval.size, direction.shape

    def definition_of(key: ValueKey) -> Definition | None:
        return None if key is seed or key.serial < oldest else key.definition

    unit = None if factor == 1 else constant(factor, direction.dtype, shape)
    known: dict[ValueKey, Parts] = {seed: [Part(unit, [*range(size)], shape, (0,) * len(shape))]}
    order, definitions, _ = postorder([x.key for x in results if x is not None], definition_of)
    for key, definition in zip(order, definitions, strict=True):
        inputs = inputs_of(definition)
        active = [x for x in inputs if x in known]
        if not active:
            continue
        if _multiplies(definition[0], len(inputs)):
            known.update([(x, _distinct(known[x], x.aval, size)) for x in active])
        if _growth(definition[0], inputs, known, key.aval) > _MAX_COEFFICIENTS:
            return None
        parts = _parts(definition, key, inputs, known, reads)
        if parts is None or len(parts) > _MAX_PARTS:
            return None
        parts = [part for part in parts if part.columns]  # others are of arrays without elements
        if sum([len(part.columns) for part in parts]) > _MAX_COEFFICIENTS:
            return None
        known[key] = parts
    return [[] if x is None else known.get(x.key, []) for x in results]


def _multiplies(operation: Any, count: int) -> bool:
    """Return True for an operation that multiplies coefficients with another operand."""
    if type(operation) is DotGeneral:
        return True
    moves = operation.transparent or type(operation) in (OptimizationBarrier, *RULES, *AT_POSITIONS)
    return count > 1 and not moves


def _distinct(parts: Parts, aval: Aval, columns: int) -> Parts:
    """Add up the coefficients of each place before they are multiplied.

    In x_i − x_j they cancel where i = j. Multiplied one by one, at every step of a
    recurrence, they grow until their difference has no correct digit.
    """
    if _are_disjoint(parts):
        return parts
    rows = chain.from_iterable([part.row_list(aval.shape) for part in parts])
    across = chain.from_iterable([part.columns for part in parts])
    places = [row * columns + c for row, c in zip(rows, across, strict=True)]
    if len(set(places)) == len(places):
        return parts
    values, targets = _summed(_together(parts, aval.dtype), places, range(len(places)))
    rows_of = [place // columns for place in targets]
    whole = Part(values, [place % columns for place in targets], None, rows=rows_of)
    return [normal(whole, aval.shape)]


def _are_disjoint(parts: Parts) -> bool:
    """Return True if a quick look shows that no two coefficients have the same place."""
    if len(parts) > _MAX_PARTS_TO_COMPARE or any([p.box is None or p.width for p in parts]):
        return False
    return not any([_meet(*pair) for pair in combinations(parts, 2)])


def _meet(a: Part, b: Part) -> bool:
    """Return True if two windows may have a place in common."""
    assert a.box is not None
    assert b.box is not None
    if (a.box, a.low) == (b.box, b.low):
        return any(map(eq, a.columns, b.columns))
    if len(a.box) != 1:
        return True
    low = max(a.low[0], b.low[0])
    high = max(low, min(a.low[0] + a.box[0], b.low[0] + b.box[0]))
    common = [part.columns[low - part.low[0] : high - part.low[0]] for part in (a, b)]
    return any(map(eq, *common))


def _growth(
    operation: Any, inputs: Sequence[ValueKey], known: dict[ValueKey, Parts], result: Aval
) -> int:
    """Return how many coefficients an operation that repeats elements will need at most."""
    if type(operation) not in (BroadcastInDim, Gather, DotGeneral):
        return 0
    counts = [sum([len(part.columns) for part in known.get(x, ())]) for x in inputs]
    active = max(range(len(inputs)), key=counts.__getitem__)
    times: int = result.size // max(inputs[active].aval.size, 1)
    if type(operation) is DotGeneral:
        other = inputs[1 - active].aval
        axes = (operation.lhs_contract, operation.lhs_batch)
        if active == 0:
            axes = (operation.rhs_contract, operation.rhs_batch)
        shared = [n for axis, n in enumerate(other.shape) if axis in axes[0] or axis in axes[1]]
        times = other.size // max(prod(shared), 1)
    return counts[active] * max(int(times), 1)


def _parts(
    definition: Definition,
    key: ValueKey,
    inputs: Sequence[ValueKey],
    known: dict[ValueKey, Parts],
    reads: Reads,
) -> Parts | None:
    """Return the parts of a value."""
    operation: Any = definition[0]
    given = [known.get(x) for x in inputs]
    if operation.transparent or type(operation) is OptimizationBarrier:
        return given[definition[2]] or []
    xs = [Handle(x) for x in inputs]
    rule = RULES.get(type(operation))
    if rule is not None:
        return rule(operation, given, xs, key.aval)
    at_positions = AT_POSITIONS.get(type(operation))
    if at_positions is not None:
        return at_positions(
            operation, given, xs, key.aval, lambda i: numbers_of_key(inputs[i], reads)
        )
    sizes = [x.aval.size for parts, x in zip(given, xs, strict=True) if parts is not None]
    if is_elementwise(operation, sizes, key.aval):
        return pointwise(operation, given, xs, key.aval)
    return None


def entries_of(
    parts: Parts, result: Aval, columns: int, *, last: bool, symmetric: bool = False
) -> Entries:
    """Return the entries that the parts of a result add up to.

    ``columns`` are the elements of the direction; its axes are the last of the matrix, or the
    first. Of a ``symmetric`` matrix an entry may be read on the other side of the diagonal.
    """
    if not parts:
        return Entries(constant(0, result.dtype, (0,)), ())
    across, down = (columns, 1) if last else (1, result.size)
    places = [
        [
            row * across + c * down
            for row, c in zip(part.row_list(result.shape), part.columns, strict=True)
        ]
        for part in parts
    ]
    dropped: set[int] = set()
    if symmetric:
        mirrored = _mirrored(places, columns)
        dropped.update(*[places[i] for i in mirrored])
        kept = [i for i in range(len(parts)) if i not in mirrored]
        parts, places = [parts[i] for i in kept], [places[i] for i in kept]
    found = [*chain.from_iterable(places)]
    sources = [*range(len(found))]
    if dropped:
        other = [_transposed(place, columns) for place in found]
        again = [i for i, place in enumerate(other) if place in dropped]
        found += [other[i] for i in again]
        sources += again
    return _summed(_together(parts, result.dtype), found, sources)


def _together(parts: Parts, dtype: Any) -> Handle:
    """Return the coefficients of all parts along one axis."""
    flat = [reshape(x, (x.aval.size,)) for x in [part.filled(dtype) for part in parts]]
    return flat[0] if len(flat) == 1 else concatenate(flat, 0)


def _summed(together: Handle, places: Sequence[int], sources: Sequence[int]) -> Entries:
    """Return the sums of coefficients that have the same place."""
    order = sorted(range(len(places)), key=places.__getitem__)
    layers: list[list[int]] = [[]]  # of the first coefficient of each place, the second, …
    at: list[list[int]] = [[]]
    targets: list[int] = []
    layer = 0
    for i in order:
        place = places[i]
        layer = layer + 1 if targets and targets[-1] == place else 0
        if not layer:
            targets.append(place)
        elif layer == len(layers):
            layers.append([])
            at.append([])
        layers[layer].append(sources[i])
        at[layer].append(len(targets) - 1)
    values = taken(together, layers[0])
    for places_of, again in zip(at[1:], layers[1:], strict=True):
        values = _added(values, places_of, taken(together, again))
    return Entries(values, tuple(targets))


def _transposed(place: int, count: int) -> int:
    row, column = divmod(place, count)
    return column * count + row


def _added(values: Handle, places: Sequence[int], more: Handle) -> Handle:
    return scatter_add(
        values,
        table(places, "int64", (len(places), 1)),
        more,
        update_window_dims=(),
        inserted_window_dims=(0,),
        scatter_dims_to_operand_dims=(0,),
        mode="promise_in_bounds",
    )


def _mirrored(places: Sequence[Sequence[int]], count: int) -> set[int]:
    """Return parts of a symmetric matrix that others have on the other side of the diagonal."""
    holders: dict[int, int] = {}
    for i, of in enumerate(places):
        for place in of:
            holders[place] = -1 if place in holders else i
    found: set[int] = set()
    for i, of in enumerate(places):
        for place in of:
            other = _transposed(place, count)
            holder = holders.get(other, i)
            if other == place or holders[place] != i or holder == i or holder in found:
                break
        else:
            found.add(i)
    return found
