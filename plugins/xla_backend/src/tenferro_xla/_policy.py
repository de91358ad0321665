"""Policy of cutting and compiling a program, by its length, its sharing and the size of its arrays.

On the CPU, XLA's fusion copies cheap instructions into the loop of each of their readers. In a loop
an instruction is a function of the index; where all readers in that loop read it at the same index,
they share one call, otherwise each reader calls it again
(openxla/xla, codegen/emitters/computation_partitioner.cc). So elementwise code shares freely, but
of values that are read through slices, pads or the parts of a concatenation the calls multiply
along a path: a Lotka-Volterra equation with its four coefficients in one array, whose gradient is
a concatenation, took 3,000 times as long after three steps of Runge and Kutta. Measured on
gradients, arrays of 38 KB or less, jax 0.10.2, CPU time of a run in µs:

=====================================  =======  ======  =========  =========  ========
program                                  calls  copies      fused  not fused  segments
=====================================  =======  ======  =========  =========  ========
Van der Pol, 10 steps, 1,131               3.9     3.9        174        365     1,942
graph, 281                                 6.1     6.1        148        200         –
N-body, 294                                7.7     6.1        638      2,053         –
Burgers' equation, complex, 1,266         36.1    36.1        381          –       966
Kalman filter, 1,471                      96.5    12.4        210        257         –
wave equation, 2 steps, 77                77.9     1.4         88        145         –
the same on a ring, 3 steps, 77          1,150     1.5        121        142         –
the same on a ring, 4 steps, 101        28,000     1.5        202        164         –
Lotka-Volterra, 2 steps, 321               3e6     1.4     46,500        310         –
Lotka-Volterra, 3 steps, 483              3e10     1.4  1,380,000        438         –
=====================================  =======  ======  =========  =========  ========

Numbers of instructions stand behind the names; calls and copies are those of an instruction on
average. XLA's pass itself takes minutes for some long programs of many loops, see
``_has_few_paths``.

So a program that shares little (``shares_little``) is one segment, fused. One that shares much is
compiled without fusion if its arrays are in the cache: at 160 KB that takes half the time of
segments, at 1.6 MB three times as much. It is cut into segments if they are larger or complex, see
``_has_complex``; cuts cost a microsecond at run time for each value that crosses them. Programs up
to ``WHOLE`` are never cut. Read next: ``_segments.py``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple

from tenferro.computegraph import CompiledProgram, compile_program
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
#: Calls of an instruction, on average over a program, up to which fusion pays.
MAX_CALLS = 100.0
#: Instructions in all loops together up to which XLA compiles a fused program within seconds.
MAX_COPIES = 50_000
#: Paths from an instruction to values that are kept, on average, and such values, up to which XLA
#: finds within seconds what each loop shares with others, whatever the length of the program.
MAX_PATHS, MAX_LOOPS = 128.0, 32
#: Instructions up to which it does so in any program.
MAX_LENGTH_OF_MANY_PATHS = 1500
_MAX_COUNT = 1e12  # of calls and paths; they double with every step of some recurrences
_MAX_LOOPS_OF_VALUE = 128  # of those that read a value; more are not looked at
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
    fused: tuple[int, dict[str, object]] = LONGEST_SEGMENT if len(program) > WHOLE else WHOLE, {}
    programs = [*with_bodies(program)]
    little = all([shares_little(one) for one in programs])
    if little and all([_has_few_paths(one) for one in programs]):
        limit, options = fused
    elif _largest(program) <= MAX_BYTES_WITHOUT_FUSION and not _has_complex(program):
        limit, options = LONGEST_SEGMENT, dict(_NO_FUSION)
    elif little and len(program) <= MAX_LENGTH_OF_MANY_PATHS:
        limit, options = fused
    else:
        limit, options = WHOLE, {}
    return limit, limit // (2 if limit == WHOLE else 4), options


def shares_little(program: CompiledProgram) -> bool:
    """Return True if fusion computes few values again; bodies are programs of their own."""
    work = work_if_fused(program)
    return work.calls <= MAX_CALLS * len(program) and work.copies <= MAX_COPIES


def _has_few_paths(program: CompiledProgram) -> bool:
    """Return True if XLA finds out within seconds what loops share.

    The gradient of a chain of 1,000 products, sines and tangents has 4,000 instructions and 754
    loops: that took 170 s.
    """
    short = len(program) <= WHOLE or _count_of_loops(program) <= MAX_LOOPS
    return short or paths_if_fused(program) <= MAX_PATHS


def _count_of_loops(program: CompiledProgram) -> int:
    """Return how many values are kept, each of which is made in a loop of its own."""
    costly = [n for n in program.nodes if not isinstance(n.operation, _CHEAP_OPERATIONS)]
    return len(costly) + len(program.outputs)


def paths_if_fused(program: CompiledProgram) -> float:
    """Return the number of paths from an instruction to values that are kept, on average."""
    paths = dict.fromkeys(program.outputs, 1.0)
    total = 0.0
    for operation, inputs, outputs, *_ in reversed(program.instructions):
        cheap = isinstance(operation, _CHEAP_OPERATIONS)
        found = min(sum([paths.get(slot, 0.0) for slot in outputs]), _MAX_COUNT) if cheap else 1.0
        total += found
        for slot in inputs:
            paths[slot] = paths.get(slot, 0.0) + found
    return total / max(len(program), 1)


def with_bodies(program: CompiledProgram) -> Iterator[CompiledProgram]:
    """Yield a program and those of the loops and branches in it, each once."""
    waiting, seen = [program], set()
    while waiting:
        one = waiting.pop()
        yield one
        for node in one.nodes:
            for _, body in getattr(node.operation, "bodies", ()):
                if body not in seen:
                    seen.add(body)
                    waiting.append(compile_program(body.flat))


class Work(NamedTuple):
    """Instructions of a fused program, in all its loops, and how often these call them."""

    copies: int
    calls: float


class _Function(NamedTuple):
    """A function of the index in a loop, and how often the loop calls it for an element."""

    loop: int
    number: int
    calls: float


#: A function that reads a value, and the number of the index at which it does; 0 is its own.
_Read = tuple[_Function, int]


def work_if_fused(program: CompiledProgram) -> Work:
    """Return how many instructions and calls of them the fused program has.

    A value that is kept is made in a loop of its own: a result, or the result of an instruction
    that costs too much to be made again. An elementwise instruction reads its operands at its own
    index, one of ``_MOVES`` at another.
    """
    numbers = count()

    def own_loop() -> _Read:
        number = next(numbers)
        return _Function(number, number, 1.0), 0

    indices: dict[Hashable, int] = {}
    reads: dict[int, set[_Read]] = {}
    for slot in program.outputs:
        reads.setdefault(slot, set()).add(own_loop())
    copies, calls = 0, 0.0
    for operation, inputs, outputs, *_ in reversed(program.instructions):
        if isinstance(operation, _CHEAP_OPERATIONS):
            found = set().union(*[reads.pop(slot, ()) for slot in outputs])
            places = [_place(read, numbers) for read in _by_loop(found)]
        else:
            places = [own_loop()]
        copies += len(places)
        calls += sum([function.calls for function, _ in places])
        for position, slot in enumerate(inputs):
            read = places
            if program.avals[slot].size <= 1:
                read = [(function, 0) for function, _ in places]
            elif isinstance(operation, _MOVES):
                names = [(operation, position, index) for _, index in places]
                moved = [indices.setdefault(name, len(indices) + 1) for name in names]
                read = [(place[0], index) for place, index in zip(places, moved, strict=True)]
            reads.setdefault(slot, set()).update(read)
    return Work(copies, calls)


def _by_loop(found: Iterable[_Read]) -> list[list[_Read]]:
    """Return the reads of a value, by the loop in which they are; of some loops if of many."""
    loops: dict[int, list[_Read]] = {}
    for read in found:
        loops.setdefault(read[0].loop, []).append(read)
    return [loops[number] for number in sorted(loops)[:_MAX_LOOPS_OF_VALUE]]


def _place(reads: Sequence[_Read], numbers: Iterator[int]) -> _Read:
    """Return the function and the index at which a loop makes a value, by its reads."""
    if len(reads) == 1:
        return reads[0]
    calls = min(sum([function.calls for function, _ in reads]), _MAX_COUNT)
    return _Function(reads[0][0].loop, next(numbers), calls), 0


def _has_complex(program: CompiledProgram) -> bool:
    """Return True if a value is complex: without fusion XLA (jax 0.10.2, CPU) gave wrong
    numbers.
    """
    return any(aval.dtype.is_complex for aval in set(program.avals))


def _largest(program: CompiledProgram) -> int:
    """Return the bytes of the largest value."""
    return max((aval.size * aval.dtype.itemsize for aval in set(program.avals)), default=0)
