"""A loop whose steps are elementwise, in one launch: each thread computes an element of all steps.

The regions of the body have one shape, or that of a number. Views of operands are made before the
launch; a number that a step makes is in the registers of every thread, so that broadcasting it
costs nothing. Read next: ``element_loop_source.py``, ``loop.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from tenferro.primitives import Aval
from tenferro_cupy.kernels.chain import Member
from tenferro_cupy.kernels.element_loop_source import (
    ElementCall,
    ElementSteps,
    Output,
    element_loop_text,
)
from tenferro_cupy.kernels.layout import BLOCK, Layout, Sizes, layout_of
from tenferro_cupy.kernels.loop import MAX_STEPS, Loop, Place, Stepping, first_row
from tenferro_cupy.kernels.modules import Modules
from tenferro_cupy.kernels.region import Region, walkable

__all__ = ["ElementLoop"]


class ElementLoop(Loop):
    """The members of an elementwise body, as one function of the operands of the loop.

    slots   shape and dtype of each slot of the body
    shape   of the regions that do not compute one number
    """

    def __init__(
        self,
        modules: Modules,
        members: Sequence[Member],
        stepping: Stepping,
        literals: Mapping[int, Any],
        slots: Sequence[Aval],
        shape: tuple[int, ...],
    ) -> None:
        avals = [slots[i] for i in stepping.results]
        super().__init__(modules, members, stepping, literals, avals)
        self.slots = tuple(slots)
        self.shape = shape
        self.body = _Body(self)

    def __call__(self, *operands: Any) -> list[Any]:
        """Launch on the current stream; return the outputs."""
        consts, carried, length = self.stepping[:3]
        operands = walkable(operands)
        places = self._places(operands)
        carry: Sequence[Any] = operands[consts : consts + carried]
        stacks = self._stacks()
        for begin in range(0, length, MAX_STEPS):
            end = min(begin + MAX_STEPS, length)
            carry = self._launch(places, carry, [*stacks.values()], (begin, end))
        return [stacks[i] if i in stacks else carry[i] for i in self.stepping.outputs]

    def _places(self, operands: Sequence[Any]) -> dict[int, Place]:
        """Return the arrays that are read, by slot: literals, operands, and views of them."""
        consts, carried = self.stepping[:2]
        places = {slot: Place(array) for slot, array in self.literals.items()}
        places |= {i: Place(x) for i, x in enumerate(operands[:consts])}
        rows = enumerate(operands[consts + carried :], consts + carried)
        places |= {i: first_row(x, self.stepping) for i, x in rows}
        for call, (operand,), (target,), _ in self.body.views:
            array, row = places[operand]
            places[target] = Place(call(array)[0], row)
        return places

    def _stacks(self) -> dict[int, Any]:
        """Return memory for the results with a row for each step, by their numbers."""
        empty, length = self.modules.cupy.empty, self.stepping.length
        avals = {i: self.avals[i] for i in self.body.stacked}
        return {i: empty((length, *aval.shape), aval.dtype.name) for i, aval in avals.items()}

    def _launch(
        self,
        places: Mapping[int, Place],
        carry: Sequence[Any],
        stacks: Sequence[Any],
        bounds: tuple[int, int],
    ) -> list[Any]:
        """Launch the steps within bounds; return the carried values after them."""
        body, empty = self.body, self.modules.cupy.empty
        consts = [places[slot].array for slot in body.consts]
        rows = [places[slot] for slot in body.rows]
        last = [empty(x.shape, x.dtype) for x in carry]
        layout, sizes = self._layout([*consts, *carry, *[row.array for row in rows]])
        arguments = [
            *consts,
            *carry,
            *_with_rows(rows),
            *[number for region in body.regions for number in region.constants],
            *last,
            *_with_rows([first_row(x, self.stepping) for x in stacks]),
            *self.modules.integers(sizes.arguments, layout.integer),
            *map(np.int64, bounds),
        ]
        text = partial(element_loop_text, body.steps, layout)
        self.modules.loaded((body.steps, layout), text)(sizes.grid, (BLOCK,), tuple(arguments))
        return last

    def _layout(self, arrays: Iterable[Any]) -> tuple[Layout, Sizes]:
        """Return how threads go over arrays of the loop's shape, or of one number."""
        whole = [self.modules.cupy.broadcast_to(x, self.shape) for x in arrays]
        strides = [tuple([s // x.itemsize for s in x.strides]) for x in whole]
        return layout_of(self.shape, None, strides, 1, False, 1)


def _with_rows(places: Iterable[Place]) -> list[Any]:
    """Return arguments: each array, followed by how many elements its place moves on in a step."""
    return [argument for array, row in places for argument in (array, np.int64(row))]


class _Body:
    """The values of a body, numbered as ``ElementSteps`` has them.

    views            members that make views of operands, before the launch
    regions          in the order of their calls
    consts, rows     slots of the arrays that are read once, and in each step
    stacked          numbers of the results with a row for each step
    """

    def __init__(self, loop: ElementLoop) -> None:
        consts, carried, _, _, results, outputs = loop.stepping
        self.loop = loop
        own = range(consts, consts + carried)
        self.views: list[Member] = []
        self.regions: list[Region] = []
        self.held = {slot: slot for slot in own}  # in registers: slot → slot of the same value
        self.is_row = {slot: False for slot in (*loop.literals, *range(consts))}
        calls = [call for member in loop.members for call in self._placed(member)]
        self.stacked = [i for i in dict.fromkeys(outputs) if i >= carried]
        read = [slot for call in calls for slot in call.operands]
        read += [*results[:carried], *[results[i] for i in self.stacked]]
        arrays = dict.fromkeys(slot for slot in read if slot not in self.held)
        self.consts = [slot for slot in arrays if not self.is_row.get(slot, True)]
        self.rows = [slot for slot in arrays if self.is_row.get(slot, True)]
        self.number = {slot: n for n, slot in enumerate([*self.consts, *own, *self.rows])}
        for call in calls:
            for slot in call.results:
                self.number[slot] = len(self.number)
        self.steps = self._steps(calls)

    def _placed(self, member: Member) -> list[ElementCall]:
        """Note a view; return the call of a region, whose operands and results are slots."""
        region = member.region
        if region is not None:
            self.regions.append(region)
            self.held.update({slot: slot for slot in member.targets})
            operands = tuple([self.held.get(slot, slot) for slot in member.operands])
            return [ElementCall(region.kernel, operands, member.targets)]
        (operand,), (target,) = member.operands, member.targets
        if operand in self.held:
            self.held[target] = self.held[operand]
        else:
            self.views.append(member)
            self.is_row[target] = self.is_row.get(operand, True)
        return []

    def _value(self, slot: int) -> int:
        return self.number[self.held.get(slot, slot)]

    def _dtypes(self, slots: Iterable[int]) -> tuple[str, ...]:
        return tuple([self.loop.slots[slot].dtype.name for slot in slots])

    def _numbered(self, call: ElementCall) -> ElementCall:
        """Return a call with numbers of values instead of slots."""
        operands, results = [map(self._value, slots) for slots in call[1:]]
        return ElementCall(call.kernel, tuple(operands), tuple(results))

    def _steps(self, calls: Sequence[ElementCall]) -> ElementSteps:
        """Return the steps, with numbers of values instead of slots."""
        loop, results = self.loop, self.loop.stepping.results
        carried = loop.stepping.carried
        is_number = [aval.shape == () != loop.shape for aval in loop.avals]
        return ElementSteps(
            self._dtypes(self.consts),
            self._dtypes(results[:carried]),
            self._dtypes(self.rows),
            tuple(map(self._numbered, calls)),
            tuple(map(self._value, results[:carried])),
            tuple([Output(i, is_number[i]) for i in range(carried)]),
            tuple([Output(self._value(results[i]), is_number[i]) for i in self.stacked]),
        )
