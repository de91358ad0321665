"""Padding: an element of the operand, or the padding value outside of it and between its elements.

Read next: ``windows.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro.backend.extend import NamedTuple
from tenferro.primitives import Aval, Pad
from tenferro_cupy.kernels.reads.read import Names

__all__ = ["Padded", "padded"]


class Padded(NamedTuple):
    """An array and a number; ``gaps`` says along which axes there is padding between elements."""

    dtype: str
    gaps: tuple[bool, ...]
    kind: str = "padded"

    @property
    def arrays(self) -> tuple[str, ...]:
        """Dtypes of the operand and the padding value."""
        return (self.dtype, self.dtype)

    @property
    def ranks(self) -> tuple[int, ...]:
        """Ranks of the operand and the padding value."""
        return (len(self.gaps), 0)

    @property
    def numbers(self) -> int:
        """Low padding, step and extent of each axis."""
        return 3 * len(self.gaps)

    def code(self, names: Names, at: Sequence[str]) -> list[str]:
        """Undo the padding of the coordinates; test whether an element is there."""
        lines, tests, place = [], [], []
        for axis, (coordinate, has_gaps) in enumerate(zip(at, self.gaps, strict=True)):
            low, step, extent = [names.number(3 * axis + m) for m in range(3)]
            moved = f"{names.value}c{axis}"
            lines.append(f"const {names.integer} {moved} = {coordinate} - {low};")
            inner = f"{moved} / {step}" if has_gaps else moved
            on_element = f" && {moved} % {step} == 0" if has_gaps else ""
            tests.append(f"{moved} >= 0{on_element} && {inner} < {extent}")
            place.append(f"({inner})" if has_gaps else inner)
        read = f"{names.element(0, place)} : {names.array(1)}[0]"
        return [*lines, f"const {names.type} {names.value} = {' && '.join(tests) or '1'} ? {read};"]


def padded(op: Pad, operands: Sequence[Aval], result: Aval) -> tuple[Padded, list[int]]:
    """Return a padding as a read, and its integers."""
    extents = operands[0].shape
    rows = zip(op.low, op.interior, extents, strict=True)
    numbers = [n for low, gap, extent in rows for n in (low, gap + 1, extent)]
    return Padded(result.dtype.name, tuple([gap > 0 for gap in op.interior])), numbers
