"""Long programs in parts, so that what repeats is compiled once.

CPython's compiler costs more per line than a hundred runs of it save, but an unrolled loop repeats
itself. It is cut where a hash of the lines around is smallest, which finds the same place in every
turn (Muthitacharoen, Chen, Mazières (2001), A low-bandwidth network file system, §3.1), and
registers are named in the order in which they come, so that equal parts have equal text. A part
takes what it reads out of a list of registers and puts back what is read after it. Its lines cost
twice as much to compile as those of one function, and the list costs time in every run: a program
without enough repetition stays one function.
Read next: `execution/codegen.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, count
from operator import attrgetter
from typing import Any

import numpy as np

from tenferro.backend.extend import NamedTuple
from tenferro_numpy.ir.expression import Expression
from tenferro_numpy.ir.plan import Line

__all__ = [
    "FILENAME",
    "Chunk",
    "Shape",
    "compiled",
    "cut",
    "line_at",
    "maker",
    "may_repeat",
    "part_text",
]

FILENAME = "<tenferro_numpy>"
#: A repeated stretch of up to their difference is recognized.
_MIN_LINES_OF_PART, _MAX_LINES_OF_PART = 100, 400
_WINDOW = 12  # lines that a hash looks at
_BASE = 1_000_003
_FIRST = 3  # the line of the text that loads the first register
_KEPT = 128  # parts whose code is kept for other programs

_registers = attrgetter("operands", "targets", "frees", "ends")
Names = tuple[int, ...]


class Shape(NamedTuple):
    """Everything that decides the text of a part; registers and bound values are arguments.

    forms      of its expressions: the template, and the arguments that it binds
    lines      the form of each line
    counts     how many operands, targets, frees and ends each line has, one after the other
    names      those of all lines, one after the other
    literals   for each name whether it is a literal, no register
    bound      number of bound values
    """

    forms: tuple[tuple[str, tuple[int, ...]], ...]
    lines: tuple[int, ...]
    counts: tuple[int, ...]
    names: Names
    literals: tuple[bool, ...]
    bound: int

    def rows(self) -> Iterator[tuple[int, Names, Names, Names, Names]]:
        """Yield the form, operands, targets, frees and ends of each line."""
        names, counts = iter(self.names), iter(self.counts)
        for form in self.lines:
            operands, targets, frees, ends = [
                tuple([next(names) for _ in range(next(counts))]) for _ in range(4)
            ]
            yield form, operands, targets, frees, ends

    def loads(self) -> dict[int, bool]:
        """Return the registers that are read before they are written, and whether they are
        emptied.
        """
        loads: dict[int, bool] = {}
        written: set[int] = set()
        for _, operands, targets, frees, _ in self.rows():
            for i in operands:
                if not self.literals[i] and i not in written:
                    loads.setdefault(i, False)
            loads.update({i: True for i in (*frees, *targets) if i in loads})
            written.update(targets)
        return loads

    def stores(self) -> list[int]:
        """Return the registers that are written, and read after the part."""
        stores: dict[int, None] = {}
        for _, _, targets, frees, ends in self.rows():
            stores.update(dict.fromkeys(targets))
            for i in (*frees, *ends):
                stores.pop(i, None)
        return list(stores)


class Chunk:
    """Some lines of a plan, renamed; `choose` says which form of a line is written."""

    def __init__(
        self, lines: Sequence[Line], literals: Sequence[Any], choose: Callable[..., Expression]
    ) -> None:
        ids = [id(line.expression) for line in lines]
        distinct = dict(zip(ids, [line.expression for line in lines], strict=True))
        forms = [choose(expression) for expression in distinct.values()]
        bound: dict[int, Any] = {id(i): i for form in forms for i in form.bound}
        argument = _numbered(bound)
        slots = [*chain.from_iterable(map(_registers, lines))]
        registers = [*chain.from_iterable(slots)]
        name = _numbered(registers)
        self.shape = Shape(
            tuple([(i.template, tuple([argument[id(b)] for b in i.bound])) for i in forms]),
            tuple(map(_numbered(ids).__getitem__, ids)),
            tuple(map(len, slots)),
            tuple(map(name.__getitem__, registers)),
            tuple([i < 0 for i in name]),
            len(bound),
        )
        self.arguments = (*bound.values(), *[i if i >= 0 else literals[~i] for i in name])


def _numbered(values: Any) -> dict[Any, int]:
    """Number the values in the order of their first occurrence."""
    return dict(zip(dict.fromkeys(values), count(), strict=False))


def cut(lines: Sequence[Line]) -> list[tuple[int, int]]:
    """Cut a plan into parts and return where each begins and ends."""
    hashes = _hashes(lines)
    places, begin = [], 0
    while len(lines) - begin > _MAX_LINES_OF_PART:
        window = hashes[begin + _MIN_LINES_OF_PART : begin + _MAX_LINES_OF_PART]
        end = begin + _MIN_LINES_OF_PART + int(window.argmin())
        places.append((begin, end))
        begin = end
    return [*places, (begin, len(lines))]


def may_repeat(lines: Sequence[Line], turns: int) -> bool:
    """Return False only if the lines of parts come fewer than `turns` times on average.

    Equal parts have equal hashes but for the first lines, whose hashes look at the part before.
    """
    parts = len(lines) // _MIN_LINES_OF_PART + 1
    return turns * (len({*_hashes(lines).tolist()}) - parts * _WINDOW) <= len(lines)


def _hashes(lines: Sequence[Line]) -> Any:
    """Hash, for each line, the templates of the lines before it: a polynomial modulo 2⁶⁴."""
    templates = [line.expression.template for line in lines]
    number = _numbered(templates)
    codes = np.array([pow(_BASE, 7 + i, 1 << 64) for i in number.values()], np.uint64)
    values = codes[[*map(number.__getitem__, templates)]]
    hashes = np.zeros(len(lines), np.uint64)
    for distance in range(1, min(_WINDOW, len(lines) - 1) + 1):
        factor = np.uint64(pow(_BASE, distance, 1 << 64))
        hashes[distance:] += factor * values[:-distance]
    return hashes


def part_text(shape: Shape) -> str:
    """Write the text that makes the function of a part."""
    arguments = [f"p{i}" for i in range(shape.bound)]
    arguments += [f"i{i}" for i in range(len(shape.literals))]
    lines = [f"def make({', '.join(arguments)}):", "    def part(s):"]
    for i, empty in shape.loads().items():
        lines.append(f"        a{i} = s[i{i}]" + (f"; s[i{i}] = None" if empty else ""))
    lines += [f"        {_line(shape, *row)}" for row in shape.rows()]
    lines += [f"        s[i{i}] = a{i}" for i in shape.stores()]
    return "\n".join([*lines, "    return part", ""])


def _line(
    shape: Shape, form: int, operands: Names, targets: Names, frees: Names, ends: Names
) -> str:
    template, bound = shape.forms[form]
    names = {f"p{k}": f"p{i}" for k, i in enumerate(bound)}
    given = [f"i{i}" if shape.literals[i] else f"a{i}" for i in operands]
    text = f"{', '.join([f'a{i}' for i in targets])} = {template.format(*given, **names)}"
    return f"{text}; del {', '.join([f'a{i}' for i in frees])}" if frees else text


def line_at(shape: Shape, text_line: int) -> int | None:
    """Return the line of a part for a line of its text; None if there is none."""
    number = text_line - _FIRST - len(shape.loads())
    return number if 0 <= number < len(shape.lines) else None


@lru_cache(maxsize=_KEPT)
def maker(shape: Shape) -> Callable[..., Callable[[list[Any]], None]]:
    """Return a function that makes a part's function of the register list."""
    return compiled(part_text(shape))


def compiled(text: str) -> Callable[..., Any]:
    """Compile a text and return its function `make`.

    Its frames name this module, so that errors that pass them are told as errors of tenferro.
    """
    names: dict[str, Any] = {"__name__": __name__}
    exec(compile(text, FILENAME, "exec"), names)
    made: Callable[..., Any] = names["make"]
    return made
