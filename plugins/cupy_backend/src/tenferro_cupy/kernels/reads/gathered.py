"""Gather: windows of an array, whose beginnings are index vectors in another.

The modes are those of the primitive: ``clip`` moves a window so that it fits, ``fill`` reads 0 for
one that does not fit, and ``promise_in_bounds`` does not look. Read next: ``scattered.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro.backend.extend import NamedTuple
from tenferro.primitives import Aval, Gather
from tenferro_cupy.kernels.reads.read import Names

__all__ = ["Gathered", "gathered"]


class Gathered(NamedTuple):
    """A gather; the parameters are those of the primitive, without sizes."""

    dtype: str
    positions: str
    rank: int
    window_axes: tuple[int, ...]  # of the result
    collapsed: tuple[int, ...]
    mapped: tuple[int, ...]
    batch_rank: int
    mode: str
    kind: str = "gathered"

    @property
    def arrays(self) -> tuple[str, ...]:
        """Dtypes of the operand and the index vectors."""
        return (self.dtype, self.positions)

    @property
    def ranks(self) -> tuple[int, ...]:
        """Ranks of the operand and the index vectors."""
        return (self.rank, self.batch_rank + 1)

    @property
    def numbers(self) -> int:
        """The largest start along each mapped axis."""
        return len(self.mapped)

    def code(self, names: Names, at: Sequence[str]) -> list[str]:
        """Read the index vector of the element, then the element."""
        batch = [c for axis, c in enumerate(at) if axis not in self.window_axes]
        window = iter([at[axis] for axis in self.window_axes])
        place = ["0" if axis in self.collapsed else next(window) for axis in range(self.rank)]
        lines, tests = [], []
        for m, axis in enumerate(self.mapped):
            begin, room = f"{names.value}b{m}", names.number(m)
            lines.append(f"i64 {begin} = start_of({names.element(1, [*batch, str(m)])});")
            tests.append(f"{begin} == clipped({begin}, {room})")
            if self.mode == "clip":
                lines.append(f"{begin} = clipped({begin}, {room});")
            moved = f"{names.integer}({begin})"
            place[axis] = moved if place[axis] == "0" else f"({place[axis]} + {moved})"
        read = names.element(0, place)
        if self.mode == "fill" and tests:
            read = f"{' && '.join(tests)} ? {read} : {names.zero()}"
        return [*lines, f"const {names.type} {names.value} = {read};"]


def gathered(op: Gather, operands: Sequence[Aval], result: Aval) -> tuple[Gathered, list[int]]:
    """Return a gather as a read, and its integers."""
    x, indices = operands
    read = Gathered(
        result.dtype.name,
        indices.dtype.name,
        x.ndim,
        op.offset_dims,
        op.collapsed_slice_dims,
        op.start_index_map,
        indices.ndim - 1,
        op.mode,
    )
    return read, [x.shape[axis] - op.slice_sizes[axis] for axis in op.start_index_map]
