"""The source of a loop: one function of its operands, with the lines of the body in a `for`.

    def loop(o0, v1):                            # a rate, the first carry
        n0 = p0(o0)                              # as a Python number
        v5 = p1((10,), p2)                       # memory for what a step makes
        y1 = p1((1000, 10), p2)                  # the rows of a result
        for v6 in y1:
            p3(n0, v1, v5)
            …
            v1 = v6
        return (v1, y1,)

Numbers that follow from numbers, and that one line alone reads, are written where they are read.
Read next: `loops/run.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from importlib import import_module
from itertools import chain, repeat
from typing import Any

import numpy as np

from tenferro.primitives import Aval
from tenferro_numpy.ir.expression import Expression, simple
from tenferro_numpy.ir.peak import size_of
from tenferro_numpy.ir.step import Step
from tenferro_numpy.loops.plan import BEHIND, COPIED, MADE, SHIFTED, LoopPlan, LoopPlanner, Row
from tenferro_numpy.machine.allocator import PAGES
from tenferro_numpy.machine.threads import new_array
from tenferro_numpy.plan_passes.short_arrays.ends import reading
from tenferro_numpy.python_scalars import UNBOXED

__all__ = ["BranchSource", "LoopSource"]

_MAX_WIDTH = 300  # characters of a number's expression that is written where it is read
_ELEMENTS = "tenferro_numpy.plan_passes.elements"  # loads for loops that put arrays together
_MAX_COLUMNS = 4  # numbers of a row above which they are stored by one call
_NUMBERS = {"float64": (float, np.float64), "bool": (bool, np.bool_)}  # Python's, NumPy's


class LoopSource:
    """The text of a loop, and the values that it binds.

    The number of steps is the last argument of `make`, so that loops of any length share the text.
    A loop that is not `counted` goes on while the last output of its body is true. Its caller has
    tested the condition before the first step.
    """

    def __init__(
        self,
        planner: LoopPlanner,
        plan: LoopPlan,
        results: Sequence[int],
        *,
        counted: bool = False,
        reverse: bool = False,
        fast: bool = False,
    ) -> None:
        self.planner = planner
        self.plan = plan
        self.avals = planner.avals
        self.counted = counted
        self.reverse = reverse
        self.bound: list[Any] = []
        self._fast = fast
        self._names: dict[int, str] = {}
        self._literals = planner.made_literals
        self._carried = {*planner.carries, *chain.from_iterable(planner.given.values())}
        self._used: dict[str, None] = {}  # names of inputs in the forms that lines read
        self._inlined: dict[int, str] = {}
        self._safe: dict[int, Expression] = {}
        self._rank0_views = {
            slot
            for step in planner.steps
            if step.expression.shares
            for slot in step.targets
            if not self.avals[slot].shape
        }
        self.text = self._written(results)

    # ---- names -----------------------------------------------------------------------------------

    def bind(self, value: Any) -> str:
        """Return the closure name of a bound value; one per object."""
        found = self._names.get(id(value))
        if found is None:
            found = self._names[id(value)] = f"p{len(self.bound)}"
            self.bound.append(value)
        return found

    def name(self, slot: int, form: str) -> str:
        """Return the name of a value as an "array", a NumPy "scalar" or a "number"."""
        planner = self.planner
        if slot in planner.literals:
            return self.bind(self._literals.values[~self._literals.index(slot, form)])
        if slot in self._inlined:
            return self._inlined[slot]
        found = f"v{slot}"
        if planner.is_free(slot) and form == "number":
            found = f"n{slot}"
        elif planner.is_scalar_const(slot) and form == "array":
            found = f"a{slot}"
        self._used[found] = None
        return found

    def number(self, slot: int) -> str:
        """Return the name of a value of rank 0 that is stored: a Python number where it is one."""
        known = slot in self.planner.literals and self.avals[slot] in UNBOXED
        is_number = slot in self.planner.numbers or self.planner.is_free(slot) or known
        return self.name(slot, "number" if is_number else "scalar")

    def array(self, shape: Sequence[int | str], dtype: Any) -> str:
        """Write the making of an array; sizes are numbers or names."""
        sizes = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
        return f"{self.bind(new_array)}(({sizes}), {self.bind(np.dtype(dtype.name))})"

    def _rows(self, output: int, aval: Any) -> str:
        """Write the making of the rows of a result, in memory or in a temporary file."""
        roles = self.planner.roles
        if output not in roles.in_file:
            return self.array(("count", *aval.shape), aval.dtype)
        files = import_module("tenferro.backend.numpy_like.offload")  # few loops store rows there
        made = self.bind(partial(files.array_in_file, np, roles.directory))
        sizes = ", ".join(["count", *map(str, aval.shape)])
        return f"{made}(({sizes},), {self.bind(np.dtype(aval.dtype.name))})"

    # ---- the text --------------------------------------------------------------------------------

    def _written(self, results: Sequence[int]) -> str:
        planner = self.planner
        lines = self._steps()
        lines += [self._stored(row) for row in self.plan.rows if row.kind == COPIED]
        lines += self._moves()
        if not self.counted:
            test = self.number(planner.outputs[-1])
            begin, lines = "while True:", [*lines, f"if not {test}: break"]
        else:
            begin = self._head()
        found = [self._result(i) for i in results]
        for k, text in enumerate(found):  # no two results share memory
            if text in found[:k]:
                found[k] = f"{self.bind(np.array)}({text})"
        returned = "".join([f" {text}," for text in found])
        params = [self._param(i) for i in range(len(planner.program.inputs))]
        assembled, views = self._assembled(), self._views()
        before = [*self._forms(), *self._starts(), *self._memory(), *assembled, *views]
        body = [
            f"    def loop({', '.join(params)}):",
            *[f"        {line}" for line in before],
            f"        {begin}",
            *[f"            {line}" for line in lines or ["pass"]],
            *[f"        {line}" for line in self._behind()],
            f"        return ({returned.strip()})",
        ]
        names = [*[f"p{i}" for i in range(len(self.bound))], *(("count",) if self.counted else ())]
        first = f"def make({', '.join(names)}):"
        return "\n".join([first, *body, "    return loop", ""])

    def _param(self, slot: int) -> str:
        planner = self.planner
        is_array = self.avals[slot].shape and slot < planner.first_row
        return f"{'v' if is_array else 'o'}{slot}"

    def _forms(self) -> list[str]:
        """Write the forms of inputs of rank 0 that lines read."""
        planner, lines = self.planner, []
        for slot in filter(planner.is_scalar_const, range(planner.roles.consts)):
            if f"n{slot}" in self._used:
                kind = _NUMBERS[self.avals[slot].dtype.name][0]
                lines.append(f"n{slot} = {self.bind(kind)}(o{slot})")
            if f"v{slot}" in self._used:
                lines.append(f"v{slot} = o{slot}[()]")
            if f"a{slot}" in self._used:
                lines.append(f"a{slot} = {self.bind(np.asarray)}(o{slot})")
        return lines

    def _starts(self) -> list[str]:
        """Write the first carries."""
        planner = self.planner
        lines = [self._read(slot) for slot in planner.given if slot < planner.first_row]
        for slot in planner.whole_carries:
            if slot in planner.numbers:
                kind = _NUMBERS[self.avals[slot].dtype.name][0]
                lines.append(f"v{slot} = {self.bind(kind)}(o{slot})")
            elif not self.avals[slot].shape:
                lines.append(f"v{slot} = o{slot}[()]")
            elif slot in self.plan.own:
                lines.append(f'v{slot} = {self.bind(np.array)}(v{slot}, order="C")')
        return lines

    def _read(self, slot: int) -> str:
        """Write the reading of all numbers of an array before the loop."""
        targets = ", ".join([f"v{i}" for i in self.planner.given[slot]])
        return f"{targets} = {reading(self.avals[slot]).text((f'v{slot}',), ())}"

    def _memory(self) -> list[str]:
        """Write the making of memory: for rows of results, and for what a step makes."""
        planner, lines = self.planner, []
        for slot in self.plan.buffers:
            lines.append(f"v{slot} = {self.array(self.avals[slot].shape, self.avals[slot].dtype)}")
        for row in self.plan.rows:
            aval = self.avals[planner.outputs[row.output]]
            lines.append(f"y{row.output} = {self._rows(row.output, aval)}")
            if row.output in planner.parts and row.kind == COPIED:
                lines += self._places(row.output, aval)
            elif row.kind == COPIED and aval in UNBOXED:
                lines.append(f"m{row.output} = y{row.output}.data")
            elif row.kind in (SHIFTED, BEHIND):
                first = -1 if self.reverse else 0
                carry = planner.outputs[row.output]
                lines.append(f"y{row.output}[{first}] = v{carry}")
            if row.kind == SHIFTED:
                lines.append(f"z{row.output} = {self.array(aval.shape, aval.dtype)}")
        return lines

    def _places(self, output: int, aval: Aval) -> list[str]:
        """Write the making of what numbers are stored in as rows of a result."""
        if aval.size > _MAX_COLUMNS:
            return [f"m{output} = y{output}.data"]
        columns = [f"y{output}{_column(aval, i)}.data" for i in range(aval.size)]
        return [f"m{output}_{i} = {column}" for i, column in enumerate(columns)]

    def _assembled(self) -> list[str]:
        """Write the making of arrays that steps write parts of, with the parts that stay."""
        lines = []
        for one in self.plan.before.assembled:
            aval = self.avals[one.slot]
            lines.append(f"v{one.slot} = {self.array(aval.shape, aval.dtype)}")
            if one.fill is not None:
                lines.append(f"v{one.slot}[...] = {self.name(one.fill, 'array')}")
            for slot, place in one.stays:
                lines.append(f"v{one.slot}[{self.bind(place)}] = {self.name(slot, 'array')}")
            lines += [f"v{view} = v{one.slot}[{self.bind(place)}]" for view, place in one.made]
        return lines

    def _views(self) -> list[str]:
        """Write the making of views of arrays that stay."""
        lines = []
        for step in self.plan.before.views:
            operands = tuple([self.name(slot, "array") for slot in step.operands])
            names = tuple([self.bind(value) for value in step.expression.bound])
            lines.append(f"v{step.targets[0]} = {step.expression.text(operands, names)}")
        return lines

    def _head(self) -> str:
        """Write the head of the loop over rows of operands and results."""
        parts = [*self._read_rows(), *self._written_rows()]
        if not parts:
            return f"for _ in {self.bind(repeat)}(None, count):"
        if len(parts) == 1:
            return f"for {parts[0][0]} in {parts[0][1]}:"
        names, over = [", ".join(column) for column in zip(*parts, strict=True)]
        return f"for {names} in {self.bind(zip)}({over}):"

    def _read_rows(self) -> Iterator[tuple[str, str]]:
        """Yield the name of a row, and the array of all, for operands that lines read."""
        planner = self.planner
        for slot in range(planner.first_row, len(planner.program.inputs)):
            if f"n{slot}" in self._used:
                yield f"n{slot}", f"o{slot}{self._turn}.data"
            if f"v{slot}" in self._used:
                yield f"v{slot}", f"o{slot}{self._turn}"
            for i, number in enumerate(planner.given.get(slot, ())):
                if f"v{number}" in self._used:
                    yield f"v{number}", f"o{slot}{_column(self.avals[slot], i, self._turn)}.data"

    def _written_rows(self) -> Iterator[tuple[str, str]]:
        """Yield the name of a row, and all rows, for results; and the number of the step."""
        counts = False
        for row in self.plan.rows:
            y = f"y{row.output}{self._turn}"
            if row.kind == SHIFTED:
                yield f"v{row.slot}", f"{self.bind(chain)}({y}[1:], (z{row.output},))"
            elif row.kind == MADE:
                yield f"v{row.slot}", y
            elif row.kind == BEHIND:
                continue
            elif self.avals[row.slot].shape and row.output not in self.planner.parts:
                yield f"r{row.output}", y
            else:
                counts = True
        if counts:
            yield "k", f"{self.bind(range)}({'count - 1, -1, -1' if self.reverse else 'count'})"

    @property
    def _turn(self) -> str:
        return "[::-1]" if self.reverse else ""

    def _steps(self) -> list[str]:
        """Write the lines of the body."""
        planner = self.planner
        reads = Counter([slot for step in planner.steps for slot in step.operands])
        reads.update([*planner.outputs, *chain.from_iterable(planner.parts.values())])
        reader = {slot: step for step in planner.steps for slot in step.operands}
        late = planner.outputs[-1:] if not self.counted else ()  # read when carries have moved
        lines = []
        for step, dead in zip(planner.steps, planner.dying(self.plan.before), strict=True):
            expression = self._chosen(step.expression)
            form = "number" if step.on_numbers else "scalar"
            if not step.on_numbers and self.avals[step.targets[0]].shape:
                form = "array"
            operands = tuple([self.name(slot, form) for slot in step.operands])
            names = tuple([self.bind(value) for value in expression.bound])
            text = expression.text(operands, names)
            slot = step.targets[0]
            alone = len(step.targets) == 1 and self._is_of_numbers(step)
            if alone and reads[slot] == 1 and len(text) <= _MAX_WIDTH:
                other = reader.get(slot)
                once = slot not in late if other is None else self._reads_once(other, slot)
                if once:
                    self._inlined[slot] = f"({text})"
                    continue
            targets = ", ".join([f"v{i}" for i in step.targets])
            large = [f"v{i}" for i in dead if size_of(self.avals[i]) > PAGES]
            lines.append(f"{targets} = {text}" + (f"; del {', '.join(large)}" if large else ""))
        return lines

    def _is_of_numbers(self, step: Step) -> bool:
        """Return True for a line on Python numbers alone: memory that it reads may be reused."""
        planner = self.planner
        return step.on_numbers and all(
            [
                slot in planner.numbers or planner.is_free(slot) or slot in planner.literals
                for slot in step.operands
            ]
        )

    def _reads_once(self, step: Step, slot: int) -> bool:
        """Return True if the line of a step on numbers has an operand in one place."""
        template = self._chosen(step.expression).template
        return step.on_numbers and template.count(f"{{{step.operands.index(slot)}}}") == 1

    def _chosen(self, expression: Expression) -> Expression:
        """Return the form of a line that is written: one that may raise, or one that does not."""
        if self._fast or expression.safe is None:
            return expression
        found = self._safe.get(id(expression))
        if found is None:
            found = self._safe[id(expression)] = simple(expression.safe, expression.operand_count)
        return found

    def _stored(self, row: Row) -> str:
        """Write the copy of a row into a result."""
        parts = self.planner.parts.get(row.output)
        if parts is not None:
            return self._stored_numbers(row.output, parts)
        if self.avals[row.slot].shape:
            return f"r{row.output}[...] = {self.name(row.slot, 'array')}"
        place = "m" if self.avals[row.slot] in UNBOXED else "y"
        return f"{place}{row.output}[k] = {self.number(row.slot)}"

    def _stored_numbers(self, output: int, parts: Sequence[int]) -> str:
        """Write the storing of numbers as a row of a result."""
        names = [self.number(slot) for slot in parts]
        if len(parts) <= _MAX_COLUMNS:
            return "; ".join([f"m{output}_{i}[k] = {name}" for i, name in enumerate(names)])
        row = import_module(_ELEMENTS).packing(self.avals[self.planner.outputs[output]])
        return f"{self.bind(row.pack_into)}(m{output}, k * {row.size}, {', '.join(names)})"

    def _moves(self) -> list[str]:
        """Write what carries and memory are in the next step."""
        pairs = []
        for slot, other in self.plan.moves:
            value = f"v{other}"
            if slot in self._carried:
                value = self._next(slot, other)
            elif self.avals[slot].shape != self.avals[other].shape:
                value += f".reshape({self.bind(self.avals[slot].shape)})"
            if value != f"v{slot}":
                pairs.append((f"v{slot}", value))
        if not pairs:
            return []
        targets, values = [", ".join(column) for column in zip(*pairs, strict=True)]
        return [f"{targets} = {values}"]

    def _next(self, slot: int, other: int) -> str:
        """Write a carry of the next step."""
        if slot in self.planner.numbers:
            return self.number(other)
        if not self.avals[slot].shape:
            there = other < len(self.planner.program.inputs) or other in self._rank0_views
            return self.name(other, "scalar") + ("[()]" if there else "")
        value = self.name(other, "array")
        return f"{self.bind(np.array)}({value})" if slot in self.plan.copies else value

    def _behind(self) -> Iterator[str]:
        """Write the copies of rows of carries after each step into those before each step."""
        before, after = ("[:-1]", "[1:]") if self.reverse else ("[1:]", "[:-1]")
        for row in self.plan.rows:
            if row.kind == BEHIND:
                yield f"y{row.output}{before} = y{row.slot}{after}"

    def _result(self, output: int) -> str:
        """Write a result: the last carry, or rows."""
        planner = self.planner
        if output >= planner.roles.carried:
            return f"y{output}"
        slot = planner.roles.consts + output
        if slot in planner.given:
            return self._array_of(planner.given[slot], self.avals[slot])
        if slot in planner.numbers:
            return f"{self.bind(_NUMBERS[self.avals[slot].dtype.name][1])}(v{slot})"
        return f"{self.bind(np.array)}(v{slot})" if slot in self.plan.borrowed else f"v{slot}"

    def _array_of(self, numbers: Sequence[int], aval: Aval) -> str:
        """Write the making of an array of numbers."""
        made = import_module(_ELEMENTS).array_of_elements([(i, None) for i in numbers], aval)
        line: Expression = made[0]
        names = [self.bind(value) for value in line.bound]
        return line.text(tuple([f"v{i}" for i in made[1]]), names)


def _column(aval: Aval, position: int, rows: str = "") -> str:
    """Write the index of all numbers at one place of the rows of an array."""
    place = map(str, np.unravel_index(position, aval.shape))
    return f"[{rows.strip('[]') or ':'}, {', '.join(place)}]"


class BranchSource(LoopSource):
    """The text of a branch: a function of its operands, which may return one of them.

    `numbers` are its operands and results Python's numbers.
    """

    def __init__(
        self, planner: LoopPlanner, plan: LoopPlan, *, numbers: bool, fast: bool = False
    ) -> None:
        self.numbers = numbers
        super().__init__(planner, plan, range(len(planner.outputs)), counted=True, fast=fast)

    def _written(self, results: Sequence[int]) -> str:
        planner = self.planner
        lines = self._steps()
        found = [self._value(planner.outputs[i]) for i in results]
        before = self._from_numbers() if self.numbers else self._forms()
        before += [line for line in self._memory() if line]
        returned = found[0] if len(found) == 1 else f"({', '.join(found)})"
        params = [self._param(i) for i in range(len(planner.program.inputs))]
        body = [f"        {line}" for line in [*before, *lines, f"return {returned}"]]
        names = ", ".join([f"p{i}" for i in range(len(self.bound))])
        head = [f"def make({names}):", f"    def branch({', '.join(params)}):"]
        return "\n".join([*head, *body, "    return branch", ""])

    def _param(self, slot: int) -> str:
        return f"n{slot}" if self.numbers else super()._param(slot)

    def _from_numbers(self) -> list[str]:
        """Write the forms of operands that lines read which do not take Python's numbers."""
        lines = []
        for slot in range(len(self.planner.program.inputs)):
            if f"v{slot}" in self._used:
                kind = _NUMBERS[self.avals[slot].dtype.name][1]
                lines.append(f"v{slot} = {self.bind(kind)}(n{slot})")
            if f"a{slot}" in self._used:
                lines.append(f"a{slot} = {self.bind(np.asarray)}(n{slot})")
        return lines

    def _value(self, slot: int) -> str:
        if self.numbers:
            found = self.number(slot)
            is_scalar = found == f"v{slot}" and slot not in self.planner.numbers
            python = _NUMBERS[self.avals[slot].dtype.name][0]
            return f"{self.bind(python)}({found})" if is_scalar else found
        if self.avals[slot].shape:
            return self.name(slot, "array")
        if slot in self.planner.numbers:
            kind = _NUMBERS[self.avals[slot].dtype.name][1]
            return f"{self.bind(kind)}({self.number(slot)})"
        return self.name(slot, "scalar")
