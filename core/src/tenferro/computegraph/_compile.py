"""A materialized graph becomes a program: instructions over slots, each written once.

Every instruction lists the slots that are not read after it, so an executor can free operands at
their last use. Passes, if given, rewrite the graph first. Read next: ``_evaluate.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tenferro._runtime.collector import CollectorPaused
from tenferro._runtime.records import NamedTuple
from tenferro.computegraph._errors import OperandError
from tenferro.computegraph._materialize import MaterializedGraph, MaterializedNode
from tenferro.computegraph._operation import Operation
from tenferro.computegraph._roles import OperationRole
from tenferro.computegraph._signature import Structure
from tenferro.computegraph._text import equation_text, graph_text

Pass = Callable[[MaterializedGraph], MaterializedGraph]


class Instruction(NamedTuple):
    """Apply an operation to slots, write new slots, then free those that are not read again."""

    operation: Operation
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    frees: tuple[int, ...]
    role: OperationRole
    source: Any


new_instruction: Callable[[tuple[Any, ...]], Instruction] = partial(tuple.__new__, Instruction)


class CompiledProgram:
    """An immutable program; slots 0…n-1 are the inputs, and every slot is written once.

    ``nodes`` are its instructions for readers that do not ask which slots are dead.
    """

    __slots__ = (
        "_instructions", "avals", "input_names", "inputs", "nodes", "outputs", "structure",
    )  # fmt: skip

    def __init__(
        self,
        input_names: Sequence[str],
        nodes: Sequence[MaterializedNode],
        outputs: Sequence[int],
        avals: Sequence[Any],
        structure: Structure,
    ) -> None:
        self.input_names = tuple(input_names)
        self.inputs = tuple(range(len(self.input_names)))
        self.nodes = tuple(nodes)
        self.outputs = tuple(outputs)
        self.avals = tuple(avals)
        self.structure = structure
        self._instructions: tuple[Instruction, ...] | None = None

    @property
    def instructions(self) -> tuple[Instruction, ...]:
        """The instructions in their order, each with the slots that are dead after it."""
        found = self._instructions
        if found is None:  # backends that compile whole programs never ask
            with CollectorPaused():
                found = self._instructions = tuple(schedule(self.nodes, self.outputs))
        return found

    @property
    def slot_count(self) -> int:
        """Number of slots."""
        return len(self.avals)

    @property
    def input_avals(self) -> tuple[Any, ...]:
        """Abstract values of the inputs."""
        return self.avals[: len(self.inputs)]

    @property
    def output_avals(self) -> tuple[Any, ...]:
        """Abstract values of the outputs."""
        return tuple(self.avals[i] for i in self.outputs)

    def equation(self, position: int) -> str:
        """Return the text of one instruction, for messages."""
        instruction = self.nodes[position]
        return equation_text(
            [f"%{i}" for i in instruction.outputs],
            instruction.operation,
            [f"%{i}" for i in instruction.inputs],
            [self.avals[i] for i in instruction.outputs],
            instruction.role,
        ).strip()

    def __len__(self) -> int:
        return len(self.nodes)

    def __str__(self) -> str:
        inputs = list(zip(self.input_names, self.avals, strict=False))
        lines = [f"  {self.equation(i)}" for i in range(len(self.nodes))]
        return graph_text("program", inputs, lines, [f"%{i}" for i in self.outputs])

    def __repr__(self) -> str:
        return f"<CompiledProgram of {len(self.nodes)} instructions>"

    def __reduce__(self) -> tuple[object, ...]:
        rows = [(i.operation, i.inputs, i.outputs, i.role, None) for i in self.nodes]
        return program_from_rows, (self.input_names, rows, self.outputs, self.avals)


def check_operand_count(program: CompiledProgram, operands: Sequence[Any]) -> None:
    """Raise OperandError unless there is one operand for each input."""
    names, got, need = program.input_names, len(operands), len(program.inputs)
    if got < need:
        name = names[got]
        raise OperandError(
            f"no operand for input {name!r}: got {got}, need {need}", input=name, got=got, need=need
        )
    if got > need:
        last = names[-1] if names else None
        raise OperandError(
            f"{got - need} operands too many after the last input {last!r}: got {got}, need {need}",
            input=last,
            got=got,
            need=need,
        )


def compile_program(graph: MaterializedGraph, passes: Sequence[Pass] = ()) -> CompiledProgram:
    """Turn a materialized graph into a program, after rewriting it by the passes in order."""
    for rewrite in passes:
        graph = rewrite(graph)
    return CompiledProgram(
        graph.input_names, graph.nodes, graph.outputs, graph.avals, graph.structure
    )


def schedule(nodes: Sequence[MaterializedNode], outputs: Sequence[int]) -> list[Instruction]:
    """Return the nodes in their order, each with the slots that are dead after it."""
    alive = set(outputs)
    instructions = []
    for operation, inputs, produced, role, source in reversed(nodes):
        frees = [i for i in produced if i not in alive]
        for i in inputs:
            if i not in alive:
                alive.add(i)
                frees.append(i)
        new = (operation, inputs, produced, tuple(frees), role, source)
        instructions.append(new_instruction(new))
    instructions.reverse()
    return instructions


def program_from_rows(
    names: Sequence[str],
    rows: Sequence[tuple[Any, ...]],
    outputs: Sequence[int],
    avals: Sequence[Any],
) -> CompiledProgram:
    """Assemble a program from rows with the fields of ``MaterializedNode``."""
    nodes = [MaterializedNode(*row) for row in rows]
    return CompiledProgram(names, nodes, outputs, avals, Structure(len(names), nodes, outputs))
