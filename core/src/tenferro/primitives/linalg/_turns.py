"""Other gauges of a factorization, as valid as the one that a backend gave.

Vectors are multiplied by phases, and by rotations within spaces of equal values. Anything that
changes then is not a property of the matrix, which ``check_grads`` detects. The phases and
rotations are irregular and fixed by a seed; the seed 0 turns every vector around, which real
vectors know no finer way of. Read next: ``__init__.py`` of the transforms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi
from typing import Any

from tenferro.computegraph import Operation
from tenferro.primitives._dtype import DType
from tenferro.primitives._handle import Handle
from tenferro.primitives.arithmetic import abs as absolute
from tenferro.primitives.arithmetic import sign
from tenferro.primitives.comparison import eq
from tenferro.primitives.complex import complex
from tenferro.primitives.constants import constant, iota
from tenferro.primitives.linalg._matrices import (
    adjoint,
    columns,
    columns_by,
    differences,
    inverse_gaps,
    joined_columns,
    joined_rows,
    kept,
    matmul,
    rows,
    swapped,
)
from tenferro.primitives.linalg.eig import Eig
from tenferro.primitives.linalg.eigh import Eigh, column_products
from tenferro.primitives.linalg.matrix_function import matrix_function
from tenferro.primitives.linalg.qr import Qr
from tenferro.primitives.linalg.svd import Svd
from tenferro.primitives.reduction import reduce_max
from tenferro.primitives.structural import convert, reshape
from tenferro.primitives.trigonometric import cos, sin

SEEDS = range(4)


def is_free(operation: Operation) -> bool:
    """Return True if the operation returns vectors whose gauge is not fixed."""
    if type(operation) not in _TURNS or (type(operation) is Qr and operation.full):
        return False
    return getattr(operation, "gauge", "raw") == "raw" and not getattr(
        operation, "canonical", False
    )


def in_another_gauge(
    operation: Operation, outputs: Sequence[Handle], seed: int
) -> tuple[Handle, ...]:
    """Return the results in another gauge."""
    return _TURNS[type(operation)](operation, outputs, seed)


def _eigh(op: Any, outputs: Sequence[Handle], seed: int) -> tuple[Handle, ...]:
    w, v = outputs
    return w, matmul(v, _turn(w, v.dtype, op.epsilon, seed)) if w.size else v


def _eig(op: Any, outputs: Sequence[Handle], seed: int) -> tuple[Handle, ...]:
    w, v = outputs
    if not w.size:
        return w, v
    v = matmul(v, _turn(w, v.dtype, op.epsilon, seed))
    length = column_products(v, v) ** 0.5
    return w, columns_by(v, convert(1 / length, v.dtype))


def _svd(op: Any, outputs: Sequence[Handle], seed: int) -> tuple[Handle, ...]:
    u, s, vh = outputs
    if not s.size:
        return u, s, vh
    turn, k = _turn(s, u.dtype, op.epsilon, seed), s.shape[-1]
    u1, vh1 = matmul(columns(u, 0, k), turn), matmul(adjoint(turn), rows(vh, 0, k))
    if u.shape[-1] > k:
        return joined_columns(u1, _rotated_rest(columns(u, k), s, op.epsilon, seed)), s, vh1
    if vh.shape[-2] > k:
        rest = _rotated_rest(adjoint(rows(vh, k)), s, op.epsilon, seed)
        return u1, s, joined_rows(vh1, adjoint(rest))
    return u1, s, vh1


def _rotated_rest(x: Handle, s: Handle, epsilon: float | None, seed: int) -> Handle:
    """Mix the vectors that complete a basis as those of equal values."""
    zeros = constant(0, s.dtype, (*s.shape[:-1], x.shape[-1]))
    return matmul(x, _turn(zeros, x.dtype, epsilon, seed))


def _qr(op: Any, outputs: Sequence[Handle], seed: int) -> tuple[Handle, ...]:
    q, r = outputs
    phases = _phases((*q.shape[:-2], q.shape[-1]), q.dtype, seed)
    return columns_by(q, phases), adjoint(columns_by(adjoint(r), phases))


_TURNS: dict[type, Callable[[Any, Sequence[Handle], int], tuple[Handle, ...]]] = {
    Eig: _eig,
    Eigh: _eigh,
    Qr: _qr,
    Svd: _svd,
}


def _turn(values: Handle, dtype: DType, epsilon: float | None, seed: int) -> Handle:
    """Return a unitary matrix that mixes only vectors of equal values."""
    top = reduce_max(absolute(values), (values.ndim - 1,))
    gaps = differences(values)
    inverse = inverse_gaps(gaps, top, epsilon)
    equal: Handle = eq(inverse, inverse * 0)
    mixing = _waves(gaps.shape, dtype.real_dtype, seed + 7)
    mixing = kept(equal, mixing - swapped(mixing))
    rotation = convert(matrix_function("expm", mixing), dtype)
    return columns_by(rotation, _phases(values.shape, dtype, seed))


def _phases(shape: Sequence[int], dtype: DType, seed: int) -> Handle:
    """Return irregular numbers of modulus 1; with the seed 0, all are -1."""
    angles = _waves(shape, dtype.real_dtype, seed) * (0.0 if seed == 0 else pi) + pi
    if dtype.is_complex:
        return complex(cos(angles), sin(angles))
    return sign(cos(angles))


def _waves(shape: Sequence[int], dtype: DType, seed: int) -> Handle:
    """Return irregular numbers between -1 and 1."""
    size = 1
    for n in shape:
        size *= n
    count = convert(iota((size,), 0, "int64"), dtype)
    return reshape(sin(count * 2.399963 + (0.7 * seed + 0.3)), tuple(shape))
