"""A loop over primals and tangents as two: one that stacks residuals, and a linear one.

What the linear loop reads of the primals: literals stay in it, consts and xs are there for both,
what depends on consts alone is computed once, before. Of the rest the fewest bytes are stacked from
which the linear loop can compute it again: a minimum cut between the carry and what is read.
Long products, factorizations, loops and the like are computed again only where that saves much
memory, functions such as exp where it saves some.
A body with a function that brings its own derivative is always computed again, as a whole: cut in
two, the function would no longer show what it closes over.
Read next: ``transposed.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod
from typing import Any

from tenferro.computegraph import (
    Definition,
    Fragment,
    Operation,
    ValueKey,
    inputs_of,
    is_literal,
    new_leaf,
    outputs_of,
    postorder,
    vertex_cut,
)
from tenferro.primitives.control.scan import Scan, emitted
from tenferro.tidu import Primitive, RuleBuilder, Value, is_pin

_MAX_REPEATED_SAVING = 2  # times fewer bytes for which expensive operations are repeated
#: Stacked bytes of all steps up to which only arithmetic is repeated, and only cheap operations.
_MAX_BYTES_TO_REPEAT_ARITHMETIC_ALONE = 1 << 20
_MAX_BYTES_TO_REPEAT_CHEAP_ALONE = 1 << 25
#: families of operations that cost less than to read their results from memory, and about as much
_ARITHMETIC = frozenset(
    ("arithmetic", "bitwise", "comparison", "complex", "constants", "indexing", "rounding",
     "structural")
)  # fmt: skip
_FUNCTIONS = frozenset(("elementwise", "hyperbolic", "reduction", "trigonometric"))
_MAX_TERMS_OF_CHEAP_PRODUCT = 32  # summed for an element; more cost more than to read it


def split(loop: Scan, operands: Sequence[Any], rule: RuleBuilder) -> tuple[Scan, list[Any]]:
    """Emit the loop that stacks residuals; return the linear loop and its operands."""
    inputs = [new_leaf(f"x{i}", aval) for i, aval in enumerate(loop.body.input_avals)]
    outputs = loop.body.apply(inputs)
    wanted = sorted({i for i in loop.outputs if i >= loop.carried})
    moving = [i for i in range(loop.carried) if loop.is_linear[loop.consts + i]]
    fixed = [i for i in range(loop.carried) if not loop.is_linear[loop.consts + i]]
    kept = [*moving, *wanted]  # positions of the outputs of the linear loop
    results = [outputs[i] for i in kept]
    kinds = _Kinds(loop, inputs)
    stacked, invariant = _residuals(loop, inputs, results, kinds)
    reads = _leaves_read(results, [*kinds.consts, *kinds.rows, *stacked, *invariant])
    carries = [outputs[i] for i in fixed]
    stacks = _stacks(loop, kinds, carries, stacked, operands, rule) if stacked else ()
    value_of = dict(zip(inputs, operands, strict=True))
    value_of.update(zip(stacked, stacks, strict=True))
    value_of.update(zip(invariant, _computed(invariant, kinds, operands, rule), strict=True))
    leaves, count = _ordered(loop, inputs, reads, stacked)
    own = {inputs[i] for i in loop.linear_inputs}
    place = {i: k for k, i in enumerate(kept)}
    linear = Scan(
        Fragment.of(leaves, results, is_pin),
        count,
        len(moving),
        loop.length,
        tuple([place[i] for i in loop.outputs]),
        loop.reverse,
        tuple([key in own for key in leaves]),
        loop.offload,
        tuple([place[i] for i in loop.offloaded if i in place]),
        loop.stores_all,
        tuple(range(len(moving))),
    )
    return linear, [value_of[key] for key in leaves]


def _residuals(
    loop: Scan, inputs: Sequence[ValueKey], results: Sequence[ValueKey], kinds: _Kinds
) -> tuple[list[ValueKey], list[ValueKey]]:
    """Return the values to stack, one for each step, and those to compute once, before the loop."""
    read, flow = _read_by_linear_part(results, [inputs[i] for i in loop.linear_inputs])
    read = [key for key in read if kinds.of(key) != OF_LITERALS]
    if loop.volatile:
        return _carries_of(read, kinds), []
    varying = [key for key in read if kinds.of(key) >= BY_ROWS and key not in kinds.rows]
    stacked = varying if loop.stores_all else _stacked(varying, kinds, loop.length)
    return stacked, _invariants_read(results, flow, stacked, kinds)


def _stacks(
    loop: Scan,
    kinds: _Kinds,
    carries: Sequence[ValueKey],
    stacked: Sequence[ValueKey],
    operands: Sequence[Any],
    rule: RuleBuilder,
) -> Sequence[Any]:
    """Emit the loop over the primals; return the stacks of these values."""
    body = Fragment.of(kinds.primals, [*carries, *stacked], is_pin)
    chosen = tuple(range(len(carries), len(carries) + len(stacked)))
    fixed = [i for i in range(loop.carried) if not loop.is_linear[loop.consts + i]]
    derivatives = tuple([k for k, i in enumerate(fixed) if i in loop.derivatives])
    primal = Scan(
        body, len(kinds.consts), len(carries), loop.length, chosen, loop.reverse,
        offload=loop.offload, offloaded=chosen if loop.offload is not None else (),
        stores_all=loop.stores_all, derivatives=derivatives,
    )  # fmt: skip
    return emitted(rule, primal, [operands[i] for i in kinds.primal_numbers])


def _ordered(
    loop: Scan,
    inputs: Sequence[ValueKey],
    reads: Sequence[ValueKey],
    stacked: Sequence[ValueKey],
) -> tuple[list[ValueKey], int]:
    """Return the inputs of the linear body as consts, carries and rows, and the number of consts.

    Among consts and among rows the primals come before the tangents.
    """
    number = {key: i for i, key in enumerate(inputs)}
    at_rows = set(stacked)

    def is_row(key: ValueKey) -> bool:
        return key in at_rows or number.get(key, -1) >= loop.rows

    def is_carry(key: ValueKey) -> bool:
        return key not in at_rows and loop.consts <= number.get(key, -1) < loop.rows

    tangents = [inputs[i] for i in loop.linear_inputs]
    leaves = [
        *[k for k in reads if not is_row(k)],
        *[k for k in tangents if not is_row(k) and not is_carry(k)],
        *[k for k in tangents if is_carry(k)],
        *[k for k in reads if is_row(k)],
        *[k for k in tangents if is_row(k)],
    ]
    return leaves, len([k for k in leaves if not is_row(k) and not is_carry(k)])


#: what a value in a body depends on: literals, consts as well, rows of operands as well, the carry
OF_LITERALS, INVARIANT, BY_ROWS, VARYING = range(4)


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
        self._kinds.update(dict.fromkeys(self.rows, BY_ROWS))
        self._kinds.update(dict.fromkeys(self.carries, VARYING))

    def of(self, key: ValueKey) -> int:
        """Return what a value depends on, ``OF_LITERALS`` to ``VARYING``."""
        known = self._kinds
        order, definitions, _ = postorder([key], lambda k: None if k in known else k.definition)
        for k, definition in zip(order, definitions, strict=True):
            known[k] = max([known[x] for x in inputs_of(definition)], default=OF_LITERALS)
        return known[key]


def _stacked(varying: Sequence[ValueKey], kinds: _Kinds, length: int) -> list[ValueKey]:
    """Return the values to stack, from which the linear loop computes those that vary again."""
    moved = _cut(varying, kinds, is_repeated=_is_from(_ARITHMETIC))
    if length * _bytes(moved) <= _MAX_BYTES_TO_REPEAT_ARITHMETIC_ALONE:
        return moved
    fewest = _cut(varying, kinds, is_repeated=lambda definition: True)
    cheap = _cut(varying, kinds, is_repeated=_is_cheap)
    most = max(_MAX_REPEATED_SAVING * _bytes(fewest), _MAX_BYTES_TO_REPEAT_CHEAP_ALONE / length)
    return cheap if _bytes(cheap) <= most else fewest


def _is_from(families: frozenset[str]) -> Callable[[Definition], bool]:
    """Return the function that is True for equations of some families."""
    return lambda definition: type(definition[0]).__module__.rpartition(".")[2] in families


_is_cheap_family = _is_from(_ARITHMETIC | _FUNCTIONS)


def _is_cheap(definition: Definition) -> bool:
    """Return True for equations that cost about as much as to read their results from memory."""
    return _is_cheap_family(definition) or _is_short_product(definition)


def _is_short_product(definition: Definition) -> bool:
    operation: Any = definition[0]
    if operation.key != "std::dot_general":
        return False
    shape = inputs_of(definition)[0].aval.shape
    terms: int = prod([shape[axis] for axis in operation.lhs_contract])
    return terms <= _MAX_TERMS_OF_CHEAP_PRODUCT


def _cut(
    varying: Sequence[ValueKey], kinds: _Kinds, is_repeated: Callable[[Definition], bool]
) -> list[ValueKey]:
    """Return the lightest values from which others follow by operations that are repeated."""
    keys: dict[ValueKey, int] = {}
    carries = set(kinds.carries)
    is_function = _is_from(_FUNCTIONS)

    def number(key: ValueKey) -> int:
        return keys.setdefault(key, len(keys))

    def sources(i: int) -> list[int] | None:
        key = found[i]
        definition = None if key in kinds.numbers else key.definition
        if key in carries:
            return None
        if definition is not None and not is_repeated(definition):
            if kinds.of(key) != BY_ROWS or not is_function(definition):
                return None
        before = () if definition is None else inputs_of(definition)
        given = [k for k in before if kinds.of(k) >= BY_ROWS]
        numbers = [number(k) for k in given]
        found.update(zip(numbers, given, strict=True))
        return numbers

    found = {number(key): key for key in varying}
    cut = vertex_cut(list(found), sources, lambda i: max(1, _bytes([found[i]])))
    chosen = {found[i] for i in cut}
    order, _, leaves = postorder(varying, lambda k: None if k in kinds.numbers else k.definition)
    return [key for key in dict.fromkeys([*leaves, *_all_outputs(order)]) if key in chosen]


def _all_outputs(keys: Sequence[ValueKey]) -> Iterator[ValueKey]:
    """Yield the keys and the other outputs of their equations."""
    for key in keys:
        definition = key.definition
        yield from (key,) if definition is None else outputs_of(key, definition)


def _invariants_read(
    results: Sequence[ValueKey], flow: set[ValueKey], stacked: Sequence[ValueKey], kinds: _Kinds
) -> list[ValueKey]:
    """Return the values that the linear loop reads and that follow from consts alone."""
    stop = {*stacked, *kinds.numbers}
    order, definitions, _ = postorder(results, lambda k: None if k in stop else k.definition)
    found: dict[ValueKey, None] = {}
    for key, definition in zip(order, definitions, strict=True):
        if key in flow or kinds.of(key) >= BY_ROWS:
            given = [k for k in inputs_of(definition) if k not in flow and k not in kinds.numbers]
            found.update(dict.fromkeys([k for k in given if kinds.of(k) == INVARIANT]))
    return list(found)


def _read_by_linear_part(
    results: Sequence[ValueKey], linear: Iterable[ValueKey]
) -> tuple[list[ValueKey], set[ValueKey]]:
    """Return the values that equations of linear flow read, and those that are part of it."""
    flow = set(linear)
    order, definitions, _ = postorder(results, lambda key: key.definition)
    read: dict[ValueKey, None] = {}
    for key, definition in zip(order, definitions, strict=True):
        given = inputs_of(definition)
        if not flow.isdisjoint(given):
            flow.update(outputs_of(key, definition))
            read.update(dict.fromkeys([k for k in given if k not in flow]))
    return [key for key in read if not is_literal(key)], flow


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


def _is_marker(operation: Operation) -> bool:
    """Return True for pins and names: identities that the transforms inside of the body needed."""
    return operation.transparent and not isinstance(operation, Primitive)


def _computed(
    keys: Sequence[ValueKey], kinds: _Kinds, operands: Sequence[Any], rule: RuleBuilder
) -> list[Value]:
    """Compute what depends on consts alone, once."""
    if not keys:
        return []
    part = Fragment.of(kinds.consts, keys, _is_marker)
    values = [operands[kinds.numbers[key]] for key in kinds.consts]
    for operation, places in part.equations:
        found = rule.emit(operation, *[values[i] for i in places])  # type: ignore[arg-type]
        values += [found] if operation.output_count == 1 else found
    return [values[i] for i in part.outputs]
