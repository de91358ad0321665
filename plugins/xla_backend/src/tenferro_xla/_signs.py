"""Values that cannot be negative, and lowerings that are cheaper for such operands.

A lowering says so by the attribute ``of_nonnegative``, another lowering: of ``log1p``, for which
XLA's own function is exact enough there, and is fused into sums. NaN and
-0.0 count as not negative, hence no quotients. Knows no jax. Read next: ``_trace.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.computegraph import CompiledProgram, Instruction
from tenferro.primitives import (
    Abs,
    Add,
    BroadcastInDim,
    Concatenate,
    Cosh,
    Erfc,
    Exp,
    Exp2,
    IntegerPow,
    Logistic,
    Maximum,
    Minimum,
    Mul,
    ReduceMax,
    ReduceMin,
    ReduceSum,
    Reshape,
    Reverse,
    Slice,
    Sqrt,
    Square,
    Transpose,
)

_ALWAYS = (Abs, Cosh, Erfc, Exp, Exp2, Logistic, Sqrt, Square)
_OF_NONNEGATIVE = (
    Add, BroadcastInDim, Concatenate, Maximum, Minimum, Mul, ReduceMax, ReduceMin, ReduceSum,
    Reshape, Reverse, Slice, Transpose,
)  # fmt: skip


def nonnegative(program: CompiledProgram) -> frozenset[int]:
    """Return the slots whose real values are zero, positive or nan, whatever the inputs are."""
    found: set[int] = set()
    for instruction in program.instructions:
        slot, *others = instruction.outputs
        real = not others and program.avals[slot].dtype.is_float
        if real and _is_nonnegative(instruction, found):
            found.add(slot)
    return frozenset(found)


def _is_nonnegative(instruction: Instruction, known: set[int]) -> bool:
    operation, inputs = instruction.operation, instruction.inputs
    if isinstance(operation, _ALWAYS):
        return True
    if isinstance(operation, Mul) and inputs[0] == inputs[1]:
        return True
    if isinstance(operation, IntegerPow) and operation.exponent % 2 == 0:
        return True
    if isinstance(operation, Maximum) and not known.isdisjoint(inputs):
        return True
    return isinstance(operation, _OF_NONNEGATIVE) and known.issuperset(inputs)


def for_signs(
    function: Callable[..., Any], instruction: Instruction, known: frozenset[int]
) -> Callable[..., Any]:
    """Return a lowering, or the one that it has for nonnegative operands if these are."""
    special: Callable[..., Any] | None = getattr(function, "of_nonnegative", None)
    return special if special is not None and known.issuperset(instruction.inputs) else function
