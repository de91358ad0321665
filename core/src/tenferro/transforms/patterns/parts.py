"""Parts of a sparse Jacobian: coefficients with the rows and the columns that they stand in.

The derivative of a value is a sum of parts. A part is a *window*: one coefficient, or a few, for
each element of a box in the value's shape; or a *list*: coefficients with any rows. Moves of the
value's elements move windows without computing, and what a window would read of another operand is
a slice of it. A coefficient array of ``None`` stands for ones.
Read next: ``patterns/part_rules.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.primitives import (
    Handle,
    broadcast_in_dim,
    constant,
    gather,
    pad,
    reshape,
    slice,
    table,
)
from tenferro.primitives._aval import Aval, Shape
from tenferro.transforms.patterns.pattern_moves import scaled


class Part(NamedTuple):
    """Coefficients of one part of the derivative of a value.

    A window has a ``box``, which begins at ``low``; each of its elements has ``width`` coefficients
    along a last axis, or one without that axis if ``width`` is 0. A list has ``rows`` and no box.
    ``columns`` are those of all coefficients in row-major order.
    """

    coefficients: Handle | None
    columns: list[int]
    box: Shape | None
    low: Shape = ()
    width: int = 0
    rows: list[int] = []  # noqa: RUF012 - never written to

    @property
    def shape(self) -> Shape:
        """Shape of the coefficients."""
        if self.box is None:
            return (len(self.columns),)
        return (*self.box, self.width) if self.width else self.box

    def filled(self, dtype: Any) -> Handle:
        """Return the coefficients as an array, ones included."""
        if self.coefficients is None:
            return constant(1, dtype, self.shape)
        return self.coefficients

    def chunks(self) -> list[Any]:
        """Return the columns of each element of the box: a tuple, or the only one."""
        if not self.width:
            return self.columns
        steps = range(0, len(self.columns), self.width)
        return [tuple(self.columns[i : i + self.width]) for i in steps]

    def with_chunks(self, chunks: Sequence[Any]) -> list[int]:
        """Return the columns of moved ``chunks``."""
        return [c for chunk in chunks for c in chunk] if self.width else [*chunks]

    def covers(self, shape: Shape) -> bool:
        """Return True for a window of the whole value."""
        return self.box == shape

    def positions(self) -> list[range]:
        """Return the positions of the box along each axis."""
        assert self.box is not None
        return [range(a, a + n) for a, n in zip(self.low, self.box, strict=True)]

    def row_list(self, shape: Shape) -> list[int]:
        """Return the row of each coefficient."""
        if self.box is None:
            return self.rows
        rows = scaled(self.positions(), shape)
        return [row for row in rows for _ in range(self.width)] if self.width else rows

    def listed(self, shape: Shape) -> Part:
        """Return the same part as a list."""
        if self.box is None:
            return self
        flat = self.coefficients
        if flat is not None:
            flat = reshape(flat, (flat.aval.size,))
        return Part(flat, self.columns, None, rows=self.row_list(shape))

    def chosen(self, places: Sequence[int], rows: list[int]) -> Part:
        """Return a list of the coefficients at these places of a list, in other rows."""
        flat = self.coefficients
        if flat is not None:
            flat = taken(flat, places)
        return Part(flat, [self.columns[i] for i in places], None, rows=rows)

    def restricted(self, x: Handle) -> Handle:
        """Return what the coefficients meet of an operand of the value's shape."""
        if self.box is None:
            return taken(reshape(x, (x.aval.size,)), self.rows)
        if self.box != x.shape:
            high = [a + n for a, n in zip(self.low, self.box, strict=True)]
            x = slice(x, self.low, high)
        if self.width:
            x = broadcast_in_dim(x, self.shape, range(len(self.box)))
        return x


Parts = list[Part]


def normal(part: Part, shape: Shape) -> Part:
    """Return a list as a window where its rows are those of one."""
    if part.box is not None or not part.columns:
        return part
    rows, first = part.rows, part.rows[0]
    width = rows.count(first)
    count = len(rows) // width
    box: Shape = (count,) if len(shape) == 1 else shape
    if prod(box) != count or len(rows) % width or (len(shape) != 1 and first):
        return part
    whole = range(first, first + count)
    want = [*whole] if width == 1 else [row for row in whole for _ in range(width)]
    if rows != want:
        return part
    low = (first,) if len(shape) == 1 else (0,) * len(shape)
    made = Part(None, part.columns, box, low, 0 if width == 1 else width)
    if part.coefficients is None:
        return made
    return made._replace(coefficients=reshape(part.coefficients, made.shape))


def taken(flat: Handle, places: Sequence[int]) -> Handle:
    """Return elements of an array of one axis: a slice of it where they are evenly spaced."""
    size = flat.aval.size
    if not places:
        return constant(0, flat.dtype, (0,))
    step = places[1] - places[0] if len(places) > 1 else 1
    if step > 0 and [*places] == [*range(places[0], places[-1] + 1, step)]:
        if len(places) == size:
            return flat
        return slice(flat, (places[0],), (places[-1] + 1,), (step,))
    return gather(
        flat,
        table(places, "int64", (len(places), 1)),
        offset_dims=(),
        collapsed_slice_dims=(0,),
        start_index_map=(0,),
        slice_sizes=(1,),
        mode="promise_in_bounds",
    )


def with_sources(part: Part, sources: Sequence[int], x: Aval, y: Aval) -> Part | None:
    """Return the part of a value whose elements are others': each by its place plus 1, or 0."""
    part = part.listed(x.shape)
    at: dict[int, list[int]] = {}
    for i, row in enumerate(part.rows):
        at.setdefault(row + 1, []).append(i)
    kept: list[int] = []
    rows: list[int] = []
    for row, source in enumerate(sources):
        own = at.get(source, ())
        kept += own
        rows += [row] * len(own)
    return normal(part.chosen(kept, rows), y.shape) if kept else None


def with_targets(part: Part, targets: Sequence[int], x: Aval, y: Aval) -> Part | None:
    """Return the part of a value into which elements are written, at these places, -1 for none."""
    part = part.listed(x.shape)
    rows = [targets[row] for row in part.rows]
    kept = [i for i, row in enumerate(rows) if row >= 0]
    if not kept:
        return None
    return normal(part.chosen(kept, [rows[i] for i in kept]), y.shape)


# ---- sums ----------------------------------------------------------------------------------------


def merged(parts: Sequence[Part], more: Sequence[Part], dtype: Any) -> list[Part]:
    """Join the parts of two summands; those in the same places become one."""
    found, waiting = [*parts], [*reversed(more)]
    while waiting:
        part = waiting.pop()
        for i, other in enumerate(found):
            total = _sum(other, part, dtype)
            if total is not None:  # larger than both, so that it may meet others
                del found[i]
                waiting.append(total)
                break
        else:
            found.append(part)
    return found


def _sum(a: Part, b: Part, dtype: Any) -> Part | None:
    """Return the sum of two parts as one part; None if they are better left alone."""
    if a.width != b.width or (a.box is None) is not (b.box is None):
        return None
    if a.box == b.box and a.low == b.low:
        if a.columns != b.columns or a.rows != b.rows:
            return None
        return a._replace(coefficients=a.filled(dtype) + b.filled(dtype))
    if a.box is None or b.box is None:
        return None
    return _joined(a, b, dtype)


def _joined(a: Part, b: Part, dtype: Any) -> Part | None:
    """Return the sum of overlapping windows along one diagonal, in the box around both."""
    ends_a, ends_b = _ends(a), _ends(b)
    low = tuple(map(min, a.low, b.low))
    box = tuple([max(p, q) - s for p, q, s in zip(ends_a, ends_b, low, strict=True)])
    common_low = tuple(map(max, a.low, b.low))
    common = [min(p, q) - s for p, q, s in zip(ends_a, ends_b, common_low, strict=True)]
    if min(common, default=0) <= 0 or prod(_box(a)) + prod(_box(b)) - prod(common) != prod(box):
        return None
    if 2 * prod(common) < min(prod(_box(a)), prod(_box(b))):
        return None
    chunks: dict[int, Any] = {}
    inside = [range(s - o, s - o + n) for s, o, n in zip(common_low, a.low, common, strict=True)]
    other = [range(s - o, s - o + n) for s, o, n in zip(common_low, b.low, common, strict=True)]
    of_a, of_b = a.chunks(), b.chunks()
    pairs = zip(scaled(inside, _box(a)), scaled(other, _box(b)), strict=True)
    if any([of_a[i] != of_b[j] for i, j in pairs]):
        return None
    for part, own in ((a, of_a), (b, of_b)):
        moved = [range(p - s, p - s + n) for p, s, n in zip(part.low, low, _box(part), strict=True)]
        chunks.update(zip(scaled(moved, box), own, strict=True))
    columns = a.with_chunks([chunks[i] for i in range(prod(box))])
    coefficients = _padded(a, low, box, dtype) + _padded(b, low, box, dtype)
    return Part(coefficients, columns, box, low, a.width)


def _box(part: Part) -> Shape:
    assert part.box is not None
    return part.box


def _ends(part: Part) -> list[int]:
    return [a + n for a, n in zip(part.low, _box(part), strict=True)]


def _padded(part: Part, low: Shape, box: Shape, dtype: Any) -> Handle:
    """Return the coefficients of a window with zeros around, in a larger box."""
    before = [a - b for a, b in zip(part.low, low, strict=True)]
    after = [n - m - b for n, m, b in zip(box, _box(part), before, strict=True)]
    if part.width:
        before, after = [*before, 0], [*after, 0]
    return pad(part.filled(dtype), constant(0, dtype, ()), before, after, [0] * len(before))
