"""``loops``: loops over the same steps run as one, and nothing in them is computed in vain.

Two loops of one length and direction, or with one condition, join where every carry of one is a
carry of the other: it has the same start and the same update. Loops without carries join where they
read the same rows; a loop that reads the rows of another, and nothing else of it, joins that. So a
value and its derivative run the loop over the primals once, at every order. Results, carries and
inputs of a loop that nothing reads are dropped. The bodies of loops and branches are rewritten by
the chosen passes. Values keep every bit, except for what the other passes do in a body.
Read next: ``residuals.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.computegraph import (
    PRIMARY,
    Definition,
    Fragment,
    MaterializedGraph,
    MaterializedNode,
    ValueKey,
    fragment_of_graph,
    new_leaf,
    postorder,
)
from tenferro.passes._rewriter import needed

LOOPS = "loops"
_KEYS = frozenset(("std::checkpoint", "std::scan", "std::switch", "std::while_loop"))
_MOST_LOOPS = 64  # of one length, among which each is compared with each
_MOST_EQUATIONS = 300  # of two bodies that become one

Optimize = Callable[[Fragment], Fragment]


def with_joined_loops(
    graph: MaterializedGraph, optimize: Optimize
) -> tuple[MaterializedGraph, int]:
    """Join loops, drop what is not read, and rewrite bodies; also return how many changed."""
    operations = {node[0] for node in graph.nodes}
    if not any([getattr(operation, "key", "") in _KEYS for operation in operations]):
        return graph, 0
    loops = _Loops(graph, optimize)
    loops.run()
    return loops.finished(), loops.count


class _Row:
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


class _Loops:
    """The equations of a graph with loops, which become fewer."""

    def __init__(self, graph: MaterializedGraph, optimize: Optimize) -> None:
        self.graph = graph
        self.optimize = optimize
        self.rows = [_Row(node) for node in graph.nodes]
        self.count = 0

    def run(self) -> None:
        """Join, chain, then drop, then rewrite bodies."""
        for row in self.rows:
            if row.is_scan:  # derivatives are taken: rules of the user have done their part
                flat = fragment_of_graph(row.operation.body.flat)
                row.operation = row.operation.replaced(body=flat)
            elif row.is_while:
                parts = {
                    name: fragment_of_graph(getattr(row.operation, name).flat)
                    for name in ("condition", "body")
                }
                row.operation = _replaced(row.operation, **parts)
        self._join()
        self._chain()
        self._drop()
        for row in self.rows:
            self._rewrite_bodies(row)

    # ---- joining ---------------------------------------------------------------------------------

    def _join(self) -> None:
        groups: dict[tuple[int, bool], list[_Row]] = {}
        for row in self.rows:
            if row.is_scan:
                key = row.operation.length, row.operation.reverse
                groups.setdefault(key, []).append(row)
            elif row.is_while:
                groups.setdefault((0, False), []).append(row)
        for group in groups.values():
            while 2 <= len(group) <= _MOST_LOOPS and self._join_one(group):
                pass

    def _join_one(self, group: list[_Row]) -> bool:
        """Join two loops of a group, if there are two that fit."""
        above = self._loops_above(group)
        for i, first in enumerate(group):
            for j in range(i):
                second = group[j]
                if above[first] >> j & 1 or above[second] >> i & 1:
                    continue
                if _joined_whiles(first, second) if first.is_while else _joined(first, second):
                    self.rows.remove(second)
                    group.remove(second)
                    self.count += 1
                    self._sort()
                    return True
        return False

    def _chain(self) -> None:
        """Let loops that read rows of an earlier one join it."""
        again = True
        while again:
            again = False
            groups: dict[tuple[int, bool], list[_Row]] = {}
            for row in self.rows:
                if row.is_scan:
                    key = row.operation.length, row.operation.reverse
                    groups.setdefault(key, []).append(row)
            for group in groups.values():
                if 2 <= len(group) <= _MOST_LOOPS and self._chain_one(group):
                    again = True
                    break

    def _chain_one(self, group: Sequence[_Row]) -> bool:
        """Join a loop with one whose rows it reads, if it needs nothing else of that."""
        bits: dict[int, int] = {}
        self._loops_above(group, bits)
        for i, first in enumerate(group):
            one = first.operation
            rows = {s for s, k in zip(first.outputs, one.outputs, strict=True) if k >= one.carried}
            for second in group:
                two = second.operation
                read = rows.intersection(second.inputs[two.rows :])
                others = [*second.inputs[: two.rows], *set(second.inputs[two.rows :]) - read]
                short = len(one.body) + len(two.body) <= _MOST_EQUATIONS
                if read and short and not any([bits.get(slot, 0) >> i & 1 for slot in others]):
                    _chained(first, second)
                    self.rows.remove(second)
                    self.count += 1
                    self._sort()
                    return True
        return False

    def _loops_above(
        self, group: Sequence[_Row], bits: dict[int, int] | None = None
    ) -> dict[_Row, int]:
        """Return for each loop of the group those on which it depends, as bits.

        ``bits`` receives the same for each slot.
        """
        number = {row: i for i, row in enumerate(group)}
        bits = {} if bits is None else bits
        found = {}
        for row in self.rows:
            mask = 0
            for slot in row.inputs:
                mask |= bits.get(slot, 0)
            if row in number:
                found[row] = mask
                mask |= 1 << number[row]
            if mask:
                bits.update(dict.fromkeys(row.outputs, mask))
        return found

    def _sort(self) -> None:
        """Put every equation behind what it reads; else the order stays."""
        made = {slot: row for row in self.rows for slot in row.outputs}
        done: set[_Row] = set()
        ordered: list[_Row] = []
        for root in self.rows:
            stack = [root]
            while stack:
                row = stack[-1]
                waits = [
                    made[slot] for slot in row.inputs if slot in made and made[slot] not in done
                ]
                if waits and row not in done:
                    stack += waits
                    continue
                stack.pop()
                if row not in done:
                    done.add(row)
                    ordered.append(row)
        self.rows = ordered

    # ---- dropping --------------------------------------------------------------------------------

    def _drop(self) -> None:
        """Drop outputs, carries and inputs that nothing reads, from the last loop to the first."""
        read = set(self.graph.outputs)
        kept = []
        for row in reversed(self.rows):
            if row.is_scan:
                if read.isdisjoint(row.outputs):
                    self.count += 1
                    continue
                self.count += _without_dead(row, read)
            read.update(row.inputs)
            kept.append(row)
        self.rows = kept[::-1]

    # ---- bodies ----------------------------------------------------------------------------------

    def _rewrite_bodies(self, row: _Row) -> None:
        operation = row.operation
        key = getattr(operation, "key", "")
        if key == "std::scan":
            changed = operation.replaced(body=self.optimize(operation.body))
        elif key == "std::checkpoint":
            changed = operation.replaced(body=self.optimize(operation.body))
        elif key == "std::switch":
            branches = tuple(map(self.optimize, operation.branches))
            changed = type(operation)(branches, operation.is_linear)
        elif key == "std::while_loop":
            parts = {
                name: self.optimize(getattr(operation, name)) for name in ("condition", "body")
            }
            changed = _replaced(operation, **parts)
        else:
            return
        row.operation = changed

    # ---- the graph -------------------------------------------------------------------------------

    def finished(self) -> MaterializedGraph:
        """Return the graph, its values numbered again."""
        count = len(self.graph.inputs)
        avals = list(self.graph.avals[:count])
        number = {i: i for i in range(count)}
        nodes = []
        for row in self.rows:
            outputs = []
            for slot in row.outputs:
                number[slot] = len(avals)
                outputs.append(len(avals))
                avals.append(self.graph.avals[slot])
            inputs = tuple([number[slot] for slot in row.inputs])
            role = row.node.role if row.operation is row.node.operation else PRIMARY
            nodes.append(
                MaterializedNode(row.operation, inputs, tuple(outputs), role, row.node.source)
            )
        return needed(self.graph, nodes, [number[i] for i in self.graph.outputs], avals)


def _joined(first: _Row, second: _Row) -> bool:
    """Let the first loop do the work of the second, if one has all carries of the other."""
    one, two = first.operation, second.operation
    places = _Places()
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
    first.operation = one.replaced(
        body=body, consts=len(consts), carried=count, outputs=tuple(wanted), is_linear=()
    )
    first.inputs = (
        *places.slots("const"),
        *[starts[classes.index(i)] for i in range(count)],
        *places.slots("row"),
    )
    first.outputs = (*first.outputs, *second.outputs)
    return True


def _chained(first: _Row, second: _Row) -> None:
    """Let the first loop do the work of the second, which reads its rows."""
    one, two = first.operation, second.operation
    places = _Places()
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
    )
    first.inputs = (
        *places.slots("const"),
        *first.inputs[one.consts : one.rows],
        *second.inputs[two.consts : two.rows],
        *places.slots("row"),
    )
    first.outputs = (*first.outputs, *second.outputs)


def _replaced(operation: Any, **parameters: Any) -> Any:
    """Return an operation with other parameters."""
    return type(operation)(**{**operation.parameters, **parameters})


def _joined_whiles(first: _Row, second: _Row) -> bool:
    """Let the first loop do the work of the second, if one has all carries of the other.

    Both end in the same step, because their conditions are the same function of these carries.
    """
    one, two = first.operation, second.operation
    leaf_of: dict[int, ValueKey] = {}
    for row in (first, second):
        for slot, aval in zip(row.inputs, row.operation.body.input_avals, strict=True):
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


def _place(i: int, classes: Sequence[int], first_row: int, carried: int) -> int:
    """Return where an output of a loop stands among those of the joint loop."""
    return classes[i] if i < carried else first_row + i - carried


class _Places:
    """Inputs of a joint body: one for each operand that both read, whole or by rows."""

    def __init__(self) -> None:
        self._leaves: dict[tuple[str, int], ValueKey] = {}

    def inputs(self, row: _Row) -> tuple[list[ValueKey], list[ValueKey]]:
        """Return the inputs for the operands of a loop: those read whole, those read by rows."""
        loop = row.operation
        whole = [self.leaf("const", row, i) for i in range(loop.consts)]
        return whole, [self.leaf("row", row, i) for i in range(loop.rows, len(row.inputs))]

    def leaf(self, kind: str, row: _Row, i: int) -> ValueKey:
        """Return the input for an operand of a loop."""
        there = kind, row.inputs[i]
        if there not in self._leaves:
            self._leaves[there] = new_leaf(kind, row.operation.body.input_avals[i])
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


def _without_dead(row: _Row, read: set[int]) -> bool:
    """Drop what nothing reads from a loop; return whether there was anything."""
    loop = row.operation
    body = loop.body
    inputs = [new_leaf(f"x{i}", aval) for i, aval in enumerate(body.input_avals)]
    outputs = body.apply(inputs)
    wanted = [k for k, slot in enumerate(row.outputs) if slot in read]
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
    if len(kept) == len(inputs) and len(wanted) == len(row.outputs):
        return False
    place = {i: k for k, i in enumerate((*carries, *rows))}
    row.operation = loop.replaced(
        body=Fragment.of([inputs[i] for i in kept], [outputs[i] for i in (*carries, *rows)]),
        consts=len(consts),
        carried=len(carries),
        outputs=tuple([place[loop.outputs[k]] for k in wanted]),
        is_linear=(),
    )
    row.inputs = tuple([row.inputs[i] for i in kept])
    row.outputs = tuple([row.outputs[k] for k in wanted])
    return True


def _leaves(keys: Sequence[ValueKey]) -> set[ValueKey]:
    def definition_of(key: ValueKey) -> Definition | None:
        return key.definition

    *_, leaves = postorder(keys, definition_of)
    return set(leaves)
