"""The directions in which a whole derivative is taken: one per element, or one per colour.

Where the pattern of the linear graph is sparse, directions of one colour go together, and what
comes out is scattered to where it belongs in a result that is 0 elsewhere. Places are parts of the
program, and the operations are ordinary ones, which differentiate and batch again.
Read next: ``derivatives/jacobian.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import ProgramCache, ValueKey, new_leaf, signature
from tenferro.primitives import (
    Handle,
    constant,
    convert,
    eq,
    gather,
    iota,
    reshape,
    scatter_add,
    table,
    transpose,
)
from tenferro.primitives._aval import Aval
from tenferro.transforms.batching.batch import batch
from tenferro.transforms.recording.positions import Reads, numbers_of
from tenferro.transforms.sparsity.colouring import coloured, columns_of
from tenferro.transforms.sparsity.pattern_moves import Bits
from tenferro.transforms.sparsity.sparsity import MAX_DIRECTION_ELEMENTS, pattern

MIN_DIRECTIONS_TO_COMPRESS = 32
"""Directions from which on a pattern is looked for unasked: fewer cost less than their places."""

_MAX_TABLE_ELEMENTS = 1 << 20  # elements of a table in a program
_BYTES_PER_PLACE = 80
_KNOWN = ProgramCache(max_entries=256, max_bytes=64 * 2**20)

Values = Sequence[Any]  # handles; None where nothing flows


class EntryMap(NamedTuple):
    """Map from the elements of a compressed result to their places in the whole one.

    All other elements of the whole result are 0.
    """

    sources: tuple[int, ...]  # in [colour, *result]
    targets: tuple[int, ...]  # in [*result, *direction] or the other way round


class Colours(NamedTuple):
    """The colours of all directions, their number, and the places of each result.

    ``reads`` are the leaves, by number, on whose values that relies.
    """

    of: tuple[int, ...]
    number: int
    places: tuple[EntryMap | None, ...]
    reads: tuple[int, ...]


class Directions:
    """The linear map of one argument, or the transposed one of one output, in all directions.

    ``send`` emits the results for one direction of the aval ``of``; ``last`` says whether the axes
    of the direction stand behind those of a result, or in front.
    """

    def __init__(
        self,
        send: Callable[[Handle], Values],
        of: Aval,
        results: Sequence[Aval],
        last: bool,
        sparse: bool | None,
        reads: Reads,
    ) -> None:
        self._send = send
        self._of = of
        self._results = results
        self._last = last
        self._seed = Handle(new_leaf("direction", of))
        self._sparse = sparse
        self._reads = reads

    @cached_property
    def one(self) -> Values:
        """The results for one direction."""
        return self._send(self._seed)

    @cached_property
    def colours(self) -> Colours | None:
        """Return how directions are grouped; ``None`` if each one is pushed alone."""
        size = self._of.size
        least = 2 if self._sparse else MIN_DIRECTIONS_TO_COMPRESS
        if self._sparse is False or not least <= size <= MAX_DIRECTION_ELEMENTS:
            return None
        keys = [value.key for value in self.one if value is not None]
        structure, leaves = signature((self._seed.key,), keys)
        flowing = tuple([value is not None for value in self.one])
        avals = tuple([leaf.aval for leaf in leaves])
        most = size - 1 if self._sparse else size // 2

        def make() -> Colours | None:
            own = Reads(self._reads.ignores_values)
            return _colours(keys, self._seed.key, leaves, flowing, most, self._last, own)

        if structure is None:
            found: Colours | None = make()
        else:
            ignores_values = self._reads.ignores_values
            known = None if ignores_values else tuple([numbers_of(leaf) for leaf in leaves])
            key = (structure, avals, flowing, most, self._last, known)
            found = _KNOWN.get_or_make(key, make, _size)
        for leaf in () if found is None else found.reads:
            self._reads.numbers_of(leaves[leaf])
        return found

    @property
    def count(self) -> int:
        """Number of directions that are pushed."""
        return self._of.size if self.colours is None else self.colours.number

    def values(self, factor: complex = 1) -> list[Handle]:
        """Return the results in all unit directions times a factor; zeros where nothing flows."""
        if self._of.size == 1:
            alone = self._send(constant(factor, self._of.dtype, self._of.shape))
            return self._arranged([None if x is None else self._in_front(x) for x in alone])
        keys = [value.key for value in self.one if value is not None]
        found = iter(batch(keys, {self._seed.key: self._basis(factor)}, self.count))
        spread = [None if value is None else next(found) for value in self.one]
        if self.colours is None:
            return self._arranged(spread)
        every = zip(spread, self._results, self.colours.places, strict=True)
        return [self._expanded(x, aval, places) for x, aval, places in every]

    def _in_front(self, x: Handle) -> Handle:
        return reshape(x, (1, *x.shape))

    def _basis(self, factor: complex) -> Handle:
        """Return all directions: shape [count, *shape]."""
        n, dtype = self._of.size, self._of.dtype
        if self.colours is None:
            ones = convert(eq(iota((n, n), 0, "int64"), iota((n, n), 1, "int64")), dtype)
        else:
            of, shape = self.colours.of, (self.colours.number, n)
            ones = table([int(c == colour) for c in range(shape[0]) for colour in of], dtype, shape)
        if factor != 1:
            ones = ones * factor
        return reshape(ones, (self.count, *self._of.shape))

    def _arranged(self, spread: Values) -> list[Handle]:
        """Arrange whole results with the axis of directions where it belongs."""
        found = []
        for y, aval in zip(spread, self._results, strict=True):
            if y is None:
                found.append(constant(0, aval.dtype, self._shape(aval)))
                continue
            if self._last:
                y = transpose(y, (*range(1, y.ndim), 0))
            found.append(reshape(y, self._shape(aval)))
        return found

    def _shape(self, aval: Aval) -> tuple[int, ...]:
        of = self._of.shape
        return (*aval.shape, *of) if self._last else (*of, *aval.shape)

    def _expanded(self, y: Handle | None, aval: Aval, places: EntryMap | None) -> Handle:
        """Write a compressed result, [colour, *result], to its places among zeros."""
        shape = self._shape(aval)
        if y is None or places is None:
            return constant(0, aval.dtype, shape)
        flat = reshape(y, (y.aval.size,))
        if places.sources != tuple(range(y.aval.size)):
            flat = gather(
                flat,
                table(places.sources, "int64", (len(places.sources), 1)),
                offset_dims=(),
                collapsed_slice_dims=(0,),
                start_index_map=(0,),
                slice_sizes=(1,),
                mode="promise_in_bounds",
            )
        whole = scatter_add(
            constant(0, aval.dtype, (aval.size * self._of.size,)),
            table(places.targets, "int64", (len(places.targets), 1)),
            flat,
            update_window_dims=(),
            inserted_window_dims=(0,),
            scatter_dims_to_operand_dims=(0,),
            mode="promise_in_bounds",
        )
        return reshape(whole, shape)


def _colours(
    keys: Sequence[ValueKey],
    seed: ValueKey,
    leaves: Sequence[ValueKey],
    flowing: Sequence[bool],
    most: int,
    last: bool,
    reads: Reads,
) -> Colours | None:
    """Return colours of the directions, if few colours and small tables suffice."""
    found = pattern(keys, seed, reads)
    if found is None:
        return None
    rows = [bits for bits in found if bits is not None]
    of = coloured([*chain.from_iterable(rows)], seed.aval.size, most)
    if of is None:
        return None
    count = max(of, default=0) + 1
    entries = sum([row.bit_count() for bits in rows for row in bits])
    if max(entries, count * len(of)) > _MAX_TABLE_ELEMENTS:
        return None
    every = iter(found)
    bits = [next(every) if flows else None for flows in flowing]
    places = tuple([None if x is None else _places(x, of, last) for x in bits])
    return Colours(tuple(of), count, places, tuple([i for i, _ in reads.among(leaves)]))


def _places(bits: Bits, colours: Sequence[int], last: bool) -> EntryMap:
    """Return the source and the target of each entry of the pattern, in the order of the
    targets.
    """
    size, count = len(bits), len(colours)
    entries = []
    for element, row in enumerate(bits):
        for column in columns_of(row):
            target = element * count + column if last else column * size + element
            entries.append((target, colours[column] * size + element))
    entries.sort()
    return EntryMap(tuple([e[1] for e in entries]), tuple([e[0] for e in entries]))


def _size(colours: Colours | None) -> int:
    if colours is None:
        return _BYTES_PER_PLACE
    entries = sum([len(places.targets) for places in colours.places if places is not None])
    return _BYTES_PER_PLACE * (len(colours.of) + entries)
