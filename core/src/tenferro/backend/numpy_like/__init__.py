"""Lowerings of the standard set for any namespace `xp` that is shaped like NumPy.

One module per family, each with `register(lowerings, xp)`. The modules import no array library:
`xp` is handed in, and only names and keywords are used that NumPy and CuPy both have. Results have
the dtype of their aval, but may be views; whoever hands them to a user copies what aliases. A
backend registers its own lowering where it knows better. Special functions are registered by each
backend, since no namespace has them.
Read next: `arithmetic.py`, then `contraction.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like import (
    arithmetic,
    bessel,
    bitwise,
    callback,
    comparison,
    complex,
    constants,
    contraction,
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
    sorting,
    special,
    structural,
    trigonometric,
)

__all__ = ["FAMILIES", "SPECIAL", "lowerings"]

FAMILIES = (
    arithmetic,
    elementwise,
    trigonometric,
    hyperbolic,
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
)
# registered by each backend, with what finds a function of scipy
SPECIAL = (special, gammas, incomplete, normal, bessel, logarithms)


def lowerings(xp: Any) -> Lowerings:
    """Collect the lowerings of all families for the namespace `xp`."""
    collected = Lowerings()
    for family in FAMILIES:
        family.register(collected, xp)
    return collected
