"""Generated source: a plan as one Python function, a line per instruction.

Parameters and literals are bound as closure values, so the text holds generated names only, and
programs of one shape share a code object. A long program that repeats itself becomes several
functions over a list of registers (`execution/codegen_chunks.py`). Read next:
`execution/interpreter.py`, which runs the same plan without compiling it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import lru_cache
from types import TracebackType
from typing import Any

import numpy as np

from tenferro.backend.extend import CollectorPaused
from tenferro_numpy.execution.codegen_chunks import (
    FILENAME,
    Chunk,
    Shape,
    compiled,
    cut,
    line_at,
    maker,
    may_repeat,
    part_text,
)
from tenferro_numpy.ir.expression import Expression, simple
from tenferro_numpy.ir.plan import Line, Plan, Result

__all__ = ["Generated", "generate"]

_MIN_LINES_TO_DIVIDE = 500  # lines from which on a program may be written in parts
_MAX_LINES_IN_ONE_FUNCTION = 5_000  # lines; CPython's compiler takes about 30 MB for them
_MIN_TURNS = 2  # times that lines of parts come on average, which then cost as much to compile

Run = Callable[..., tuple[Any, ...]]


def generate(plan: Plan, *, fast: bool = False) -> Generated:
    """Write the source of a plan.

    `fast`: lines may raise where NumPy gives inf or nan (`Expression.safe`).
    """
    forms: dict[int, Expression] = {}

    def choose(expression: Expression) -> Expression:
        if fast or expression.safe is None:
            return expression
        found = forms.get(id(expression))
        if found is None:
            found = forms[id(expression)] = simple(expression.safe, expression.operand_count)
        return found

    with CollectorPaused():
        return _in_parts(plan, choose) or _Whole(plan, choose)


def _in_parts(plan: Plan, choose: Callable[..., Expression]) -> _InParts | None:
    """Write a plan in parts; return `None` if one function is better."""
    count = len(plan.lines)
    is_too_long = count > _MAX_LINES_IN_ONE_FUNCTION
    if count <= _MIN_LINES_TO_DIVIDE or not (is_too_long or may_repeat(plan.lines, _MIN_TURNS)):
        return None
    parts = _InParts(plan, choose)
    return parts if is_too_long or _MIN_TURNS * parts.new_lines <= count else None


class Generated(ABC):
    """The text of a plan, the function made of it, and which line is which instruction."""

    text: str
    new_lines: int  # lines to compile: what repeats counts once

    @abstractmethod
    def compile(self) -> Run:
        """Compile the function of the operands."""

    @abstractmethod
    def position(self, trace: TracebackType | None) -> int | None:
        """Return the instruction in whose line an error was raised; `None` if in no line of
        ours.
        """


_shared = lru_cache(maxsize=512)(compiled)


class _Whole(Generated):
    """One function."""

    def __init__(self, plan: Plan, choose: Callable[..., Expression]) -> None:
        self._plan = plan
        self._choose = choose
        self._bound: list[Any] = []
        self._positions: dict[int, int] = {}  # by line number
        self._names: dict[int, str] = {}
        self._templates: dict[int, str] = {}  # by the identity of expressions
        self._registers = [f"r{i}" for i in range(plan.register_count)]
        self.text = self._write()
        self.new_lines = len(plan.lines)

    def compile(self) -> Run:
        """Compile the function of the operands."""
        run: Run = _shared(self.text)(*self._bound)
        return run

    def position(self, trace: TracebackType | None) -> int | None:
        """Return the instruction in whose line an error was raised; `None` if in no line of
        ours.
        """
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == FILENAME:  # below it may run a block's lines
                return self._positions.get(trace.tb_lineno)
            trace = trace.tb_next
        return None

    def _write(self) -> str:
        plan = self._plan
        lines = [f"    def program({', '.join([f'r{i}' for i in range(plan.input_count)])}):"]
        lines += [f"        r{i} = r{i}[()]" for i in plan.unboxed]
        for line in plan.lines:
            lines.append(self._line(line))
            if line.positions:
                self._positions[len(lines) + 1] = line.positions[0]
        results = "".join([f" {self._result(result)}," for result in plan.results])
        lines.append(f"        return ({results.strip()})")
        first = f"def make({', '.join([f'p{i}' for i in range(len(self._bound))])}):"
        return "\n".join([first, *lines, "    return program", ""])

    def _name(self, value: Any) -> str:
        """Return the closure name of a bound value; one per object."""
        found = self._names.get(id(value))
        if found is None:
            found = self._names[id(value)] = f"p{len(self._bound)}"
            self._bound.append(value)
        return found

    def _operand(self, index: int) -> str:
        return self._registers[index] if index >= 0 else self._name(self._plan.literals[~index])

    def _bind(self, expression: Expression) -> str:
        """Return the template of an expression with the names of its bound values."""
        chosen = self._choose(expression)
        return chosen.with_names([self._name(value) for value in chosen.bound])

    def _line(self, line: Line) -> str:
        template = self._templates.get(id(line.expression))
        if template is None:
            template = self._templates[id(line.expression)] = self._bind(line.expression)
        names = self._registers
        operands = [names[i] if i >= 0 else self._operand(i) for i in line.operands]
        targets = ", ".join([names[i] for i in line.targets])
        text = f"        {targets} = {template.format(*operands)}"
        if line.frees:
            text += f"; del {', '.join([names[i] for i in line.frees])}"
        return text

    def _result(self, result: Result) -> str:
        operand = self._operand(result.operand)
        if result.copied:
            return f"{self._name(np.array)}({operand})"
        return f"{self._name(np.asarray)}({operand})" if result.scalar else operand


class _InParts(Generated):
    """A function for each part, over a list of registers and literals."""

    def __init__(self, plan: Plan, choose: Callable[..., Expression]) -> None:
        self._plan = plan
        self._begins: list[int] = []
        self._order: list[int] = []  # the number of the shape of each part
        self._arguments: list[tuple[Any, ...]] = []
        numbers: dict[Shape, int] = {}
        for begin, end in cut(plan.lines):
            part = Chunk(plan.lines[begin:end], plan.literals, choose)
            self._begins.append(begin)
            self._order.append(numbers.setdefault(part.shape, len(numbers)))
            self._arguments.append(part.arguments)
        self._shapes = list(numbers)
        self.new_lines = sum(len(shape.lines) for shape in self._shapes)
        self._functions: list[Callable[[list[Any]], None]] = []
        self._padding = [None] * (plan.register_count - plan.input_count)

    @property
    def text(self) -> str:  # type: ignore[override]
        """Each text of a part once, and the order in which they run."""
        order = ", ".join([f"part {number}" for number in self._order])
        texts = [f"# part {n}\n{part_text(shape)}" for n, shape in enumerate(self._shapes)]
        return "\n".join([*texts, f"# program: {order}", ""])

    def compile(self) -> Run:
        """Compile the function of the operands."""
        makers = [maker(shape) for shape in self._shapes]
        self._functions = [
            makers[number](*arguments)
            for number, arguments in zip(self._order, self._arguments, strict=True)
        ]
        return self._run

    def _run(self, *operands: Any) -> tuple[Any, ...]:
        s = [*operands, *self._padding]
        del operands
        for i in self._plan.unboxed:
            s[i] = s[i][()]
        parts = iter(self._functions)  # its length hint says, to `position`, how far it came
        for part in parts:
            part(s)
        literals = self._plan.literals
        return tuple(
            [
                np.array(s[i] if i >= 0 else literals[~i]) if copied else np.asarray(s[i])
                for i, copied, _ in self._plan.results
            ]
        )

    def position(self, trace: TracebackType | None) -> int | None:
        """Return the instruction in whose line an error was raised; `None` if in no line of
        ours.
        """
        while trace is not None:
            frame = trace.tb_frame
            if frame.f_code is _InParts._run.__code__ and frame.f_locals.get("self") is self:
                done = len(self._functions) - frame.f_locals["parts"].__length_hint__()
                inner = trace.tb_next
                return self._position(done - 1, inner.tb_lineno) if inner else None
            trace = trace.tb_next
        return None

    def _position(self, part: int, text_line: int) -> int | None:
        line = line_at(self._shapes[self._order[part]], text_line)
        return None if line is None else self._plan.lines[self._begins[part] + line].position
