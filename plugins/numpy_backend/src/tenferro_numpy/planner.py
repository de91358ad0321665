"""From a program to a plan: lines over registers, chosen once per structure.

`planner_of` runs `PLAN_PASSES`, listed at the end of this file, in order: row blocks are found
in the program, `lowering` makes steps of it, and the others rewrite the steps. `assignment.py`
then chooses memory and registers; for a small program that waits until it has run a few times. Each
pass but the lowering can be switched off by the backend's option `without`; `explain` says which
ran. Loops among the instructions have plans of their own: `loops/`. Read next: `draft.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from importlib import import_module
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from tenferro.backend.extend import CollectorPaused, NamedTuple
from tenferro.backend.lowering import LoweringTable
from tenferro.computegraph import CompiledProgram
from tenferro.primitives import Aval, DType
from tenferro.primitives.constants import Constant
from tenferro.primitives.structural import Convert
from tenferro_numpy.ir.assembly import MAX_ELEMENTS_PUT_TOGETHER
from tenferro_numpy.ir.expression import IDENTITY, VIEW_BY_UNIT_AXES, Expression
from tenferro_numpy.ir.literals import Compared
from tenferro_numpy.ir.peak import total_bytes
from tenferro_numpy.ir.step import Step
from tenferro_numpy.lowerings import expression, is_own, own_expression
from tenferro_numpy.machine.allocator import PAGES, keep_freed_arrays
from tenferro_numpy.machine.tile_size import smallest_region
from tenferro_numpy.plan_options import PlanOptions
from tenferro_numpy.plan_passes.lazy_broadcasts import leave_to_readers
from tenferro_numpy.plan_passes.unboxing import as_arrays, unbox

if TYPE_CHECKING:
    from tenferro_numpy.plan_passes.finite_maxima import Exponentials
    from tenferro_numpy.plan_passes.short_arrays.ends import Ends
    from tenferro_numpy.plan_passes.short_arrays.rewriting import Split

__all__ = [
    "OTHER_SWITCHES",
    "PLAN_PASSES",
    "SWITCHES",
    "PlanPass",
    "Planner",
    "planner_of",
]

#: A program with fewer lines per line on Python's numbers is mostly made of such lines.
_MAX_LINES_PER_NUMBER_LINE = 1.25
_MAX_SPLIT = 16  # elements of an array that may be computed number by number
_MIN_SPLIT = 32  # instructions on such arrays that feed each other: few are not worth a look
_BOOL, _FLOAT = Aval((), DType.of("bool")), DType.of("float64")
_EFFECT = "std::debug_callback"
_UPDATES = frozenset(("std::dynamic_update_slice", "std::scatter", "std::scatter_add"))
_PARTS = ("std::slice", "std::dynamic_slice")
_INDEXED = frozenset(("std::gather", "std::scatter", "std::scatter_add"))
_TABLES = frozenset(("std::gather", "std::table"))
_SHARES = frozenset(("std::clamp", "std::exp", "std::lt", "std::reduce_max"))
_ROWS = frozenset(("std::reshape", "std::slice"))
_COUNTED = frozenset(("std::convert", "std::reduce_sum"))
_GUARDED = frozenset(("std::broadcast_in_dim", "std::logical_and", "std::select"))
_FILTERS = frozenset(("std::irfft", "std::mul", "std::rfft"))
_PASSES = "tenferro_numpy.plan_passes"
#: by primitive, what writes expressions that do less work where operands are literals
_BY_LITERALS = {
    "std::clamp": ("tenferro_numpy.lowerings.arithmetic", "clamp_between"),
    "std::complex": ("tenferro_numpy.lowerings.complex", "without_imaginary_part"),
    "std::scatter_add": (f"{_PASSES}.constant_scatter", "placed"),
    "std::select": ("tenferro_numpy.lowerings.selection", "select_with_zero"),
}


def planner_of(
    program: CompiledProgram,
    table: LoweringTable,
    how: PlanOptions,
    kind: Callable[[CompiledProgram, LoweringTable, PlanOptions], Planner] | None = None,
) -> Planner:
    """Make the steps of a closed program; only the memory of results is left undecided.

    Raises MissingLoweringError: if the table lacks an operation of the program.
    """
    with CollectorPaused():
        if any([getattr(row[0], "key", "") == _EFFECT for row in program.nodes]):
            how = how._replace(tiling=None)  # effects, and what may raise, keep their order
        planner = (kind or Planner)(program, table, how)
        if 8 * planner.largest >= PAGES:
            keep_freed_arrays()
        for plan_pass in PLAN_PASSES:
            planner.run(plan_pass)
        return planner


def _read_instead(inputs: tuple[int, ...], moved: Mapping[int, int]) -> tuple[int, ...]:
    """Return the slots to read, where some are the value of another one."""
    if moved.keys().isdisjoint(inputs):
        return inputs
    return tuple([moved.get(i, i) for i in inputs])


def _may_be_split(aval: Aval) -> bool:
    return aval.dtype is _FLOAT and bool(aval.shape) and 0 < aval.size <= _MAX_SPLIT


class Planner:
    """A program while it becomes a plan."""

    def __init__(self, program: CompiledProgram, table: LoweringTable, how: PlanOptions) -> None:
        self.program = program
        self.operations = [*map(itemgetter(0), program.nodes)]  # by position
        self.distinct = set(self.operations)
        #: their classes by key: a pass whose primitives are not among them does not load
        self.classes = {getattr(cls, "key", ""): cls for cls in set(map(type, self.distinct))}
        self.how = how
        self.donated = how.donated
        self.avals: list[Aval] = list(program.avals)
        self.largest = max([aval.size for aval in set(self.avals)], default=0)
        self.table = table
        self.outputs: Sequence[int] = program.outputs
        self.steps: list[Step] = []
        self.literals: dict[int, Any] = {}  # slot → operation
        self.memo: dict[tuple[Any, ...], Expression] = {}
        self.has_regions = False
        self.numbers: set[int] = set()  # slots that hold Python's own numbers
        self.moved: dict[int, int] = {}  # slots that are another one's value
        self.blocks: dict[int, Step] = {}  # position → the step of its row block
        self.passes: list[tuple[str, int]] = []  # names of passes that ran, steps after each

    def run(self, plan_pass: PlanPass) -> None:
        """Run a pass, unless the options leave it out."""
        if plan_pass.name in self.how.without:
            return
        getattr(self, plan_pass.method)()
        self.passes.append((plan_pass.name, len(self.steps)))

    # ---- row blocks ------------------------------------------------------------------------------

    def find_row_blocks(self) -> None:
        """Make a step for each row block of the program."""
        tiling = self.how.tiling
        if tiling is None or total_bytes(self.avals) <= tiling.cache:
            return
        find = import_module("tenferro.backend.row_blocks").find_row_blocks
        make_plan = import_module("tenferro_numpy.assignment").make_plan
        part_how = PlanOptions(without=self.how.without)
        for block in find(self.program, tiling.cache, tile=tiling.tiles_of_blocks * tiling.bytes):
            kind = import_module("tenferro_numpy.row_blocks").RowBlockLoop
            parts = {rows: block.program(self.program, rows) for rows in block.sizes}
            plans = {rows: make_plan(part, self.table, part_how) for rows, part in parts.items()}
            stacked = [self.avals[i] for i in block.stacked]
            joined = [self.avals[i] for i in block.joined]
            made = kind(block, plans, stacked, joined, tiling.threads)
            operands = (*block.by_rows, *block.whole)
            text = ", ".join([f"{{{i}}}" for i in range(len(operands))])
            line = Expression(f"{{p0}}({text})", (made,))
            step = Step(line, operands, (*block.stacked, *block.joined), tuple(block.members))
            self.blocks.update(dict.fromkeys(block.members, step))

    # ---- what each instruction becomes -----------------------------------------------------------

    def choose_expressions(self) -> None:
        """Write an expression for each instruction, and find literals."""
        avals, memo, blocks, steps = self.avals, self.memo, self.blocks, self.steps
        by_literals = self.written_by_literals()
        aval_of = avals.__getitem__
        moved = self.moved
        for position, row in self.rows():
            if position in blocks:
                self.add_block(blocks[position], position, moved)
                continue
            op, inputs, outputs = row[:3]
            if not inputs and op.literal:
                self.literals[outputs[0]] = op
                continue
            key = op, *map(aval_of, inputs)
            chosen = memo.get(key)
            if chosen is None:
                operand_avals = tuple(map(aval_of, inputs))
                chosen = memo[key] = self.expression_of(op, operand_avals, avals[outputs[0]])
            operands = _read_instead(inputs, moved) if moved else inputs
            if type(op) in by_literals:
                less = by_literals[type(op)]
                chosen, operands = less(op, chosen, operands, self.literals, avals)
            if chosen is IDENTITY:
                moved[outputs[0]] = operands[0]
            else:
                steps.append(Step(chosen, operands, outputs, (position,)))
        if blocks:
            self.steps = import_module("tenferro.backend.regions").in_order(enumerate(steps))
        self.outputs = [moved.get(i, i) for i in self.program.outputs]

    def written_by_literals(self) -> dict[type, Any]:
        """Return the functions of `_BY_LITERALS` for the classes of the program's operations."""
        if "constant_operands" in self.how.without:
            return {}
        found = {cls: _BY_LITERALS[key] for key, cls in self.classes.items() if key in _BY_LITERALS}
        return {cls: getattr(import_module(name), made) for cls, (name, made) in found.items()}

    def rows(self) -> Iterable[tuple[int, Any]]:
        """Return the instructions, numbered; branches are chosen by a bool itself."""
        nodes = self.program.nodes
        if not any([hasattr(op, "branches") for op in self.distinct]):
            return enumerate(nodes)
        bools = {
            row[2][0]: row[1][0]
            for row in nodes
            if type(row[0]) is Convert and self.avals[row[1][0]] is _BOOL
        }
        found = [
            row._replace(inputs=(bools.get(row[1][0], row[1][0]), *row[1][1:]))
            if hasattr(row[0], "branches")
            else row
            for row in nodes
        ]
        read = {*self.program.outputs, *[slot for row in found for slot in row[1]]}
        unread = bools.keys() - read
        return [(i, row) for i, row in enumerate(found) if row[2][0] not in unread]

    def add_block(self, block: Step, position: int, moved: Mapping[int, int]) -> None:
        """Append the step of a row block, where its last instruction stands."""
        if position == block.positions[-1]:
            block.operands = tuple([moved.get(i, i) for i in block.operands])
            self.steps.append(block)

    def expression_of(self, op: Any, avals: tuple[Aval, ...], result: Aval) -> Expression:
        """Choose the line of an instruction."""
        own = own_expression(op, avals, result, self.table.promise(op, avals))
        if own is not None:
            return own
        function = self.table.lookup(op, avals)
        if hasattr(op, "bodies") and is_own(op, function):
            loops = import_module("tenferro_numpy.loops.run")
            made: Expression = loops.loop_expression(op, avals, self.table, self.how)
            return made
        return expression(op, avals, result, function)

    def steps_of(self, *keys: str) -> list[Step]:
        """Return the steps of these primitives that a pass may rewrite."""
        if self.classes.keys().isdisjoint(keys):
            return []
        operations = self.operations
        return [x for x in self.steps if getattr(x.operation_of(operations), "key", "") in keys]

    def operands_of(self, step: Step) -> tuple[int, ...]:
        """Return the slots that the instruction of a step reads; its line may read fewer."""
        return _read_instead(self.program.nodes[step.positions[0]].inputs, self.moved)

    # ---- masks -----------------------------------------------------------------------------------

    def fold_constant_masks(self) -> None:
        """Evaluate comparisons of literals once, at plan time; do not fold further."""
        literals = self.literals
        if all([type(op) is Constant for op in literals.values()]):
            return
        kept, before = [], len(literals)
        for step in self.steps:
            aval = self.avals[step.targets[0]]
            is_mask = step.expression.broadcasts and aval.dtype.is_bool and aval.shape
            found = [literals.get(i) for i in step.operands]
            if is_mask and not any([x is None or type(x) is Compared for x in found]):
                op = self.program.nodes[step.positions[0]].operation
                avals = tuple([self.avals[i] for i in step.operands])
                literals[step.targets[0]] = Compared(op, tuple(found), avals)
            else:
                kept.append(step)
        self.steps = kept
        if "std::select" in self.classes and len(literals) > before:
            value_of = import_module("tenferro_numpy.ir.literals").Literals({}, self.table).evaluate
            select = import_module(f"{_PASSES}.literal_masks").select_by_bits
            select(kept, self.avals, self.operations, literals, self.operands_of, value_of)

    def count_masks(self) -> None:
        """Count the true elements of a mask instead of summing them as numbers."""
        if not _COUNTED <= self.classes.keys():
            return
        candidates, avals = self.steps_of(*_COUNTED, "std::logical_not"), self.avals
        of_masks = [x.targets[0] for x in candidates if avals[x.operands[0]].dtype.is_bool]
        numbers = {slot for slot in of_masks if not avals[slot].dtype.is_bool}
        if not numbers.isdisjoint([step.operands[0] for step in candidates]):
            given = avals, self.operations, self.outputs, self.region
            count = import_module(f"{_PASSES}.mask_counts").count_masks
            self.steps = count(self.steps, candidates, *given)

    def guard_masks(self) -> None:
        """Compute a mask only where the number that it is combined with is True."""
        if _GUARDED <= self.classes.keys():
            given = self.avals, self.operations, self.literals, self.outputs, self.region
            guard_masks = import_module(f"{_PASSES}.number_guards").guard_masks
            self.steps = guard_masks(self.steps, *given)

    # ---- windows and broadcasts ------------------------------------------------------------------

    def add_padded_sums(self) -> None:
        """Add padded terms of sums to windows."""
        if "std::pad" not in self.classes:
            return
        add_windows = import_module(f"{_PASSES}.padded_sums").add_windows
        self.steps = add_windows(
            self.steps, self.avals, self.operations, self.literals, self.outputs
        )

    def assemble_gathers(self) -> None:
        """Put slices together instead of gathering at places that the program spells out."""
        if not _TABLES <= self.classes.keys():
            return
        assemble = import_module(f"{_PASSES}.constant_gather").assemble
        self.steps = assemble(self.steps, self.avals, self.operations, self.literals, self.outputs)

    def keep_columns_separate(self) -> None:
        """Do not join index vectors whose columns their readers take one by one."""
        if "std::concatenate" in self.classes and not _INDEXED.isdisjoint(self.classes):
            keep_separate = import_module(f"{_PASSES}.index_columns").keep_columns_separate
            self.steps = keep_separate(self.steps, self.avals, self.operations, self.outputs)

    def read_index_arrays(self) -> None:
        """Look at each index array once instead of computing and checking its places."""
        if not _INDEXED.isdisjoint(self.classes):
            given = self.avals, self.operations, self.literals, self.outputs
            read = import_module(f"{_PASSES}.index_arrays").read_index_arrays
            self.steps = read(self.steps, *given)

    def read_parts_early(self) -> None:
        """Read parts of arrays before steps that may then update these arrays in place."""
        if MEMORY_REUSE in self.how.without or _UPDATES.isdisjoint(self.classes):
            return
        kept = {*self.program.inputs, *self.outputs, *self.literals}.difference(self.donated)
        updates = [step for step in self.steps if step.expression.update is not None]
        updated = {step.operands[0] for step in updates}.difference(kept)
        parts = [step for step in self.steps_of(*_PARTS) if step.operands[0] in updated]
        if parts:
            read_early = import_module(f"{_PASSES}.early_reads").read_parts_early
            self.steps = read_early(self.steps, self.avals, self.operations, kept)

    def keep_terms(self) -> None:
        """Clamp terms of sums of exponentials only where a maximum is infinite."""
        if self.classes.keys() >= _SHARES:
            given = self.avals, self.operations, self.literals, self.outputs, self.region
            keep_terms = import_module(f"{_PASSES}.finite_maxima").keep_terms
            self.steps = keep_terms(self.steps, *given)

    def exponentials(self) -> Exponentials | None:
        """Return the steps as those of shares of exponentials; `None` if it has none."""
        if not self.classes.keys() >= _SHARES:
            return None
        found: Exponentials = import_module(f"{_PASSES}.finite_maxima").Exponentials(
            self.steps, self.avals, self.operations, self.literals
        )
        return found

    def multiply_by_circulants(self) -> None:
        """Multiply short signals by matrices instead of filtering their spectra."""
        if self.classes.keys() >= _FILTERS:
            given = self.avals, self.operations, self.outputs, self.staying
            multiply = import_module(f"{_PASSES}.circulants").multiply_by_circulants
            self.steps = multiply(self.steps, *given)

    def leave_broadcasts_to_readers(self) -> None:
        """Do not expand what is only read by elementwise lines that have a full operand anyway."""
        given = self.avals, self.literals, self.outputs, self.region
        self.steps = leave_to_readers(self.steps, *given)

    @property
    def region(self) -> float:
        """The number of elements from which arrays may be computed tile by tile."""
        tiling = self.how.tiling
        return float("inf") if tiling is None else smallest_region(tiling)

    def copy_short_axes(self) -> None:
        """Copy transposed arrays with a short axis where elementwise lines read them."""
        if "std::transpose" in self.classes:
            copy_short_axes = import_module(f"{_PASSES}.row_major").copy_short_axes
            copy_short_axes(self.steps, self.avals, self.operations)

    def share_operands(self) -> None:
        """Make matrices of arrays once for all products that read them."""
        if "std::dot_general" not in self.classes:
            return
        nodes = self.program.nodes
        found = [row for row in nodes if getattr(row[0], "key", "") == "std::dot_general"]
        many = len(found) > 1 or self.staying
        if many and any([self.avals[i].ndim > 2 for row in found for i in row[1]]):
            given = self.operations, self.outputs, self.staying
            share = import_module(f"{_PASSES}.contraction_operands").share_operands
            self.steps = share(self.steps, self.avals, *given)

    @property
    def staying(self) -> Collection[int]:
        """The slots of arrays that are the same in all steps of a loop."""
        return ()

    # ---- regions ---------------------------------------------------------------------------------

    def fuse(self) -> None:
        """Run large elementwise steps tile by tile."""
        tiling = self.how.tiling
        if tiling is not None and self.largest >= smallest_region(tiling):
            self.has_regions = True
            fuse = import_module(f"{_PASSES}.fusion.choice").fuse
            self.steps = fuse(self.steps, self.avals, set(self.outputs), tiling, self.literals)

    # ---- numbers ---------------------------------------------------------------------------------

    def split_short_arrays(self) -> None:
        """Compute arrays of a few numbers number by number, where that is faster."""
        self.split(_MIN_SPLIT)

    def split(self, fewest: int, *ends: Ends) -> Split | None:
        """Compute short arrays number by number, if there are `fewest`; return what became of them.

        The body of a loop says where it begins and ends.
        """
        if "unboxing" in self.how.without:  # which converts numbers for lines on arrays
            return None
        short = {aval for aval in set(self.avals) if _may_be_split(aval)}
        if sum([aval in short for aval in self.avals]) < fewest:
            return None
        by_numbers = import_module(f"{_PASSES}.short_arrays.rewriting").by_numbers
        found: Split = by_numbers(self, fewest, *ends)
        self.steps, self.outputs, self.numbers = found.steps, found.outputs, found.numbers
        return found

    def pick_elements(self) -> None:
        """Read single elements, and put arrays together of them, in one step each."""
        moves = self.steps_of("std::reshape", "std::concatenate")
        if all([self.avals[x.targets[0]].size > MAX_ELEMENTS_PUT_TOGETHER for x in moves]):
            return
        given = self.avals, self.operations, self.literals, self.outputs
        pick_and_put = import_module(f"{_PASSES}.elements").pick_and_put
        self.steps = pick_and_put(self.steps, *given)

    def join_indices(self) -> None:
        """Take a row of an array by one index."""
        if _ROWS <= self.classes.keys() and any(
            [step.expression.template == VIEW_BY_UNIT_AXES for step in self.steps]
        ):
            join_indices = import_module(f"{_PASSES}.slice_indices").join_indices
            self.steps = join_indices(self.steps, self.operations, self.outputs)

    def unbox(self) -> None:
        """Run lines of rank 0 on Python's own numbers."""
        given = self.avals, self.literals, self.numbers
        self.steps, self.numbers = unbox(self.steps, *given)

    def convert_scalars(self) -> None:
        """Convert a scalar to an array once, if several lines combine it with arrays."""
        self.steps = as_arrays(self.steps, self.avals, self.literals)

    def raises(self) -> bool:
        """Return True if lines run in their fast form first.

        If one raises an error, the program runs again from the start in its safe form.
        """
        on_numbers = sum(step.on_numbers for step in self.steps)
        return (
            bool(self.numbers)
            and not self.donated  # by then they may be written over
            and any(step.expression.safe is not None for step in self.steps)
            and not any(step.expression.foreign for step in self.steps)
            and len(self.steps) <= _MAX_LINES_PER_NUMBER_LINE * on_numbers
        )

    # ---- memory and registers --------------------------------------------------------------------

    def unboxed_inputs(self) -> tuple[int, ...]:
        """Return the inputs of rank 0 to unbox: NumPy computes faster on its scalars."""
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


class PlanPass(NamedTuple):
    """A rewrite of a planner's steps; but for the lowering, results are the same without it."""

    name: str
    method: str  # of the planner; that of a loop has some of its own


LOWERING = "lowering"
PLAN_PASSES = (
    PlanPass("row_blocks", "find_row_blocks"),
    PlanPass(LOWERING, "choose_expressions"),
    PlanPass("constant_masks", "fold_constant_masks"),
    PlanPass("short_arrays", "split_short_arrays"),
    PlanPass("mask_counts", "count_masks"),
    PlanPass("number_guards", "guard_masks"),
    PlanPass("padded_sums", "add_padded_sums"),
    PlanPass("constant_gathers", "assemble_gathers"),
    PlanPass("index_columns", "keep_columns_separate"),
    PlanPass("index_arrays", "read_index_arrays"),
    PlanPass("early_reads", "read_parts_early"),
    PlanPass("finite_maxima", "keep_terms"),
    PlanPass("circulants", "multiply_by_circulants"),
    PlanPass("lazy_broadcasts", "leave_broadcasts_to_readers"),
    PlanPass("row_major", "copy_short_axes"),
    PlanPass("contraction_operands", "share_operands"),
    PlanPass("fusion", "fuse"),
    PlanPass("elements", "pick_elements"),
    PlanPass("slice_indices", "join_indices"),
    PlanPass("unboxing", "unbox"),
    PlanPass("scalar_arrays", "convert_scalars"),
)
MEMORY_REUSE = "memory_reuse"
#: switches of parts of passes and of what runs after them, and what each switches off
OTHER_SWITCHES = {
    "constant_operands": "Write shorter scatters and selections where operands are literals.",
    MEMORY_REUSE: "Write results into arrays that nothing reads any more.",
}
#: names that the option `without` of the backend takes
SWITCHES = (
    *[plan_pass.name for plan_pass in PLAN_PASSES if plan_pass.name != LOWERING],
    *OTHER_SWITCHES,
)
