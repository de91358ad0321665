"""The XLA backend: what its operands are, and how a program becomes an executable.

Operands are jax arrays. A value of the host is copied on its way in, because jax may use a NumPy
buffer where it is, and on its way out, because jax arrays are read-only. Nothing here changes the
configuration of JAX. Read next: ``_compile.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from tenferro.backend.base import Backend, Options
from tenferro.backend.records import BackendConfig
from tenferro.computegraph import CompiledProgram, Operation
from tenferro.primitives import Aval
from tenferro_xla._compile import own_settings
from tenferro_xla._device import device_name, find_device
from tenferro_xla._executable import XlaExecutable
from tenferro_xla._fork import check_process, mark_used
from tenferro_xla._jax import (
    Array,
    JaxRuntimeError,
    device_put,
    is_array,
    live_arrays,
    pure_callback,
    shape_dtype,
)
from tenferro_xla._operands import NumpyArray, fits, host_array, numpy_dtype, refusal
from tenferro_xla._options import check_offload, checked_options
from tenferro_xla._raised import keeping, raise_original

Function = Callable[..., Any]
_STATISTICS = {"bytes_in_use": "in_use", "peak_bytes_in_use": "peak", "bytes_limit": "limit"}


class XlaBackend(Backend):
    """Runs programs as XLA executables on one device.

    Raises DeviceUnavailableError: if the device of the configuration is not there.
    """

    def __init__(self, config: BackendConfig) -> None:
        mark_used()
        self.config = config
        self.device = find_device(config.device)

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
        """Make JAX's ``BCOO``; all share one array of positions, which nothing can write to."""
        sparse = import_module("jax.experimental.sparse")
        rows = np.repeat(np.arange(shape[0], dtype="int32"), np.diff(np.asarray(starts)))
        indices = device_put(np.stack([rows, np.asarray(columns, "int32")], axis=1))

        def matrix(entries: Any) -> Any:
            return sparse.BCOO(
                (entries, indices), shape=shape, indices_sorted=True, unique_indices=True
            )

        return matrix

    def to_numpy(self, operand: Any) -> NumpyArray:
        """A NumPy array of its own memory, writeable.

        Raises what a host callback raised while the operand was computed, as it was raised.
        """
        check_process()
        try:
            return np.array(operand)
        except JaxRuntimeError as error:
            raise_original(error)
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
    ) -> XlaExecutable:
        """Compile a whole program; see ``_options.py`` for the options.

        Raises MissingLoweringError: naming every operation of the program that cannot run.
        Raises UnsupportedError: for sharding, export and checks, which come later.
        Raises XlaError: if XLA refuses the program.
        """
        check_process()
        checked = checked_options(self.config, options, self.device.platform)
        closed = self.lowerings.close(program)
        check_offload([row.operation for row in program.instructions], self.device.platform)
        return XlaExecutable(self, closed, checked, self.device)

    def memory_of(self, program: CompiledProgram, options: Options | None = None) -> int | None:
        """Return what XLA says of the compiled program; ``None`` if it has several segments.

        XLA orders equations itself, and may merge what is computed again with its first evaluation.
        """
        return self.compile(program, program.input_avals, options).memory()

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

    def __repr__(self) -> str:
        return f"<XlaBackend on {device_name(self.device)}>"
