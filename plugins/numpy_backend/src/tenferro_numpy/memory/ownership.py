"""In whose memory a value lies: what a step makes is new, or may share memory with its operands.

`Memory` follows the steps in their order, and knows what may be written over. Read next:
`memory/reuse.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tenferro.primitives import Aval
from tenferro_numpy.ir.expression import VIEW_BY_UNIT_AXES
from tenferro_numpy.ir.peak import size_of
from tenferro_numpy.ir.step import Step
from tenferro_numpy.ir.tiled import Tiled

__all__ = ["Memory"]

_NOBODY = -1  # the name of memory from outside
_RESHAPES = ("{0}.reshape({p0})", VIEW_BY_UNIT_AXES)  # both bind the shape of the result first


class Memory:
    """Ownership table: which slots share which memory, how many are alive, and all sizes.

    Memory is named by the slot that it was made for. What comes from outside has no name here,
    unless it is donated.

    name       of the memory of a slot
    alive      how many slots in memory of this name are alive
    whole      the slot that last was all of it
    seen       names of memory that somebody else may hold
    writeable  whether a slot is an array that one may write to
    waiting    dead memory by aval: since when, and the slot that was all of it
    died       the last step that touches a slot, of those that are dead
    given      names of donated memory that has not been written to yet
    changes    bytes that are alive in a step more than in the step before
    """

    def __init__(
        self, avals: Sequence[Aval], dying: list[Sequence[int]], donated: Iterable[int] = ()
    ) -> None:
        self.avals = avals
        self.dying = dying
        self.now = 0
        self.name = [_NOBODY] * len(avals)
        self.alive = [0] * len(avals)
        self.whole = [_NOBODY] * len(avals)
        self.seen: set[int] = set()
        self.writeable = bytearray(len(avals))
        self.waiting: dict[Aval, list[tuple[int, int]]] = {}
        self.died = [0] * len(avals)
        self.changes = [0] * (len(dying) + 1)
        self.given = set(donated)
        self._sizes = {aval: size_of(aval) for aval in set(avals)}
        for slot in self.given:
            self.name[slot] = self.whole[slot] = slot
            self.alive[slot] = 1
            self.writeable[slot] = bool(avals[slot].shape)

    def begin(self, position: int, step: Step) -> None:
        """Note what the code of a step may keep."""
        self.now = position
        foreign, shares = step.expression.foreign, step.expression.shares
        if foreign or (shares and self.viewed(step) is None):
            self.seen.update([self.name[i] for i in step.operands])

    def viewed(self, step: Step) -> int | None:
        """Return the operand that a result is a view of; None if it may be several."""
        if len(step.targets) > 1:
            return None
        if len(step.operands) == 1:
            return step.operands[0]
        arrays = [i for i in step.operands if self.avals[i].shape]
        return arrays[0] if len(arrays) == 1 and not step.expression.foreign else None

    def follow(self, steps: Iterable[Step]) -> None:
        """Take steps as they are."""
        for position, step in enumerate(steps):
            self.begin(position, step)
            self.end(step)

    def shared(self, outputs: Iterable[int]) -> list[bool]:
        """Return for each result True if it must be copied, because other code may hold its
        memory.
        """
        taken: set[int] = set()
        shared = []
        for slot in outputs:
            name = self.name[slot]
            own = name != _NOBODY and name not in self.given and name not in taken
            own = own and (name == slot or bool(self.writeable[slot]))
            if own:
                whole, aval = self.avals[name], self.avals[slot]
                own = whole.size == aval.size and whole.dtype is aval.dtype
            if own:
                taken.add(name)
            shared.append(not own)
        return shared

    def works(self, position: int, size: int) -> None:
        """Note bytes that a step makes and frees while it runs."""
        self.changes[position] += size
        self.changes[position + 1] -= size

    # ---- what may be written to ------------------------------------------------------------------

    def is_free(self, slot: int) -> bool:
        """Return True if the step may write to an operand: all that shares its memory dies with
        it.
        """
        if not self.writeable[slot]:  # what is writeable has a name
            return False
        name = self.name[slot]
        last = self.alive[name] == 1 and slot in self.dying[self.now]
        return last and name not in self.seen

    def has_room(self, slot: int, target: int) -> bool:
        """Return True if an operand is free, and its memory has exactly the size of a target."""
        return (
            self.avals[slot] is self.avals[target]
            and self.whole[self.name[slot]] == slot
            and self.is_free(slot)
        )

    def wakes(self, slot: int, since: int) -> None:
        """Let an array that was dead since some step live until this one."""
        name = self.name[slot]
        self.alive[name] = 1
        then = self.died[slot]
        self.dying[then] = [i for i in self.dying[then] if i != slot]
        self.dying[self.now] = [*self.dying[self.now], slot]
        self.changes[since + 1] += self._size(name)

    # ---- what a step leaves ----------------------------------------------------------------------

    def end(self, step: Step) -> None:
        """Note where the results of a step are, and what is dead after it."""
        expression = step.expression
        if expression.shares:
            self._views(step)
        elif expression.memory_of is not None:
            self._lies_in(step.targets[0], step.operands[expression.memory_of])
        elif expression.bound and isinstance(expression.bound[0], Tiled):
            self._of_region(step, expression.bound[0])
        else:
            for slot in step.targets:
                self._is_made(slot)
        for slot in self.dying[self.now]:
            name = self.name[slot]
            if name != _NOBODY:
                self.died[slot] = self.now
                self.alive[name] -= 1
                if not self.alive[name]:
                    self._dies(name)

    def _of_region(self, step: Step, region: Tiled) -> None:
        for number, slot in enumerate(step.targets):
            place = region.reuse.get(number)
            if place is None:
                self._is_made(slot)
            else:
                self._lies_in(slot, step.operands[place])

    def _views(self, step: Step) -> None:
        """Note the result of a step that shares memory with its operand."""
        viewed, expression = self.viewed(step), step.expression
        if viewed is None or self.name[viewed] == _NOBODY:
            return
        target, line = step.targets[0], expression.template
        name = self.name[target] = self.name[viewed]
        self.alive[name] += 1
        # of a broadcast that stays unexpanded, the aval is larger than the array
        same = line in _RESHAPES and expression.bound[0] == self.avals[target].shape
        if same and self.whole[name] == viewed:
            self.whole[name] = target
        self.writeable[target] = self.writeable[viewed] and line.startswith("{0}")

    def _lies_in(self, slot: int, source: int) -> None:
        """Note a result that was written over an operand."""
        name = self.name[slot] = self.name[source]
        self.alive[name] += 1
        if name in self.given:  # from now on it is the program's own
            self.given.remove(name)
            self.changes[self.now] += self._size(name)
        if self.whole[name] == source:
            self.whole[name] = slot
        self.writeable[slot] = True

    def _is_made(self, slot: int) -> None:
        """Note new memory."""
        self.name[slot] = self.whole[slot] = slot
        self.alive[slot] = 1
        if self.avals[slot].shape:
            self.writeable[slot] = True
            self.changes[self.now] += self._sizes[self.avals[slot]]

    def _dies(self, name: int) -> None:
        """Note that nothing in this memory is read any more."""
        if not self.avals[name].shape:
            return
        self.changes[self.now + 1] -= self._size(name)
        if name in self.seen:
            return
        whole = self.whole[name]
        dead, aval = (self.now, whole), self.avals[whole]
        if aval in self.waiting:
            self.waiting[aval].append(dead)
        else:
            self.waiting[aval] = [dead]

    def _size(self, name: int) -> int:
        return 0 if name in self.given else self._sizes[self.avals[name]]
