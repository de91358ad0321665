"""The equations of a recorded program in the order in which they were recorded, and what a step of
a repeated stretch reads: values of the same step, of earlier steps, or from outside.

Read next: ``loops.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import Operation, ValueKey
from tenferro.computegraph._keys import SHARED_SERIAL, Application
from tenferro.passes.roll.periods import Run
from tenferro.tidu import Pin

SLOTS = 1 << 16  # more than any operation has outputs
_MOST_STEPS_BACK = 8
_MAX_STRETCHES_TRIED = 4  # stretches, each a part of the one before
_MAY_FAIL = ("tenferro.primitives.linalg", "tenferro.primitives.callback")


Equation = tuple[Operation, tuple[ValueKey, ...]]  # and what it reads


class Program:
    """Equations in the order of recording, without pins, whose transforms have ended.

    ``makers`` are their outputs, or the applications of those with several; ``inputs`` what they
    read; ``items`` are equal for equal operations with results of equal avals. ``code_of`` a value
    is its equation's place times ``SLOTS`` plus its number among the outputs.
    """

    def __init__(
        self,
        outputs: Sequence[ValueKey],
        is_given: Callable[[ValueKey], bool],
        least_steps: int,
    ) -> None:
        self._behind: dict[ValueKey, ValueKey] = {}  # pins
        made = _reached(outputs, is_given, self._behind)
        makers = sorted(made, key=_serial)
        numbers: dict[Any, int] = {}
        equations = [made[m] for m in makers]
        items = [
            numbers.setdefault((operation, m.aval), len(numbers))
            for m, (operation, _) in zip(makers, equations, strict=True)
        ]
        inputs = [given for _, given in equations]
        if self._behind:
            inputs = [tuple([self.value(x) for x in given]) for given in inputs]
        early = _early(makers, inputs, items, made, least_steps)
        kept = [i for i, maker in enumerate(makers) if maker not in early]
        self.makers = [makers[i] for i in kept]
        self.inputs = [inputs[i] for i in kept]
        self.items = [items[i] for i in kept]

    @cached_property
    def code_of(self) -> dict[ValueKey, int]:
        """The code of each value; made when something is repeated."""
        return {
            key: i * SLOTS + slot
            for i, maker in enumerate(self.makers)
            for slot, key in enumerate(results_of(maker))
        }

    def __len__(self) -> int:
        return len(self.makers)

    def value(self, key: ValueKey) -> ValueKey:
        """Return the value behind pins."""
        while key in self._behind:
            key = self._behind[key]
        return key


def results_of(maker: ValueKey) -> tuple[ValueKey, ...]:
    """Return the outputs of an equation."""
    return maker.outputs if type(maker) is Application else (maker,)


def operation_of(maker: ValueKey) -> Operation:
    """Return the operation of an equation."""
    operation: Any = maker.operation  # never a leaf
    return operation  # type: ignore[no-any-return]


def _serial(key: ValueKey) -> int:
    return key.serial


def _reached(
    outputs: Sequence[ValueKey],
    is_given: Callable[[ValueKey], bool],
    behind: dict[ValueKey, ValueKey],
) -> dict[ValueKey, Equation]:
    """Return the equations from which the outputs follow, by their makers; also find the pins."""
    made: dict[ValueKey, Equation] = {}
    seen = set(outputs)
    stack = [*seen]
    while stack:
        key = stack.pop()
        definition = key.definition
        if definition is None or key.serial >= SHARED_SERIAL or is_given(key):
            continue
        operation = definition[0]
        if type(operation) is Pin:
            behind[key] = definition[3]
            given = definition[3:]
        elif operation.output_count == 1:
            given = definition[3:]
            made[key] = operation, given
        elif definition[3] in made:
            continue
        else:
            given = definition[3].inputs
            made[definition[3]] = operation, given
        for x in given:
            if x not in seen:
                seen.add(x)
                stack.append(x)
    return made


def _early(
    makers: Sequence[ValueKey],
    inputs: Sequence[tuple[ValueKey, ...]],
    items: Sequence[int],
    made: dict[ValueKey, Equation],
    least_steps: int,
) -> set[ValueKey]:
    """Return the equations that depend on leaves alone and are not repeated.

    A constant is recorded in the step that needs it first, which would look unlike the others.
    """
    counts = [0] * (max(items, default=0) + 1)
    for item in items:
        counts[item] += 1
    early: set[ValueKey] = set()
    for maker, given, item in zip(makers, inputs, items, strict=True):
        if counts[item] < least_steps:
            sources = map(_maker, given)
            if all([x in early or x not in made for x in sources]):
                early.add(maker)
    return early


def _maker(key: ValueKey) -> ValueKey:
    definition = key.definition
    if definition is None or definition[0].output_count == 1:
        return key
    application: ValueKey = definition[3]
    return application


class Same(NamedTuple):
    """A value of the same step: of equation ``place`` of the period, output ``slot``."""

    place: int
    slot: int


class Earlier(NamedTuple):
    """A value of ``back`` steps before; ``starts`` are read instead by as many first steps."""

    place: int
    slot: int
    back: int
    starts: tuple[ValueKey, ...]


class Whole(NamedTuple):
    """A value from outside, the same in all steps."""

    key: ValueKey


class Row(NamedTuple):
    """Values from outside, one per step."""

    keys: tuple[ValueKey, ...]


Read = Same | Earlier | Whole | Row


Reads = tuple[tuple[Read, ...], ...]


class Steps(NamedTuple):
    """A stretch whose steps all read alike; ``reads`` has a row per equation of a period.

    Of the last step some equations may be missing, because nothing reads them: then ``tail`` has
    the places of all, -1 for those.
    """

    start: int
    period: int
    length: int
    reads: Reads
    tail: tuple[int, ...] = ()

    @property
    def end(self) -> int:
        """The place behind the last step."""
        return max(self.tail) + 1 if self.tail else self.start + self.period * self.length

    def place(self, k: int, j: int) -> int:
        """Return the place of equation ``j`` of step ``k``; -1 if it is missing."""
        if self.tail and k == self.length - 1:
            return self.tail[j]
        return self.start + k * self.period + j

    def step_of(self, place: int) -> tuple[int, int]:
        """Return the step of an equation, and which one of the period it is."""
        if place in self.tail:
            return self.length - 1, self.tail.index(place)
        return divmod(place - self.start, self.period)

    def shorter(self) -> Steps:
        """Return all steps but the last."""
        reads = tuple([tuple([_without_last(read) for read in row]) for row in self.reads])
        return Steps(self.start, self.period, self.length - 1, reads)


def _without_last(read: Read) -> Read:
    return Row(read.keys[:-1]) if isinstance(read, Row) else read


def steps_of(program: Program, run: Run, least_steps: int) -> Steps | None:
    """Return the longest part of a stretch in which all steps read alike, if it is long enough."""
    start, count = _aligned(program, run)
    for _ in range(_MAX_STRETCHES_TRIED):
        if count < least_steps:
            return None
        reads, odd = _reads(program, start, run.period, count)
        if not odd:
            return _with_tail(program, Steps(start, run.period, count, reads))
        ends = [-1, *sorted(odd), count]
        size, first = max([(b - a - 1, -a - 1) for a, b in pairwise(ends)])
        start, count = start - first * run.period, size
    return None


def _aligned(program: Program, run: Run) -> tuple[int, int]:
    """Return the start and number of steps such that the fewest values go from step to step.

    Where several cuts are equal, the last step ends with the stretch.
    """
    period = run.period
    middle = run.start + run.steps // 2 * period
    reach = [0] * period
    for i in range(middle, middle + period):
        for key in program.inputs[i]:
            at = program.code_of.get(key, -1) // SLOTS
            if at >= run.start:
                offset = (at - run.start) % period
                reach[offset] = max(reach[offset], i - at)
    change = [0] * (2 * period + 1)
    for offset, distance in enumerate(reach):
        change[offset + 1] += 1
        # a value that goes further than a period crosses every cut
        change[offset + 1 + min(distance, period)] -= 1
    crossing, across = [0] * (2 * period), 0
    for i in range(2 * period):
        across += change[i]
        crossing[i] = across
    costs = [(crossing[c] + crossing[c + period], c != run.rest, c) for c in range(period)]
    best = min(costs)[2]
    return run.start + best, run.steps - (best > run.rest)


def _reads(program: Program, start: int, period: int, count: int) -> tuple[Reads, set[int]]:
    """Return what each equation of a period reads, and the steps that read otherwise."""
    odd: set[int] = set()
    rows = []
    for j in range(period):
        column = program.inputs[start + j : start + j + period * count : period]
        arity = len(column[0])
        if any([len(given) != arity for given in column]):
            return (), {*range(count)}
        columns = [[given[a] for given in column] for a in range(arity)]
        rows.append(tuple([_read(program, start, period, keys, odd) for keys in columns]))
    return tuple(rows), odd


def _read(
    program: Program, start: int, period: int, keys: Sequence[ValueKey], odd: set[int]
) -> Read:
    """Return what the steps read here, and note the steps that do not fit."""
    get, count = program.code_of.get, len(keys)
    codes = [get(key, -1) for key in keys]
    first, stride = start * SLOTS, period * SLOTS
    usual = codes[count // 2]
    if usual < first:
        if max(codes) >= first:
            odd.update([k for k, code in enumerate(codes) if code >= first])
        common = keys[-1]
        others = [k for k, key in enumerate(keys) if key is not common]
        if not others or others == [0]:
            odd.update(others)
            return Whole(common)
        odd.update([k for k, key in enumerate(keys) if key.aval != common.aval])
        return Row(tuple(keys))
    step, code = divmod(usual - first, stride)
    back = count // 2 - step
    if back > _MOST_STEPS_BACK:
        odd.update(range(count))
    here = first + code - back * stride
    if codes[back:] != [*range(here + back * stride, here + count * stride, stride)]:
        odd.update([k for k in range(back, count) if codes[k] != here + k * stride])
    j, slot = divmod(code, SLOTS)
    if not back:
        return Same(j, slot)
    aval = keys[-1].aval
    odd.update([k for k in range(back) if codes[k] >= first or keys[k].aval != aval])
    return Earlier(j, slot, back, tuple(keys[:back]))


def _with_tail(program: Program, steps: Steps) -> Steps:
    """Add a last step that is there in part: what nothing reads of it was not recorded.

    The loop computes it in vain. Where that could be an error, the step stays outside.
    """
    tail: list[int] = []
    rows: dict[tuple[int, int], ValueKey] = {}
    at = steps.end
    for j, reads in enumerate(steps.reads):
        there = at < len(program) and program.items[at] == program.items[steps.start + j]
        found = _fitting(program, steps, tail, at, reads) if there else None
        if found is None:
            if type(program.makers[steps.start + j].operation).__module__.startswith(_MAY_FAIL):
                return steps
            tail.append(-1)
            continue
        rows.update({(j, a): key for a, key in found.items()})
        tail.append(at)
        at += 1
    if at == steps.end:
        return steps
    longer = tuple(
        [
            tuple([_with_last(read, rows.get((j, a))) for a, read in enumerate(reads)])
            for j, reads in enumerate(steps.reads)
        ]
    )
    return Steps(steps.start, steps.period, steps.length + 1, longer, tuple(tail))


def _with_last(read: Read, key: ValueKey | None) -> Read:
    """Add a row; of an equation that is missing, any one of the right aval."""
    return Row((*read.keys, key or read.keys[-1])) if isinstance(read, Row) else read


def _fitting(
    program: Program, steps: Steps, tail: Sequence[int], at: int, reads: Sequence[Read]
) -> dict[int, ValueKey] | None:
    """Return the rows that an equation reads as one of the step behind the last one; else None."""
    given = program.inputs[at]
    if len(given) != len(reads):
        return None
    found: dict[int, ValueKey] = {}
    for a, (read, key) in enumerate(zip(reads, given, strict=True)):
        code = program.code_of.get(key, -1)
        if isinstance(read, Row):
            fits = code < steps.start * SLOTS and key.aval == read.keys[0].aval
            found[a] = key
        elif isinstance(read, Whole):
            fits = key is read.key
        elif isinstance(read, Same):
            fits = code == tail[read.place] * SLOTS + read.slot
        else:
            place = steps.place(steps.length - read.back, read.place)
            fits = code == place * SLOTS + read.slot
        if not fits:
            return None
    return found
