"""The loop that stands for a repeated stretch of equations.

What a step reads of the step before is carried; what differs from step to step is read by rows;
what later equations read of all steps is stacked. Where they read something of the last step that
is not carried, that step stays as it was. Values keep every bit: a body holds the same equations.
Read next: ``../_driver.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tenferro._runtime import CollectorPaused
from tenferro.computegraph import (
    MaterializedGraph,
    ValueKey,
    derive,
    derive_one,
    flatten,
)
from tenferro.computegraph._keys import Application
from tenferro.passes.fission.split import at_once
from tenferro.passes.roll.body import Body, Last, Result, RolledLoop, reads_of
from tenferro.passes.roll.search import Stretches
from tenferro.passes.roll.steps import (
    SLOTS,
    Earlier,
    Program,
    Row,
    Steps,
    Whole,
    operation_of,
    results_of,
)
from tenferro.primitives.control import Scan
from tenferro.primitives.structural import Concatenate, Reshape, Reverse, Slice, Transpose

#: A value is stacked if at least one step in four is asked for it.
_MAX_STEPS_PER_STACKED_READ = 4
#: Bytes that are copied into stacks for each equation, from which on copies cost what calls do.
_MOST_BYTES_JOINED = 1 << 13
#: A longer loop is worth its copies: the first call of what Python unrolled takes too long.
_MAX_EQUATIONS_OF_COPIES = 1024


def written(found: Stretches, least_steps: int) -> tuple[list[ValueKey], int]:
    """Return the outputs with loops instead of repeated equations, and how many were written."""
    with CollectorPaused():
        writer = _Writer(found.program, found.outputs, found.loops, least_steps)
        return writer.written(), writer.count + found.joined


def written_in_graph(
    graph: MaterializedGraph, found: Stretches, least_steps: int
) -> tuple[MaterializedGraph, int]:
    """Return a graph with loops instead of repeated equations, and how many loops."""
    outputs, count = written(found, least_steps) if found.loops else (found.outputs, found.joined)
    if not count:
        return graph, 0
    given = set(graph.inputs)
    return (
        flatten(graph.inputs, outputs, lambda key: None if key in given else key.definition),
        count,
    )


class _Writer:
    """The program while it is written again; first from its end, to see what is asked for."""

    def __init__(
        self,
        program: Program,
        outputs: Sequence[ValueKey],
        loops: Sequence[Steps],
        least_steps: int,
    ) -> None:
        self._program = program
        self._outputs = outputs
        self._least_steps = least_steps
        self._new: dict[ValueKey, ValueKey] = {}
        self._rows: dict[ValueKey, tuple[ValueKey, int]] = {}  # the stack that a value is a row of
        self.count = 0
        self._read = {*map(program.value, outputs)}
        self._joined: set[ValueKey] = set()  # read together with others, in a stack
        self._blocks = self._asked(loops)

    def written(self) -> list[ValueKey]:
        """Write the program and return its outputs."""
        if not self.count:
            return [*self._outputs]
        for block in self._blocks:
            if isinstance(block, RolledLoop):
                self._write_loop(block)
            else:
                self._write(block)
        behind = [self._program.value(key) for key in self._outputs]
        found = [self._found(key) for key in behind]
        return [
            key if new is old else new
            for key, old, new in zip(self._outputs, behind, found, strict=True)
        ]

    # ---- from the end ----------------------------------------------------------------------------

    def _asked(self, loops: Sequence[Steps]) -> list[int | RolledLoop]:
        """Return what is needed, in order: places of equations, and loops."""
        blocks: list[int | RolledLoop] = []
        end = len(self._program)
        for whole in reversed(loops):
            for steps in self._shortened(whole):
                blocks += self._needed(steps.end, end)
                end = steps.end
                loop = self._asked_of(steps)
                if loop is not None:
                    blocks.append(loop)
                    self._ask(steps)
                    end = steps.start
                    self.count += 1
                    break
        blocks += self._needed(0, end)
        return blocks[::-1]

    def _shortened(self, steps: Steps) -> Iterator[Steps]:
        """Give the steps, then fewer: something else than a carry may be asked of the last one."""
        yield steps
        for _ in range(2 if steps.tail else 1):
            steps = steps.shorter()
            if steps.length >= self._least_steps:
                yield steps

    def _needed(self, start: int, end: int) -> Iterator[int]:
        """Give the equations that something reads, from the last to the first."""
        for i in range(end - 1, start - 1, -1):
            found = results_of(self._program.makers[i])
            if any([key in self._read or key in self._joined for key in found]):
                parts = self._parts(i)
                if parts is None:
                    self._read.update(self._program.inputs[i])
                else:
                    self._joined.update(parts)
                yield i

    def _parts(self, i: int) -> list[ValueKey] | None:
        """Return what an equation joins into a stack; ``None`` if it does not.

        These are arrays of one shape, or what became them: rows of a stack. Along another axis than
        the first, each of them has one element.
        """
        program = self._program
        operation = program.makers[i].operation
        if type(operation) is not Concatenate:
            return None
        given, axis = program.inputs[i], operation.dimension
        rows = [_reshaped(key, axis) for key in given]
        parts = [program.value(key) for key in rows if key is not None]
        if len(parts) < len(given):
            if axis:
                return None
            parts = [*given]
        return parts if len({key.aval for key in parts}) == 1 else None

    def _asked_of(self, steps: Steps) -> RolledLoop | None:
        """Return a loop that gives what is asked for; ``None`` if none does."""
        asked: dict[Result, set[int]] = {}
        alone = 0
        low, high = steps.start * SLOTS, steps.end * SLOTS
        for keys in (self._read, self._joined):
            for key in keys:
                code = self._program.code_of.get(key, -1)
                if low <= code < high:
                    k, j = steps.step_of(code // SLOTS)
                    asked.setdefault((j, code % SLOTS), set()).add(k)
                    alone += keys is self._read
        if self._moves_more(steps, alone):
            return None
        back = {(x.place, x.slot): x.back for x in reads_of(steps) if isinstance(x, Earlier)}
        last: list[Last] = []
        stacked = []
        for result, ks in sorted(asked.items()):
            ends = sorted([steps.length - k for k in ks])
            if ends[-1] <= back.get(result, 0):
                last += [(*result, end) for end in ends]
            elif len(ks) * _MAX_STEPS_PER_STACKED_READ < steps.length:
                return None
            else:
                stacked.append(result)
        return RolledLoop(steps, tuple(last), tuple(stacked))

    def _moves_more(self, steps: Steps, alone: int) -> bool:
        """Return True if what goes in and out of a loop costs as much as its equations.

        ``alone`` is how many values of it are read one by one.
        """
        joined, count = self._joined_for(steps), steps.period * steps.length
        if 2 * (2 * alone + len(joined)) > count:
            return True
        size = sum([key.aval.size * key.aval.dtype.itemsize for key in joined])
        return count <= _MAX_EQUATIONS_OF_COPIES and size > _MOST_BYTES_JOINED * count

    def _joined_for(self, steps: Steps) -> list[ValueKey]:
        """Return the values that are joined before the loop, which are not rows of an array."""
        rows = {x.keys for x in reads_of(steps) if isinstance(x, Row)}
        given = [keys for keys in rows if keys[0] not in self._program.code_of]
        return [key for keys in given if self._row(keys[0]) is None for key in keys]

    def _ask(self, steps: Steps) -> None:
        """Note what a loop reads."""
        for read in reads_of(steps):
            if isinstance(read, Whole):
                self._read.add(read.key)
            elif isinstance(read, Row):
                self._joined.update(read.keys)
            elif isinstance(read, Earlier):
                self._read.update(read.starts)

    # ---- from the start --------------------------------------------------------------------------

    def _found(self, key: ValueKey) -> ValueKey:
        """Return what stands for a value; a row is taken from its stack."""
        found = self._new.get(key)
        if found is None and key in self._rows:
            stack, k = self._rows[key]
            rest = stack.aval.shape[1:]
            ones = (1,) * len(stack.aval.shape)
            row = derive_one(Slice((k, *[0] * len(rest)), (k + 1, *rest), ones), (stack,))
            found = self._new[key] = derive_one(Reshape(rest), (row,))
        return key if found is None else found

    def _write(self, i: int) -> None:
        """Write an equation again if what it reads has changed."""
        maker, given, parts = self._program.makers[i], self._program.inputs[i], self._parts(i)
        if parts is not None:
            if any([key in self._rows or key in self._new for key in parts]):
                self._new[maker] = _joined(self._stack(parts), maker)
            return
        inputs = [self._found(key) for key in given]
        if all([x is y for x, y in zip(inputs, given, strict=True)]):
            return
        made = derive(operation_of(maker), inputs, maker.role)
        for key, old in zip(made, results_of(maker), strict=True):
            key.source = key.source or old.source
            self._new[old] = key

    def _stack(self, keys: Sequence[ValueKey]) -> ValueKey:
        """Stack values; those that are rows of a stack, one behind the other, are cut out of it."""
        rows = [self._row(key) for key in keys]
        pieces: list[ValueKey] = []
        i = 0
        while i < len(keys):
            row = rows[i]
            if row is None:
                key = self._found(keys[i])
                pieces.append(derive_one(Reshape((1, *key.aval.shape)), (key,)))
                i += 1
            else:
                count, step = _run_of_rows(rows, i, row)
                pieces.append(_taken_rows(*row, count, step))
                i += count
        return pieces[0] if len(pieces) == 1 else derive_one(Concatenate(0), pieces)

    def _row(self, key: ValueKey) -> tuple[ValueKey, int] | None:
        """Return the stack that has a value as a row, and which row; ``None`` if there is none."""
        found = self._rows.get(key)
        if found is not None or key in self._new:
            return found
        part = key.definition
        if part is not None and type(part[0]) is Reshape:
            rows, cut = 1, part[3]
        else:
            rows, cut = key.aval.shape[0] if key.aval.shape else 0, key
        part = cut.definition
        if part is None or type(part[0]) is not Slice or not rows:
            return None
        whole = self._found(self._program.value(part[3]))
        size, *rest = whole.aval.shape
        start: tuple[int, ...] = part[0].start
        if cut.aval.shape != (rows, *rest) or size % rows or start[0] % rows:
            return None
        shape = (size // rows, *key.aval.shape)
        stack = whole if whole.aval.shape == shape else derive_one(Reshape(shape), (whole,))
        return stack, start[0] // rows

    def _write_loop(self, loop: RolledLoop) -> None:
        steps = loop.steps
        body = Body(self._program, loop)
        consts = [self._found(key) for key in body.consts]
        starts = [self._found(carry.starts[0]) for carry in body.carries]
        rows = [self._stack(keys) for keys in body.rows]
        count = len(body.carries)
        wanted = [body.carry_of[last] for last in loop.last]
        wanted += range(count, count + len(loop.stacked))
        operation = Scan(body.fragment, len(consts), count, steps.length, tuple(wanted))
        operands = [*consts, *starts, *rows]
        results = at_once(operation, operands) or derive(operation, operands)
        source = self._program.makers[steps.end - 1].source
        for result in results:
            result.source = result.source or source
        for (j, slot, end), key in zip(loop.last, results, strict=False):
            self._new[self._output(steps.place(steps.length - end, j), slot)] = key
        for (j, slot), key in zip(loop.stacked, results[len(loop.last) :], strict=True):
            for k in range(steps.length):
                place = steps.place(k, j)
                if place >= 0:
                    self._rows[self._output(place, slot)] = key, k

    def _output(self, place: int, slot: int) -> ValueKey:
        maker = self._program.makers[place]
        return maker.output(slot) if isinstance(maker, Application) else maker


def _reshaped(key: ValueKey, axis: int) -> ValueKey | None:
    """Return the value to which an axis of size 1 was added at this place."""
    definition = key.definition
    if definition is None or type(definition[0]) is not Reshape:
        return None
    x: ValueKey = definition[3]
    shape = x.aval.shape
    return x if key.aval.shape == (*shape[:axis], 1, *shape[axis:]) else None


def _joined(stack: ValueKey, maker: ValueKey) -> ValueKey:
    """Return a stack as the concatenation that it stands for."""
    operation: Any = maker.operation
    if operation.dimension:
        rest = range(1, len(stack.aval.shape))
        order = (*rest[: operation.dimension], 0, *rest[operation.dimension :])
        return derive_one(Transpose(order), (stack,))
    shape = maker.aval.shape
    return stack if stack.aval.shape == shape else derive_one(Reshape(shape), (stack,))


def _run_of_rows(
    rows: Sequence[tuple[ValueKey, int] | None], place: int, row: tuple[ValueKey, int]
) -> tuple[int, int]:
    """Return how many rows of a stack follow one another from here, and their step, 1 or -1."""
    stack, first = row
    count = step = 1
    while place + count < len(rows):
        if count == 1 and rows[place + 1] == (stack, first - 1):
            step = -1
        elif rows[place + count] != (stack, first + count * step):
            break
        count += 1
    return count, step


def _taken_rows(stack: ValueKey, first: int, count: int, step: int) -> ValueKey:
    """Return these rows of a stack as a stack."""
    shape = stack.aval.shape
    if count < shape[0]:
        low = first if step > 0 else first - count + 1
        zeros, ones = (0,) * (len(shape) - 1), (1,) * len(shape)
        stack = derive_one(Slice((low, *zeros), (low + count, *shape[1:]), ones), (stack,))
    return stack if step > 0 else derive_one(Reverse((0,)), (stack,))
