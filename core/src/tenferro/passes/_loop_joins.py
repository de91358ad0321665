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
    Fragment,
    MaterializedNode,
    ValueKey,
    new_leaf,
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
    joint = _JointInputs()
    whole, rows = joint.inputs(first)
    also, more_rows = joint.inputs(second)

    def step(carry: Sequence[ValueKey]) -> tuple[list[ValueKey], list[ValueKey]]:
        return (
            one.body.apply([*whole, *carry[: one.carried], *rows]),
            two.body.apply([*also, *carry[one.carried :], *more_rows]),
        )

    carries = _Carries(first, second)
    if not carries.numbers and {*rows}.isdisjoint(more_rows):
        return False
    if not _one_store(one, two):
        return False
    found = carries.share_equal(step)
    if found is None:
        return False
    _become_both(first, second, joint, carries, *found)
    return True


def chain_scans(first: MutableEquation, second: MutableEquation) -> None:
    """Let the first loop do the work of the second, which reads its rows.

    Where both store rows in files, those of the second are in the directory of the first.
    """
    one, two = first.operation, second.operation
    joint = _JointInputs()
    whole, rows = joint.inputs(first)
    also = joint.consts(second)
    carries = _Carries(first, second)
    leaves = carries.new_leaves()
    a = one.body.apply([*whole, *leaves[: one.carried], *rows])
    made = {
        slot: a[i] for slot, i in zip(first.outputs, one.outputs, strict=True) if i >= one.carried
    }
    more_rows = [
        made[slot] if slot in made else joint.leaf("row", second, two.rows + i)
        for i, slot in enumerate(second.inputs[two.rows :])
    ]
    b = two.body.apply([*also, *leaves[one.carried :], *more_rows])
    _become_both(first, second, joint, carries, leaves, (a, b))


def _become_both(
    first: MutableEquation,
    second: MutableEquation,
    joint: _JointInputs,
    carries: _Carries,
    leaves: Sequence[ValueKey],
    results: tuple[Sequence[ValueKey], Sequence[ValueKey]],
) -> None:
    """Make the first scan compute both, given the results of both bodies on joint inputs."""
    one, two = first.operation, second.operation
    (a, b), own, count = results, one.carried, len(leaves)
    updates = carries.distinct([*a[:own], *b[: two.carried]])
    rows_of_second = count + len(a) - own

    def places(of_first: Sequence[int], of_second: Sequence[int]) -> tuple[int, ...]:
        numbers, others = carries.numbers[:own], carries.numbers[own:]
        return (
            *[numbers[i] if i < own else count + i - own for i in of_first],
            *[
                others[i] if i < two.carried else rows_of_second + i - two.carried
                for i in of_second
            ],
        )

    moving = {*one.derivatives, *[own + i for i in two.derivatives]}
    fixed = {carry for i, carry in enumerate(carries.numbers) if i not in moving}
    consts = joint.of("const")
    first.operation = one.replaced(
        body=Fragment.of(
            [*consts, *leaves, *joint.of("row")], [*updates, *a[own:], *b[two.carried :]]
        ),
        consts=len(consts),
        carried=count,
        outputs=places(one.outputs, two.outputs),
        is_linear=(),
        offload=two.offload if one.offload is None else one.offload,
        offloaded=places(one.offloaded, two.offloaded),
        derivatives=tuple([carry for carry in range(count) if carry not in fixed]),
    )
    starts = carries.distinct(carries.starts)
    first.inputs = (*joint.slots("const"), *starts, *joint.slots("row"))
    first.outputs = (*first.outputs, *second.outputs)


def join_whiles(first: MutableEquation, second: MutableEquation) -> bool:
    """Let the first loop do the work of the second, if one has all carries of the other.

    Both end in the same step, because their conditions are the same function of these carries.
    """
    one, two = first.operation, second.operation
    joint = _JointInputs()
    whole, also = joint.consts(first), joint.consts(second)
    own = one.carried

    def step(carry: Sequence[ValueKey]) -> tuple[list[ValueKey], list[ValueKey]]:
        return one.body.apply([*whole, *carry[:own]]), two.body.apply([*also, *carry[own:]])

    carries = _Carries(first, second)
    found = carries.share_equal(step) if carries.starts else None
    if found is None:
        return False
    leaves, (a, b) = found
    carry = carries.of_loops(leaves)
    test = one.condition.apply([*whole, *carry[:own]])
    if test != two.condition.apply([*also, *carry[own:]]):
        return False
    inputs, numbers = [*joint.of("const"), *leaves], carries.numbers
    first.operation = type(one)(
        Fragment.of(inputs, test),
        Fragment.of(inputs, carries.distinct([*a, *b])),
        len(inputs) - len(leaves),
        (*[numbers[i] for i in one.outputs], *[numbers[own + i] for i in two.outputs]),
    )
    first.inputs = (*joint.slots("const"), *carries.distinct(carries.starts))
    first.outputs = (*first.outputs, *second.outputs)
    return True


def _one_store(one: Any, two: Any) -> bool:
    """Return True unless two loops store rows in files of different directories."""
    return one.offload == two.offload or None in (one.offload, two.offload)


def replaced(operation: Any, **parameters: Any) -> Any:
    """Return an operation with other parameters."""
    return type(operation)(**{**operation.parameters, **parameters})


class _JointInputs:
    """Inputs of a joint body: one for each operand that both read, whole or by rows."""

    def __init__(self) -> None:
        self._leaves: dict[tuple[str, int], ValueKey] = {}

    def inputs(self, equation: MutableEquation) -> tuple[list[ValueKey], list[ValueKey]]:
        """Return the inputs for the operands of a loop: those read whole, those read by rows."""
        loop = equation.operation
        rows = [self.leaf("row", equation, i) for i in range(loop.rows, len(equation.inputs))]
        return self.consts(equation), rows

    def consts(self, equation: MutableEquation) -> list[ValueKey]:
        """Return the inputs for the operands that a loop reads whole."""
        return [self.leaf("const", equation, i) for i in range(equation.operation.consts)]

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


_Results = tuple[Sequence[ValueKey], Sequence[ValueKey]]


class _Carries:
    """The carries of two loops, one after the other, and the carries of the joint loop.

    ``numbers`` says for each carry of the loops which one of the joint loop it is.
    """

    def __init__(self, first: MutableEquation, second: MutableEquation) -> None:
        self.starts: list[int] = []
        self._avals: list[Any] = []
        for equation in (first, second):
            loop = equation.operation
            places = slice(loop.consts, loop.consts + loop.carried)
            self.starts += equation.inputs[places]
            self._avals += loop.body.input_avals[places]
        self._own: int = first.operation.carried
        self.numbers = [*range(len(self.starts))]

    def share_equal(
        self, step: Callable[[Sequence[ValueKey]], _Results]
    ) -> tuple[Sequence[ValueKey], _Results] | None:
        """Let carries share a number that are equal in all steps; return the inputs for the joint
        carries, and the results of both bodies on them.

        Those with one start are taken to be equal until their updates differ: the coarsest
        partition that the updates keep (Hopcroft 1971). ``step`` gives the results of both bodies.
        ``None`` if neither loop has all carries of the other, which no finer partition changes.
        """
        finer = _numbered(list(zip(self.starts, self._avals, strict=True)))
        own, others = self._own, len(self.starts) - self._own
        while True:
            self.numbers = finer
            if not self.are_nested:
                return None
            leaves = self.new_leaves()
            a, b = step(self.of_loops(leaves))
            finer = _numbered(list(zip(self.numbers, [*a[:own], *b[:others]], strict=True)))
            if finer == self.numbers:
                return leaves, (a, b)

    @property
    def are_nested(self) -> bool:
        """True if one loop has all carries of the other, which has some, or if both have none."""
        one, two = {*self.numbers[: self._own]}, {*self.numbers[self._own :]}
        return bool(one) is bool(two) and (one <= two or two <= one)

    def distinct(self, values: Sequence[Any]) -> list[Any]:
        """Return the values for the joint loop, given those for the carries of the loops."""
        return [values[self.numbers.index(i)] for i in range(len({*self.numbers}))]

    def of_loops(self, values: Sequence[ValueKey]) -> list[ValueKey]:
        """Return the values for the carries of the loops, given those for the joint loop."""
        return [values[i] for i in self.numbers]

    def new_leaves(self) -> list[ValueKey]:
        """Make an input of the body for each carry of the joint loop."""
        return [new_leaf(f"carry{i}", aval) for i, aval in enumerate(self.distinct(self._avals))]


def _numbered(items: Sequence[Any]) -> list[int]:
    """Number items in the order of their first occurrence; equal ones share a number."""
    numbers: dict[Any, int] = {}
    return [numbers.setdefault(item, len(numbers)) for item in items]


def drop_unread(equation: MutableEquation, read: set[int]) -> bool:
    """Drop from a loop the results, carries and inputs that nothing needs; return whether any."""
    loop = equation.operation
    body: Fragment = loop.body
    count = len(body.input_avals)
    wanted = [k for k, slot in enumerate(equation.outputs) if slot in read]
    rows = [i for i in dict.fromkeys(loop.outputs[k] for k in wanted) if i >= loop.carried]
    carries, reached = _needed_for(loop, {loop.outputs[k] for k in wanted}, rows)
    consts = [i for i in range(loop.consts) if i in reached]
    xs = [i for i in range(loop.rows, count) if i in reached]
    kept = [*consts, *[loop.consts + i for i in carries], *xs]
    if len(kept) == count and len(wanted) == len(equation.outputs):
        return False
    inputs = [new_leaf(f"x{i}", aval) for i, aval in enumerate(body.input_avals)]
    outputs = body.apply(inputs)
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


def _needed_for(loop: Any, outputs: Set[int], rows: Sequence[int]) -> tuple[list[int], Set[int]]:
    """Return the carries that some outputs of the body need, and the inputs that all these read.

    A carry of one step is made of carries of the step before, so this is a fixed point: carries
    are added until the body reads no other ones.
    """
    carries = {*outputs} - {*rows}
    while True:
        reached = loop.body.inputs_read_by([*carries, *rows])
        more = {i - loop.consts for i in reached if loop.consts <= i < loop.rows} - carries
        if not more:
            return sorted(carries), reached
        carries |= more


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
