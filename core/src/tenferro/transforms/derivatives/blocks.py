"""Blocks of whole derivatives: one per pair of an output and an argument.

The linear graph is emitted once for one direction and batched over a basis, so that no direction is
a Python loop. Forward takes one direction per input element, reverse one per output element, both
fewer where the derivative is sparse (``patterns/compressed.py``). Mode "auto" counts what either
would cost (``derivatives/costs.py``), what both together would (``patterns/two_way.py``), and what
a product over a narrow waist would (``derivatives/bottleneck``). Read next:
``derivatives/whole.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.arrays.sparse.pattern import SparsePattern
from tenferro.computegraph import ValueKey
from tenferro.primitives import Handle
from tenferro.primitives.complex import complex as make_complex
from tenferro.primitives.complex import conj, real
from tenferro.tidu import Linearization, NotLinearError
from tenferro.transforms.derivatives.bottleneck.mixed import over_a_cut
from tenferro.transforms.derivatives.costs import cheaper_mode, cost_of, counts_of, operations
from tenferro.transforms.derivatives.sweeps import BlockOptions, Sweeps
from tenferro.transforms.patterns.compressed import MIN_DIRECTIONS_TO_COMPRESS, Directions
from tenferro.transforms.patterns.two_way import direction_counts, entries_of, two_way, whole
from tenferro.transforms.recording.decisions import note_decision
from tenferro.transforms.recording.positions import Reads

_MAX_PART_OF_PURE = 0.7  # of the operations of one mode, up to which both are taken
Blocks = list[list[Handle]]  # [output leaf][input leaf]: shape [*output, *input]


def keys_of(rows: Blocks) -> list[ValueKey]:
    """Return the keys of all handles of the blocks."""
    return [block.key for row in rows for block in row]


def blocks_of(
    linear: Linearization,
    outputs: Sequence[ValueKey],
    wrt: Sequence[ValueKey],
    how: BlockOptions,
    reads: Reads,
    patterns: list[SparsePattern],
) -> Blocks:
    """Return one block per pair of leaves, in the given mode or in the cheaper one.

    Sparse blocks are their entries; ``patterns`` receives their places, block by block.
    """
    mode, sweeps = how.mode, Sweeps(linear, outputs, wrt, how, reads)
    if mode in ("auto", "mixed") and not how.sparse:
        found = _over_a_narrow_waist(sweeps)
        if found is not None:
            return found
    if mode == "auto" and how.sparse:
        mode = _accumulating(sweeps)
    if mode == "auto" and len(outputs) == 1 == len(wrt):
        alone = _both_ways(sweeps, patterns)
        if alone is not None:
            return [alone]
    if mode in ("auto", "mixed"):
        mode = cheaper_mode(sweeps)
    if how.sparse:
        patterns += _patterns(sweeps, mode)
    return _in_one_mode(sweeps, mode)


def _over_a_narrow_waist(sweeps: Sweeps) -> Blocks | None:
    """Return the blocks as products over a narrow waist of the graph, where that is cheaper."""
    how = sweeps.how

    def pure(factor: Any, of: Sequence[ValueKey], by: Sequence[ValueKey], mode: str) -> Blocks:
        return blocks_of(factor, of, by, how._replace(mode=mode), sweeps.reads, [])

    return over_a_cut(
        sweeps.linear,
        sweeps.outputs,
        sweeps.wrt,
        forced=how.mode == "mixed",
        holomorphic=how.holomorphic,
        counts=lambda: counts_of(sweeps),
        operations=operations,
        pure=pure,
    )


def _in_one_mode(sweeps: Sweeps, mode: str) -> Blocks:
    """Return the blocks by forward or by reverse mode."""
    holomorphic = sweeps.how.holomorphic
    if mode == "forward":
        pairs = zip(sweeps.columns, sweeps.wrt, strict=True)
        each = [_of_columns(*pair, holomorphic) for pair in pairs]
        return [list(row) for row in zip(*each, strict=True)]
    pairs = zip(sweeps.rows, sweeps.outputs, strict=True)
    return [_of_rows(*pair, holomorphic) for pair in pairs]


def _patterns(sweeps: Sweeps, mode: str) -> list[SparsePattern]:
    """Return the places of the entries of each block."""
    found = []
    for k, y in enumerate(sweeps.outputs):
        for i, x in enumerate(sweeps.wrt):
            of_columns = mode == "forward"
            places = sweeps.columns[i].targets(k) if of_columns else sweeps.rows[k].targets(i)
            found.append(SparsePattern.of_places(places, (y.aval.size, x.aval.size)))
    return found


def _accumulating(sweeps: Sweeps) -> str:
    """Return the mode in which all entries can be accumulated; "auto" if there is none."""
    for mode in ("forward", "reverse"):
        each = sweeps.columns if mode == "forward" else sweeps.rows
        try:
            if all([one.parts is not None for one in each]):
                note_decision("jacobian", f"{mode}: entries accumulated, no directions pushed")
                return mode
        except NotLinearError:  # a pullback of the user that cannot be converted to forward mode
            continue
    return "auto"


def _both_ways(sweeps: Sweeps, patterns: list[SparsePattern]) -> list[Handle] | None:
    """Return the only block by pulled rows and pushed columns, where that is much cheaper."""
    (columns,), (rows,), how = sweeps.columns, sweeps.rows, sweeps.how
    output, wrt = sweeps.outputs[0].aval, sweeps.wrt[0].aval
    sizes = wrt.size, output.size
    least = 2 if how.compress or how.sparse else MIN_DIRECTIONS_TO_COMPRESS
    if how.compress is False or min(sizes) < least or output.dtype is not wrt.dtype:
        return None
    if wrt.dtype.is_complex or not (how.sparse or min(columns.count, rows.count) >= least):
        return None
    try:
        push = cost_of(columns.one, sweeps.wrt)
    except NotLinearError:  # a pullback of the user that cannot be converted to forward mode
        return None
    pull, bits = cost_of(rows.one, sweeps.wrt), columns.bits()
    way = None if bits is None else two_way(bits, wrt.size, pull, push)
    if bits is None or way is None:
        return None
    pulled, pushed = way.counts
    cost = pull * pulled + push * pushed
    pure = min(
        n * each for n, each in zip(direction_counts(bits, sizes), (push, pull), strict=True)
    )
    if cost > _MAX_PART_OF_PURE * pure:
        return None
    text = f"{pulled} rows pulled, {pushed} sums of columns pushed; counted operations: {cost:.2g}"
    note_decision("jacobian", f"{text}, in one mode alone {pure:.2g}")
    entries = entries_of(way, columns, rows, output, wrt)
    if how.sparse:
        patterns.append(SparsePattern.of_places(way.targets, sizes[::-1]))
        return [entries]
    return [whole(way, entries, output, wrt)]


def patterns_of(
    linear: Linearization, outputs: Sequence[ValueKey], wrt: Sequence[ValueKey]
) -> list[SparsePattern]:
    """Return the places of the entries of each block, in row-major order."""
    how = BlockOptions("forward", None, False, sparse=True)
    return _patterns(Sweeps(linear, outputs, wrt, how, Reads()), how.mode)


def _of_columns(columns: Directions, wrt: ValueKey, holomorphic: bool) -> list[Handle]:
    """Return the derivative of every output in all directions of an argument."""
    found = columns.values()
    if holomorphic or not wrt.aval.dtype.is_complex:
        return found
    # df along 1 and i are the real and imaginary parts of g, where df = Re(conj(g) dz)
    return [make_complex(x, y) for x, y in zip(found, columns.values(1j), strict=True)]


def _of_rows(rows: Directions, output: ValueKey, holomorphic: bool) -> list[Handle]:
    """Return the derivative of an output in every argument."""
    found = rows.values()
    if holomorphic:
        return [conj(x) for x in found]
    if not output.aval.dtype.is_complex:
        return found
    # ⟨1, J dx⟩ and ⟨i, J dx⟩ are the real and imaginary parts of J dx for real dx
    return [make_complex(real(x), real(y)) for x, y in zip(found, rows.values(1j), strict=True)]
