"""The XLA backend: what its operands are, and how a program becomes an executable.

Operands are jax arrays. A value of the host is copied on its way in, because jax may use a NumPy
buffer where it is, and on its way out, because jax arrays are read-only. Nothing here changes the
configuration of JAX. Read next: ``_compile.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np

from tenferro.backend import SpansProcessesError, host
from tenferro.backend.base import Backend, Options
from tenferro.backend.records import BackendConfig
from tenferro.computegraph import CompiledProgram, Operation
from tenferro.primitives import Aval
from tenferro_xla._compile import own_settings
from tenferro_xla._constant_gathers import with_slices
from tenferro_xla._device import device_name, find_device
from tenferro_xla._donation import donated_before
from tenferro_xla._executable import XlaExecutable
from tenferro_xla._fork import check_process, mark_used
from tenferro_xla._host_memory import MIN_BYTES_TO_TAKE_OVER, taker
from tenferro_xla._jax import (
    Array,
    JaxRuntimeError,
    device_put,
    is_array,
    live_arrays,
    process_count,
    pure_callback,
    shape_dtype,
)
from tenferro_xla._loop_constants import with_broadcasts_in_loops
from tenferro_xla._mesh import described, is_elsewhere, is_spread
from tenferro_xla._operands import NumpyArray, fits, host_array, numpy_dtype, refusal
from tenferro_xla._options import check_offload, checked_options
from tenferro_xla._placing import XlaShardedArrays
from tenferro_xla._raised import keeping, raise_original
from tenferro_xla._sharded import Layout, ShardedExecutable
from tenferro_xla._watch import wait_for

Function = Callable[..., Any]
_OF_LAYOUT = ("in_shardings", "out_shardings", "donated")
_STATISTICS = {"bytes_in_use": "in_use", "peak_bytes_in_use": "peak", "bytes_limit": "limit"}


class XlaBackend(Backend):
    """Runs programs as XLA executables on one device.

    Raises DeviceUnavailableError: if the device of the configuration is not there.
    """

    def __init__(self, config: BackendConfig) -> None:
        mark_used()
        self.config = config
        self.device = find_device(config.device)
        self.sharding = XlaShardedArrays(self, self.device)

    def asoperand(self, value: Any, aval: Aval) -> Array:
        """Return a jax array: the value itself if it is one, else a copy of a NumPy array or
        scalar.

        Raises OperandError: if an array has another shape or dtype; nothing is cast in silence.
        """
        check_process()
        if is_array(value):
            if not fits(value, aval):
                raise refusal(value, aval, "")
            return value
        array = host_array(value, aval)
        with own_settings(self.device):
            return device_put(array.copy())

    def sparse_matrices(
        self, columns: Sequence[int], starts: Sequence[int], shape: tuple[int, int]
    ) -> Callable[[Any], Any]:
        """Make JAX's ``BCOO`` of JAX's arrays, SciPy's ``csr_array`` of others.

        All ``BCOO`` share one array of positions, which nothing can write to.
        """
        of_host = super().sparse_matrices
        sparse = import_module("jax.experimental.sparse")
        rows = np.repeat(np.arange(shape[0], dtype="int32"), np.diff(np.asarray(starts)))
        indices = device_put(np.stack([rows, np.asarray(columns, "int32")], axis=1))

        @cache
        def make() -> Callable[[Any], Any]:
            return of_host(columns, starts, shape)

        def matrix(entries: Any) -> Any:
            if not self.owns(entries):  # NumPy's, where the NumPy backend is not installed
                return make()(entries)
            return sparse.BCOO(
                (entries, indices), shape=shape, indices_sorted=True, unique_indices=True
            )

        return matrix

    def to_numpy(self, operand: Any) -> NumpyArray:
        """A NumPy array of its own memory, writeable.

        Raises SpansProcessesError: if other processes have parts of it.
        Raises ProcessError: if it waits for a process that died.
        Raises OperandError: if it was donated.
        Raises what a host callback raised while the operand was computed, as it was raised.
        """
        check_process()
        try:
            if is_array(operand):
                wait_for((operand,))
            return np.array(operand)
        except RuntimeError as error:
            check_readable(operand)
            if isinstance(error, JaxRuntimeError):
                raise_original(error)
            raise

    def result_to_numpy(self, aval: Aval) -> Function:
        """Return a function that copies small results, and takes over large ones on the CPU."""
        if process_count() > 1:
            return self.to_numpy
        dtype = numpy_dtype(aval.dtype)
        if self.device.platform != "cpu" or dtype.itemsize * aval.size < MIN_BYTES_TO_TAKE_OVER:
            return self._copied
        return partial(self._taken_over, taker(aval.shape, dtype))

    def _copied(self, result: Array) -> NumpyArray:
        """Do what ``to_numpy`` does for the result of a program, in fewer steps."""
        try:
            return np.array(result)
        except RuntimeError:
            return self.to_numpy(result)

    def _taken_over(self, take: Callable[[Array], NumpyArray], result: Array) -> NumpyArray:
        try:
            result.block_until_ready()
            return take(result)
        except JaxRuntimeError as error:
            raise_original(error)
            if is_spread(result):
                return self.to_numpy(result)
            raise

    def aval_of(self, operand: Any) -> Aval:
        """Shape and dtype."""
        return Aval(operand.shape, operand.dtype.name)

    def owns(self, value: Any) -> bool:
        """Return True if a value is a jax array that jax is not tracing."""
        return is_array(value)

    def snapshot(self, operand: Array) -> Array:
        """Return the operand itself: jax arrays are immutable."""
        return operand

    def synchronize(self) -> None:
        """Wait for every array that is still alive."""
        check_process()
        for array in live_arrays():
            if not array.is_deleted():
                array.block_until_ready()

    def memory_stats(self) -> Mapping[str, int]:
        """Return bytes ``in_use``, ``peak`` and ``limit`` of the device; empty for a CPU."""
        known = self.device.memory_stats() or {}
        return {ours: known[theirs] for theirs, ours in _STATISTICS.items() if theirs in known}

    def compile(
        self, program: CompiledProgram, avals: Sequence[Aval], options: Options | None = None
    ) -> XlaExecutable | ShardedExecutable:
        """Compile a whole program, for a mesh if there is one among the options.

        See ``_options.py`` for all others.

        Raises MissingLoweringError: naming every operation of the program that cannot run.
        Raises UnsupportedError: for export and checks, which come later; for callbacks with a mesh.
        Raises XlaError: if XLA refuses the program.
        """
        check_process()
        inputs, platform = len(program.inputs), self.device.platform
        checked = checked_options(self.config, options, platform, inputs)
        closed = with_broadcasts_in_loops(self.lowerings.close(program))
        check_offload([row.operation for row in program.instructions], platform)
        layout = _layout_in(options or {})
        if layout is not None:
            return ShardedExecutable(self, closed, checked, layout)
        return XlaExecutable(self, with_slices(closed), checked, self.device)

    def memory_of(self, program: CompiledProgram, options: Options | None = None) -> int | None:
        """Return what XLA says of the compiled program; ``None`` if it has several segments.

        XLA orders equations itself, and may merge what is computed again with its first evaluation.
        """
        compiled = self.compile(program, program.input_avals, options)
        return compiled.memory() if isinstance(compiled, XlaExecutable) else None

    def host_callback(
        self, operation: Operation, host: Backend, function: Function, avals: Sequence[Any]
    ) -> Function:
        """Make a lowering that leaves the compiled program, computes on another backend and
        returns.
        """
        single = operation.output_count == 1
        specs = tuple(shape_dtype(a.shape, numpy_dtype(a.dtype)) for a in avals)

        @keeping
        def on_host(*operands: Any) -> tuple[Any, ...]:
            moved = [host.asoperand(self.to_numpy(x), self.aval_of(x)) for x in operands]
            results = function(operation, *moved)
            return tuple([host.to_numpy(r) for r in ((results,) if single else results)])

        def detour(operation: Operation, *operands: Any) -> Any:
            results = pure_callback(on_host, specs, *operands)
            return results[0] if single else tuple(results)

        return detour

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by name and settings: each process has its own devices."""
        return _of_this_process, (self.name, self.config)

    def __repr__(self) -> str:
        return f"<XlaBackend on {device_name(self.device)}>"


def _of_this_process(name: str, config: BackendConfig) -> Backend:
    return host().backend(name, config)


def _layout_in(options: Options) -> Layout | None:
    """Return how a program is split, as core's options say; None for one device."""
    mesh: Any = options.get("mesh")
    if mesh is None:
        return None
    inputs, outputs, donated = [options.get(k) or () for k in _OF_LAYOUT]
    return Layout(mesh, tuple(inputs), tuple(outputs), tuple(donated))  # type: ignore[arg-type]


def check_readable(operand: Any) -> None:
    """Raise for an array that is partly in other processes, or was donated."""
    if not is_array(operand):
        return
    if operand.is_deleted():
        raise donated_before("")
    if is_elsewhere(operand):
        aval = Aval(operand.shape, operand.dtype.name)
        raise SpansProcessesError(
            "xla: other processes have parts of this array\n"
            f"  got        {described(aval, operand)}\n"
            "  need       an array that is whole in this process\n"
            '  hint       in all processes, `tn.jit(lambda x: x, backend="xla", mesh=mesh,'
            " out_shardings=())(x)` makes it whole everywhere; `tn.save_arrays` writes it as it is",
            backend="xla",
            aval=aval,
        )
