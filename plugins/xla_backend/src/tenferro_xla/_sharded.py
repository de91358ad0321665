"""A program compiled for the devices of a mesh, as one piece.

Inputs that a spec names are moved to where it says; all others stay split as they come, and what
lies on no mesh is whole on every device. The program is compiled once for each way in which these
come, from shapes alone. Among several processes each compares its program with that of the others
before it compiles it, so that none waits for a partner that does something else.
Read next: ``_agreement.py`` and ``_collectives.py``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from threading import RLock
from typing import Any, NamedTuple, cast

import numpy as np

from tenferro.backend import UnsupportedError
from tenferro.backend.base import Backend, Executable
from tenferro.backend.extend import source_text
from tenferro.backend.timings import Timing, Timings
from tenferro.computegraph import CompiledProgram, check_operand_count
from tenferro.primitives import Mesh, ShardingConstraint, ShardingSpec
from tenferro_xla._agreement import Lines, Program, agree_on, digest_of
from tenferro_xla._bodies import rewriting_bodies
from tenferro_xla._collectives import collectives
from tenferro_xla._compile import own_settings
from tenferro_xla._device import device_name
from tenferro_xla._donation import check_donated, donated_before
from tenferro_xla._ends import count_run
from tenferro_xla._errors import DeviceMismatchError, translated
from tenferro_xla._fork import check_process
from tenferro_xla._jax import (
    VERSION,
    Array,
    JaxRuntimeError,
    NamedSharding,
    block_until_ready,
    device_put,
    disable_jit,
    enable_x64,
    is_array,
    jit,
    make_array_from_callback,
    process_count,
    shape_dtype,
)
from tenferro_xla._loop_constants import with_broadcasts_in_loops
from tenferro_xla._mesh import (
    device_mesh,
    in_force,
    is_spread,
    mesh_of,
    sharding_of,
)
from tenferro_xla._operands import fits, host_array, numpy_dtype, refusal
from tenferro_xla._options import CompileOptions
from tenferro_xla._running import run_with_others
from tenferro_xla._segments import plan_segments
from tenferro_xla._trace import SegmentFunction

_Shardings = tuple[NamedSharding, ...]
_CALLBACKS = frozenset(("std::host_callback", "std::debug_callback"))
_WHOLE = ShardingSpec(())


class Layout(NamedTuple):
    """The split of a program: a mesh, and a spec or None for each input and result.

    Inputs behind the last one that is listed have none; they are captured values. ``donated`` are
    numbers of inputs whose memory results may take.
    """

    mesh: Mesh | None
    inputs: tuple[ShardingSpec | None, ...] = ()
    outputs: tuple[ShardingSpec | None, ...] = ()
    donated: tuple[int, ...] = ()


class ShardedExecutable(Executable):
    """A program for a mesh; without one, for that on which its operands lie."""

    reads_numpy = True

    def __init__(
        self, backend: Backend, program: CompiledProgram, options: CompileOptions, layout: Layout
    ) -> None:
        check_callbacks(program, backend)
        self.backend = backend
        self.program = program
        self.layout = layout
        self.platform = backend.device.platform  # type: ignore[attr-defined]
        # Devices of the CPU share threads: a second program would keep those that the exchanges of
        # the first wait for, so that processes could wait for each other for ever.
        self._has_others = process_count() > 1
        self._waits = self.platform == "cpu" and self._has_others
        self._options = dict(options.compiler_options)
        self._plan = plan_segments(program, frozenset(), 0)
        self._lock = RLock()
        self._compiled: dict[_Shardings, Any] = {}
        self._compared: set[_Shardings] = set()  # with the values of arguments
        self._held: dict[int, str] = {}  # digests of captured values
        count = len(program.input_avals)
        self._specs = (*layout.inputs, *[None] * (count - len(layout.inputs)))
        self._names = program.input_names
        if layout.mesh is not None:
            device_mesh(layout.mesh, self.platform)  # too few devices are refused here

    # ---- where operands are ----------------------------------------------------------------------

    def _mesh_for(self, operands: Sequence[Any]) -> Any:
        """Return JAX's mesh of this run.

        Raises DeviceMismatchError: if operands lie on several meshes of other devices.
        """
        if self.layout.mesh is not None:
            return device_mesh(self.layout.mesh, self.platform)
        spread = [x.sharding for x in operands if is_array(x) and is_spread(x)]
        meshes = {s.mesh: None for s in spread if isinstance(s, NamedSharding)}
        if len({frozenset(mesh.devices.flat) for mesh in meshes}) != 1:
            raise self._mismatch(meshes)
        return next(iter(meshes))

    def _mismatch(self, meshes: Mapping[Any, None]) -> DeviceMismatchError:
        names = tuple([str(mesh_of(mesh)) for mesh in meshes])
        return DeviceMismatchError(
            "xla: operands are split over different devices\n"
            f"  got        {', '.join(names)}\n"
            "  need       arrays on one mesh\n"
            "  hint       `tn.jit(f, mesh=mesh, in_shardings=…)` moves arguments to one mesh",
            backend="xla",
            devices=names,
        )

    def _shardings(self, mesh: Any, operands: Sequence[Any]) -> _Shardings:
        """Return where each operand must lie for this run."""
        whole = sharding_of(mesh, _WHOLE)
        found = []
        for operand, spec in zip(operands, self._specs, strict=True):
            if spec is not None:
                found.append(sharding_of(mesh, spec))
            elif is_array(operand) and is_spread(operand) and _is_on(operand, mesh):
                found.append(cast("NamedSharding", operand.sharding))
            else:
                found.append(whole)
        return tuple(found)

    def _place(self, index: int, operand: Any, sharding: NamedSharding) -> Array:
        """Return an operand where it must lie.

        Raises UnsupportedError: for values of one process, where each has a part of the array.
        """
        aval, name = self.program.input_avals[index], self._names[index]
        if is_array(operand):
            if operand.is_deleted():
                raise donated_before(name)
            if not fits(operand, aval):
                raise refusal(operand, aval, name)
            if operand.sharding.is_equivalent_to(sharding, aval.ndim):
                return operand
            if process_count() == 1 or is_spread(operand):
                return device_put(operand, sharding)
            operand = np.asarray(operand)
        array = host_array(operand, aval, name)
        if process_count() == 1:
            return device_put(array, sharding)
        if not (sharding.is_fully_addressable or sharding.is_fully_replicated):
            raise UnsupportedError(
                f"xla: {name or 'an operand'} is an array of this process, and each process has a"
                " part of it\n"
                f"  got        {aval} of one process\n"
                f"  need       an array that is split over {process_count()} processes\n"
                "  hint       `tn.shard(x, mesh, spec)` if every process has the whole array,"
                " `tn.from_local(rows, mesh, spec)` if each has its part",
                backend="xla",
                feature="NumPy arrays for several processes",
                instead="tn.from_local",
            )
        return make_array_from_callback(aval.shape, sharding, lambda region: array[region])

    def hold(self, index: int, operand: Any) -> Any:
        """Put a captured value on the mesh, once."""
        if self.layout.mesh is None:
            return operand
        if is_array(operand) and is_spread(operand):
            return operand
        mesh = device_mesh(self.layout.mesh, self.platform)
        if self._has_others:
            self._held[index] = self._digest(index, operand)
        with own_settings(self.backend.device):  # type: ignore[attr-defined]
            return self._place(index, operand, sharding_of(mesh, _WHOLE))

    # ---- compiling -------------------------------------------------------------------------------

    def _compiled_for(self, mesh: Any, shardings: _Shardings, operands: Sequence[Any] = ()) -> Any:
        """Return the program, compiled at the first call; several processes agree on it then."""
        with self._lock:
            found = self._compiled.get(shardings)
            is_compared = not (operands and self._has_others) or shardings in self._compared
            if found is not None and is_compared:
                return found
            with own_settings(self.backend.device), in_force(mesh):  # type: ignore[attr-defined]
                lowered = self._lowered(mesh, shardings)
                if self._has_others:
                    self._agree(lowered, mesh, shardings, operands)
                if found is None:
                    found = self._compiled[shardings] = self._compile(lowered)
            if operands:
                self._compared.add(shardings)
            return found

    def _agree(
        self, lowered: Any, mesh: Any, shardings: _Shardings, operands: Sequence[Any]
    ) -> None:
        """Compare the program and the values that are whole with those of other processes."""
        program = Program(
            lowered.as_text(),
            str(mesh_of(mesh)),
            len(self.program),
            lambda: self._lines(shardings),
        )
        digests = dict(self._held) if operands else {}
        for index, operand in enumerate(operands):
            if not (is_array(operand) and is_spread(operand)):
                digests[index] = self._digest(index, operand)
        agree_on(program, {i: (self._name(i), digest) for i, digest in digests.items()})

    def _name(self, index: int) -> str:
        return self._names[index] or f"captured value {index}"

    def _digest(self, index: int, operand: Any) -> str:
        if is_array(operand):
            return digest_of(np.asarray(operand))
        return digest_of(host_array(operand, self.program.input_avals[index], self._names[index]))

    def _lines(self, shardings: _Shardings) -> Lines:
        """Return inputs and equations as texts, each with the user's line."""
        inputs = zip(self._names, self.program.input_avals, shardings, strict=True)
        lines: list[tuple[str, str | None]] = [
            (f"input {name} {_split(aval, sharding)}", None) for name, aval, sharding in inputs
        ]
        latest = None
        for position, instruction in enumerate(self.program.instructions):
            line = source_text(instruction.source)
            latest = line or latest  # equations of derivatives may have no line of their own
            where = f"from {line}" if line else latest and f"near {latest}"
            lines.append((self.program.equation(position), where))
        return lines

    def _lowered(self, mesh: Any, shardings: _Shardings) -> Any:
        (segment,) = self._plan.segments
        positions = {slot: index for index, slot in enumerate(self.program.inputs)}
        order = [positions[slot] for slot in segment.inputs]
        body = SegmentFunction(self.backend, self.program, segment, self.platform)
        kept = {slot: place for place, (_, slot) in enumerate(segment.outputs)}
        places = [kept[slot] for slot in self._plan.results]

        def whole(*operands: Any) -> tuple[Any, ...]:
            found = body(*[operands[i] for i in order])
            return tuple([found[i] for i in places])

        whole.__name__ = "tenferro"
        specs = [shape_dtype(a.shape, numpy_dtype(a.dtype)) for a in self.program.input_avals]
        stated = (*self.layout.outputs, *[None] * (len(places) - len(self.layout.outputs)))
        wanted = tuple([None if s is None else sharding_of(mesh, s) for s in stated])
        out = {} if all([s is None for s in stated]) else {"out_shardings": wanted}
        options = {"donate_argnums": self.layout.donated, **out}
        with rewriting_bodies(with_broadcasts_in_loops):
            return jit(whole, in_shardings=shardings, **options).lower(*specs)

    def _compile(self, lowered: Any) -> Any:
        try:
            return lowered.compile(compiler_options=self._options or None)
        except JaxRuntimeError as error:
            raise self._translated(error) from error

    def _translated(self, error: Exception) -> Exception:
        everything = range(len(self.program.instructions))
        device = str(self.layout.mesh or device_name(self.backend.device))  # type: ignore[attr-defined]
        return translated(error, self.program, everything, device)

    # ---- running ---------------------------------------------------------------------------------

    def __call__(self, *operands: Any) -> tuple[Any, ...]:
        """Run on all devices of the mesh; results are split as the specs or XLA decided.

        Raises OperandError: if an operand does not fit, was donated before, or is donated and also
        another operand.
        Raises XlaError: if XLA fails.
        Raises ProcessError: if another process does not come, or has left.
        """
        check_process()
        check_operand_count(self.program, operands)
        mesh = self._mesh_for(operands)
        shardings = self._shardings(mesh, operands)
        try:
            with enable_x64(True), disable_jit(False), warnings.catch_warnings():
                run = self._compiled_for(mesh, shardings, operands)
                pairs = enumerate(zip(operands, shardings, strict=True))
                placed = [self._place(i, x, sharding) for i, (x, sharding) in pairs]
                # On several devices XLA's own check ends the process with a segmentation fault.
                check_donated(self.layout.donated, placed, self._names)
                if self._has_others:
                    count_run()
                if self._waits:
                    return run_with_others(run, placed)
                results: tuple[Any, ...] = tuple(run(*placed))
                if any([not is_array(x) for x in operands]):
                    block_until_ready(results)  # the caller may change its arrays after the call
        except JaxRuntimeError as error:
            raise self._translated(error) from error
        return results

    def _default(self) -> Any:
        """Return the program for arguments that lie on no mesh yet."""
        assert self.layout.mesh is not None
        mesh = device_mesh(self.layout.mesh, self.platform)
        shardings = self._shardings(mesh, [None] * len(self._specs))
        return self._compiled_for(mesh, shardings)

    def prepare(self) -> None:
        """Compile for arguments that lie on no mesh, unless captured values decide."""
        return

    def explain(self) -> str:
        """Describe the mesh, how values are split, what devices exchange, and the optimized HLO."""
        run = self._default() if not self._compiled else next(iter(self._compiled.values()))
        text = run.as_text()
        cost = run.cost_analysis() or {}
        memory = run.memory_analysis()
        head = [
            f"xla: {len(self.program)} equations in one program for {self.layout.mesh}"
            f" of {self.platform}, jax {VERSION}"
        ]
        shardings = next(shardings for shardings, made in self._compiled.items() if made is run)
        names = zip(self._names, self.program.input_avals, shardings, strict=True)
        head += [f"  {name:<18} {_split(aval, sharding)}" for name, aval, sharding in names]
        found = collectives(text)
        head.append(f"  {'collectives':<18} {found}")
        for figure in ("flops", "bytes accessed"):
            head.append(f"  {figure:<18} {int(cost.get(figure, 0))} per device")
        temporary = getattr(memory, "temp_size_in_bytes", 0)
        head.append(f"  {'temporary bytes':<18} {temporary} per device")
        return "\n\n".join(["\n".join(head), text.strip()])

    def profile(self, *operands: Any) -> Timings:
        """Run once and time the program, which XLA has merged into one."""
        timings = super().profile(*operands)
        return Timings([Timing("whole program on all devices", timings.total)])

    def __repr__(self) -> str:
        return f"<ShardedExecutable of {len(self.program)} equations for {self.layout.mesh}>"


def _is_on(array: Array, mesh: Any) -> bool:
    sharding = array.sharding
    return isinstance(sharding, NamedSharding) and sharding.mesh == mesh


def _split(aval: Any, sharding: NamedSharding) -> str:
    padded = [*sharding.spec, *[None] * (aval.ndim - len(sharding.spec))]
    return f"{aval} as {ShardingSpec(padded)}"


def operations_in(program: CompiledProgram) -> Iterator[Any]:
    """Yield the operations of a program and of the bodies in it, each once."""
    waiting = [instruction.operation for instruction in program.instructions]
    seen: set[Any] = set()
    while waiting:
        operation = waiting.pop()
        if operation in seen:
            continue
        seen.add(operation)
        yield operation
        for _, body in getattr(operation, "bodies", ()):
            waiting += [inner for inner, _ in body.equations]


def has_constraints(program: CompiledProgram) -> bool:
    """Return True if a program says how a value is split."""
    return any([type(operation) is ShardingConstraint for operation in operations_in(program)])


def check_callbacks(program: CompiledProgram, backend: Backend) -> None:
    """Raise UnsupportedError if a program calls back into Python, which runs on one device."""
    for operation in operations_in(program):
        key = getattr(operation, "key", "")
        if key in _CALLBACKS or not _has_lowering(backend, operation):
            raise UnsupportedError(
                f"xla: {key or operation} calls back into Python, which a program for a mesh"
                " cannot\n"
                "  hint       leave it out, or call it on the results",
                backend="xla",
                feature="callbacks in programs for a mesh",
                instead="",
            )


def _has_lowering(backend: Backend, operation: Any) -> bool:
    """Return False for an operation that would run on the host."""
    if not backend.config.allow_host_callback:
        return True  # programs with operations that cannot run are refused before
    return backend.lowerings.status(type(operation)) != "missing"
