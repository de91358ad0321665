"""Policy of cutting and compiling a program, by its length and the size of its arrays.

On the CPU, XLA's fusion makes cheap instructions again for each of their users, so both compile and
run time of a long program grow with the square of its length. The gradient of a recurrence, 1,600
instructions on 10 numbers, measured: one fused program 27 s to compile and 960 µs to run, segments
of 250 1.2 s and 700 µs, one program without fusion .5 s and 65 µs. With 10⁴ numbers fusion wins
again: 19 ms in segments, 56 ms without. Complex programs are always fused, see ``_has_complex``.
Without fusion compiling stays linear to about 4,000
instructions; cuts cost a microsecond at run time for each value that crosses them. Programs up to
``WHOLE`` are left to XLA as they are. Read next: ``_segments.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tenferro.computegraph import CompiledProgram
from tenferro_xla._options import CompileOptions

#: Instructions up to which a program is compiled as it is.
WHOLE = 256
#: Instructions up to which a program on small arrays is one segment, without fusion.
UNFUSED = 4000
#: Bytes of the largest array up to which a long program runs from cache, and is not fused.
MAX_BYTES_WITHOUT_FUSION = 8 * 1024
_NO_FUSION = {"xla_disable_hlo_passes": "fusion"}


class CompilePolicy(NamedTuple):
    """Programs longer than ``limit`` are cut into segments of ``size``; 0 never cuts.

    ``stated`` are the compiler options that the user gave; the others are our own advice.
    """

    limit: int
    size: int
    compiler_options: Mapping[str, object]
    stated: frozenset[str]


def policy_for(program: CompiledProgram, options: CompileOptions, platform: str) -> CompilePolicy:
    """Return the policy of one program; the user's options win."""
    limit, size, implied = _measured(program, platform)
    if options.segment_size is not None:
        limit = size = options.segment_size
    stated = frozenset(options.compiler_options)
    return CompilePolicy(limit, size, {**implied, **options.compiler_options}, stated)


def _measured(program: CompiledProgram, platform: str) -> tuple[int, int, dict[str, object]]:
    if platform != "cpu":
        return 1000, 1000, {}
    if (
        len(program) > WHOLE
        and _largest(program) <= MAX_BYTES_WITHOUT_FUSION
        and not _has_complex(program)
    ):
        return UNFUSED, UNFUSED // 4, dict(_NO_FUSION)
    return WHOLE, WHOLE // 2, {}


def _has_complex(program: CompiledProgram) -> bool:
    """Return True if a value is complex: without fusion XLA (jax 0.10.2, CPU) gave wrong
    numbers.
    """
    return any(aval.dtype.is_complex for aval in set(program.avals))


def _largest(program: CompiledProgram) -> int:
    """Return the bytes of the largest value."""
    return max((aval.size * aval.dtype.itemsize for aval in set(program.avals)), default=0)
