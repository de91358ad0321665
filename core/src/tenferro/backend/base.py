"""Abstract classes of a backend and of the programs that it has compiled.

A backend says how its operands are made, read and recognized, and has a table of lowerings. That
is enough: ``compile`` then interprets programs (``interpreter.py``). A backend that can do better
overrides ``compile``. Read next: ``algebra.py``, the smallest backend.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from importlib import import_module
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar

from tenferro.backend._errors import UnsupportedError
from tenferro.backend._snapshots import copied
from tenferro.backend.lowering import Implementation, LoweringTable
from tenferro.backend.records import BackendConfig, BackendInfo
from tenferro.computegraph import CompiledProgram, Operation
from tenferro.primitives._aval import Aval

if TYPE_CHECKING:
    from tenferro.backend.sharding import ShardedArrays
    from tenferro.backend.timings import Timings

Options = Mapping[str, object]
_SHARDING = ("mesh", "in_shardings", "out_shardings")


class Executable(ABC):
    """A compiled program: call it with operands in the order of the program's inputs.

    ``reads_numpy``: NumPy arrays of the inputs' shapes and dtypes, NumPy scalars and Python's
    numbers are operands, too, and are not read any more when the call returns.
    """

    reads_numpy: ClassVar[bool] = False

    @abstractmethod
    def __call__(self, *operands: Any) -> tuple[Any, ...]:
        """Run; the results are writeable and alias neither operands nor each other."""

    def prepare(self) -> None:
        """Prepare for many runs: what makes runs cheaper may be done now, or with a later run."""
        return

    def specialized(self, operands: Sequence[Any]) -> Callable[..., tuple[Any, ...]]:
        """Return what runs operands that have the classes, dtypes and shapes of these.

        The caller has compared them, so that a backend may leave out its own checks of them.
        """
        return self

    def refuses_others(self, operands: Sequence[Any]) -> bool:
        """Return True if what ``specialized`` gives for these refuses all others.

        For operands of the same classes, but of another dtype or shape, it then raises
        ``OperandError`` before it runs, so that the caller need not compare them.
        """
        return False

    def hold(self, index: int, operand: Any) -> Any:
        """Return what every run gets as one input, for an operand that never changes."""
        return operand

    def memory(self) -> int | None:
        """Return the bytes of temporaries and results, where a compiler says so; else None."""
        return None

    def kept(self) -> tuple[Callable[..., Executable], tuple[Any, ...]] | None:
        """Return a function and arguments that make the program again in another process.

        Its backend and that one's table of lowerings may be among the arguments, and functions of
        tenferro and of plugins, but no memory that a run writes to. ``None`` if it cannot be made
        again so.
        """
        return None

    def explain(self) -> str:
        """Say how the program is run, for a reader."""
        return repr(self)

    def profile(self, *operands: Any) -> Timings:
        """Run once and say how long it took: per equation where the backend can tell."""
        from tenferro.backend.timings import Timing, Timings  # noqa: PLC0415 - few are profiled

        start = perf_counter()
        self(*operands)
        return Timings((Timing("whole program", perf_counter() - start),))


class Backend(ABC):
    """One way to execute programs; ``tenferro_backend_create`` returns one.

    The host sets ``name``, ``info``, ``config`` and ``lowerings`` after ``create``; ``provider``
    is the distribution that it came from. ``operands_are_numpy`` is true of a backend that computes
    on NumPy arrays: those are arguments of every backend, so the class of an argument does not tell
    whose operand it is, and results always leave through ``result_to_numpy``.
    """

    name: str = ""
    info: BackendInfo = BackendInfo(name="")
    config: BackendConfig = BackendConfig()
    provider: str = ""
    lowerings: LoweringTable
    sharding: ShardedArrays | None = None  # of a backend with the feature `sharding`
    keeps_programs: ClassVar[bool] = False  # its executables have `kept`
    operands_are_numpy: bool = False  # its operands are arrays of `numpy.ndarray`

    @abstractmethod
    def asoperand(self, value: Any, aval: Aval) -> Any:
        """Convert a value to an operand: an own array, a NumPy array, or a NumPy or Python scalar.

        An array of the backend's own whose dtype is the aval's is returned as it is.
        """

    @abstractmethod
    def to_numpy(self, operand: Any) -> Any:
        """Convert an operand to a NumPy array."""

    def result_to_numpy(self, aval: Aval) -> Callable[[Any], Any]:
        """Return a function that converts results of this aval that no other code refers to.

        It may give their memory away instead of copying it.
        """
        return self.to_numpy

    def sparse_matrices(
        self, columns: Sequence[int], starts: Sequence[int], shape: tuple[int, int]
    ) -> Callable[[Any], Any]:
        """Return a function that makes sparse matrices of one pattern.

        It takes the entries in row-major order, an operand of this backend. ``columns`` are their
        columns; the entries of row i are those from ``starts[i]`` to ``starts[i + 1]``. No two
        matrices may share memory that can be written to. SciPy's ``csr_array`` unless a backend has
        its own kind.

        Raises UnsupportedError: if SciPy is not installed; at a call with float16 or bfloat16,
        which SciPy's sparse matrices do not have.
        """
        try:
            made = import_module("scipy.sparse").csr_array
        except ImportError:
            raise UnsupportedError(
                f"{self.name}: sparse matrices need SciPy\n  hint       pip install scipy",
                backend=self.name,
                feature="sparse matrices",
                instead="",
            ) from None
        # as `copy.copy` does, with other arrays: SciPy's constructor checks them at every call
        model = made(([0] * len(columns), columns, starts), shape=shape)
        model.has_canonical_format  # noqa: B018 - found once; copies of the model keep it
        kept = {**vars(model), "data": None}

        indices, indptr, to_numpy = model.indices, model.indptr, self.to_numpy

        def matrix(entries: Any) -> Any:
            found = made.__new__(made)
            vars(found).update(kept)
            found.data = to_numpy(entries)
            if found.data.dtype.itemsize == 2:  # floats of 16 bits; entries are not integers
                raise _too_narrow(self.name, found.data.dtype.name)
            found.indices, found.indptr = indices.copy(), indptr.copy()
            return found

        return matrix

    @abstractmethod
    def aval_of(self, operand: Any) -> Aval:
        """Shape and dtype of an operand."""

    @abstractmethod
    def owns(self, value: Any) -> bool:
        """Return True if a value is an operand of this backend."""

    def snapshot(self, operand: Any) -> Any:
        """Return an operand of this backend that keeps its value whatever is written afterwards.

        Copies it; override it to return the operand itself where nothing can write to it.
        """
        return copied(operand)

    def decides(self) -> tuple[Hashable, ...]:
        """Return what its programs depend on besides source, options and the type of the machine.

        For instance versions of libraries and sizes of caches: a program that is kept for other
        processes is found only where all of this is the same.
        """
        return ()

    def kept_value(self, value: Any) -> Any:
        """Return a function and arguments that make a value again which a kept program binds.

        ``NotImplemented`` leaves it to ``pickle``.

        Raises ValueError: if it cannot be made again, or holds what a run has written.
        """
        return NotImplemented

    def synchronize(self) -> None:
        """Wait until everything that was started has finished."""
        return

    def memory_stats(self) -> Mapping[str, int]:
        """Return bytes by name (``in_use``, ``peak``, …); empty if nothing is known."""
        return {}

    def memory_of(self, program: CompiledProgram, options: Options | None = None) -> int | None:
        """Return the most bytes of arrays, without the operands, that a run of a program needs.

        ``None`` if the backend knows no better than the equations of the program tell.
        """
        return None

    def compile(
        self, program: CompiledProgram, avals: Sequence[Aval], options: Options | None = None
    ) -> Executable:
        """Make a program executable; here by interpreting it over the lowering table.

        Raises MissingLoweringError: naming every operation of the program that cannot run.
        Raises UnsupportedError: if the program has a dtype, or the options ask for a feature, that
        the backend lacks.
        """
        self.check_options(options)
        self.check_dtypes(program.avals)
        interpreter = import_module("tenferro.backend.interpreter").Interpreter
        made: Executable = interpreter(self, self.lowerings.close(program))
        return made

    def check_dtypes(self, avals: Iterable[Aval]) -> None:
        """Raise UnsupportedError if one of these values has a dtype that ``info`` does not list."""
        known = self.info.dtypes
        missing = {aval.dtype.name for aval in set(avals)} - known
        if known and missing:
            names = ", ".join(sorted(missing))
            raise UnsupportedError(
                f"{self.name} has no {names}\n  need       one of {', '.join(sorted(known))}",
                backend=self.name,
                feature=names,
                instead="",
            )

    def check_options(self, options: Options | None) -> None:
        """Raise UnsupportedError for an option that needs a feature this backend lacks."""
        asked = [name for name in _SHARDING if (options or {}).get(name) is not None]
        if asked and "sharding" not in self.info.features:
            raise UnsupportedError(
                f"{self.name}: {', '.join(asked)} cannot be used, because the backend has no "
                "sharding\n"
                '  hint       backend="xla" has it',
                backend=self.name,
                feature="sharding",
                instead="xla",
            )

    def detach(self, results: Sequence[Any], operands: Sequence[Any]) -> tuple[Any, ...]:
        """Return the results as the interpreter hands them out: writeable, and aliases of nothing.

        Copies each, because a lowering may have returned a view; override it to copy fewer.
        """
        return tuple([copied(result) for result in results])

    def host_callback(
        self, operation: Operation, host: Backend, function: Implementation, avals: Sequence[Any]
    ) -> Implementation:
        """Make a lowering that computes on another backend and comes back; used only if opted in.

        ``function`` is the host's lowering, ``avals`` those of the results.
        """
        single = operation.output_count == 1

        def detour(operation: Operation, *operands: Any) -> Any:
            moved = [host.asoperand(self.to_numpy(x), self.aval_of(x)) for x in operands]
            results = function(operation, *moved)
            back = [
                self.asoperand(host.to_numpy(result), aval)
                for result, aval in zip((results,) if single else results, avals, strict=True)
            ]
            return back[0] if single else tuple(back)

        return detour

    def __repr__(self) -> str:
        device = f" on {self.config.device}" if self.config.device else ""
        return f"<{type(self).__name__} {self.name!r}{device}>"


def _too_narrow(backend: str, dtype: str) -> UnsupportedError:
    return UnsupportedError(
        f"SciPy has no sparse matrices of {dtype}\n"
        "  need       float32, float64, complex64 or complex128\n"
        "  hint       compute at `x.astype(np.float32)`; a dense Jacobian, without\n"
        "             `sparse=True`, has any dtype",
        backend=backend,
        feature=f"sparse matrices of {dtype}",
        instead="",
    )
