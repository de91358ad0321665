"""The words that observations are written in; matrices are the last two axes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenferro.primitives import (
    Handle,
    broadcast_in_dim,
    conj,
    convert,
    dot_general,
    iota,
    slice,
    transpose,
)

__all__ = ["OBSERVATIONS", "adjoint", "columns", "gram", "product", "scaled", "weighted"]

OBSERVATIONS: Mapping[str, Any] = {}


def product(x: Handle, y: Handle) -> Handle:
    """x y"""
    lead = tuple(range(x.ndim - 2))
    return dot_general(x, y, (x.ndim - 1,), (x.ndim - 2,), lead, lead)


def adjoint(x: Handle) -> Handle:
    """xᴴ"""
    return conj(transpose(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)))


def gram(x: Handle) -> Handle:
    """xᴴ x"""
    return product(adjoint(x), x)


def columns(x: Handle, start: int, stop: int | None = None) -> Handle:
    """Return some of the columns."""
    last = x.shape[-1] if stop is None else stop
    low = (*[0] * (x.ndim - 1), start)
    return slice(x, low, (*x.shape[:-1], last))


def scaled(x: Handle, factors: Handle) -> Handle:
    """x diag(factors), for real factors too"""
    lead = tuple(range(x.ndim - 2))
    return x * convert(broadcast_in_dim(factors, x.shape, (*lead, x.ndim - 1)), x.dtype)


def weighted(x: Handle) -> Handle:
    """Multiply column k by k + 1."""
    return x * (iota(x.shape, x.ndim - 1, x.dtype) + 1)
