"""Shared code: LAPACK by dtype, triangular systems without copies, loops over a batch.

A routine wants columns that are contiguous. A matrix whose rows are is the transpose of such a
one, and a system can be solved as its transpose; so only what LAPACK overwrites is ever copied.
Read next: `triangular_solve.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from tenferro.computegraph import TenferroError

__all__ = ["above", "blas", "in_order", "lapack", "over_batch", "refusal", "triangular"]

_LETTERS = {"f": "s", "d": "d", "F": "c", "D": "z"}


def lapack(name: str, x: Any) -> Callable[..., Any]:
    """Return the LAPACK routine for the dtype of a matrix."""
    return _routine("lapack", name, x.dtype.char)


def blas(name: str, x: Any) -> Callable[..., Any]:
    """Return the BLAS routine for the dtype of a matrix."""
    return _routine("blas", name, x.dtype.char)


@cache
def _routine(library: str, name: str, char: str) -> Callable[..., Any]:
    routines = import_module(f"scipy.linalg.{library}")  # slow: not before it is needed
    found: Callable[..., Any] = getattr(routines, _LETTERS[char] + name)
    return found


def over_batch(function: Callable[..., Any], *stacks: Any) -> Any:
    """Apply a function of matrices to stacks; its result may be a tuple."""
    lead = stacks[0].shape[:-2]
    if not lead:
        return function(*stacks)
    results = [function(*(x[place] for x in stacks)) for place in np.ndindex(lead)]
    if isinstance(results[0], tuple):
        return tuple(_stacked(parts, lead) for parts in zip(*results, strict=True))
    return _stacked(results, lead)


def _stacked(results: Sequence[Any], lead: tuple[int, ...]) -> Any:
    return np.stack(results).reshape(*lead, *results[0].shape)


_PUBLIC = {  # the functions that people call, of primitives that they do not
    "linear_solve": "solve or inv",
    "triangular_solve": "solve_triangular",
}


def refusal(
    cls: type[TenferroError], primitive: str, fact: str, place: tuple[int, ...]
) -> TenferroError:
    """Make the error for one matrix, which names its place in the batch."""
    where = f" [{', '.join(map(str, place))}]" if place else ""
    name = primitive.removeprefix("std::")
    text = f"{_PUBLIC.get(name, name)}: matrix{where} {fact}"
    return cls(text, primitive=primitive, batch=place)


@cache
def above(size: int) -> Any:
    """Return the mask of what is above the diagonal of a square matrix."""
    return np.triu(np.ones((size, size), bool), 1)


def in_order(x: Any) -> tuple[Any, bool]:
    """Return the matrix or its transpose, whichever has contiguous columns, and True if transposed.

    A matrix with neither is copied.
    """
    if x.flags.f_contiguous:
        return x, False
    return np.ascontiguousarray(x).T, True


def triangular(
    a: Any,
    b: Any,
    left: bool = True,
    lower: bool = True,
    transposed: bool = False,
    conjugated: bool = False,
    unit_diagonal: bool = False,
    overwrite: bool = False,
) -> Any:
    """Solve op(a) x = b, or x op(a) = b, for matrices; op(a) has no zero on its diagonal."""
    if not b.size:
        return b.copy()
    columns, turned = in_order(b)
    matrix, flipped = in_order(a)
    trans = transposed ^ turned ^ flipped
    apart = conjugated and not trans  # BLAS conjugates only what it transposes
    if apart:
        columns, overwrite = np.conj(columns), True
    flags = int(lower != flipped), int(trans) * (2 if conjugated else 1), int(unit_diagonal)
    if left != turned and columns.shape[1] == 1:  # trsm would copy the matrix
        x = blas("trsv", b)(matrix, columns[:, 0], 1, 0, *flags, overwrite)[:, None]
    else:
        x = blas("trsm", b)(1, matrix, columns, int(left == turned), *flags, overwrite)
    if apart:
        np.conj(x, out=x)
    return x.T if turned else x
