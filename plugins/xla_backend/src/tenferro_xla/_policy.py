"""Policy of cutting and compiling a program, by its length, its sharing and the size of its arrays.

On the CPU, XLA's fusion makes cheap instructions again for each of their readers. Within one loop
it computes a value once for each index expression, so that elementwise code shares freely; but
every slice, pad or concatenation on a way to a reader makes another index. Where these share values
along a path, as in the steps of a stencil, compile and run time may grow exponentially. Measured
on gradients, arrays of 16 KB, jax 0.10.2, CPU time of a run in µs:

=====================================  ======  =====  ==========  ========
program                                runs    fused  not fused   segments
=====================================  ======  =====  ==========  ========
bundle adjustment, 308 instructions       4.3    274         401       500
logistic map, 120 steps, 840              1.0    188         333     2,757
Van der Pol, 40 steps, 2,277              1.0    558       1,024     2,135
wave equation, 10 steps, 250             23.5    621          63         –
Lotka–Volterra, 12 steps, 1,459          31.2  13,902         496     1,107
=====================================  ======  =====  ==========  ========

So a program that shares little (``shares_little``) is one segment, fused. One that shares much is
compiled without fusion if its arrays are in the cache: at 160 KB that takes half the time of
segments, at 1.6 MB three times as much. It is cut into segments if they are larger or complex, see
``_has_complex``; cuts cost a microsecond at run time for each value that crosses them. Programs up
to ``WHOLE`` are never cut. Read next: ``_segments.py``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
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

#: Instructions up to which a program is one segment.
WHOLE = 256
#: Instructions up to which a longer program is one segment, if it shares little or is not fused.
LONGEST_SEGMENT = 4000
#: Bytes of the largest array up to which a program runs from cache without fusion.
MAX_BYTES_WITHOUT_FUSION = 256 * 1024
#: Runs of an instruction, on average, up to which fusion pays at any length.
MAX_RUNS = 8.0
#: Kept values up to which runs are counted by index expressions in a program of any length.
MAX_LOOPS = 32
_LARGEST_COUNT = 1e12  # of readers; they double with every step of some recurrences
_MAX_INDICES = 32  # of a value that are counted; their number may double with every step
_CHEAP_OPERATIONS = (
    Abs, Add, BroadcastInDim, Clamp, Complex, Concatenate, Conj, Convert, Eq, Ge, Gt, Imag, Le,
    LogicalAnd, LogicalNot, LogicalOr, Lt, Maximum, Minimum, Mul, Ne, Neg, Pad, Real, Reshape,
    Reverse, Select, Sign, Slice, Square, Sub, Transpose,
)  # fmt: skip
_MOVES = (BroadcastInDim, Concatenate, Pad, Reshape, Reverse, Slice, Transpose)
_NO_FUSION = {"xla_disable_hlo_passes": "fusion"}


class CompilePolicy(NamedTuple):
    """Programs longer than ``limit`` are cut into segments of ``size``; 0 never cuts.

    ``stated`` are the compiler options that the user gave; the others are our own advice. The
    memory of inputs that are ``donated`` may serve results, if the program is one segment. Row
    blocks, in the bodies of loops as well, are for a ``cache`` of so many bytes; 0 makes none.
    """

    limit: int
    size: int
    compiler_options: Mapping[str, object]
    stated: frozenset[str]
    check_errors: bool
    donated: tuple[int, ...] = ()
    cache: int = 0


def policy_for(program: CompiledProgram, options: CompileOptions, platform: str) -> CompilePolicy:
    """Return the policy of one program; the user's options win."""
    limit, size, implied = _measured(program, platform)
    if options.segment_size is not None:
        limit = size = options.segment_size
    stated = frozenset(options.compiler_options)
    merged = {**implied, **options.compiler_options}
    return CompilePolicy(limit, size, merged, stated, options.check_errors, options.donated)


def _measured(program: CompiledProgram, platform: str) -> tuple[int, int, dict[str, object]]:
    """Return the limit, the size of segments, and compiler options."""
    if platform != "cpu":
        return 1000, 1000, {}
    if shares_little(program):
        limit = WHOLE if len(program) <= WHOLE else LONGEST_SEGMENT
        return limit, limit // (2 if limit == WHOLE else 4), {}
    if _largest(program) > MAX_BYTES_WITHOUT_FUSION or _has_complex(program):
        return WHOLE, WHOLE // 2, {}
    return LONGEST_SEGMENT, LONGEST_SEGMENT // 4, dict(_NO_FUSION)


def shares_little(program: CompiledProgram) -> bool:
    """Return True if fusion computes few values again.

    In programs longer than ``WHOLE`` with many loops, XLA takes minutes to find out which
    instructions each loop shares with others, so that there all paths count.
    """
    if readers_if_fused(program) <= MAX_RUNS:
        return True
    if len(program) > WHOLE and _count_of_loops(program) > MAX_LOOPS:
        return False
    return runs_if_fused(program) <= MAX_RUNS


def _count_of_loops(program: CompiledProgram) -> int:
    """Return how many values are kept, each of which is made in a loop of its own."""
    costly = [n for n in program.instructions if not isinstance(n.operation, _CHEAP_OPERATIONS)]
    return len(costly) + len(program.outputs)


def readers_if_fused(program: CompiledProgram) -> float:
    """Return how often an instruction runs, on average, if each is made again for every reader.

    That is the number of paths from it to a value that is kept.
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
    return total / max(len(program), 1)


def runs_if_fused(program: CompiledProgram) -> float:
    """Return how often an instruction runs, on average, if loops share what they read at one index.

    That is the number of index expressions at which its value is read. A value that is kept is made
    in a loop of its own: a result, or the result of an instruction that costs too much to be made
    again. An elementwise instruction reads its operands at its own index, one of ``_MOVES`` at
    another.
    """
    numbers: dict[Hashable, int] = {}  # of loops, and of the index expressions in them

    def number(name: Hashable) -> int:
        return numbers.setdefault(name, len(numbers))

    indices: dict[int, set[int]] = {slot: {number(slot)} for slot in program.outputs}
    total = 0
    for operation, inputs, outputs, *_ in reversed(program.instructions):
        cheap = isinstance(operation, _CHEAP_OPERATIONS)
        found = set().union(*[indices.get(slot, ()) for slot in outputs])
        own = sorted(found)[:_MAX_INDICES] if cheap else [number(outputs)]
        total += len(own)
        for place, slot in enumerate(inputs):
            read: Iterable[int] = own
            if program.avals[slot].size <= 1:
                read = own[:1]
            elif isinstance(operation, _MOVES):
                read = [number((operation, place, index)) for index in own]
            indices.setdefault(slot, set()).update(read)
    return total / max(len(program), 1)


def _has_complex(program: CompiledProgram) -> bool:
    """Return True if a value is complex: without fusion XLA (jax 0.10.2, CPU) gave wrong
    numbers.
    """
    return any(aval.dtype.is_complex for aval in set(program.avals))


def _largest(program: CompiledProgram) -> int:
    """Return the bytes of the largest value."""
    return max((aval.size * aval.dtype.itemsize for aval in set(program.avals)), default=0)
