"""A compiled program as the caller sees it: jax or NumPy arrays in, jax arrays out.

The common path is one comparison per operand and one call per segment. NumPy arrays are handed
straight to XLA, which may read them where they are; the call then waits for the results, so that
no code can change an operand that is still being read. What goes wrong is sorted out afterwards,
from ``_recover`` on. Read next: ``_backend.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from threading import RLock
from time import perf_counter
from typing import Any

import numpy as np

from tenferro.backend.base import Backend, Executable
from tenferro.backend.timings import Timing, Timings
from tenferro.computegraph import CompiledProgram, OperandError, check_operand_count
from tenferro.primitives import Aval
from tenferro_xla import _fork
from tenferro_xla._checks import raise_first
from tenferro_xla._compile import CompiledSegment, compile_plan, own_settings
from tenferro_xla._device import device_name
from tenferro_xla._donation import check_donated, donated_before
from tenferro_xla._errors import DeviceMismatchError, translated
from tenferro_xla._host_memory import COPIES, MIN_BYTES_TO_SHARE, is_readable_in_place
from tenferro_xla._jax import (
    VERSION,
    Device,
    JaxRuntimeError,
    block_until_ready,
    disable_jit,
    enable_x64,
    has_x64,
    is_array,
    setting,
)
from tenferro_xla._literals import large_literals, plan_of_literal
from tenferro_xla._mappings import make_room, register
from tenferro_xla._mesh import is_spread
from tenferro_xla._not_public import native_call
from tenferro_xla._operands import NumpyArray, fits, host_array, numpy_dtype, refusal
from tenferro_xla._options import CompileOptions
from tenferro_xla._policy import policy_for
from tenferro_xla._raised import raise_original
from tenferro_xla._row_blocks import cache_of_processors, described_blocks, with_row_blocks
from tenferro_xla._segments import plan_segments
from tenferro_xla._sharded import (
    Layout,
    ShardedExecutable,
    has_constraints,
)

_Compiled = tuple[
    tuple[CompiledSegment, ...], dict[int, Any]
]  # the steps, and the literals made once
_Direct = Callable[..., Any] | None  # the only step, where it alone is the program


class XlaExecutable(Executable):
    """A program compiled by XLA for one device, and for another once operands live there."""

    reads_numpy = True

    def __init__(
        self, backend: Backend, program: CompiledProgram, options: CompileOptions, device: Device
    ) -> None:
        self.backend = backend
        self.policy = policy_for(program, options, device.platform)
        self.device = device
        self._whole = program
        if device.platform == "cpu" and not has_constraints(program):
            given = options.cache_bytes
            cache = cache_of_processors() if given is None else given
            self.policy = self.policy._replace(cache=cache)
            program = with_row_blocks(program, cache)
        self.program = program
        self._literals = large_literals(program)
        held = frozenset(s for p in self._literals for s in program.instructions[p].outputs)
        self.plan = plan_segments(program, held, self.policy.size, self.policy.limit)
        self._dtypes = tuple([numpy_dtype(aval.dtype) for aval in program.input_avals])
        self._doubles = tuple([aval == _DOUBLE for aval in program.input_avals])
        self._large = _large_inputs(program, options.donated) if device.platform == "cpu" else ()
        self._options = options
        self._sharded: ShardedExecutable | None = None
        self._lock = RLock()
        self._compiled: dict[Device, _Compiled] = {}
        self._own: tuple[_Compiled, _Direct] | None = None  # None: released, see `_mappings.py`
        self._native: _Direct = None  # once it has run, for arrays of JAX alone
        self.used = True
        if not has_constraints(program):  # else operands say for which devices it is compiled
            self._load()
        register(self)

    # ---- compiling -------------------------------------------------------------------------------

    def _load(self) -> tuple[_Compiled, _Direct]:
        """Return the program compiled for its own device, compiling it if needed."""
        compiled = self._compiled_for(self.device)
        own = self._own = compiled, self._directly_callable(*compiled)
        return own

    def release(self) -> None:
        """Give up the machine code; the next run compiles again.

        Takes no lock: another thread may be compiling this executable, and waiting for the caller.
        """
        self._own = self._native = None
        self._compiled = {}

    def _compile(self, device: Device) -> _Compiled:
        make_room(len(self.program))
        steps = compile_plan(self.backend, self.program, self.plan, self.policy, device)
        held: dict[int, Any] = {}
        for position in self._literals:
            plan = plan_of_literal(self.program, position)
            (step,) = compile_plan(self.backend, self.program, plan, self.policy, device)
            with own_settings(device):
                held.update(zip(plan.results, step.run(), strict=True))
        return steps, held

    def _directly_callable(
        self, steps: tuple[CompiledSegment, ...], held: dict[int, Any]
    ) -> _Direct:
        """Return what runs the only step, which takes the operands as they are, then literals."""
        if len(steps) != 1:
            return None
        (step,) = steps
        return None if step.checked else self._with_constants(step, step.run, held)

    def _with_constants(
        self, step: CompiledSegment, run: Callable[..., Any], held: dict[int, Any]
    ) -> Callable[..., Any]:
        constants = [held[slot] for slot in step.inputs[len(self.program.inputs) :]]
        return (lambda *operands: run(*operands, *constants)) if constants else run

    # ---- running ---------------------------------------------------------------------------------

    def __call__(self, *operands: Any) -> tuple[Any, ...]:
        """Run; results of host operands are ready on return, others may still be computed.

        Raises OperandError: if an operand does not fit, naming the input.
        Raises XlaError: if XLA fails, with the equation.
        Raises what a host callback raised, as it was raised.
        Raises DeviceMismatchError: if operands live on different devices.
        """
        _fork.check_process()
        if len(operands) != len(self._dtypes):
            check_operand_count(self.program, operands)
        ready, from_host = self._ready(operands)
        if self._own is None and _are_spread(ready):
            return self._spread(ready)
        loaded = self._own or self._load()
        self.used = True
        try:
            if from_host:
                return self._computed(loaded, ready)
            return self._started(loaded, ready)
        except (TypeError, ValueError, RuntimeError) as error:
            return self._recover(error, ready)

    def specialized(self, operands: Sequence[Any]) -> Callable[..., tuple[Any, ...]]:
        """Return what runs operands like these in fewer steps.

        For arrays of JAX the setting of 64 bits is left as it is: it concerns numbers of the host
        and callbacks, and a program with callbacks has no compiled function.
        """
        if not all(map(_is_own, operands)):
            return self._specialized_for_host(operands)

        def run(*operands: Any) -> tuple[Any, ...]:
            native = self._native
            if native is None or _fork.is_broken:
                return self._first(operands)
            self.used = True
            try:
                return native(*operands)  # type: ignore[no-any-return]
            except (TypeError, ValueError, RuntimeError) as error:
                return self._recover(error, operands)

        return run

    def refuses_others(self, operands: Sequence[Any]) -> bool:
        """Return True for arrays, whose shapes and dtypes JAX compares.

        It does not compare the order of bytes of NumPy's, which is done here.
        """
        return all(
            [
                type(x) is np.float64
                or _is_own(x)
                or (type(x) is np.ndarray and x.dtype is self._dtypes[i])
                for i, x in enumerate(operands)
            ]
        )

    def _specialized_for_host(self, operands: Sequence[Any]) -> Callable[..., tuple[Any, ...]]:
        """Return what runs operands like these, with values of the host among them."""
        takes = [self._take(i, operand) for i, operand in enumerate(operands)]
        if self._large:
            return self
        taken = [(i, take) for i, take in enumerate(takes) if take is not None]
        arrays = [(i, self._dtypes[i]) for i, x in enumerate(operands) if type(x) is np.ndarray]

        def run(*given: Any) -> tuple[Any, ...]:
            native = self._native
            if native is None or _fork.is_broken:
                return self._first(given)
            for i, dtype in arrays:
                if given[i].dtype is not dtype:
                    return self._of_equal_dtypes(given)
            self.used = True
            if not taken:
                return self._waited_for(native, given)
            operands = list(given)
            for i, take in taken:
                operands[i] = take(operands[i])
            return self._waited_for(native, operands)

        return run

    def _waited_for(self, native: Callable[..., Any], operands: Sequence[Any]) -> tuple[Any, ...]:
        """Run the compiled function on memory of the host, until it is not read any more."""
        try:
            if has_x64():
                results: tuple[Any, ...] = native(*operands)
            else:
                with enable_x64(True):
                    results = native(*operands)
            for result in results:
                result.block_until_ready()
        except (TypeError, ValueError, RuntimeError) as error:
            return self._recover(error, operands)
        return results

    def _of_equal_dtypes(self, operands: Sequence[Any]) -> tuple[Any, ...]:
        """Run on arrays of NumPy whose dtypes are other objects.

        Raises OperandError: if a dtype differs, if only in the order of bytes.
        """
        named = zip(operands, self.program.input_avals, self.program.input_names, strict=True)
        for operand, aval, name in named:
            if type(operand) is np.ndarray and operand.dtype != numpy_dtype(aval.dtype):
                raise refusal(operand, aval, name)
        return self(*operands)

    def _take(self, index: int, operand: Any) -> Callable[[Any], Any] | None:
        """Return what makes an operand of values like this; None if they are operands."""
        if _is_own(operand) or (
            type(operand) is np.ndarray and operand.dtype is self._dtypes[index]
        ):
            return None
        if type(operand) in (float, np.float64) and self._doubles[index]:
            return np.asarray
        return partial(self._from_host, index)

    def _first(self, operands: Sequence[Any]) -> tuple[Any, ...]:
        """Run arrays of JAX, and keep the compiled function for the next time, if there is one."""
        results = self(*operands)
        own = self._own
        if own is not None and own[1] is not None:
            (step, *_), held = own[0]
            native = native_call(step.run)
            if native is not None:
                self._native = self._with_constants(step, native, held)
        return results

    def _started(
        self, loaded: tuple[_Compiled, _Direct], operands: Sequence[Any]
    ) -> tuple[Any, ...]:
        """Run; the results may still be computed."""
        (steps, held), direct = loaded
        if direct is not None and has_x64():
            found: tuple[Any, ...] = direct(*operands)
            return found
        with enable_x64(True):  # JAX would read 64 bits of the host, and of callbacks, as 32
            run = direct or partial(self._run, steps, held)
            return run(*operands)

    def _computed(
        self, loaded: tuple[_Compiled, _Direct], operands: Sequence[Any]
    ) -> tuple[Any, ...]:
        """Run on memory of the host, and wait until it is not read any more."""
        copies: list[NumpyArray] = []
        if self._large:
            operands = self._with_copies(operands, copies)
        results = self._started(loaded, operands)
        for result in results:
            result.block_until_ready()
        if copies:
            COPIES.give_back(copies)
        return results

    def _ready(self, operands: Sequence[Any]) -> tuple[Sequence[Any], bool]:
        """Return operands that XLA can read, and True if host memory is among them."""
        if _own_types.issuperset(map(type, operands)):
            return operands, False
        from_host = False
        converted: list[Any] | None = None
        for index, operand in enumerate(operands):
            kind = type(operand)
            if kind is np.ndarray and operand.dtype is self._dtypes[index]:
                from_host = True
            elif kind not in _own_types and not (kind is not float and _is_own(operand)):
                from_host = True
                converted = list(operands) if converted is None else converted
                converted[index] = self._from_host(index, operand)
        return (operands if converted is None else converted), from_host

    def _with_copies(self, operands: Sequence[Any], copies: list[NumpyArray]) -> Sequence[Any]:
        """Replace large arrays that XLA cannot read where they are by aligned copies.

        No code may write to ``copies`` before the program has run.
        """
        found = list(operands)
        for i in self._large:
            operand = found[i]
            if type(operand) is np.ndarray and not is_readable_in_place(operand):
                if operand.shape != self.program.input_avals[i].shape:
                    continue  # `_recover` says so
                found[i] = COPIES.copy(operand)
                copies.append(found[i])
        return found

    def _from_host(self, index: int, operand: Any) -> NumpyArray:
        """Return a value of the host as an array of the dtype that the program wants."""
        if type(operand) is float and self._doubles[index]:
            return np.asarray(operand)
        return host_array(operand, self.program.input_avals[index], self.program.input_names[index])

    def _run(
        self, steps: Iterable[CompiledSegment], held: dict[int, Any], *operands: Any
    ) -> tuple[Any, ...]:
        """Run the steps over slots, dropping each value after its last use."""
        slots: list[Any] = [None] * self.plan.slot_count
        slots[: len(operands)] = operands
        for slot, value in held.items():
            slots[slot] = value
        for run, inputs, outputs, frees, positions, checked in steps:
            try:
                found = run(*[slots[i] for i in inputs])
            except JaxRuntimeError as error:
                raise_original(error)
                self._check_donated(operands, error)
                raise translated(
                    error, self.program, positions, device_name(self.device)
                ) from error
            if checked:
                *found, failed = found
                raise_first(self.program, checked, np.asarray(failed).tolist())
            for slot, result in zip(outputs, found, strict=True):
                slots[slot] = result
            for slot in frees:
                slots[slot] = None
        return tuple([slots[i] for i in self.plan.results])

    # ---- what may have gone wrong ----------------------------------------------------------------

    def _recover(self, error: Exception, operands: Sequence[Any]) -> tuple[Any, ...]:
        """Say what was wrong; or run where the operands are, or in spite of `jax.disable_jit`."""
        if isinstance(error, JaxRuntimeError):
            raise_original(error)
            self._check_donated(operands, error)
            everything = range(len(self.program.instructions))
            raise translated(error, self.program, everything, device_name(self.device)) from error
        named = zip(operands, self.program.input_avals, self.program.input_names, strict=True)
        for operand, aval, name in named:
            if is_array(operand) and operand.is_deleted():
                raise donated_before(name) from error
            if not fits(operand, aval):
                raise refusal(operand, aval, name) from error
        self._check_donated(operands, error)
        if _are_spread(operands):
            return self._spread(operands)
        device = self._device_of(operands, error)
        if device == self.device and not setting("jax_disable_jit"):
            raise error
        steps, held = self._compiled_for(device)
        with enable_x64(True), disable_jit(False):
            results = self._run(steps, held, *operands)
            block_until_ready(results)
        return results

    def _check_donated(self, operands: Sequence[Any], error: Exception) -> None:
        """Raise OperandError for a donated array that is another argument, too."""
        try:
            check_donated(self.policy.donated, operands, self.program.input_names)
        except OperandError as found:
            raise found from error

    def _spread(self, operands: Sequence[Any]) -> tuple[Any, ...]:
        """Run on the devices over which operands are split."""
        with self._lock:
            if self._sharded is None:
                layout = Layout(None)
                self._sharded = ShardedExecutable(self.backend, self._whole, self._options, layout)
        return self._sharded(*operands)

    def _device_of(self, operands: Sequence[Any], error: Exception) -> Device:
        """Return the one device on which the user put operands; the program's own if there is none.

        Raises DeviceMismatchError: if there are several.
        """
        arrays = [x for x in operands if is_array(x) and x.committed]
        devices = {device for array in arrays for device in array.devices()}
        if len(devices) > 1 or (self.backend.config.device and devices - {self.device}):
            raise self._mismatch({*devices, self.device}) from error
        return next(iter(devices), self.device)

    def _mismatch(self, devices: set[Device]) -> DeviceMismatchError:
        names = tuple(sorted(map(device_name, devices)))
        return DeviceMismatchError(
            "xla: operands and program are on different devices\n"
            f"  got        {', '.join(names)}\n"
            "  need       one device; nothing is moved between devices unasked\n"
            "  hint       jax.device_put(operand, device) moves one",
            backend="xla",
            devices=names,
        )

    def _compiled_for(self, device: Device) -> _Compiled:
        """Return the program compiled for a device, compiling it if needed."""
        with self._lock:
            compiled = self._compiled.get(device)
            if compiled is None:
                compiled = self._compiled[device] = self._compile(device)
            return compiled

    # ---- telling ---------------------------------------------------------------------------------

    def _described_blocks(self) -> list[str]:
        return described_blocks(self.program, self.backend.lowerings, self.policy.cache)

    def explain(self) -> str:
        """Describe the segments of the program, its cost by XLA's own count, and the optimized
        HLO.
        """
        (steps, _), _ = self._own or self._load()
        unique = {id(step.run): step.run for step in steps}.values()
        costs = [step.run.cost_analysis() or {} for step in steps]
        head = [
            f"xla: {len(self._whole)} equations in {len(steps)} segment(s), "
            f"{len(unique)} compiled, on {device_name(self.device)}, jax {VERSION}"
        ]
        if "fusion" in str(self.policy.compiler_options.get("xla_disable_hlo_passes", "")).split(
            ","
        ):
            head.append("  without XLA's fusion")
        head += [f"  {text}" for text in self._described_blocks()]
        foreign = self.backend.lowerings.foreign_in(self._whole)
        head += [f"  lowering of {text}" for text in foreign]
        for figure in ("flops", "transcendentals", "bytes accessed"):
            head.append(f"  {figure:<18} {int(sum(cost.get(figure, 0) for cost in costs))}")
        memory = [run.memory_analysis() for run in unique]
        for figure, field in _OF_MEMORY.items():
            largest = max(getattr(figures, field, 0) for figures in memory)
            head.append(f"  {figure:<18} {largest}")
        return "\n\n".join(["\n".join(head), *(_readable(run.as_text()) for run in unique)])

    def memory(self) -> int | None:
        """Return the bytes of temporaries and results; ``None`` for several segments."""
        (steps, _), _ = self._own or self._load()
        if len(steps) != 1:
            return None
        found = steps[0].run.memory_analysis()
        if found is None:
            return None
        return int(found.temp_size_in_bytes + found.output_size_in_bytes)

    def profile(self, *operands: Any) -> Timings:
        """Run once and time every segment; within one, XLA has merged the equations."""
        check_operand_count(self.program, operands)
        ready, _ = self._ready(operands)
        (steps, held), _ = self._own or self._load()
        rows: list[Timing] = []

        def timed(step: CompiledSegment) -> CompiledSegment:
            def run(*operands: Any) -> Any:
                start = perf_counter()
                found = block_until_ready(step.run(*operands))
                seconds = perf_counter() - start
                segment = f"segment {len(rows) + 1} of {len(steps)}"
                rows.append(Timing(f"{segment}: {len(step.positions)} equations", seconds))
                return found

            return step._replace(run=run)

        with enable_x64(True):
            self._run(map(timed, steps), held, *ready)
        return Timings(rows)

    def __repr__(self) -> str:
        segments = len(self.plan.segments)
        return f"<XlaExecutable of {len(self.program)} equations in {segments} segment(s)>"


#: Figures of JAX's ``memory_analysis``, of the segment where they are largest.
_OF_MEMORY = {
    "argument bytes": "argument_size_in_bytes",
    "result bytes": "output_size_in_bytes",
    "donated bytes": "alias_size_in_bytes",
    "temporary bytes": "temp_size_in_bytes",
    "peak bytes": "peak_memory_in_bytes",
}
_DOUBLE = Aval((), "f64")


def _large_inputs(program: CompiledProgram, donated: Sequence[int]) -> tuple[int, ...]:
    """Return the inputs for whose arrays an aligned copy pays."""
    sizes = [aval.size * aval.dtype.itemsize for aval in program.input_avals]
    return tuple([i for i, n in enumerate(sizes) if n >= MIN_BYTES_TO_SHARE and i not in donated])


_own_types: set[type] = set()  # the classes of arrays met so far; asking jax takes a microsecond


def _are_spread(operands: Sequence[Any]) -> bool:
    """Return True if an operand lies on several devices."""
    return any([is_array(x) and is_spread(x) for x in operands])


def _is_own(operand: Any) -> bool:
    """Return True if an operand is a jax array that jax is not tracing."""
    found = is_array(operand)
    if found:
        _own_types.add(type(operand))
    return found


def _readable(hlo: str) -> str:
    """HLO without the tables of files and frames, and without references to them."""
    start = hlo.find("\nFileNames")
    body = re.search(r"\n(?=(%|ENTRY |fused))", hlo[start:]) if start >= 0 else None
    if body is not None:
        hlo = hlo[:start] + hlo[start + body.start() :]
    return re.sub(r", (metadata|backend_config)=\{[^{}]*(\{[^{}]*\}[^{}]*)*\}", "", hlo).strip()
