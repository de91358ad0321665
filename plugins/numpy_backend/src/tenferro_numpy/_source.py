"""Generated source: a plan as one Python function, a line per instruction.

Parameters and literals are bound as closure values, so the text holds generated names only, and
programs of one shape share a code object. A long program becomes several functions over a list of
registers, because one huge function costs CPython more than its parts.
Read next: `_interpret.py`, which runs the same plan without compiling it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from types import CodeType, TracebackType
from typing import Any

import numpy as np

from tenferro_numpy._expression import Expression, simple
from tenferro_numpy._plan import Line, Plan, Result

__all__ = ["Generated", "generate"]

_FILENAME = "<tenferro_numpy>"
_PART = 1000  # lines per function
_SHARED_TEXT = 1 << 16  # characters up to which compiled text is kept for others

Run = Callable[..., tuple[Any, ...]]


class Generated:
    """The text of a plan, the function made of it, and which line is which instruction.

    `fast`: lines may raise where NumPy gives inf or nan (`Expression.safe`).
    """

    def __init__(self, plan: Plan, *, fast: bool = False) -> None:
        writer = _Writer(plan, fast=fast)
        self.text = writer.write()
        self.positions = writer.positions  # by line number
        self._bound = writer.bound

    def compile(self) -> Run:
        """The function of the operands."""
        make = _shared(self.text) if len(self.text) <= _SHARED_TEXT else _make(self.text)
        run: Run = make(*self._bound)
        return run

    def position(self, trace: TracebackType | None) -> int | None:
        """The instruction in whose line an error was raised; `None` if in no line of ours."""
        found = None
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == _FILENAME:
                found = self.positions.get(trace.tb_lineno, found)
            trace = trace.tb_next
        return found


def generate(plan: Plan) -> Generated:
    """Write the source of a plan."""
    return Generated(plan)


def _make(text: str) -> Callable[..., Any]:
    code: CodeType = compile(text, _FILENAME, "exec")
    names: dict[str, Any] = {}
    exec(code, names)
    made: Callable[..., Any] = names["make"]
    return made


_shared = lru_cache(maxsize=512)(_make)


def _without_raising(expression: Expression) -> Expression:
    """The line that gives NumPy's value where the fast one raises."""
    if expression.safe is None:
        return expression
    return simple(expression.safe, expression.operand_count)


class _Writer:
    def __init__(self, plan: Plan, *, fast: bool = False) -> None:
        self.plan = plan
        self.fast = fast
        self.bound: list[Any] = []
        self.positions: dict[int, int] = {}
        self._names: dict[int, str] = {}
        self._lines: list[str] = []

    def write(self) -> str:
        lines = self.plan.lines
        self._lines = ["# first line: the bound values"]
        if len(lines) <= _PART:
            self._one_function()
        else:
            self._several_functions()
        self._lines[0] = f"def make({', '.join(f'p{i}' for i in range(len(self.bound)))}):"
        return "\n".join([*self._lines, "    return program", ""])

    def name(self, value: Any) -> str:
        """The closure name of a bound value; one for each object."""
        found = self._names.get(id(value))
        if found is None:
            found = self._names[id(value)] = f"p{len(self.bound)}"
            self.bound.append(value)
        return found

    def operand(self, index: int) -> str:
        return f"r{index}" if index >= 0 else self.name(self.plan.literals[~index])

    def _one_function(self) -> None:
        self._header("program", self.plan.input_count)
        self._body(self.plan.lines)
        self._return(self.plan.results)

    def _header(self, name: str, count: int) -> None:
        self._lines.append(f"    def {name}({', '.join(f'r{i}' for i in range(count))}):")
        self._lines += [f"        r{i} = r{i}[()]" for i in self.plan.unboxed]

    def _body(self, lines: Iterable[Line]) -> None:
        for line in lines:
            self._lines.append(self._line(line))
            if line.position is not None:
                self.positions[len(self._lines)] = line.position

    def _line(self, line: Line) -> str:
        expression = line.expression if self.fast else _without_raising(line.expression)
        names = tuple([self.name(value) for value in expression.bound])
        operands = tuple([self.operand(i) for i in line.operands])
        targets = ", ".join([f"r{i}" for i in line.targets])
        text = f"        {targets} = {expression.text(operands, names)}"
        if line.frees:
            text += f"; del {', '.join([f'r{i}' for i in line.frees])}"
        return text

    def _return(self, results: Iterable[Result]) -> None:
        parts = [f"{self._result(result)}," for result in results]
        self._lines.append(f"        return ({' '.join(parts)})")

    def _result(self, result: Result) -> str:
        operand = self.operand(result.operand)
        if result.copied:
            return f"{self.name(np.array)}({operand})"
        return f"{self.name(np.asarray)}({operand})" if result.scalar else operand

    # ---- long programs ---------------------------------------------------------------------------

    def _several_functions(self) -> None:
        plan = self.plan
        parts = [plan.lines[i : i + _PART] for i in range(0, len(plan.lines), _PART)]
        for number, lines in enumerate(parts):
            self._part(f"part{number}", lines)
        self._header("program", plan.input_count)
        count, inputs = plan.register_count, plan.input_count
        given = "".join(f"r{i}, " for i in range(inputs))
        self._lines.append(f"        s = [{given}*[None] * {count - inputs}]")
        if inputs:
            self._lines.append("        del " + ", ".join(f"r{i}" for i in range(inputs)))
        self._lines += [f"        part{number}(s)" for number in range(len(parts))]
        needed = sorted({r.operand for r in plan.results if r.operand >= 0})
        self._lines += [f"        r{i} = s[{i}]" for i in needed]
        self._return(plan.results)

    def _part(self, name: str, lines: tuple[Line, ...]) -> None:
        """One part: takes what it reads out of the list `s`, puts back what is still alive."""
        self._lines.append(f"    def {name}(s):")
        held: dict[int, None] = {}
        for line in lines:
            held.update(dict.fromkeys([i for i in (*line.operands, *line.targets) if i >= 0]))
            for register in line.frees:
                del held[register]
        read = self._read_first(lines)
        self._lines += [f"        r{i} = s[{i}]; s[{i}] = None" for i in read]
        self._body(lines)
        self._lines += [f"        s[{i}] = r{i}" for i in held]

    @staticmethod
    def _read_first(lines: Iterable[Line]) -> list[int]:
        """Registers that are read before they are written."""
        written: set[int] = set()
        read: dict[int, None] = {}
        for line in lines:
            for register in line.operands:
                if register >= 0 and register not in written:
                    read[register] = None
            written.update(line.targets)
        return list(read)
