"""The values of literals, computed once, each in the form that a line reads best.

Read next: `memory/registers.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np

from tenferro.backend.extend import NamedTuple
from tenferro.backend.lowering import LoweringTable
from tenferro.primitives import Aval
from tenferro.primitives.constants import Constant

__all__ = ["Compared", "Literals", "is_zero"]

_MAX_BYTES_TO_EXPAND = 1 << 16  # bytes of a literal above which it stays a view of one element


def is_zero(operation: Any) -> bool:
    """Return True if an operation is a literal full of zeros, none of which is -0."""
    return type(operation) is Constant and not operation.value and "-" not in str(operation.value)


class Compared(NamedTuple):
    """A mask that is made of literals, and takes less memory than they do: triangles, diagonals."""

    operation: Any
    literals: tuple[Any, ...]  # the operations of its operands
    avals: tuple[Aval, ...]


class Literals:
    """The values of the slots that are literals; an index is told from a register by its sign."""

    def __init__(self, operations: Mapping[int, Any], table: LoweringTable) -> None:
        self.operations = operations
        self.table = table
        self.values: list[Any] = []
        self.known: dict[tuple[Any, str], int] = {}

    def index(self, slot: int, form: str) -> int:
        """Return the index of the value: a read-only "array", a NumPy "scalar", or a "number"."""
        op = self.operations[slot]
        found = self.known.get((op, form))
        if found is None:
            found = self.known[op, form] = ~len(self.values)
            value = self.evaluate(op)
            self.values.append(
                value if form == "array" else value[()] if form == "scalar" else value.item()
            )
        return found

    def evaluate(self, op: Any) -> Any:
        """Return the value as a read-only array."""
        if type(op) is Compared:
            compare = self.table.lookup(op.operation, op.avals)
            value = compare(op.operation, *[self.evaluate(x) for x in op.literals])
        else:
            value = self._made(op)
        if value.nbytes <= _MAX_BYTES_TO_EXPAND:
            value = np.array(value)
        value = value.view()
        value.flags.writeable = False
        return value

    def _made(self, op: Any) -> Any:
        function: Callable[..., Any] = self.table.lookup(op, ())
        if type(op) is Constant and op.shape:
            element = np.asarray(function(Constant(op.value, op.dtype, ())))
            if element.itemsize * prod(op.shape) <= _MAX_BYTES_TO_EXPAND:
                return np.full(op.shape, element)
            return np.broadcast_to(element, op.shape)
        return np.asarray(function(op))
