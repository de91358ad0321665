"""Broadcasts and constants that a loop reads in every step, moved into its body.

Recording a loop puts what no step changes in front of it. XLA fuses a broadcast into its readers,
but not across the border of a loop: there it writes it out, a million numbers for a row of a
thousand, and each step reads them from memory. In the body a broadcast costs nothing, and core
finds row blocks that read its operand. Read next: ``_row_blocks.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tenferro.backend.row_blocks import size_of
from tenferro.computegraph import (
    CompiledProgram,
    Fragment,
    Operation,
    compile_program,
    fragment,
    from_rows,
)
from tenferro.primitives import Aval, BroadcastInDim, Constant
from tenferro.primitives.control import Scan, WhileLoop

__all__ = ["with_broadcasts_in_loops"]

#: Bytes of a broadcast array from which on it is worth a change of the program.
_MIN_BYTES = 1 << 16


def with_broadcasts_in_loops(program: CompiledProgram) -> CompiledProgram:
    """Return a program whose loops broadcast what they read whole in their bodies."""
    makers = {
        node.outputs[0]: node
        for node in program.nodes
        if isinstance(node.operation, (BroadcastInDim, Constant))
        and _is_worth_it([program.avals[i] for i in node.inputs], program.avals[node.outputs[0]])
    }
    rows: list[Any] = []
    for node in program.nodes if makers else ():
        row = tuple(node)
        if isinstance(node.operation, (Scan, WhileLoop)):
            while (moved := _with_one_moved(row, makers, program.avals)) is not None:
                row = moved
        rows.append(row)
    if all(row[0] is node.operation for row, node in zip(rows, program.nodes, strict=False)):
        return program
    inputs = list(zip(program.input_names, program.input_avals, strict=True))
    return compile_program(from_rows(inputs, rows, program.outputs, program.avals))


def _is_worth_it(given: Sequence[Aval], made: Aval) -> bool:
    return size_of(made) >= max(_MIN_BYTES, 2 * sum(map(size_of, given)) + 1)


def _with_one_moved(
    row: tuple[Any, ...], makers: Mapping[int, Any], avals: Sequence[Aval]
) -> tuple[Any, ...] | None:
    """Return the loop with the first such value among its constants moved; None without one."""
    loop, slots, *others = row
    for place, slot in enumerate(slots[: loop.consts]):
        if slot in makers:
            made_of = makers[slot].inputs
            given = [avals[i] for i in made_of]
            parameters = dict(loop.parameters)
            for name, body in loop.bodies:
                parameters[name] = _making(body, place, makers[slot].operation, given)
            if not made_of:  # a constant needs no input
                parameters["consts"] = loop.consts - 1
                marks = loop.is_linear
                parameters["is_linear"] = (*marks[:place], *marks[place + 1 :])
            operands = (*slots[:place], *made_of, *slots[place + 1 :])
            return (type(loop)(**parameters), operands, *others)
    return None


def _making(body: Fragment, place: int, operation: Operation, given: Sequence[Aval]) -> Fragment:
    """Return a body that computes one of its inputs, from another one in its place or from none."""
    avals = (*body.input_avals[:place], *given, *body.input_avals[place + 1 :])
    kept = len(given)
    behind = range(place + 1, len(body.avals))
    shifts = [kept if i >= len(body.input_avals) else kept - 1 for i in behind]
    numbers = [i + shift for i, shift in zip(behind, shifts, strict=True)]
    number = [*range(place), len(avals), *numbers]
    equations = [(op, tuple([number[i] for i in inputs])) for op, inputs in body.equations]
    own = (operation, tuple(range(place, place + kept)))
    return fragment(avals, (own, *equations), tuple([number[i] for i in body.outputs]))
