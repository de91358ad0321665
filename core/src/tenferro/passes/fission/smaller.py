"""The rest of a loop: the equations that stay, over values that were computed before it.

Its results are the last carries that are asked for, and the rows of what equations behind it read.
Read next: ``split.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from tenferro.computegraph import Fragment, ValueKey, derive, new_leaf
from tenferro.passes.fission.parts import Parts
from tenferro.passes.fission.unswitch import unswitched
from tenferro.primitives import Handle


class SmallerLoop:
    """The loop while it is written.

    ``outside`` holds values that were computed before it; those in ``has_rows`` have a row for each
    step.
    """

    def __init__(
        self,
        parts: Parts,
        starts: Sequence[ValueKey],
        outside: Mapping[int, Handle],
        has_rows: Set[int],
    ) -> None:
        self._parts = parts
        self._outside = outside
        self._has_rows = has_rows
        self._inside: dict[int, ValueKey] = {}
        self._consts: list[tuple[ValueKey, ValueKey]] = []  # inputs of the body, and operands
        self._carries: list[tuple[ValueKey, ValueKey]] = []
        self._rows: list[tuple[ValueKey, ValueKey]] = []
        for i in parts.carries:
            slot = parts.loop.consts + i
            leaf = self._inside[slot] = new_leaf(f"x{slot}", parts.graph.avals[slot])
            self._carries.append((leaf, starts[i]))

    def results(self) -> tuple[dict[int, ValueKey], dict[int, Handle]]:
        """Return the last carries by number, and the rows of stacked values."""
        parts, loop = self._parts, self._parts.loop
        if parts.is_whole:
            return {}, {}
        for place in self._places():
            node = parts.graph.nodes[place]
            made = derive(node.operation, [self._given(slot) for slot in node.inputs])
            for slot, key in zip(node.outputs, made, strict=True):
                key.source = key.source or node.source
                self._inside[slot] = key
        updates = [self._given(parts.graph.outputs[i]) for i in parts.carries]
        stacks = [self._given(slot) for slot in parts.stacked]
        pairs = [*self._consts, *self._carries, *self._rows]
        count = len(updates)
        asked = [k for k, i in enumerate(parts.carries) if i in loop.outputs]
        smaller = loop.replaced(
            body=Fragment.of([leaf for leaf, _ in pairs], [*updates, *stacks]),
            consts=len(self._consts),
            carried=count,
            outputs=(*asked, *range(count, count + len(stacks))),
            is_linear=(),
            derivatives=tuple([k for k, i in enumerate(parts.carries) if i in loop.derivatives]),
        )
        found: Sequence[ValueKey] = ()
        if smaller.outputs:
            operands = [key for _, key in pairs]
            found = unswitched(smaller, operands) or derive(smaller, operands)
        rows = [Handle(key) for key in found[len(asked) :]]
        last = dict(zip([parts.carries[k] for k in asked], found, strict=False))
        return last, dict(zip(parts.stacked, rows, strict=True))

    def _given(self, slot: int) -> ValueKey:
        """Return a value inside; one that was computed before becomes an input."""
        found = self._inside.get(slot)
        if found is None:
            found = self._inside[slot] = new_leaf(f"x{slot}", self._parts.graph.avals[slot])
            pairs = self._rows if slot in self._has_rows else self._consts
            pairs.append((found, self._outside[slot].key))
        return found

    def _places(self) -> list[int]:
        """Return the equations of the loop: those that stay, and copies of what costs nothing."""
        parts, graph = self._parts, self._parts.graph
        todo = [slot for place in parts.core for slot in graph.nodes[place].inputs]
        todo += [graph.outputs[i] for i in parts.carries]
        found = set(parts.core)
        while todo:
            slot = todo.pop()
            if parts.is_inside(slot) and parts.maker[slot] not in found:
                found.add(parts.maker[slot])
                todo += graph.nodes[parts.maker[slot]].inputs
        return sorted(found)
