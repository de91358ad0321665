"""Loops and branches as XLA's own: ``lax.scan``, ``lax.switch``, ``lax.while_loop``.

Read next: ``plugin.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jax import Array, lax
from jax import numpy as jnp

from tenferro.backend.lowering import Lowerings, LoweringTable, takes_table
from tenferro.computegraph import CompiledProgram, Fragment, compile_program
from tenferro.primitives import Aval
from tenferro.primitives.control import Bound, Checkpoint, Scan, Switch, WhileLoop
from tenferro_xla._bodies import OwnOperation, rewritten_body
from tenferro_xla._operands import numpy_dtype
from tenferro_xla._platform import is_for_cpu
from tenferro_xla._signs import for_signs, nonnegative

lowerings = Lowerings()


@lowerings.register(Scan)
@takes_table
def scan(table: LoweringTable, op: Scan, *xs: Array) -> Any:
    """Loop; only the rows that are asked for are stacked."""
    body = as_function(op.body, table)
    stacked = [i for i in dict.fromkeys(op.outputs) if i >= op.carried]

    def step(carry: Sequence[Array], rows: Sequence[Array]) -> Any:
        found = body(*xs[: op.consts], *carry, *rows)
        return tuple(found[: op.carried]), tuple([found[i] for i in stacked])

    start, rows = tuple(xs[op.consts : op.rows]), tuple(xs[op.rows :])
    carry, stacks = lax.scan(step, start, rows, length=op.length, reverse=op.reverse)
    place = {i: k for k, i in enumerate(stacked)}
    found = [stacks[place[i]] if i in place else carry[i] for i in op.outputs]
    return found[0] if len(found) == 1 else tuple(found)


@lowerings.register(Switch)
@takes_table
def switch(table: LoweringTable, op: Switch, index: Array, *xs: Array) -> Any:
    """Run one branch; an index beyond the ends is clamped."""
    branches = [as_function(branch, table) for branch in op.branches]
    found = lax.switch(index, branches, *xs)
    return found[0] if len(found) == 1 else tuple(found)


@lowerings.register(Checkpoint)
@takes_table
def checkpoint(table: LoweringTable, op: Checkpoint, *xs: Array) -> Any:
    """Run the body; behind a barrier if it computes again what XLA would find computed before."""
    run = as_function(op.body, table)
    if not op.recompute:
        found: Sequence[Array] = run(*xs)
    elif is_for_cpu():
        found = _when_all_are_there(run, op.body.output_avals, xs)
    else:
        found = run(*lax.optimization_barrier(xs))  # type: ignore[no-untyped-call]
    return found[0] if len(found) == 1 else tuple(found)


def _when_all_are_there(
    run: Callable[..., list[Array]], avals: Sequence[Aval], xs: Sequence[Array]
) -> Sequence[Array]:
    """Run a function in a computation of its own, which starts when all its operands are there.

    XLA for the CPU removes barriers before it orders a program. What is computed again then runs as
    early as it can: with the first evaluation or merged with it, with all its values stored. The
    branch of a conditional has no other readers, and XLA does not know its predicate, because that
    is a barrier still when conditionals are simplified.
    """
    is_true = lax.optimization_barrier(jnp.asarray(True))  # type: ignore[no-untyped-call]

    def skip(*_: Array) -> tuple[Array, ...]:
        return tuple([lax.full(a.shape, 0, numpy_dtype(a.dtype)) for a in avals])

    found: Sequence[Array] = lax.cond(is_true, lambda *xs: tuple(run(*xs)), skip, *xs)
    return found


@lowerings.register(WhileLoop)
@takes_table
def while_loop(table: LoweringTable, op: WhileLoop, *xs: Array) -> Any:
    """Loop as long as the condition holds."""
    condition, body = as_function(op.condition, table), as_function(op.body, table)
    consts = xs[: op.consts]
    last = lax.while_loop(
        lambda carry: condition(*consts, *carry)[0],
        lambda carry: tuple(body(*consts, *carry)),
        tuple(xs[op.consts :]),
    )
    found = [last[i] for i in op.outputs]
    return found[0] if len(found) == 1 else tuple(found)


@lowerings.register(Bound)
def bound(op: Bound, x: Array, ended: Array) -> Array:
    """Give nan where the loop has not ended; integers are left as they are."""
    if not jnp.issubdtype(x.dtype, jnp.inexact):
        return x
    mask = lax.broadcast_in_dim(ended, x.shape, tuple(range(ended.ndim)))
    return lax.select(mask, x, lax.full_like(x, float("nan")))


def as_function(body: Fragment, table: LoweringTable) -> Callable[..., list[Any]]:
    """Return a closed graph as a function that jax can trace."""
    return of_program(rewritten_body(table.close(compile_program(body.flat))), table)


def of_program(program: CompiledProgram, table: LoweringTable) -> Callable[..., list[Any]]:
    """Return a program that has a lowering for every instruction as a function to trace."""
    signs = nonnegative(program)

    def run(*operands: Any) -> list[Any]:
        slots: list[Any] = [*operands, *[None] * (program.slot_count - len(operands))]
        for row in program.instructions:
            if isinstance(row.operation, OwnOperation):
                function = row.operation.lowered(table)
            else:
                function = table.lookup(row.operation, [program.avals[i] for i in row.inputs])
                function = for_signs(function, row, signs)
            found = function(row.operation, *[slots[i] for i in row.inputs])
            if len(row.outputs) == 1:
                slots[row.outputs[0]] = found
            else:
                for slot, value in zip(row.outputs, found, strict=True):
                    slots[slot] = value
        return [slots[i] for i in program.outputs]

    return run
