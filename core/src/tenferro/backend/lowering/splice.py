"""Write a program again with operations replaced by what they decompose into.

Replacements may contain operations that are replaced in turn; a stack of frames walks them, no
recursion. Operations that evaluate alike are written once, and what a replacement computes in vain
is dropped. What has no replacement is collected as a gap, so that all are known at once.
Read next: ``table.py``, which says what runs and what is replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tenferro._runtime import CollectorPaused
from tenferro._runtime.records import NamedTuple
from tenferro.backend.lowering.decompose import cycle_error
from tenferro.backend.lowering.signature import key_of
from tenferro.computegraph import (
    PRIMARY,
    CompiledProgram,
    Instruction,
    MaterializedGraph,
    MaterializedNode,
    Operation,
    Structure,
)
from tenferro.computegraph._materialize import new_row
from tenferro.primitives.structural import StopGradient

Avals = tuple[Any, ...]
Gap = tuple[Operation, Avals, str]  # the operation, its operands, the primitive that needs it
_DEPTH_LIMIT = 200  # decompositions within decompositions; a longer chain never ends


class _Frame(NamedTuple):
    """The program or one replacement being written: its rows, the avals of its values, where these
    are now, and who waits for it.
    """

    rows: Iterator[MaterializedNode | Instruction]
    avals: Sequence[Any]
    number: dict[int, int]
    results: Sequence[int]
    caller: tuple[dict[int, int], tuple[int, ...]] | None
    replaced: tuple[Operation, Avals] | None
    source: Any


class Splicer:
    """One pass over one program; afterwards ``gaps`` and ``decomposed`` say what it met."""

    def __init__(
        self,
        runs: Callable[[Operation, Avals], bool],
        decompose: Callable[[Operation, Avals], MaterializedGraph | None],
    ) -> None:
        self.gaps: list[Gap] = []
        self.decomposed: list[Operation] = []
        self._runs = runs
        self._decompose = decompose
        self._known: dict[tuple[Operation, Avals], bool] = {}
        self._nodes: list[MaterializedNode] = []
        self._avals: list[Any] = []
        self._written: dict[tuple[Any, ...], tuple[int, ...]] = {}
        self._frames: list[_Frame] = []
        self._outputs: tuple[int, ...] = ()

    def splice(self, program: CompiledProgram) -> CompiledProgram:
        """Rewrite the program in operations that run; return itself if there is nothing to
        replace.
        """
        with CollectorPaused():
            if self._all_run(program):
                return program
            self._walk(program)
            outputs = self._outputs
            nodes = _needed(self._nodes, outputs)
            structure = Structure(len(program.inputs), nodes, outputs)
            names = program.input_names
            return CompiledProgram(names, nodes, outputs, self._avals, structure)

    def _all_run(self, program: CompiledProgram) -> bool:
        aval_of = program.avals.__getitem__
        entries = {(row[0], *map(aval_of, row[1])) for row in program.nodes}
        return all([self._can_run(operation, tuple(given)) for operation, *given in entries])

    def _walk(self, program: CompiledProgram) -> None:
        self._avals = list(program.input_avals)
        number = {i: i for i in program.inputs}
        rows = iter(program.nodes)
        self._frames = [_Frame(rows, program.avals, number, program.outputs, None, None, None)]
        while self._frames:
            frame = self._frames[-1]
            row = next(frame.rows, None)
            if row is None:
                self._finish(self._frames.pop())
            else:
                self._row(frame, row)

    def _finish(self, frame: _Frame) -> None:
        """Tell the caller of a replacement where the results are."""
        results = tuple(frame.number[i] for i in frame.results)
        if frame.caller is None:
            self._outputs = results
            return
        number, places = frame.caller
        number.update(zip(places, results, strict=True))

    def _row(self, frame: _Frame, row: MaterializedNode | Instruction) -> None:
        number, (operation, given, outputs) = frame.number, row[:3]
        inputs = tuple([number[i] for i in given])
        if type(operation) is StopGradient:  # where nothing is differentiated any more: its operand
            number[outputs[0]] = inputs[0]
            return
        alike = (operation, *(sorted(inputs) if operation.commutative else inputs))
        places = self._written.get(alike)
        if places is None:
            avals = tuple([frame.avals[i] for i in given])
            if not self._can_run(operation, avals) and self._replace(frame, row, inputs, avals):
                return
            places = self._written[alike] = self._write(frame, row, inputs)
        number.update(zip(outputs, places, strict=True))

    def _can_run(self, operation: Operation, avals: Avals) -> bool:
        entry = operation, avals
        known = self._known.get(entry)
        if known is None:
            known = self._known[entry] = self._runs(operation, avals)
        return known

    def _write(
        self, frame: _Frame, row: MaterializedNode | Instruction, inputs: tuple[int, ...]
    ) -> tuple[int, ...]:
        operation, outputs = row[0], row[2]
        base = len(self._avals)
        self._avals += [frame.avals[i] for i in outputs]
        places = tuple(range(base, base + len(outputs)))
        of_program = frame.replaced is None
        role, source = (row.role, row.source) if of_program else (PRIMARY, frame.source)
        self._nodes.append(new_row((operation, inputs, places, role, source)))
        return places

    def _replace(
        self,
        frame: _Frame,
        row: MaterializedNode | Instruction,
        inputs: tuple[int, ...],
        avals: Avals,
    ) -> bool:
        """Begin the replacement of a row; without one, note a gap and answer False."""
        graph = self._decompose(row.operation, avals)
        if graph is None:
            above = frame.replaced
            within = "" if above is None else key_of(above[0])
            self.gaps.append((row.operation, avals, within))
            return False
        replaced = row.operation, avals
        self._refuse_cycle(replaced)
        self.decomposed.append(row.operation)
        self._frames.append(
            _Frame(
                iter(graph.nodes),
                graph.avals,
                dict(enumerate(inputs)),
                graph.outputs,
                (frame.number, row.outputs),
                replaced,
                row.source if frame.replaced is None else frame.source,
            )
        )
        return True

    def _refuse_cycle(self, replaced: tuple[Operation, Avals]) -> None:
        chain = [frame.replaced for frame in self._frames if frame.replaced is not None]
        if replaced in chain:
            chain = chain[chain.index(replaced) :]
        elif len(chain) < _DEPTH_LIMIT:
            return
        raise cycle_error(tuple(key_of(operation) for operation, _ in [*chain[-10:], replaced]))


def _needed(nodes: Sequence[MaterializedNode], outputs: Iterable[int]) -> list[MaterializedNode]:
    """Return the nodes that the outputs depend on, in their order."""
    alive = set(outputs)
    kept = []
    for node in reversed(nodes):
        if not alive.isdisjoint(node.outputs):
            alive.update(node.inputs)
            kept.append(node)
    kept.reverse()
    return kept
