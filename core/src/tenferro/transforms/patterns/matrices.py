"""Sparse matrices as results: what a program returns of them, and how they are put together.

A program returns three arrays for each matrix: its entries, the column of each, and where each row
starts. The backend that owns the entries makes its own kind of matrix of them.
Read next: ``derivatives/jacobian.py``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from tenferro.arrays import Array, is_traced
from tenferro.arrays.errors import at_user_line
from tenferro.backend import select_backend
from tenferro.computegraph import UNKNOWN
from tenferro.primitives import Handle, table
from tenferro.transforms.errors import SparseResultError

_ARRAYS = 3  # of a matrix


def check_choices(name: str, compress: object, sparse: object) -> None:
    """Raise TypeError for anything but the values that these options take."""
    if not any([compress is known for known in (None, True, False)]):
        text = f"{name}: compress is None, True or False, not {compress!r}"
        raise at_user_line(TypeError(text))
    if sparse is not True and sparse is not False:
        raise at_user_line(TypeError(f"{name}: sparse is True or False, not {sparse!r}"))


def columns_and_starts(
    targets: Sequence[int], shape: tuple[int, int]
) -> tuple[list[int], list[int]]:
    """Return the columns of entries in row-major order, and the place of the first of each row."""
    rows, columns = shape
    starts = [bisect_left(targets, row * columns) for row in range(rows + 1)]
    return [target % columns for target in targets], starts


def places_of(targets: Sequence[int], shape: tuple[int, int]) -> tuple[Handle, Handle]:
    """Return ``columns_and_starts`` as parts of a program."""
    columns, starts = columns_and_starts(targets, shape)
    found: tuple[Any, Any] = (
        table(columns, "int32", (len(columns),)),
        table(starts, "int32", (len(starts),)),
    )
    return found


def matrices(found: Sequence[Any], shapes: Sequence[tuple[int, int]], name: str) -> list[Any]:
    """Put matrices of these shapes together from the results of a program."""
    operands = [_operand(x, name) for x in found]
    parts = [operands[kind::_ARRAYS] for kind in range(_ARRAYS)]
    chosen = select_backend(None, parts[0])
    return [chosen.sparse_matrix(*each) for each in zip(*parts, shapes, strict=True)]


def _operand(x: Any, name: str) -> Any:
    """Return the operand of a result.

    Raises SparseResultError: if another transform follows the result.
    """
    if not isinstance(x, Array):
        return x
    if is_traced(x.key) or x.key.operand is UNKNOWN:
        raise at_user_line(
            SparseResultError(
                f"{name}: sparse=True makes matrices that no transform can follow\n"
                "  hint       call it outside of `jit`, `vmap` and derivatives (its program is\n"
                "             kept for the next call), or use `compress=True`, for an array",
                elements=x.size,
            )
        )
    return x.operand
