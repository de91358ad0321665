"""Pads and concatenations in a loop that write nothing: their operands are made where they belong.

A step that joins arrays copies all of them, although often one alone is new in each step, such as
``np.concatenate([x[:1], x[1:] * y[:-1]])`` with an ``x`` that stays. Here the joined array is made
once, before the loop, with the operands that stay; the others are written into views of it. Views
of arrays that stay are made before the loop, too. Read next: `loops/plan.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from tenferro.backend.extend import NamedTuple
from tenferro.primitives import Aval
from tenferro_numpy.ir.expression import CIRCULANT, COPY_TO_MATRIX, VIEW_BY_UNIT_AXES, Expression
from tenferro_numpy.ir.peak import size_of
from tenferro_numpy.ir.step import Step
from tenferro_numpy.machine.allocator import PAGES
from tenferro_numpy.memory.reuse import writing_into

__all__ = ["Assembled", "Before", "prepare"]

_TRANSPOSE = "{0}.T"
#: lines that may share memory with an array, and nothing writes into it
_VIEWS = (
    "{0}[{p0}]",
    VIEW_BY_UNIT_AXES,
    _TRANSPOSE,
    "{0}.transpose({p0})",
    COPY_TO_MATRIX,
    CIRCULANT,
)
_Place = tuple[slice, ...]


class Assembled(NamedTuple):
    """An array that is made before a loop.

    slot   of the array
    fill   the slot of the number that fills it; None if operands cover it
    stays  operands that are copied into it, and where
    made   slots of the views that steps write, and where they are
    """

    slot: int
    fill: int | None
    stays: tuple[tuple[int, _Place], ...]
    made: tuple[tuple[int, _Place], ...]


class Before(NamedTuple):
    """The work that is done before a loop.

    assembled   arrays that steps write parts of
    views       lines that make views of arrays that stay
    written     slots of what steps write into such parts: their memory is never free
    """

    assembled: tuple[Assembled, ...] = ()
    views: tuple[Step, ...] = ()
    written: tuple[int, ...] = ()


def prepare(
    steps: list[Step], avals: list[Aval], staying: Collection[int], outputs: Collection[int]
) -> Before:
    """Take out of the steps of a loop what can be done before it.

    `staying` are slots that no step changes: arrays that all steps read, and literals.
    """
    assembled, written = _assembled(steps, avals, staying, outputs)
    fixed = {one.slot for one in assembled}
    steps[:] = _with_transposes(steps, avals, staying)
    known, views = {*staying, *fixed}, []
    for step in steps:
        line, target = step.expression, step.targets[0]
        is_view = line.shares and len(step.operands) == 1 and step.operands[0] in known
        if is_view and target not in outputs and line.template in _VIEWS:
            views.append(step)
            known.add(target)
    gone = {id(step) for step in views}
    steps[:] = [step for step in steps if id(step) not in gone]
    return Before(tuple(assembled), tuple(views), tuple(written))


def _with_transposes(
    steps: Sequence[Step], avals: list[Aval], staying: Collection[int]
) -> list[Step]:
    """Let lines that transpose an array that stays read its transpose, made by a step of its own.

    Expressions and operands are replaced in place.
    """
    made: dict[int, int] = {}
    found: list[Step] = []
    for step in steps:
        for k, slot in enumerate(step.operands):
            line, place = step.expression, f"{{{k}}}"
            whole = line.template + line.onto
            if slot not in staying or not 0 < whole.count(f"{place}.T") == whole.count(place):
                continue
            if line.template == _TRANSPOSE or line.into:  # such a view itself, or a ufunc
                continue
            if slot not in made:
                made[slot] = len(avals)
                avals.append(avals[slot].with_shape(avals[slot].shape[::-1]))
                found.append(Step(Expression(_TRANSPOSE, shares=True), (slot,), (made[slot],), ()))
            step.expression = line._replace(
                template=line.template.replace(f"{place}.T", place),
                onto=line.onto.replace(f"{place}.T", place),
            )
            step.operands = (*step.operands[:k], made[slot], *step.operands[k + 1 :])
        found.append(step)
    return found


def _assembled(
    steps: list[Step], avals: list[Aval], staying: Collection[int], outputs: Collection[int]
) -> tuple[list[Assembled], list[int]]:
    """Let steps write into arrays that are assembled before the loop; drop the steps that join."""
    reads = Counter([slot for step in steps for slot in step.operands])
    reads.update(outputs)
    maker = {step.targets[0]: step for step in steps if len(step.targets) == 1}
    found: list[Assembled] = []
    written: list[int] = []
    instead: dict[int, int] = {}
    for step in steps:
        target = step.targets[0]
        if step.expression.pieces is None or target in outputs:
            continue
        lines = _lines(step, avals, staying, maker, reads)
        if not lines:
            continue
        one = _of(step, avals, staying)
        found.append(one)
        for (slot, line), (view, _) in zip(lines.items(), one.made, strict=True):
            made = maker[slot]
            made.expression = line._replace(memory_of=None)  # it has no other memory
            made.operands = (*made.operands, view)
        written += lines
        instead[target] = one.slot
    if instead:
        steps[:] = [step for step in steps if step.targets[0] not in instead]
        for step in steps:
            step.operands = tuple([instead.get(slot, slot) for slot in step.operands])
    return found, written


def _lines(
    step: Step,
    avals: Sequence[Aval],
    staying: Collection[int],
    maker: Mapping[int, Step],
    reads: Mapping[int, int],
) -> dict[int, Expression]:
    """Return the lines that write the new parts of a joined array; none if not all can be."""
    pieces = step.expression.pieces
    assert pieces is not None
    aval, parts = avals[step.targets[0]], step.operands[: len(pieces.starts)]
    is_filled = pieces.fill is None or step.operands[pieces.fill] in staying
    if not is_filled or not 0 < size_of(aval) <= PAGES:
        return {}
    are_rows = all([avals[slot].shape[1:] == aval.shape[1:] for slot in parts])  # contiguous
    found = {}
    for slot in parts:
        if slot in staying:
            continue
        line = maker[slot].expression if slot in maker and reads[slot] == 1 else None
        is_ufunc = line is not None and line.into and isinstance(line.bound[0], np.ufunc)
        into = writing_into(line) if line is not None and (are_rows or is_ufunc) else None
        if into is None:
            return {}
        found[slot] = into
    return found


def _of(step: Step, avals: list[Aval], staying: Collection[int]) -> Assembled:
    """Return the array that a step joins, with slots for it and for its parts."""
    pieces, target = step.expression.pieces, step.targets[0]
    assert pieces is not None
    slot = len(avals)
    avals.append(avals[target])
    stays, made = [], []
    for operand, start in zip(step.operands, pieces.starts, strict=False):
        shape = avals[operand].shape
        place = tuple([slice(a, a + n) for a, n in zip(start, shape, strict=True)])
        if operand in staying:
            stays.append((operand, place))
        else:
            made.append((len(avals), place))
            avals.append(avals[operand])
    fill = None if pieces.fill is None else step.operands[pieces.fill]
    return Assembled(slot, fill, tuple(stays), tuple(made))
