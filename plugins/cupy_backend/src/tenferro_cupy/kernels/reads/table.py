"""Primitives that a kernel reads at computed positions.

``read_of`` gives the read of one operation, or None where CuPy has to do it. Read next:
``../source.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from tenferro.backend.extend import NamedTuple
from tenferro.primitives import Aval, Concatenate, DynamicSlice, DynamicUpdateSlice, Gather, Pad
from tenferro_cupy.kernels.reads.gathered import gathered
from tenferro_cupy.kernels.reads.joined import joined
from tenferro_cupy.kernels.reads.padded import padded
from tenferro_cupy.kernels.reads.read import Read
from tenferro_cupy.kernels.reads.scattered import COMBINED, scattered
from tenferro_cupy.kernels.reads.windows import block, replaced

__all__ = ["READS", "SizedRead", "read_of"]

_MAX_ARRAYS = 8  # of one concatenation: each element passes one test for each array
_MAX_WINDOWS = 512
_MAX_VISITS = 1 << 22  # elements of a scatter times its windows

#: primitive → function that makes its read, and its integers
READS: dict[type, Callable[[Any, Sequence[Aval], Aval], tuple[Any, list[int]]]] = {
    Concatenate: joined,
    Pad: padded,
    DynamicSlice: block,
    DynamicUpdateSlice: replaced,
    Gather: gathered,
    **dict.fromkeys(COMBINED, scattered),
}


class SizedRead(NamedTuple):
    """A read for operands of known shapes.

    operation   that the read computes
    read        its text
    numbers     the integers that the text needs, except strides
    visits      elements that are looked at for one element of the result
    """

    operation: Any
    read: Read
    numbers: tuple[int, ...]
    visits: int = 1


def read_of(op: Any, operands: Sequence[Aval], result: Aval) -> SizedRead | None:
    """Return the read of an operation; None if CuPy has to do it."""
    make = READS.get(type(op))
    if make is None or (type(op) is Concatenate and len(operands) > _MAX_ARRAYS):
        return None
    visits = 1
    if type(op) in COMBINED:
        visits = prod(operands[1].shape[:-1])
        if visits > _MAX_WINDOWS or visits * result.size > _MAX_VISITS:
            return None
    read, numbers = make(op, operands, result)
    return SizedRead(op, read, tuple(numbers), visits)
