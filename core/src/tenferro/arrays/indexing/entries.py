"""Entries of an index in few forms: int, slice, None, Ellipsis, masks, positions.

A bool array becomes the positions of its true elements, one ``Mask`` for each of its axes. Values
that are known are looked at here; positions that are only traced stay an ``Array``.
Read next: ``plan.py``.
"""

from __future__ import annotations

import sys
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.handle.array import Array, evaluate_if_known
from tenferro.arrays.handle.convert import (
    aval_of_operand,
    from_sequence,
    is_operand,
    memo_here,
)
from tenferro.arrays.handle.looks import found_in, true_positions
from tenferro.arrays.indexing.bounds import bounds_of
from tenferro.arrays.indexing.errors import no_index
from tenferro.arrays.promotion.broadcast import cast
from tenferro.computegraph import UNKNOWN, ValueKey, new_leaf
from tenferro.primitives import Aval, int64
from tenferro.primitives.constants import constant


class PositionName(NamedTuple):
    """The name of a position that the user wrote; unlike other numbers, none is shared.

    Which positions of a loop coincide is accidental, and must not change its program.
    """

    text: str

    def __str__(self) -> str:
        return self.text


class Mask(NamedTuple):
    """Positions of a bool array's true elements along one axis; ``size`` is ``None`` for rank 0."""

    positions: Any
    size: int | None


def entry_of(entry: Any) -> Any:
    """Reduce an entry to one of few forms: int, slice, None, Ellipsis, a list of Masks, positions.

    Positions are an ``Array`` where they are only traced, and a NumPy array otherwise.
    """
    kind = type(entry)
    if kind is int or kind is slice or entry is None or entry is Ellipsis:
        return entry
    if kind is bool:
        return [Mask(Array(constant(0, int64, (int(entry),)).key), None)]
    if kind is list or kind is tuple:
        entry = from_sequence(entry)
        if not entry.size and entry.dtype.kind == "f":  # an empty list
            return entry.astype("int64")
    return _of_array(entry) if isinstance(entry, Array) else _of_operand(entry)


def evaluate_positions(index: tuple[Any, ...], is_fixed: bool) -> None:
    """Evaluate all pending positions of an index by one program, if they can be evaluated.

    Positions with bounds need it only where they become part of the program (``is_fixed``).
    """
    entries = [
        e
        for e in index
        if isinstance(e, Array) and e.key.operand is UNKNOWN and (is_fixed or not _is_bounded(e))
    ]
    if len(entries) > (not is_fixed) and all([e.dtype.is_integer for e in entries]):
        evaluate_if_known(*[e.key for e in entries])


def _is_bounded(entry: Array) -> bool:
    """Return True for positions whose bounds are known without their values."""
    return bool(entry.ndim) and bounds_of(entry.key) is not None


def _of_operand(entry: Any) -> Any:
    if not is_operand(entry):
        return _of_object(entry)
    aval = aval_of_operand(entry)
    if aval.dtype.is_bool:
        return masks(_on_host(entry))
    if not aval.dtype.is_integer:
        raise no_index(entry, aval)
    return _on_host(entry) if aval.ndim else entry.__index__()


def _of_object(entry: Any) -> int:
    if not hasattr(entry, "__index__"):
        raise no_index(entry, type(entry).__name__)
    return int(entry.__index__())


def _of_array(entry: Array) -> Any:
    if entry.dtype.is_bool:
        return _masks_of_array(entry)
    if not entry.dtype.is_integer:
        if entry.size:
            raise no_index(entry, entry.aval)
        return cast(entry, int64)
    if entry.key.operand is UNKNOWN and (_is_bounded(entry) or not evaluate_if_known(entry.key)):
        return entry
    known = entry._concrete("indexing")
    return known if entry.ndim else int(known)


def _masks_of_array(entry: Array) -> list[Mask]:
    asked = "indexing with a bool array"
    found = found_in([entry], true_positions, asked) if entry.ndim else None
    if found is None:
        return masks(entry._concrete(asked))
    return [Mask(at, n) for at, n in zip(found, entry.shape, strict=True)]


def _on_host(operand: Any) -> Any:
    """Return an operand of any backend as a NumPy array."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(operand, (numpy.ndarray, numpy.generic)):
        return operand
    return Array(known_leaf(operand, aval_of_operand(operand)))._concrete("indexing")


def known_leaf(operand: Any, aval: Aval) -> ValueKey:
    """Make a new leaf with this value; a remembered function has that of its last call."""
    memo = memo_here()
    if memo is not None:
        return memo.capture(None, None, aval, operand, PositionName("index"), newest=False)
    key = new_leaf(PositionName("index"), aval)
    key.operand = operand
    return key


def masks(known: Any) -> list[Mask]:
    """Return the positions of a bool array's true elements, along each of its axes."""
    if not known.ndim:  # a new axis, taken wholly or not at all
        return [Mask(Array(constant(0, int64, (int(known),)).key), None)]
    return [Mask(at, n) for at, n in zip(known.nonzero(), known.shape, strict=True)]
