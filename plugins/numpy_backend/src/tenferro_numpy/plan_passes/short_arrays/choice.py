"""Choose the instructions that run on numbers: they save more than conversions around them cost.

All that can are taken first. One after the other is then given back if the whole gets cheaper, and
at last each group of those that feed each other that saves nothing. In a loop, a carry is an array
or its numbers, as what it becomes; what all steps read costs nothing. Read next: `rewriting.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from tenferro.backend.extend import NamedTuple
from tenferro.primitives import Aval
from tenferro_numpy.plan_passes.short_arrays.ends import NO_LOOP, Ends
from tenferro_numpy.plan_passes.short_arrays.forms import Form

__all__ = ["Candidate", "chosen", "without_long"]

_SWEEPS = 4
_MARGIN = 2  # times what conversions cost, which a group has to save
#: To plan and compile a line takes 40 µs. Of a group with more lines than these, each further one
#: has to save as many nanoseconds, as estimated: a thousand runs of the program save that time.
#: A line in a loop runs more often.
_MAX_LINES, _PER_LINE = 4096, 40
#: In a program with more lines than these, each instruction has to save that much for its own
#: lines: to look for groups would take longer than all the rest of planning, mostly for nothing.
_MANY_LINES = 8 * _MAX_LINES
#: nanoseconds of reading all elements of an array, and of putting an array together: twice what was
#: measured, because a small gain is not worth more lines
_READ, _READ_EACH, _PUT, _PUT_EACH, _SHAPED = 220, 28, 380, 32, 120
#: the same of reading and storing a row of a loop: half of what was measured, because views of
#: rows and copies into them cost as much
_ROW_EACH, _STORED, _STORED_EACH, _STORED_ALONE = 6, 40, 4, 12


class Candidate(NamedTuple):
    """An instruction that can run on numbers: arrays that it reads and makes, the nanoseconds that
    it saves, and the number of its lines.
    """

    operands: tuple[int, ...]
    targets: tuple[int, ...]
    saved: int
    lines: int = 0


def without_long(forms: Mapping[int, Form], ends: Ends) -> Mapping[int, Form]:
    """Return the forms to choose from; of many lines, those of instructions that save their own."""
    if ends != NO_LOOP:
        return forms
    kinds = {id(form): form for form in forms.values()}
    lines = sum(
        [kinds[kind].lines * count for kind, count in Counter(map(id, forms.values())).items()]
    )
    if lines <= _MANY_LINES:
        return forms
    good = {kind for kind, form in kinds.items() if form.saved > _PER_LINE * form.lines}
    return {i: form for i, form in forms.items() if id(form) in good} if good else {}


def chosen(
    candidates: Mapping[int, Candidate],
    outside: Collection[int],
    avals: Sequence[Aval],
    fewest: int,
    ends: Ends = NO_LOOP,
) -> set[int]:
    """Return the numbers of the candidates to take, in groups of at least `fewest`.

    Arrays `outside` are read as such anyway.
    """
    choice = _Choice(candidates, outside, avals, ends)
    choice.drop_groups(fewest, margin=0)  # the sweeps take longer than this
    if not choice.taken:
        return choice.taken
    choice.count_readers()
    order = [number for number in candidates if number in choice.taken]
    for _ in range(_SWEEPS):
        order.reverse()
        if not any([choice.give_back(number) for number in order if number in choice.taken]):
            break
    choice.drop_groups(fewest, _MARGIN)
    return choice.taken


class _Choice:
    """The candidates that are taken so far, and the conversions that they need.

    readers  of each array: how many candidates read it
    taking   of each array: how many of those are taken
    """

    def __init__(
        self,
        candidates: Mapping[int, Candidate],
        outside: Collection[int],
        avals: Sequence[Aval],
        ends: Ends,
    ) -> None:
        self.candidates = candidates
        self.taken = set(candidates)
        self.avals = avals
        self.outside = outside
        self.ends = ends
        self.linked = ends.linked()

    def count_readers(self) -> None:
        """Note who makes and reads each array; groups that were dropped share none with others."""
        candidates = self.candidates
        self.maker = {slot: number for number, each in candidates.items() for slot in each.targets}
        self.readers = Counter([slot for each in candidates.values() for slot in {*each.operands}])
        self.taking = Counter(self.readers)

    def conversion(self, slot: int) -> int:
        """Return the nanoseconds of converting an array, as things are."""
        aval, ends = self.avals[slot], self.ends
        if not aval.shape or slot in ends.staying:
            return 0  # a number is converted by a pass of its own, for little
        if slot in ends.rows:
            return _ROW_EACH * aval.size if self.taking[slot] else 0
        if self.maker.get(ends.carries.get(slot, slot)) in self.taken:
            if slot in self.outside or self.taking[slot] < self.readers[slot]:
                return _PUT + _PUT_EACH * aval.size
            stored = min(_STORED + _STORED_EACH * aval.size, _STORED_ALONE * aval.size)
            return stored if slot in ends.stacked else 0
        if self.taking[slot]:
            return _READ + _READ_EACH * aval.size + (_SHAPED if aval.ndim > 1 else 0)
        return 0

    def related(self, slots: Collection[int]) -> set[int]:
        """Return slots, and those that have the same form because a loop goes on with them."""
        if self.linked.keys().isdisjoint(slots):
            return {*slots}
        return {other for slot in slots for other in self.linked.get(slot, (slot,))}

    def give_back(self, number: int) -> bool:
        """Give a candidate back if conversions then get cheaper by more than it saves."""
        each = self.candidates[number]
        slots = self.related({*each.targets, *each.operands})
        before = sum([self.conversion(slot) for slot in slots])
        if before <= each.saved:  # the conversions left cost nothing at best
            return False
        self.taken.remove(number)
        self.taking.subtract({*each.operands})
        after = sum([self.conversion(slot) for slot in slots])
        if before - after > each.saved:
            return True
        self.taken.add(number)
        self.taking.update({*each.operands})
        return False

    def drop_groups(self, fewest: int, margin: int) -> None:
        """Give back each group of candidates that feed each other and are few, or save less than
        so many times what conversions cost.
        """
        parent = {number: number for number in self.taken}

        def root(number: int) -> int:
            while parent[number] != number:
                parent[number] = number = parent[parent[number]]
            return number

        slots: dict[int, int] = {}
        for number in self.taken:
            each, own = self.candidates[number], root(number)
            for slot in self.related((*each.targets, *each.operands)):
                other = slots.setdefault(slot, number)
                if other != number:
                    parent[root(other)] = own
        groups: dict[int, list[int]] = {}
        for number in self.taken:
            groups.setdefault(root(number), []).append(number)
        saved = {number: self._saved(group) for number, group in groups.items()}
        for slot, number in slots.items() if margin else ():
            saved[root(number)] -= margin * self.conversion(slot)
        large = [g for number, g in groups.items() if len(g) >= fewest and saved[number] > 0]
        self.taken = {number for group in large for number in group}

    def _saved(self, group: Collection[int]) -> int:
        """Return the nanoseconds that a group saves, without conversions, less those of lines."""
        members = [self.candidates[number] for number in group]
        saved = sum([each.saved for each in members])
        lines = sum([each.lines for each in members])
        is_long = self.ends == NO_LOOP and lines > _MAX_LINES
        return saved - _PER_LINE * (lines - _MAX_LINES) if is_long else saved
