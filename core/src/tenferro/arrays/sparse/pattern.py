"""Places of the entries of a sparse matrix: a pattern, which is a part of a program's structure.

The pattern of a derivative is found once, and matrices of all calls are made with it. The backend
that owns the entries makes its own kind of matrix. Read next: ``matrix.py``.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from tenferro.arrays.handle.array import Array
from tenferro.backend.select import backend_of
from tenferro.computegraph import new_leaf
from tenferro.primitives import Aval, int32, int64, table

_MAX_INT32 = (1 << 31) - 1


class SparsePattern:
    """Places of the entries of a sparse matrix, in row-major order.

    ``columns`` are those of the entries; the entries of row i are those from ``starts[i]`` to
    ``starts[i + 1]``. Patterns with the same places, whose matrices are of one class, are equal.
    ``of_numpy`` says that places are arrays of NumPy; others are written into programs.
    """

    __slots__ = ("_flat", "_makers", "_places", "columns", "of_numpy", "owner", "shape", "starts")

    def __init__(
        self,
        columns: Sequence[int],
        starts: Sequence[int],
        shape: Sequence[int],
        *,
        owner: Callable[[Any], Any] | None = None,
        of_numpy: bool = False,
    ) -> None:
        rows, width = shape
        code = "i" if max(len(columns), width) <= _MAX_INT32 else "q"
        self.columns = columns if type(columns) is array else array(code, columns)
        self.starts = starts if type(starts) is array else array(code, starts)
        self.shape = (rows, width)
        self.owner = owner  # the class that the user's matrix had
        self.of_numpy = of_numpy
        self._makers: dict[type, Callable[[Any], Any]] = {}  # by the class of the entries
        self._places: tuple[Array, Array] | None = None
        self._flat: Array | None = None

    @staticmethod
    def of_places(
        targets: Sequence[int],
        shape: tuple[int, int],
        of_numpy: bool = False,
        like: tuple[SparsePattern, ...] = (),
    ) -> SparsePattern:
        """Make the pattern of places in the flat dense matrix, in increasing order.

        ``like``: the matrix is computed from matrices of these patterns, and has the class of the
        first of them that has one.
        """
        owner = next((x.owner for x in like if x.owner is not None), None)
        of_numpy = of_numpy or any(x.of_numpy for x in like)
        rows, width = shape
        starts = [bisect_left(targets, row * width) for row in range(rows + 1)]
        columns = [target % width for target in targets]
        return SparsePattern(columns, starts, shape, owner=owner, of_numpy=of_numpy)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, SparsePattern) or self.shape != other.shape:
            return False
        same = self.owner is other.owner and self.starts == other.starts
        return same and self.columns == other.columns

    def __hash__(self) -> int:
        return hash((self.shape, len(self.columns), self.columns[:8].tobytes()))

    def __repr__(self) -> str:
        return f"{len(self.columns)} entries of {self.shape[0]} x {self.shape[1]}"

    def rows(self) -> array[int]:
        """Return the row of each entry."""
        found = array(self.columns.typecode)
        for row, (start, end) in enumerate(zip(self.starts, self.starts[1:], strict=False)):
            found.extend([row] * (end - start))
        return found

    def places(self) -> list[int]:
        """Return the places of the entries in the flat dense matrix."""
        width = self.shape[1]
        return [row * width + c for row, c in zip(self.rows(), self.columns, strict=True)]

    def flat_places(self) -> Array:
        """Return the places of the entries in the flat dense matrix, as an Array."""
        if self._flat is None:
            self._flat = self.integers(array("q", self.places()))
        return self._flat

    def coordinates(self) -> tuple[Array, Array]:
        """Return the row and the column of each entry, as Arrays."""
        if self._places is None:
            self._places = self.integers(self.rows()), self.integers(self.columns)
        return self._places

    def integers(self, values: array[int]) -> Array:
        """Return integers, such as the places of entries, as an Array."""
        dtype = int32 if values.typecode == "i" else int64
        if not self.of_numpy:
            return Array(table(values, dtype, (len(values),)).key)
        key = new_leaf("places", Aval((len(values),), dtype))
        key.operand = import_module("numpy").array(values, dtype.name)
        return Array(key)

    def transposed(self) -> tuple[SparsePattern, array[int]]:
        """Return the pattern of the transposed matrix, and the entry that each of its entries
        is.
        """
        order = array("q", sorted(range(len(self.columns)), key=self.columns.__getitem__))
        rows = self.rows()
        columns = array(self.columns.typecode, [rows[i] for i in order])
        ends = [self.columns[i] for i in order]
        starts = [bisect_left(ends, row) for row in range(self.shape[1] + 1)]
        transposed = SparsePattern(
            columns, starts, self.shape[::-1], owner=self.owner, of_numpy=self.of_numpy
        )
        return transposed, order

    def matrix(self, entries: Any) -> Any:
        """Return a matrix of these entries, an operand, of the kind that its backend makes.

        Where the backend makes SciPy's, it has the class of the user's matrix.
        """
        make = self._makers.get(type(entries))
        if make is None:
            backend = backend_of(entries)
            make = backend.sparse_matrices(self.columns, self.starts, self.shape)
            self._makers[type(entries)] = make
        found = make(entries)
        if self.owner is None or type(found) is self.owner:
            return found
        is_of_scipy = type(found).__module__.startswith("scipy.sparse")
        return self.owner(found) if is_of_scipy else found
