"""Sparse Jacobians by accumulation: each linear equation acts on the parts of its operands.

The coefficients of a value are those that one would write by hand: a slice moves a diagonal, a
product multiplies it, a sum of the same diagonals adds them. No directions are pushed, so that no
zeros are computed (the sparse vector mode of Bischof, Khademi, Bouaricha, Carle, "Efficient
computation of gradients and Jacobians by dynamic exploitation of sparsity in automatic
differentiation", Optimization Methods and Software 7 (1996) 1, with patterns known from the graph).
Where an equation has no rule, or parts would become too many, there is no result, and directions
of one colour are pushed together. Read next: ``patterns/parts.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from tenferro.primitives.structural import OptimizationBarrier
from tenferro.transforms.patterns.part_rules import AT_POSITIONS, RULES, Parts, pointwise
from tenferro.transforms.patterns.parts import Part, taken
from tenferro.transforms.patterns.pattern import is_elementwise, numbers_of_key
from tenferro.transforms.recording.positions import Reads

_MAX_COEFFICIENTS = 1 << 20  # of one value
_MAX_PARTS = 64  # of one value


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
        if not any([x in known for x in inputs]):
            continue
        parts = _parts(definition, key, inputs, known, reads)
        if parts is None or len(parts) > _MAX_PARTS:
            return None
        if sum([len(part.columns) for part in parts]) > _MAX_COEFFICIENTS:
            return None
        known[key] = parts
    return [[] if x is None else known.get(x.key, []) for x in results]


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
    if is_elementwise(operation, [None if g is None else range(x.aval.size) for g, x in zip(given, xs, strict=True)], [key.aval]):
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
    rows = [part.row_list(result.shape) for part in parts]
    mirrored = _mirrored(parts, rows) if symmetric else frozenset()
    kept = [i for i in range(len(parts)) if i not in mirrored]
    parts, rows = [parts[i] for i in kept], [rows[i] for i in kept]
    sources = _by_target(parts, rows, result.size, columns, last)
    if mirrored:
        for place in list(sources):
            row, column = divmod(place, columns)
            sources.setdefault(column * columns + row, sources[place])
    flat = [reshape(x, (x.aval.size,)) for x in [part.filled(result.dtype) for part in parts]]
    together = flat[0] if len(flat) == 1 else concatenate(flat, 0)
    targets = sorted(sources)
    values = taken(together, [sources[target][0] for target in targets])
    for layer in range(1, max(map(len, sources.values()))):
        again = [i for i, target in enumerate(targets) if len(sources[target]) > layer]
        more = taken(together, [sources[targets[i]][layer] for i in again])
        values = _added(values, again, more)
    return Entries(values, tuple(targets))


def _by_target(
    parts: Parts, rows: Sequence[Sequence[int]], size: int, columns: int, last: bool
) -> dict[int, list[int]]:
    """Return for each place the coefficients that are added there, by their flat position."""
    found: dict[int, list[int]] = {}
    across, down = (columns, 1) if last else (1, size)
    source = 0
    for part, of in zip(parts, rows, strict=True):
        for row, column in zip(of, part.columns, strict=True):
            found.setdefault(row * across + column * down, []).append(source)
            source += 1
    return found


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


def _mirrored(parts: Parts, rows: Sequence[Sequence[int]]) -> set[int]:
    """Return parts of a symmetric matrix that others have on the other side of the diagonal."""
    holders: dict[tuple[int, int], list[int]] = {}
    for i, (part, of) in enumerate(zip(parts, rows, strict=True)):
        for place in zip(of, part.columns, strict=True):
            holders.setdefault(place, []).append(i)
    found: set[int] = set()
    for i, (part, of) in enumerate(zip(parts, rows, strict=True)):
        if all(
            [
                row != column
                and holders[row, column] == [i]
                and not found.intersection(others := holders.get((column, row), [i]))
                and i not in others
                for row, column in zip(of, part.columns, strict=True)
            ]
        ):
            found.add(i)
    return found
