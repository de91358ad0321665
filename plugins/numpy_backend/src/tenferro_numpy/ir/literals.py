"""The values of literals, computed once, each in the form that a line reads best.

Read next: `memory/registers.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from tenferro.backend.extend import NamedTuple
from tenferro.backend.lowering import LoweringTable
from tenferro.primitives import Aval
from tenferro.primitives.constants import Constant

Function = Callable[..., Any]

__all__ = ["Compared", "Literals", "is_zero"]

_MAX_BYTES_TO_EXPAND = 1 << 16  # bytes of a literal above which it stays a view of one element
_MAX_BYTES_TO_SHARE = 1 << 10  # bytes of a constant that all programs of the process share


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
            return _read_only(compare(op.operation, *[self.evaluate(x) for x in op.literals]))
        function: Function = self.table.lookup(op, ())
        if type(op) is not Constant:
            return _read_only(np.asarray(function(op)))
        small = op.dtype.itemsize * prod(op.shape) <= _MAX_BYTES_TO_SHARE
        return (_shared if small else _filled)(function, op)


def _filled(function: Function, op: Constant) -> Any:
    """Return the value of a constant: that of one element, expanded or full."""
    element = np.asarray(function(Constant(op.value, op.dtype, ())))
    if element.itemsize * prod(op.shape) > _MAX_BYTES_TO_EXPAND:
        return _read_only(np.broadcast_to(element, op.shape))
    value = np.empty(op.shape, element.dtype)
    value[...] = element
    value.flags.writeable = False
    return value


_shared = lru_cache(maxsize=512)(_filled)  # programs have the same few numbers


def _read_only(value: Any) -> Any:
    """Return a read-only array; a small one is a copy, which keeps no other memory alive."""
    value = np.array(value) if value.nbytes <= _MAX_BYTES_TO_EXPAND else value.view()
    value.flags.writeable = False
    return value
