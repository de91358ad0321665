"""Sparse matrices as results: their patterns, and how they are made of computed entries.

A program computes the entries alone. Their pattern is a part of the program's plan: it is found
once, and matrices of all calls are made with it. The backend that owns the entries makes its own
kind of matrix. Read next: ``patterns/sparse_array.py``.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.backend.select import backend_of

_MAX_INT32 = (1 << 31) - 1


def check_choices(name: str, compress: object, sparse: object) -> None:
    """Raise TypeError for anything but the values that these options take."""
    if not any([compress is known for known in (None, True, False)]):
        text = f"{name}: compress is None, True or False, not {compress!r}"
        raise at_user_line(TypeError(text))
    if sparse is not True and sparse is not False:
        raise at_user_line(TypeError(f"{name}: sparse is True or False, not {sparse!r}"))


class SparsePattern:
    """Places of the entries of a sparse matrix, in row-major order.

    ``columns`` are those of the entries; the entries of row i are those from ``starts[i]`` to
    ``starts[i + 1]``. Patterns with the same places are equal.
    """

    __slots__ = ("_makers", "columns", "shape", "starts")

    def __init__(self, columns: Sequence[int], starts: Sequence[int], shape: Sequence[int]) -> None:
        rows, width = shape
        code = "i" if max(len(columns), width) <= _MAX_INT32 else "q"
        self.columns = array(code, columns)
        self.starts = array(code, starts)
        self.shape = (rows, width)
        self._makers: dict[type, Callable[[Any], Any]] = {}  # by the class of the entries

    @staticmethod
    def of_places(targets: Sequence[int], shape: tuple[int, int]) -> SparsePattern:
        """Make the pattern of places in the flat dense matrix, in increasing order."""
        rows, width = shape
        starts = [bisect_left(targets, row * width) for row in range(rows + 1)]
        return SparsePattern([target % width for target in targets], starts, shape)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, SparsePattern) or self.shape != other.shape:
            return False
        return self.starts == other.starts and self.columns == other.columns

    def __hash__(self) -> int:
        return hash((self.shape, len(self.columns), self.columns[:8].tobytes()))

    def __repr__(self) -> str:
        return f"{len(self.columns)} entries of {self.shape[0]} x {self.shape[1]}"

    def rows(self) -> list[int]:
        """Return the row of each entry."""
        found: list[int] = []
        for row, (start, end) in enumerate(zip(self.starts, self.starts[1:], strict=False)):
            found += [row] * (end - start)
        return found

    def places(self) -> list[int]:
        """Return the places of the entries in the flat dense matrix."""
        width = self.shape[1]
        return [row * width + c for row, c in zip(self.rows(), self.columns, strict=True)]

    def matrix(self, entries: Any) -> Any:
        """Return a matrix of these entries, an operand, of the kind that its backend makes."""
        make = self._makers.get(type(entries))
        if make is None:
            backend = backend_of(entries)
            make = backend.sparse_matrices(self.columns, self.starts, self.shape)
            self._makers[type(entries)] = make
        return make(entries)
