"""From recorded programs to numbers: merge them with their neighbours', compile, run on one
backend.

A law records what it needs with a `Recorder`; `Session.outcome` runs the programs of all cases of
one primitive as one compiled program (compilers dislike a thousand small ones) and falls back to
smaller batches when something raises, so that each case gets its own error. Laws are in `suite/`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tenferro.backend import Backend, Executable
from tenferro.backend.lowering import key_of
from tenferro.computegraph import (
    CompiledProgram,
    KeyView,
    ValueKey,
    compile_program,
    evaluate,
    materialize_merge,
)
from tenferro.primitives import Aval, Handle, Mesh
from tenferro_conformance.cases.case import Case, Stored
from tenferro_conformance.cases.tolerances import Measure, bound_of, eps_of, require
from tenferro_conformance.errors import ToleranceError
from tenferro_conformance.profile import Profile, Tol
from tenferro_conformance.running.derivatives import Handles, keys_of
from tenferro_conformance.running.programs import is_typical
from tenferro_conformance.running.recorder import Build, Recorder
from tenferro_conformance.running.single_nodes import SingleNodes
from tenferro_conformance.running.splitting import compile_on

__all__ = ["Batch", "Outcome", "Session"]


Array = npt.NDArray[Any]
_VIEW = KeyView()
#: Programs merged into one compile, and how many equations they may have together: the time that
#: XLA takes for special functions grows much faster than the program (15 programs of 38 equations:
#: 9 s one by one, 12 s by four, 90 s by eight), and for large ones it runs out of stack. Some
#: equations count as many, because a backend makes a long program of one: see `Profile.weights`.
BATCH = 64
MOST_EQUATIONS = 200


@dataclass
class Batch:
    """Operands and results of several recorded programs that ran as one, twice.

    The executable is gone: a compiled program holds memory that a process has only so much of.
    """

    operands: list[Any]
    results: Sequence[Any]
    second: Sequence[Any]


@dataclass
class Outcome:
    """Results of one case: arrays by name, and the backend's own operands."""

    case: Case
    session: Session
    recorder: Recorder
    batch: Batch
    places: Mapping[str, int | None]
    input_places: Mapping[ValueKey, int]
    measured: list[Any] = field(default_factory=list)

    def operand(self, name: str) -> Any:
        """Return the backend's own result."""
        place = self.places[name]
        return None if place is None else self.batch.results[place]

    def __getitem__(self, name: str) -> Array:
        """Return a result as a NumPy array; raise for a structural zero."""
        operand = self.operand(name)
        assert operand is not None, f"{self.case.id}: nothing flows to {name!r}"
        array: Array = self.session.backend.to_numpy(operand)
        return array

    def get(self, name: str, like: Stored | Aval) -> Array:
        """Return a result as a NumPy array; a structural zero becomes zeros like `like`."""
        if self.operand(name) is None:
            dtype = like.dtype if isinstance(like, Stored) else like.dtype.name
            return np.zeros(like.shape, dtype)
        return self[name]

    def all(self, name: str) -> list[Array | None]:
        """Return the results name0, name1, …; None where nothing flows."""
        names = [f"{name}{i}" for i in range(len(self.places)) if f"{name}{i}" in self.places]
        return [None if self.places[n] is None else self[n] for n in names]

    def fed(self, name: str) -> list[Array]:
        """Return the numbers fed to name0, name1, …"""
        wanted = [key for key in self.recorder.fed if _is_named(key, self.case.id, name)]
        return [self.recorder.fed[key] for key in wanted]

    def require(
        self, name: str, want: Stored, *, order: int = 0, scale: Stored | None = None
    ) -> None:
        """Check a result against its tolerance class, `order` derivatives deep; record the
        error.
        """
        case = self.case
        found = require(
            self.get(name, want), want, f"{case.id} {name}",
            tol=case.tol if order == 0 else _smooth(case.tol), order=order,
            size=case.size, scale=scale, condition=case.condition,
            override=self.override if order == 0 else None,
        )  # fmt: skip
        self.measured.append(found)

    def require_close(
        self, got: Array, want: Array, what: str, *, scale: float, order: int = 1
    ) -> None:
        """|got − want| ≤ bound · eps · scale, with the bound of the case's class."""
        case = self.case
        error = float(
            np.max(np.abs(got.astype("complex128") - want.astype("complex128")), initial=0.0)
        )
        self.require_small(
            error, f"{case.id} {what}", dtype=str(got.dtype), scale=scale, order=order
        )

    def require_small(
        self, error: float, what: str, *, dtype: str, scale: float, order: int = 1
    ) -> None:
        """error ≤ bound · eps · scale."""
        case = self.case
        bound = bound_of(_smooth(case.tol), dtype, case.size, order, condition=case.condition)
        bound = max(bound, 4.0)
        unit = eps_of(dtype) * max(scale, 1e-30)
        found = Measure(error / unit, bound, case.tol)
        self.measured.append(found)
        if not error <= bound * unit:
            raise ToleranceError(
                f"{what}: off by {error:.3g}, which is {found.measured:.3g} > {bound:.3g} "
                f"units of {unit:.3g}",
                measured=found.measured, bound=bound,
            )  # fmt: skip

    def input_operands(self) -> list[Any]:
        """Return the backend's operands of this case's inputs."""
        return [self.batch.operands[place] for place in self.input_places.values()]

    def rerun(self) -> list[Any]:
        """Return this case's results of another run on the same operands."""
        return [self.batch.second[place] for place in self.places.values() if place is not None]

    @property
    def override(self) -> Tol | None:
        """The profile's tolerance for this primitive and dtype."""
        return self.session.profile.tolerance.get((self.case.primitive, self.case.dtype))


def _is_named(key: ValueKey, case_id: str, name: str) -> bool:
    identity = key.input_key
    return (
        isinstance(identity, tuple)
        and identity[0] == case_id
        and identity[1].rstrip("0123456789") == name
    )


def _smooth(tol: str) -> str:
    """Return the tolerance class of derivatives; those of an exact function are rounded."""
    return "rounded" if tol == "exact" else tol


class Session:
    """One backend under test."""

    def __init__(
        self, name: str, backend: Backend, profile: Profile, mesh: Mesh | None = None
    ) -> None:
        self.name = name
        self.mesh = mesh
        self.backend = backend
        self.profile = profile
        self.nodes = SingleNodes(backend, lambda *values: self.program_of(*values)[0], self.compile)
        self._done: dict[Build, dict[str, Outcome | Exception]] = {}

    def outcome(self, build: Build, case: Case, peers: Iterable[Case] = ()) -> Outcome:
        """Run a law's program of one case, together with those of its peers of the same primitive.

        Laws that share a program (`build`) share its results. Raises what recording, compiling or
        running this case's program raised.
        """
        done = self._done.setdefault(build, {})
        if case.id not in done:
            kin = [
                c
                for c in peers
                if c.primitive == case.primitive and c.id != case.id and c.id not in done
            ]
            done.update(self._record_and_run(build, [case, *kin]))
        found = done[case.id]
        if isinstance(found, Exception):
            raise found
        return found

    def _record_and_run(
        self, build: Build, cases: Sequence[Case]
    ) -> dict[str, Outcome | Exception]:
        done: dict[str, Outcome | Exception] = {}
        recorded = []
        for case in cases:
            try:
                recorder = Recorder(case)
                build(recorder)
            except Exception as error:
                done[case.id] = error
            else:
                recorded.append(recorder)
        for start in range(0, len(recorded), BATCH):
            done.update(self._run(recorded[start : start + BATCH]))
        return done

    def _run(self, recorded: Sequence[Recorder]) -> dict[str, Outcome | Exception]:
        """Run as one program; as two halves if that is too long, and after an error."""
        try:
            found = self._run_merged(recorded)
        except Exception as error:
            if len(recorded) == 1:
                return {recorded[0].case.id: error}
            found = None
        if found is not None:
            return found
        middle = len(recorded) // 2
        return {**self._run(recorded[:middle]), **self._run(recorded[middle:])}

    def _run_merged(self, recorded: Sequence[Recorder]) -> dict[str, Outcome | Exception] | None:
        """Run as one program; None if there are several and it is too long.

        The program of one case that is too long because of its weights runs node by node, where
        each operation is compiled once for all laws, unless the case is typical.
        """
        inputs = {key: array for r in recorded for key, array in r.fed.items()}
        outputs = [key for r in recorded for key in r.outputs.values() if key is not None]
        program, known = self.program_of(list(inputs), outputs)
        is_long = self._length(program) > MOST_EQUATIONS
        if len(recorded) > 1 and is_long:
            return None
        is_heavy = is_long and len(program) <= MOST_EQUATIONS
        by_nodes = is_heavy and not is_typical(recorded[0].case)
        run = self._execute_nodes if by_nodes else self._execute
        batch = run(program, [*inputs.values(), *known])
        place_of = {key: i for i, key in enumerate(inputs)}
        count = 0
        done: dict[str, Outcome | Exception] = {}
        for r in recorded:
            places: dict[str, int | None] = {}
            for name, key in r.outputs.items():
                places[name] = None if key is None else count
                count += key is not None
            done[r.case.id] = Outcome(
                r.case, self, r, batch, places, {k: place_of[k] for k in r.fed}
            )
        return done

    def _length(self, program: CompiledProgram) -> int:
        """Return the number of equations, each counted with the weight that the profile states."""
        weights = self.profile.weights
        return sum([weights.get(key_of(node.operation), 1) for node in program.nodes])

    def execute(
        self, inputs: Sequence[ValueKey], outputs: Sequence[ValueKey], arrays: Sequence[Any]
    ) -> Batch:
        """Materialize, compile, run."""
        program, known = self.program_of(inputs, outputs)
        return self._execute(program, [*arrays, *known])

    def compile(self, program: CompiledProgram) -> Executable:
        """Compile a program for the devices of this session."""
        return compile_on(self.mesh, self.backend, program)

    def _execute(self, program: CompiledProgram, arrays: Sequence[Any]) -> Batch:
        executable = self.compile(program)
        operands = self.operands_of(program, arrays)
        return Batch(operands, executable(*operands), executable(*operands))

    def _execute_nodes(self, program: CompiledProgram, arrays: Sequence[Any]) -> Batch:
        operands = self.operands_of(program, arrays)
        first, second = (evaluate(program, self.nodes, operands) for _ in range(2))
        return Batch(operands, first, second)

    def operands_of(self, program: CompiledProgram, arrays: Sequence[Any]) -> list[Any]:
        """Return the backend's operands of the inputs of a program."""
        avals = program.input_avals
        return [self.backend.asoperand(a, aval) for a, aval in zip(arrays, avals, strict=True)]

    def program_of(
        self, inputs: Sequence[ValueKey], outputs: Sequence[ValueKey]
    ) -> tuple[CompiledProgram, list[Any]]:
        """Return the program of some values, and the values that it reads beyond its inputs.

        Keys are shared by all graphs of a process: a constant that other code has evaluated is
        known, and merging cuts there.
        """
        graph = materialize_merge(_VIEW, outputs, inputs=inputs)
        return compile_program(graph), [key.operand for key in graph.inputs[len(inputs) :]]

    def evaluate(self, inputs: Mapping[Handle, Any], outputs: Handles) -> list[Array]:
        """Compute a few values, for tests that are not about a case."""
        batch = self.execute(
            [h.key for h in inputs], keys_of(outputs), [np.asarray(a) for a in inputs.values()]
        )
        return [self.backend.to_numpy(operand) for operand in batch.results]
