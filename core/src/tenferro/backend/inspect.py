"""A backend under inspection: programs run instruction by instruction, and each result is seen.

Read next: ``select.py``, which says when.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro._runtime.frozen import replace
from tenferro._runtime.records import NamedTuple
from tenferro.backend.base import Backend, Executable, Options
from tenferro.computegraph import (
    CompiledProgram,
    Instruction,
    check_operand_count,
    compile_program,
    from_rows,
)
from tenferro.primitives._aval import Aval


class Seen(NamedTuple):
    """One equation that was run: operands and results as NumPy arrays are ``array(value)``."""

    program: CompiledProgram
    position: int
    operands: Sequence[Any]
    results: Sequence[Any]
    array: Callable[[Any], Any]

    @property
    def instruction(self) -> Instruction:
        """The equation."""
        return self.program.instructions[self.position]

    @property
    def avals(self) -> tuple[Aval, ...]:
        """Avals of the results."""
        return tuple([self.program.avals[i] for i in self.instruction.outputs])


Look = Callable[[Seen], None]


class InspectedBackend(Backend):
    """A backend that shows every equation to a function.

    One is made for each choice and equals no other, so no program is shared with other runs.
    """

    def __init__(self, backend: Backend, look: Look) -> None:
        self._backend = backend
        self._look = look
        self.name = backend.name
        self.info = backend.info
        own = {**backend.config.options, "passes": "none"}  # the user's own equations are seen
        self.config = replace(backend.config, options=own)
        self.provider = backend.provider
        self.lowerings = backend.lowerings
        self.operands_are_numpy = backend.operands_are_numpy

    def asoperand(self, value: Any, aval: Aval) -> Any:
        """Convert a value as the backend does."""
        return self._backend.asoperand(value, aval)

    def to_numpy(self, operand: Any) -> Any:
        """Convert an operand as the backend does."""
        return self._backend.to_numpy(operand)

    def aval_of(self, operand: Any) -> Aval:
        """Return the backend's aval of an operand."""
        return self._backend.aval_of(operand)

    def owns(self, value: Any) -> bool:
        """Return True if the backend owns the value."""
        return self._backend.owns(value)

    def compile(
        self, program: CompiledProgram, avals: Sequence[Aval], options: Options | None = None
    ) -> Executable:
        """Interpret, whatever the backend would do."""
        self._backend.check_options(options)
        return _Inspector(self._backend, program, self._look)


class _Inspector(Executable):
    """Runs a program equation by equation, each compiled by the backend as a program of its own."""

    def __init__(self, backend: Backend, program: CompiledProgram, look: Look) -> None:
        self._backend = backend
        self._program = program
        self._look = look
        self._compiled: dict[Any, Executable] = {}

    def __call__(self, *operands: Any) -> tuple[Any, ...]:
        """Run and show every equation."""
        program = self._program
        check_operand_count(program, operands)
        slots: list[Any] = [None] * program.slot_count
        slots[: len(operands)] = operands
        for position, instruction in enumerate(program.instructions):
            given = [slots[i] for i in instruction.inputs]
            results = self._equation(instruction)(*given)
            self._look(Seen(program, position, given, results, self._backend.to_numpy))
            for slot, result in zip(instruction.outputs, results, strict=True):
                slots[slot] = result
            for slot in instruction.frees:
                slots[slot] = None
        return self._backend.detach([slots[i] for i in program.outputs], operands)

    def _equation(self, instruction: Instruction) -> Executable:
        """Compile one equation as a program."""
        avals = self._program.avals
        inputs = tuple([avals[i] for i in instruction.inputs])
        outputs = tuple([avals[i] for i in instruction.outputs])
        name = instruction.operation, inputs
        found = self._compiled.get(name)
        if found is None:
            n, m = len(inputs), len(outputs)
            produced = tuple(range(n, n + m))
            row = instruction.operation, tuple(range(n)), produced, instruction.role, None
            graph = from_rows([(f"x{i}", a) for i, a in enumerate(inputs)], [row], produced,
                              (*inputs, *outputs))  # fmt: skip
            found = self._backend.compile(compile_program(graph), inputs)
            self._compiled[name] = found
        return found
