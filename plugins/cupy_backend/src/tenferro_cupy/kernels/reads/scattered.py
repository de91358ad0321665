"""Scatters with few windows: each element looks through all windows for those that reach it.

Windows are applied in their order, so the result is the same bits at every run, and of replaced
values the last remains. Two-byte floats are added up in float and rounded once. The work is the
number of elements times that of windows, so scatters with many windows are CuPy's. Read next:
``table.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tenferro.backend.extend import NamedTuple
from tenferro.primitives import Aval, Scatter, ScatterAdd, ScatterMax, ScatterMin, ScatterMul
from tenferro.primitives.indexing import IndexedUpdate
from tenferro_cupy.kernels.reads.read import Names

__all__ = ["COMBINED", "Scattered", "scattered"]

#: scatter → how the value so far and an update combine
COMBINED: dict[type, str] = {
    Scatter: "{1}",
    ScatterAdd: "add({0}, {1})",
    ScatterMul: "mul({0}, {1})",
    ScatterMax: "maximum({0}, {1})",
    ScatterMin: "minimum({0}, {1})",
}


class Scattered(NamedTuple):
    """A scatter; the parameters are those of the primitive, without sizes."""

    dtype: str
    positions: str
    rank: int
    window_axes: tuple[int, ...]  # of the updates
    inserted: tuple[int, ...]
    mapped: tuple[int, ...]
    batch_rank: int
    mode: str
    combined: str
    kind: str = "scattered"

    @property
    def arrays(self) -> tuple[str, ...]:
        """Dtypes of the operand, the index vectors and the updates."""
        return (self.dtype, self.positions, self.dtype)

    @property
    def ranks(self) -> tuple[int, ...]:
        """Ranks of the operand, the index vectors and the updates."""
        return (self.rank, self.batch_rank + 1, self.batch_rank + len(self.window_axes))

    @property
    def numbers(self) -> int:
        """The largest starts, the sizes of a window, the count of windows, the batch's extents."""
        return len(self.mapped) + self.rank + 1 + self.batch_rank

    def code(self, names: Names, at: Sequence[str]) -> list[str]:
        """Go over all windows."""
        sizes = [names.number(len(self.mapped) + axis) for axis in range(self.rank)]
        count = names.number(len(self.mapped) + self.rank)
        batch = [f"{names.value}i{j}" for j in range(self.batch_rank)]
        so_far, window = f"{names.value}y", f"{names.value}w"
        inner = [*self._batch_places(names, batch, window), *self._starts(names, batch)]
        place, tests = [], []
        for axis, c in enumerate(at):
            inside = f"{names.value}c{axis}"
            moved = c
            if axis in self.mapped:
                moved += f" - {names.integer}({names.value}b{self.mapped.index(axis)})"
            inner.append(f"const {names.integer} {inside} = {moved};")
            tests.append(f"{inside} < 0 || {inside} >= {sizes[axis]}")
            if axis not in self.inserted:
                place.append(inside)
        if tests:
            inner.append(f"if ({' || '.join(tests)}) continue;")
        update = f"wide({names.element(2, self._interleaved(batch, place))})"
        inner.append(f"{so_far} = {self.combined.format(so_far, update)};")
        return [
            f"computed<{names.type}>::in {so_far} = wide({names.element(0, at)});",
            f"for ({names.integer} {window} = 0; {window} < {count}; ++{window}) {{",
            *[f"  {line}" for line in inner],
            "}",
            f"const {names.type} {names.value} = convert<{names.type}>({so_far});",
        ]

    def _batch_places(self, names: Names, batch: Sequence[str], window: str) -> list[str]:
        """Return statements that turn the number of a window into places along the batch axes."""
        lines, rest = [], window
        for j in range(self.batch_rank - 1, 0, -1):
            extent = names.number(len(self.mapped) + self.rank + 1 + j)
            lines.append(f"const {names.integer} {batch[j]} = {rest} % {extent};")
            lines.append(f"const {names.integer} {batch[j]}r = {rest} / {extent};")
            rest = f"{batch[j]}r"
        return [*lines, *[f"const {names.integer} {name} = {rest};" for name in batch[:1]]]

    def _starts(self, names: Names, batch: Sequence[str]) -> list[str]:
        lines = []
        for m in range(len(self.mapped)):
            begin, room = f"{names.value}b{m}", names.number(m)
            lines.append(f"i64 {begin} = start_of({names.element(1, [*batch, str(m)])});")
            if self.mode == "drop":
                lines.append(f"if ({begin} != clipped({begin}, {room})) continue;")
            elif self.mode == "clip":
                lines.append(f"{begin} = clipped({begin}, {room});")
        return lines

    def _interleaved(self, batch: Sequence[str], window: Sequence[str]) -> list[str]:
        """Return the coordinates of an update from those in its batch and in its window."""
        batch_axes, inside = iter(batch), iter(window)
        rank = len(batch) + len(window)
        return [next(inside if axis in self.window_axes else batch_axes) for axis in range(rank)]


def scattered(
    op: IndexedUpdate, operands: Sequence[Aval], result: Aval
) -> tuple[Scattered, list[int]]:
    """Return a scatter as a read, and its integers."""
    x, indices, updates = operands
    read = Scattered(
        result.dtype.name,
        indices.dtype.name,
        x.ndim,
        op.update_window_dims,
        op.inserted_window_dims,
        op.scatter_dims_to_operand_dims,
        indices.ndim - 1,
        op.mode,
        COMBINED[type(op)],
    )
    given = iter([updates.shape[axis] for axis in op.update_window_dims])
    sizes = [1 if axis in op.inserted_window_dims else next(given) for axis in range(x.ndim)]
    room = [x.shape[axis] - sizes[axis] for axis in op.scatter_dims_to_operand_dims]
    batch = indices.shape[:-1]
    return read, [*room, *sizes, prod(batch), *batch]
