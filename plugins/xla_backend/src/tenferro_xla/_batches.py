"""Stacks of matrices that must be factorized one after the other, so that a program can end.

jaxlib's kernels of LAPACK (0.10, CPU) hand a stack of matrices to the threads of XLA's pool and
wait for them, themselves on a thread of that pool. Two such calls that run at the same time on a
machine of two processors both wait for ever: eight independent `triangular_solve` of stacks of 64
matrices of 64 rows hang at once, in JAX itself too, whatever the compiler options. A program that
has several therefore takes each stack matrix by matrix, in a loop of XLA's. Read next: `_trace.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from jax import lax
from jax.numpy import reshape

from tenferro.backend.lowering import key_of
from tenferro.computegraph import CompiledProgram, Instruction

__all__ = ["one_by_one", "stacks"]

_BY_LAPACK = frozenset(
    f"std::{name}"
    for name in "cholesky eig eigvals eigh eigvalsh lu qr svd svdvals triangular_solve".split()
)


def stacks(program: CompiledProgram, platform: str) -> frozenset[int]:
    """Return the instructions that must process their stacks matrix by matrix."""
    if platform != "cpu":
        return frozenset()
    found = [i for i, one in enumerate(program.instructions) if _is_stack(program, one)]
    return frozenset(found) if len(found) > 1 else frozenset()


def _is_stack(program: CompiledProgram, instruction: Instruction) -> bool:
    if key_of(instruction.operation) not in _BY_LAPACK:
        return False
    batch: tuple[int, ...] = program.avals[instruction.inputs[0]].shape[:-2]
    return prod(batch) > 1


def one_by_one(function: Callable[..., Any]) -> Callable[..., Any]:
    """Apply a lowering of matrices to each matrix of stacks in turn."""

    def apply(operation: Any, *stacked: Any) -> Any:
        batch = stacked[0].shape[:-2]
        flat = [reshape(x, (prod(batch), *x.shape[len(batch) :])) for x in stacked]
        results: Any = lax.map(lambda matrices: function(operation, *matrices), tuple(flat))
        if isinstance(results, (tuple, list)):
            return tuple([reshape(x, batch + x.shape[1:]) for x in results])
        return reshape(results, batch + results.shape[1:])

    return apply
