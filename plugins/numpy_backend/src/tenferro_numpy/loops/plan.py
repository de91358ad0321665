"""The plan of a loop's body: what is a Python number, and in which memory each value lies.

A step of a loop allocates no arrays where it can avoid it. Its intermediate values lie in buffers
that are allocated before the loop. The next carry is written to such a buffer, and the memory of
the present carry becomes a buffer of the next step. A row of a result is written into the stacked
result. If the row is also a carry, the carry lies there: row k + 1 if the result is the carry
before each step. Read next: `loops/source.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

from tenferro.backend.extend import NamedTuple
from tenferro.backend.lowering import LoweringTable
from tenferro.computegraph import CompiledProgram
from tenferro.primitives import DType
from tenferro_numpy.ir.literals import Literals
from tenferro_numpy.ir.liveness import dying_after
from tenferro_numpy.ir.peak import size_of
from tenferro_numpy.kernels.region import Region
from tenferro_numpy.loops.assembled import Before, prepare
from tenferro_numpy.machine.allocator import PAGES
from tenferro_numpy.memory.ownership import Memory
from tenferro_numpy.memory.reuse import reuse, writing_into
from tenferro_numpy.plan_options import PlanOptions
from tenferro_numpy.plan_passes.short_arrays.ends import Ends, is_short
from tenferro_numpy.plan_passes.unboxing import as_arrays, unbox
from tenferro_numpy.planner import MEMORY_REUSE, Planner
from tenferro_numpy.python_scalars import UNBOXED

__all__ = ["BEHIND", "COPIED", "MADE", "SHIFTED", "LoopPlan", "LoopPlanner", "Roles", "Row"]

#: how the rows of a result come to lie in it: a step copies them, makes them there, or makes them
#: there as the carry of the next step; or they are copied behind the loop, from rows of the carry
#: after each step
COPIED, MADE, SHIFTED, BEHIND = "copied", "made", "shifted", "behind"
_MIN_SPLIT = 1  # instructions on short arrays that feed each other


class Roles(NamedTuple):
    """The parts that inputs and outputs of a body play.

    consts    number of inputs that all steps read
    carried   number of inputs behind these, and of first outputs, that go from step to step
    stacked   outputs whose rows are results
    in_file   those whose rows lie in a temporary file
    directory  of the file
    """

    consts: int
    carried: int
    stacked: tuple[int, ...] = ()
    in_file: tuple[int, ...] = ()
    directory: str = ""


class Row(NamedTuple):
    """A row of a result: the slot that it is a copy of, or the slot of its memory.

    Behind the loop, the number of the result that has the same rows one step later.
    """

    output: int
    kind: str
    slot: int


class LoopPlan(NamedTuple):
    """The memory of the values of a body.

    rows       of results
    buffers    slots of memory that is made before the loop
    moves      (slot, the slot that it is in the next step)
    own        carries that are copied before the first step, because steps write into them
    copies     carries that a step copies, because they share memory with something else
    borrowed   carries that lie in memory of others after the last step
    before     arrays and views that are made before the loop
    """

    rows: tuple[Row, ...]
    buffers: tuple[int, ...]
    moves: tuple[tuple[int, int], ...]
    own: frozenset[int]
    copies: frozenset[int]
    borrowed: frozenset[int]
    before: Before


class LoopPlanner(Planner):
    """The body of a loop while it becomes a plan."""

    def __init__(
        self, program: CompiledProgram, table: LoweringTable, how: PlanOptions, roles: Roles
    ) -> None:
        super().__init__(program, table, how)
        self.roles = roles
        self.first_row = roles.consts + roles.carried
        #: inputs that come as numbers, and results that are numbers, with the slots of those
        self.given: Mapping[int, Sequence[int]] = {}
        self.parts: dict[int, Sequence[int]] = {}

    @cached_property
    def made_literals(self) -> Literals:
        """The values of the literals, in the forms that were asked for."""
        return Literals(self.literals, self.table)

    @property
    def carries(self) -> range:
        """The slots of the carries."""
        return range(self.roles.consts, self.first_row)

    @property
    def whole_carries(self) -> list[int]:
        """The slots of the carries that are not given as their numbers."""
        return [slot for slot in self.carries if slot not in self.given]

    @property
    def staying(self) -> Collection[int]:
        """The slots of arrays that all steps read."""
        is_loop = self.roles.carried or self.roles.stacked
        return [i for i in range(self.roles.consts) if self.avals[i].shape] if is_loop else ()

    def is_free(self, slot: int) -> bool:
        """Return True for a const or row of rank 0, which has the form that its readers want."""
        return (
            slot < len(self.program.inputs)
            and slot not in self.carries
            and self.avals[slot] in UNBOXED
        )

    def is_scalar_const(self, slot: int) -> bool:
        """Return True for an input of rank 0 that all steps read."""
        return slot < self.roles.consts and not self.avals[slot].shape

    def split_short_arrays(self) -> None:
        """Compute arrays of a few numbers number by number, in all steps of the loop."""
        if not (self.roles.carried or self.roles.stacked):
            super().split_short_arrays()
            return
        found = self.split(_MIN_SPLIT, self._ends())
        if found is not None:
            self.given, self.parts = found.given, dict(found.parts)
            for output in self.roles.stacked:
                if self.later(output) is not None:
                    self.parts.pop(output, None)

    def _ends(self) -> Ends:
        """Return the arrays that may come and go as numbers."""
        consts, becomes = self.roles.consts, dict[int, int]()
        for slot in self.carries:
            if self.avals[slot].shape and is_short(self.avals[slot]):
                becomes[slot - consts] = slot
        stored = [i for i in self.roles.stacked if i not in self.roles.in_file]
        return Ends(
            staying=[slot for slot in range(consts) if is_short(self.avals[slot])],
            rows=range(self.first_row, len(self.program.inputs)),
            carries={slot: self.outputs[position] for position, slot in becomes.items()},
            stacked=[self.outputs[i] for i in stored],
            becomes=becomes,
            stored=stored,
        )

    def unbox(self) -> None:
        """Run lines of rank 0 on Python's own numbers; a carry becomes one if its update is."""
        free = {i for i in range(len(self.program.inputs)) if self.is_free(i)}
        linked = {
            slot: self.outputs[i]
            for i, slot in enumerate(self.carries)
            if self.avals[slot] in UNBOXED
        }
        given = free.union(self.literals)
        self.steps, self.numbers = unbox(self.steps, self.avals, given, self.numbers, linked)

    def later(self, output: int) -> int | None:
        """Return the result whose rows are carries after a step, for that of those before it."""
        slot = self.outputs[output]
        if slot not in self.carries or output in self.roles.in_file:
            return None
        update = self.outputs[slot - self.roles.consts]
        found = [i for i in self.roles.stacked if self.outputs[i] == update]
        alone = update not in self.carries and not {*found}.intersection(self.roles.in_file)
        return found[0] if found and alone else None

    def convert_scalars(self) -> None:
        """Convert a scalar to an array once, if several lines combine it with arrays."""
        consts = [i for i in range(self.roles.consts) if self.is_scalar_const(i)]
        self.steps = as_arrays(self.steps, self.avals, {*self.literals, *consts})

    # ---- memory ----------------------------------------------------------------------------------

    def loop_plan(self) -> LoopPlan:
        """Choose memory. Call it once."""
        foreign = any([step.expression.foreign for step in self.steps])
        places = _Places(self, is_plain=foreign or MEMORY_REUSE in self.how.without)
        return places.plan()

    def dying(self, before: Before) -> list[Sequence[int]]:
        """Return the slots that die in each step of the body, of those that steps make."""
        views = [step.targets[0] for step in before.views]  # made once, read in every step
        kept = (*self.outputs, *self.literals, *range(len(self.program.inputs)), *views)
        return dying_after(self.steps, kept, len(self.avals))


class _Places:
    """The memory of the arrays of a body, while it is chosen."""

    def __init__(self, planner: LoopPlanner, *, is_plain: bool) -> None:
        self.planner = planner
        self.avals = planner.avals
        self.steps = planner.steps
        self.outputs = planner.outputs
        self.is_plain = is_plain
        self.maker = {slot: step for step in self.steps for slot in step.targets}
        self.taken: set[int] = set()  # slots that are written into rows
        self.fixed: set[int] = set()  # carries that no step may write into

    def plan(self) -> LoopPlan:
        """Choose the memory."""
        planner, outputs = self.planner, self.outputs
        is_branch = not planner.roles.carried and not planner.roles.stacked
        before = Before()
        if not self.is_plain and not is_branch:
            staying = {*planner.staying, *planner.literals}
            before = prepare(self.steps, self.avals, staying, {*outputs})
        rows = tuple([self._row(i) for i in planner.roles.stacked])
        carries = [slot for slot in planner.whole_carries if self.avals[slot].shape]
        update = {slot: outputs[slot - planner.roles.consts] for slot in planner.whole_carries}
        if self.is_plain:
            self.fixed.update(carries)
        self.fixed.update([slot for slot in carries if update[slot] in self.taken])
        self.fixed.update([made for made in update.values() if self._is_the_same(made)])
        while True:  # what is renamed to such a carry is one
            more = {slot for slot in carries if update[slot] in self.fixed} - self.fixed
            if not more:
                break
            self.fixed |= more
        spare = {} if self.is_plain or is_branch else self._spare()
        given = [slot for slot in carries if slot not in self.fixed]
        in_rows = {row.slot for row in rows if row.kind in (MADE, SHIFTED)}
        dying = dying_after(self.steps, (*outputs, *planner.literals), len(self.avals))
        memory = Memory(self.avals, dying, (*given, *in_rows, *spare.values()))
        memory.seen.update(before.written)
        if self.is_plain:
            memory.follow(self.steps)
        else:
            reuse(self.steps, memory, spare)
        read = {slot for step in self.steps for slot in step.operands}
        buffers = [slot for slot in spare.values() if slot in read]
        found = self._moved(memory, rows, carries, update, [*given, *buffers], buffers)
        return found._replace(before=before)

    def _is_the_same(self, slot: int) -> bool:
        """Return True for a value that is the same array in all steps."""
        planner = self.planner
        is_const = slot < planner.roles.consts or slot in planner.literals
        return is_const and bool(self.avals[slot].shape)

    def _moved(
        self, memory: Memory, rows: tuple[Row, ...], carries: Sequence[int],
        update: dict[int, int], pool: Sequence[int], buffers: Sequence[int],
    ) -> LoopPlan:  # fmt: skip
        """Let carries take the memory in which they were made, and buffers what is left."""
        used: set[int] = set()
        copies: set[int] = set()
        borrowed: set[int] = set()
        shifted = {row.slot for row in rows if row.kind == SHIFTED}
        in_rows = {row.slot for row in rows if row.kind == MADE} | shifted
        for slot in carries:
            made = update[slot]
            name = memory.name[made]
            if made in self.taken or made in self.fixed:
                if name in used or name not in shifted:
                    borrowed.add(slot)
            elif name in in_rows or name in used or not _is_whole(memory, made):
                copies.add(slot)
                continue
            used.add(name)
        planner = self.planner
        moves = {slot: update[slot] for slot in planner.whole_carries}
        for slot in planner.carries:
            if slot in planner.given:
                numbers = planner.parts[slot - planner.roles.consts]
                moves.update(zip(planner.given[slot], numbers, strict=True))
        moves.update(self._left(pool, buffers, used))
        moved = {*moves.values()}
        own = {
            slot
            for slot in carries
            if slot not in self.fixed
            and (slot not in memory.given or slot in used or slot in moved)
        }
        return LoopPlan(
            rows, tuple(buffers), tuple(moves.items()), frozenset(own), frozenset(copies),
            frozenset(borrowed), Before(),
        )  # fmt: skip

    def _left(
        self, pool: Sequence[int], buffers: Sequence[int], used: Collection[int]
    ) -> dict[int, int]:
        """Return what buffers are in the next step that carries lie in after this one.

        A carry may have been made in a buffer of another shape, as a reshape of what lies there:
        the buffer becomes memory of its size, if there is none of its shape. There is enough, as
        each carry takes at most one piece of memory, of its own size, and leaves one.
        """
        left: dict[tuple[DType, int], list[int]] = {}
        for name in pool:
            if name not in used and name not in buffers:
                left.setdefault(self._storage(name), []).append(name)
        found = {}
        for slot in buffers:
            if slot in used:
                names = left[self._storage(slot)]
                alike = [name for name in names if self.avals[name] is self.avals[slot]]
                found[slot] = alike[-1] if alike else names[-1]
                names.remove(found[slot])
        return found

    def _storage(self, slot: int) -> tuple[DType, int]:
        """Return what arrays have in common that may lie in the same memory."""
        aval = self.avals[slot]
        return aval.dtype, aval.size

    def _row(self, output: int) -> Row:
        """Decide how the rows of a result come to lie in it."""
        slot, planner = self.outputs[output], self.planner
        later = planner.later(output)
        if later is not None:
            return Row(output, BEHIND, later)
        if self.is_plain or not self.avals[slot].shape or output in planner.parts:
            return Row(output, COPIED, slot)
        place = self._written(slot)
        if place is not None:
            return Row(output, MADE, place)
        if slot in planner.carries and slot not in planner.given:
            place = self._written(self.outputs[slot - planner.roles.consts])
            if place is not None:
                self.fixed.add(slot)
                return Row(output, SHIFTED, place)
        return Row(output, COPIED, slot)

    def _written(self, slot: int) -> int | None:
        """Let a step write a result into memory that it is given; return the slot of that."""
        step = self.maker.get(slot)
        if step is None or slot in self.taken or step.expression.shares or step.expression.foreign:
            return None
        place = len(self.avals)
        line, bound = step.expression, step.expression.bound
        region = bound[0] if bound and type(bound[0]) is Region else None
        if region is not None:
            number = step.targets.index(slot)
            if number >= len(region.arrays) or region.shape != self.avals[slot].shape:
                return None
            region.reuse[number] = len(step.operands)
            text = ", ".join([f"{{{i}}}" for i in range(len(step.operands) + 1)])
            step.expression = line._replace(template=f"{{p0}}({text})")
        else:
            into = writing_into(line) if len(step.targets) == 1 else None
            if into is None:
                return None
            step.expression = into
        step.operands = (*step.operands, place)
        self.avals.append(self.avals[slot])
        self.taken.add(slot)
        return place

    def _spare(self) -> dict[int, int]:
        """Return a slot of memory for each small array that a step could write."""
        spare = {}
        for step in self.steps:
            target = step.targets[0]
            if 0 < size_of(self.avals[target]) <= PAGES and writing_into(step.expression):
                spare[target] = len(self.avals)
                self.avals.append(self.avals[target])
        return spare


def _is_whole(memory: Memory, slot: int) -> bool:
    """Return True if a value is all of its memory, and no other code may hold that."""
    name = memory.name[slot]
    return name >= 0 and name not in memory.seen and memory.whole[name] == slot
