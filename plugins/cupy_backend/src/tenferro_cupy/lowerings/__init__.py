"""CuPy's lowerings of the standard set: `numpy_like`, and replacements where CuPy differs.

The namespace is a parameter everywhere, so that the same code runs on a stand-in without a device.
Read next: `indexing.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend import numpy_like
from tenferro.backend.lowering import Lowering, Lowerings
from tenferro_cupy.lowerings import contraction, cumulative, indexing, linalg, reduction
from tenferro_cupy.lowerings import special as special_functions

__all__ = ["lowerings"]


def lowerings(
    cupy: Any, special: Any = None, scipy_linalg: Any = None, cusolver: Any = None
) -> tuple[Lowering, ...]:
    """Return the lowerings of the standard set over CuPy, or over a stand-in.

    `special`, `scipy_linalg` and `cusolver` are modules of CuPy's own `cupyx` unless given.
    """
    own = Lowerings()
    special_functions.register(own, cupy, special)
    contraction.register(own, cupy)
    reduction.register(own, cupy)
    linalg.register(own, cupy, scipy_linalg, cusolver)
    indexing.register(own, cupy)
    cumulative.register(own, cupy)
    replaced = {record.primitive for record in own}
    shared = numpy_like.lowerings(cupy)
    return (*(record for record in shared if record.primitive not in replaced), *own)
