"""The interpreter that every backend inherits: one call of a lowering per instruction.

It loads with the first backend that compiles no better than this. Read next: ``algebra.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.backend._notes import equation_notes, loop_hint, lowering_note
from tenferro.backend.base import Backend, Executable
from tenferro.backend.lowering import Implementation, check_result_count
from tenferro.backend.timings import Timings, timing_of
from tenferro.computegraph import CompiledProgram, Operation, check_operand_count


class _Step(NamedTuple):
    function: Implementation
    operation: Operation
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    frees: tuple[int, ...]


class Interpreter(Executable):
    """Runs a closed program by calling one lowering per instruction; literals run once, here."""

    def __init__(self, backend: Backend, program: CompiledProgram) -> None:
        self.backend = backend
        self.program = program
        self._steps: list[_Step] = []
        self._positions: list[int] = []
        self._slots: list[Any] = [None] * program.slot_count
        for position, (operation, inputs, outputs, frees, *_) in enumerate(program.instructions):
            function = backend.lowerings.lookup(operation, self._avals(inputs))
            step = _Step(function, operation, inputs, outputs, frees)
            if operation.literal and not inputs:
                self._run(self._slots, step._replace(frees=()), position)
            else:
                self._steps.append(step)
                self._positions.append(position)

    def _avals(self, slots: Sequence[int]) -> tuple[Any, ...]:
        return tuple([self.program.avals[i] for i in slots])

    def __call__(self, *operands: Any) -> tuple[Any, ...]:
        """Run the instructions in order, freeing each value after its last use."""
        slots = self._begin(operands)
        for step, position in zip(self._steps, self._positions, strict=True):
            self._run(slots, step, position)
        return self.backend.detach([slots[i] for i in self.program.outputs], operands)

    def _begin(self, operands: Sequence[Any]) -> list[Any]:
        check_operand_count(self.program, operands)
        slots = self._slots.copy()
        slots[: len(operands)] = operands
        return slots

    def _run(self, slots: list[Any], step: _Step, position: int) -> None:
        function, operation, inputs, outputs, frees = step
        try:
            result = function(operation, *[slots[i] for i in inputs])
            if len(outputs) == 1:
                slots[outputs[0]] = result
            else:
                self._store(slots, step, result)
        except Exception as error:
            self._annotate(error, position)
            raise
        for slot in frees:
            slots[slot] = None

    def _store(self, slots: list[Any], step: _Step, results: Any) -> None:
        provider = self._provider(step.operation, step.inputs)
        check_result_count(step.operation, results, self.backend.name, provider)
        for slot, result in zip(step.outputs, results, strict=True):
            slots[slot] = result

    def _provider(self, operation: Operation, inputs: Sequence[int]) -> str:
        return self.backend.lowerings.provider_of(operation, self._avals(inputs))

    def _annotate(self, error: Exception, position: int) -> None:
        """Say which equation failed, who wrote its lowering, and which line recorded it."""
        operation, inputs = self.program.nodes[position][:2]
        executed = lowering_note(self.backend, operation, self._avals(inputs))
        for note in equation_notes(self.program, position, executed) + loop_hint(operation):
            error.add_note(note)

    def explain(self) -> str:
        """Return the program as text, each line with the provider of its lowering."""
        lines = [f"{self.backend.name}: interpreted, one call per line"]
        for position, instruction in enumerate(self.program.instructions):
            provider = self._provider(instruction.operation, instruction.inputs) or "host callback"
            lines.append(f"  {self.program.equation(position):<60} # {provider}")
        outputs = ", ".join(f"%{i}" for i in self.program.outputs)
        return "\n".join([*lines, f"  return {outputs}"])

    def profile(self, *operands: Any) -> Timings:
        """Run once and time every equation."""
        slots = self._begin(operands)
        rows = []
        for step, position in zip(self._steps, self._positions, strict=True):
            start = perf_counter()
            self._run(slots, step, position)
            self.backend.synchronize()
            rows.append(timing_of(self.program, (position,), perf_counter() - start))
        return Timings(rows)
