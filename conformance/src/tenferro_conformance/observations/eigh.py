"""Observations of eigenvectors of a Hermitian matrix, independent of their phases.

A sum over pairs sees each of them, a projector the space of equal values as a whole, and a
symmetric function of the values needs no vectors at all. In addition the vectors themselves, for
the canonical gauge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tenferro.primitives import Handle, integer_pow, reduce_sum, sin
from tenferro_conformance.observations.words import (
    adjoint,
    columns,
    gram,
    product,
    scaled,
    weighted,
)

__all__ = ["OBSERVATIONS", "cubes"]

Handles = Sequence[Handle]


def _pairs(params: Any, inputs: Handles, outputs: Handles) -> Handle:
    """Σ (k + 1) v_k v_kᴴ"""
    return product(weighted(outputs[1]), adjoint(outputs[1]))


def _sines(params: Any, inputs: Handles, outputs: Handles) -> Handle:
    """V diag(sin w) Vᴴ"""
    return product(scaled(outputs[1], sin(outputs[0])), adjoint(outputs[1]))


def _product(params: Any, inputs: Handles, outputs: Handles) -> Handle:
    """V diag(w) Vᴴ"""
    return product(scaled(outputs[1], outputs[0]), adjoint(outputs[1]))


def _two(params: Any, inputs: Handles, outputs: Handles) -> Handle:
    """Return the projector on the space of the two smallest values"""
    two = columns(outputs[1], 0, 2)
    return product(two, adjoint(two))


def cubes(params: Any, inputs: Handles, outputs: Handles) -> Handle:
    """Σ w³"""
    w = outputs[0]
    return reduce_sum(integer_pow(w, 3), (w.ndim - 1,))


OBSERVATIONS: Mapping[str, Any] = {
    "eigh@values": lambda params, inputs, outputs: outputs[0],
    "eigh@pairs": _pairs,
    "eigh@sines": _sines,
    "eigh@product": _product,
    "eigh@isometry": lambda params, inputs, outputs: gram(outputs[1]),
    "eigh@two": _two,
    "eigh@cubes": cubes,
    "eigh@vectors": lambda params, inputs, outputs: outputs[1],
    "eigvalsh@cubes": cubes,
}
