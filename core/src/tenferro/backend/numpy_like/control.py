"""Loops for a NumPy-shaped namespace: Python's own, over the lowerings of the body's equations.

The NumPy backend plans its loops itself, in its folder `loops`, and uses parts of this file.
Read next: `callback.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from tenferro.backend.lowering import Lowerings, LoweringTable, takes_table
from tenferro.backend.numpy_like._common import native_dtype
from tenferro.computegraph import CompiledProgram, compile_program
from tenferro.primitives import StepLimitError
from tenferro.primitives.control import Bound, Checkpoint, Scan, Switch, WhileLoop

__all__ = ["branch_of", "known", "looped", "register", "repeated"]

#: a body as a function of its inputs
Body = Callable[..., Sequence[Any]]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the control family."""

    @lowerings.register(Scan)
    @takes_table
    def scan(table: LoweringTable, op: Scan, *xs: Any) -> Any:
        body = interpreted(table.close(compile_program(op.body.flat)), table)
        found = looped(op, body, xp, xs)
        return found[0] if len(found) == 1 else tuple(found)

    @lowerings.register(Switch)
    @takes_table
    def switch(table: LoweringTable, op: Switch, index: Any, *xs: Any) -> Any:
        branch = op.branches[branch_of(index, len(op.branches))]
        found = interpreted(table.close(compile_program(branch.flat)), table)(*xs)
        return found[0] if len(found) == 1 else tuple(found)

    @lowerings.register(Checkpoint)
    @takes_table
    def checkpoint(table: LoweringTable, op: Checkpoint, *xs: Any) -> Any:
        found = interpreted(table.close(compile_program(op.body.flat)), table)(*xs)
        return found[0] if len(found) == 1 else tuple(found)

    @lowerings.register(WhileLoop)
    @takes_table
    def while_(table: LoweringTable, op: WhileLoop, *xs: Any) -> Any:
        condition, body = [
            interpreted(table.close(compile_program(part.flat)), table)
            for part in (op.condition, op.body)
        ]
        found = repeated(op, condition, body, xs)
        return found[0] if len(found) == 1 else tuple(found)

    @lowerings.register(Bound)
    def bound(op: Bound, x: Any, ended: Any) -> Any:
        if not known(xp.all(ended)):
            raise StepLimitError.of(op.steps)
        return x


def interpreted(program: CompiledProgram, table: LoweringTable) -> Body:
    """Return a program as a function that calls one lowering after the other."""
    calls = [
        (
            table.lookup(row.operation, [program.avals[i] for i in row.inputs]),
            row.operation,
            row.inputs,
            row.outputs,
        )
        for row in program.instructions
    ]

    def run(*operands: Any) -> list[Any]:
        slots: list[Any] = [*operands, *[None] * (program.slot_count - len(operands))]
        for function, operation, inputs, outputs in calls:
            found = function(operation, *[slots[i] for i in inputs])
            if len(outputs) == 1:
                slots[outputs[0]] = found
            else:
                for slot, value in zip(outputs, found, strict=True):
                    slots[slot] = value
        return [slots[i] for i in program.outputs]

    return run


def looped(op: Scan, body: Body, xp: Any, xs: Sequence[Any]) -> list[Any]:
    """Run the steps of a loop; rows are written into the stacked results."""
    consts, rows = xs[: op.consts], xs[op.rows :]
    carry: Sequence[Any] = xs[op.consts : op.rows]
    count = op.carried
    stacked = [i for i in dict.fromkeys(op.outputs) if i >= count]
    avals = op.body.output_avals
    stacks = {}
    for i in stacked:
        shape, dtype = (op.length, *avals[i].shape), native_dtype(xp, avals[i].dtype)
        in_file = op.offload is not None and i in op.offloaded
        stacks[i] = (
            _files().array_in_file(xp, op.offload or "", shape, xp.dtype(dtype))
            if in_file
            else xp.empty(shape, dtype)
        )
    steps = range(op.length - 1, -1, -1) if op.reverse else range(op.length)
    for k in steps:
        found = body(*consts, *carry, *[x[k] for x in rows])
        carry = found[:count]
        for i, stack in stacks.items():
            stack[k] = found[i]
    return [stacks[i] if i >= count else carry[i] for i in op.outputs]


def _files() -> Any:
    """Import what stores rows in files, which few loops do; `tempfile` is slow to load."""
    return import_module("tenferro.backend.numpy_like.offload")


def branch_of(index: Any, count: int) -> int:
    """Return the number of the branch that an index takes."""
    asked: int = known(index)
    return min(max(asked, 0), count - 1)


def known(x: Any) -> Any:
    """Return the number in an array of rank 0; on a device this waits for it."""
    return x.item() if hasattr(x, "item") else x


def repeated(op: WhileLoop, condition: Body, body: Body, xs: Sequence[Any]) -> list[Any]:
    """Run the steps of a loop as long as its condition holds."""
    consts = xs[: op.consts]
    carry: Sequence[Any] = xs[op.consts :]
    while known(condition(*consts, *carry)[0]):
        carry = body(*consts, *carry)
    return [carry[i] for i in op.outputs]
