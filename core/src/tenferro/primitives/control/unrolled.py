"""A loop as its steps, one behind the other, which is what runs where a backend has no loops.

Read next: ``../../backend/lowering/decompose.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro.computegraph import ValueKey
from tenferro.primitives._handle import Handle
from tenferro.primitives.control.scan import Scan
from tenferro.primitives.structural import concatenate, reshape
from tenferro.primitives.structural import slice as cut


def steps_of(loop: Scan, xs: Sequence[Handle]) -> tuple[Handle, ...]:
    """Return the results of a loop from its steps."""
    consts, rows = [x.key for x in xs[: loop.consts]], xs[loop.rows :]
    carry = [x.key for x in xs[loop.consts : loop.rows]]
    steps = range(loop.length)
    found: list[list[ValueKey]] = []
    for k in reversed(steps) if loop.reverse else steps:
        found.append(loop.body.apply([*consts, *carry, *[_row(x, k).key for x in rows]]))
        carry = found[-1][: loop.carried]
    in_order = found[::-1] if loop.reverse else found
    return tuple(
        [
            Handle(carry[i])
            if i < loop.carried
            else concatenate([_as_row(outputs[i]) for outputs in in_order], 0)
            for i in loop.outputs
        ]
    )


def rows_between(x: Handle, start: int, stop: int) -> Handle:
    """Return the rows of an array from one position to another."""
    if (start, stop) == (0, x.shape[0]):
        return x
    others = [0] * (x.ndim - 1)
    return cut(x, (start, *others), (stop, *x.shape[1:]))


def _row(x: Handle, k: int) -> Handle:
    rest = x.shape[1:]
    row = cut(x, (k, *[0] * len(rest)), (k + 1, *rest), (1,) * x.ndim)
    return reshape(row, rest)


def _as_row(key: ValueKey) -> Handle:
    return reshape(Handle(key), (1, *key.aval.shape))
