"""The executable of the NumPy backend: interpreted first, compiled when that pays.

It counts its runs, silences NumPy's warnings, and says which equation an error came from. Options:
`executor` is "auto" (the default), "source" or "interpret"; `debug` checks after every instruction
that it gave what its aval says. Read next: `backend.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from tenferro.backend import LoweringError
from tenferro.backend.base import Executable
from tenferro.backend.extend import KeptProgram
from tenferro.backend.lowering import key_of
from tenferro.computegraph import CompiledProgram, OperandError, check_operand_count
from tenferro.primitives import Aval
from tenferro_numpy.execution.interpreter import RUNS_BEFORE_SOURCE, PlanInterpreter
from tenferro_numpy.ir.expression import RAISED
from tenferro_numpy.ir.kept import Planned
from tenferro_numpy.ir.plan import Plan
from tenferro_numpy.machine.fp_errors import restore, silence

if TYPE_CHECKING:
    from tenferro.backend.timings import Timing, Timings
    from tenferro_numpy.backend import NumpyBackend
    from tenferro_numpy.draft import Draft
    from tenferro_numpy.execution.codegen import Generated

__all__ = ["NumpyExecutable"]

_RUNS_OF_PREPARED = 8  # of a program of jit before it is compiled; many never run so often
_LONGEST_PREPARED = 2_000  # new lines of such a program; longer ones run as often as all others
_NUMBERS: dict[type, Any] = {float: np.float64, bool: np.bool_}
_LONGEST_SOURCE = 20_000  # new lines; programs that have more stay interpreted
_LONGEST_WRITTEN = 500_000  # lines; in longer programs repeated lines are not counted


class NumpyExecutable(Executable):
    """A program, which runs a few times as it is, and then by a plan with two executors."""

    def __init__(
        self,
        backend: NumpyBackend,
        program: CompiledProgram | KeptProgram,
        draft: Draft | Planned,
        *,
        executor: str = "auto",
        debug: bool = False,
    ) -> None:
        self.backend = backend
        self._program = program
        self._draft = draft
        self._count = len(program.inputs)
        self._generated: Generated | None = None
        self._is_compiled = False
        self._source: Callable[..., tuple[Any, ...]]
        self._runs = 0
        self._is_prepared = False
        self._executor = "debug" if debug else executor
        runs: dict[str, Callable[..., tuple[Any, ...]]] = {
            "auto": self._counted,
            "interpret": self._interpreted,
            "source": self._compiled,
            "debug": self._checked,
        }
        self._run = runs[self._executor]

    @property
    def program(self) -> CompiledProgram:
        """The program; one that was kept on disk is read for reports and errors alone."""
        program = self._program
        if isinstance(program, KeptProgram):
            program = self._program = program.read()
        return program

    def kept(self) -> tuple[Callable[..., NumpyExecutable], tuple[Any, ...]]:
        """Return a function and its arguments that make this executable in another process."""
        program = self._program
        if not isinstance(program, KeptProgram):
            program = KeptProgram.of(program)
        return executable_of, (self.backend, program, self.plan, self._executor)

    @property
    def plan(self) -> Plan:
        """The plan; after a few runs, or when it is asked for, it is there."""
        return self._draft.plan

    @cached_property
    def _interpreter(self) -> PlanInterpreter:
        return PlanInterpreter(self.plan)

    def __call__(self, *operands: Any) -> tuple[Any, ...]:
        """Run the program; NumPy's floating-point warnings are silenced, results are new arrays."""
        if len(operands) != self._count:
            check_operand_count(self.program, operands)
        if self._draft.donated:
            donation = import_module("tenferro_numpy.execution.donation")
            operands = donation.given_up(operands, self._draft.donated)
        token = silence()
        try:
            return self._run(*operands)
        except Exception as error:
            self._annotate(error)
            raise
        finally:
            restore(token)

    def _counted(self, *operands: Any) -> tuple[Any, ...]:
        """Interpret, until the program has run so often that its source pays."""
        self._runs += 1
        if self._is_prepared and self._runs > _RUNS_OF_PREPARED:
            self._is_prepared = False
            if self._is_cheap(_LONGEST_PREPARED):
                return self._compiled(*operands)
        if self._runs <= RUNS_BEFORE_SOURCE:
            early = self._draft.early_run(operands, self._note)
            return self._interpreter(*operands) if early is None else early
        if self._is_cheap(_LONGEST_SOURCE):
            return self._compiled(*operands)
        return self._interpreted(*operands)

    def _interpreted(self, *operands: Any) -> tuple[Any, ...]:
        """Interpret, now and from now on."""
        self._run = self._interpreter
        return self._interpreter(*operands)

    def prepare(self) -> None:
        """Make the executor that the options ask for; by default a later run compiles."""
        if self._executor == "interpret":
            self._run = self._interpreter
        elif self._executor == "auto":
            self._is_prepared = True
        elif self._executor == "source" and not self._is_compiled:
            self._compile()

    def _is_cheap(self, most: int) -> bool:
        """Return True if at most ``most`` lines would be compiled; repeated lines count once."""
        count = len(self.plan.lines)
        return count <= most or (count <= _LONGEST_WRITTEN and self._written().new_lines <= most)

    def _written(self) -> Generated:
        return self._generated or self._write(fast=self.plan.raises)

    def _write(self, *, fast: bool) -> Generated:
        from tenferro_numpy.execution.codegen import generate  # noqa: PLC0415 - most programs run few times

        self._generated = generate(self.plan, fast=fast)
        return self._generated

    def _compiled(self, *operands: Any) -> tuple[Any, ...]:
        """Compile the source, and run that."""
        self._compile()
        return self._run(*operands)

    def _compile(self) -> None:
        """Compile the source, which runs from now on."""
        self._is_compiled = True
        self._source = self._written().compile()
        self._run = self._fast if self.plan.raises else self._source

    def _fast(self, *operands: Any) -> tuple[Any, ...]:
        """Run lines that may raise; if one does, run lines that do not, now and in later calls."""
        try:
            return self._source(*operands)
        except RAISED:
            self._run = run = self._write(fast=False).compile()
            return run(*operands)

    def _checked(self, *operands: Any) -> tuple[Any, ...]:
        program = self.program
        for name, operand, aval in zip(
            program.input_names, operands, program.input_avals, strict=True
        ):
            got = _mismatch(operand, aval)
            if got:
                message = f"numpy: input {name!r} is {got}, need {aval}"
                raise OperandError(message, input=name, got=got, need=str(aval))
        return self._interpreter.observed(operands, self._check_line)

    def _check_line(self, number: int, seconds: float, results: tuple[Any, ...]) -> None:
        """Raise LoweringError unless a line gave what the avals of its instruction say."""
        line = self.plan.lines[number]
        position = line.position
        if position is None or line.expression.elements:
            return
        operation, inputs, outputs = self.program.instructions[position][:3]
        for slot, result in zip(outputs, results, strict=True):
            got = _mismatch(result, self.program.avals[slot])
            if got:
                key, avals = key_of(operation), tuple(self.program.avals[i] for i in inputs)
                raise LoweringError(
                    f"the lowering of {key} for numpy gave {got}, need {self.program.avals[slot]}",
                    primitive=key,
                    backend=self.backend.name,
                    provider=self.backend.lowerings.provider_of(operation, avals),
                )

    # ---- errors ----------------------------------------------------------------------------------

    def _annotate(self, error: Exception) -> None:
        """Add the equation, the provider of its lowering and the user's line to an error."""
        interpreter = self.__dict__.get("_interpreter")  # none where an early run has failed
        position = interpreter and interpreter.position(error.__traceback__)
        if position is None and self._generated is not None:
            position = self._generated.position(error.__traceback__)
        if position is not None:
            self._note(error, position)

    def _note(self, error: Exception, position: int) -> None:
        for note in self.backend.notes(self.program, position):
            error.add_note(note)

    # ---- reports ---------------------------------------------------------------------------------

    def explain(self) -> str:
        """Return the generated source and the regions: what they compute, move and hold."""
        state = "compiled" if self._is_compiled else "interpreted so far"
        foreign = self.backend.lowerings.foreign_in(self.program)
        made: str = _report().report(self.program, self.plan, state, self._written().text, foreign)
        return made

    def cost(self) -> tuple[int, int]:
        """Estimate elementwise operations, and bytes that lines read and write (not views)."""
        found: tuple[int, int] = _report().cost_of(self.program, self.plan)
        return found

    def profile(self, *operands: Any) -> Timings:
        """Run once, interpreted, and time every line; donated inputs stay as they are."""
        from tenferro.backend.timings import Timings, timing_of  # noqa: PLC0415 - few are profiled

        check_operand_count(self.program, operands)
        kept = {i: np.array(operands[i]) for i in self.plan.donated}
        operands = tuple([kept.get(i, x) for i, x in enumerate(operands)])
        rows: list[Timing] = []

        def note(number: int, seconds: float, results: tuple[Any, ...]) -> None:
            positions = self.plan.lines[number].positions
            if positions:
                rows.append(timing_of(self.program, positions, seconds))

        token = silence()
        try:
            self._interpreter.observed(operands, note)
        except Exception as error:
            self._annotate(error)
            raise
        finally:
            restore(token)
        return Timings(rows)


def executable_of(
    backend: NumpyBackend, program: KeptProgram, plan: Plan, executor: str
) -> NumpyExecutable:
    """Make the executable of a plan that another process has made."""
    return NumpyExecutable(backend, program, Planned(plan), executor=executor)


def _report() -> Any:
    """Import the reports, which most processes never ask for."""
    return import_module("tenferro_numpy.report")


def _mismatch(value: Any, aval: Aval) -> str:
    """Describe a value that is not NumPy's own or not of this aval; empty if it is."""
    if type(value) in _NUMBERS:
        value = _NUMBERS[type(value)](value)
    if not isinstance(value, (np.ndarray, np.generic)):
        return type(value).__name__
    same = value.shape == aval.shape and value.dtype.name == aval.dtype.name
    return "" if same else f"{value.dtype}{list(value.shape)}"
