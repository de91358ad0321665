"""From a program to a plan: lines over registers, chosen once per structure.

The plan decides what is written for each instruction (`lowerings`), leaves broadcasts to the ufuncs
that read them, evaluates literals, reuses registers at last use, and finds out which results must
be copied because they may share memory. Read next: `_executor.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any

import numpy as np

from tenferro.backend.lowering import LoweringTable
from tenferro.computegraph import CompiledProgram
from tenferro.computegraph._gc import CollectorPaused
from tenferro.computegraph._records import NamedTuple
from tenferro.primitives import Aval
from tenferro.primitives.constants import Constant
from tenferro_numpy._blocked import Blocked
from tenferro_numpy._blocks import find_blocks
from tenferro_numpy._expression import IDENTITY, Expression
from tenferro_numpy._groups import least_elements
from tenferro_numpy._lines import Line, Plan, Result
from tenferro_numpy._peak import peak_of
from tenferro_numpy._places import placed
from tenferro_numpy._regions import fuse, share_equal
from tenferro_numpy._reuse import reuse, written_operand
from tenferro_numpy._steps import Step, in_order
from tenferro_numpy._tiling import Tiling
from tenferro_numpy._unboxing import as_arrays, unbox
from tenferro_numpy._windows import add_windows
from tenferro_numpy.lowerings import expression

__all__ = ["How", "make_plan"]

_MOSTLY = 1.25  # lines in all for each line on numbers, where a program is mostly made of them
_EFFECT = "std::debug_callback"
_LARGE = 1 << 16  # bytes of a literal above which it stays a view of one element


class How(NamedTuple):
    """What may be done with a program.

    elide     leave broadcasts unexpanded, and write into memory that nobody reads any more
    tiling    of large elementwise steps, which become regions; None for none
    blocks    run parts of it some rows at a time, as the tiling says
    donated   inputs that may be written to
    """

    elide: bool = True
    tiling: Tiling | None = None
    blocks: bool = False
    donated: tuple[int, ...] = ()


def make_plan(program: CompiledProgram, table: LoweringTable, how: How = How()) -> Plan:  # noqa: B008
    """The plan of a closed program.

    Raises MissingLoweringError: if the table lacks an operation of the program.
    """
    with CollectorPaused():
        if any(getattr(i.operation, "key", "") == _EFFECT for i in program.instructions):
            how = how._replace(tiling=None)  # effects, and what may raise, keep their order
        planner = _Planner(program, table, how)
        if how.blocks and how.tiling is not None:
            planner.find_blocks(how.tiling)
        planner.choose_expressions()
        if how.elide:
            planner.add_windows(inf if how.tiling is None else least_elements(how.tiling))
            planner.leave_broadcasts_to_readers()
        if how.tiling is not None:
            planner.fuse(how.tiling)
        planner.use_numbers()
        if how.elide:
            planner.reuse_memory()
        share_equal(planner.steps)
        return planner.finish()


class _Planner:
    def __init__(self, program: CompiledProgram, table: LoweringTable, how: How) -> None:
        self.program = program
        self.donated = how.donated
        self.avals: list[Aval] = list(program.avals)
        self.table = table
        self.origin = list(range(program.slot_count))  # a slot that is another one's value
        self.steps: list[Step] = []
        self.literals: dict[int, Any] = {}  # slot → operation
        self.readers: dict[int, list[Step]] = {}  # of slots that may stay unexpanded
        self.memo: dict[tuple[Any, ...], Expression] = {}
        self.numbers: set[int] = set()  # slots that hold Python's own numbers
        self.blocks: dict[int, Step] = {}  # position → the step of the block that it is in

    # ---- blocks of rows --------------------------------------------------------------------------

    def find_blocks(self, tiling: Tiling) -> None:
        """Steps for the parts of the program that run some rows at a time."""
        for block in find_blocks(self.program, tiling.cache):
            parts = {rows: block.program(self.program, rows) for rows in block.sizes}
            plans = {rows: make_plan(part, self.table) for rows, part in parts.items()}
            made = Blocked(block, plans, [self.avals[i] for i in block.stacked], tiling.threads)
            operands = (*block.by_rows, *block.whole)
            text = ", ".join([f"{{{i}}}" for i in range(len(operands))])
            line = Expression(f"{{p0}}({text})", (made,))
            step = Step(line, operands, (*block.stacked, *block.joined), tuple(block.members))
            self.blocks.update(dict.fromkeys(block.members, step))

    # ---- what each instruction becomes -----------------------------------------------------------

    def choose_expressions(self) -> None:
        origin, readers = self.origin, self.readers
        for position, instruction in enumerate(self.program.instructions):
            op, inputs, outputs = instruction[:3]
            block = self.blocks.get(position)
            if block is not None:
                if position == block.positions[-1]:
                    block.operands = tuple([origin[i] for i in block.operands])
                    self.add(block)
                continue
            if not inputs and op.literal:
                self.literals[outputs[0]] = op
                readers[outputs[0]] = []
                continue
            operands = tuple([origin[i] for i in inputs])
            chosen = self.expression_of(op, inputs, outputs)
            chosen, operands = placed(op, chosen, operands, self.literals, self.avals)
            if chosen is IDENTITY:
                origin[outputs[0]] = operands[0]
                continue
            self.add(Step(chosen, operands, outputs, (position,)))
            if chosen.unexpanded is not None:
                readers[outputs[0]] = []
        if self.blocks:
            self.steps = in_order(enumerate(self.steps))

    def add(self, step: Step) -> None:
        """Append a step, and note what it reads that may stay unexpanded."""
        self.steps.append(step)
        for slot in step.operands:
            if slot in self.readers:
                self.readers[slot].append(step)

    def expression_of(self, op: Any, inputs: Sequence[int], outputs: Sequence[int]) -> Expression:
        avals = tuple([self.avals[i] for i in inputs])
        found = self.memo.get((op, avals))
        if found is None:
            function = self.table.lookup(op, avals)
            found = expression(op, avals, self.avals[outputs[0]], function)
            self.memo[op, avals] = found
        return found

    # ---- windows ---------------------------------------------------------------------------------

    def add_windows(self, largest: float) -> None:
        """Add padded terms of sums to windows, below this many elements."""
        operations = [instruction[0] for instruction in self.program.instructions]
        outputs = [self.origin[slot] for slot in self.program.outputs]
        self.steps = add_windows(
            self.steps, self.avals, operations, self.literals, outputs, largest
        )
        self.origin += range(len(self.origin), len(self.avals))
        for readers in self.readers.values():
            readers.clear()
        for step in self.steps:
            for slot in step.operands:
                if slot in self.readers:
                    self.readers[slot].append(step)

    # ---- broadcasts ------------------------------------------------------------------------------

    def leave_broadcasts_to_readers(self) -> None:
        """Do not expand what is only read by elementwise lines that have a full operand anyway."""
        kept = {self.origin[slot] for slot in self.program.outputs}
        shrunk: set[int] = set()
        for slot, readers in self.readers.items():
            if slot in kept or not readers or not self.can_shrink(slot):
                continue
            if all(self.expands(step, slot, shrunk) for step in readers):
                shrunk.add(slot)
        self.apply(shrunk)

    def can_shrink(self, slot: int) -> bool:
        literal = self.literals.get(slot)
        return bool(self.avals[slot].shape) and (literal is None or type(literal) is Constant)

    def expands(self, step: Step, slot: int, shrunk: set[int]) -> bool:
        if not step.expression.broadcasts:
            return False
        shape = self.avals[slot].shape
        return any(
            other != slot and other not in shrunk and self.avals[other].shape == shape
            for other in step.operands
        )

    def apply(self, shrunk: set[int]) -> None:
        """Replace the chosen slots by what they are expanded from."""
        for slot in shrunk & self.literals.keys():
            constant = self.literals[slot]
            self.literals[slot] = Constant(constant.value, constant.dtype, ())
        origin = self.origin
        kept = []
        for step in self.steps:
            step.operands = tuple([origin[i] for i in step.operands])
            if step.targets[0] in shrunk:
                unexpanded = step.expression.unexpanded
                assert unexpanded is not None
                if unexpanded is IDENTITY:
                    origin[step.targets[0]] = step.operands[0]
                    continue
                step.expression = unexpanded
            kept.append(step)
        self.steps = kept
        self.origin = [origin[source] for source in origin]

    # ---- regions ---------------------------------------------------------------------------------

    def fuse(self, tiling: Tiling) -> None:
        """Run large elementwise steps tile by tile."""
        if max((aval.size for aval in self.avals), default=0) >= least_elements(tiling):
            kept = {self.origin[slot] for slot in self.program.outputs}
            self.steps = fuse(self.steps, self.avals, kept, tiling, self.literals)

    # ---- numbers ---------------------------------------------------------------------------------

    def use_numbers(self) -> None:
        """Run lines of rank 0 on Python's own numbers."""
        self.steps, self.numbers = unbox(self.steps, self.avals, self.literals)
        self.steps = as_arrays(self.steps, self.avals, self.literals)

    def raises(self) -> bool:
        """Whether the program may run fast lines, and again from its start where one raises."""
        on_numbers = sum(step.on_numbers for step in self.steps)
        return (
            not self.donated  # by then they may be written over
            and any(step.expression.safe is not None for step in self.steps)
            and not any(step.expression.foreign for step in self.steps)
            and len(self.steps) <= _MOSTLY * on_numbers
        )

    # ---- memory ----------------------------------------------------------------------------------

    def reuse_memory(self) -> None:
        """Write into arrays that are dead."""
        outputs = {self.origin[slot] for slot in self.program.outputs}
        reuse(self.steps, self.avals, outputs, self.donated)

    # ---- registers -------------------------------------------------------------------------------

    def finish(self) -> Plan:
        outputs = [self.origin[slot] for slot in self.program.outputs]
        values = _Literals(self.literals, self.avals, self.table)
        unboxed = self.unboxed_inputs()
        owner = self.owners()
        results = self.results(outputs, owner)
        lines, register_of, count = self.allocate(outputs, values)
        return Plan(
            input_count=len(self.program.inputs),
            register_count=count,
            unboxed=unboxed,
            literals=(),
            lines=tuple(lines),
            results=tuple(
                Result(
                    values.array(slot) if slot in self.literals else register_of[slot],
                    copied,
                    not self.avals[slot].shape,
                )
                for slot, copied in zip(outputs, results, strict=True)
            ),
            peak=peak_of(self.steps, self.avals, owner, outputs),
            raises=self.raises(),
            donated=self.donated,
        )._replace(literals=tuple(values.values))

    def unboxed_inputs(self) -> tuple[int, ...]:
        """Inputs of rank 0 that lines of rank 0 read: NumPy computes faster on its scalars."""
        scalars = {i for i in self.program.inputs if not self.avals[i].shape}
        if not scalars:
            return ()
        read = {
            slot
            for step in self.steps
            if not self.avals[step.targets[0]].shape and step.expression.broadcasts
            for slot in step.operands
        }
        return tuple(sorted(scalars & read))

    def results(self, outputs: Sequence[int], owner: Mapping[int, int]) -> list[bool]:
        """For each result: must it be copied, because somebody else may hold its memory?"""
        taken: set[int] = set()
        copied = []
        for slot in outputs:
            root = owner.get(slot)
            aval = self.avals[slot]
            own = (
                root is not None
                and root not in taken
                and self.avals[root].size == aval.size
                and self.avals[root].dtype is aval.dtype
            )
            if own and root is not None:
                taken.add(root)
            copied.append(not own)
        return copied

    def owners(self) -> dict[int, int]:
        """For each slot the one whose new memory it uses; absent: memory of inputs or literals."""
        owner: dict[int, int] = {}
        for step in self.steps:
            if not step.expression.shares:
                for number, slot in enumerate(step.targets):
                    source = written_operand(step, number)
                    owner[slot] = slot if source is None else owner.get(source, slot)
            elif len(step.operands) == len(step.targets) == 1 and step.operands[0] in owner:
                owner[step.targets[0]] = owner[step.operands[0]]
        return owner

    def allocate(
        self, outputs: Sequence[int], values: _Literals
    ) -> tuple[list[Line], dict[int, int], int]:
        """Lines over registers; a register is taken again after the last use of its value."""
        dying = self.last_uses(outputs)
        register_of = {i: i for i in self.program.inputs}
        free: list[int] = []
        count = len(register_of)
        lines = []
        numbers = self.numbers
        for step, last in zip(self.steps, dying, strict=True):
            if step.on_numbers:
                literal = values.number
            else:
                literal = values.array if self.avals[step.targets[0]].shape else values.scalar
            operands = []
            for slot in step.operands:
                if slot in self.literals:
                    operands.append(literal(slot))
                else:
                    operands.append(register_of[slot])
            released = [(register_of.pop(i), i in numbers) for i in last if i in register_of]
            targets = []
            for slot in step.targets:
                register = released.pop()[0] if released else free.pop() if free else count
                count += register == count
                targets.append(register)
                register_of[slot] = register
            released += [(register_of.pop(i), i in numbers) for i in last if i in register_of]
            free += [register for register, _ in released]
            lines.append(
                Line(
                    step.expression,
                    tuple(operands),
                    tuple(targets),
                    tuple([register for register, number in released if not number]),
                    tuple([register for register, number in released if number]),
                    step.positions,
                )
            )
        return lines, register_of, count

    def last_uses(self, outputs: Sequence[int]) -> list[list[int]]:
        """For each step the slots that nobody reads after it."""
        alive = set(outputs)
        dying = []
        for step in reversed(self.steps):
            last = []
            for slot in (*step.targets, *step.operands):
                if slot not in alive:
                    alive.add(slot)
                    if slot not in self.literals:
                        last.append(slot)
            dying.append(last)
        dying.reverse()
        return dying


class _Literals:
    """The values of literals, computed once, in the form that a line reads best."""

    def __init__(
        self, operations: dict[int, Any], avals: Sequence[Aval], table: LoweringTable
    ) -> None:
        self.operations = operations
        self.avals = avals
        self.table = table
        self.values: list[Any] = []
        self.known: dict[tuple[Any, str], int] = {}

    def array(self, slot: int) -> int:
        """The literal as an array that cannot be written to."""
        return self.index(self.operations[slot], "array")

    def scalar(self, slot: int) -> int:
        """The literal as a NumPy scalar."""
        return self.index(self.operations[slot], "scalar")

    def number(self, slot: int) -> int:
        """The literal as one of Python's numbers."""
        return self.index(self.operations[slot], "number")

    def index(self, op: Any, form: str) -> int:
        found = self.known.get((op, form))
        if found is None:
            found = self.known[op, form] = ~len(self.values)
            value = self.evaluate(op)
            self.values.append(
                value if form == "array" else value[()] if form == "scalar" else value.item()
            )
        return found

    def evaluate(self, op: Any) -> Any:
        function: Callable[..., Any] = self.table.lookup(op, ())
        if type(op) is Constant and op.shape:
            element = np.asarray(function(Constant(op.value, op.dtype, ())))
            value = np.broadcast_to(element, op.shape)
        else:
            value = np.asarray(function(op))
        if value.nbytes <= _LARGE:
            value = np.array(value)
        value = value.view()
        value.flags.writeable = False
        return value
