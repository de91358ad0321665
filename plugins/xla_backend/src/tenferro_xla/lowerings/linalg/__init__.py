"""Linear algebra on XLA, one module per factorization: those of `jax.lax.linalg`.

Read next: `triangular_solve.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.lowering import Lowerings

_FACTORIZATIONS: tuple[Any, ...] = ()

lowerings = Lowerings([record for each in _FACTORIZATIONS for record in each.lowerings])
