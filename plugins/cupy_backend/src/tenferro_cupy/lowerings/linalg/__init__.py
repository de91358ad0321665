"""Linear algebra on CuPy, one module per factorization; the rest is shared.

What cuSOLVER says of a matrix stays on the device, so nothing waits. `cupyx` modules are
parameters, so that a stand-in serves without a device. Read next: `lu.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro_cupy.lowerings.linalg import cholesky, eig, lu, triangular_solve

__all__ = ["register"]


def register(lowerings: Lowerings, xp: Any, linalg: Any = None, cusolver: Any = None) -> None:
    """Register what differs from the shared lowerings.

    `linalg` stands in for `cupyx.scipy.linalg`, and `cusolver` for `cupyx.cusolver`.
    """
    lu.register(lowerings, xp)
    cholesky.register(lowerings, xp)
    triangular_solve.register(lowerings, xp, linalg)
    eig.register(lowerings, xp, cusolver)
