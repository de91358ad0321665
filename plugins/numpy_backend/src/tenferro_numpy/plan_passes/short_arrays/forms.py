"""Write instructions on arrays of a few numbers as lines on the numbers themselves.

What only moves elements (`reshape`, `transpose`, a slice) costs nothing there: its result is known
by the numbers that it consists of. Everything else is one line for each element of the result.
Sums add their terms from the first to the last, products of matrices too, which BLAS does in
another order and with other roundings. Read next: `choice.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from tenferro.backend.extend import Axes, NamedTuple
from tenferro.primitives import Aval, DType
from tenferro_numpy.ir.expression import Expression, Scalar
from tenferro_numpy.plan_passes.short_arrays.ends import is_short

__all__ = ["Form", "Stage", "form_of"]

_MAX_COMPUTED = 16  # elements of an array
_MAX_PRODUCTS = 64  # of a contraction
_MAX_ROWS = 2  # of a matrix in a system of equations
_FLOAT = DType.of("float64")
#: nanoseconds of lines on arrays
_UFUNC, _DOT, _REDUCE, _JOIN, _JOINED, _LAPACK = 430, 600, 700, 600, 100, 2500
_MOVES_ON_ARRAYS = {
    "std::reshape": 130,
    "std::slice": 180,
    "std::transpose": 130,
    "std::broadcast_in_dim": 200,
    "std::pad": 900,
}

#: (operation, avals of the operands, aval of the result) → its line, chosen by the planner
ScalarOf = Callable[[Any, tuple[Aval, ...], Aval], Scalar | None]


class Stage(NamedTuple):
    """A line for each of several numbers.

    rows  for each number, the places of the operands of its line: the elements of all operands of
          the instruction one after the other, and then the numbers of the stages before
    """

    line: Expression
    rows: tuple[tuple[int, ...], ...]


class Form(NamedTuple):
    """An instruction on numbers.

    saved    nanoseconds that it takes less than on arrays
    sources  of what only moves elements: for each element of the result its place among those of
             all operands
    stages   of arithmetic; the last one gives the result
    call     of a call that reads and gives all numbers at once
    reads    the operands that are read; None: all
    """

    saved: int
    sources: tuple[int, ...] | None = None
    stages: tuple[Stage, ...] = ()
    call: Expression | None = None
    reads: tuple[int, ...] | None = None

    @property
    def lines(self) -> int:
        """The number of lines of arithmetic."""
        return sum([len(stage.rows) for stage in self.stages])


def form_of(op: Any, avals: tuple[Aval, ...], result: Aval, scalar_of: ScalarOf) -> Form | None:
    """Return how an instruction runs on numbers; `None` if it does not, or has one number alone."""
    if not (result.shape or any([aval.shape for aval in avals])):
        return None
    if op.key in _SYSTEMS:
        return _SYSTEMS[op.key](op, avals, result)
    if not all([is_short(aval) for aval in (*avals, result)]):
        return None
    if op.key in _MOVES:
        sources = _MOVES[op.key](op, avals)
        cost = _MOVES_ON_ARRAYS.get(op.key, _JOIN + _JOINED * len(avals))
        return Form(cost if result.shape else 0, sources)
    if result.size > _MAX_COMPUTED:
        return None
    return _COMPUTED.get(op.key, _elementwise)(op, avals, result, scalar_of)


# ---- moves ---------------------------------------------------------------------------------------


def _places(avals: Sequence[Aval]) -> list[Any]:
    """Number the elements of all operands one after the other, in their shapes."""
    found, begin = [], 0
    for aval in avals:
        found.append(np.arange(begin, begin + aval.size).reshape(aval.shape))
        begin += aval.size
    return found


def _flat(places: Any) -> tuple[int, ...]:
    return tuple(places.reshape(-1).tolist())


@lru_cache(maxsize=512)
def _reshaped(op: Any, avals: tuple[Aval, ...]) -> tuple[int, ...]:
    return tuple(range(avals[0].size))


@lru_cache(maxsize=512)
def _transposed(op: Any, avals: tuple[Aval, ...]) -> tuple[int, ...]:
    return _flat(_places(avals)[0].transpose(op.permutation))


@lru_cache(maxsize=512)
def _sliced(op: Any, avals: tuple[Aval, ...]) -> tuple[int, ...]:
    bounds = zip(op.start, op.limit, op.strides, strict=True)
    return _flat(_places(avals)[0][tuple([slice(*each) for each in bounds])])


@lru_cache(maxsize=512)
def _broadcast(op: Any, avals: tuple[Aval, ...]) -> tuple[int, ...]:
    shape = [1] * len(op.shape)
    for axis, size in zip(op.dimensions, avals[0].shape, strict=True):
        shape[axis] = size
    return _flat(np.broadcast_to(_places(avals)[0].reshape(shape), op.shape))


@lru_cache(maxsize=512)
def _joined(op: Any, avals: tuple[Aval, ...]) -> tuple[int, ...]:
    return _flat(np.concatenate(_places(avals), op.dimension))


@lru_cache(maxsize=512)
def _padded(op: Any, avals: tuple[Aval, ...]) -> tuple[int, ...]:
    places, filler = _places(avals)
    spread = [n + max(n - 1, 0) * gap for n, gap in zip(avals[0].shape, op.interior, strict=True)]
    inner = np.full(spread, int(filler))
    inner[tuple([slice(None, None, gap + 1) for gap in op.interior])] = places
    for axis, (low, high) in enumerate(zip(op.low, op.high, strict=True)):
        kept = [slice(None)] * inner.ndim
        kept[axis] = slice(max(-low, 0), inner.shape[axis] - max(-high, 0))
        widths = [(0, 0)] * inner.ndim
        widths[axis] = max(low, 0), max(high, 0)
        inner = np.pad(inner[tuple(kept)], widths, constant_values=int(filler))
    return _flat(inner)


_MOVES: dict[str, Callable[[Any, tuple[Aval, ...]], tuple[int, ...]]] = {
    "std::reshape": _reshaped,
    "std::transpose": _transposed,
    "std::slice": _sliced,
    "std::broadcast_in_dim": _broadcast,
    "std::concatenate": _joined,
    "std::pad": _padded,
}

# ---- arithmetic ----------------------------------------------------------------------------------


def _elementwise(
    op: Any, avals: tuple[Aval, ...], result: Aval, scalar_of: ScalarOf
) -> Form | None:
    """Return one line for each element, if the operands have the shape of the result or none."""
    if any([aval.shape not in ((), result.shape) for aval in avals]):
        return None
    scalar = scalar_of(op, tuple([aval.with_shape(()) for aval in avals]), result.with_shape(()))
    if scalar is None or scalar.total is None:
        return None
    begins, begin = [], 0
    for aval in avals:
        begins.append((begin, 1 if aval.shape else 0))
        begin += aval.size
    rows = tuple([tuple([at + step * i for at, step in begins]) for i in range(result.size)])
    return Form(_UFUNC - scalar.cost * result.size, stages=(Stage(scalar.total, rows),))


@lru_cache(maxsize=64)
def _sum_of_products(count: int) -> Expression:
    terms = [f"{{{2 * i}}} * {{{2 * i + 1}}}" for i in range(count)]
    return Expression(" + ".join(terms))


def _contraction(
    op: Any, avals: tuple[Aval, ...], result: Aval, scalar_of: ScalarOf
) -> Form | None:
    """Return the sum of products of each element."""
    lhs, rhs = avals
    if lhs.dtype.is_bool or op.preferred not in (None, lhs.dtype):
        return None
    left = Axes.of(lhs.ndim, op.lhs_batch, op.lhs_contract)
    right = Axes.of(rhs.ndim, op.rhs_batch, op.rhs_contract)
    a, b = _places(avals)
    a = a.transpose(left.batch + left.free + left.contracted)
    b = b.transpose(right.batch + right.free + right.contracted)
    batches = len(left.batch)
    a = a.reshape(*a.shape[: batches + len(left.free)], *[1] * len(right.free), -1)
    b = b.reshape(
        *b.shape[:batches], *[1] * len(left.free), *b.shape[batches : batches + len(right.free)], -1
    )
    count = a.shape[-1]
    if not 0 < count * result.size <= _MAX_PRODUCTS:
        return None
    pairs = np.stack(np.broadcast_arrays(a, b), -1).reshape(result.size, 2 * count)
    rows = tuple(map(tuple, pairs.tolist()))
    return Form(_DOT - 40 * pairs.size // 2, stages=(Stage(_sum_of_products(count), rows),))


# ---- reductions ----------------------------------------------------------------------------------

#: the operator between elements, or the class of the primitive of two of them
_FOLDS = {
    "std::reduce_sum": "+",
    "std::reduce_prod": "*",
    "std::reduce_and": "&",
    "std::reduce_or": "|",
    "std::reduce_max": "Maximum",
    "std::reduce_min": "Minimum",
}
_MAX_TERMS = 8


@lru_cache(maxsize=64)
def _chain(operator: str, count: int) -> Expression:
    return Expression(f" {operator} ".join([f"{{{i}}}" for i in range(count)]))


def _fold(op: Any, avals: tuple[Aval, ...], result: Aval, scalar_of: ScalarOf) -> Form | None:
    """Return sums and the like in one line each, the largest and smallest pair by pair."""
    (aval,) = avals
    kept = [axis for axis in range(aval.ndim) if axis not in op.axes]
    count = aval.size // result.size
    if not 1 < count <= _MAX_TERMS or (op.key == "std::reduce_sum" and aval.dtype.is_bool):
        return None
    places = _places((aval,))[0].transpose(*kept, *op.axes).reshape(result.size, count)
    joins = _FOLDS[op.key]
    if len(joins) == 1:
        rows = tuple(map(tuple, places.tolist()))
        cost = 20 * (count - 1) * result.size
        return Form(_REDUCE - cost, stages=(Stage(_chain(joins, count), rows),))
    number = result.with_shape(())
    of_two = getattr(import_module("tenferro.primitives.arithmetic"), joins)()
    pair = scalar_of(of_two, (number, number), number)
    if pair is None or pair.total is None:
        return None
    stages, first = [], places[:, 0]
    for i in range(1, count):
        rows = tuple(zip(first.tolist(), places[:, i].tolist(), strict=True))
        stages.append(Stage(pair.total, rows))
        first = np.arange(result.size) + aval.size + (i - 1) * result.size
    saved = 2 * _REDUCE - pair.cost * (count - 1) * result.size
    return Form(saved, stages=tuple(stages))


_COMPUTED = {"std::dot_general": _contraction, **dict.fromkeys(_FOLDS, _fold)}

# ---- systems -------------------------------------------------------------------------------------


def _is_small_matrix(aval: Aval) -> bool:
    square = aval.ndim == 2 and aval.shape[0] == aval.shape[1]
    return square and aval.dtype is _FLOAT and 0 < aval.shape[0] <= _MAX_ROWS


def _factors(op: Any, avals: tuple[Aval, ...], result: Aval) -> Form | None:
    (aval,) = avals
    if not _is_small_matrix(aval):
        return None
    return Form(_LAPACK, call=_of_system("factors_of", aval.size, aval.shape[0]))


def _solution(op: Any, avals: tuple[Aval, ...], result: Aval) -> Form | None:
    if not (_is_small_matrix(avals[1]) and result.ndim == 2 and 0 < result.size <= _MAX_COMPUTED):
        return None
    rows = result.shape[0]
    count = rows * rows + rows + result.size
    call = _of_system("solver_of", count, rows, op.adjoint)
    return Form(_LAPACK - 100 * result.size, call=call, reads=(1, 2, 3))


@lru_cache(maxsize=64)
def _of_system(name: str, count: int, *given: Any) -> Expression:
    """Write the call of a function of so many numbers, made by one of `systems.py`."""
    make = getattr(import_module("tenferro_numpy.plan_passes.short_arrays.systems"), name)
    operands = ", ".join([f"{{{i}}}" for i in range(count)])
    return Expression(f"{{p0}}({operands})", (make(*given),), elements=True)


_SYSTEMS: dict[str, Callable[[Any, tuple[Aval, ...], Aval], Form | None]] = {
    "std::lu": _factors,
    "std::linear_solve": _solution,
}
