"""The NumPy backend: operands are `numpy.ndarray`, programs become plans.

Plans are kept by structure, so that equal programs are planned once; everything here may be used
from several threads. Read next: `planner.py`.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from struct import Struct
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from tenferro.backend import InvalidOptionError
from tenferro.backend.base import Backend
from tenferro.backend.extend import (
    donated_inputs,
    equation_notes,
    loop_hint,
    lowering_note,
    renew_in_children,
    snapshot,
)
from tenferro.backend.records import BackendConfig
from tenferro.computegraph import CompiledProgram, OperandError
from tenferro.primitives import Aval, DType
from tenferro_numpy.executable import NumpyExecutable
from tenferro_numpy.ir.kept import made_again
from tenferro_numpy.machine.caches import cache_of_core, processor_features, thread_count
from tenferro_numpy.machine.tile_size import (
    Tiling,
    largest_tile,
    tiles_of_blocks,
    tiles_of_lines,
)
from tenferro_numpy.plan_options import PlanOptions

if TYPE_CHECKING:
    from tenferro_numpy.draft import Draft

__all__ = ["NumpyBackend", "library_versions"]

_EXECUTORS = ("auto", "source", "interpret")
_KEPT_PLANS = 512
_LONGEST_KEPT = 4096  # instructions of a program whose plan is kept for others
_DTYPES_WITHOUT_OVERFLOW = frozenset(
    map(DType.of, ("bool", "int64", "float64", "complex128"))
)  # hold any number
_NUMERIC = frozenset("biufc")
_PYTHON_SCALARS = frozenset((bool, int, float, complex))
_NAMES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64"
_DTYPES = {DType.of(name): np.dtype(name) for name in f"{_NAMES} complex64 complex128".split()}
_Scalar = (bool, int, float, complex, np.generic)


def library_versions() -> dict[str, str]:
    """Return the versions of NumPy, and of SciPy if it is loaded."""
    versions = {"numpy": np.__version__}
    scipy = sys.modules.get("scipy")
    if scipy is not None:
        versions["scipy"] = scipy.__version__
    return versions


def _resident() -> dict[str, int]:
    """Return the resident size of the process, current and peak, if the system tells it."""
    found = {}
    try:
        from resource import RUSAGE_SELF, getpagesize, getrusage  # noqa: PLC0415 - POSIX only

        unit = 1 if sys.platform == "darwin" else 1024
        found["peak"] = getrusage(RUSAGE_SELF).ru_maxrss * unit
        with open("/proc/self/statm", encoding="ascii") as file:
            found["in_use"] = int(file.read().split()[1]) * getpagesize()
    except (ImportError, OSError):
        pass
    return found


# With these off, each instruction of the program is a line; the bits of results stay the same.
_WITHOUT_IN_DEBUG = frozenset(
    ("row_blocks", "padded_sums", "lazy_broadcasts", "fusion", "memory_reuse")
)


def _narrow(dtype: np.dtype[Any], value: Any) -> Any:
    """Convert a number to a dtype in which it may overflow to inf, without NumPy's warning."""
    with np.errstate(all="ignore"):
        return dtype.type(value)


def _tiling(elements: object, threads: object) -> Tiling | None:
    """Return the tiling that the options ask for; the machine decides what they leave open.

    Raises InvalidOptionError: for anything but a whole number, of threads at least one.
    """
    for name, value, least in (("tile", elements, 0), ("threads", threads, 1)):
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if value is not None and not (whole and value >= least):  # type: ignore[operator]
            need = f"a whole number from {least} up"
            raise InvalidOptionError.of("numpy", name, value, need)
    if elements == 0:
        return None
    count = thread_count() if threads is None else int(str(threads))
    if elements is None:
        lines, blocks = tiles_of_lines(), tiles_of_blocks()
        return Tiling(largest_tile(), count, tiles_of_lines=lines, tiles_of_blocks=blocks)
    return Tiling(int(str(elements)), count)


def _switched_off(names: Any) -> frozenset[str]:
    """Return the names of the plan passes to leave out.

    Raises InvalidOptionError: for anything but names of passes that can be left out.
    """
    found = frozenset([names] if isinstance(names, str) else names)
    if not found:
        return found
    from tenferro_numpy.planner import SWITCHES  # noqa: PLC0415 - the planner loads when it plans

    if not found.issubset(SWITCHES):
        raise InvalidOptionError.of("numpy", "without", names, f"names among {', '.join(SWITCHES)}")
    return found


class NumpyBackend(Backend):
    """Runs programs on NumPy."""

    keeps_programs = True
    operands_are_numpy = True

    def __init__(self, config: BackendConfig) -> None:
        self.config = config
        self._plans: OrderedDict[tuple[Any, ...], Draft] = OrderedDict()
        self._lock = RLock()
        renew_in_children(self)

    def renew_after_fork(self) -> None:
        """Make a new lock in a forked child."""
        self._lock = RLock()

    # ---- operands --------------------------------------------------------------------------------

    def asoperand(self, value: Any, aval: Aval) -> Any:
        """Return the value as an operand of this aval: an array unchanged, a scalar in its dtype.

        Raises OperandError: if an array has another shape or dtype; nothing is cast in silence.
        Raises UnsupportedError: if NumPy lacks the dtype.
        """
        dtype = _DTYPES.get(aval.dtype)
        if type(value) is np.ndarray and value.dtype is dtype and value.shape == aval.shape:
            return value
        if type(value) in _PYTHON_SCALARS and dtype is not None and not aval.shape:
            return (
                dtype.type(value)
                if aval.dtype in _DTYPES_WITHOUT_OVERFLOW
                else _narrow(dtype, value)
            )
        self.check_dtypes((aval,))
        if type(value) is np.ndarray and value.dtype.name == aval.dtype.name:
            operand = value if value.dtype.isnative else value.astype(value.dtype.newbyteorder("="))
        elif isinstance(value, _Scalar):
            operand = np.asarray(value).astype(aval.dtype.name, copy=False)
        else:
            operand = np.asarray(value)
        if operand.shape != aval.shape or operand.dtype.name != aval.dtype.name:
            got = f"{operand.dtype}{list(operand.shape)}"
            raise OperandError(
                f"numpy: this operand is {got}, need {aval}", input="", got=got, need=str(aval)
            )
        return operand

    def to_numpy(self, operand: Any) -> Any:
        """Return the operand itself, as an array."""
        return np.asarray(operand)

    def aval_of(self, operand: Any) -> Aval:
        """Shape and dtype of an array or a NumPy scalar."""
        return Aval(operand.shape, DType.of(operand.dtype.name))

    def owns(self, value: Any) -> bool:
        """Return True if the value is a numeric NumPy array or scalar."""
        return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in _NUMERIC

    def snapshot(self, operand: Any) -> Any:
        """Return an array whose memory is read-only for everybody as it is, else a copy."""
        return snapshot(operand)

    def decides(self) -> tuple[Hashable, ...]:
        """Return which NumPy this is, what tiles and threads depend on, and the processor.

        Constants are computed when a program is made; their last bits are those of the processor.
        """
        return np.__version__, np.__file__, cache_of_core(), thread_count(), processor_features()

    def kept_value(self, value: Any) -> Any:
        """Return how an array or a format of a plan is made again in another process."""
        if isinstance(value, Struct):
            return Struct, (value.format,)
        return made_again(value) if isinstance(value, np.ndarray) else NotImplemented

    def memory_stats(self) -> Mapping[str, int]:
        """Return bytes, if the system tells them: `in_use` and `peak` are those of the process.

        `largest_program` is the largest peak of array memory among the cached programs.
        """
        with self._lock:
            kept = [*self._plans.values()]
        largest = max((draft.plan.peak.bytes for draft in kept), default=0)
        return {**_resident(), "largest_program": largest}

    # ---- programs --------------------------------------------------------------------------------

    def compile(
        self,
        program: CompiledProgram,
        avals: Sequence[Aval],
        options: Mapping[str, object] | None = None,
    ) -> NumpyExecutable:
        """Make an executable of a program, and its plan unless the program is small.

        A small program is planned after its first runs, because many run only once. Source is
        generated for a plan that has run often enough.

        Options, also in the configuration: `executor` ("auto", "source", "interpret"), `debug`,
        `threads` that share large elementwise regions, `tile`, their elements at a time (0: no
        regions), `poison`, which fills buffers with nan or -1 before they are written, `donated`,
        numbers of inputs that may be written to, and `without`, names of plan passes to leave out.

        Raises MissingLoweringError: naming every operation of the program that cannot run.
        Raises UnsupportedError: if the program has a dtype, or the options ask for a feature, that
        the backend lacks.
        """
        self.check_options(options)
        chosen = {**self.config.options, **(options or {})}
        executor, debug = str(chosen.get("executor", "auto")), bool(chosen.get("debug", False))
        if executor not in _EXECUTORS:
            raise InvalidOptionError.of("numpy", "executor", executor, ", ".join(_EXECUTORS))
        tiling = _tiling(chosen.get("tile"), chosen.get("threads"))
        if tiling is not None and chosen.get("poison"):
            tiling = tiling._replace(poisoned=True)
        self.check_dtypes(program.avals)
        closed = self.lowerings.close(program)
        donated = donated_inputs("numpy", chosen.get("donated", ()), len(program.inputs))
        without = _switched_off(chosen.get("without", ())) | (_WITHOUT_IN_DEBUG if debug else set())
        how = PlanOptions(None if debug else tiling, donated, without)
        draft = self._draft(closed, how)
        return NumpyExecutable(self, closed, draft, executor=executor, debug=debug)

    def memory_of(
        self, program: CompiledProgram, options: Mapping[str, object] | None = None
    ) -> int | None:
        """Return the peak of the plan, which knows what fusion and row blocks save.

        A plan does not count what a loop needs inside: then ``None``.
        """
        if any([hasattr(row.operation, "bodies") for row in program.instructions]):
            return None
        return self.compile(program, program.input_avals, options).plan.peak.bytes

    def _draft(self, program: CompiledProgram, how: PlanOptions) -> Draft:
        from tenferro_numpy.draft import Draft  # noqa: PLC0415 - kept programs need no planner

        if len(program) > _LONGEST_KEPT:
            return Draft(program, self.lowerings, how)
        key = (program.structure, program.input_avals, self.lowerings.generation, how)
        with self._lock:
            draft = self._plans.get(key)
            if draft is not None:
                self._plans.move_to_end(key)
                return draft
        draft = Draft(program, self.lowerings, how)
        with self._lock:
            self._plans[key] = draft
            if len(self._plans) > _KEPT_PLANS:
                self._plans.popitem(last=False)
        return draft

    def notes(self, program: CompiledProgram, position: int) -> list[str]:
        """Return notes for an error in one instruction: its equation, lowering and the user's
        line.
        """
        operation, inputs = program.nodes[position][:2]
        executed = lowering_note(self, operation, [program.avals[i] for i in inputs])
        return equation_notes(program, position, executed) + loop_hint(operation)
