"""``x.flat``: the elements of an array in row-major order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenferro.arrays.registry import FUNCTIONS
from tenferro.primitives._boundary import bounded


class Flat:
    """The elements of an array as one axis; assigning to it assigns to the array."""

    __slots__ = ("base",)

    def __init__(self, base: Any) -> None:
        self.base = base

    def copy(self) -> Any:
        """Return the elements as an array of rank 1."""
        return FUNCTIONS["ravel"](self.base)

    def __len__(self) -> int:
        return int(self.base.size)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.copy())

    @bounded("flat")
    def __getitem__(self, index: Any) -> Any:
        return self.copy()[index]

    @bounded("flat")
    def __setitem__(self, index: Any, value: Any) -> None:
        FUNCTIONS["__set_flat__"](self.base, index, value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.copy().__array__(dtype, copy)

    def __repr__(self) -> str:
        return f"<flat of Array({self.base.aval})>"
