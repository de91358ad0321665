"""A planned program: kernels of regions and calls of CuPy, in order, on the current stream.

Read next: `kernels/region.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any

from tenferro.backend.base import Executable
from tenferro.backend.extend import equation_notes, loop_hint, lowering_note
from tenferro.backend.lowering import check_result_count
from tenferro.backend.timings import Timings, timing_of
from tenferro.computegraph import check_operand_count
from tenferro_cupy._given_up import donated_and_read
from tenferro_cupy._graph import GraphRunner
from tenferro_cupy.kernels.chain import Chain
from tenferro_cupy.kernels.region import Region
from tenferro_cupy.lowerings.contraction import CUTENSOR
from tenferro_cupy.lowerings.indexing import DETERMINISTIC
from tenferro_cupy.plan.donation import is_whole, offers_of, overlap
from tenferro_cupy.plan.planned import Plan
from tenferro_cupy.plan.step import Step

if TYPE_CHECKING:
    from tenferro_cupy._backend import CupyBackend

__all__ = ["CupyExecutable", "PlanRunner"]


class PlanRunner:
    """Runs the steps of a plan; an error names the equations of the step that raised it."""

    def __init__(self, backend: CupyBackend, plan: Plan) -> None:
        self.backend = backend
        self.plan = plan

    @property
    def launches(self) -> int:
        """About how many kernels a run launches; calls of CuPy count as one."""
        return sum([getattr(step.run, "launches", 1) for step in self.plan.steps])

    def __call__(self, *operands: Any) -> list[Any]:
        """Run all steps; each value is freed after its last use."""
        slots = self.begin(operands)
        for step, frees in zip(self.plan.steps, self.plan.frees, strict=True):
            self.run(slots, step, frees)
        return [slots[i] for i in self.plan.outputs]

    def begin(self, operands: Sequence[Any]) -> list[Any]:
        """Return the slots before the first step."""
        slots = self.plan.slots.copy()
        slots[: len(operands)] = operands
        return slots

    def run(self, slots: list[Any], step: Step, frees: Sequence[int]) -> None:
        """Run one step."""
        try:
            results = self.results(slots, step)
            if len(results) != len(step.targets):
                check_result_count(step.operation, results, self.backend.name, self._provider(step))
            for slot, result in zip(step.targets, results, strict=True):
                slots[slot] = result
        except Exception as error:
            self._annotate(error, step)
            raise
        for slot in frees:
            slots[slot] = None

    def results(self, slots: list[Any], step: Step) -> Sequence[Any]:
        """Return the results of one step."""
        assert step.run is not None
        return step.run(*[slots[i] for i in step.operands])

    def equations(self, step: Step) -> str:
        """Return the text of the step's equations, one a line."""
        return "\n".join([self.plan.program.equation(i) for i in step.positions])

    def _provider(self, step: Step) -> str:
        if isinstance(step.operation, (Region, Chain)):
            return self.backend.provider
        avals = [self.plan.program.avals[i] for i in step.operands]
        return self.backend.lowerings.provider_of(step.operation, avals)

    def _annotate(self, error: Exception, step: Step) -> None:
        """Say which equations failed, who wrote the lowering, and which line recorded it."""
        program, operation = self.plan.program, step.operation
        if isinstance(operation, (Region, Chain)):
            executed = f"  kernel     of {len(step.positions)} equations, by tenferro-cupy"
        else:
            avals = [program.avals[i] for i in step.operands]
            executed = lowering_note(self.backend, operation, avals)
        notes = equation_notes(program, step.positions[-1], executed)
        for note in notes + loop_hint(operation):
            error.add_note(note)


class DonatingRunner(PlanRunner):
    """Runs the steps of a plan; results may be written into the memory of donated inputs."""

    def __init__(self, backend: CupyBackend, plan: Plan, donated: Sequence[int]) -> None:
        super().__init__(backend, plan)
        offers = offers_of(plan, donated)
        self.offers = {id(plan.steps[number]): offer for number, offer in offers.items()}
        self.offered = {i for offer in offers.values() for i in offer.values()}

    def begin(self, operands: Sequence[Any]) -> list[Any]:
        """Return the slots before the first step, and after them the donated inputs."""
        given = {i: operands[i] for i in self.offered}
        return [*super().begin(operands), given]

    def results(self, slots: list[Any], step: Step) -> Sequence[Any]:
        """Return the results of one step."""
        offer = self.offers.get(id(step))
        if offer is None:
            return super().results(slots, step)
        into = {}
        for result, i in offer.items():
            x = slots[-1][i]
            others = [y for k, y in enumerate(slots[:-1]) if k != i and y is not None]
            if is_whole(x) and not any(overlap(x, y) for y in others):
                into[result] = x
        given = [slots[i] for i in step.operands]
        results: Sequence[Any] = step.operation(
            *given, into={result: x.view() for result, x in into.items()}
        )
        for x in into.values():
            self.backend.given_up.add(x)
        return results


class CupyExecutable(Executable):
    """A planned program on the backend's device."""

    def __init__(
        self,
        backend: CupyBackend,
        plan: Plan,
        *,
        cuda_graph: bool = False,
        cutensor: Any = None,
        donated: Sequence[int] = (),
    ) -> None:
        self.backend = backend
        self.cutensor = cutensor
        self.plan = plan
        self.donated = tuple(donated)
        self.runner = PlanRunner(backend, plan)
        self._run: Any = DonatingRunner(backend, plan, donated) if donated else self.runner
        if cuda_graph:  # which copies operands and results
            self._run = GraphRunner(backend.cupy, self.runner)
        self._literals = [value for value in plan.slots if value is not None]

    def __call__(self, *operands: Any) -> tuple[Any, ...]:
        """Run the steps in order; the results alias neither operands nor literals."""
        check_operand_count(self.plan.program, operands)
        self._check_donated(operands)
        try:
            with self._running():
                results = self._run(*operands)
                kept = [x for x in operands if x not in self.backend.given_up]
                return self.backend.detach(results, [*kept, *self._literals])
        except self.backend.cupy.cuda.memory.OutOfMemoryError as error:
            raise self.backend.out_of_memory(error) from None

    @contextmanager
    def _running(self) -> Iterator[None]:
        """Let lowerings run on the device, as the configuration and the options ask."""
        is_deterministic = DETERMINISTIC.set(self.backend.config.deterministic)
        cutensor = CUTENSOR.set(self.cutensor)
        try:
            with self.backend.on_device():
                yield
        finally:
            CUTENSOR.reset(cutensor)
            DETERMINISTIC.reset(is_deterministic)

    def _check_donated(self, operands: Sequence[Any]) -> None:
        """Raise OperandError for a donated array in whose memory another argument lies, too."""
        names = self.plan.program.input_names
        for i in self.donated:
            for k, other in enumerate(operands):
                if k != i and overlap(operands[i], other):
                    raise donated_and_read(names[i], names[k])

    def explain(self) -> str:
        """Return the steps as text: for kernels their shapes, bytes, and equations."""
        lines = [f"{self.backend.name}: {len(self.plan.steps)} steps"]
        for step in self.plan.steps:
            equations = self.runner.equations(step).splitlines()
            if isinstance(step.operation, (Region, Chain)):
                regions = getattr(step.operation, "regions", [step.operation])
                shapes = ", ".join([str(list(region.shape)) for region in regions])
                moved = step.operation.bytes_moved()
                lines.append(f"  kernel over {shapes}, at most {moved} bytes:")
                lines += [f"    {text}" for text in equations]
            else:
                lines.append(f"  {equations[0]}")
        outputs = ", ".join(f"%{i}" for i in self.plan.outputs)
        return "\n".join([*lines, f"  return {outputs}"])

    def profile(self, *operands: Any) -> Timings:
        """Run once and time every step; each waits for the device."""
        rows = []
        with self._running():
            slots = self.runner.begin(operands)
            for step, frees in zip(self.plan.steps, self.plan.frees, strict=True):
                start = perf_counter()
                self.runner.run(slots, step, frees)
                self.backend.synchronize()
                seconds = perf_counter() - start
                rows.append(timing_of(self.plan.program, step.positions, seconds))
        return Timings(rows)
