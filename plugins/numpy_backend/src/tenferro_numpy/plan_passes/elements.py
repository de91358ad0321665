"""Single elements: read from arrays by their position, and put together to arrays in one call.

`a[1, 2]` is a slice and two conversions, `np.array([[c, -s], [s, c]])` three concatenations of as
many views as there are numbers. Here an element is read by one call, as a Python number where its
readers compute with those, and a small array of numbers is made by `np.array`, whatever stood
between. Read next: `unboxing.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from struct import Struct
from typing import Any

import numpy as np

from tenferro.primitives import Aval
from tenferro.primitives.constants import Constant
from tenferro.primitives.structural import BroadcastInDim, Concatenate, Reshape, Slice
from tenferro_numpy.ir.assembly import MAX_ELEMENTS_PUT_TOGETHER
from tenferro_numpy.ir.expression import Expression, Scalar
from tenferro_numpy.ir.step import Step
from tenferro_numpy.python_scalars import UNBOXED

__all__ = ["Element", "array_of_elements", "element_of", "packing", "pick_and_put"]

_MAX_BYTES_TO_KEEP = 1 << 16  # of an array that lives longer because an element is read later
_MAX_MOVES = 16  # steps behind a step that are looked at: its cost does not follow their number
_FLOATS = ("float32", "float64")
_MOVES = frozenset((Slice, Reshape, Concatenate, BroadcastInDim))
_PICK_GAIN = 20  # nanoseconds by which Python's number is read faster than NumPy's

#: An element: a number of the program's, or (slot, position in its flat array; None for rank 0)
Element = float | tuple[int, int | None]


def pick_and_put(
    steps: list[Step],
    avals: Sequence[Aval],
    operations: Sequence[Any],
    literals: Mapping[int, Any],
    outputs: Collection[int],
) -> list[Step]:
    """Read single elements, and put arrays together of them, in one step each.

    `operations` are those of the program's instructions.
    """
    parts = _Parts(steps, avals, operations, literals)
    moves = [
        s for _, s in parts.moves.values() if avals[s.targets[0]].size <= MAX_ELEMENTS_PUT_TOGETHER
    ]
    if not moves:
        return steps
    parts.reads.update([slot for step in steps for slot in step.operands])
    found = [step for step in moves if parts.pick(step)]
    found += [step for step in reversed(moves) if parts.put(step)]
    return _without_unread(steps, parts, outputs) if found else steps


class _Parts:
    """Steps that only move elements, and what they move."""

    def __init__(
        self,
        steps: Sequence[Step],
        avals: Sequence[Aval],
        operations: Sequence[Any],
        literals: Mapping[int, Any],
    ) -> None:
        self.avals = avals
        self.literals = literals
        self.moves: dict[int, tuple[Any, Step]] = {}  # slot → the operation, the step
        for step in steps:
            op = step.operation_of(operations)
            if type(op) in _MOVES:
                self.moves[step.targets[0]] = op, step
        self.reads: Counter[int] = Counter()
        self._known: dict[int, list[Element] | None] = {}

    # ---- reading -----------------------------------------------------------------------------

    def pick(self, step: Step) -> bool:
        """Let a move read its only element from the array that slices and views took it from."""
        target = step.targets[0]
        aval = self.avals[target]
        if aval.shape or aval.dtype.is_complex:
            return False  # NumPy rounds products of complex numbers unlike those of arrays
        slot, position = target, 0
        for _ in range(_MAX_MOVES):
            if slot not in self.moves:
                break
            op, maker = self.moves[slot]
            if type(op) is Slice:
                position = _before_slice(op, self.avals[maker.operands[0]].shape, position)
            elif type(op) is not Reshape:
                break
            slot = maker.operands[0]
        whole = self.avals[slot]
        if not whole.shape or slot in self.literals:
            return False
        if slot != step.operands[0] and whole.size * whole.dtype.itemsize > _MAX_BYTES_TO_KEEP:
            return False
        step.expression = element_of(whole.shape, position, aval in UNBOXED)
        step.operands = (slot,)
        return True

    # ---- putting together --------------------------------------------------------------------

    def put(self, step: Step) -> bool:
        """Let a move make its array of single elements, if that is faster."""
        target = step.targets[0]
        aval = self.avals[target]
        if aval.dtype.name not in _FLOATS or not aval.shape:
            return False
        if type(self.moves[target][0]) not in (Concatenate, Reshape):
            return False
        elements = self._found(target, _MAX_MOVES)
        if elements is None or self._cost(elements) >= self._saved(target, _MAX_MOVES):
            return False
        step.expression, step.operands = array_of_elements(elements, aval)
        return True

    def _elements(self, slot: int, moves: int) -> list[Element] | None:
        """Return the elements of an array in row-major order; None if they are too many."""
        if slot not in self._known:
            self._known[slot] = self._found(slot, moves)
        return self._known[slot]

    def _found(self, slot: int, moves: int) -> list[Element] | None:
        aval = self.avals[slot]
        if not 0 < aval.size <= MAX_ELEMENTS_PUT_TOGETHER:
            return None
        if slot in self.literals:
            op = self.literals[slot]
            return [float(op.value.real)] * aval.size if type(op) is Constant else None
        if not aval.shape:
            return [(slot, None)]
        if slot not in self.moves or not moves:
            return [(slot, i) for i in range(aval.size)]
        op, step = self.moves[slot]
        if type(op) is Concatenate:
            return self._joined(op, step, moves)
        inner = self._elements(step.operands[0], moves - 1)
        if type(op) is Reshape or inner is None:
            return inner
        if type(op) is BroadcastInDim and len(inner) == 1:
            return inner * aval.size
        return [(slot, i) for i in range(aval.size)]

    def _joined(self, op: Concatenate, step: Step, moves: int) -> list[Element] | None:
        parts = []
        for slot in step.operands:
            elements = self._elements(slot, moves - 1)
            if elements is None:
                return None
            part = np.empty(len(elements), object)
            part[:] = elements
            parts.append(part.reshape(self.avals[slot].shape))
        return [*np.concatenate(parts, op.dimension).flat]

    def _cost(self, elements: Sequence[Element]) -> int:
        """Estimate the nanoseconds of the call."""
        picked = sum([isinstance(x, tuple) and x[1] is not None for x in elements])
        return 270 + 30 * len(elements) + 55 * picked

    def _saved(self, slot: int, moves: int) -> int:
        """Estimate the nanoseconds of the steps that nothing else reads."""
        if slot not in self.moves or not self.avals[slot].shape or not moves:
            return 0
        op, step = self.moves[slot]
        if type(op) is Slice:
            return 0
        own = 500 + 80 * len(step.operands) if type(op) is Concatenate else 100
        if not self.avals[step.operands[0]].shape:
            own = 330  # a number becomes NumPy's, and that an array
        inner = [x for x in set(step.operands) if self.reads[x] == step.operands.count(x)]
        return own + sum([self._saved(x, moves - 1) for x in inner])


def _before_slice(op: Slice, shape: tuple[int, ...], position: int) -> int:
    """Return where in an array an element of its slice is."""
    sizes = [len(range(*given)) for given in zip(op.start, op.limit, op.strides, strict=True)]
    found, step = 0, 1
    for axis in reversed(range(len(shape))):
        position, index = divmod(position, sizes[axis])
        found += (op.start[axis] + index * op.strides[axis]) * step
        step *= shape[axis]
    return found


@lru_cache(maxsize=512)
def element_of(shape: tuple[int, ...], position: int, unboxed: bool) -> Expression:
    """Write the reading of one element of an array."""
    index = tuple(map(int, np.unravel_index(position, shape)))
    number = Expression("{0}.item({p0})", (position,), as_is=True)
    scalar = Scalar(number, _PICK_GAIN) if unboxed else None
    return Expression("{0}[{p0}]", (index,), scalar=scalar)


def array_of_elements(
    elements: Sequence[Element], aval: Aval
) -> tuple[Expression, tuple[int, ...]]:
    """Write the line that puts an array together, and return it with its operands."""
    operands, texts = dict[int, str](), []
    numbers: list[float] = []
    for element in elements:
        if not isinstance(element, tuple):
            texts.append(f"{{p{len(numbers) + 3}}}")
            numbers.append(element)
            continue
        slot, position = element
        name = operands.setdefault(slot, f"{{{len(operands)}}}")
        texts.append(name if position is None else f"{name}.item({position})")
    given = ", ".join(texts)
    kind = _FORMATS.get(aval.dtype.name)
    if kind is None:
        text = f"{{p0}}(({given},), {{p1}}).reshape({{p2}})"
        bound: tuple[Any, ...] = (np.array, np.dtype(aval.dtype.name), aval.shape, *numbers)
        return Expression(text, bound, as_is=True), tuple(operands)
    bound = (_packing(f"{len(texts)}{kind}"), _empty(aval), aval.shape, *numbers)
    text = f"({{p0}}.pack_into(new := {{p1}}({{p2}}), 0, {given}) or new)"
    is_vector = aval.ndim == 1  # an array of higher rank may be in another order
    onto = f"({{p0}}.pack_into({{out}}, 0, {given}) or {{out}})" if is_vector else ""
    line = Expression(text, bound, as_is=True, onto=onto, strict_out=True)
    return line, tuple(operands)


#: what `struct` calls a dtype whose numbers are packed three times as fast as `np.array` takes them
_FORMATS = {"float64": "d", "bool": "?"}
_packing = lru_cache(maxsize=128)(Struct)


def packing(aval: Aval) -> Struct:
    """Return what writes the elements of an array of float64 or bool to memory."""
    return _packing(f"{aval.size}{_FORMATS[aval.dtype.name]}")


def _empty(aval: Aval) -> Callable[..., Any]:
    """Return what makes an array of a shape, to be filled."""
    return _empty_mask if aval.dtype.is_bool else np.empty


def _empty_mask(shape: tuple[int, ...]) -> Any:
    return np.empty(shape, bool)


def _without_unread(steps: Sequence[Step], parts: _Parts, outputs: Collection[int]) -> list[Step]:
    """Drop steps that moved elements for those that now read them elsewhere."""
    read = set(outputs)
    kept = []
    for step in reversed(steps):
        if step.targets[0] in parts.moves and step.targets[0] not in read:
            continue
        read.update(step.operands)
        kept.append(step)
    kept.reverse()
    return kept
