"""A loop over primals and tangents as two: one that stacks residuals, and a linear one.

What the linear loop reads of the primals: literals stay in it, consts and xs are there for both,
what depends on consts alone is computed once, before. Of the rest either what is read is stacked,
or the carry, from which the linear loop computes it again: whichever is fewer bytes. A body with a
function that brings its own derivative is always computed again, as a whole: cut in two, the
function would no longer show what it closes over.
Read next: ``transposed.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tenferro.computegraph import (
    Definition,
    Fragment,
    ValueKey,
    inputs_of,
    new_leaf,
    outputs_of,
    postorder,
)
from tenferro.primitives.control.scan import Scan, emitted
from tenferro.tidu import RuleBuilder, Value


def split(loop: Scan, operands: Sequence[Any], rule: RuleBuilder) -> tuple[Scan, list[Any]]:
    """Emit the loop that stacks residuals; return the linear loop and its operands."""
    inputs = [new_leaf(f"x{i}", aval) for i, aval in enumerate(loop.body.input_avals)]
    outputs = loop.body.apply(inputs)
    wanted = sorted({i for i in loop.outputs if i >= loop.carried})
    moving = [i for i in range(loop.carried) if loop.is_linear[loop.consts + i]]
    fixed = [i for i in range(loop.carried) if not loop.is_linear[loop.consts + i]]
    results = [outputs[i] for i in (*moving, *wanted)]
    read = _read_by_linear_part(results, [inputs[i] for i in loop.linear_inputs])
    kinds = _Kinds(loop, inputs)
    read = [key for key in read if kinds.of(key) != FREE]
    varying = [key for key in read if kinds.of(key) == VARYING and key not in kinds.rows]
    if loop.volatile:
        invariant, stacked = [], _carries_of(read, kinds)
    else:
        invariant = [key for key in read if kinds.of(key) == INVARIANT and key not in kinds.numbers]
        carried = _carries_of(varying, kinds)
        stacked = carried if _bytes(carried) < _bytes(varying) else varying
    known = [*kinds.consts, *kinds.rows, *stacked, *invariant]
    reads = _leaves_read(results, known)

    stacks: Sequence[Any] = ()
    if stacked:
        body = Fragment.of(kinds.primals, [*[outputs[i] for i in fixed], *stacked])
        chosen = tuple(range(len(fixed), len(fixed) + len(stacked)))
        primal = Scan(body, len(kinds.consts), len(fixed), loop.length, chosen, loop.reverse)
        stacks = emitted(rule, primal, [operands[i] for i in kinds.primal_numbers])

    value_of = dict(zip(inputs, operands, strict=True))
    value_of.update(zip(stacked, stacks, strict=True))
    value_of.update(zip(invariant, _computed(invariant, kinds, operands, rule), strict=True))
    linear_inputs = [inputs[i] for i in loop.linear_inputs]
    number = {key: i for i, key in enumerate(inputs)}
    at_rows = set(stacked)

    def is_row(key: ValueKey) -> bool:
        return key in at_rows or number.get(key, -1) >= loop.rows

    def is_carry(key: ValueKey) -> bool:
        return key not in at_rows and loop.consts <= number.get(key, -1) < loop.rows

    whole = [key for key in reads if not is_row(key)]
    rows = [key for key in reads if is_row(key)]
    own = set(linear_inputs)
    leaves = [
        *whole, *[k for k in linear_inputs if not is_row(k) and not is_carry(k)],
        *[k for k in linear_inputs if is_carry(k)],
        *rows, *[k for k in linear_inputs if is_row(k)],
    ]  # fmt: skip
    place = {i: k for k, i in enumerate((*moving, *wanted))}
    linear = Scan(
        Fragment.of(leaves, results),
        len([k for k in leaves if not is_row(k) and not is_carry(k)]),
        len(moving),
        loop.length,
        tuple([place[i] for i in loop.outputs]),
        loop.reverse,
        tuple([key in own for key in leaves]),
    )
    return linear, [value_of[key] for key in leaves]


#: what a value in a body depends on: literals, consts as well, or what changes from step to step
FREE, INVARIANT, VARYING = range(3)


class _Kinds:
    """The inputs of a body that are not linear, by what they are."""

    def __init__(self, loop: Scan, inputs: Sequence[ValueKey]) -> None:
        self.primal_numbers = [i for i in range(len(inputs)) if not loop.is_linear[i]]
        self.primals = [inputs[i] for i in self.primal_numbers]
        self.consts = [inputs[i] for i in self.primal_numbers if i < loop.consts]
        self.carries = [inputs[i] for i in self.primal_numbers if loop.consts <= i < loop.rows]
        self.rows = dict.fromkeys(inputs[i] for i in self.primal_numbers if i >= loop.rows)
        self.numbers = {key: i for i, key in enumerate(inputs)}
        self._kinds: dict[ValueKey, int] = dict.fromkeys(self.consts, INVARIANT)
        self._kinds.update(dict.fromkeys([*self.carries, *self.rows], VARYING))

    def of(self, key: ValueKey) -> int:
        """Return what a value depends on: ``FREE``, ``INVARIANT`` or ``VARYING``."""
        known = self._kinds
        order, definitions, _ = postorder([key], lambda k: None if k in known else k.definition)
        for k, definition in zip(order, definitions, strict=True):
            known[k] = max([known[x] for x in inputs_of(definition)], default=FREE)
        return known[key]


def _read_by_linear_part(results: Sequence[ValueKey], linear: Iterable[ValueKey]) -> list[ValueKey]:
    """Return the values that equations of linear flow read and that are not part of it."""
    flow = set(linear)
    order, definitions, _ = postorder(results, lambda key: key.definition)
    read: dict[ValueKey, None] = {}
    for key, definition in zip(order, definitions, strict=True):
        given = inputs_of(definition)
        if not flow.isdisjoint(given):
            flow.update(outputs_of(key, definition))
            read.update(dict.fromkeys([k for k in given if k not in flow]))
    return [key for key in read if not _is_literal(key)]


def _is_literal(key: ValueKey) -> bool:
    definition = key.definition
    return definition is not None and definition[0].literal


def _carries_of(keys: Sequence[ValueKey], kinds: _Kinds) -> list[ValueKey]:
    """Return the carries from which values follow."""
    found = _leaves_read(keys, [*kinds.consts, *kinds.rows, *kinds.carries])
    return [key for key in found if key in {*kinds.carries}]


def _bytes(keys: Sequence[ValueKey]) -> int:
    return sum([key.aval.size * key.aval.dtype.itemsize for key in keys])


def _leaves_read(outputs: Sequence[ValueKey], known: Sequence[ValueKey]) -> list[ValueKey]:
    """Return those of the known values that the outputs read first."""
    stop = set(known)

    def definition_of(key: ValueKey) -> Definition | None:
        return None if key in stop else key.definition

    *_, leaves = postorder(outputs, definition_of)
    return [key for key in leaves if key in stop]


def _computed(
    keys: Sequence[ValueKey], kinds: _Kinds, operands: Sequence[Any], rule: RuleBuilder
) -> list[Value]:
    """Compute what depends on consts alone, once."""
    if not keys:
        return []
    part = Fragment.of(kinds.consts, keys)
    values = [operands[kinds.numbers[key]] for key in kinds.consts]
    for operation, places in part.equations:
        found = rule.emit(operation, *[values[i] for i in places])  # type: ignore[arg-type]
        values += [found] if operation.output_count == 1 else found
    return [values[i] for i in part.outputs]
