"""exp, sqrt and log of matrices on NumPy: those of SciPy, in double precision.

sqrtm and logm work on the Schur form, one matrix at a time; what they warn of is in the numbers.
Derivatives are blocks of the function of a larger matrix, one call; those of exp of matrices that
are not small come by pairs of matrices, with three products instead of eight. SciPy takes exp of
one matrix at a time, too; that of many small ones comes by products of whole stacks.
Read next: `../indexing.py`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.linalg.matrix_function import derived, in_turn, through_blocks
from tenferro.primitives.linalg.matrix_function import MatrixFunction
from tenferro_numpy.errors import NotConvergedError
from tenferro_numpy.lowerings.linalg._lapack import over_batch

__all__ = ["register"]

_FASTER_BY_PAIRS = 96  # rows of the larger matrix
_MIN_MATRICES_OF_STACKS, _MAX_ROWS_OF_STACKS = 32, 16


def register(lowerings: Lowerings) -> None:
    """Register matrix_function."""

    @lowerings.register(MatrixFunction)
    def matrix_function(op: MatrixFunction, a: Any, *directions: Any) -> Any:
        wide = np.result_type(a.dtype, np.float64)
        x, along = a.astype(wide, copy=False), [e.astype(wide, copy=False) for e in directions]
        if op.function == "expm" and (_is_stack_of_small(a) or _is_faster_by_pairs(a, along)):
            found = derived(np, in_turn, op, x, along)
        else:
            _refuse_unknown(op, x)
            found = through_blocks(np, op, partial(_function, op), x, along)
        return found.astype(a.dtype, copy=found is a)


def _is_stack_of_small(a: Any) -> bool:
    matrices: int = prod(a.shape[:-2])
    return matrices >= _MIN_MATRICES_OF_STACKS and a.shape[-1] <= _MAX_ROWS_OF_STACKS


def _is_faster_by_pairs(a: Any, directions: Sequence[Any]) -> bool:
    return bool(directions) and a.shape[-1] << len(directions) > _FASTER_BY_PAIRS


def _refuse_unknown(op: MatrixFunction, a: Any) -> None:
    """Raise NotConvergedError where no iteration for the Schur form can end."""
    if op.function != "expm" and not np.isfinite(a).all():
        raise NotConvergedError.of(op, f"{op.function} of a matrix with a nan or an infinity")


def _function(op: MatrixFunction, x: Any) -> Any:
    from scipy import linalg  # noqa: PLC0415 - slow to import

    if op.function == "expm":
        return linalg.expm(x)
    function = getattr(linalg, op.function)

    def each(x: Any) -> Any:
        if not np.isfinite(x).all():  # a direction, in which the derivative is linear
            return np.full_like(x, np.nan)
        if op.function == "logm" and not np.linalg.slogdet(x)[0]:
            return np.full_like(x, np.nan)  # SciPy puts 1e-20 for an eigenvalue 0, and warns
        try:
            return _of_kind(x, function(x))
        except np.linalg.LinAlgError:
            raise NotConvergedError.of(op, f"{op.function} of SciPy does not converge") from None

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return over_batch(each, x)


def _of_kind(x: Any, found: Any) -> Any:
    """Return the result for a matrix; nan if the result for a real matrix is not real.

    SciPy before 1.15 leaves rounding errors in the imaginary parts of a real root. An eigenvalue
    below eps, whose root is below √eps, cannot be told from 0.
    """
    if x.dtype.kind != "f" or found.dtype.kind != "c":
        return found
    rounding = np.finfo(x.dtype).eps ** 0.5 * np.abs(found).max()
    return found.real if np.abs(found.imag).max() <= rounding else np.full_like(x, np.nan)
