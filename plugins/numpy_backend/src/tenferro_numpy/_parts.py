"""Long programs in parts, so that what repeats is compiled once.

CPython's compiler costs more per line than a hundred runs of it save, but an unrolled loop repeats
itself. It is cut where a hash of the lines around is smallest, which finds the same place in every
turn (Muthitacharoen, Chen, Mazières (2001), A low-bandwidth network file system, §3.1), and
variables are renamed by what flows into them, so that equal parts have equal text. A part takes
what it reads out of a list of registers and puts back what is read after it.
Read next: `_source.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from tenferro.computegraph._records import NamedTuple
from tenferro_numpy._expression import Expression
from tenferro_numpy._lines import Line

__all__ = ["FILENAME", "Part", "compiled", "cut", "part_text"]

FILENAME = "<tenferro_numpy>"
_SHORTEST, _LONGEST = 100, 400  # lines of a part; a turn of up to their difference is recognized
_WINDOW = 12  # lines that a hash looks at
_BASE, _MODULUS = 1_000_003, (1 << 61) - 1
_FIRST = 3  # the line of the text that loads the first register
_KEPT = 128  # parts whose code is kept for other programs

#: template, arguments of `make` that it binds, operands (locals, or ~arguments), targets, deleted
Row = tuple[str, tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]


class Shape(NamedTuple):
    """Everything that decides the text of a part; registers and bound values are arguments."""

    rows: tuple[Row, ...]
    loads: tuple[tuple[int, bool], ...]  # the local, and whether the register is emptied
    stores: tuple[int, ...]
    bound: int  # number of bound values


class Part:
    """Some lines of a plan, renamed; `choose` says which form of a line is written."""

    def __init__(
        self, lines: Sequence[Line], literals: Sequence[Any], choose: Callable[..., Expression]
    ) -> None:
        self._positions = [line.position for line in lines]
        renaming = _Renaming(literals, choose)
        rows = tuple([renaming.row(line) for line in lines])
        loads, stores = renaming.loads, renaming.stores()
        self.shape = Shape(
            rows,
            tuple([(local, i in renaming.emptied) for i, local in loads.items()]),
            tuple([renaming.local_of[i] for i in stores]),
            len(renaming.bound),
        )
        self._arguments = (*renaming.bound, *loads, *stores)

    def function(self) -> Callable[[list[Any]], None]:
        """The function of the list of registers."""
        made: Callable[[list[Any]], None] = _maker(self.shape)(*self._arguments)
        return made

    def position(self, text_line: int) -> int | None:
        """The instruction of a line of the text."""
        number = text_line - _FIRST - len(self.shape.loads)
        return self._positions[number] if 0 <= number < len(self._positions) else None


def cut(lines: Sequence[Line]) -> list[tuple[int, int]]:
    """The parts of a plan: where each begins and ends."""
    hashes = _hashes(lines)
    places, begin = [], 0
    while len(lines) - begin > _LONGEST:
        window = hashes[begin + _SHORTEST : begin + _LONGEST]
        end = begin + _SHORTEST + window.index(min(window))
        places.append((begin, end))
        begin = end
    return [*places, (begin, len(lines))]


def _hashes(lines: Sequence[Line]) -> list[int]:
    """For each line a hash of the templates of the lines before it."""
    known: dict[str, int] = {}
    dropped = pow(_BASE, _WINDOW, _MODULUS)
    codes = [0] * _WINDOW
    codes += [
        pow(_BASE, 7 + known.setdefault(i.expression.template, len(known)), _MODULUS) for i in lines
    ]
    value, hashes = 0, []
    for old, new in zip(codes, codes[_WINDOW:], strict=False):
        hashes.append(value)
        value = (value * _BASE + new - old * dropped) % _MODULUS
    return hashes


class _Renaming:
    """Registers become locals, named in the order in which values come."""

    def __init__(self, literals: Sequence[Any], choose: Callable[..., Expression]) -> None:
        self.literals = literals
        self.choose = choose
        self.bound: list[Any] = []
        self.local_of: dict[int, int] = {}
        self.loads: dict[int, int] = {}  # register → local
        self.emptied: set[int] = set()  # loaded registers whose array dies here
        self._died: set[int] = set()  # loaded registers whose value dies here
        self._free: list[int] = []
        self._count = 0
        self._names: dict[int, int] = {}

    def row(self, line: Line) -> Row:
        """A line, its registers renamed."""
        expression = self.choose(line.expression)
        bound = tuple([self._name(value) for value in expression.bound])
        operands = tuple([self._operand(i, line.reads_numbers) for i in line.operands])
        released, deleted = self._release(line)
        targets = []
        for register in line.targets:
            local = self._fresh(released)
            targets.append(local)
            self.local_of[register] = local
        self._free += released
        dead = [i for i in line.targets if i in line.frees]  # never read
        for register in dead:
            self._free.append(self.local_of.pop(register))
        deleted = [i for i in deleted if i not in targets] + self._free[
            len(self._free) - len(dead) :
        ]
        return expression.template, bound, operands, tuple(targets), tuple(deleted)

    def stores(self) -> list[int]:
        """The registers that hold something else at the end than at the beginning."""
        loads, died = self.loads, self._died
        return [i for i in self.local_of if i not in loads or i in died]

    def _release(self, line: Line) -> tuple[list[int], list[int]]:
        """The locals whose values die on a line, and those of them that hold arrays."""
        released, deleted = [], []
        for register in (*line.ends, *line.frees, *line.targets):
            local = self.local_of.pop(register, None)
            if local is None:
                continue
            if register in self.loads:
                self._died.add(register)
                if not line.reads_numbers:
                    self.emptied.add(register)
            released.append(local)
            if register in line.frees:
                deleted.append(local)
        return released, deleted

    def _operand(self, register: int, number: bool) -> int:
        if register < 0:
            return ~self._name(self.literals[~register])
        local = self.local_of.get(register)
        if local is None:
            local = self.local_of[register] = self.loads[register] = self._count
            self._count += 1
        return local

    def _fresh(self, released: list[int]) -> int:
        free = released or self._free
        if free:
            return free.pop()
        self._count += 1
        return self._count - 1

    def _name(self, value: Any) -> int:
        """The argument for a bound value; one for each object."""
        found = self._names.get(id(value))
        if found is None:
            found = self._names[id(value)] = len(self.bound)
            self.bound.append(value)
        return found


def part_text(shape: Shape) -> str:
    """The text that makes the function of a part."""
    loads, stores, count = shape.loads, shape.stores, shape.bound
    arguments = [f"p{i}" for i in range(count)]
    arguments += [f"i{k}" for k in range(len(loads))] + [f"o{k}" for k in range(len(stores))]
    lines = [f"def make({', '.join(arguments)}):", "    def part(s):"]
    for k, (local, empty) in enumerate(loads):
        lines.append(f"        a{local} = s[i{k}]" + (f"; s[i{k}] = None" if empty else ""))
    lines += [f"        {_line(row)}" for row in shape.rows]
    lines += [f"        s[o{k}] = a{local}" for k, local in enumerate(stores)]
    return "\n".join([*lines, "    return part", ""])


def _line(row: Row) -> str:
    template, bound, operands, targets, deleted = row
    names = {f"p{k}": f"p{i}" for k, i in enumerate(bound)}
    given = [f"a{i}" if i >= 0 else f"p{~i}" for i in operands]
    text = f"{', '.join([f'a{i}' for i in targets])} = {template.format(*given, **names)}"
    return f"{text}; del {', '.join([f'a{i}' for i in deleted])}" if deleted else text


@lru_cache(maxsize=_KEPT)
def _maker(shape: Shape) -> Callable[..., Any]:
    return compiled(part_text(shape))


def compiled(text: str) -> Callable[..., Any]:
    """The function `make` of a text."""
    names: dict[str, Any] = {}
    exec(compile(text, FILENAME, "exec"), names)
    made: Callable[..., Any] = names["make"]
    return made
