"""The directions in which a whole derivative is taken: one per element, or one per colour.

Where the pattern of the linear graph is sparse, directions of one colour go together, and what
comes out is scattered to where it belongs in a result that is 0 elsewhere. Places are parts of the
program, and the operations are ordinary ones, which differentiate and batch again.
Read next: ``derivatives/blocks.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain
from math import prod
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import ProgramCache, ValueKey, new_leaf, signature
from tenferro.primitives import (
    Handle,
    constant,
    convert,
    eq,
    iota,
    reshape,
    scatter_add,
    table,
    transpose,
)
from tenferro.primitives._aval import Aval
from tenferro.transforms.batching.batch import batch
from tenferro.transforms.errors import no_pattern
from tenferro.transforms.patterns.accumulate import Entries, accumulated, entries_of
from tenferro.transforms.patterns.colouring import (
    by_one_colour,
    coloured,
    columns_of,
    star_coloured,
)
from tenferro.transforms.patterns.parts import Parts, taken
from tenferro.transforms.patterns.pattern import MAX_DIRECTION_ELEMENTS, pattern
from tenferro.transforms.patterns.pattern_moves import Bits
from tenferro.transforms.recording.positions import Reads, numbers_of

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
    of the direction stand behind those of a result, or in front. A ``symmetric`` map has one
    result, of the shape of the direction. With ``entries_only`` the values are those of the
    pattern alone.
    """

    def __init__(
        self,
        send: Callable[[Handle], Values],
        of: Aval,
        results: Sequence[Aval],
        last: bool,
        compress: bool | None,
        reads: Reads,
        *,
        symmetric: bool = False,
        entries_only: bool = False,
    ) -> None:
        self._send = send
        self._of = of
        self._results = results
        self._last = last
        self._seed = Handle(new_leaf("direction", of))
        self._compress = compress
        self._reads = reads
        self._symmetric = symmetric
        self._entries_only = entries_only
        self._kept: list[Entries] | None = None

    @cached_property
    def one(self) -> Values:
        """The results for one direction."""
        return self._send(self._seed)

    @cached_property
    def colours(self) -> Colours | None:
        """Return how directions are grouped; ``None`` if each one is pushed alone.

        Raises SparseResultError: if entries alone are wanted, and the pattern cannot be found.
        """
        if self._entries_only:
            size = self._of.size
            found = self._found(size) if size <= MAX_DIRECTION_ELEMENTS else None
            if found is None:
                raise no_pattern(size, is_dense=size <= MAX_DIRECTION_ELEMENTS)
            return found
        size = self._of.size
        least = 2 if self._compress else MIN_DIRECTIONS_TO_COMPRESS
        if self._compress is False or not least <= size <= MAX_DIRECTION_ELEMENTS:
            return None
        return self._found(size - 1 if self._compress else size // 2)

    @cached_property
    def parts(self) -> list[Parts] | None:
        """Return the parts of the derivative, if entries are wanted and can be accumulated."""
        return self._accumulated(1) if self._entries_only and self._of.size else None

    def _accumulated(self, factor: complex) -> list[Parts] | None:
        return accumulated(self.one, self._seed, factor, self._reads)

    def _entries(self, factor: complex = 1) -> list[Entries]:
        """Return the entries of each result, accumulated."""
        if factor == 1 and self._kept is not None:
            return self._kept
        parts = self.parts if factor == 1 else self._accumulated(factor)
        assert parts is not None
        found = [
            entries_of(each, aval, self._of.size, last=self._last, symmetric=self._symmetric)
            for each, aval in zip(parts, self._results, strict=True)
        ]
        if factor == 1:
            self._kept = found
        return found

    def _found(self, most: int) -> Colours | None:
        keys = [value.key for value in self.one if value is not None]
        structure, leaves = signature((self._seed.key,), keys)
        flowing = tuple([value is not None for value in self.one])
        avals = tuple([leaf.aval for leaf in leaves])
        how = most, self._last, self._symmetric, self._entries_only

        def make() -> Colours | None:
            own = Reads(self._reads.ignores_values)
            return _colours(keys, self._seed.key, leaves, flowing, how, own)

        if structure is None:
            found: Colours | None = make()
        else:
            ignores_values = self._reads.ignores_values
            known = None if ignores_values else tuple([numbers_of(leaf) for leaf in leaves])
            key = (structure, avals, flowing, how, known)
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
        if not self._of.size and self._entries_only:
            return [constant(0, aval.dtype, (0,)) for aval in self._results]
        if self.parts is not None:
            return [entries.values for entries in self._entries(factor)]
        if self._of.size == 1 and not self._entries_only:
            alone = self._send(constant(factor, self._of.dtype, self._of.shape))
            return self._arranged([None if x is None else self._in_front(x) for x in alone])
        spread = self.sent(self._basis(factor), self.count)
        if self.colours is None:
            return self._arranged(spread)
        every = zip(spread, self._results, self.colours.places, strict=True)
        if self._entries_only:
            return [_entries(x, aval, places) for x, aval, places in every]
        return [self._expanded(x, aval, places) for x, aval, places in every]

    def sent(self, basis: Handle, count: int) -> Values:
        """Return the results for so many directions together, [count, *shape]."""
        keys = [value.key for value in self.one if value is not None]
        found = iter(batch(keys, {self._seed.key: basis}, count))
        return [None if value is None else next(found) for value in self.one]

    def bits(self) -> Bits | None:
        """Return the pattern of the only result; ``None`` if it cannot be found or is empty."""
        (result,) = self.one
        if result is None or self._of.size > MAX_DIRECTION_ELEMENTS:
            return None
        found = pattern([result.key], self._seed.key, self._reads, patient=self._entries_only)
        return None if found is None else found[0]

    def targets(self, result: int) -> tuple[int, ...]:
        """Return the places of the entries of a result, in row-major order of the matrix."""
        if self.parts is not None:
            return self._entries()[result].targets
        found = self.colours if self._of.size else None
        if found is None:
            return ()
        places = found.places[result]
        return () if places is None else places.targets

    def _in_front(self, x: Handle) -> Handle:
        return reshape(x, (1, *x.shape))

    def _basis(self, factor: complex) -> Handle:
        """Return all directions: shape [count, *shape]."""
        n, dtype = self._of.size, self._of.dtype
        if self.colours is None:
            ones = convert(eq(iota((n, n), 0, "int64"), iota((n, n), 1, "int64")), dtype)
        else:
            ones = sums_of_directions(self.colours.of, self.colours.number, dtype)
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
        return spread_out(_entries(y, aval, places), places.targets, shape)


def sums_of_directions(of: Sequence[int], number: int, dtype: Any) -> Handle:
    """Return for each colour the sum of its unit directions: [number, len(of)].

    A direction of the colour -1 is in no sum.
    """
    ones = [int(c == colour) for c in range(number) for colour in of]
    return table(ones, dtype, (number, len(of)))


def spread_out(entries: Handle, targets: Sequence[int], shape: Sequence[int]) -> Handle:
    """Write entries to their places in an array of this shape that is 0 elsewhere."""
    if not targets:  # an array without elements has no place for a window
        return constant(0, entries.dtype, tuple(shape))
    whole = scatter_add(
        constant(0, entries.dtype, (prod(shape),)),
        table(targets, "int64", (len(targets), 1)),
        entries,
        update_window_dims=(),
        inserted_window_dims=(0,),
        scatter_dims_to_operand_dims=(0,),
        mode="promise_in_bounds",
    )
    return reshape(whole, shape)


def _entries(y: Handle | None, aval: Aval, places: EntryMap | None) -> Handle:
    """Return the entries of the pattern in a compressed result, in the order of their targets."""
    if y is None or places is None:
        return constant(0, aval.dtype, (0,))
    return taken(reshape(y, (y.aval.size,)), places.sources)


def _colours(
    keys: Sequence[ValueKey],
    seed: ValueKey,
    leaves: Sequence[ValueKey],
    flowing: Sequence[bool],
    how: tuple[int, bool, bool, bool],
    reads: Reads,
) -> Colours | None:
    """Return colours of the directions, if few colours and small tables suffice."""
    most, last, symmetric, entries_only = how
    found = pattern(keys, seed, reads, patient=entries_only)
    if found is None:
        return None
    rows = [*chain.from_iterable([bits for bits in found if bits is not None])]
    size = seed.aval.size
    symmetric = symmetric and len(rows) == size
    of = star_coloured(rows, most) if symmetric else coloured(rows, size, most)
    if of is None:
        if not entries_only:
            return None
        of, symmetric = list(range(size)), False
    count = max(of, default=-1) + 1
    entries = sum([row.bit_count() for row in rows])
    if max(entries, count * len(of)) > _MAX_TABLE_ELEMENTS:
        return None
    every = iter(found)
    bits = [next(every) if flows else None for flows in flowing]
    places = tuple([None if x is None else _places(x, of, last, symmetric) for x in bits])
    return Colours(tuple(of), count, places, tuple([i for i, _ in reads.among(leaves)]))


def _places(bits: Bits, colours: Sequence[int], last: bool, symmetric: bool) -> EntryMap:
    """Return the source and the target of each entry of the pattern, in the order of the
    targets.
    """
    size, count = len(bits), len(colours)
    entries = []
    for element, row in enumerate(bits):
        alone = by_one_colour(row, colours) if symmetric else None
        for column in columns_of(row):
            target = element * count + column if last else column * size + element
            source = colours[column] * size + element
            if alone is not None and colours[column] not in alone:  # read H_ji instead of H_ij
                source = colours[element] * size + column
            entries.append((target, source))
    entries.sort()
    return EntryMap(tuple([e[1] for e in entries]), tuple([e[0] for e in entries]))


def _size(colours: Colours | None) -> int:
    if colours is None:
        return _BYTES_PER_PLACE
    entries = sum([len(places.targets) for places in colours.places if places is not None])
    return _BYTES_PER_PLACE * (len(colours.of) + entries)
