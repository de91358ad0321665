"""Index vectors that readers take column by column: ``x[i, j]`` joins no array of pairs.

A gather or scatter of single elements computes places in the flat array from the columns of its
index vectors. Where columns were joined for such readers alone, this pass drops the join, which
saves one call and as many bytes as the indices have. Read next: `lowerings/indexing.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from tenferro.primitives import Aval
from tenferro.primitives.indexing import Scatter, ScatterAdd
from tenferro.primitives.structural import Concatenate
from tenferro_numpy.ir.expression import Expression
from tenferro_numpy.ir.step import Step
from tenferro_numpy.lowerings.indexing import points

__all__ = ["keep_columns_separate"]

_SCATTER = "{p0}({p1}, {0}, {1}, {2})"


def keep_columns_separate(
    steps: Sequence[Step],
    avals: Sequence[Aval],
    operations: Sequence[Any],
    outputs: Collection[int],
) -> list[Step]:
    """Return the steps without joins of index vectors that only reads and updates of elements need.

    `operations` are those of the program by position.
    """
    candidates = {s.targets[0] for s in steps if _joins_last_axis(s, avals, operations)}
    candidates.difference_update(outputs)
    if not candidates:
        return list(steps)
    kept, joins = set[int](), {}
    for step in reversed(steps):
        slot = step.targets[0]
        if slot in candidates and slot not in kept:
            joins[slot] = step
            continue
        if candidates.isdisjoint(step.operands):
            continue
        at = _place_of_indices(step, avals, operations)
        kept.update([slot for place, slot in enumerate(step.operands) if place != at])
    joins = {slot: step for slot, step in joins.items() if slot not in kept}
    found = [step for step in steps if step.targets[0] not in joins]
    for step in found:
        if len(step.operands) > 1 and step.operands[1] in joins:
            _take_columns(step, _columns(step.operands[1], joins))
    return found


def _joins_last_axis(step: Step, avals: Sequence[Aval], operations: Sequence[Any]) -> bool:
    """Return True for a step that joins integers along their last axis."""
    if step.expression.pieces is None:
        return False
    op, aval = step.operation_of(operations), avals[step.targets[0]]
    return type(op) is Concatenate and op.dimension == aval.ndim - 1 and aval.dtype.is_integer


def _place_of_indices(step: Step, avals: Sequence[Aval], operations: Sequence[Any]) -> int | None:
    """Return the operand that holds index vectors of single elements; None if there is none."""
    line = step.expression
    if line.bound and line.bound[0] is points:
        return 1
    if line.template != _SCATTER or line.update is None:
        return None
    op = step.operation_of(operations)
    if type(op) not in (Scatter, ScatterAdd) or op.update_window_dims or op.mode == "drop":
        return None
    return 1 if avals[step.operands[0]].size and avals[step.operands[2]].size else None


def _columns(slot: int, joins: dict[int, Step]) -> list[int]:
    """Return what was joined, also where it was joined of joins."""
    if slot not in joins:
        return [slot]
    return [column for part in joins[slot].operands for column in _columns(part, joins)]


def _take_columns(step: Step, columns: Sequence[int]) -> None:
    """Let a step read columns instead of the vectors."""
    end = 1 + len(columns)
    names = "({}, )".format(", ".join([f"{{{i}}}" for i in range(1, end)]))

    def of_columns(line: Expression) -> Expression:
        text = line.template.replace("{2}", f"{{{end}}}").replace("{1}", names, 1)
        return line._replace(template=text)

    line = of_columns(step.expression)
    update = None if line.update is None else of_columns(line.update)
    step.expression = line._replace(update=update)
    step.operands = (step.operands[0], *columns, *step.operands[2:])
