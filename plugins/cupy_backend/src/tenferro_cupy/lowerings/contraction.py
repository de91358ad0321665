"""Products on CuPy: cuBLAS's, or cuTENSOR's where cuBLAS could read an operand only after a copy.

cuTENSOR is used by programs that ask for it with ``options={"cutensor": True}``; it reads axes in
any order. Read next: `reduction.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from importlib import import_module
from itertools import pairwise
from typing import Any

from tenferro.backend import UnsupportedError
from tenferro.backend.extend import Axes, aligned, cast
from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.contraction import contract, register_contraction

__all__ = ["CUTENSOR", "cutensor_module", "register"]

#: The module `cupyx.cutensor`, if the program that is running asked for it.
CUTENSOR: ContextVar[Any] = ContextVar("tenferro_cupy_cutensor", default=None)

_DTYPES = frozenset({"float32", "float64", "complex64", "complex128"})


def cutensor_module() -> Any:
    """Return `cupyx.cutensor`.

    Raises UnsupportedError: if this CuPy cannot load cuTENSOR.
    """
    try:
        return import_module("cupyx.cutensor")
    except ImportError as error:
        raise UnsupportedError(
            f"cupy: cutensor=True needs cuTENSOR, which CuPy cannot load: {error}\n"
            "  hint       install cuTENSOR for CuPy, or leave the option out",
            backend="cupy",
            feature="cutensor",
            instead="",
        ) from None


def register(lowerings: Lowerings, cupy: Any) -> None:
    """Register the contraction family."""
    register_contraction(lowerings, cupy, cast, _contract)


def _contract(cupy: Any, lhs: Any, rhs: Any, left: Axes, right: Axes) -> Any:
    """Contract by cuTENSOR where the backend has it and it saves a copy, else by cuBLAS."""
    cutensor = CUTENSOR.get()
    if cutensor is not None and _saves_a_copy(lhs, rhs, left, right):
        return _contracted(cupy, cutensor, lhs, rhs, left, right)
    return contract(cupy, lhs, rhs, left, right)


def _saves_a_copy(lhs: Any, rhs: Any, left: Axes, right: Axes) -> bool:
    """Return True if cuTENSOR takes these operands, and cuBLAS would take a copy of one."""
    if lhs.dtype.name not in _DTYPES or not left.contracted or not (left.free or right.free):
        return False
    if not all(_is_walkable(x) for x in (lhs, rhs)):
        return False
    left, right = aligned(lhs, rhs, left, right)
    return not (_is_matrix(lhs, left) and _is_matrix(rhs, right))


def _is_walkable(x: Any) -> bool:
    """Return True if an array has elements, and each at a place of its own, in rising order."""
    return bool(x.size) and all(s > 0 for n, s in zip(x.shape, x.strides, strict=True) if n > 1)


def _is_matrix(x: Any, axes: Axes) -> bool:
    """Return True if a view of an operand is a stack of matrices that cuBLAS reads."""
    groups = [[a for a in group if x.shape[a] > 1] for group in (axes.free, axes.contracted)]
    steps = [x.strides[group[-1]] for group in groups if group]
    has_neighbours = not steps or min(steps) == x.itemsize
    return has_neighbours and all(_merges(x, group) for group in groups)


def _merges(x: Any, axes: Sequence[int]) -> bool:
    """Return True if axes can become one axis without a copy."""
    return all(x.strides[a] == x.strides[b] * x.shape[b] for a, b in pairwise(axes))


def _contracted(cupy: Any, cutensor: Any, lhs: Any, rhs: Any, left: Axes, right: Axes) -> Any:
    """Σ lhs·rhs by cuTENSOR; axes of the result: batch, lhs free, rhs free."""
    modes = [*range(lhs.ndim)], [*range(lhs.ndim, lhs.ndim + rhs.ndim)]
    for a, b in zip(left.batch + left.contracted, right.batch + right.contracted, strict=True):
        modes[1][b] = modes[0][a]
    kept = [(lhs, 0, left.batch + left.free), (rhs, 1, right.free)]
    shape = tuple([x.shape[axis] for x, _, axes in kept for axis in axes])
    names = tuple([modes[side][axis] for _, side, axes in kept for axis in axes])
    result = cupy.empty(shape, lhs.dtype)
    cutensor.contraction(1.0, lhs, tuple(modes[0]), rhs, tuple(modes[1]), 0.0, result, names)
    return result
