"""Linear algebra on CuPy: what `cupy.linalg` lacks is in `cupyx.scipy.linalg`.

The namespaces are parameters, so that a stand-in serves without a device.
Read next: `../reduction.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro_cupy.lowerings.linalg import triangular_solve

__all__ = ["register"]

_FACTORIZATIONS: tuple[Any, ...] = (triangular_solve,)


def register(lowerings: Lowerings, xp: Any, linalg: Any = None) -> None:
    """Register what completes the shared lowerings; `linalg` stands in for `cupyx.scipy.linalg`."""
    for factorization in _FACTORIZATIONS:
        factorization.register(lowerings, xp, linalg)
