"""exp, sqrt and log of matrices on NumPy: those of SciPy, in double precision.

sqrtm and logm work on the Schur form, one matrix at a time; what they warn of is in the numbers.
Derivatives are blocks of the function of a larger matrix, one call; those of exp of matrices that
are not small come by pairs of matrices, with three products instead of eight.
Read next: `../indexing.py`.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.linalg.matrix_function import derived, in_turn, through_blocks
from tenferro.primitives.linalg.matrix_function import MatrixFunction
from tenferro_numpy.lowerings.linalg._lapack import over_batch

__all__ = ["register"]

_FASTER_BY_PAIRS = 96  # rows of the larger matrix


def register(lowerings: Lowerings) -> None:
    """Register matrix_function."""

    @lowerings.register(MatrixFunction)
    def matrix_function(op: MatrixFunction, a: Any, *directions: Any) -> Any:
        wide = np.result_type(a.dtype, np.float64)
        x, along = a.astype(wide, copy=False), [e.astype(wide, copy=False) for e in directions]
        rows = a.shape[-1] << len(directions)
        if op.function == "expm" and directions and rows > _FASTER_BY_PAIRS:
            found = derived(np, in_turn, op, x, along)
        else:
            found = through_blocks(np, op, lambda x: _function(op.function, x), x, along)
        return found.astype(a.dtype, copy=found is a)


def _function(name: str, x: Any) -> Any:
    from scipy import linalg  # noqa: PLC0415 - slow to import

    if name == "expm":
        return linalg.expm(x)
    function = getattr(linalg, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return over_batch(lambda each: _of_kind(each, function(each)), x)


def _of_kind(x: Any, found: Any) -> Any:
    """Return the result for a matrix; nan if the result for a real matrix is not real."""
    if x.dtype.kind == "f" and found.dtype.kind == "c":
        return np.full_like(x, np.nan) if np.any(found.imag) else found.real
    return found
