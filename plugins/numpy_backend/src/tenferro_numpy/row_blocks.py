"""A row block at work: one tile of rows after the other goes through a part of a program.

Results with rows are stacked; partial sums, maxima and minima are joined in the order of the
tiles, whichever thread found them. Read next: `planner.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tenferro.backend.row_blocks import RowBlock, row_axis, size_of
from tenferro.primitives import Aval
from tenferro.primitives.arithmetic import Add, Maximum, Minimum
from tenferro_numpy.execution.interpreter import RUNS_BEFORE_SOURCE, PlanInterpreter
from tenferro_numpy.ir.plan import Plan
from tenferro_numpy.machine.threads import new_array, shared
from tenferro_numpy.machine.tile_size import WORTH_THREADS, chunks_of

__all__ = ["RowBlockLoop"]

_UFUNCS: dict[type, np.ufunc] = {Add: np.add, Maximum: np.maximum, Minimum: np.minimum}


class RowBlockLoop:
    """A row block: called with operands that it reads row by row, then those that it reads whole.

    `plans` are those for a full tile and for the last one, by their rows.
    """

    def __init__(
        self,
        block: RowBlock,
        plans: dict[int, Plan],
        stacked: Sequence[Aval],
        joined: Sequence[Aval],
        threads: int,
    ) -> None:
        self.extent = block.extent
        self.rows = block.rows
        self.by_rows = len(block.by_rows)
        self.plans = plans
        self.stacked = [(aval.shape, np.dtype(aval.dtype.name)) for aval in stacked]
        self.joined = tuple([_UFUNCS[join] for join in block.joined.values()])
        self.threads = threads if block.work >= WORTH_THREADS else 1
        self.working_bytes = self._working_bytes([size_of(aval) for aval in joined])
        self.runs: dict[int, Callable[..., Any]] = {n: PlanInterpreter(p) for n, p in plans.items()}
        self.left = RUNS_BEFORE_SOURCE

    def _working_bytes(self, joined: Sequence[int]) -> int:
        """Return the peak bytes in addition to the results; the joined ones have these sizes.

        Each thread makes what a tile makes; every chunk keeps its part of what is joined, and all
        parts of one result are copied together when that is joined.
        """
        tiles = range(0, self.extent, self.rows)
        chunks = len(chunks_of(tiles))
        threads = min(self.threads, chunks)
        most = max(plan.peak.bytes for plan in self.plans.values())
        parts = chunks - threads if chunks == len(tiles) else chunks  # a tile counts its own
        running = threads * most + (parts - 1) * sum(joined)  # which are not yet there
        return max(running, chunks * (sum(joined) + max(joined, default=0)))

    def __call__(self, *operands: Any) -> Any:
        """Compute the stacked results, then the joined ones; a single one is not in a tuple."""
        outs = [new_array(shape, dtype) for shape, dtype in self.stacked]
        starts = range(0, self.extent, self.rows)
        self.prepare(len(starts))

        def chunk(part: Sequence[int]) -> list[list[Any]]:
            return self.chunk(part, operands, outs)

        found = shared(chunk, chunks_of(starts), self.threads)
        results = outs + [
            function.reduce([x for partials in found for x in partials[i]], 0)
            for i, function in enumerate(self.joined)
        ]
        return results[0] if len(results) == 1 else tuple(results)

    def prepare(self, count: int) -> None:
        """Compile the source, unless few tiles have run."""
        if self.left > 0:
            self.left -= count
            if self.left <= 0:
                from tenferro_numpy.execution.codegen import generate  # noqa: PLC0415 - most run few times

                self.runs = {n: generate(plan).compile() for n, plan in self.plans.items()}

    def chunk(
        self, starts: Sequence[int], operands: Sequence[Any], outs: Sequence[Any]
    ) -> list[list[Any]]:
        """Run these tiles: write the rows of stacked results, return the partial ones."""
        partials: list[list[Any]] = [[] for _ in self.joined]
        for start in starts:
            self.tile(start, operands, outs, partials)
        return partials

    def tile(
        self, start: int, operands: Sequence[Any], outs: Sequence[Any], partials: list[list[Any]]
    ) -> None:
        """Run one tile; what it made is freed before the next."""
        stop = min(start + self.rows, self.extent)
        taken = slice(start, stop)
        given = [x[self.rows_of(x, taken)] for x in operands[: self.by_rows]]
        results = self.runs[stop - start](*given, *operands[self.by_rows :])
        for out, result in zip(outs, results, strict=False):
            out[self.rows_of(out, taken)] = result
        found = results[len(outs) :]
        for partial, function, result in zip(partials, self.joined, found, strict=True):
            if partial and result.ndim:
                function(partial[0], result, out=partial[0])
            else:
                partial.append(result)

    def rows_of(self, x: Any, taken: slice) -> tuple[slice, ...]:
        """Return the index that takes some of the rows of an array."""
        axis = row_axis(x.shape, self.extent)
        return (*[slice(None)] * (axis or 0), taken)

    def __repr__(self) -> str:
        return f"<RowBlockLoop {self.extent} rows, {self.rows} at a time>"
