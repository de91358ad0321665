"""The body of a loop that stands for repeated steps: the closed graph of one step.

Its inputs are what all steps read alike, what a step reads of the steps before, and what it reads
by rows. Read next: ``loops.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import Operation, ValueKey, fragment, is_literal
from tenferro.passes.roll.steps import (
    Earlier,
    Program,
    Read,
    Row,
    Same,
    Steps,
    Whole,
    operation_of,
)

Result = tuple[int, int]  # place of the equation in the period, number of the output
Last = tuple[int, int, int]  # and of how many steps before the end, from 1 on


class RolledLoop(NamedTuple):
    """Steps, and what is asked of them: last values, and values of all steps."""

    steps: Steps
    last: tuple[Last, ...]
    stacked: tuple[Result, ...]


class Carry(NamedTuple):
    """A value of ``len(starts)`` steps before; what first steps read instead, the oldest first."""

    place: int
    slot: int
    starts: tuple[ValueKey, ...]


class Body:
    """The closed graph of one step, and what its inputs are."""

    def __init__(self, program: Program, loop: RolledLoop) -> None:
        steps = loop.steps
        wholes = dict.fromkeys([x.key for x in reads_of(steps) if isinstance(x, Whole)])
        rows = dict.fromkeys([x.keys for x in reads_of(steps) if isinstance(x, Row)])
        carries = [
            Carry(read.place, read.slot, read.starts[i:])
            for read in reads_of(steps)
            if isinstance(read, Earlier)
            for i in range(read.back)
        ]
        self.consts = [key for key in wholes if not is_literal(key)]
        self.carries = [*dict.fromkeys(carries)]
        self.rows = [*rows]
        self.carry_of = {(*c[:2], len(c.starts)): i for i, c in enumerate(self.carries)}
        first_carry = len(self.consts)
        first_row = first_carry + len(self.carries)
        self._whole = {key: i for i, key in enumerate(self.consts)}
        self._carry = {carry: first_carry + i for i, carry in enumerate(self.carries)}
        self._row = {keys: first_row + i for i, keys in enumerate(self.rows)}
        self._made: dict[Result, int] = {}
        equations = self._equations(program, steps, [key for key in wholes if is_literal(key)])
        avals = [key.aval for key in self.consts]
        avals += [carry.starts[0].aval for carry in self.carries]
        avals += [keys[0].aval for keys in self.rows]
        outputs = [self._next(carry) for carry in self.carries]
        outputs += [self._made[result] for result in loop.stacked]
        self.fragment = fragment(tuple(avals), tuple(equations), tuple(outputs))

    def _equations(
        self, program: Program, steps: Steps, literals: Sequence[ValueKey]
    ) -> list[tuple[Operation, tuple[int, ...]]]:
        """Number the values of the body and return its equations, literals first."""
        count = len(self.consts) + len(self.carries) + len(self.rows)
        found: list[tuple[Operation, tuple[int, ...]]] = []
        for key in literals:
            found.append((operation_of(key), ()))
            self._whole[key] = count
            count += 1
        for j, reads in enumerate(steps.reads):
            operation = operation_of(program.makers[steps.start + j])
            found.append((operation, tuple([self._number(read) for read in reads])))
            for slot in range(operation.output_count):
                self._made[j, slot] = count
                count += 1
        return found

    def _number(self, read: Read) -> int:
        """Return the number of what an equation reads."""
        if isinstance(read, Same):
            return self._made[read.place, read.slot]
        if isinstance(read, Whole):
            return self._whole[read.key]
        if isinstance(read, Row):
            return self._row[read.keys]
        return self._carry[Carry(read.place, read.slot, read.starts)]

    def _next(self, carry: Carry) -> int:
        """Return the number of what a carry is in the next step."""
        if len(carry.starts) == 1:
            return self._made[carry.place, carry.slot]
        return self._carry[carry._replace(starts=carry.starts[1:])]


def reads_of(steps: Steps) -> Iterator[Read]:
    """Give everything that the equations of a step read."""
    for row in steps.reads:
        yield from row
