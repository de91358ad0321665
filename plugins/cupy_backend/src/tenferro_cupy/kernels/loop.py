"""A loop in one launch: its body is a chain that one block of threads repeats.

Carried values live in memory of their own, which each step overwrites when it ends. A region that
makes a row of a result writes it where it belongs; other rows are copied. Read next: ``chain.py``,
``chain_source.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tenferro.backend.extend import NamedTuple
from tenferro.primitives import Aval
from tenferro_cupy.kernels.chain import Member
from tenferro_cupy.kernels.chain_source import CHAIN_BLOCK, Looped, chain_text
from tenferro_cupy.kernels.kernel import Kernel
from tenferro_cupy.kernels.modules import Modules
from tenferro_cupy.kernels.region import Region, walkable

__all__ = ["MAX_STEPS", "Loop", "Place", "Stepping", "first_row"]

#: A longer loop is several launches, so that no launch takes long.
MAX_STEPS = 1 << 14


class Stepping(NamedTuple):
    """Order of a loop over its operands; the first slots of the body are its operands in order.

    consts     count of the operands that every step reads whole
    carried    count of the operands after them, which are the values of the first step
    length     count of steps
    reverse    True if the last row comes first
    results    slots of the body's results; those that are carried come first
    outputs    numbers of the results that the loop returns: last values, and stacks of the others
    """

    consts: int
    carried: int
    length: int
    reverse: bool
    results: tuple[int, ...]
    outputs: tuple[int, ...]


class Loop:
    """The members of a body, as one function of the operands of the loop.

    literals   slots of the body with arrays that were made before
    avals      shape and dtype of each result of the body
    """

    def __init__(
        self,
        modules: Modules,
        members: Sequence[Member],
        stepping: Stepping,
        literals: Mapping[int, Any],
        avals: Sequence[Aval],
    ) -> None:
        self.modules = modules
        self.members = tuple(members)
        self.stepping = stepping
        self.literals = dict(literals)
        self.avals = tuple(avals)

    def __call__(self, *operands: Any) -> list[Any]:
        """Launch on the current stream; return the outputs."""
        run = _Run(self, walkable(operands))
        run.build()
        structure, looped = tuple(run.links), Looped(run.before, tuple(run.moves))
        function = self.modules.loaded((structure, looped), lambda: chain_text(structure, looped))
        length = self.stepping.length
        for begin in range(0, length, MAX_STEPS):
            bounds = (np.int64(begin), np.int64(min(begin + MAX_STEPS, length)))
            function((1, 1), (CHAIN_BLOCK,), (*run.arguments, *bounds))
        return run.outputs()


class Place(NamedTuple):
    """An array, and how many elements its place moves on with each step."""

    array: Any
    row: int = 0


def first_row(array: Any, stepping: Stepping) -> Place:
    """Return the row of the first step, of an array with a row for each."""
    row: int = array.strides[0] // array.itemsize
    if stepping.reverse:
        return Place(array[stepping.length - 1], -row)
    return Place(array[0], row)


class _Run:
    """The links and the arguments of one launch."""

    def __init__(self, loop: Loop, operands: Sequence[Any]) -> None:
        self.loop = loop
        self.stepping = loop.stepping
        self.operands = operands
        self.cupy = loop.modules.cupy
        self.slots = {slot: Place(array) for slot, array in loop.literals.items()}
        self.views_of_carried: set[int] = set()  # slots in memory that a step overwrites
        self.links: list[Any] = []
        self.moves: list[tuple[bool, ...]] = []
        self.arguments: list[Any] = []
        self.before = 0
        self.carry: list[Any] = []
        self.stacks: dict[int, Place] = {}  # number of a result → its first row
        self.whole: dict[int, Any] = {}  # number of a result → all of its rows

    def build(self) -> None:
        """Make all links."""
        self._begin()
        for call, reads, targets, _ in self.loop.members:
            if isinstance(call, Region):
                results = [self._memory(slot, x) for slot, x in self._allocated(call, targets)]
                self._link(call, [self.slots[i] for i in reads], results)
                self.slots.update(zip(targets, results, strict=True))
            else:
                self._view(call, reads[0], targets[0])
        self._stack_rows()
        self._carry_on()

    def outputs(self) -> list[Any]:
        """Return the last carried values, and the stacks."""
        count = self.stepping.carried
        return [self.whole[i] if i >= count else self.carry[i] for i in self.stepping.outputs]

    def _begin(self) -> None:
        """Give slots to the operands, copy the first carried values, allocate stacks."""
        consts, carried = self.stepping.consts, self.stepping.carried
        self.slots.update({i: Place(x) for i, x in enumerate(self.operands[:consts])})
        for i, x in enumerate(self.operands[consts : consts + carried], consts):
            self.slots[i] = self._copied(Place(x))
            self.views_of_carried.add(i)
            self.carry.append(self.slots[i].array)
        self.before = len(self.links)
        for i, x in enumerate(self.operands[consts + carried :], consts + carried):
            self.slots[i] = self._first_row(x)
        for number in self.stepping.outputs:
            if number >= carried and number not in self.whole:
                aval = self.loop.avals[number]
                shape = (self.stepping.length, *aval.shape)
                self.whole[number] = self.cupy.empty(shape, aval.dtype.name)
                self.stacks[number] = self._first_row(self.whole[number])

    def _first_row(self, array: Any) -> Place:
        return first_row(array, self.stepping)

    def _allocated(self, region: Region, targets: Sequence[int]) -> list[tuple[int, Any]]:
        return [*zip(targets, region.allocated(), strict=True)]

    def _memory(self, slot: int, own: Any) -> Place:
        """Return where a region writes a value: into its row, if it has one."""
        found = [self.stacks[n] for n in self.stacks if self.stepping.results[n] == slot]
        return found[0] if found else Place(own)

    def _view(self, call: Any, operand: int, target: int) -> None:
        place = self.slots[operand]
        (array,) = call(place.array)
        self.slots[target] = Place(array, place.row)
        if operand in self.views_of_carried:
            self.views_of_carried.add(target)

    def _stack_rows(self) -> None:
        """Copy the rows that no region wrote where they belong."""
        for number, place in self.stacks.items():
            value = self.slots[self.stepping.results[number]]
            if value is not place:
                self._copied(value, place)

    def _carry_on(self) -> None:
        """Overwrite the carried values; those that are read for others are saved before."""
        copies = []
        for i, memory in enumerate(self.carry):
            slot = self.stepping.results[i]
            if slot == self.stepping.consts + i:
                continue
            value = self.slots[slot]
            if slot in self.views_of_carried:
                value = self._copied(value)
            copies.append((value, Place(memory)))
        for value, place in copies:
            self._copied(value, place)

    def _copied(self, value: Place, place: Place | None = None) -> Place:
        """Add a link that copies an array."""
        dtype = value.array.dtype.name
        region = Region(self.loop.modules, _copy_of(dtype), value.array.shape, None, ())
        found = place or Place(self.cupy.empty(region.shape, dtype))
        self._link(region, [value], [found])
        return found

    def _link(self, region: Region, given: Sequence[Place], results: Sequence[Place]) -> None:
        """Add a link; a pointer that moves is followed by how far it moves."""
        link = region.link([place.array for place in given])
        constants = [Place(number) for number in region.constants]
        integers = [Place(number) for number in link.integers]
        places = [*given, *constants, *results, *integers]
        self.links.append((link.kernel, link.layout))
        self.moves.append(tuple([place.row != 0 for place in places]))
        for array, row in places:
            self.arguments += [array, np.int64(row)] if row else [array]


def _copy_of(dtype: str) -> Kernel:
    return Kernel((dtype,), (), (), (0,))
