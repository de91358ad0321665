"""A read at a computed position, as a kernel has it: text of the structure, and no sizes.

Each element of the region has a coordinate along every axis. A read turns the coordinates into
places of its arrays; sizes and strides are parameters of the kernel. Read next: ``joined.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tenferro.backend.extend import NamedTuple

__all__ = ["Names", "Read"]


class Read(Protocol):
    """One value for each element of a region, from whole arrays.

    dtype     of the value
    arrays    dtypes of the arrays
    ranks     of the arrays: each axis has a stride
    numbers   how many integers besides strides the text needs
    kind      of the read, because records of two kinds may have equal fields
    """

    @property
    def dtype(self) -> str:
        """Dtype of the value."""

    @property
    def kind(self) -> str:
        """Name of the class, in lower case."""

    @property
    def arrays(self) -> tuple[str, ...]:
        """Dtypes of the arrays that are read."""

    @property
    def ranks(self) -> tuple[int, ...]:
        """Ranks of the arrays."""

    @property
    def numbers(self) -> int:
        """Count of the integers that depend on shapes."""

    def code(self, names: Names, at: Sequence[str]) -> list[str]:
        """Return statements that define the value, from a coordinate along each axis."""


class Names(NamedTuple):
    """Names of one read in the text of a kernel.

    value     of the value
    type      C type of the value
    integer   C type of indices
    """

    value: str
    type: str
    integer: str

    def array(self, j: int) -> str:
        """Return the parameter of an array."""
        return f"{self.value}a{j}"

    def number(self, m: int) -> str:
        """Return the parameter of an integer."""
        return f"{self.value}n{m}"

    def stride(self, j: int, axis: int) -> str:
        """Return the parameter of a stride, in elements."""
        return f"{self.value}s{j}_{axis}"

    def element(self, j: int, at: Sequence[str]) -> str:
        """Return an element of an array; ``0`` as a coordinate adds nothing."""
        terms = [f"{c} * {self.stride(j, axis)}" for axis, c in enumerate(at) if c != "0"]
        return f"{self.array(j)}[{' + '.join(terms) or '0'}]"

    def zero(self) -> str:
        """Return the number 0 in the type of the value."""
        return f"convert<{self.type}>(0)"
