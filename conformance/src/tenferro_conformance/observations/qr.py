"""Observations of QR decompositions, independent of the phases of its columns; both factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tenferro.primitives import Handle
from tenferro_conformance.observations.words import adjoint, columns, gram, product, weighted

__all__ = ["OBSERVATIONS"]

Handles = Sequence[Handle]


def _left(params: Any, inputs: Handles, outputs: Handles) -> Handle:
    """Σ (k + 1) q_k q_kᴴ over the columns that stand for columns of the matrix"""
    thin = columns(outputs[0], 0, min(inputs[0].shape[-2:]))
    return product(weighted(thin), adjoint(thin))


def _rest(params: Any, inputs: Handles, outputs: Handles) -> Handle:
    """Return the projector on the complement of the matrix's range"""
    rest = columns(outputs[0], min(inputs[0].shape[-2:]))
    return product(rest, adjoint(rest))


_OF_FACTORS: Mapping[str, Any] = {
    "left": _left,
    "rest": _rest,
    "gram": lambda params, inputs, outputs: gram(outputs[1]),
    "product": lambda params, inputs, outputs: product(*outputs[:2]),
    "isometry": lambda params, inputs, outputs: gram(outputs[0]),
    "columns": lambda params, inputs, outputs: outputs[0],
    "triangle": lambda params, inputs, outputs: outputs[1],
}
OBSERVATIONS: Mapping[str, Any] = {
    **{f"qr@{name}": function for name, function in _OF_FACTORS.items()},
    **{f"pivoted_qr@{name}": function for name, function in _OF_FACTORS.items()},
    "pivoted_qr@order": lambda params, inputs, outputs: outputs[2],
}
