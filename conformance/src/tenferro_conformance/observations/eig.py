"""Observations of eigenvectors of a general matrix, independent of their phases and order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tenferro.primitives import (
    Handle,
    argsort,
    broadcast_in_dim,
    conj,
    convert,
    real,
    sort,
    take_along_axis,
)
from tenferro_conformance.observations.eigh import cubes
from tenferro_conformance.observations.words import product, scaled

__all__ = ["OBSERVATIONS"]

Handles = Sequence[Handle]


def _values(params: Any, inputs: Handles, outputs: Handles) -> Handle:
    """Return the values, sorted by real parts, then by imaginary parts"""
    (found,) = sort([outputs[0]], outputs[0].ndim - 1)
    return found


def _vectors(params: Any, inputs: Handles, outputs: Handles) -> Handle:
    """Return the vectors, in the order of their values"""
    w, v = outputs
    order = argsort(w, w.ndim - 1)
    places = broadcast_in_dim(order, v.shape, (*range(v.ndim - 2), v.ndim - 1))
    return take_along_axis(v, places, v.ndim - 1)


def _moduli(params: Any, inputs: Handles, outputs: Handles) -> Handle:
    """|v_ij|², in the order of the values"""
    v = _vectors(params, inputs, outputs)
    return real(v * conj(v))


def _residual(params: Any, inputs: Handles, outputs: Handles) -> Handle:
    """A V - V diag(w), which is zero"""
    w, v = outputs
    return product(convert(inputs[0], v.dtype), v) - scaled(v, w)


OBSERVATIONS: Mapping[str, Any] = {
    "eig@values": _values,
    "eig@cubes": cubes,
    "eig@vectors": _vectors,
    "eig@moduli": _moduli,
    "eig@residual": _residual,
    "eigvals@values": _values,
    "eigvals@cubes": cubes,
}
