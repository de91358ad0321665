"""Policy of cutting and compiling a program, by its length, its sharing and the size of its arrays.

On the CPU, XLA's fusion makes cheap instructions again for each of their readers. Where these
share values along a path, as in a recurrence written out, compile and run time may grow with the
square of its length. The gradient of 20 steps of a Runge-Kutta method, 4,040 instructions on 2
numbers, takes 32 s to compile and 610 µs to run; without fusion 3 s and 400 µs; in segments of
1,000 3 s and 2 ms. Between products, reductions and expensive functions little is shared, and
fusion wins at any length: the gradient of 20 steps of a recurrent network takes 250 µs in one
program and 490 µs in segments.

So a program that shares little is one segment, fused. One that shares much is compiled without
fusion if its arrays are small, and cut into segments if they are large or complex, see
``_has_complex``; cuts cost a microsecond at run time for each value that crosses them. Programs up
to ``WHOLE`` are left to XLA as they are. Read next: ``_segments.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tenferro.computegraph import CompiledProgram
from tenferro.primitives import (
    Abs,
    Add,
    BroadcastInDim,
    Clamp,
    Complex,
    Concatenate,
    Conj,
    Convert,
    Eq,
    Ge,
    Gt,
    Imag,
    Le,
    LogicalAnd,
    LogicalNot,
    LogicalOr,
    Lt,
    Maximum,
    Minimum,
    Mul,
    Ne,
    Neg,
    Pad,
    Real,
    Reshape,
    Reverse,
    Select,
    Sign,
    Slice,
    Square,
    Sub,
    Transpose,
)
from tenferro_xla._options import CompileOptions

#: Instructions up to which a program is compiled as it is.
WHOLE = 256
#: Instructions up to which a longer program is one segment, if it shares little or is not fused.
LONGEST_SEGMENT = 4000
#: Bytes of the largest array up to which a long program runs from cache, and is not fused.
MAX_BYTES_WITHOUT_FUSION = 8 * 1024
#: Runs of an instruction, on average, up to which fusion pays at any length.
MAX_RUNS = 4.0
_LARGEST_COUNT = 1e12  # of runs; they double with every step of some recurrences
_CHEAP_OPERATIONS = (
    Abs, Add, BroadcastInDim, Clamp, Complex, Concatenate, Conj, Convert, Eq, Ge, Gt, Imag, Le,
    LogicalAnd, LogicalNot, LogicalOr, Lt, Maximum, Minimum, Mul, Ne, Neg, Pad, Real, Reshape,
    Reverse, Select, Sign, Slice, Square, Sub, Transpose,
)  # fmt: skip
_NO_FUSION = {"xla_disable_hlo_passes": "fusion"}


class CompilePolicy(NamedTuple):
    """Programs longer than ``limit`` are cut into segments of ``size``; 0 never cuts.

    ``stated`` are the compiler options that the user gave; the others are our own advice. The
    memory of inputs that are ``donated`` may serve results, if the program is one segment.
    """

    limit: int
    size: int
    compiler_options: Mapping[str, object]
    stated: frozenset[str]
    check_errors: bool
    donated: tuple[int, ...] = ()


def policy_for(program: CompiledProgram, options: CompileOptions, platform: str) -> CompilePolicy:
    """Return the policy of one program; the user's options win."""
    limit, size, implied = _measured(program, platform)
    if options.segment_size is not None:
        limit = size = options.segment_size
    stated = frozenset(options.compiler_options)
    merged = {**implied, **options.compiler_options}
    return CompilePolicy(limit, size, merged, stated, options.check_errors, options.donated)


def _measured(program: CompiledProgram, platform: str) -> tuple[int, int, dict[str, object]]:
    if platform != "cpu":
        return 1000, 1000, {}
    if len(program) <= WHOLE:
        return WHOLE, WHOLE // 2, {}
    if runs_if_fused(program) <= MAX_RUNS:
        return LONGEST_SEGMENT, LONGEST_SEGMENT // 4, {}
    if _largest(program) <= MAX_BYTES_WITHOUT_FUSION and not _has_complex(program):
        return LONGEST_SEGMENT, LONGEST_SEGMENT // 4, dict(_NO_FUSION)
    return WHOLE, WHOLE // 2, {}


def runs_if_fused(program: CompiledProgram) -> float:
    """Return how often an instruction runs, on average, if each is made again for every reader.

    That is the number of paths from it to a value that is kept: a result, the result of an
    instruction that costs too much to be made again, or an operand of one that is not fused.
    """
    runs = dict.fromkeys(program.outputs, 1.0)
    total = 0.0
    for operation, inputs, outputs, *_ in reversed(program.instructions):
        cheap = isinstance(operation, _CHEAP_OPERATIONS)
        found = (
            min(sum([runs.get(slot, 0.0) for slot in outputs]), _LARGEST_COUNT) if cheap else 1.0
        )
        total += found
        for slot in inputs:
            runs[slot] = runs.get(slot, 0.0) + found
    return total / len(program)


def _has_complex(program: CompiledProgram) -> bool:
    """Return True if a value is complex: without fusion XLA (jax 0.10.2, CPU) gave wrong
    numbers.
    """
    return any(aval.dtype.is_complex for aval in set(program.avals))


def _largest(program: CompiledProgram) -> int:
    """Return the bytes of the largest value."""
    return max((aval.size * aval.dtype.itemsize for aval in set(program.avals)), default=0)
