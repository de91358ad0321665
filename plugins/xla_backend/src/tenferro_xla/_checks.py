"""``check_errors``: what raises on NumPy, and gives nan, inf or 0 in compiled code.

A checked program computes one more bool for each equation that can fail; the call then raises the
error of the first that did. Equations inside loops and branches are not checked. Read next:
``_trace.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from jax import Array
from jax import numpy as jnp

from tenferro.backend.extend import source_text
from tenferro.backend.lowering import key_of
from tenferro.computegraph import CompiledProgram, Instruction
from tenferro.primitives import (
    Cholesky,
    Div,
    Eig,
    Eigh,
    Eigvals,
    Eigvalsh,
    LinearSolve,
    Pow,
    Rem,
    Svd,
    Svdvals,
    TriangularSolve,
)
from tenferro_xla._errors import IntegerError, MatrixError, XlaError


class Failure(NamedTuple):
    """A way in which an equation may fail: its error, the fact, and how values show it."""

    error: type[XlaError]
    fact: str
    happened: Callable[[Sequence[Array], Sequence[Array]], Array]  # from operands and results


def _are_finite(arrays: Sequence[Array]) -> Array:
    inexact = [x for x in arrays if jnp.issubdtype(x.dtype, jnp.inexact)]
    return jnp.array([jnp.isfinite(x).all() for x in inexact]).all()


def _lost(operands: Sequence[Array], results: Sequence[Array]) -> Array:
    """Return True if finite operands gave a nan or an infinity."""
    return _are_finite(operands) & ~_are_finite(results)


def _has_zero(operands: Sequence[Array], results: Sequence[Array]) -> Array:
    return (operands[1] == 0).any()


def _has_negative(operands: Sequence[Array], results: Sequence[Array]) -> Array:
    return (operands[1] < 0).any()


_SINGULAR = Failure(MatrixError, "a matrix is singular", _lost)
_ENDLESS = Failure(MatrixError, "the iteration does not converge", _lost)
_DIVISION = Failure(IntegerError, "an integer is divided by 0", _has_zero)
_MATRICES: dict[type, Failure] = {
    Cholesky: Failure(MatrixError, "a matrix is not positive definite", _lost),
    LinearSolve: _SINGULAR,
    TriangularSolve: _SINGULAR,
    **dict.fromkeys((Eig, Eigh, Eigvals, Eigvalsh, Svd, Svdvals), _ENDLESS),
}
_INTEGERS: dict[type, Failure] = {
    Div: _DIVISION,
    Rem: _DIVISION,
    Pow: Failure(IntegerError, "an integer has a negative power", _has_negative),
}


def failure_of(program: CompiledProgram, instruction: Instruction) -> Failure | None:
    """Return how an equation may fail, or None."""
    avals = [program.avals[i] for i in instruction.inputs]
    is_integer = any([aval.dtype.is_integer for aval in avals])
    return (_INTEGERS if is_integer else _MATRICES).get(type(instruction.operation))


def raise_first(program: CompiledProgram, positions: Sequence[int], failed: Sequence[bool]) -> None:
    """Raise the error of the first equation that failed, if one did."""
    for position, has_failed in zip(positions, failed, strict=True):
        if not has_failed:
            continue
        instruction = program.instructions[position]
        failure = failure_of(program, instruction)
        assert failure is not None  # `positions` are those that have one
        key, equation = key_of(instruction.operation), program.equation(position)
        lines = [f"xla: {key}: {failure.fact}", f"  equation   {equation}"]
        line = source_text(instruction.source)
        lines += [f"  from       {line}"] if line is not None else []
        raise failure.error("\n".join(lines), backend="xla", primitive=key, equation=equation)
