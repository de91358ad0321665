"""From a program to XLA's executables, by the public interface of JAX alone.

Each segment is traced once (``_trace.py``), then lowered and compiled ahead of time, inside the
64-bit context, which is local to the thread; the user's JAX configuration is never touched.
Read next: ``_executable.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from os import cpu_count
from typing import Any, NamedTuple
from warnings import catch_warnings, filterwarnings

from tenferro.backend.base import Backend
from tenferro.computegraph import CompiledProgram
from tenferro_xla._bodies import rewriting_bodies
from tenferro_xla._checks import failure_of
from tenferro_xla._device import device_name
from tenferro_xla._errors import translated, unknown_option
from tenferro_xla._jax import (
    Device,
    JaxRuntimeError,
    default_device,
    disable_jit,
    enable_x64,
    jit,
    shape_dtype,
)
from tenferro_xla._operands import numpy_dtype
from tenferro_xla._options import warn_dropped
from tenferro_xla._policy import CompilePolicy
from tenferro_xla._row_blocks import rewritten_as_body
from tenferro_xla._segments import Segment, SegmentPlan
from tenferro_xla._trace import SegmentFunction


class CompiledSegment(NamedTuple):
    """One segment with its executable, ready to run over slots."""

    run: Any
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    frees: tuple[int, ...]
    positions: tuple[int, ...]
    checked: tuple[int, ...]  # positions whose failures the last result says


@contextmanager
def own_settings(device: Device) -> Iterator[None]:
    """Set the configuration for compilation and copies, for this thread only."""
    with enable_x64(True), default_device(device), disable_jit(False):
        yield


def compile_plan(
    backend: Backend,
    program: CompiledProgram,
    plan: SegmentPlan,
    policy: CompilePolicy,
    device: Device,
) -> tuple[CompiledSegment, ...]:
    """Compile the segments, those of one structure once, on as many threads as there are cores.

    Raises LoweringError: if a lowering gives a value that is not of its aval.
    Raises XlaError: if XLA refuses a segment.
    """
    unique = {segment.structure: segment for segment in reversed(plan.segments)}
    if len(plan.segments) > 1:  # what one reads last, another with its structure may not
        policy = policy._replace(donated=())
    compiler = _Compiler(backend, program, policy, device)
    if len(unique) == 1:
        compiled = [compiler.compile(segment) for segment in unique.values()]
    else:
        with ThreadPoolExecutor(min(len(unique), cpu_count() or 1)) as pool:
            compiled = list(pool.map(compiler.compile, unique.values()))
    executables = dict(zip(unique, compiled, strict=True))
    return tuple(
        CompiledSegment(
            executables[segment.structure],
            segment.inputs,
            tuple([kept for _, kept in segment.outputs]),
            segment.frees,
            segment.positions,
            compiler.checked(segment),
        )
        for segment in plan.segments
    )


class _Compiler:
    """Compiler of a program's segments; holds what they share."""

    def __init__(
        self,
        backend: Backend,
        program: CompiledProgram,
        policy: CompilePolicy,
        device: Device,
    ) -> None:
        self.backend = backend
        self.program = program
        self.options = dict(policy.compiler_options)
        self.stated = policy.stated
        self.checks = policy.check_errors
        self.donated = policy.donated
        self.rewrite = partial(rewritten_as_body, cache=policy.cache)
        self.device = device

    def compile(self, segment: Segment) -> Any:
        """Compile a segment."""
        avals = [self.program.avals[i] for i in segment.inputs]
        specs = [shape_dtype(aval.shape, numpy_dtype(aval.dtype)) for aval in avals]
        with own_settings(self.device):
            traced = SegmentFunction(
                self.backend, self.program, segment, self.device.platform, self.checked(segment)
            )
            with rewriting_bodies(self.rewrite):
                lowered = self._lowered(traced, specs)
            try:
                return self._finish(lowered)
            except JaxRuntimeError as error:
                raise translated(
                    error, self.program, segment.positions, device_name(self.device)
                ) from error

    def _lowered(self, traced: SegmentFunction, specs: list[Any]) -> Any:
        """Lower a segment, which may write into the memory of donated inputs."""
        donated = [i for i in self.donated if i < len(specs)]
        if not donated:
            return jit(traced).lower(*specs)
        with catch_warnings():
            filterwarnings("ignore", message="Some donated buffers were not usable")
            return jit(traced, donate_argnums=donated).lower(*specs)

    def checked(self, segment: Segment) -> tuple[int, ...]:
        """Return the positions of equations that are checked."""
        if not self.checks:
            return ()
        instructions = self.program.instructions
        return tuple([i for i in segment.positions if failure_of(self.program, instructions[i])])

    def _finish(self, lowered: Any) -> Any:
        """Compile, without the options that XLA does not know."""
        while True:
            try:
                return lowered.compile(compiler_options=dict(self.options) or None)
            except JaxRuntimeError as error:
                name = unknown_option(error)
                if name is None:
                    raise
                if self.options.pop(name, None) is not None and name in self.stated:
                    warn_dropped([name])
