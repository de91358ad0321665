"""Broadcasts that a loop reads in every step, moved into its body.

Recording a loop puts what no step changes in front of it. XLA fuses a broadcast into its readers,
but not across the border of a loop: there it writes it out, a million numbers for a row of a
thousand, and each step reads them from memory. In the body a broadcast costs nothing, and core
finds blocks of rows that read its operand. Read next: ``_row_blocks.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tenferro.backend.row_blocks import size_of
from tenferro.computegraph import (
    CompiledProgram,
    Fragment,
    compile_program,
    fragment,
    from_rows,
)
from tenferro.primitives import Aval, BroadcastInDim
from tenferro.primitives.control import Scan, WhileLoop

__all__ = ["with_broadcasts_in_loops"]

#: Bytes of a broadcast array from which on it is worth a change of the program.
_MIN_BYTES = 1 << 16


def with_broadcasts_in_loops(program: CompiledProgram) -> CompiledProgram:
    """Return a program whose loops broadcast what they read whole in their bodies."""
    makers = {
        node.outputs[0]: node
        for node in program.nodes
        if isinstance(node.operation, BroadcastInDim)
        and _is_worth_it(program.avals[node.inputs[0]], program.avals[node.outputs[0]])
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


def _is_worth_it(given: Aval, made: Aval) -> bool:
    return size_of(made) >= _MIN_BYTES and size_of(made) > 2 * size_of(given)


def _with_one_moved(
    row: tuple[Any, ...], makers: Mapping[int, Any], avals: Sequence[Aval]
) -> tuple[Any, ...] | None:
    """Return the loop with the first broadcast among its constants moved; None without one."""
    loop, slots, *others = row
    for place, slot in enumerate(slots[: loop.consts]):
        if slot in makers:
            source, broadcast = makers[slot].inputs[0], makers[slot].operation
            parameters = dict(loop.parameters)
            for name, body in loop.bodies:
                parameters[name] = _broadcasting(body, place, broadcast, avals[source])
            operands = (*slots[:place], source, *slots[place + 1 :])
            return (type(loop)(**parameters), operands, *others)
    return None


def _broadcasting(body: Fragment, place: int, broadcast: BroadcastInDim, given: Aval) -> Fragment:
    """Return a body that is given the operand of a broadcast instead of its result."""
    count = len(body.input_avals)
    number = [*range(count), *range(count + 1, count + 1 + len(body.avals) - count)]
    number[place] = count
    equations = [
        (operation, tuple([number[i] for i in inputs])) for operation, inputs in body.equations
    ]
    return fragment(
        (*body.input_avals[:place], given, *body.input_avals[place + 1 :]),
        ((broadcast, (place,)), *equations),
        tuple([number[i] for i in body.outputs]),
    )
