"""The CuPy backend: operands are `cupy.ndarray` on one device, programs are planned.

Nothing is transferred unless the user asked for it, and nothing waits for the device: results are
handed out while they are still being computed, on the stream that is current in the caller. The
namespace is handed in, so that tests can hand in a stand-in. Read next: `plan/planned.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any

from tenferro.backend import InvalidOptionError
from tenferro.backend.base import Backend, Executable
from tenferro.backend.extend import donated_inputs
from tenferro.backend.records import BackendConfig
from tenferro.computegraph import CompiledProgram, Fragment, OperandError, compile_program
from tenferro.primitives import Aval, DType
from tenferro_cupy._device import device_index
from tenferro_cupy._errors import OutOfMemoryError
from tenferro_cupy._executable import CupyExecutable, PlanRunner
from tenferro_cupy._given_up import GivenUp
from tenferro_cupy._graph import check_capturable
from tenferro_cupy.kernels.modules import Modules
from tenferro_cupy.lowerings.contraction import cutensor_module
from tenferro_cupy.plan.bodies import body_runner
from tenferro_cupy.plan.planned import Plan, make_plan
from tenferro_cupy.plan.step import Run

__all__ = ["CupyBackend"]


class CupyBackend(Backend):
    """Runs programs on one CUDA device.

    Raises DeviceUnavailableError: if the configured device is not there.
    """

    def __init__(self, config: BackendConfig, cupy: Any) -> None:
        self.config = config
        self.cupy = cupy
        self.device = device_index(config.device, cupy.cuda.runtime.getDeviceCount())
        self.modules = Modules(cupy)
        self.given_up = GivenUp()

    def on_device(self) -> AbstractContextManager[Any]:
        """Return the context in which this backend's device is the current one."""
        device: AbstractContextManager[Any] = self.cupy.cuda.Device(self.device)
        return device

    # ---- operands --------------------------------------------------------------------------------

    def asoperand(self, value: Any, aval: Aval) -> Any:
        """Return the value as an array on this device; NumPy arrays and scalars are copied there.

        Raises OperandError: for an array of another shape, dtype or device; nothing moves or is
        cast in silence; or for an array that was donated.
        Raises UnsupportedError: if CuPy lacks the dtype.
        """
        self.check_dtypes((aval,))
        with self.on_device():
            if isinstance(value, self.cupy.ndarray):
                self.given_up.check(value)
                operand = value
            elif isinstance(value, (bool, int, float, complex, self.cupy.generic)):
                operand = self.cupy.asarray(value, aval.dtype.name)
            else:
                operand = self.cupy.asarray(value)
        got = f"{operand.dtype}{list(operand.shape)} on cuda:{operand.device.id}"
        same = operand.shape == aval.shape and operand.dtype.name == aval.dtype.name
        if same and operand.device.id == self.device:
            return operand
        need = f"{aval} on cuda:{self.device}"
        raise OperandError(
            f"cupy: this operand is {got}, need {need}", input="", got=got, need=need
        )

    def to_numpy(self, operand: Any) -> Any:
        """Copy an operand to the host; this waits for the device.

        Raises OperandError: if it was donated.
        """
        self.given_up.check(operand)
        return self.cupy.asnumpy(operand)

    def sparse_matrices(
        self, columns: Sequence[int], starts: Sequence[int], shape: tuple[int, int]
    ) -> Callable[[Any], Any]:
        """Make CuPy's ``csr_matrix``; the positions are copied on the device."""
        made = import_module("cupyx.scipy.sparse").csr_matrix
        with self.on_device():
            places = [self.cupy.asarray([*x], dtype="int32") for x in (columns, starts)]

        def matrix(entries: Any) -> Any:
            with self.on_device():
                return made((entries, *[x.copy() for x in places]), shape=shape)

        return matrix

    def aval_of(self, operand: Any) -> Aval:
        """Shape and dtype of an array."""
        return Aval(operand.shape, DType.of(operand.dtype.name))

    def owns(self, value: Any) -> bool:
        """Return True if the value is a CuPy array."""
        return isinstance(value, self.cupy.ndarray)

    def snapshot(self, operand: Any) -> Any:
        """Return a copy on the operand's own device; CuPy has no read-only arrays."""
        with self.cupy.cuda.Device(operand.device.id):
            return operand.copy()

    def synchronize(self) -> None:
        """Wait for everything on the current stream of the device."""
        with self.on_device():
            self.cupy.cuda.get_current_stream().synchronize()

    def memory_stats(self) -> Mapping[str, int]:
        """Return bytes in use and bytes reserved in CuPy's memory pool on this device."""
        with self.on_device():
            pool = self.cupy.get_default_memory_pool()
            return {"in_use": pool.used_bytes(), "reserved": pool.total_bytes()}

    def out_of_memory(self, error: Exception) -> OutOfMemoryError:
        """Give unused memory back to the device, and return an error that says how much is used."""
        with self.on_device():
            pool = self.cupy.get_default_memory_pool()
            pool.free_all_blocks()
            used = pool.used_bytes()
        made = OutOfMemoryError(
            f"cupy: the device has not enough memory\n"
            f"  got        {error}\n"
            f"  in use     {used} bytes on cuda:{self.device}\n"
            "  hint       smaller arrays, or jit(f, options={'memory_budget': bytes})",
            backend="cupy",
            device=f"cuda:{self.device}",
            in_use=used,
        )
        for note in getattr(error, "__notes__", ()):
            made.add_note(note)
        return made

    # ---- programs --------------------------------------------------------------------------------

    def compile(
        self,
        program: CompiledProgram,
        avals: Sequence[Aval],
        options: Mapping[str, object] | None = None,
    ) -> Executable:
        """Plan a program: kernels for regions, calls of CuPy for the rest; literals are made now.

        Raises MissingLoweringError: naming every operation of the program that cannot run.
        Raises UnsupportedError: if the program has a dtype, or the options ask for a feature or a
        library, that the backend lacks; or if it cannot be captured as a CUDA graph.
        """
        self.check_options(options)
        self.check_dtypes(program.avals)
        given = {**self.config.options, **(options or {})}
        cuda_graph, cutensor = [_switch(given, name) for name in ("cuda_graph", "cutensor")]
        donated = donated_inputs("cupy", given.get("donated", ()), len(program.inputs))
        with self.on_device():
            plan = self._plan(program)
            if cuda_graph:
                check_capturable(plan)
            return CupyExecutable(
                self,
                plan,
                cuda_graph=cuda_graph,
                cutensor=cutensor_module() if cutensor else None,
                donated=donated,
            )

    def _plan(self, program: CompiledProgram) -> Plan:
        """Plan a program, and the bodies of its loops and branches."""
        closed = self.lowerings.close(program)
        return make_plan(closed, self.lowerings, self.provider, self.modules, self._run_bodies)

    def _run_bodies(self, op: Any) -> Run | None:
        """Return the function that runs an operation with bodies, unless a plugin replaced it."""
        if not hasattr(op, "bodies") or self.lowerings.provider_of(op) != self.provider:
            return None
        return body_runner(op, self._body, self.modules)

    def _body(self, body: Fragment) -> PlanRunner:
        return PlanRunner(self, self._plan(compile_program(body.flat)))

    def detach(self, results: Sequence[Any], operands: Sequence[Any]) -> tuple[Any, ...]:
        """Copy results that share memory with an operand or each other, or that waste memory.

        A view that fills an intermediate value has no other reference and is not copied.
        """
        taken = {id(_owner(operand)) for operand in operands}
        detached = []
        for result in results:
            owner = _owner(result)
            if id(owner) in taken or owner.nbytes != result.nbytes:
                result = result.copy()
            else:
                taken.add(id(owner))
            detached.append(result)
        return tuple(detached)


def _switch(options: Mapping[str, object], name: str) -> bool:
    """Return an option that is True or False; False if it is not given.

    Raises InvalidOptionError: for any other value.
    """
    value = options.get(name, False)
    if not isinstance(value, bool):
        raise InvalidOptionError.of("cupy", name, value, "True or False")
    return value


def _owner(array: Any) -> Any:
    """Return the array whose memory this one uses."""
    return array if array.base is None else array.base
