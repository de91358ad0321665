"""A kernel as a value: what is computed for one element of a region, whatever its shape.

Two regions of one structure have equal kernels, and therefore one text and one compiled module.
Values are numbered: operands first, then constants, reads and lines. Read next:
``expressions.py``, ``reads/read.py``.
"""

from __future__ import annotations

from tenferro.backend.extend import NamedTuple
from tenferro.primitives import DType
from tenferro_cupy.kernels.reads.read import Read

__all__ = ["Fold", "Kernel", "Line", "c_type"]


def c_type(dtype: str) -> str:
    """Return the name of a dtype in kernels, which is the one that avals print.

    >>> c_type("float32"), c_type("uint8"), c_type("complex128"), c_type("bool")
    ('f32', 'u8', 'c128', 'bool')
    """
    return DType.of(dtype).short


class Line(NamedTuple):
    """One operation: a call of a function of ``device``, with ``{0}`` and so on for operands."""

    call: str
    operands: tuple[int, ...]
    dtype: str


class Fold(NamedTuple):
    """A reduction that ends the region: its struct in ``folds.cuh``, and its operand."""

    function: str
    value: int


class Kernel(NamedTuple):
    """A computation for one element.

    operands    dtypes of the arrays of the region's shape that are read
    constants   dtypes of the numbers that are passed by value
    lines       operations, in order
    outputs     numbers of the values that are written
    folds       reductions of values; all of them over the same axes
    reads       values that come from other places of whole arrays
    """

    operands: tuple[str, ...]
    constants: tuple[str, ...]
    lines: tuple[Line, ...]
    outputs: tuple[int, ...]
    folds: tuple[Fold, ...] = ()
    reads: tuple[Read, ...] = ()

    @property
    def given(self) -> tuple[str, ...]:
        """Dtypes of the values that are there before the first line."""
        return (*self.operands, *self.constants, *[read.dtype for read in self.reads])

    def dtype(self, value: int) -> str:
        """Return the dtype of a value."""
        given = self.given
        return given[value] if value < len(given) else self.lines[value - len(given)].dtype
