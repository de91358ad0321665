"""Cache keys of programs: ``signature`` of recorded ones, ``Structure`` of flat ones.

Equal signatures mean equal graphs, and no graph is built: transforms look up finished programs by
this key before they flatten anything. Equal structures mean programs that compute the same. Read
next: ``_cache.py``.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Sequence
from typing import Any

from tenferro.computegraph._keys import ValueKey, inputs_of


def signature(
    declared: Sequence[ValueKey],
    outputs: Sequence[ValueKey],
    cut: Container[ValueKey] = (),
) -> tuple[tuple[Any, ...] | None, list[ValueKey]]:
    """Return a cache key of what ``flatten`` of whole histories would find, and its inputs.

    Equal keys mean equal graphs. The key is ``None`` if a volatile operation makes that untrue for
    derivatives. No graph is built, so this is cheaper than flattening. The key is finer than
    ``Structure``, which also unifies values that evaluate alike. Values in ``cut`` are inputs where
    an output depends on them, whatever made them.
    """
    inputs = list(declared)
    number = {key: -1 - i for i, key in enumerate(inputs)}
    items: list[Any] = [len(inputs), len(outputs)]
    volatile = False
    equations: dict[tuple[Any, ...], int] = {}  # those with several outputs
    applied: dict[ValueKey, int] = {}
    stack: list[ValueKey] = [*outputs]
    stack.reverse()
    while stack:
        key = stack.pop()
        seen = number.get(key)
        if seen is not None:
            items.append(seen)
            continue
        definition = key.definition
        if definition is None or key in cut:
            inputs.append(key)
            number[key] = -len(inputs)
            items.append(-len(inputs))
            continue
        operation, slot = definition[0], definition[2]
        volatile = volatile or operation.volatile  # or the body of a loop is
        if operation.transparent and not operation.redirects:
            stack.append(inputs_of(definition)[slot])
            continue
        number[key] = len(items)  # written out here, its inputs behind it; a number from now on
        if operation.output_count == 1:
            items += operation, len(definition)
            stack += definition[:2:-1]
            continue
        application = definition[3]
        there = applied.get(application)
        if there is None:
            equation = (operation, application.inputs)
            there = equations.setdefault(equation, len(items))
            applied[application] = there
        if there != len(items):  # another output of it is written out already
            items += _ANOTHER_OUTPUT, there, slot
        else:
            items += operation, slot, 3 + len(application.inputs)
            stack += reversed(application.inputs)
    return None if volatile else tuple(items), inputs


_ANOTHER_OUTPUT = "another output"


class Structure:
    """Meaning of a program, whatever its inputs are called; hashable, with a cached hash."""

    __slots__ = ("_hash", "_items")

    def __init__(
        self, input_count: int, nodes: Sequence[tuple[Any, ...]], outputs: Sequence[int]
    ) -> None:
        items: list[Hashable] = [input_count]
        for node in nodes:
            operation = node[0]
            items.append(operation.meaning if operation.has_graphs else operation)
            items += node[1]
        self._items = (*items, None, *outputs)
        self._hash = hash(self._items)

    @property
    def items(self) -> tuple[Hashable, ...]:
        """The parts that are compared: operations with the numbers of their inputs, and outputs."""
        return self._items

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Structure):
            return NotImplemented
        return self is other or (self._hash == other._hash and self._items == other._items)

    def __repr__(self) -> str:
        return f"<Structure {self._hash & 0xFFFFFFFF:08x}>"
