"""Observations of a singular value decomposition, independent of the phases of its vectors.

Sums over pairs see each of them, projectors see the space of equal values as a whole. In addition,
the vectors themselves, for the canonical gauge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tenferro.primitives import Handle, sin
from tenferro_conformance.observations.words import adjoint, columns, product, scaled, weighted

__all__ = ["OBSERVATIONS"]

Handles = Sequence[Handle]


def _thin(outputs: Handles) -> tuple[Handle, Handle, Handle]:
    """U, s and V without the vectors that belong to no value."""
    u, s, vh = outputs
    k = s.shape[-1]
    return columns(u, 0, k), s, columns(adjoint(vh), 0, k)


def _pairs(params: Any, inputs: Handles, outputs: Handles) -> Handle:
    """Σ (k + 1) u_k v_kᴴ"""
    u, _, v = _thin(outputs)
    return product(weighted(u), adjoint(v))


def _left(params: Any, inputs: Handles, outputs: Handles) -> Handle:
    """Σ (k + 1) u_k u_kᴴ"""
    u, _, _ = _thin(outputs)
    return product(weighted(u), adjoint(u))


def _right(params: Any, inputs: Handles, outputs: Handles) -> Handle:
    """Σ (k + 1) v_k v_kᴴ"""
    _, _, v = _thin(outputs)
    return product(weighted(v), adjoint(v))


def _sines(params: Any, inputs: Handles, outputs: Handles) -> Handle:
    """U diag(sin s) Vᴴ"""
    u, s, v = _thin(outputs)
    return product(scaled(u, sin(s)), adjoint(v))


def _product(params: Any, inputs: Handles, outputs: Handles) -> Handle:
    """U diag(s) Vᴴ"""
    u, s, v = _thin(outputs)
    return product(scaled(u, s), adjoint(v))


def _isometries(params: Any, inputs: Handles, outputs: Handles) -> Handle:
    """UᴴU, or VᴴV of wide matrices, of every vector that there is"""
    u, _, vh = outputs
    return product(adjoint(u), u) if u.shape[-2] > vh.shape[-1] else product(vh, adjoint(vh))


def _polar(params: Any, inputs: Handles, outputs: Handles) -> Handle:
    """U Vᴴ"""
    u, _, v = _thin(outputs)
    return product(u, adjoint(v))


def _two(params: Any, inputs: Handles, outputs: Handles) -> Handle:
    """Return the projector on the space of the two largest values"""
    u, _, _ = _thin(outputs)
    return product(columns(u, 0, 2), adjoint(columns(u, 0, 2)))


def _rank_two(params: Any, inputs: Handles, outputs: Handles) -> Handle:
    """Return the best approximation of rank 2: the matrix, projected on that space on the right"""
    _, _, v = _thin(outputs)
    return product(inputs[0], product(columns(v, 0, 2), adjoint(columns(v, 0, 2))))


OBSERVATIONS: Mapping[str, Any] = {
    "svd@values": lambda params, inputs, outputs: outputs[1],
    "svd@pairs": _pairs,
    "svd@left": _left,
    "svd@right": _right,
    "svd@sines": _sines,
    "svd@product": _product,
    "svd@isometries": _isometries,
    "svd@polar": _polar,
    "svd@two": _two,
    "svd@rank_two": _rank_two,
    "svd@left_vectors": lambda params, inputs, outputs: outputs[0],
    "svd@right_vectors": lambda params, inputs, outputs: outputs[2],
}
