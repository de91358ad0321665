"""The reference interpreter: run a program instruction by instruction.

Backends run programs faster; this is what they are compared with. It checks counts, frees operands
at their last use and adds the equation to any error. Read next: ``_cache.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.computegraph._compile import CompiledProgram, Instruction, check_operand_count
from tenferro.computegraph._errors import GraphError, OperandError
from tenferro.computegraph._operation import Operation

Execute = Callable[[Operation, Sequence[Any]], Sequence[Any]]


Accepts = Callable[[Any, Any], bool]


def evaluate(
    program: CompiledProgram,
    execute: Execute,
    operands: Sequence[Any],
    *,
    accepts: Accepts | None = None,
) -> list[Any]:
    """Run the program on operands, in the order of its inputs.

    ``execute(operation, operands)`` returns the operation's outputs; ``accepts(aval, operand)``
    says whether an operand is of an abstract value, and nothing is checked without it.

    Raises OperandError: if an operand is missing, surplus or ill-typed, naming the input.
    """
    check_operand_count(program, operands)
    if accepts is not None:
        check_operands(program, accepts, operands)
    slots: list[Any] = [None] * program.slot_count
    slots[: len(operands)] = operands
    for position, instruction in enumerate(program.instructions):
        _step(program, position, instruction, execute, slots)
    return [slots[i] for i in program.outputs]


def check_operands(program: CompiledProgram, accepts: Accepts, operands: Sequence[Any]) -> None:
    """Raise OperandError unless every operand is of the abstract value of its input."""
    for name, aval, operand in zip(program.input_names, program.avals, operands, strict=False):
        if not accepts(aval, operand):
            kind = type(operand).__qualname__
            raise OperandError(
                f"ill-typed operand for input {name!r}: got {kind}, need {aval}",
                input=name,
                got=kind,
                need=aval,
            )


def _step(
    program: CompiledProgram,
    position: int,
    instruction: Instruction,
    execute: Execute,
    slots: list[Any],
) -> None:
    try:
        results = execute(instruction.operation, [slots[i] for i in instruction.inputs])
    except Exception as error:
        error.add_note(f"  equation   {program.equation(position)}")
        raise
    if len(results) != len(instruction.outputs):
        raise GraphError(
            f"{instruction.operation.name} gave {len(results)} results, "
            f"need {len(instruction.outputs)}\n  equation   {program.equation(position)}",
            operation=instruction.operation,
        )
    for slot, result in zip(instruction.outputs, results, strict=True):
        slots[slot] = result
    for slot in instruction.frees:
        slots[slot] = None
