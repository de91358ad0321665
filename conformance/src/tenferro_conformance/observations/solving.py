"""Observations of LU, of its solutions, of Cholesky factors and of `slogdet`.

Read next: `../samples/lu.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tenferro.primitives import Handle, linear_solve
from tenferro.primitives.linalg._matrices import (
    adjoint,
    columns,
    joined_rows,
    matmul,
    rows,
    unit_lower,
    upper,
)
from tenferro.primitives.linalg.linear_solve import factorized

__all__ = ["OBSERVATIONS"]

Params = Mapping[str, Any]
Handles = Sequence[Handle]


def _lu_product(params: Params, inputs: Handles, outputs: Handles) -> Handle:
    """L U: the matrix with its rows exchanged."""
    factors = outputs[0]
    m, n = factors.shape[-2:]
    if m <= n:
        return matmul(unit_lower(columns(factors, 0, m)), upper(factors))
    square = rows(factors, 0, n)
    return matmul(joined_rows(unit_lower(square), rows(factors, n)), upper(square))


def _factorized(params: Params, inputs: Handles, outputs: Handles) -> Handle:
    """Solve with factors that follow the matrix."""
    a, _, _, b = inputs
    return linear_solve(a, *factorized(a), b, adjoint=params["adjoint"])


OBSERVATIONS = {
    "lu@factors": lambda params, inputs, outputs: outputs[0],
    "lu@product": _lu_product,
    "linear_solve@factorized": _factorized,
    "cholesky@product": lambda params, inputs, outputs: matmul(outputs[0], adjoint(outputs[0])),
    "slogdet@sign": lambda params, inputs, outputs: outputs[0],
    "slogdet@logabsdet": lambda params, inputs, outputs: outputs[1],
}
