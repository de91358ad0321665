"""Pivoted QR decompositions on XLA: the order of columns by the shared search, in a loop of XLA.

`jax.lax.linalg.qr` exchanges columns on the CPU alone, and on GPUs only where MAGMA is installed.
Read next: `svd.py`.
"""

from __future__ import annotations

from typing import Any

from jax import Array, lax
from jax import numpy as jnp

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.linalg.pivoted_qr import column_order, in_columns_order
from tenferro.backend.numpy_like.linalg.qr import canonical_factors
from tenferro.primitives.linalg.pivoted_qr import PivotedQr

lowerings = Lowerings()


@lowerings.register(PivotedQr)
def pivoted_qr(op: PivotedQr, a: Array) -> tuple[Array, Array, Array]:
    """Decompose with the columns in the order of decreasing rests."""
    order = column_order(jnp, _loop, a)
    q, r = lax.linalg.qr(in_columns_order(jnp, a, order), full_matrices=op.full)
    if op.canonical:
        q, r = canonical_factors(jnp, q, r)
    return q, r, order


def _loop(count: int, step: Any, state: Any) -> Any:
    return lax.fori_loop(0, count, step, state)
