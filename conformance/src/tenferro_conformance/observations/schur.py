"""Observations of Schur forms, in any order of the eigenvalues and with any phases.

Z T Zᴴ = A, ZᴴZ = 1 and the zeros of T together are the definition, for derivatives, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tenferro.primitives import Handle, abs, concatenate, reduce_sum, square
from tenferro.primitives.linalg._matrices import hermitian, lower, matmul, upper
from tenferro.primitives.linalg.polar_isometry import positive_sylvester
from tenferro.primitives.linalg.schur import schur
from tenferro.primitives.linalg.svd import svd
from tenferro.primitives.linalg.sylvester_solve import sylvester_solve
from tenferro.primitives.structural import stop_gradient
from tenferro_conformance.observations.words import adjoint, gram

__all__ = ["OBSERVATIONS"]

Handles = Sequence[Handle]


def _product(params: Any, inputs: Handles, outputs: Handles) -> Handle:
    """Z T Zᴴ"""
    t, z = outputs
    return matmul(matmul(z, t), adjoint(z))


def _isometry(params: Any, inputs: Handles, outputs: Handles) -> Handle:
    """ZᴴZ + Z T Zᴴ: a derivative that is 0 alone would have no scale for its rounding errors"""
    return gram(outputs[1]) + _product(params, inputs, outputs)


def _departure(params: Any, inputs: Handles, outputs: Handles) -> Handle:
    """Σ |t_ij|² above the diagonal: how far the matrix is from a normal one"""
    above = square(abs(upper(outputs[0], strict=True)))
    return reduce_sum(above, (above.ndim - 2, above.ndim - 1))


def _moduli(params: Any, inputs: Handles, outputs: Handles) -> Handle:
    """Return all |t_ij|² and |z_ij|²."""
    return concatenate([square(abs(x)) for x in outputs], outputs[0].ndim - 1)


def _blocks(params: Any, inputs: Handles, outputs: Handles) -> Handle:
    """Return what stands below the blocks of two rows."""
    t = outputs[0]
    return lower(matmul(lower(t, strict=True), lower(t, strict=True)), strict=True)


def _solution(params: Any, inputs: Handles, outputs: Handles) -> Handle:
    """Return the solution with factors that follow the matrices."""
    a, b, q = inputs[0], inputs[1], inputs[6]
    factors = (*schur(stop_gradient(a)), *schur(stop_gradient(b)))
    return sylvester_solve(a, b, *factors, q, adjoint=params["adjoint"])


def _positive(params: Any, inputs: Handles, outputs: Handles) -> Handle:
    """Return the solution for the Hermitian part of p, with values that follow it."""
    p = hermitian(inputs[0])
    if not p.size:
        return inputs[3]
    _, s, vh = svd(stop_gradient(p), projectors_only=True)
    return positive_sylvester(p, s, vh, inputs[3])


OBSERVATIONS: Mapping[str, Any] = {
    "schur@product": _product,
    "schur@isometry": _isometry,
    "schur@below": lambda params, inputs, outputs: lower(outputs[0], strict=True),
    "schur@departure": _departure,
    "schur@moduli": _moduli,
    "schur@blocks": _blocks,
    "sylvester_solve@factorized": _solution,
    "positive_sylvester@factorized": _positive,
}
