"""Two loops become one: how bodies, operands and results are put together.

``join_scans`` and ``join_whiles`` let the first loop do the work of the second where every carry of
one is a carry of the other; ``chain_scans`` where the second reads the rows of the first;
``drop_unread`` removes what nothing reads, ``merge_inputs`` what is read twice. All change the
given equations in place.
Read next: ``rewrites/loops.py``, which decides which loops to join.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any

from tenferro.computegraph import (
    Definition,
    Fragment,
    MaterializedNode,
    ValueKey,
    new_leaf,
    postorder,
)


class MutableEquation:
    """An equation whose operation and outputs may still change."""

    __slots__ = ("inputs", "node", "operation", "outputs")

    def __init__(self, node: MaterializedNode) -> None:
        self.node = node
        self.operation: Any = node.operation
        self.inputs = node.inputs
        self.outputs = node.outputs  # slots of the graph as it was given

    @property
    def is_scan(self) -> bool:
        """True for a loop of known length."""
        return getattr(self.operation, "key", "") == "std::scan"

    @property
    def is_while(self) -> bool:
        """True for a loop with a condition."""
        return getattr(self.operation, "key", "") == "std::while_loop"


def join_scans(first: MutableEquation, second: MutableEquation) -> bool:
    """Let the first loop do the work of the second, if one has all carries of the other."""
    one, two = first.operation, second.operation
    places = _JointInputs()
    whole, rows = places.inputs(first)
    also, more_rows = places.inputs(second)
    starts = [*first.inputs[one.consts : one.rows], *second.inputs[two.consts : two.rows]]
    avals = [
        *one.body.input_avals[one.consts : one.rows],
        *two.body.input_avals[two.consts : two.rows],
    ]
    own = one.carried

    def outputs(carry: Sequence[ValueKey]) -> tuple[list[ValueKey], list[ValueKey]]:
        return (
            one.body.apply([*whole, *carry[:own], *rows]),
            two.body.apply([*also, *carry[own:], *more_rows]),
        )

    classes = _classes(starts, avals, outputs, own)
    mine, others = set(classes[:own]), set(classes[own:])
    if not (mine <= others or others <= mine) or bool(mine) is not bool(others):
        return False
    if not mine and {*rows}.isdisjoint(more_rows):
        return False
    if not _one_store(one, two):
        return False
    count = len({*classes})
    leaves = [new_leaf(f"carry{i}", avals[classes.index(i)]) for i in range(count)]
    a, b = outputs([leaves[i] for i in classes])
    updates = [*a[:own], *b[: two.carried]]
    results = [updates[classes.index(i)] for i in range(count)]
    results += a[own:] + b[two.carried :]
    consts, row_leaves = places.of("const"), places.of("row")
    body = Fragment.of([*consts, *leaves, *row_leaves], results)
    wanted = [_place(i, classes[:own], count, own) for i in one.outputs]
    behind = count + len(a) - own
    wanted += [_place(i, classes[own:], behind, two.carried) for i in two.outputs]
    stored = [_place(i, (), count, own) for i in one.offloaded]
    stored += [_place(i, (), behind, two.carried) for i in two.offloaded]
    moving = {*one.derivatives, *[own + i for i in two.derivatives]}
    plain = {c for i, c in enumerate(classes) if i not in moving}
    first.operation = one.replaced(
        body=body, consts=len(consts), carried=count, outputs=tuple(wanted), is_linear=(),
        offload=two.offload if one.offload is None else one.offload, offloaded=tuple(stored),
        derivatives=tuple([c for c in range(count) if c not in plain]),
    )  # fmt: skip
    first.inputs = (
        *places.slots("const"),
        *[starts[classes.index(i)] for i in range(count)],
        *places.slots("row"),
    )
    first.outputs = (*first.outputs, *second.outputs)
    return True


def chain_scans(first: MutableEquation, second: MutableEquation) -> None:
    """Let the first loop do the work of the second, which reads its rows.

    Where both store rows in files, those of the second are in the directory of the first.
    """
    one, two = first.operation, second.operation
    places = _JointInputs()
    whole, rows = places.inputs(first)
    also = [places.leaf("const", second, i) for i in range(two.consts)]
    start = [new_leaf("carry", aval) for aval in one.body.input_avals[one.consts : one.rows]]
    other = [new_leaf("carry", aval) for aval in two.body.input_avals[two.consts : two.rows]]
    a = one.body.apply([*whole, *start, *rows])
    made = {
        slot: a[i] for slot, i in zip(first.outputs, one.outputs, strict=True) if i >= one.carried
    }
    more = [
        made[slot] if slot in made else places.leaf("row", second, two.rows + i)
        for i, slot in enumerate(second.inputs[two.rows :])
    ]
    b = two.body.apply([*also, *other, *more])
    count = one.carried + two.carried
    behind = count + len(a) - one.carried
    outputs = [i if i < one.carried else count + i - one.carried for i in one.outputs]
    outputs += [
        one.carried + i if i < two.carried else behind + i - two.carried for i in two.outputs
    ]
    stored = [count + i - one.carried for i in one.offloaded]
    stored += [behind + i - two.carried for i in two.offloaded]
    consts = places.of("const")
    first.operation = one.replaced(
        body=Fragment.of(
            [*consts, *start, *other, *places.of("row")],
            [*a[: one.carried], *b[: two.carried], *a[one.carried :], *b[two.carried :]],
        ),
        consts=len(consts),
        carried=count,
        outputs=tuple(outputs),
        is_linear=(),
        offload=two.offload if one.offload is None else one.offload,
        offloaded=tuple(stored),
        derivatives=(*one.derivatives, *[one.carried + i for i in two.derivatives]),
    )
    first.inputs = (
        *places.slots("const"),
        *first.inputs[one.consts : one.rows],
        *second.inputs[two.consts : two.rows],
        *places.slots("row"),
    )
    first.outputs = (*first.outputs, *second.outputs)


def join_whiles(first: MutableEquation, second: MutableEquation) -> bool:
    """Let the first loop do the work of the second, if one has all carries of the other.

    Both end in the same step, because their conditions are the same function of these carries.
    """
    one, two = first.operation, second.operation
    leaf_of: dict[int, ValueKey] = {}
    for equation in (first, second):
        for slot, aval in zip(equation.inputs, equation.operation.body.input_avals, strict=True):
            leaf_of.setdefault(slot, new_leaf("const", aval))
    whole = [leaf_of[slot] for slot in first.inputs[: one.consts]]
    also = [leaf_of[slot] for slot in second.inputs[: two.consts]]
    starts = [*first.inputs[one.consts :], *second.inputs[two.consts :]]
    avals = [*one.body.input_avals[one.consts :], *two.body.input_avals[two.consts :]]
    own = one.carried

    def outputs(carry: Sequence[ValueKey]) -> tuple[list[ValueKey], list[ValueKey]]:
        return (
            one.body.apply([*whole, *carry[:own]]),
            two.body.apply([*also, *carry[own:]]),
        )

    classes = _classes(starts, avals, outputs, own)
    mine, others = set(classes[:own]), set(classes[own:])
    if not mine or not others or not (mine <= others or others <= mine):
        return False
    count = len({*classes})
    leaves = [new_leaf(f"carry{i}", avals[classes.index(i)]) for i in range(count)]
    carry = [leaves[i] for i in classes]
    test = one.condition.apply([*whole, *carry[:own]])
    if test != two.condition.apply([*also, *carry[own:]]):
        return False
    updates = [update for part in outputs(carry) for update in part]
    places = dict.fromkeys([*first.inputs[: one.consts], *second.inputs[: two.consts]])
    inputs = [*[leaf_of[slot] for slot in places], *leaves]
    first.operation = type(one)(
        Fragment.of(inputs, test),
        Fragment.of(inputs, [updates[classes.index(i)] for i in range(count)]),
        len(places),
        (*[classes[i] for i in one.outputs], *[classes[own + i] for i in two.outputs]),
    )
    first.inputs = (*places, *[starts[classes.index(i)] for i in range(count)])
    first.outputs = (*first.outputs, *second.outputs)
    return True


def _one_store(one: Any, two: Any) -> bool:
    """Return True unless two loops store rows in files of different directories."""
    return one.offload == two.offload or None in (one.offload, two.offload)


def replaced(operation: Any, **parameters: Any) -> Any:
    """Return an operation with other parameters."""
    return type(operation)(**{**operation.parameters, **parameters})


def _place(i: int, classes: Sequence[int], first_row: int, carried: int) -> int:
    """Return where an output of a loop stands among those of the joint loop."""
    return classes[i] if i < carried else first_row + i - carried


class _JointInputs:
    """Inputs of a joint body: one for each operand that both read, whole or by rows."""

    def __init__(self) -> None:
        self._leaves: dict[tuple[str, int], ValueKey] = {}

    def inputs(self, equation: MutableEquation) -> tuple[list[ValueKey], list[ValueKey]]:
        """Return the inputs for the operands of a loop: those read whole, those read by rows."""
        loop = equation.operation
        whole = [self.leaf("const", equation, i) for i in range(loop.consts)]
        return whole, [
            self.leaf("row", equation, i) for i in range(loop.rows, len(equation.inputs))
        ]

    def leaf(self, kind: str, equation: MutableEquation, i: int) -> ValueKey:
        """Return the input for an operand of a loop."""
        there = kind, equation.inputs[i]
        if there not in self._leaves:
            self._leaves[there] = new_leaf(kind, equation.operation.body.input_avals[i])
        return self._leaves[there]

    def of(self, kind: str) -> list[ValueKey]:
        """Return the inputs of a kind."""
        return [leaf for (k, _), leaf in self._leaves.items() if k == kind]

    def slots(self, kind: str) -> list[int]:
        """Return the operands of a kind."""
        return [slot for k, slot in self._leaves if k == kind]


def _classes(
    starts: Sequence[int],
    avals: Sequence[Any],
    outputs: Callable[[Sequence[ValueKey]], tuple[list[ValueKey], list[ValueKey]]],
    own: int,
) -> list[int]:
    """Number carries such that equal ones, in all steps, have equal numbers.

    Those with one start are taken to be equal until their updates differ: the coarsest
    partition that the updates keep (Hopcroft 1971).
    """
    classes = _numbered(list(zip(starts, avals, strict=True)))
    while True:
        leaves = [new_leaf(f"carry{i}", avals[classes.index(i)]) for i in range(len({*classes}))]
        a, b = outputs([leaves[i] for i in classes])
        updates = [*a[:own], *b[: len(starts) - own]]
        finer = _numbered(list(zip(classes, updates, strict=True)))
        if finer == classes:
            return classes
        classes = finer


def _numbered(items: Sequence[Any]) -> list[int]:
    """Number items in the order of their first occurrence; equal ones share a number."""
    numbers: dict[Any, int] = {}
    return [numbers.setdefault(item, len(numbers)) for item in items]


def drop_unread(equation: MutableEquation, read: set[int]) -> bool:
    """Drop what nothing reads from a loop; return whether there was anything."""
    loop = equation.operation
    body = loop.body
    inputs = [new_leaf(f"x{i}", aval) for i, aval in enumerate(body.input_avals)]
    outputs = body.apply(inputs)
    wanted = [k for k, slot in enumerate(equation.outputs) if slot in read]
    rows = [i for i in dict.fromkeys(loop.outputs[k] for k in wanted) if i >= loop.carried]
    carry_of = {inputs[loop.consts + i]: i for i in range(loop.carried)}
    alive = {loop.outputs[k] for k in wanted} - {*rows}
    while True:
        reached = _leaves([outputs[i] for i in (*sorted(alive), *rows)])
        more = {carry_of[key] for key in reached if key in carry_of} - alive
        if not more:
            break
        alive |= more
    carries = sorted(alive)
    consts = [i for i in range(loop.consts) if inputs[i] in reached]
    xs = [i for i in range(loop.rows, len(inputs)) if inputs[i] in reached]
    kept = [*consts, *[loop.consts + i for i in carries], *xs]
    if len(kept) == len(inputs) and len(wanted) == len(equation.outputs):
        return False
    place = {i: k for k, i in enumerate((*carries, *rows))}
    equation.operation = loop.replaced(
        body=Fragment.of([inputs[i] for i in kept], [outputs[i] for i in (*carries, *rows)]),
        consts=len(consts),
        carried=len(carries),
        outputs=tuple([place[loop.outputs[k]] for k in wanted]),
        is_linear=(),
        offloaded=tuple([place[i] for i in loop.offloaded if i in place]),
        derivatives=tuple([place[i] for i in loop.derivatives if i in place]),
    )
    equation.inputs = tuple([equation.inputs[i] for i in kept])
    equation.outputs = tuple([equation.outputs[k] for k in wanted])
    return True


def equal_rows(equation: MutableEquation, kept: Set[int]) -> dict[int, int]:
    """Return the results of a loop that have the rows of an earlier one, and that.

    Those in ``kept`` stay: results of a program do not share memory.
    """
    loop = equation.operation
    first: dict[int, int] = {}
    same: dict[int, int] = {}
    for slot, i in zip(equation.outputs, loop.outputs, strict=True):
        if i >= loop.carried and i not in loop.offloaded:
            other = first.setdefault(loop.body.outputs[i], slot)
            if other != slot and slot not in kept:
                same[slot] = other
    return same


def merge_inputs(equation: MutableEquation) -> bool:
    """Let a loop read an operand once, and return whether it read one twice."""
    loop, slots = equation.operation, equation.inputs
    first: dict[tuple[int, int], int] = {}  # (part of the inputs, operand) → number of the input
    number = []
    for i, slot in enumerate(slots):
        part = (i >= loop.consts) + (i >= loop.rows)
        number.append(i if part == 1 else first.setdefault((part, slot), i))
    if number == [*range(len(slots))]:
        return False
    leaves = [new_leaf(f"x{i}", aval) for i, aval in enumerate(loop.body.input_avals)]
    kept = [i for i, k in enumerate(number) if i == k]
    equation.operation = loop.replaced(
        body=Fragment.of([leaves[i] for i in kept], loop.body.apply([leaves[k] for k in number])),
        consts=len([i for i in kept if i < loop.consts]),
        is_linear=(),
    )
    equation.inputs = tuple([slots[i] for i in kept])
    return True


def _leaves(keys: Sequence[ValueKey]) -> set[ValueKey]:
    def definition_of(key: ValueKey) -> Definition | None:
        return key.definition

    *_, leaves = postorder(keys, definition_of)
    return set(leaves)
