"""Estimates of the arithmetic of an equation, for comparing programs; they know no backend.

Read next: ``budget/values.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2, prod
from typing import Any

from tenferro.computegraph import Operation
from tenferro.primitives._aval import Aval

_MOVES = frozenset(("structural", "constants", "indexing"))  # families without arithmetic


def family(operation: Operation) -> str:
    """Return the family of a primitive: its file, or the namespace of a third party."""
    namespace, _, name = str(getattr(operation, "key", "")).partition("::")
    if namespace != "std" or not name:
        return namespace
    return type(operation).__module__.split("primitives.", 1)[-1].split(".")[0]


def nbytes(aval: Aval) -> int:
    """Return the size of an array in bytes."""
    return aval.size * aval.dtype.itemsize


def flops_of(operation: Operation, given: Sequence[Aval], results: Sequence[Aval]) -> int:
    """Count the elementwise operations of one equation, to leading order."""
    kind = family(operation)
    if kind in _MOVES:
        return 0
    largest = max((a.size for a in (*given, *results)), default=0)
    contract: Any = getattr(operation, "lhs_contract", None)
    if contract is not None:
        return int(2 * results[0].size * prod(given[0].shape[axis] for axis in contract))
    if kind == "linalg" and given:  # a factorization of m × n takes about m n min(m, n)
        return largest * min(given[0].shape[-2:], default=1)
    if kind in ("sorting", "fft"):
        return int(largest * max(1.0, log2(max(largest, 1))))
    return largest
