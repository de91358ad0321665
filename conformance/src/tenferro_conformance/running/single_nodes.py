"""Programs of one operation, each compiled once for all cases and laws of a session.

What a backend compiles to a long program, such as a series of hundreds of terms, is compiled here
once for each class of operands, instead of in the program of every law. Read next: ``session.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.backend import Backend, Executable
from tenferro.computegraph import CompiledProgram, ValueKey, derive, input_key
from tenferro.primitives import Aval

__all__ = ["SingleNodes"]


class SingleNodes:
    """Executes one operation at a time through the whole of the backend.

    program_of      materializes some values, see `Session.program_of`
    compile         compiles a program for the devices of the session
    """

    def __init__(
        self,
        backend: Backend,
        program_of: Callable[[Sequence[ValueKey], Sequence[ValueKey]], CompiledProgram],
        compile: Callable[[CompiledProgram], Executable],
    ) -> None:
        self._backend = backend
        self._program_of = program_of
        self._compile = compile
        self._compiled: dict[Any, Executable] = {}

    def __call__(self, operation: Any, operands: Sequence[Any]) -> list[Any]:
        """Run a program of one operation, whatever it could be simplified to."""
        backend = self._backend
        avals = tuple(backend.aval_of(x) for x in operands)
        key = (operation, avals)
        if key not in self._compiled:
            self._compiled[key] = self._compile(self._program(operation, avals))
        # By way of NumPy, so that operands that are split over devices are split as inputs are.
        arrays = [backend.to_numpy(x) for x in operands]
        given = [backend.asoperand(x, aval) for x, aval in zip(arrays, avals, strict=True)]
        return list(self._compiled[key](*given))

    def _program(self, operation: Any, avals: Sequence[Aval]) -> CompiledProgram:
        inputs = [input_key(("node", i), aval) for i, aval in enumerate(avals)]
        return self._program_of(inputs, derive(operation, inputs))
