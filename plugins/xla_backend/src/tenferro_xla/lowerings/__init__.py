"""XLA's lowerings of the standard set: one file per family, functions on jax.lax.

Importing this package imports jax; ``plugin.py`` does so when the backend is activated. A lowering
is traced under ``jax.jit`` and must use its operands through ``jax.lax`` alone.
"""

from __future__ import annotations

from tenferro.backend.lowering import Lowerings
from tenferro_xla.lowerings import (
    arithmetic,
    bessel,
    bitwise,
    callback,
    calls,
    comparison,
    complex,
    constants,
    contraction,
    control,
    cumulative,
    elementwise,
    fft,
    gammas,
    hyperbolic,
    incomplete,
    indexing,
    linalg,
    logarithms,
    normal,
    random,
    reduction,
    rounding,
    scattering,
    sharding,
    sorting,
    special,
    structural,
    trigonometric,
    zeta,
)

FAMILIES = (
    arithmetic,
    elementwise,
    trigonometric,
    hyperbolic,
    special,
    gammas,
    zeta,
    incomplete,
    normal,
    bessel,
    logarithms,
    rounding,
    bitwise,
    comparison,
    complex,
    constants,
    structural,
    reduction,
    cumulative,
    contraction,
    linalg,
    fft,
    indexing,
    scattering,
    sorting,
    random,
    callback,
    calls,
    control,
    sharding,
)
lowerings = Lowerings([record for family in FAMILIES for record in family.lowerings])
