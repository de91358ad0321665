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

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.sparse.pattern import SparsePattern
from tenferro.computegraph import ValueKey
from tenferro.primitives import Handle
from tenferro.primitives._aval import Aval
from tenferro.primitives.complex import complex as make_complex
from tenferro.primitives.complex import conj, real
from tenferro.tidu import Linearization, NotLinearError
from tenferro.transforms.derivatives.bottleneck.mixed import over_a_cut
from tenferro.transforms.derivatives.costs import cheaper_mode, cost_of, counts_of, operations
from tenferro.transforms.patterns.compressed import MIN_DIRECTIONS_TO_COMPRESS, Directions
from tenferro.transforms.patterns.two_way import direction_counts, entries_of, two_way, whole
from tenferro.transforms.recording.decisions import note_decision
from tenferro.transforms.recording.positions import Reads

_MAX_PART_OF_PURE = 0.7  # of the operations of one mode, up to which both are taken
Blocks = list[list[Handle]]  # [output leaf][input leaf]: shape [*output, *input]


class BlockOptions(NamedTuple):
    """Options of the blocks of a derivative, as ``jacobian`` takes them.

    A ``symmetric`` derivative is that of a gradient with respect to the one argument of it.
    """

    mode: str
    compress: bool | None
    holomorphic: bool
    sparse: bool = False
    symmetric: bool = False

    def directions(
        self, send: Any, of: Aval, results: Sequence[Aval], last: bool, reads: Reads
    ) -> Directions:
        """Make the directions of an argument or of an output."""
        return Directions(
            send, of, results, last, self.compress, reads,
            symmetric=self.symmetric, entries_only=self.sparse,
        )  # fmt: skip


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
    mode = how.mode
    columns = _columns(linear, outputs, wrt, how, reads) if mode != "reverse" else []
    rows = _rows(linear, outputs, wrt, how, reads) if mode != "forward" else []
    if mode in ("auto", "mixed") and not how.sparse:
        found = _over_a_narrow_waist(linear, outputs, wrt, how, reads, columns, rows)
        if found is not None:
            return found
    mode = _accumulating(mode, columns, rows) if how.sparse else mode
    if mode == "auto" and len(outputs) == 1 == len(wrt):
        alone = _both_ways(columns[0], rows[0], outputs[0].aval, wrt[0].aval, how, patterns)
        if alone is not None:
            return [alone]
    if mode in ("auto", "mixed"):
        mode = cheaper_mode(linear, columns, rows, outputs, wrt)
    if how.sparse:
        patterns += _patterns(mode, columns, rows, outputs, wrt)
    return _in_one_mode(mode, columns, rows, outputs, wrt, how.holomorphic)


def _over_a_narrow_waist(
    linear: Linearization,
    outputs: Sequence[ValueKey],
    wrt: Sequence[ValueKey],
    how: BlockOptions,
    reads: Reads,
    columns: Sequence[Directions],
    rows: Sequence[Directions],
) -> Blocks | None:
    """Return the blocks as products over a narrow waist of the graph, where that is cheaper."""

    def pure(factor: Any, of: Sequence[ValueKey], by: Sequence[ValueKey], mode: str) -> Blocks:
        return blocks_of(factor, of, by, how._replace(mode=mode), reads, [])

    return over_a_cut(
        linear,
        outputs,
        wrt,
        forced=how.mode == "mixed",
        holomorphic=how.holomorphic,
        counts=lambda: counts_of(columns, rows, outputs, wrt),
        operations=operations,
        pure=pure,
    )


def _in_one_mode(
    mode: str,
    columns: Sequence[Directions],
    rows: Sequence[Directions],
    outputs: Sequence[ValueKey],
    wrt: Sequence[ValueKey],
    holomorphic: bool,
) -> Blocks:
    """Return the blocks by forward or by reverse mode."""
    if mode == "forward":
        each = [_of_columns(*pair, holomorphic) for pair in zip(columns, wrt, strict=True)]
        return [list(row) for row in zip(*each, strict=True)]
    return [_of_rows(*pair, holomorphic) for pair in zip(rows, outputs, strict=True)]


def _patterns(
    mode: str,
    columns: Sequence[Directions],
    rows: Sequence[Directions],
    outputs: Sequence[ValueKey],
    wrt: Sequence[ValueKey],
) -> list[SparsePattern]:
    """Return the places of the entries of each block."""
    found = []
    for k, y in enumerate(outputs):
        for i, x in enumerate(wrt):
            places = columns[i].targets(k) if mode == "forward" else rows[k].targets(i)
            found.append(SparsePattern.of_places(places, (y.aval.size, x.aval.size)))
    return found


def _accumulating(asked: str, columns: Sequence[Directions], rows: Sequence[Directions]) -> str:
    """Return the mode in which all entries can be accumulated; the one asked for if none can."""
    if asked != "auto":
        return asked
    for mode, each in (("forward", columns), ("reverse", rows)):
        try:
            if all([one.parts is not None for one in each]):
                note_decision("jacobian", f"{mode}: entries accumulated, no directions pushed")
                return mode
        except NotLinearError:  # a pullback of the user that cannot be converted to forward mode
            continue
    return asked


def _both_ways(
    columns: Directions,
    rows: Directions,
    output: Aval,
    wrt: Aval,
    how: BlockOptions,
    patterns: list[SparsePattern],
) -> list[Handle] | None:
    """Return the only block by pulled rows and pushed columns, where that is much cheaper."""
    sizes = wrt.size, output.size
    least = 2 if how.compress or how.sparse else MIN_DIRECTIONS_TO_COMPRESS
    if how.compress is False or min(sizes) < least or output.dtype is not wrt.dtype:
        return None
    if wrt.dtype.is_complex or not (how.sparse or min(columns.count, rows.count) >= least):
        return None
    try:
        push = cost_of(columns.one)
    except NotLinearError:  # a pullback of the user that cannot be converted to forward mode
        return None
    pull, bits = cost_of(rows.one), columns.bits()
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


def targets_of(
    linear: Linearization,
    outputs: Sequence[ValueKey],
    wrt: Sequence[ValueKey],
    how: BlockOptions,
    reads: Reads,
) -> list[list[tuple[tuple[int, ...], tuple[int, int]]]]:
    """Return the places of the entries of each block, in row-major order, and its shape."""
    columns = _columns(linear, outputs, wrt, how, reads)
    pairs = [(one, x.aval.size) for one, x in zip(columns, wrt, strict=True)]
    return [
        [(one.targets(k), (y.aval.size, size)) for one, size in pairs]
        for k, y in enumerate(outputs)
    ]


def _columns(
    linear: Linearization,
    outputs: Sequence[ValueKey],
    wrt: Sequence[ValueKey],
    how: BlockOptions,
    reads: Reads,
) -> list[Directions]:
    """Return, for each argument, the derivative of all outputs along it."""

    def along(i: int) -> Directions:
        def push(seed: Handle) -> Sequence[Any]:
            return linear.apply([seed if j == i else None for j in range(len(wrt))])

        avals = [key.aval for key in outputs]
        return how.directions(push, wrt[i].aval, avals, True, reads)

    return [along(i) for i in range(len(wrt))]


def _rows(
    linear: Linearization,
    outputs: Sequence[ValueKey],
    wrt: Sequence[ValueKey],
    how: BlockOptions,
    reads: Reads,
) -> list[Directions]:
    """Return, for each output, its derivative in all arguments."""

    def along(k: int) -> Directions:
        def pull(seed: Handle) -> Sequence[Any]:
            return linear.transpose([seed if j == k else None for j in range(len(outputs))])

        return how.directions(pull, outputs[k].aval, [key.aval for key in wrt], False, reads)

    return [along(k) for k in range(len(outputs))]


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
