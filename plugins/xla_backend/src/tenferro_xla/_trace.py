"""A segment as a function of jax arrays: what ``jax.jit`` traces, once.

Every value is compared with its aval while it is traced, so that a dtype that narrows is an error
here and costs nothing at run time; an error in a lowering is told its equation. Read next:
``_compile.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jax.numpy import stack

from tenferro.backend import LoweringError
from tenferro.backend.base import Backend
from tenferro.backend.extend import equation_notes, lowering_note
from tenferro.backend.lowering import check_result_count, key_of
from tenferro.computegraph import CompiledProgram, Instruction
from tenferro.primitives import Aval
from tenferro_xla._batches import one_by_one, stacks
from tenferro_xla._bodies import OwnOperation
from tenferro_xla._checks import failure_of
from tenferro_xla._operands import fits
from tenferro_xla._platform import traced_for
from tenferro_xla._segments import Segment
from tenferro_xla._signs import for_signs, nonnegative


class SegmentFunction:
    """Interprets the instructions of a segment over its slots."""

    __name__ = "tenferro"  # part of the names that XLA shows

    def __init__(
        self,
        backend: Backend,
        program: CompiledProgram,
        segment: Segment,
        platform: str,
        checked: Sequence[int] = (),
    ) -> None:
        self.backend = backend
        self._checked = checked
        self._platform = platform
        self._nonnegative = nonnegative(program)
        self._one_by_one = stacks(program, platform)
        self.program = program
        self.segment = segment

    def __call__(self, *operands: Any) -> tuple[Any, ...]:
        """Return the outputs of the segment; behind them which of the checked equations failed."""
        slots = dict(zip(self.segment.inputs, operands, strict=True))
        for slot, operand in slots.items():
            self._check_width(operand, self.program.avals[slot])
        with traced_for(self._platform):
            self._run(slots)
        found = [slots[slot] for slot, _ in self.segment.outputs]
        return (*found, self._failed(slots)) if self._checked else tuple(found)

    def _run(self, slots: dict[int, Any]) -> None:
        """Fill the slots of the results, one instruction after the other."""
        for position in self.segment.positions:
            instruction = self.program.instructions[position]
            try:
                self._step(instruction, slots, position in self._one_by_one)
            except Exception as error:
                self._annotate(error, position)
                raise

    def _failed(self, slots: dict[int, Any]) -> Any:
        """Return one bool for each checked equation."""
        found = []
        for position in self._checked:
            instruction = self.program.instructions[position]
            failure: Any = failure_of(self.program, instruction)
            operands = [slots[i] for i in instruction.inputs]
            results = [slots[i] for i in instruction.outputs]
            found.append(failure.happened(operands, results))
        return stack(found)

    def _step(self, instruction: Instruction, slots: dict[int, Any], in_turn: bool) -> None:
        operation, inputs, outputs, *_ = instruction
        if isinstance(operation, OwnOperation):
            function: Any = operation.lowered(self.backend.lowerings)
        else:
            function = self.backend.lowerings.lookup(operation, self._avals(instruction))
            function = for_signs(function, instruction, self._nonnegative)
        if in_turn:
            function = one_by_one(function)
        results = function(operation, *[slots[i] for i in inputs])
        if len(outputs) == 1:
            results = (results,)
        else:
            check_result_count(operation, results, self.backend.name, self._provider(instruction))
        for slot, result in zip(outputs, results, strict=True):
            self._check(result, self.program.avals[slot], instruction)
            slots[slot] = result

    def _avals(self, instruction: Instruction) -> list[Aval]:
        return [self.program.avals[i] for i in instruction.inputs]

    def _provider(self, instruction: Instruction) -> str:
        table = self.backend.lowerings
        known = table.provider_of(instruction.operation, self._avals(instruction))
        return known or self.backend.provider or "unknown"

    def _check(self, result: Any, aval: Aval, instruction: Instruction) -> None:
        """Refuse a result that is not of the aval that its operation promised."""
        if hasattr(result, "dtype") and fits(result, aval):
            return
        key, provider = key_of(instruction.operation), self._provider(instruction)
        got = getattr(result, "aval", None) or type(result).__name__
        raise LoweringError(
            f"the lowering of {key} for {self.backend.name} gave another kind of value\n"
            f"  got        {got}\n"
            f"  need       {aval}\n"
            f"  provider   {provider}",
            primitive=key,
            backend=self.backend.name,
            provider=provider,
            got=str(got),
            need=str(aval),
        )

    def _check_width(self, operand: Any, aval: Aval) -> None:
        """Guard the one thing that would narrow all numbers silently: a lost 64-bit context."""
        if not fits(operand, aval):
            raise LoweringError(
                f"xla: an input became {operand.aval}, need {aval}; "
                "this is a bug in tenferro-xla, please report",
                primitive="",
                backend=self.backend.name,
                provider=self.backend.provider,
            )

    def _annotate(self, error: Exception, position: int) -> None:
        """Say which equation failed, whose lowering it was, and which line recorded it."""
        instruction = self.program.instructions[position]
        executed = lowering_note(self.backend, instruction.operation, self._avals(instruction))
        for note in equation_notes(self.program, position, executed):
            error.add_note(note)
